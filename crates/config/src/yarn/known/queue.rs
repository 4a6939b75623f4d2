//! Queue properties without an equivalent in a queue file.

use super::Row;
use super::reason::{DEPTH, NODES, RESERVE, SORT, ZEROS};
use crate::yarn::note::Kind::{NoEffect, NoEquivalent};

/// Properties of one queue.
pub(super) const QUEUE: &[Row] = &[
    (
        "acl_application_max_priority",
        NoEquivalent,
        "every user who can submit can choose any priority",
        "",
    ),
    ("acl_submit_reservations", NoEquivalent, RESERVE, ""),
    ("acl_administer_reservations", NoEquivalent, RESERVE, ""),
    ("acl_list_reservations", NoEquivalent, RESERVE, ""),
    ("reservable", NoEquivalent, RESERVE, "add a queue with a guarantee"),
    ("reservation-window", NoEquivalent, RESERVE, ""),
    ("reservation-policy", NoEquivalent, RESERVE, ""),
    ("reservation-agent", NoEquivalent, RESERVE, ""),
    ("reservation-planner", NoEquivalent, RESERVE, ""),
    ("reservation-enforcement-window", NoEquivalent, RESERVE, ""),
    ("reservation-move-on-expiry", NoEquivalent, RESERVE, ""),
    ("average-capacity", NoEquivalent, RESERVE, ""),
    ("instantaneous-max-capacity", NoEquivalent, RESERVE, ""),
    ("show-reservations-as-queues", NoEquivalent, RESERVE, ""),
    (
        "default-application-priority",
        NoEquivalent,
        "an application without a priority has priority 0",
        "submit applications with a priority, or set `priority.offset`",
    ),
    (
        "ordering-policy.fair.enable-size-based-weight",
        NoEffect,
        "the property applies only to leaves",
        "",
    ),
    (
        "ordering-policy.exclusive-enforced-partitions",
        NoEquivalent,
        "every partition orders applications by age",
        "",
    ),
    ("multi-node-sorting.policy", NoEquivalent, NODES, SORT),
    ("allow-zero-capacity-sum", NoEquivalent, ZEROS, ""),
    ("min-resource", NoEffect, "CapacityScheduler now ignores it", "set `resources.guaranteed`"),
    ("max-resource", NoEffect, "CapacityScheduler now ignores it", "set `resources.max`"),
    (
        "auto-create-child-queue.management-policy",
        NoEquivalent,
        "weights set the capacity of created queues",
        "",
    ),
    (
        "auto-create-child-queue.max-queues",
        NoEquivalent,
        "a partition can have up to 65,536 created queues",
        "remove `create` from the rules to stop creating queues",
    ),
    (
        "auto-create-child-queue.fail-on-exceeding-parent-capacity",
        NoEquivalent,
        "created queues share the capacity of their parent",
        "",
    ),
    (
        "auto-queue-creation-v2.max-queues",
        NoEquivalent,
        "a partition can have up to 65,536 created queues",
        "remove `create` from the rules to stop creating queues",
    ),
    ("auto-queue-creation-v2.maximum-queue-depth", NoEquivalent, DEPTH, ""),
    (
        "auto-queue-creation-v2.queue-auto-removal.enable",
        NoEquivalent,
        "Headroom removes created queues when they are empty",
        "add permanent queues to the file",
    ),
];
