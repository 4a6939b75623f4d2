//! `POST /headroom/v1/plan` and `…/apply`: the effect of a queue file, and the result of applying it.
//!
//! Amounts are in core units: thousandths of a core of `vcore`, bytes of `memory`, and plain counts of other types.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wsv1::Resources;

/// The predicted effect of a queue file on the current state. A plan changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Checksum of the text, as in `/ws/v1/config`.
    pub checksum: String,
    /// Number of the last record of the state that the plan uses. 0 for an empty cluster.
    pub sequence: u64,
    /// Epoch of the record numbers. A different epoch means that the numbers have restarted. Absent
    /// without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// Creation time of that record. Absent for an empty cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// Number of errors in the file.
    pub errors: u64,
    /// Number of warnings.
    pub warnings: u64,
    /// At most 100 errors and 100 warnings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the file conflicts with the current state. `null` if it does not, or has errors.
    pub refused: Option<PlanRefusal>,
    /// The effects. Absent if the file would be rejected.
    #[serde(flatten)]
    #[schema(value_type = PlanEffects)]
    pub effects: Option<PlanEffects>,
}

/// An error or a warning of a queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Code of the rule, such as `Q-G>M`.
    pub code: String,
    /// `error` or `warning`.
    pub severity: String,
    /// `validation`, or `building` for faults that `YuniKorn` finds only when it loads the file.
    pub stage: String,
    /// The problem as a sentence, with both sides of the comparison.
    pub message: String,
    /// The place in the file.
    #[serde(flatten)]
    pub place: DiagnosticPlace,
    /// Related places in the file.
    pub related: Vec<DiagnosticPlace>,
    /// The correction.
    pub help: Option<String>,
}

/// A place in a queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticPlace {
    /// Explanation of the place.
    pub label: Option<String>,
    /// Line, starting at 1. `null` if the file cannot be opened.
    pub line: Option<u64>,
    /// Column in characters, starting at 1.
    pub column: Option<u64>,
    /// Line of the end.
    pub end_line: Option<u64>,
    /// Column after the end.
    pub end_column: Option<u64>,
}

/// Why a queue file conflicts with the current state, or why an ask waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRefusal {
    /// Code of the rule.
    pub code: String,
    /// The reason as a sentence.
    pub message: String,
}

/// The effects of a queue file. Each list has at most 100 entries, and a total. All fields are
/// present, or none if the file would be rejected. Therefore, the schema requires none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEffects {
    /// Digest of the plan. Two plans with the same digest have the same effects. Send it to
    /// `/headroom/v1/apply`.
    #[schema(required = false)]
    pub digest: String,
    /// Whether anything changes.
    #[schema(required = false)]
    pub changes: bool,
    /// Changed settings.
    #[schema(required = false)]
    pub differences: Vec<PlanDifference>,
    /// Number of events that follow immediately.
    #[schema(required = false)]
    pub events: u64,
    /// Whether the prediction continued until nothing changed any more.
    #[schema(required = false)]
    pub at_rest: bool,
    /// Objects above a new limit.
    #[schema(required = false)]
    pub excesses: Vec<PlanExcess>,
    /// Asks that start.
    #[schema(required = false)]
    pub starts: PlanAsks,
    /// Asks that would have started without the file, and wait with it.
    #[schema(required = false)]
    pub held: PlanAskChanges,
    /// Asks with a new wait reason.
    #[schema(required = false)]
    pub waits_otherwise: PlanAskChanges,
    /// Asks that can never start.
    #[schema(required = false)]
    pub impossible: PlanAskChanges,
    /// Asks that are withdrawn.
    #[schema(required = false)]
    pub withdrawn: PlanAsks,
    /// Allocations that are released.
    #[schema(required = false)]
    pub released: PlanAsks,
    /// Applications that would be placed in another queue if submitted again.
    #[schema(required = false)]
    pub placed_otherwise: PlanMoves,
    /// Allocations that would be asked to stop within one hour.
    #[schema(required = false)]
    pub evictions: PlanEvictions,
    /// Asks that lose their reservation.
    #[schema(required = false)]
    pub reservations_dropped: PlanAsks,
    /// Usage after all changes.
    #[schema(required = false)]
    pub settled: PlanSettled,
}

/// A changed setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDifference {
    /// Name of the partition.
    pub partition: String,
    /// Path of the queue; `null` for the partition itself.
    pub queue: Option<String>,
    /// Keys of the setting in the queue file, such as `resources.max.memory`.
    pub key: String,
    /// Value before. `null` if it was not set.
    pub before: Option<PlanValue>,
    /// Value after.
    pub after: Option<PlanValue>,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum PlanValue {
    /// So much of a resource type.
    Amount {
        /// Which.
        resource: String,
        /// How much.
        amount: i64,
    },
    /// A value as text.
    Text(String),
}

