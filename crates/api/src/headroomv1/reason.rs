//! `GET /headroom/v1/partitions/{partition}/reasons`: what waits, and why.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Stamp;
use crate::wsv1::Resources;

/// What waits in a partition, and why.
///
/// A reason is the check that the scheduler found failing when it last judged the asks. They are
/// counted as they come and go, so an answer costs the queues and reasons, not the asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingReasons {
    /// The moment.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// Name of the partition.
    pub partition: String,
    /// Asks that have no node, those that are about to be judged included.
    pub waiting_asks: u64,
    /// When the oldest of them was made; absent where none waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Timestamp>,
    /// Asks that are judged next: nothing is known to hold them back.
    pub next_asks: u64,
    /// Why the others wait, what holds back most asks first.
    pub reasons: Vec<WaitingReason>,
    /// How many reasons are left out beyond `limit`.
    pub more: u64,
    /// How many asks wait in queues that the caller may not see.
    pub hidden: u64,
}

/// Something that asks wait for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingReason {
    /// The check that they fail, such as `QUEUE_MAX`.
    pub code: String,
    /// What sets the bound: the path of a queue, a user or group at a queue, a node.
    pub scope: String,
    /// How many asks.
    pub asks: u64,
    /// Of how many applications; one that asks for different things counts for each.
    pub applications: u64,
    /// What they want in sum.
    pub resources: Resources,
    /// Paths of the queues where they wait, most asks first; at most five.
    pub queues: Vec<String>,
    /// Some of them, those that stand for most others first; at most three. Looked for in a
    /// bounded number of places.
    pub examples: Vec<WaitingExample>,
}

/// An ask that waits, first of those like it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingExample {
    /// Id of its application.
    pub application: String,
    /// Its allocation key.
    pub ask: String,
    /// Path of its queue.
    pub queue: String,
    /// Who is charged.
    pub user: String,
    /// What it wants.
    pub resources: Resources,
    /// When it was made.
    pub since: Timestamp,
    /// How many asks it stands for: of the same queue and user, and of the same size.
    pub asks: u64,
    /// Why it waits, in a sentence: both sides of the comparison, and what would help.
    pub sentence: String,
}
