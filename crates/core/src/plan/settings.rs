//! Current settings, under the keys of the queue file.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use crate::books::{Books, LimitSubject, PartitionSettings, Queue, QueueSettings, QueueState};
use crate::config::property::duration_text;
use crate::config::tenant::{OnLower, WaitingPolicy};
use crate::config::{
    AccessList, ApplicationLimitsConfig, CapacityConfig, CapacityShare, FilterConfig,
    PreemptionConfig, QueuePreemptionConfig, RuleConfig, TemplateConfig, TenantDefaults,
    TenantsConfig, UserFactor, UserLimitsConfig, WithinQueue,
};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity};
use crate::time::Millis;

use super::Value;

/// Settings by key.
pub(super) type Settings = BTreeMap<String, Value>;

/// Collects settings under a common prefix.
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

/// Returns names in the format of an access list.
fn words<'all>(all: impl IntoIterator<Item = &'all Name>) -> String {
    let all: Vec<&str> = all.into_iter().map(Name::as_str).collect();
    all.join(",")
}

/// Returns names as a list of the queue file.
fn list<'all>(all: impl IntoIterator<Item = &'all Name>) -> String {
    let all: Vec<String> = all.into_iter().map(|name| scalar(name)).collect();
    format!("[{}]", all.join(", "))
}

