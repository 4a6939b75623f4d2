//! Words of a story: conversion of its lines to a configuration and commands.
//!
//! See [`super::tell`] for the available lines.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::Peekable;
use core::str::SplitWhitespace;

use crate::books::{GangStyle, NodeAttributes};
use crate::command::{AddNode, Ask, Command, SetForeign, Submit};
use crate::config::{
    Configuration, GangPlacement, LimitConfig, NodeOrder, PartitionConfig, QueueConfig, QueueStart,
    RuleConfig, TemplateConfig,
};
use crate::event::Termination;
use crate::name::Name;
use crate::resource::{Amounts, Quantity};
use crate::time::{Millis, Timestamp};
use crate::userlimit::Decimal;

mod manager;
mod sharing;
mod tasks;
mod tenants;

use sharing::{counts, preempt, share};

use super::part::{read_part, read_part_at};
use super::{leaf, parent, partition};

/// Words of one line, read one by one.
#[derive(Debug)]
pub(super) struct Words<'line> {
    line: &'line str,
    rest: Peekable<SplitWhitespace<'line>>,
}

impl<'line> Words<'line> {
    pub(super) fn of(line: &'line str) -> Self {
        Self { line, rest: line.split_whitespace().peekable() }
    }

    /// Returns the next word.
    ///
    /// # Panics
    /// Panics if the line is at its end. The story has an error in this case, not the tested code.
    pub(super) fn next(&mut self, what: &str) -> &'line str {
        self.rest.next().unwrap_or_else(|| panic!("`{}` lacks {what}", self.line))
    }

    pub(super) fn optional(&mut self) -> Option<&'line str> {
        self.rest.next()
    }

    pub(super) fn name(&mut self, what: &str) -> Name {
        // Quotes are removed, so that a story can give an empty name.
        Name::new(self.next(what).trim_matches('\''))
    }

    /// Reads this word if it is the next one. Returns whether it was.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.rest.next_if_eq(&word).is_some()
    }

    /// Reads the following amounts in the form `type=quantity`. Negative amounts are in the smallest unit.
    fn amounts(&mut self) -> Amounts {
        let mut amounts = Amounts::EMPTY;
        while let Some(word) = self.rest.next_if(|word| word.contains('=') && !is_count(word)) {
            let (resource, text) = word.split_once('=').unwrap_or((word, ""));
            let amount = match text.parse::<i64>() {
                Ok(amount) if amount < 0 => Quantity::of(amount),
                _ => Quantity::parse(resource, text)
                    .unwrap_or_else(|error| panic!("`{}`: {text}: {error}", self.line)),
            };
            amounts.set(resource, amount);
        }
        amounts
    }

    /// Reads an access list, with `|` for the space between users and groups.
    fn access_list(&mut self) -> String {
        self.name("an access list").replace('|', " ")
    }

    fn list(&mut self, what: &str) -> Vec<Name> {
        self.next(what).split(',').map(Name::new).collect()
    }

    /// Reads labels in their order. `-` is an empty list.
    fn labels(&mut self, what: &str) -> Vec<Name> {
        let mut labels = self.list(what);
        labels.retain(|label| *label != "-");
        labels.sort();
        labels
    }

    /// Reads tags in the form `key=value`, up to the end of the line.
    fn tags(&mut self) -> Vec<(Name, Name)> {
        let pairs = self.rest.by_ref().map(|word| word.split_once('=').unwrap_or((word, "")));
        pairs.map(|(key, value)| (Name::new(key), Name::new(value))).collect()
    }

    /// Reads a duration such as `30s`.
    pub(super) fn seconds(&mut self) -> Millis {
        let word = self.next("a time such as 30s");
        let seconds = word.strip_suffix('s').and_then(|text| text.parse().ok());
        Millis::from_secs(seconds.unwrap_or_else(|| panic!("`{}`: {word} is no time", self.line)))
    }

    /// Checks that the line is at its end. Panics otherwise.
    pub(super) fn end(&mut self) {
        if let Some(word) = self.rest.next() {
            panic!("`{}`: nobody understands `{word}`", self.line);
        }
    }
}

