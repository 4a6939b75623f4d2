//! `GET /ws/v1/partition/{partition}/queues` and `…/queue/{queue}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Percentages, Resources, is_default};

/// A queue, with the queues below it where they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the wire")]
pub struct Queue {
    /// Full path.
    #[serde(rename = "queuename")]
    pub queue_name: String,
    /// `Active`, `Draining` or `Stopped`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: String,
    /// Name of the partition. The reference leaves it empty everywhere but at the root of a tree.
    pub partition: String,
    /// Asked for and not allocated, below it too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_resource: Resources,
    /// Its own maximum; of the root, what the partition has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resource: Resources,
    /// What it can always get back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guaranteed_resource: Resources,
    /// Allocated, below it too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocated_resource: Resources,
    /// To be given back by allocations that were asked to stop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preempting_resource: Resources,
    /// What may still be allocated, queues above it considered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub headroom: Resources,
    /// Takes applications.
    pub is_leaf: bool,
    /// Is in the queue file.
    pub is_managed: bool,
    /// As configured, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
    /// Full path of the queue above; absent on the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: String,
    /// What queues that rules make below it start with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<QueueTemplate>,
    /// The queues directly below it.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(no_recursion)]
    pub children: Vec<Self>,
    /// Full paths of the queues directly below it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub child_names: Vec<String>,
    /// Percent of its own maximum that is allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub abs_used_capacity: Percentages,
    /// Applications that may run at once. Absent: as many as like.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_running_apps: u64,
    /// Applications in state Running, below it too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub running_apps: u64,
    /// Highest priority that waits in it, with its offset and fence applied; the smallest number
    /// there is when nothing waits.
    pub current_priority: i32,
    /// Ids of accepted applications that may run already.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocating_accepted_apps: Vec<String>,
    /// `fifo`, `fair` or another order of applications.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sorting_policy: String,
    /// Whether priorities count in the order.
    pub priority_sorting: bool,
    /// Whether others may be stopped for its asks.
    pub preemption_enabled: bool,
    /// Whether preemption for asks below it stays below it.
    pub is_preemption_fence: bool,
    /// How long an ask waits before others are stopped for it, such as `30s`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preemption_delay: String,
    /// How long use above a lowered maximum is left alone; `0s`: for ever.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quota_preemption_delay: String,
    /// Whether priorities below it count only below it.
    pub is_priority_fence: bool,
    /// Added to the priority of what waits below it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority_offset: i32,
}

/// What queues that rules make start with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueTemplate {
    /// Applications that may run at once. Absent: as many as like.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// Maximum.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resource: Resources,
    /// What it can always get back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guaranteed_resource: Resources,
    /// By key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
}
