//! What is in force, setting by setting, under the keys of the queue file.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Display;

use crate::books::{Books, LimitSubject, PartitionSettings, Queue, QueueSettings};
use crate::config::{
    AccessList, ApplicationLimitsConfig, CapacityConfig, CapacityShare, LimitPrecedence, NodeOrder,
    PreemptionConfig, QueuePreemptionConfig, RuleConfig, TemplateConfig, UserFactor,
    UserLimitsConfig,
};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity};

use super::Value;

/// Settings by key.
pub(super) type Settings = BTreeMap<String, Value>;

/// Settings that are being put together, all keys behind a word.
struct Under<'all> {
    all: &'all mut Settings,
    word: &'all str,
}

impl Under<'_> {
    fn put(&mut self, key: &str, value: Value) {
        self.all.insert(format!("{}{key}", self.word), value);
    }

    fn text(&mut self, key: &str, text: impl Display) {
        self.put(key, Value::Text(Name::from(format!("{text}"))));
    }

    fn some(&mut self, key: &str, text: Option<impl Display>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    fn count(&mut self, key: &str, count: u64) {
        if count > 0 {
            self.text(key, count);
        }
    }

    fn amounts(&mut self, key: &str, amounts: Option<&Amounts>) {
        for (resource, amount) in amounts.into_iter().flat_map(Amounts::iter) {
            self.amount(&format!("{key}.{resource}"), resource, amount);
        }
    }

    fn amount(&mut self, key: &str, resource: &Name, amount: Quantity) {
        self.put(key, Value::Amount { resource: resource.clone(), amount });
    }
}

fn words<'all>(all: impl IntoIterator<Item = &'all Name>) -> String {
    let all: alloc::vec::Vec<&str> = all.into_iter().map(Name::as_str).collect();
    all.join(",")
}

/// What is said of a partition.
pub(super) fn of_partition(settings: &PartitionSettings) -> Settings {
    let PartitionSettings {
        node_sort,
        preemption,
        limit_precedence,
        placement_rules,
        user_group_resolver,
        tenants,
    } = settings;
    let mut all = Settings::new();
    let mut under = Under { all: &mut all, word: "" };
    let order = match node_sort.order {
        NodeOrder::Fair => "fair",
        NodeOrder::BinPacking => "binpacking",
    };
    under.text("nodesortpolicy.type", order);
    for (resource, weight) in &node_sort.weights {
        under.text(&format!("nodesortpolicy.resourceweights.{resource}"), weight);
    }
    let PreemptionConfig {
        enabled,
        quota_enabled,
        strict_guarantee,
        balance,
        intra_queue_enabled,
        observe_only,
    } = preemption;
    for (key, is) in [
        ("preemption.enabled", enabled),
        ("preemption.quotapreemptionenabled", quota_enabled),
        ("preemption.strictguarantee", strict_guarantee),
        ("preemption.balance", balance),
        ("preemption.intraqueueenabled", intra_queue_enabled),
        ("preemption.observeonly", observe_only),
    ] {
        under.text(key, is);
    }
    let precedence = match limit_precedence {
        LimitPrecedence::Both => "both",
        LimitPrecedence::User => "user",
    };
    under.text("limitprecedence", precedence);
    for (position, rule) in placement_rules.iter().enumerate() {
        under.text(&format!("placementrules.{}", position + 1), rule_words(rule));
    }
    if !user_group_resolver.is_empty() {
        under.text("usergroupresolver", user_group_resolver);
    }
    if let Some(tenants) = tenants {
        under.text("tenants.rootqueue", &tenants.root);
        under.text("tenants.exempt", words(&tenants.exempt));
        let defaults = &tenants.defaults;
        under.amounts("tenants.defaults.quota", Some(&defaults.quota));
        under.some("tenants.defaults.maxwaiting", defaults.max_waiting);
        under.text("tenants.defaults.waiting", format!("{:?}", defaults.waiting));
        under.text("tenants.defaults.onlower", format!("{:?}", defaults.on_lower));
        under.text("tenants.defaults.oversized", format!("{:?}", defaults.oversized));
        let seconds = |millis: u64| format!("{}s", millis / 1_000);
        under.text("tenants.recoverytimeout", seconds(tenants.recovery_timeout.get()));
        under.text("tenants.verifyinterval", seconds(tenants.verify_interval.get()));
        under.text("tenants.idempotencyttl", seconds(tenants.idempotency_ttl.get()));
        under.text("tenants.auditretentiondays", tenants.audit_retention_days);
    }
    all
}

