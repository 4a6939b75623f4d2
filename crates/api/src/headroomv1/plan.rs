//! `POST /headroom/v1/plan` and `…/apply`: what another queue file would change, and that it was taken into force.
//!
//! Amounts are in core units: thousandths of a core of `vcore`, bytes of `memory`, plain counts of all others.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wsv1::Resources;

/// What another queue file would do to what there is. Nothing was changed for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The file, as whoever asked calls it.
    pub file: String,
    /// Checksum of its text, as `/ws/v1/config` shows it.
    pub checksum: String,
    /// Number of the last record of the books that the plan was made from; 0 for a cluster with nothing.
    pub sequence: u64,
    /// Another one means that numbers began anew; absent where no server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// When that record was made; absent for a cluster with nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// How many errors the file has.
    pub errors: u64,
    /// How many warnings.
    pub warnings: u64,
    /// Errors and warnings in the order of the file, 100 of each at most.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the file does not fit what is there; `null` where it does, or has errors.
    pub refused: Option<PlanRefusal>,
    /// What would become of it; absent, with all its keys, where the file would be refused.
    #[serde(flatten)]
    #[schema(value_type = PlanEffects)]
    pub effects: Option<PlanEffects>,
}

/// An error or a warning of a queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Which rule, such as `Q-G>M`.
    pub code: String,
    /// `error` or `warning`.
    pub severity: String,
    /// `validation`, or `building` for what `YuniKorn` finds only when it loads the file.
    pub stage: String,
    /// In a sentence, with both sides of the comparison.
    pub message: String,
    /// The place.
    #[serde(flatten)]
    pub place: DiagnosticPlace,
    /// Other places that it depends on.
    pub related: Vec<DiagnosticPlace>,
    /// What to write instead.
    pub help: Option<String>,
}

/// A place in a queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticPlace {
    /// What is said there.
    pub label: Option<String>,
    /// Line, from 1 on; `null` where the file cannot be opened.
    pub line: Option<u64>,
    /// Column in characters, from 1 on.
    pub column: Option<u64>,
    /// Line of the end.
    pub end_line: Option<u64>,
    /// Column behind the end.
    pub end_column: Option<u64>,
}

/// Why a queue file does not fit what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRefusal {
    /// Which rule.
    pub code: String,
    /// In a sentence.
    pub message: String,
}

/// What would become of a queue file. Of each kind at most 100 are named; all are counted. All of it is there, or
/// nothing where the file would be refused, which is why the schema requires none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEffects {
    /// Names what the plan says: two plans with the same digest announce the same. Sent to `/headroom/v1/apply`.
    #[schema(required = false)]
    pub digest: String,
    /// Whether anything is otherwise.
    #[schema(required = false)]
    pub changes: bool,
    /// Every setting that is otherwise.
    #[schema(required = false)]
    pub differences: Vec<PlanDifference>,
    /// How many events follow at once.
    #[schema(required = false)]
    pub events: u64,
    /// Whether it was followed until nothing moved.
    #[schema(required = false)]
    pub at_rest: bool,
    /// Who is above a new limit.
    #[schema(required = false)]
    pub excesses: Vec<PlanExcess>,
    /// Asks that start.
    #[schema(required = false)]
    pub starts: PlanAsks,
    /// Asks that would have started, and wait.
    #[schema(required = false)]
    pub held: PlanAskChanges,
    /// Asks that wait for another reason.
    #[schema(required = false)]
    pub waits_otherwise: PlanAskChanges,
    /// Asks that can never start.
    #[schema(required = false)]
    pub impossible: PlanAskChanges,
    /// Asks that are taken back.
    #[schema(required = false)]
    pub withdrawn: PlanAsks,
    /// Allocations that are given back.
    #[schema(required = false)]
    pub released: PlanAsks,
    /// Applications that would be sent elsewhere, were they submitted again.
    #[schema(required = false)]
    pub placed_otherwise: PlanMoves,
    /// Allocations that would be asked to stop within an hour.
    #[schema(required = false)]
    pub evictions: PlanEvictions,
    /// Asks that have no node kept for them any more.
    #[schema(required = false)]
    pub reservations_dropped: PlanAsks,
    /// What is used when nothing more moves.
    #[schema(required = false)]
    pub settled: PlanSettled,
}