/// Returns a text inside a list or a mapping, in quotes if YAML would interpret it as another type.
fn scalar(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./@".contains(&byte);
    let starts_as_word = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_word = matches!(
        &*text.to_lowercase(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "null"
    );
    if starts_as_word && !is_word && text.bytes().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the settings of a partition.
pub(super) fn of_partition(settings: &PartitionSettings) -> Settings {
    let PartitionSettings {
        node_sort,
        preemption,
        limit_precedence,
        placement_rules,
        user_group_resolver,
        tenants,
        gang_placement,
        starvation_after,
        reservation_share,
    } = settings;
    let mut all = Settings::new();
    let mut under = Under { all: &mut all, word: "" };
    under.text("nodesortpolicy.type", node_sort.order.word());
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
    under.text("limitprecedence", limit_precedence.word());
    under.text("gangs.placement", gang_placement.word());
    under.text("starvation.after", duration_text(*starvation_after));
    if let Some(share) = reservation_share {
        under.text("reservations.share", share);
    }
    for (position, rule) in placement_rules.iter().enumerate() {
        under.text(&format!("placementrules.{}", position + 1), rule_of(rule));
    }
    if !user_group_resolver.is_empty() {
        under.text("usergroupresolver.type", user_group_resolver);
    }
    if let Some(tenants) = tenants {
        tenants_of(&mut under, tenants);
    }
    all
}

fn tenants_of(under: &mut Under<'_>, tenants: &TenantsConfig) {
    let TenantsConfig {
        root,
        exempt,
        defaults,
        recovery_timeout,
        verify_interval,
        idempotency_ttl,
        audit_retention_days,
        reclaim,
    } = tenants;
    under.text("tenants.enabled", true);
    under.text("tenants.rootqueue", root);
    if !exempt.is_empty() {
        under.text("tenants.exempt", list(exempt));
    }
    let TenantDefaults { quota, max_waiting, waiting, on_lower, oversized } = defaults;
    under.amounts("tenants.defaults.quota", Some(quota));
    under.some("tenants.defaults.maxwaiting", *max_waiting);
    waiting_of(under, waiting);
    under.text("tenants.defaults.onlower.action", on_lower.word());
    if let OnLower::Preempt { grace } = on_lower {
        under.text("tenants.defaults.onlower.graceseconds", seconds(*grace));
    }
    under.text("tenants.defaults.oversized", oversized.word());
    under.text("tenants.recoverytimeoutseconds", seconds(*recovery_timeout));
    under.text("tenants.verifyintervalseconds", seconds(*verify_interval));
    under.text("tenants.idempotencyttlseconds", seconds(*idempotency_ttl));
    under.text("tenants.audit.retentiondays", audit_retention_days);
    under.text("tenants.reclaim", reclaim);
}

fn waiting_of(under: &mut Under<'_>, waiting: &WaitingPolicy) {
    let WaitingPolicy {
        strategy,
        aging_interval,
        aging_step,
        aging_max,
        max_overtakes,
        max_head_wait,
        max_wait,
    } = waiting;
    under.text("tenants.defaults.waiting.strategy", strategy.word());
    let mut some = |key: &str, number: Option<u64>| {
        under.some(&format!("tenants.defaults.waiting.{key}"), number);
    };
    some("agingintervalseconds", aging_interval.map(seconds));
    some("agingstep", aging_step.map(u64::from));
    some("agingmax", aging_max.map(u64::from));
    some("maxovertakes", max_overtakes.map(u64::from));
    some("maxheadwaitseconds", max_head_wait.map(seconds));
    some("maxwaitseconds", max_wait.map(seconds));
}

/// Returns a time span in whole seconds, the unit of the queue file.
const fn seconds(span: Millis) -> u64 {
    span.get() / 1_000
}

/// Returns a placement rule as a mapping of the queue file, with its parent rule.
fn rule_of(rule: &RuleConfig) -> String {
    let RuleConfig { name, create, filter, parent, value } = rule;
    let mut parts = alloc::vec![format!("name: {}", scalar(name))];
    if !value.is_empty() {
        parts.push(format!("value: {}", scalar(value)));
    }
    if *create {
        parts.push("create: true".into());
    }
    let FilterConfig { kind, users, groups } = filter;
    if !(users.is_empty() && groups.is_empty()) {
        let kind = if kind.is_empty() { "allow" } else { kind };
        let mut filter = alloc::vec![format!("type: {}", scalar(kind))];
        for (key, names) in [("users", users), ("groups", groups)] {
            if !names.is_empty() {
                filter.push(format!("{key}: {}", list(names)));
            }
        }
        parts.push(format!("filter: {{{}}}", filter.join(", ")));
    }
    if let Some(parent) = parent {
        parts.push(format!("parent: {}", rule_of(parent)));
    }
    format!("{{{}}}", parts.join(", "))
}

/// Returns the settings of a queue, including its limits. Empty for a queue that is about to be removed.
pub(super) fn of_queue(books: &Books, id: QueueId, row: &Queue) -> Settings {
    let mut all = Settings::new();
    let mut under = Under { all: &mut all, word: "" };
    // The queues of tenants follow from the settings of the tenants.
    let ends = row.state == QueueState::Draining && !row.settings.stopped;
    if ends || row.settings.tenant.is_some() {
        return all;
    }
    under.text("parent", !row.leaf);
    if row.settings.stopped {
        under.text("state", "stopped");
    }
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
        part_of(under, &format!("nodelabels.{}", one.label), one.capacity);
    }
    let QueuePreemptionConfig {
        disabled,
        intra_queue_disabled,
        balance,
        within_queue,
        min_runtime,
    } = preemption;
    under.some("preemption.disabled", *disabled);
    under.some("preemption.intraqueuedisabled", *intra_queue_disabled);
    under.some("preemption.balance", *balance);
    under.some("preemption.withinqueue", within_queue.map(WithinQueue::word));
    under.some("preemption.minruntime", min_runtime.map(duration_text));
    under.some("maximumapplicationlifetime", lifetimes.maximum.map(seconds));
    under.some("defaultapplicationlifetime", lifetimes.default.map(seconds));
    if let Some(labels) = node_labels {
        under.some("nodelabels.accessible", labels.accessible.as_ref().map(list));
        under.some("nodelabels.default", labels.default.as_ref());
        for (key, labels) in [("exclusive", &labels.exclusive), ("lends", &labels.lends)] {
            if !labels.is_empty() {
                under.text(&format!("nodelabels.{key}"), list(labels));
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
    under.text(word, "{}"); // An empty block switches them on.
    let mut say = |key: &str, value: Option<String>| under.some(&format!("{word}.{key}"), value);
    say("formula", limits.formula.map(|one| one.word().into()));
    say("enforcement", limits.enforcement.map(|one| one.word().into()));
    say("calculator", limits.calculator.map(|one| one.word().into()));
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
        ("maxparallelapps", limits.max_parallel),
        ("maxparallelappsperuser", limits.max_parallel_per_user),
        ("globalqueuemaxapplication", limits.max_per_queue),
    ] {
        under.some(&format!("{word}.{key}"), number);
    }
    for (user, number) in &limits.max_parallel_by_user {
        under.text(&format!("{word}.maxparallelappsbyuser.{user}"), number);
    }
    under.some(&format!("{word}.maximumdriverresourcepercent"), limits.driver);
}

fn capacity_of(under: &mut Under<'_>, word: &str, capacity: Option<CapacityConfig>) {
    let Some(capacity) = capacity else { return };
    under.text(&format!("{word}.mode"), capacity.share.mode());
    part_of(under, word, capacity);
}

/// Adds the fraction itself. On a label, it has the mode of the queue.
fn part_of(under: &mut Under<'_>, word: &str, CapacityConfig { share, maximum }: CapacityConfig) {
    let value = match share {
        CapacityShare::Percent(value) | CapacityShare::Weight(value) => Some(value),
        CapacityShare::Absolute => None,
    };
    under.some(&format!("{word}.value"), value);
    under.some(&format!("{word}.maximum"), maximum);
}

/// Adds the limits of users and groups. With several groups, also their order, because it selects the group of a user.
fn limits(under: &mut Under<'_>, books: &Books, (partition, queue): (PartitionId, QueueId)) {
    let mut groups = Vec::new();
    let mut seen = BTreeSet::new();
    for limit in books.partition(partition).trackers.limits_at(queue) {
        let who = match &limit.subject {
            LimitSubject::User(name) => format!("users: {}", scalar(name)),
            LimitSubject::AnyUser => "users: '*'".into(),
            LimitSubject::Group(name) => format!("groups: {}", scalar(name)),
            LimitSubject::AnyGroup => "groups: '*'".into(),
        };
        if let LimitSubject::Group(name) = &limit.subject {
            groups.push(name.clone());
        }
        if !seen.insert(who.clone()) {
            continue;
        }
        under.amounts(&format!("limits[{who}].maxresources"), Some(&limit.max));
        under.count(&format!("limits[{who}].maxapplications"), limit.max_applications);
    }
    if groups.len() > 1 {
        under.text("limits[groups]", list(&groups));
    }
}