fn is_count(word: &str) -> bool {
    word.starts_with("apps=")
}

/// Whether a line belongs to the configuration, which precedes all other lines.
pub(super) fn is_setting(line: &str) -> bool {
    matches!(
        line.split_whitespace().next(),
        Some(
            "gangs"
                | "starvation"
                | "reservations"
                | "queue"
                | "limit"
                | "nodes"
                | "partition"
                | "preemption"
                | "rule"
                | "tenants"
        )
    )
}

/// Returns the command that loads the configuration of these lines.
pub(super) fn configuration<'line>(lines: impl Iterator<Item = &'line str>) -> Command {
    let mut all = Configuration::default();
    for line in lines {
        let mut words = Words::of(line);
        let verb = words.next("a word");
        if verb == "partition" || all.partitions.is_empty() {
            let mut fresh = partition(parent("root", Vec::new())).partitions.remove(0);
            if verb == "partition" {
                fresh.name = words.name("a name");
            }
            all.partitions.push(fresh);
        }
        let current = all.partitions.last_mut().expect("one was just made");
        match verb {
            "queue" => queue(current, &mut words),
            "limit" => limit(current, &mut words),
            "tenants" => tenants::tenants(current, &mut words),
            "rule" => current.placement_rules.push(rule(&mut words)),
            "nodes" => node_order(current, &mut words),
            "preemption" => preemption(current, &mut words),
            "gangs" => {
                current.gang_placement = match words.next("a placement of gangs") {
                    "members" => GangPlacement::Members,
                    "whole" => GangPlacement::Whole,
                    other => panic!("{other} is no placement of gangs"),
                };
            }
            "starvation" => {
                current.starvation_after = words.seconds();
            }
            "reservations" => {
                let share = words.next("a fraction of the nodes");
                current.reservation_share = Some(Decimal::parse(share).expect("a decimal"));
            }
            _ => {}
        }
        words.end();
    }
    if all.partitions.is_empty() {
        all = partition(parent("root", Vec::new()));
    }
    Command::Configure(Box::new(all))
}

/// Reads `queue root.a max vcore=4 guaranteed vcore=1 apps=2 fair ignore-priority parent`.
///
/// More words, in any order:
/// - access lists `submit ann,bob|dev admin |ops`
/// - properties `prop k=v`
/// - user limits `share smooth;progress;p=30;f=off;ann=2 step vcore=1 increment vcore=1 largest vcore=4`
/// - limits of applications `counts parallel=3;driver=0.1`
/// - preemption `preempt balance;disabled`
/// - a fraction `percent=40/80` or `weight=2`, for a label `percent@gpu=40/80`
/// - states `stopped` or `running`
/// - lifetimes `lifetime 60s usual-lifetime 30s`
/// - labels `labels gpu,fpga label gpu`
/// - at the end, `template max vcore=1 apps=1 fair`
fn queue(partition: &mut PartitionConfig, words: &mut Words<'_>) {
    let queue = queue_at(&mut partition.root, words.next("a path"));
    while let Some(word) = words.optional() {
        match word {
            "max" => queue.max = words.amounts(),
            "guaranteed" => queue.guaranteed = words.amounts(),
            "parent" => queue.parent = true,
            "submit" => queue.submit_acl = words.access_list(),
            "admin" => queue.admin_acl = words.access_list(),
            "template" => queue.template = Some(template(words)),
            "fair" => set(queue, "application.sort.policy", "fair"),
            "fifo" => set(queue, "application.sort.policy", "fifo"),
            "prop" => {
                let (key, value) = words.next("a property").split_once('=').expect("key=value");
                set(queue, key, value);
            }
            "ignore-priority" => set(queue, "application.sort.priority", "disabled"),
            "preempt" => queue.preemption = preempt(words.next("switches")),
            "share" => *queue.user_limits.get_or_insert_default() = share(words.next("rules")),
            "stopped" => queue.start = Some(QueueStart::Stopped),
            "running" => queue.start = Some(QueueStart::Running),
            "lifetime" => queue.lifetimes.maximum = Some(words.seconds()),
            "usual-lifetime" => queue.lifetimes.default = Some(words.seconds()),
            word @ ("labels" | "exclusive" | "lends" | "label") => {
                let labels = queue.node_labels.get_or_insert_default();
                match word {
                    "labels" => labels.accessible = Some(words.labels("labels")),
                    "exclusive" => labels.exclusive = words.labels("labels"),
                    "lends" => labels.lends = words.labels("labels"),
                    _ => labels.default = Some(words.name("a label")),
                }
            }
            "counts" => queue.application_limits = Some(counts(words.next("numbers"))),
            "step" => {
                queue.user_limits.get_or_insert_default().minimum_allocation =
                    Some(words.amounts());
            }
            "increment" => {
                queue.user_limits.get_or_insert_default().increment = Some(words.amounts());
            }
            "largest" => {
                let limits = queue.user_limits.get_or_insert_default();
                limits.maximum_allocation = Some(words.amounts());
            }
            _ if word.contains('@') => queue.label_capacities.push(read_part_at(word)),
            _ => read_part(word, &mut queue.capacity, &mut queue.max_applications),
        }
    }
}