/// A setting that is otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDifference {
    /// Name of the partition.
    pub partition: String,
    /// Path of the queue; `null` for the partition itself.
    pub queue: Option<String>,
    /// Keys of the queue file that lead to it: `resources.max.memory`.
    pub key: String,
    /// What it was; `null` where nothing was said.
    pub before: Option<PlanValue>,
    /// What it would be.
    pub after: Option<PlanValue>,
}

/// What a setting says.
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
    /// In words.
    Text(String),
}

/// More than is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanExcess {
    /// Name of the partition.
    pub partition: String,
    /// `queue`, `user` or `group`.
    pub holder: String,
    /// Path or name of the holder.
    pub name: String,
    /// The tenant whose queue it is, if it is one's.
    pub tenant: Option<String>,
    /// Path of the queue with the limit.
    pub queue: String,
    /// Of which type; `null` for applications that run.
    pub resource: Option<String>,
    /// What is used.
    pub used: i64,
    /// What may be used.
    pub limit: i64,
}

/// An ask or an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAsk {
    /// Name of the partition.
    pub partition: String,
    /// Id of the application.
    pub application: String,
    /// Allocation key.
    pub key: String,
    /// Path of its queue.
    pub queue: String,
    /// Who is charged.
    pub user: String,
    /// How much.
    pub resources: Resources,
}

/// Asks or allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAsks {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub first: Vec<PlanAsk>,
}

/// An ask of which something else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAskChange {
    /// Which.
    pub ask: PlanAsk,
    /// Why it waits without the file; `null` if it does not.
    pub before: Option<PlanRefusal>,
    /// Why it waits with it.
    pub after: Option<PlanRefusal>,
}

/// Asks of which something else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanAskChanges {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub first: Vec<PlanAskChange>,
}

/// An application that would be sent elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanMove {
    /// Name of the partition.
    pub partition: String,
    /// Id of the application.
    pub application: String,
    /// Who submitted it.
    pub user: String,
    /// Path of the queue where it is.
    pub before: String,
    /// Path of the queue where it would be; `null` if it would be rejected.
    pub after: Option<String>,
    /// Why it would be rejected.
    pub why: Option<String>,
}

/// Applications that would be sent elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanMoves {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub first: Vec<PlanMove>,
}

/// An allocation that would be asked to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEviction {
    /// After how many milliseconds, if nothing ends meanwhile.
    pub after_ms: u64,
    /// Which.
    pub victim: PlanAsk,
    /// For which ask; `null` where a maximum is above all others.
    pub for_ask: Option<PlanAsk>,
    /// Path of the queue that is above its maximum.
    pub for_maximum_of: Option<String>,
}

/// Allocations that would be asked to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEvictions {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub first: Vec<PlanEviction>,
}

/// What is used before, and when nothing more moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanSettled {
    /// Queues in which it is otherwise.
    pub queues: Vec<PlanQueueUsage>,
    /// Users of whom it is otherwise.
    pub users: Vec<PlanUserUsage>,
    /// How evenly users share before and after: Jain's index of dominant shares, in thousandths; `null` where
    /// nobody uses anything.
    pub evenness: [Option<u64>; 2],
}

/// What a queue uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanQueueUsage {
    /// Name of the partition.
    pub partition: String,
    /// Path of the queue.
    pub queue: String,
    /// Before and after.
    pub used: [Resources; 2],
    /// What waits, before and after.
    pub pending: [Resources; 2],
    /// The largest part of its guarantee that is used, in thousandths; `null` without one.
    pub of_guarantee: [Option<u64>; 2],
}

/// What a user uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanUserUsage {
    /// Name of the partition.
    pub partition: String,
    /// Name of the user.
    pub user: String,
    /// Before and after.
    pub used: [Resources; 2],
}

/// A queue file was taken into force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueFileApplied {
    /// Number of its record.
    pub sequence: u64,
    /// Checksum of its text, as `/ws/v1/config` shows it.
    pub checksum: String,
    /// How many warnings the file has.
    pub warnings: u64,
    /// The file on the server that it takes its queues from: it comes back when that file changes. Absent where there
    /// is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<String>,
}
