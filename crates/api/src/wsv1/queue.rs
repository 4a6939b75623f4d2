//! `GET /ws/v1/partition/{partition}/queues` and `…/queue/{queue}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Percentages, Resources, is_default};

/// A queue, with the queues below it if requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the wire")]
pub struct Queue {
    /// Full path of the queue.
    #[serde(rename = "queuename")]
    pub queue_name: String,
    /// `Active`, `Draining`, or `Stopped`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: String,
    /// Name of the partition. In `YuniKorn`, empty except at the root of a tree.
    pub partition: String,
    /// Requested amounts here and below that are not allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_resource: Resources,
    /// Maximum of the queue. For the root, the capacity of the partition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resource: Resources,
    /// Guarantee of the queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guaranteed_resource: Resources,
    /// Allocated amounts here and below.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocated_resource: Resources,
    /// Amounts of allocations that were asked to stop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preempting_resource: Resources,
    /// Amounts that can still be allocated, within the limits of the queues above.
    #[serde(default, skip_serializing_if = "is_default")]
    pub headroom: Resources,
    /// Whether it is a leaf, which accepts applications.
    pub is_leaf: bool,
    /// Whether it is in the queue file.
    pub is_managed: bool,
    /// Configured properties, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
    /// Full path of the parent queue. Absent for the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: String,
    /// Template of queues that placement rules create below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<QueueTemplate>,
    /// Child queues.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(no_recursion)]
    pub children: Vec<Self>,
    /// Full paths of the child queues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub child_names: Vec<String>,
    /// Percentage of its maximum that is allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub abs_used_capacity: Percentages,
    /// Maximum number of running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_running_apps: u64,
    /// Number of applications in state Running, here and below.
    #[serde(default, skip_serializing_if = "is_default")]
    pub running_apps: u64,
    /// Highest priority of its waiting asks, after its offset and fence. Without waiting asks, the
    /// smallest possible number.
    pub current_priority: i32,
    /// IDs of accepted applications that can already run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocating_accepted_apps: Vec<String>,
    /// `fifo`, `fair`, or another order of applications.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sorting_policy: String,
    /// Whether priorities affect the order.
    pub priority_sorting: bool,
    /// Whether others can be stopped for its asks.
    pub preemption_enabled: bool,
    /// Whether preemption for asks below it affects only queues below it.
    pub is_preemption_fence: bool,
    /// Wait of an ask before others are stopped for it, such as `30s`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preemption_delay: String,
    /// Time before usage above a lowered maximum is preempted. `0s`: never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quota_preemption_delay: String,
    /// Whether priorities below it apply only below it.
    pub is_priority_fence: bool,
    /// Offset of the priorities of its waiting asks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority_offset: i32,
}

/// The template of queues that placement rules create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueTemplate {
    /// Maximum number of running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// Maximum.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resource: Resources,
    /// Guarantee.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guaranteed_resource: Resources,
    /// Properties, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
}
