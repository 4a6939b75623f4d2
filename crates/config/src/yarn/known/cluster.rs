//! Cluster properties without an equivalent in a queue file.

use super::Row;
use super::reason::{
    A_FIFTH, BEATS, BELOW, BY_SHARES, DEPTH, FROM_HALF, INTRA, KEEPS, LOCALITY, NODES, PRIORITY,
    RATE, REFRESH, RESERVE, SORT, TYPES, ZEROS,
};
use crate::yarn::note::Kind::{NoEffect, NoEquivalent};

/// Properties below `yarn.scheduler.capacity.`.
pub(super) const CLUSTER: &[Row] = &[
    ("max-parallel-apps", NoEffect, "each queue has its own limit", ""),
    ("node-locality-delay", NoEquivalent, LOCALITY, ""),
    ("rack-locality-additional-delay", NoEquivalent, LOCALITY, ""),
    ("rack-locality-full-reset", NoEquivalent, LOCALITY, ""),
    ("per-node-heartbeat.multiple-assignments-enabled", NoEquivalent, BEATS, ""),
    ("per-node-heartbeat.maximum-container-assignments", NoEquivalent, BEATS, ""),
    ("per-node-heartbeat.maximum-offswitch-assignments", NoEquivalent, BEATS, ""),
    ("schedule-asynchronously.enable", NoEquivalent, BEATS, ""),
    ("schedule-asynchronously.maximum-threads", NoEquivalent, BEATS, ""),
    ("schedule-asynchronously.maximum-pending-backlogs", NoEquivalent, BEATS, ""),
    ("schedule-asynchronously.scheduling-interval-ms", NoEquivalent, BEATS, ""),
    (
        "reservations-continue-look-all-nodes",
        NoEquivalent,
        "an ask with a reservation still checks other nodes",
        "",
    ),
    (
        "skip-allocate-on-nodes-with-reserved-containers",
        NoEquivalent,
        "a reserved node serves only its ask",
        "",
    ),
    (
        "lazy-preemption-enabled",
        NoEquivalent,
        "victims are chosen when they must stop, and are never marked in advance",
        "",
    ),
    ("multi-node-placement-enabled", NoEquivalent, NODES, SORT),
    ("multi-node-sorting.policy", NoEquivalent, NODES, SORT),
    // The names of policies follow the prefix.
    ("multi-node-sorting.policy.*", NoEquivalent, NODES, SORT),
    ("workflow-priority-mappings", NoEquivalent, PRIORITY, "submit applications with a priority"),
    (
        "workflow-priority-mappings-override.enable",
        NoEquivalent,
        PRIORITY,
        "submit applications with a priority",
    ),
    (
        "ordering-policy.priority-utilization.underutilized-preemption.enabled",
        NoEquivalent,
        BELOW,
        "",
    ),
    (
        "ordering-policy.priority-utilization.underutilized-preemption.reserved-container-delay-ms",
        NoEquivalent,
        BELOW,
        "",
    ),
    (
        "ordering-policy.priority-utilization.underutilized-preemption.allow-move-reservation",
        NoEquivalent,
        BELOW,
        "",
    ),
    (
        "user-metrics.enable",
        NoEquivalent,
        "metrics of users are always available",
        "see docs/metrics.md",
    ),
    (
        "application.fail-fast",
        NoEquivalent,
        "after a restart, an application whose queue no longer exists moves to the recovery queue",
        "",
    ),
    ("legacy-queue-mode.enabled", NoEquivalent, "sibling queues share one capacity mode", ""),
    ("allow-zero-capacity-sum", NoEquivalent, ZEROS, ""),
    ("queue.auto.refresh.monitoring-interval", NoEquivalent, REFRESH, "see docs/server.md"),
    (
        "auto-queue-creation-v2.queue-expiration-time",
        NoEquivalent,
        "Headroom removes created queues when they are empty",
        "",
    ),
    ("auto-queue-creation-v2.maximum-queue-depth", NoEquivalent, DEPTH, ""),
];

/// Other properties, by their full names.
pub(super) const OTHERS: &[Row] = &[
    (
        "yarn.scheduler.queue-placement-rules*",
        NoEquivalent,
        "placement rules cannot select by the name of an application",
        "add `placementrules` to the queue file",
    ),
    (
        "yarn.scheduler.configuration.*",
        NoEquivalent,
        "Headroom reads the queue file from a file or a ConfigMap",
        "",
    ),
    (
        "yarn.scheduler.include-port-in-node-name",
        NoEquivalent,
        "nodes have the names that the resource manager uses",
        "",
    ),
    (
        "yarn.scheduler.increment-allocation-*",
        NoEffect,
        "CapacityScheduler ignores it",
        "set `increment` to round asks",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval",
        NoEquivalent,
        RATE,
        "`preemption.delay` of a queue sets how long an ask waits first",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill",
        NoEquivalent,
        "the resource manager decides how long a victim can take to stop",
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
        "preemption can take everything above the guarantee of a queue, without a dead zone",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.preemption-to-balance-queue-after-satisfied.max-wait-before-kill",
        NoEquivalent,
        "the resource manager decides how long a victim can take to stop",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.select_based_on_reserved_containers",
        NoEquivalent,
        "preemption selects the node with the lowest cost, whether it is reserved or not",
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.additional_res_balance_based_on_reserved_containers",
        NoEquivalent,
        "preemption selects the node with the lowest cost, whether it is reserved or not",
        "",
    ),
    ("yarn.resourcemanager.monitor.capacity.preemption.conservative-drf", NoEquivalent, TYPES, ""),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.cross-queue-preemption.conservative-drf",
        NoEquivalent,
        TYPES,
        "",
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.minimum-threshold",
        NoEquivalent,
        FROM_HALF,
        INTRA,
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.max-allowable-limit",
        NoEquivalent,
        A_FIFTH,
        INTRA,
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.preemption-order-policy",
        NoEquivalent,
        BY_SHARES,
        INTRA,
    ),
    (
        "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.conservative-drf",
        NoEquivalent,
        KEEPS,
        INTRA,
    ),
    (
        "yarn.resourcemanager.monitor.capacity.queue-management.monitoring-interval",
        NoEquivalent,
        "created queues have no such setting",
        "",
    ),
    (
        "yarn.resourcemanager.queue.auto.refresh.monitoring-interval",
        NoEquivalent,
        REFRESH,
        "see docs/server.md",
    ),
    ("yarn.resourcemanager.reservation-system.*", NoEquivalent, RESERVE, ""),
    (
        "yarn.resourcemanager.activities-manager.*",
        NoEquivalent,
        "the wait reason is computed on request",
        "see `headroom explain` in docs/command-line.md",
    ),
    (
        "yarn.resourcemanager.auto-update.containers",
        NoEquivalent,
        "the resource manager changes the size of an allocation",
        "",
    ),
    ("yarn.cluster.max-application-priority", NoEquivalent, "priorities have no maximum", ""),
    (
        "yarn.admin.acl",
        NoEquivalent,
        "the configuration of the server sets administrators",
        "see docs/server.md",
    ),
    ("yarn.node-labels.*", NoEquivalent, "labels are attributes of nodes", ""),
    ("yarn.resource-types*", NoEquivalent, "resource types need no declaration", ""),
];
