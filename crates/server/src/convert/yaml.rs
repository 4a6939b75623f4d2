//! The queue file in force as YAML, as the reference writes it: keys in lower case, in the order of
//! the file's description, objects and lists that are empty left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use headroom_api::wsv1::{
    ChildTemplate, Config, ConfigApplicationLimits, ConfigCapacity, ConfigFilter, ConfigLimit,
    ConfigPartition, ConfigPlacementRule, ConfigQueue, ConfigQueuePreemption, ConfigResources,
    ConfigUserLimits,
};

/// The whole file.
pub(crate) fn config(config: &Config) -> String {
    let mut root = Map::default();
    root.list("partitions", &config.partitions, partition);
    if config.partitions.is_empty() {
        root.0.push(("partitions".to_owned(), Node::Scalar("[]".to_owned())));
    }
    root.text("checksum", &config.checksum);
    root.texts("extra", &config.extra);
    root.scalar("deadlockdetectionenabled", &config.deadlock_detection_enabled);
    root.scalar("deadlocktimeoutseconds", &config.deadlock_timeout_seconds);
    let mut out = String::new();
    write_map(&mut out, &root, 0);
    out
}

/// A value as it is written.
enum Node {
    Scalar(String),
    List(Vec<Node>),
    Map(Map),
}

/// Keys in the order in which they are written.
#[derive(Default)]
struct Map(Vec<(String, Node)>);

impl Map {
    fn scalar(&mut self, key: &str, value: &impl ToString) {
        self.0.push((key.to_owned(), Node::Scalar(value.to_string())));
    }

    /// Left out when it is empty.
    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.scalar(key, &quoted(value));
        }
    }

    /// Left out when it is 0.
    fn count(&mut self, key: &str, value: u64) {
        if value > 0 {
            self.scalar(key, &value);
        }
    }

    /// Left out when nothing was said.
    fn flag(&mut self, key: &str, value: Option<bool>) {
        if let Some(value) = value {
            self.scalar(key, &value);
        }
    }

    fn map(&mut self, key: &str, value: Self) {
        if !value.0.is_empty() {
            self.0.push((key.to_owned(), Node::Map(value)));
        }
    }

    /// Written even if it is empty, where that says something.
    fn some(&mut self, key: &str, value: Option<Self>) {
        match value {
            Some(value) if value.0.is_empty() => self.scalar(key, &"{}"),
            value => self.map(key, value.unwrap_or_default()),
        }
    }

    fn list<T>(&mut self, key: &str, items: &[T], item: impl Fn(&T) -> Map) {
        let items: Vec<Node> = items.iter().map(|one| Node::Map(item(one))).collect();
        if !items.is_empty() {
            self.0.push((key.to_owned(), Node::List(items)));
        }
    }

    fn words(&mut self, key: &str, words: &[String]) {
        let words: Vec<Node> = words.iter().map(|word| Node::Scalar(quoted(word))).collect();
        if !words.is_empty() {
            self.0.push((key.to_owned(), Node::List(words)));
        }
    }

    fn texts(&mut self, key: &str, texts: &BTreeMap<String, String>) {
        let texts = texts.iter().map(|(key, value)| (quoted(key), Node::Scalar(quoted(value))));
        self.map(key, Self(texts.collect()));
    }
}

fn partition(partition: &ConfigPartition) -> Map {
    let mut map = Map::default();
    map.scalar("name", &quoted(&partition.name));
    map.list("queues", &partition.queues, queue);
    map.list("placementrules", &partition.placement_rules, rule);
    map.list("limits", &partition.limits, limit);
    let mut preemption = Map::default();
    preemption.flag("enabled", partition.preemption.enabled);
    preemption.flag("quotapreemptionenabled", partition.preemption.quota_preemption_enabled);
    preemption.flag("strictguarantee", partition.preemption.strict_guarantee);
    preemption.flag("balance", partition.preemption.balance);
    preemption.flag("intraqueueenabled", partition.preemption.intra_queue_enabled);
    preemption.flag("observeonly", partition.preemption.observe_only);
    map.map("preemption", preemption);
    let mut policy = Map::default();
    policy.text("type", &partition.node_sort_policy.policy);
    let weights = partition.node_sort_policy.resource_weights.iter();
    let weights = weights.map(|(name, one)| (quoted(name), Node::Scalar(one.to_string())));
    policy.map("resourceweights", Map(weights.collect()));
    map.map("nodesortpolicy", policy);
    let mut resolver = Map::default();
    resolver.text("type", &partition.user_group_resolver.kind);
    map.map("usergroupresolver", resolver);
    map.text("limitprecedence", &partition.limit_precedence);
    map.some("userlimits", partition.user_limits.as_ref().map(user_limits));
    map.some("applicationlimits", partition.application_limits.as_ref().map(application_limits));
    map
}

