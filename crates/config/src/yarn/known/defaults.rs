//! Default values. A property with its default value is not reported, because the conversion loses nothing.
//!
//! Source: `CapacitySchedulerConfiguration` and yarn-default.xml of Hadoop 3.4.

use super::PREFIX;

const SCHEDULER: &str =
    "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler";

/// Defaults below `yarn.scheduler.capacity.`.
const OF_CLUSTER: &[(&str, &str)] = &[
    ("max-parallel-apps", "2147483647"),
    ("node-locality-delay", "40"),
    ("rack-locality-additional-delay", "-1"),
    ("rack-locality-full-reset", "true"),
    ("per-node-heartbeat.multiple-assignments-enabled", "true"),
    ("per-node-heartbeat.maximum-container-assignments", "100"),
    ("per-node-heartbeat.maximum-offswitch-assignments", "1"),
    ("schedule-asynchronously.enable", "false"),
    ("schedule-asynchronously.maximum-threads", "1"),
    ("schedule-asynchronously.maximum-pending-backlogs", "100"),
    ("schedule-asynchronously.scheduling-interval-ms", "5"),
    ("reservations-continue-look-all-nodes", "true"),
    ("skip-allocate-on-nodes-with-reserved-containers", "false"),
    ("lazy-preemption-enabled", "false"),
    ("multi-node-placement-enabled", "false"),
    ("workflow-priority-mappings-override.enable", "false"),
    ("ordering-policy.priority-utilization.underutilized-preemption.enabled", "false"),
    (
        "ordering-policy.priority-utilization.underutilized-preemption.allow-move-reservation",
        "false",
    ),
    ("user-metrics.enable", "false"),
    ("application.fail-fast", "false"),
    ("legacy-queue-mode.enabled", "true"),
    ("allow-zero-capacity-sum", "false"),
    ("queue.auto.refresh.monitoring-interval", "5000"),
    ("auto-queue-creation-v2.queue-expiration-time", "300"),
    ("auto-queue-creation-v2.maximum-queue-depth", "2"),
];

/// Defaults of one queue.
const OF_QUEUE: &[(&str, &str)] = &[
    ("acl_application_max_priority", "*"),
    ("default-application-priority", "0"),
    ("ordering-policy.fair.enable-size-based-weight", "false"),
    ("reservable", "false"),
    ("show-reservations-as-queues", "false"),
    ("allow-zero-capacity-sum", "false"),
    ("auto-create-child-queue.fail-on-exceeding-parent-capacity", "false"),
    ("auto-create-child-queue.max-queues", "1000"),
    ("auto-queue-creation-v2.max-queues", "1000"),
    ("auto-queue-creation-v2.maximum-queue-depth", "2"),
    ("auto-queue-creation-v2.queue-auto-removal.enable", "true"),
];

/// Defaults of other properties, by their full names.
const OF_OTHERS: &[(&str, &str)] = &[
    ("yarn.resourcemanager.scheduler.class", SCHEDULER),
    ("yarn.scheduler.include-port-in-node-name", "false"),
    ("yarn.scheduler.configuration.store.class", "file"),
    ("yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval", "3000"),
    ("yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill", "15000"),
    ("yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round", "0.1"),
    ("yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor", "0.2"),
    ("yarn.resourcemanager.monitor.capacity.preemption.max_ignored_over_capacity", "0.1"),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.preemption-to-balance-queue-after-satisfied.max-wait-before-kill",
        "300000",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.select_based_on_reserved_containers",
        "false",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.additional_res_balance_based_on_reserved_containers",
        "true",
    ),
    ("yarn.resourcemanager.monitor.capacity.preemption.conservative-drf", "false"),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.cross-queue-preemption.conservative-drf",
        "false",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.minimum-threshold",
        "0.5",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.max-allowable-limit",
        "0.2",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.preemption-order-policy",
        "userlimit_first",
    ),
];

/// Returns whether the value of a property is its default. `of_queue` is its name inside the queue, for a property of a
/// queue.
pub(super) fn holds_anyway(name: &str, of_queue: Option<&str>, value: &str) -> bool {
    let has = |rows: &[(&str, &str)], name: &str| {
        rows.iter().any(|(one, default)| *one == name && default.eq_ignore_ascii_case(value))
    };
    match (of_queue, name.strip_prefix(PREFIX)) {
        (Some(own), _) => has(OF_QUEUE, own),
        (None, Some(own)) => has(OF_CLUSTER, own),
        (None, None) => has(OF_OTHERS, name),
    }
}
