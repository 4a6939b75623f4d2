//! `/headroom/v1/partitions/{partition}/explain/…`: why an ask waits, in full, and what would start it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Amounts, Stamp};
use crate::wsv1::Resources;

/// Something that is not submitted, of which is asked whether it would run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WouldRun {
    /// The queue that it would name, for placement rules to use; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The tenant whose task it would be; absent: it would be an application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Who would submit it; absent: the caller. Who sees everything may name anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The groups of that user; absent: those of the caller if it is he, else none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// What each member needs on one node; at least one amount above zero.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
    /// How many members it would have, at most 1,000. Those of a task start together; those of an application each
    /// when there is room.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schema(minimum = 1, maximum = 1_000)]
    pub members: u32,
    /// Whether the members of an application are a gang: each holds its room until all have theirs.
    #[serde(default, skip_serializing_if = "is_no")]
    pub gang: bool,
    /// Higher goes first.
    #[serde(default)]
    pub priority: i32,
    /// The label of the nodes that it may have; absent: as its queue says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_label: Option<String>,
    /// The nodes that it may not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_nodes: Vec<String>,
    /// The only node that it may run on; absent: any. Not for tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_node: Option<String>,
    /// Whether others may be stopped for it. Not for tasks.
    #[serde(default, skip_serializing_if = "is_no")]
    pub may_preempt: bool,
    /// Tags of the application, which placement rules may read. Not for tasks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(members: &u32) -> bool {
    *members == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_no(answer: &bool) -> bool {
    !*answer
}

/// Why an ask waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The moment: of these books the answer was made.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// Id of the application; of what is not submitted one that nothing has.
    pub application: String,
    /// Key of the ask, or of the allocation that it became; absent where the application asks for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// Path of its queue.
    pub queue: String,
    /// Who is charged.
    pub user: String,
    /// What it wants.
    pub resources: Resources,
    /// What becomes of it.
    pub state: ExplainedState,
    /// The rule by which it was not taken in, such as `PL-REJECTED`; absent unless it is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The answer in at most 100 characters.
    pub line: String,
    /// What holds it back first, in a sentence: both sides, and what would help. Absent if nothing does, or
    /// it tells what the caller may not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// Since when it waits for that, or when it ended; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Its place among the asks of its queue, from 1 on; absent if it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// How many asks wait there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// How many of them come before it: one less than `position`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// How many asks of the whole partition come before it, those of other queues included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead_in_partition: Option<u64>,
    /// Of what is not submitted: how many of its members would get a node at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_start: Option<u64>,
    /// All checks that it goes through, in their order.
    pub checks: Vec<ExplainedCheck>,
    /// Those that it fails. The first is the one at which the scheduler stops.
    pub blocked_by: Vec<ExplainedCheck>,
    /// What it waited for since it came, the oldest first, each from its time on: at most the last 20 changes since
    /// the server was started; with `history=all` the last 1,000, as far back as the journal is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<VerdictChange>,
    /// What would start it; absent unless it was asked for with `remedies`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Remedies>,
}

/// What becomes of something that was asked for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ExplainedState {
    /// It has its node.
    Allocated,
    /// Nothing holds it back.
    StartsNext,
    /// Something holds it back that can give way.
    #[default]
    Waiting,
    /// It does not fit, whatever is given back.
    Impossible,
    /// It was not taken in.
    Rejected,
    /// It has ended.
    Ended,
    /// It fits, and others go first.
    HeldBack,
}

/// What an ask waits for from a time on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerdictChange {
    /// From when on.
    pub at: Timestamp,
    /// Number of the record that led to it.
    pub sequence: u64,
    /// The first check that it fails from then on, such as `QUEUE_MAX`.
    pub id: String,
}

/// One check: of an amount, of one type of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedCheck {
    /// Which, such as `QUEUE_MAX`.
    pub id: String,
    /// Where it stands in the order of `CapacityScheduler`, `a` to `e`, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<String>,
    /// What sets the bound: the path of a queue, a user or group at a queue, the nodes.
    pub scope: String,
    /// Whether it holds the ask back.
    pub verdict: CheckVerdict,
    /// Of which type; absent where applications are counted, or nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    pub resource: Option<String>,
    /// What may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// What is used. Absent, like `short`, where the caller may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<i64>,
    /// What is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<i64>,
    /// By how much that is too much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<i64>,
    /// Who uses most of it, the largest first, as far as the caller may see; at most five. Where others go first, whose
    /// ask is the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<CheckHolder>,
    /// What others of the largest use, whom the caller may not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<i64>,
    /// How many nodes there are, and what is wrong with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesLookedAt>,
}

/// Whether a check holds an ask back.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// It does not.
    #[default]
    Passed,
    /// It does.
    Failed,
}

/// An application that uses some of what a check is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckHolder {
    /// Its id.
    pub application: String,
    /// Who is charged.
    pub user: String,
    /// What it uses; 1 where applications are counted, 0 where it is told as the next.
    pub amount: i64,
}

/// The nodes of a partition, as an ask sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodesLookedAt {
    /// How many were looked at.
    pub looked_at: u64,
    /// How many it may have now.
    pub fitting: u64,
    /// How many it may not have: `label`, `blocked`, `size`, `drained`, `reserved`, `room`, `refused` (by
    /// the RM), `unasked`.
    pub refused: BTreeMap<String, u64>,
    /// Those that lack least room, the nearest first; at most three, for callers who see all nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<NearMiss>,
}

/// A node that has too little room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    /// Its id.
    pub node: String,
    /// What it lacks.
    pub lacks: Resources,
}

/// What would start an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remedies {
    /// Whether it starts as it is when it is next: then others go first.
    pub starts_alone: bool,
    /// Whether it starts as it is when it is next and the RM accepts a node for it, which it has not yet.
    #[serde(default)]
    pub starts_once_accepted: bool,
    /// What becomes of it as it is when those before it go first; absent unless `inTurn` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<InTurn>,
    /// Changes that start it when it is next; none of them does with less.
    pub items: Vec<Remedy>,
    /// How many were left out, since they name what the caller may not see.
    pub hidden: u64,
    /// Whether there was no time to look for more.
    pub ran_out: bool,
}

/// Edits that start an ask together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// `wait`, `resume`, `raise`, `release`, `shrink`, `add` or `move`.
    pub kind: String,
    /// Whether nothing smaller of its kind is enough; if not, only that each edit is needed.
    pub exact: bool,
    /// What is changed, all of it, each in a few words.
    pub edits: Vec<String>,
    /// When all of it has happened by itself; of kind `wait` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What becomes of it with this when those before it go first; absent unless `inTurn` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<InTurn>,
}

/// What becomes of an ask when those before it go first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum InTurn {
    /// It starts.
    Starts,
    /// It goes on waiting.
    Waits,
    /// There was no time to find out.
    #[default]
    Unknown,
}