/// Reads `template max vcore=4 guaranteed vcore=1 fair apps=2`, up to the end of the line.
fn template(words: &mut Words<'_>) -> TemplateConfig {
    let mut template = TemplateConfig::default();
    while let Some(word) = words.optional() {
        match word {
            "max" => template.max = words.amounts(),
            "guaranteed" => template.guaranteed = words.amounts(),
            "fair" | "fifo" => {
                let key = Name::new("application.sort.policy");
                template.properties.insert(key, Name::new(word));
            }
            _ => read_part(word, &mut template.capacity, &mut template.max_applications),
        }
    }
    template
}

/// Reads `rule tag namespace create deny user ann,bob group dev below fixed teams`. After `below` is the rule for the
/// parent, in the same form. `fixed` and `tag` have a value.
fn rule(words: &mut Words<'_>) -> RuleConfig {
    let name = words.next("a rule");
    let mut rule = RuleConfig { name: name.into(), ..RuleConfig::default() };
    if matches!(name, "fixed" | "tag") {
        rule.value = words.name("a value").as_str().into();
    }
    while let Some(word) = words.optional() {
        match word {
            "create" => rule.create = true,
            "user" => rule.filter.users = words.list("user names"),
            "group" => rule.filter.groups = words.list("group names"),
            "below" => {
                rule.parent = Some(Box::new(self::rule(words)));
                break;
            }
            kind => rule.filter.kind = kind.into(),
        }
    }
    rule
}

fn set(queue: &mut QueueConfig, key: &str, value: &str) {
    queue.properties.insert(Name::new(key), Name::new(value));
}

/// Returns the queue at a path. Creates it and its missing ancestors.
fn queue_at<'tree>(root: &'tree mut QueueConfig, path: &str) -> &'tree mut QueueConfig {
    let mut at = root;
    for name in path.split('.').skip(1) {
        let position = at.children.iter().position(|child| child.name == name);
        let position = position.unwrap_or_else(|| {
            at.children.push(leaf(name));
            at.children.len() - 1
        });
        at = &mut at.children[position];
    }
    at
}

/// Reads `limit root.a user ann,* group dev,* vcore=3 apps=1`.
fn limit(partition: &mut PartitionConfig, words: &mut Words<'_>) {
    let queue = queue_at(&mut partition.root, words.next("a path"));
    let mut limit = LimitConfig::default();
    if words.take("user") {
        limit.users = words.list("user names");
    }
    if words.take("group") {
        limit.groups = words.list("group names");
    }
    limit.max_resources = words.amounts();
    limit.max_applications = words.optional().map_or(0, count);
    queue.limits.push(limit);
}

