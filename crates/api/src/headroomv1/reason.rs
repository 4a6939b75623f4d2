//! `GET /headroom/v1/partitions/{partition}/reasons`: waiting asks by wait reason.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Stamp;
use crate::wsv1::Resources;

/// The asks that wait in a partition, by wait reason.
///
/// A wait reason is the check that failed when the scheduler last checked the asks. The scheduler
/// counts reasons as asks come and go. The cost of a response depends on the number of queues and
/// reasons, not on the number of asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingReasons {
    /// The moment of the response.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// Name of the partition.
    pub partition: String,
    /// Number of asks without a node, including asks that the scheduler checks next.
    pub waiting_asks: u64,
    /// Creation time of the oldest waiting ask. Absent if no ask waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Timestamp>,
    /// Number of asks that the scheduler checks next. They have no known wait reason.
    pub next_asks: u64,
    /// The wait reasons of the other asks, the most frequent first.
    pub reasons: Vec<WaitingReason>,
    /// Number of reasons omitted because of `limit`.
    pub more: u64,
    /// Number of asks that wait in queues that the caller cannot see.
    pub hidden: u64,
}

/// A wait reason, and the asks that have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingReason {
    /// The check that the asks fail, such as `QUEUE_MAX`.
    pub code: String,
    /// The object whose limit applies: a queue path, a user or group at a queue, or a node.
    pub scope: String,
    /// Number of asks.
    pub asks: u64,
    /// Number of applications. An application with different asks counts once for each kind.
    pub applications: u64,
    /// Sum of the requested amounts.
    pub resources: Resources,
    /// Paths of at most five queues where the asks wait, those with the most asks first.
    pub queues: Vec<String>,
    /// At most three examples, those that represent the most asks first. The search is bounded.
    pub examples: Vec<WaitingExample>,
}

/// A waiting ask that represents similar asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingExample {
    /// ID of the application.
    pub application: String,
    /// Allocation key of the ask.
    pub ask: String,
    /// Path of the queue.
    pub queue: String,
    /// The user who is charged.
    pub user: String,
    /// Requested amounts.
    pub resources: Resources,
    /// Creation time of the ask.
    pub since: Timestamp,
    /// Number of asks that it represents: asks of the same queue, user, and size.
    pub asks: u64,
    /// The wait reason as a sentence: both sides of the comparison, and an action.
    pub sentence: String,
}