/// Usage above a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanExcess {
    /// Name of the partition.
    pub partition: String,
    /// `queue`, `user`, or `group`.
    pub holder: String,
    /// Path or name of the holder.
    pub name: String,
    /// The tenant of the queue, if it belongs to one.
    pub tenant: Option<String>,
    /// Path of the queue with the limit.
    pub queue: String,
    /// The resource type. `null` for running applications.
    pub resource: Option<String>,
    /// Amount in use.
    pub used: i64,
    /// The limit.
    pub limit: i64,
}

/// An ask or an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAsk {
    /// Name of the partition.
    pub partition: String,
    /// ID of the application.
    pub application: String,
    /// Allocation key.
    pub key: String,
    /// The Kubernetes pod of the ask, as `namespace/name`. Absent for other asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// Path of the queue.
    pub queue: String,
    /// The user who is charged.
    pub user: String,
    /// Amounts.
    pub resources: Resources,
}

impl PlanAsk {
    /// Returns the name that users know: the pod, or else the application and the key.
    pub fn name(&self) -> String {
        match &self.pod {
            Some(pod) => pod.clone(),
            None => format!("{}/{}", self.application, self.key),
        }
    }
}

impl PlanEffects {
    /// Returns all asks and allocations that the plan names, to change them.
    pub fn asks_mut(&mut self) -> impl Iterator<Item = &mut PlanAsk> {
        let lists = [
            &mut self.starts,
            &mut self.withdrawn,
            &mut self.released,
            &mut self.reservations_dropped,
        ];
        let changes = [&mut self.held, &mut self.waits_otherwise, &mut self.impossible];
        let lists = lists.into_iter().flat_map(|list| &mut list.first);
        let changes = changes.into_iter().flat_map(|list| &mut list.first).map(|one| &mut one.ask);
        let evictions = self.evictions.first.iter_mut();
        let evictions =
            evictions.flat_map(|one| std::iter::once(&mut one.victim).chain(&mut one.for_ask));
        lists.chain(changes).chain(evictions)
    }
}

/// A list of asks or allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAsks {
    /// Total number.
    pub total: u64,
    /// The first entries.
    pub first: Vec<PlanAsk>,
}

/// An ask whose outcome changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAskChange {
    /// The ask.
    pub ask: PlanAsk,
    /// Wait reason without the file. `null` if it does not wait.
    pub before: Option<PlanRefusal>,
    /// Wait reason with the file.
    pub after: Option<PlanRefusal>,
}

/// Asks whose outcome changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAskChanges {
    /// Total number.
    pub total: u64,
    /// The first entries.
    pub first: Vec<PlanAskChange>,
}

/// An application that would be placed in another queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanMove {
    /// Name of the partition.
    pub partition: String,
    /// ID of the application.
    pub application: String,
    /// User of the application.
    pub user: String,
    /// Path of its current queue.
    pub before: String,
    /// Path of the new queue. `null` if the application would be rejected.
    pub after: Option<String>,
    /// Reason for the rejection.
    pub why: Option<String>,
}

/// Applications that would be placed in another queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanMoves {
    /// Total number.
    pub total: u64,
    /// The first entries.
    pub first: Vec<PlanMove>,
}

/// An allocation that would be asked to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEviction {
    /// Time until the request to stop, in milliseconds, if nothing ends before.
    pub after_ms: u64,
    /// The allocation.
    pub victim: PlanAsk,
    /// The ask that causes it. `null` if a maximum is the cause.
    pub for_ask: Option<PlanAsk>,
    /// Path of the queue above its maximum.
    pub for_maximum_of: Option<String>,
}

/// Allocations that would be asked to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEvictions {
    /// Total number.
    pub total: u64,
    /// The first entries.
    pub first: Vec<PlanEviction>,
}

/// Usage before and after all changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanSettled {
    /// Queues whose usage changes.
    pub queues: Vec<PlanQueueUsage>,
    /// Users whose usage changes.
    pub users: Vec<PlanUserUsage>,
    /// Fairness among users, before and after: Jain's index of dominant shares, in thousandths.
    /// `null` if no user uses anything.
    pub evenness: [Option<u64>; 2],
}

/// The usage of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanQueueUsage {
    /// Name of the partition.
    pub partition: String,
    /// Path of the queue.
    pub queue: String,
    /// Usage before and after.
    pub used: [Resources; 2],
    /// Waiting amounts before and after.
    pub pending: [Resources; 2],
    /// Largest used fraction of its guarantee, in thousandths. `null` without a guarantee.
    pub of_guarantee: [Option<u64>; 2],
}

/// The usage of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanUserUsage {
    /// Name of the partition.
    pub partition: String,
    /// Name of the user.
    pub user: String,
    /// Usage before and after.
    pub used: [Resources; 2],
}

/// The result of applying a queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueFileApplied {
    /// Number of the record.
    pub sequence: u64,
    /// Checksum of the text, as in `/ws/v1/config`.
    pub checksum: String,
    /// Number of warnings in the file.
    pub warnings: u64,
    /// The file that the server watches. It replaces the applied file when it changes. Absent if
    /// the server watches none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<String>,
}