/// Reads `nodes binpacking vcore=3 memory=1`: the order of nodes, and the weights if they differ from the default.
#[expect(clippy::cast_precision_loss, reason = "weights in stories are small")]
fn node_order(partition: &mut PartitionConfig, words: &mut Words<'_>) {
    partition.node_sort.order = match words.next("an order") {
        "fair" => NodeOrder::Fair,
        "binpacking" => NodeOrder::BinPacking,
        other => panic!("{other} is no order of nodes"),
    };
    while let Some(word) = words.optional() {
        let (resource, weight) = word.split_once('=').expect("weights are `type=number`");
        let weight = weight.parse::<i64>().expect("weights in stories are whole") as f64;
        partition.node_sort.weights.push((Name::new(resource), weight));
    }
}

/// Reads `preemption off quota newest balance within observe`.
///
/// - `off`: no preemption for guarantees
/// - `quota`: preemption for quotas
/// - `newest`: choice of victims as in YuniKorn
/// - `balance`: preemption up to the fraction of a queue
/// - `within`: preemption among users of a leaf
/// - `observe`: only reports of the victims
fn preemption(partition: &mut PartitionConfig, words: &mut Words<'_>) {
    while let Some(word) = words.optional() {
        match word {
            "off" => partition.preemption.enabled = false,
            "quota" => partition.preemption.quota_enabled = true,
            "newest" => partition.preemption.strict_guarantee = false,
            "balance" => partition.preemption.balance = true,
            "within" => partition.preemption.intra_queue_enabled = true,
            "observe" => partition.preemption.observe_only = true,
            other => panic!("{other} is no kind of preemption"),
        }
    }
}

fn count(word: &str) -> u64 {
    let number = word.strip_prefix("apps=").and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("nobody understands `{word}`"))
}

/// Returns the command of a line. `holder` returns the application of an allocation key, and `open` the number of the
/// open question about it.
pub(super) fn command(
    partition: &Name,
    words: &mut Words<'_>,
    verb: &str,
    holder: impl Fn(&str) -> Option<Name>,
    open: impl Fn(&str) -> Option<u64>,
) -> Command {
    let partition = partition.clone();
    match verb {
        "node" => Command::AddNode(AddNode {
            partition,
            node: words.name("a node id"),
            capacity: words.amounts(),
            schedulable: !words.take("drained"),
            attributes: attributes(words),
        }),
        "resize" => Command::ResizeNode {
            partition,
            node: words.name("a node id"),
            capacity: words.amounts(),
        },
        "drain" | "undrain" => {
            let schedulable = verb == "undrain";
            Command::SetSchedulable { partition, node: words.name("a node id"), schedulable }
        }
        "lose" => Command::RemoveNode { partition, node: words.name("a node id") },
        "app" => submit(partition, words),
        "ask" => ask(partition, words),
        "release" => {
            let key = words.name("an allocation key");
            let termination = termination(words);
            let named = words.optional().map(Name::new);
            let application = named.or_else(|| holder(&key)).unwrap_or_default();
            Command::Release { partition, application, key: Some(key), termination }
        }
        "release-all" => {
            let application = words.name("an application id");
            Command::Release { partition, application, key: None, termination: termination(words) }
        }
        "foreign" => foreign(partition, words),
        "foreign-gone" => Command::ReleaseForeign { partition, key: words.name("a key") },
        "recover" => Command::Recover { partition },
        "questions" | "answer" | "void" | "manager-away" | "manager-back" => {
            manager::command(partition, verb, words, open)
        }
        "scan-quotas" => Command::ScanQuotas { partition },
        "tenant" => tenants::set(partition, words),
        "tenant-gone" => tenants::remove(partition, words),
        "tenant-defaults" => tenants::set_defaults(partition, words),
        "scan-outstanding" => Command::ScanOutstanding { partition },
        "remove" => {
            Command::RemoveApplication { partition, application: words.name("an application id") }
        }
        "task" => tasks::submit(partition, words),
        verb => tasks::change(partition, verb, words)
            .unwrap_or_else(|| panic!("nobody understands `{}`", words.line)),
    }
}