/// A placement rule in one line, its parents behind it.
fn rule_words(rule: &RuleConfig) -> String {
    let mut line = rule.name.clone();
    if !rule.value.is_empty() {
        line.push(' ');
        line.push_str(&rule.value);
    }
    if rule.create {
        line.push_str(" create");
    }
    let filter = &rule.filter;
    if !(filter.users.is_empty() && filter.groups.is_empty()) {
        let kind = if filter.kind.is_empty() { "allow" } else { &filter.kind };
        let (users, groups) = (words(&filter.users), words(&filter.groups));
        line = format!("{line} {kind} users [{users}] groups [{groups}]");
    }
    if let Some(parent) = &rule.parent {
        line = format!("{line} below ({})", rule_words(parent));
    }
    line
}

/// What is in force at a queue, its limits of users and groups included.
pub(super) fn of_queue(books: &Books, id: QueueId, row: &Queue) -> Settings {
    let mut all = Settings::new();
    let kind = if row.leaf { "leaf" } else { "parent" };
    let mut under = Under { all: &mut all, word: "" };
    under.text("queue", kind);
    under.text("state", row.state);
    say(&mut under, &row.settings);
    limits(&mut under, books, (row.partition, id));
    all
}

fn say(under: &mut Under<'_>, settings: &QueueSettings) {
    let QueueSettings {
        max,
        guaranteed,
        max_applications,
        properties,
        values: _, // What the properties mean.
        submit_acl,
        admin_acl,
        template,
        user_limits,
        application_limits,
        capacity,
        label_capacities,
        preemption,
        stopped: _, // The state says it.
        lifetimes,
        node_labels,
        tenant: _, // A file does not say it.
    } = settings;
    under.amounts("resources.max", max.as_ref());
    under.amounts("resources.guaranteed", guaranteed.as_ref());
    under.count("maxapplications", *max_applications);
    for (key, value) in properties {
        under.text(&format!("properties.{key}"), value);
    }
    access(under, "submitacl", submit_acl);
    access(under, "adminacl", admin_acl);
    if let Some(template) = template {
        template_of(under, template);
    }
    user_limits_of(under, "userlimits", user_limits.as_deref());
    application_limits_of(under, "applicationlimits", application_limits.as_deref());
    capacity_of(under, "capacity", *capacity);
    for one in label_capacities {
        capacity_of(under, &format!("capacity.labels.{}", one.label), Some(one.capacity));
    }
    let QueuePreemptionConfig { disabled, intra_queue_disabled, balance } = preemption;
    under.some("preemption.disabled", *disabled);
    under.some("preemption.intraqueuedisabled", *intra_queue_disabled);
    under.some("preemption.balance", *balance);
    let seconds = |span: crate::time::Millis| format!("{}s", span.get() / 1_000);
    under.some("maximumapplicationlifetime", lifetimes.maximum.map(seconds));
    under.some("defaultapplicationlifetime", lifetimes.default.map(seconds));
    if let Some(labels) = node_labels {
        under.some("nodelabels.accessible", labels.accessible.as_ref().map(words));
        under.some("nodelabels.default", labels.default.as_ref());
        for (key, labels) in [("exclusive", &labels.exclusive), ("lends", &labels.lends)] {
            if !labels.is_empty() {
                under.text(&format!("nodelabels.{key}"), words(labels));
            }
        }
    }
}

fn access(under: &mut Under<'_>, key: &str, list: &AccessList) {
    let (users, groups) = (words(list.users()), words(list.groups()));
    match (list.is_everybody(), groups.is_empty()) {
        (true, _) => under.text(key, "*"),
        (false, true) if users.is_empty() => {}
        (false, true) => under.text(key, users),
        (false, false) => under.text(key, format!("{users} {groups}")),
    }
}

