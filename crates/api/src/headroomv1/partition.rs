//! `GET /headroom/v1/partitions` and `…/partitions/{partition}/summary`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Stamp;
use crate::wsv1::Resources;

/// A partition at a glance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionSummary {
    /// Its name.
    pub name: String,
    /// `Active`, `Draining` or `Stopped`.
    pub state: String,
    /// How many nodes are in which state.
    pub nodes: NodeCounts,
    /// Sum of its nodes.
    pub capacity: Resources,
    /// Allocated of it, placeholders included.
    pub allocated: Resources,
    /// Asked for and not allocated.
    pub pending: Resources,
    /// Held by placeholders.
    pub placeholders: Resources,
    /// To be given back by allocations that were asked to stop.
    pub preempting: Resources,
    /// Applications by state, remembered ones that have ended included, and their `total`.
    pub applications: BTreeMap<String, u64>,
    /// Allocations in force, placeholders included.
    pub allocations: u64,
    /// Asks that have no node.
    pub waiting_asks: u64,
    /// How long the oldest of them waits.
    pub oldest_wait_seconds: u64,
    /// Resource types, the most used one first.
    pub types: Vec<String>,
    /// Queues below their guarantee with asks that wait, longest first; at most ten.
    pub starved: Vec<StarvedQueue>,
    /// What uses more than it may, most first; at most ten.
    pub over_limit: Vec<OverLimit>,
    /// Placements, reservations and orders to stop, over the last minute.
    pub decisions_per_second: f64,
}

/// A partition at a glance, and the moment of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StampedPartition {
    /// The moment.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// The partition.
    #[serde(flatten)]
    pub partition: PartitionSummary,
}

/// Nodes by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeCounts {
    /// Take more.
    pub active: u64,
    /// Keep what they have.
    pub draining: u64,
    /// Are lost.
    pub failed: u64,
}

/// A queue that has less than it was promised, while its asks wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StarvedQueue {
    /// Full path.
    pub queue: String,
    /// The resource type that it lacks.
    #[serde(rename = "type")]
    pub resource: String,
    /// What it was promised.
    pub guaranteed: i64,
    /// What it has.
    pub allocated: i64,
    /// What its asks want.
    pub pending: i64,
    /// Since when: the oldest ask that waits in it or below was made then.
    pub since: Timestamp,
}

/// Something that uses more than it may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverLimit {
    /// `queue`, `user`, `group` or `tenant`.
    pub kind: String,
    /// Its name; of a queue, the full path.
    pub name: String,
    /// Full path of the queue whose limit it is, where `kind` is `user` or `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The resource type.
    #[serde(rename = "type")]
    pub resource: String,
    /// What it may use.
    pub limit: i64,
    /// What it uses.
    pub used: i64,
}