fn queue(queue: &ConfigQueue) -> Map {
    let mut map = Map::default();
    map.scalar("name", &quoted(&queue.name));
    map.flag("parent", queue.parent.then_some(true));
    map.map("resources", resources(&queue.resources));
    map.count("maxapplications", queue.max_applications);
    map.texts("properties", &queue.properties);
    map.text("adminacl", &queue.admin_acl);
    map.text("submitacl", &queue.submit_acl);
    map.map("childtemplate", template(&queue.child_template));
    map.list("queues", &queue.queues, self::queue);
    map.list("limits", &queue.limits, limit);
    map.some("userlimits", queue.user_limits.as_ref().map(user_limits));
    map.some("applicationlimits", queue.application_limits.as_ref().map(application_limits));
    map.some("capacity", queue.capacity.as_ref().map(capacity));
    map.some("preemption", queue.preemption.map(preemption_of_queue));
    map.text("state", &queue.state);
    map.text("orderingpolicy", &queue.ordering_policy);
    for (key, seconds) in [
        ("maximumapplicationlifetime", queue.maximum_application_lifetime),
        ("defaultapplicationlifetime", queue.default_application_lifetime),
    ] {
        if let Some(seconds) = seconds {
            map.scalar(key, &seconds);
        }
    }
    if let Some(labels) = &queue.node_labels {
        let mut block = Map::default();
        match &labels.accessible {
            Some(none) if none.is_empty() => block.scalar("accessible", &"[]"),
            some => block.words("accessible", some.as_deref().unwrap_or_default()),
        }
        if let Some(label) = &labels.default {
            block.scalar("default", &quoted(label));
        }
        block.words("exclusive", &labels.exclusive);
        block.words("lends", &labels.lends);
        for (label, part) in &labels.capacities {
            block.map(&quoted(label), capacity(part));
        }
        map.map("nodelabels", block);
    }
    map
}

fn preemption_of_queue(preemption: ConfigQueuePreemption) -> Map {
    let mut map = Map::default();
    map.flag("disabled", preemption.disabled);
    map.flag("intraqueuedisabled", preemption.intra_queue_disabled);
    map.flag("balance", preemption.balance);
    map
}

fn user_limits(limits: &ConfigUserLimits) -> Map {
    let mut map = Map::default();
    // Numbers stand as they are: in quotes they would be texts.
    for (key, number) in
        [("minimumuserlimitpercent", &limits.floor), ("userlimitfactor", &limits.factor)]
    {
        if !number.is_empty() {
            map.scalar(key, number);
        }
    }
    let weights = limits.weights.iter();
    let weights = weights.map(|(user, one)| (quoted(user), Node::Scalar(one.clone())));
    map.map("weights", Map(weights.collect()));
    map.text("formula", &limits.formula);
    map.text("enforcement", &limits.enforcement);
    map.text("calculator", &limits.calculator);
    for (key, amounts) in [
        ("minimumallocation", &limits.minimum_allocation),
        ("increment", &limits.increment),
        ("maximumallocation", &limits.maximum_allocation),
    ] {
        map.some(key, amounts.as_ref().map(quantities));
    }
    map
}

