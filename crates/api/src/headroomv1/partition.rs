//! `GET /headroom/v1/partitions` and `…/partitions/{partition}/summary`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Stamp;
use crate::wsv1::Resources;

/// The summary of a partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionSummary {
    /// Name of the partition.
    pub name: String,
    /// `Active`, `Draining`, or `Stopped`.
    pub state: String,
    /// The resource manager, while it is away. Nothing starts until it returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<AwayManager>,
    /// Number of nodes by state.
    pub nodes: NodeCounts,
    /// Sum of the node capacities.
    pub capacity: Resources,
    /// Allocated amounts, including placeholders.
    pub allocated: Resources,
    /// Requested amounts that are not allocated.
    pub pending: Resources,
    /// Amounts of placeholders.
    pub placeholders: Resources,
    /// Amounts of allocations that were asked to stop.
    pub preempting: Resources,
    /// Number of applications by state, including remembered ended applications, and the `total`.
    pub applications: BTreeMap<String, u64>,
    /// Number of allocations, including placeholders.
    pub allocations: u64,
    /// Number of asks without a node.
    pub waiting_asks: u64,
    /// Wait of the oldest ask, in seconds.
    pub oldest_wait_seconds: u64,
    /// Resource types, the most used first.
    pub types: Vec<String>,
    /// At most ten queues below their guarantee with waiting asks, the longest wait first.
    pub starved: Vec<StarvedQueue>,
    /// At most ten objects above a limit, the largest excess first.
    pub over_limit: Vec<OverLimit>,
    /// Placements, reservations, and preemptions per second, over the last minute.
    pub decisions_per_second: f64,
}

/// A resource manager that is away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwayManager {
    /// Name of the resource manager.
    pub manager: String,
    /// Time since when it is away.
    pub since: Timestamp,
}

/// The summary of a partition, with its moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StampedPartition {
    /// The moment of the summary.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// The partition.
    #[serde(flatten)]
    pub partition: PartitionSummary,
}

/// Number of nodes by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeCounts {
    /// Nodes that accept allocations.
    pub active: u64,
    /// Nodes that keep their allocations and accept no others.
    pub draining: u64,
    /// Lost nodes.
    pub failed: u64,
}

/// A queue below its guarantee with waiting asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StarvedQueue {
    /// Full path of the queue.
    pub queue: String,
    /// The resource type below the guarantee.
    #[serde(rename = "type")]
    pub resource: String,
    /// Guaranteed amount.
    pub guaranteed: i64,
    /// Allocated amount.
    pub allocated: i64,
    /// Requested amount that is not allocated.
    pub pending: i64,
    /// Creation time of the oldest ask that waits in the queue or below it.
    pub since: Timestamp,
}

/// An object that uses more than its limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverLimit {
    /// `queue`, `user`, `group`, or `tenant`.
    pub kind: String,
    /// Name of the object, or full path of the queue.
    pub name: String,
    /// Full path of the queue that has the limit, if `kind` is `user` or `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The resource type.
    #[serde(rename = "type")]
    pub resource: String,
    /// The limit.
    pub limit: i64,
    /// Amount in use.
    pub used: i64,
}