fn template_of(under: &mut Under<'_>, template: &TemplateConfig) {
    under.count("childtemplate.maxapplications", template.max_applications);
    under.amounts("childtemplate.resources.max", Some(&template.max));
    under.amounts("childtemplate.resources.guaranteed", Some(&template.guaranteed));
    for (key, value) in &template.properties {
        under.text(&format!("childtemplate.properties.{key}"), value);
    }
    user_limits_of(under, "childtemplate.userlimits", template.user_limits.as_ref());
    let limits = template.application_limits.as_ref();
    application_limits_of(under, "childtemplate.applicationlimits", limits);
    capacity_of(under, "childtemplate.capacity", template.capacity);
}

fn user_limits_of(under: &mut Under<'_>, word: &str, limits: Option<&UserLimitsConfig>) {
    let Some(limits) = limits else { return };
    let lower = |text: String| text.to_lowercase();
    under.text(word, "given");
    let mut say = |key: &str, value: Option<String>| under.some(&format!("{word}.{key}"), value);
    say("formula", limits.formula.map(|one| lower(format!("{one:?}"))));
    say("enforcement", limits.enforcement.map(|one| lower(format!("{one:?}"))));
    say("calculator", limits.calculator.map(|one| lower(format!("{one:?}"))));
    say("minimumuserlimitpercent", limits.floor.map(|floor| floor.to_string()));
    let factor = limits.factor.map(|factor| match factor {
        UserFactor::Off => "-1".into(),
        UserFactor::Times(factor) => factor.to_string(),
    });
    say("userlimitfactor", factor);
    for (user, weight) in &limits.weights {
        say(&format!("weights.{user}"), Some(weight.to_string()));
    }
    let amounts = [
        ("minimumallocation", &limits.minimum_allocation),
        ("increment", &limits.increment),
        ("maximumallocation", &limits.maximum_allocation),
    ];
    for (key, amounts) in amounts {
        under.amounts(&format!("{word}.{key}"), amounts.as_ref());
    }
}

fn application_limits_of(
    under: &mut Under<'_>,
    word: &str,
    limits: Option<&ApplicationLimitsConfig>,
) {
    let Some(limits) = limits else { return };
    for (key, number) in [
        ("maximumapplications", limits.max),
        ("maximumapplicationsperuser", limits.max_per_user),
        ("maximumparallelapplications", limits.max_parallel),
        ("maximumparallelapplicationsperuser", limits.max_parallel_per_user),
        ("maximumapplicationsperqueue", limits.max_per_queue),
    ] {
        under.some(&format!("{word}.{key}"), number);
    }
    for (user, number) in &limits.max_parallel_by_user {
        under.text(&format!("{word}.maximumparallelapplicationsbyuser.{user}"), number);
    }
    under.some(&format!("{word}.maximumdriverresourcepercent"), limits.driver);
}

fn capacity_of(under: &mut Under<'_>, word: &str, capacity: Option<CapacityConfig>) {
    let Some(CapacityConfig { share, maximum }) = capacity else { return };
    let share = match share {
        CapacityShare::Percent(percent) => format!("{percent} percent"),
        CapacityShare::Weight(weight) => format!("weight {weight}"),
        CapacityShare::Absolute => "absolute".into(),
    };
    under.text(word, share);
    under.some(&format!("{word}.maximum"), maximum.map(|percent| format!("{percent} percent")));
}

/// The limits of users and groups; the order of groups is said where there are several, since it decides.
fn limits(under: &mut Under<'_>, books: &Books, (partition, queue): (PartitionId, QueueId)) {
    let mut groups = alloc::vec::Vec::new();
    let mut seen = BTreeSet::new();
    for limit in books.partition(partition).trackers.limits_at(queue) {
        let who = match &limit.subject {
            LimitSubject::User(name) => format!("user {name}"),
            LimitSubject::AnyUser => "user *".into(),
            LimitSubject::Group(name) => format!("group {name}"),
            LimitSubject::AnyGroup => "group *".into(),
        };
        if let LimitSubject::Group(name) = &limit.subject {
            groups.push(name.clone());
        }
        if !seen.insert(who.clone()) {
            continue;
        }
        under.text(&format!("limits.{who}"), "limited");
        under.amounts(&format!("limits.{who}.maxresources"), Some(&limit.max));
        under.count(&format!("limits.{who}.maxapplications"), limit.max_applications);
    }
    if groups.len() > 1 {
        under.text("limits.order of groups", words(&groups));
    }
}