fn application_limits(limits: &ConfigApplicationLimits) -> Map {
    let mut map = Map::default();
    map.count("maximumapplications", limits.maximum_applications);
    map.count("maximumapplicationsperuser", limits.maximum_applications_per_user);
    map.count("maxparallelapps", limits.max_parallel_apps);
    map.count("maxparallelappsperuser", limits.max_parallel_apps_per_user);
    let by_user = limits.max_parallel_apps_by_user.iter();
    let by_user = by_user.map(|(user, one)| (quoted(user), Node::Scalar(one.to_string())));
    map.map("maxparallelappsbyuser", Map(by_user.collect()));
    if !limits.driver.is_empty() {
        // In quotes it would be a text.
        map.scalar("maximumdriverresourcepercent", &limits.driver);
    }
    map.count("globalqueuemaxapplication", limits.global_queue_max_application);
    map
}

/// Numbers without quotes, in which they would be texts.
fn capacity(capacity: &ConfigCapacity) -> Map {
    let mut map = Map::default();
    map.text("mode", &capacity.mode);
    for (key, number) in [("value", &capacity.value), ("maximum", &capacity.maximum)] {
        if !number.is_empty() {
            map.scalar(key, number);
        }
    }
    map
}

fn quantities(amounts: &BTreeMap<String, String>) -> Map {
    let amounts = amounts.iter();
    Map(amounts.map(|(name, one)| (quoted(name), Node::Scalar(quoted(one)))).collect())
}

fn resources(resources: &ConfigResources) -> Map {
    let mut map = Map::default();
    map.texts("guaranteed", &resources.guaranteed);
    map.texts("max", &resources.max);
    map
}

fn template(template: &ChildTemplate) -> Map {
    let mut map = Map::default();
    map.count("maxapplications", template.max_applications);
    map.texts("properties", &template.properties);
    map.map("resources", resources(&template.resources));
    map.some("userlimits", template.user_limits.as_ref().map(user_limits));
    map.some("applicationlimits", template.application_limits.as_ref().map(application_limits));
    map.some("capacity", template.capacity.as_ref().map(capacity));
    map
}

fn rule(rule: &ConfigPlacementRule) -> Map {
    let mut map = Map::default();
    map.scalar("name", &quoted(&rule.name));
    map.flag("create", rule.create.then_some(true));
    map.map("filter", filter(&rule.filter));
    if let Some(parent) = &rule.parent {
        map.map("parent", self::rule(parent));
    }
    map.text("value", &rule.value);
    map
}

fn filter(filter: &ConfigFilter) -> Map {
    let mut map = Map::default();
    map.text("type", &filter.kind);
    map.words("users", &filter.users);
    map.words("groups", &filter.groups);
    map
}

fn limit(limit: &ConfigLimit) -> Map {
    let mut map = Map::default();
    map.scalar("limit", &quoted(&limit.limit));
    map.words("users", &limit.users);
    map.words("groups", &limit.groups);
    map.texts("maxresources", &limit.max_resources);
    map.count("maxapplications", limit.max_applications);
    map
}

/// A text, in quotes unless it can only be read as itself.
fn quoted(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./@-".contains(&byte))
        && !looks_like_a_value(text);
    if is_plain {
        return text.to_owned();
    }
    // A text in JSON is one in YAML.
    serde_json::Value::from(text).to_string()
}

/// Words that some reader of YAML takes for a boolean, a number or nothing.
fn looks_like_a_value(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    matches!(
        word.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "nan" | "inf"
    )
}

fn write_map(out: &mut String, map: &Map, depth: usize) {
    for (place, (key, value)) in map.0.iter().enumerate() {
        // The first key of a list's item stands behind the dash.
        if place > 0 || !out.ends_with("- ") {
            out.push_str(&"  ".repeat(depth));
        }
        match value {
            Node::Scalar(text) => {
                // Writing into a string cannot fail.
                let _ = writeln!(out, "{key}: {text}");
            }
            Node::Map(inner) => {
                let _ = writeln!(out, "{key}:");
                write_map(out, inner, depth + 1);
            }
            Node::List(items) => {
                let _ = writeln!(out, "{key}:");
                write_list(out, items, depth + 1);
            }
        }
    }
}

fn write_list(out: &mut String, items: &[Node], depth: usize) {
    for item in items {
        // Dashes stand below the key that the list belongs to.
        out.push_str(&"  ".repeat(depth - 1));
        out.push_str("- ");
        match item {
            Node::Scalar(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Node::Map(map) => write_map(out, map, depth),
            Node::List(items) => write_list(out, items, depth + 1),
        }
    }
}
