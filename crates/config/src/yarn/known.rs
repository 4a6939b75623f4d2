//! Properties that have no place in a queue file: why, and what to do.

use super::note::Kind;
use super::properties::Property;
use super::scope::{PREFIX, Scope};
use super::tree::Tree;

/// Whether there is a monitor at all; preemption is one.
pub(super) const MONITOR: &str = "yarn.resourcemanager.scheduler.monitor.enable";

/// What the properties of preemption begin with.
pub(super) const PREEMPTION: &str = "yarn.resourcemanager.monitor.capacity.preemption.";

/// A property, or all that begin like it where it ends with a star; why it is not converted; what
/// to do.
type Row = (&'static str, Kind, &'static str, &'static str);

use Kind::{NoEffect, NoEquivalent, Unknown};

const LOCALITY: &str =
    "the scheduler takes any node that fits; data does not draw an ask to a node";
const BEATS: &str = "nodes do not ask for work one by one; whatever fits is placed at once";
const RESERVE: &str = "there are no plans of capacity for later";
const NODES: &str = "nodes are ordered by one policy for all queues";
const MAKING: &str = "made queues have no such setting";
const RATE: &str = "nobody is stopped before a complete plan makes room for a waiting ask, so there \
                    are no rounds with shares";

/// Below `yarn.scheduler.capacity.`.
const CLUSTER: &[Row] = &[
    ("max-parallel-apps", NoEffect, "each queue has a lower number of its own", ""),
    ("node-locality-delay", NoEquivalent, LOCALITY, ""),
    ("rack-locality-additional-delay", NoEquivalent, LOCALITY, ""),
    ("rack-locality-full-reset", NoEquivalent, LOCALITY, ""),
    ("per-node-heartbeat.*", NoEquivalent, BEATS, ""),
    ("schedule-asynchronously.*", NoEquivalent, BEATS, ""),
    (
        "reservations-continue-look-all-nodes",
        NoEquivalent,
        "an ask for which a node is kept goes on looking at others, always",
        "",
    ),
    (
        "skip-allocate-on-nodes-with-reserved-containers",
        NoEquivalent,
        "a kept node is for the ask it is kept for, always",
        "",
    ),
    (
        "lazy-preemption-enabled",
        NoEquivalent,
        "who is asked to stop is known when it is asked, and is not marked for later",
        "",
    ),
    (
        "multi-node-placement-enabled",
        NoEquivalent,
        NODES,
        "write `nodesortpolicy` in the partition",
    ),
    ("multi-node-sorting.*", NoEquivalent, NODES, "write `nodesortpolicy` in the partition"),
    (
        "workflow-priority-mappings*",
        NoEquivalent,
        "an application has the priority that it is submitted with",
        "submit with the priority",
    ),
    (
        "user-metrics.enable",
        NoEquivalent,
        "metrics of users are there, always",
        "read on in docs/metrics.md",
    ),
    (
        "application.fail-fast",
        NoEquivalent,
        "an application whose queue is gone after a restart goes to the recovery queue",
        "",
    ),
    (
        "legacy-queue-mode.enabled",
        NoEquivalent,
        "queues beside each other have parts of one kind",
        "",
    ),
    ("allow-zero-capacity-sum", NoEffect, "percentages of 0 for all are legal", ""),
    (
        "queue.auto.refresh.monitoring-interval",
        NoEquivalent,
        "a server looks at its queue file every few seconds",
        "read on in docs/server.md",
    ),
    (
        "auto-queue-creation-v2.queue-expiration-time",
        NoEquivalent,
        "made queues that are empty go by themselves",
        "",
    ),
    ("auto-queue-creation-v2.maximum-queue-depth", NoEquivalent, MAKING, ""),
    ("mapping-rule-json", NoEffect, "mapping-rule-format is not json", ""),
    (
        "mapping-rule-json-file",
        NoEquivalent,
        "the file is not read",
        "write its content into mapping-rule-json, and convert again",
    ),
];

/// Other properties, by their full names.
const OTHERS: &[Row] = &[
    (
        "yarn.scheduler.queue-placement-rules*",
        NoEquivalent,
        "rules are made of the mappings; there is none by an application's name",
        "write `placementrules`",
    ),
    (
        "yarn.scheduler.configuration.*",
        NoEquivalent,
        "the queue file is a file, or a ConfigMap",
        "",
    ),
    (
        "yarn.scheduler.include-port-in-node-name",
        NoEquivalent,
        "nodes are called as the resource manager calls them",
        "",
    ),
    (
        "yarn.scheduler.increment-allocation-*",
        NoEffect,
        "CapacityScheduler does not look at it",
        "write `increment`, if asks shall be rounded to it",
    ),
    (
        "yarn.resourcemanager.scheduler.monitor.policies",
        NoEquivalent,
        "there is one law of preemption",
        "read on in docs/preemption.md",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval",
        NoEquivalent,
        RATE,
        "`preemption.delay` of a queue says how long an ask waits first",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill",
        NoEquivalent,
        "how long a victim is given is the resource manager's",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round",
        NoEquivalent,
        RATE,
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor",
        NoEquivalent,
        RATE,
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.max_ignored_over_capacity",
        NoEquivalent,
        "a queue gives back whatever it has above its guarantee, and no dead zone is left",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.preemption-to-balance-queue-after-satisfied.max-wait-before-kill",
        NoEquivalent,
        "how long a victim is given is the resource manager's",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.select_based_on_reserved_containers",
        NoEquivalent,
        "the node that costs least is chosen, kept or not",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.additional_res_balance_based_on_reserved_containers",
        NoEquivalent,
        "the node that costs least is chosen, kept or not",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.cross-queue-preemption.conservative-drf",
        NoEquivalent,
        "no queue falls below its guarantee in a type that the ask needs",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.*",
        NoEquivalent,
        "nobody is stopped for another user of the same queue",
        "lower `userlimitfactor`, so that nobody takes all",
    ),
    ("yarn.resourcemanager.monitor.capacity.queue-management.*", NoEquivalent, MAKING, ""),
    ("yarn.cluster.max-application-priority", NoEquivalent, "priorities have no bound", ""),
    (
        "yarn.acl.enable",
        NoEquivalent,
        "access lists hold, always",
        "write `submitacl: '*'` at root, if they did not",
    ),
    (
        "yarn.admin.acl",
        NoEquivalent,
        "who administers the server is said to the server",
        "read on in docs/server.md",
    ),
    ("yarn.node-labels.*", NoEquivalent, "labels are attributes that nodes come with", ""),
    ("yarn.resource-types*", NoEquivalent, "types need no declaration", ""),
    (
        "yarn.resourcemanager.scheduler.class",
        NoEquivalent,
        "it says only that this is a cluster with CapacityScheduler",
        "",
    ),
];

/// Of one queue.
const QUEUE: &[Row] = &[
    ("acl_application_max_priority", NoEquivalent, "whoever may submit may choose a priority", ""),
    ("acl_*", NoEquivalent, RESERVE, ""),
    ("reservable", NoEquivalent, RESERVE, "write a queue with a guarantee for it"),
    ("reservation-*", NoEquivalent, RESERVE, ""),
    ("average-capacity", NoEquivalent, RESERVE, ""),
    ("instantaneous-max-capacity", NoEquivalent, RESERVE, ""),
    ("show-reservations-as-queues", NoEquivalent, RESERVE, ""),
    (
        "default-application-priority",
        NoEquivalent,
        "an application that names no priority has 0",
        "submit with the priority, or write `priority.offset`",
    ),
    ("ordering-policy", NoEffect, "it is for queues with applications in them", ""),
    ("ordering-policy.fair.enable-size-based-weight", NoEffect, "it is off, as ever here", ""),
    (
        "ordering-policy.exclusive-enforced-partitions",
        NoEquivalent,
        "applications go by age in every partition",
        "",
    ),
    ("multi-node-sorting.policy", NoEquivalent, NODES, "write `nodesortpolicy` in the partition"),
    ("allow-zero-capacity-sum", NoEffect, "percentages of 0 for all are legal", ""),
    (
        "min-resource",
        NoEffect,
        "CapacityScheduler does not look at it any more",
        "write `resources.guaranteed`",
    ),
    (
        "max-resource",
        NoEffect,
        "CapacityScheduler does not look at it any more",
        "write `resources.max`",
    ),
    (
        "auto-create-child-queue.management-policy",
        NoEquivalent,
        "what made queues have is said by their weights",
        "",
    ),
    (
        "auto-create-child-queue.max-queues",
        NoEquivalent,
        "a partition has up to 65536 made queues",
        "remove `create` from the rules, if there shall be no more",
    ),
    (
        "auto-create-child-queue.fail-on-exceeding-parent-capacity",
        NoEquivalent,
        "made queues share what their parent has",
        "",
    ),
    (
        "auto-queue-creation-v2.max-queues",
        NoEquivalent,
        "a partition has up to 65536 made queues",
        "remove `create` from the rules, if there shall be no more",
    ),
    ("auto-queue-creation-v2.maximum-queue-depth", NoEquivalent, MAKING, ""),
    (
        "auto-queue-creation-v2.queue-auto-removal.enable",
        NoEquivalent,
        "made queues that are empty go by themselves",
        "write queues that shall stay into the file",
    ),
    (
        "auto-queue-creation-v2.parent-template.*",
        NoEquivalent,
        "a template is for leaves",
        "write the parents into the file",
    ),
    ("auto-queue-creation-v2.*", NoEffect, "auto-queue-creation-v2.enabled is not true", ""),
    ("auto-create-child-queue.enabled", NoEffect, "it is off", ""),
    ("leaf-queue-template.*", NoEffect, "auto-create-child-queue.enabled is not true", ""),
];

/// Tell of everything that nobody has looked at.
pub(super) fn rest(whole: &Scope<'_>, tree: &Tree) {
    let mut elsewhere: Vec<&Property> = Vec::new();
    let unused: Vec<&Property> = whole.properties.unused().collect();
    for property in unused {
        let Some(name) = property.name.strip_prefix(PREFIX) else {
            match row(OTHERS, &property.name) {
                Some(row) => tell(whole, property, row),
                None if is_of_scheduler(&property.name) => unknown(whole, property),
                None => elsewhere.push(property),
            }
            continue;
        };
        if let Some((node, rest)) = tree.owner(name) {
            let scope = whole.queue(&node.path);
            match row(QUEUE, rest) {
                Some(row) => tell(&scope, property, row),
                None => unknown_of_queue(&scope, property, rest),
            }
        } else {
            match row(CLUSTER, name) {
                Some(row) => tell(whole, property, row),
                None => unknown(whole, property),
            }
        }
    }
    let Some(first) = elsewhere.first() else { return };
    let others: Vec<&str> =
        elsewhere.iter().skip(1).map(|property| property.name.as_str()).collect();
    let why = match others.len() {
        0 => "it is not about scheduling, and belongs to another part of Hadoop".to_owned(),
        _ => format!(
            "it is not about scheduling, and belongs to another part of Hadoop; so do {}",
            others.join(", ")
        ),
    };
    whole.tell(NoEffect, first, &why, "");
}

/// Whether a name belongs to the scheduler.
fn is_of_scheduler(name: &str) -> bool {
    name.starts_with("yarn.scheduler.")
        || name.starts_with("yarn.resourcemanager.monitor.capacity.")
}

fn row(rows: &'static [Row], name: &str) -> Option<&'static Row> {
    rows.iter().find(|(pattern, ..)| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *pattern,
    })
}

fn tell(scope: &Scope<'_>, property: &Property, (_, kind, why, help): &Row) {
    scope.tell(*kind, property, why, help);
}

fn unknown(whole: &Scope<'_>, property: &Property) {
    let why = "CapacityScheduler has no such property";
    whole.tell(Unknown, property, why, "compare the spelling with the user guide of Hadoop");
}

fn unknown_of_queue(scope: &Scope<'_>, property: &Property, rest: &str) {
    let why = match rest.split_once('.') {
        Some((first, _)) => format!(
            "a queue has no such property, and none below it is called `{}`",
            super::xml::shown(first)
        ),
        None => "a queue has no such property".to_owned(),
    };
    scope.tell(
        Unknown,
        property,
        &why,
        "compare the spelling with the user guide of Hadoop, and with `queues`",
    );
}