/// Reads `type m5 labelled gpu`: the instance type of a node, and its label.
fn attributes(words: &mut Words<'_>) -> NodeAttributes {
    let kind = words.take("type").then(|| words.name("an instance type"));
    let label = words.take("labelled").then(|| words.name("a label"));
    let kind = kind.map(|name| (NodeAttributes::INSTANCE_TYPE, name));
    kind.into_iter().chain(label.map(|name| (NodeAttributes::LABEL, name))).collect()
}

/// Reads `app app1 root.a ann groups dev,ops gang vcore=4 hard timeout 30s tags namespace=x`. `-` is no queue, and
/// `of:a` the queue of tenant a.
fn submit(partition: Name, words: &mut Words<'_>) -> Command {
    let application = words.name("an application id");
    let place = words.name("a queue");
    let tenant = place.strip_prefix("of:").map(Name::new);
    Command::Submit(Submit {
        partition,
        application,
        queue: Some(place).filter(|queue| tenant.is_none() && *queue != "-").unwrap_or_default(),
        tenant: tenant.unwrap_or_default(),
        user: words.name("a user"),
        groups: if words.take("groups") { words.list("group names") } else { Vec::new() },
        placeholder_ask: if words.take("gang") { words.amounts() } else { Amounts::EMPTY },
        gang_style: if words.take("hard") { GangStyle::Hard } else { GangStyle::Soft },
        placeholder_timeout: if words.take("timeout") { words.seconds() } else { Millis::ZERO },
        tags: if words.take("tags") { words.tags() } else { Vec::new() },
    })
}

/// Reads `ask a1 app1 vcore=3 prio 5 on n1 made 10s`: the ask runs on a node already, and was created that long after
/// the beginning of the story. More words, in any order: `placeholder`, `group g1`, `requires n1`, `preempts`,
/// `preemptable`, `originator`, `labelled gpu`, `not-on n1,n2`.
fn ask(partition: Name, words: &mut Words<'_>) -> Command {
    let (key, application) = (words.name("an allocation key"), words.name("an application id"));
    let mut ask = Ask { partition, application, key, resources: words.amounts(), ..Ask::default() };
    if words.take("prio") {
        let priority = words.next("a priority").parse();
        ask.priority = priority.expect("a priority is a whole number");
    }
    ask.node = words.take("on").then(|| words.name("a node id"));
    ask.created = words.take("made").then(|| Timestamp::ZERO + words.seconds());
    while let Some(word) = words.optional() {
        match word {
            "placeholder" => ask.placeholder = true,
            "group" => ask.task_group = words.name("a task group"),
            "requires" => ask.required_node = words.name("a node id"),
            "preempts" => ask.may_preempt = true,
            "preemptable" => ask.preemptable = true,
            "originator" => ask.originator = true,
            "labelled" => ask.node_label = words.name("a label"),
            "not-on" => ask.blocked_nodes = words.list("node ids"),
            _ => panic!("`{}`: nobody understands `{word}`", words.line),
        }
    }
    Command::Ask(ask)
}

/// Reads `foreign f1 n1 vcore=2`, and `static` for foreign use that never ends.
fn foreign(partition: Name, words: &mut Words<'_>) -> Command {
    Command::SetForeign(SetForeign {
        partition,
        key: words.name("a key"),
        node: words.name("a node id"),
        resources: words.amounts(),
        preemptable: !words.take("static"),
    })
}

/// Reads `as timeout`. Without `as`, the RM has stopped the allocation.
fn termination(words: &mut Words<'_>) -> Termination {
    if !words.take("as") {
        return Termination::StoppedByRm;
    }
    match words.next("how it ended") {
        "timeout" => Termination::Timeout,
        "preempted" => Termination::Preempted,
        "replaced" => Termination::PlaceholderReplaced,
        word => panic!("`{}`: nobody ends as `{word}`", words.line),
    }
}
