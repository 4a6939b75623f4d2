//! `/headroom/v1/partitions/{partition}/explain/…`: complete wait reasons of an ask, and its remedies.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Amounts, Stamp};
use crate::wsv1::Resources;

/// A hypothetical ask whose outcome is predicted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WouldRun {
    /// Queue for the placement rules. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Tenant of the task. Absent: the ask belongs to an application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// User who submits it. Absent: the caller. Callers who read everything can name any user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Groups of the user. Absent: the groups of the caller if the caller is the user, otherwise
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Amounts that each member needs on one node. At least one must be positive.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
    /// Number of members, at most 1,000. Members of a task start together. Members of an
    /// application start independently.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schema(minimum = 1, maximum = 1_000)]
    pub members: u32,
    /// Whether the members of an application are a gang: each holds its placeholder until all
    /// members have one.
    #[serde(default, skip_serializing_if = "is_no")]
    pub gang: bool,
    /// Priority. Higher priorities start first.
    #[serde(default)]
    pub priority: i32,
    /// Label of the nodes that it can use. Absent: the default of its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_label: Option<String>,
    /// Nodes that it cannot use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_nodes: Vec<String>,
    /// The only node that it can use. Absent: any node. Not for tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_node: Option<String>,
    /// Whether others can be preempted for it. Not for tasks.
    #[serde(default, skip_serializing_if = "is_no")]
    pub may_preempt: bool,
    /// Tags of the application, for placement rules. Not for tasks.
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

/// The explanation of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The moment of the scheduler state that the explanation describes.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// ID of the application. For a hypothetical ask, an ID that no application has.
    pub application: String,
    /// Key of the ask, or of its allocation. Absent if the application has no asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// Path of the queue.
    pub queue: String,
    /// The user who is charged.
    pub user: String,
    /// Requested amounts.
    pub resources: Resources,
    /// The outcome.
    pub state: ExplainedState,
    /// Code of the rejection, such as `PL-REJECTED`. Absent unless it is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The answer in at most 100 characters.
    pub line: String,
    /// The first wait reason as a sentence: both sides, and an action. Absent if there is none, or
    /// if it names what the caller cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// Time when this wait reason began, or when it ended. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Position among the asks of its queue, starting at 1. Absent if it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Number of asks that wait in its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// Number of asks ahead of it in its queue: `position` minus 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// Number of asks ahead of it in the partition, including those of other queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead_in_partition: Option<u64>,
    /// For a hypothetical ask: number of members that would start immediately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_start: Option<u64>,
    /// All checks of the ask, in order.
    pub checks: Vec<ExplainedCheck>,
    /// The failed checks. The scheduler stops at the first.
    pub blocked_by: Vec<ExplainedCheck>,
    /// The wait history since the ask arrived, the oldest reason first. At most the last 20 changes
    /// since the server started; with `history=all`, the last 1,000 changes in the stored journal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<VerdictChange>,
    /// The capacity that queues hold for the ask, because it waited longer than `starvation.after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<ExplainedHold>,
    /// What preemption would do for the ask. Absent unless requested with `preemption`, and for
    /// asks for which nothing is ever preempted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<ExplainedPreemption>,
    /// The remedies. Absent unless requested with `remedies`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Remedies>,
    /// Verdicts of the nodes on the pod of the ask. Absent unless a pod is explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<ExplainedPod>,
}

/// Verdicts of the nodes of a Kubernetes cluster on a pod, apart from quotas and limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPod {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// Node of the pod. Absent before the binding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Number of nodes. Absent if the pod has a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Number of nodes that can take the pod now. Absent if the pod has a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitting: Option<u64>,
    /// The refusals of the other nodes, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedNodes>,
}

/// Nodes that refuse a pod for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedNodes {
    /// The filter plugin of kube-scheduler that refuses, such as `TaintToleration`. Each node counts
    /// for its first plugin.
    pub plugin: String,
    /// The reason in the words of Kubernetes.
    pub reason: String,
    /// Number of nodes.
    pub nodes: u64,
    /// The node that is closest to taking the pod.
    pub example: String,
    /// What would let this node take the pod. Absent if nothing would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Whether preemption can help.
    pub preemptable: bool,
}

/// Capacity that is held for an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedHold {
    /// Path of the highest queue that holds capacity for the ask. The queues from the queue of the
    /// ask up to this one do. Absent if the caller cannot see that queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Time when the hold began.
    pub since: Timestamp,
    /// Time when the hold ends if the ask has not started.
    pub until: Timestamp,
}

/// What preemption would do for an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPreemption {
    /// What the next attempt would do.
    pub outcome: PreemptionOutcome,
    /// The outcome as a sentence, with the reason if nothing would be preempted.
    pub sentence: String,
    /// Time of the first attempt: the ask has then waited for the preemption delay of its queue.
    pub from: Timestamp,
    /// Time of the last attempt for this ask, or for an equal one, that preempted nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Timestamp>,
    /// The allocations that would be preempted, as far as the caller can see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub victims: Vec<PreemptionVictim>,
    /// Number of allocations that would be preempted, but that the caller cannot see.
    #[serde(default)]
    pub hidden: u64,
}

/// The outcome of an attempt to preempt.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum PreemptionOutcome {
    /// Allocations are being preempted for the ask already.
    Pending,
    /// Allocations would be preempted.
    Preempts,
    /// The resource manager would be asked about nodes first.
    AsksManager,
    /// Nothing would be preempted.
    #[default]
    Nothing,
}

/// An allocation that would be preempted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreemptionVictim {
    /// ID of its application.
    pub application: String,
    /// Key of the allocation.
    pub allocation: String,
    /// The Kubernetes pod of the allocation, as `namespace/name`. Absent for other allocations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// Path of its queue.
    pub queue: String,
    /// The user who is charged.
    pub user: String,
    /// The amounts that its end releases.
    pub resources: Resources,
}

/// The outcome of an ask.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ExplainedState {
    /// It has a node.
    Allocated,
    /// No check fails, so it starts next.
    StartsNext,
    /// It waits, and can start after a change.
    #[default]
    Waiting,
    /// It does not fit, even if everything else is released.
    Impossible,
    /// It was rejected.
    Rejected,
    /// It has ended.
    Ended,
    /// It fits, but other asks start first.
    HeldBack,
}

/// A change of the wait reason of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerdictChange {
    /// Time of the change.
    pub at: Timestamp,
    /// Number of the record that caused it.
    pub sequence: u64,
    /// The first failed check after the change, such as `QUEUE_MAX`.
    pub id: String,
}

/// A check result for one resource type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedCheck {
    /// The check, such as `QUEUE_MAX`.
    pub id: String,
    /// Letter `a` to `e` of the check in the order of `CapacityScheduler`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<String>,
    /// The object whose limit applies: a queue path, a user or group at a queue, or the nodes.
    pub scope: String,
    /// Whether the check passed or failed.
    pub verdict: CheckVerdict,
    /// The resource type. Absent if the check counts applications, or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    pub resource: Option<String>,
    /// The limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Amount in use. Absent, like `short`, if the caller cannot see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<i64>,
    /// Requested amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<i64>,
    /// Amount by which the request exceeds the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<i64>,
    /// At most five applications that use the most, the largest first, as far as the caller can see
    /// them. If others start first, the application whose ask is next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<CheckHolder>,
    /// Usage of large applications that the caller cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<i64>,
    /// Number of checked nodes, and why they do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesLookedAt>,
}

/// The result of a check.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// The check passed.
    #[default]
    Passed,
    /// The check failed.
    Failed,
}

/// An application that uses part of the checked amount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckHolder {
    /// ID of the application.
    pub application: String,
    /// The user who is charged.
    pub user: String,
    /// Amount in use. 1 if the check counts applications, and 0 for the next ask.
    pub amount: i64,
}

/// The results of checking the nodes of a partition for an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodesLookedAt {
    /// Number of checked nodes.
    pub looked_at: u64,
    /// Number of nodes that fit.
    pub fitting: u64,
    /// Number of nodes that do not fit, by reason: `label`, `blocked`, `size`, `drained`,
    /// `reserved`, `room`, `refused` (by the resource manager), or `unasked`.
    pub refused: BTreeMap<String, u64>,
    /// At most three nodes that lack the least, the nearest first, for callers who see all nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<NearMiss>,
}

/// A node with too little free capacity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    /// ID of the node.
    pub node: String,
    /// Missing amounts.
    pub lacks: Resources,
}

/// The remedies of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remedies {
    /// Whether it starts without a change when it is next. Others start first until then.
    pub starts_alone: bool,
    /// Whether it starts without a change when it is next and a node passes its predicates.
    #[serde(default)]
    pub starts_once_accepted: bool,
    /// The outcome without a change if the asks ahead start first. Absent unless requested with
    /// `inTurn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<InTurn>,
    /// Changes that start the ask when it is next. Each of them is as small as possible.
    pub items: Vec<Remedy>,
    /// Number of remedies omitted because they name what the caller cannot see.
    pub hidden: u64,
    /// Whether the search ran out of time.
    pub ran_out: bool,
}

/// Changes that together start an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// `wait`, `resume`, `raise`, `release`, `shrink`, `add`, or `move`.
    pub kind: String,
    /// Whether no smaller change of this kind is enough. If `false`, only each single edit is known
    /// to be necessary.
    pub exact: bool,
    /// The changes, each in a few words.
    pub edits: Vec<String>,
    /// Time when all changes have happened without action. Only for kind `wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The outcome with this remedy if the asks ahead start first. Absent unless requested with
    /// `inTurn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<InTurn>,
}

/// The outcome of an ask if the asks ahead start first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum InTurn {
    /// The ask starts.
    Starts,
    /// The ask still waits.
    Waits,
    /// The prediction ran out of time.
    #[default]
    Unknown,
}
