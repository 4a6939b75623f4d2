//! Data types for the metrics of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::series::Series;
use crate::outcome::{FaultCounts, GangCounts};

/// Metrics of a run. Every list has a fixed order, so that equal runs give equal bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Virtual time at the end of the run, in ms.
    pub end_ms: u64,
    /// Number of decisions.
    pub decisions: u64,
    /// Digest of all decisions.
    pub digest: String,
    /// Time from the first submission to the last end, in ms.
    pub makespan_ms: u64,
    /// Jain's index of the users' dominant-share hours. `None` if nothing ran.
    pub jain: Option<f64>,
    /// Resource types in order of names.
    pub types: Vec<TypeSummary>,
    /// The whole run.
    pub run: Scope,
    /// Queues as configured, parents before children. A queue includes its descendants.
    pub queues: Vec<QueueSummary>,
    /// Users in order of names.
    pub users: Vec<Scope>,
    /// Groups in order of names. Jobs without a group are not in any.
    pub groups: Vec<Scope>,
    /// Sum of all waits in hours.
    pub waiting_hours: f64,
    /// Reasons of waits, the longest total first.
    pub blockers: Vec<BlockerSummary>,
    /// Metrics of gangs. `None` if no job was a gang.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gangs: Option<GangSummary>,
    /// Counts of injected faults. `None` without faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// Reasons why jobs were rejected or can never start, the most frequent first. Absent without such jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// Recorded and simulated waits. `None` if the workload has no recorded waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedWaits>,
    /// Number of started jobs by wait.
    pub wait_histogram: Vec<WaitBucket>,
    /// The grid of every curve.
    pub grid: Grid,
    /// The curves.
    pub series: SeriesSet,
}

/// Metrics of jobs whose tasks start together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GangSummary {
    /// Counts of gangs.
    pub counts: GangCounts,
    /// Time from the first submission until the gang was complete, over the complete gangs.
    pub until_complete: Waits,
}

/// One resource type of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeSummary {
    /// Name of the type.
    pub name: String,
    /// Unit of its amounts in this summary: cores, GiB, or the type itself (a count).
    pub unit: String,
    /// Usage by allocations (including placeholders), in unit × hours.
    pub used_hours: f64,
    /// Held by placeholders, unit × hours.
    #[serde(default)]
    pub reserved_hours: f64,
    /// Capacity of the nodes, in unit × hours.
    pub capacity_hours: f64,
    /// Usage in percent of the capacity, over the whole run.
    pub used_percent: f64,
    /// Held by placeholders in percent of the capacity, over the whole run.
    #[serde(default)]
    pub reserved_percent: f64,
    /// Amount that was free, but unusable for waiting tasks, in percent of the capacity, over the whole run.
    pub unusable_percent: f64,
}

/// Metrics of the jobs of one queue, user, or group, or of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// Queue path, user, or group. `run` for the whole run.
    pub name: String,
    /// Number of jobs by state.
    pub jobs: JobCounts,
    /// Number of tasks: asks of these jobs.
    pub tasks: u64,
    /// Waits of the jobs that started.
    pub waits: Waits,
    /// Waits so far of the jobs that wait at the end of the run.
    pub still_waiting: OpenWaits,
    /// Bounded slowdowns of the jobs that started.
    pub slowdowns: Slowdowns,
    /// Usage by their allocations (including placeholders), in unit × hours by type.
    pub resource_hours: BTreeMap<String, f64>,
    /// Largest share over the types, times the length of the run, in hours.
    pub dominant_share_hours: f64,
    /// Number of allocations that preemption ended.
    pub preemptions: u64,
    /// Number of allocations that the loss of their node ended.
    pub node_losses: u64,
    /// Work of the preempted and lost allocations, in unit × hours by type.
    pub lost_hours: BTreeMap<String, f64>,
    /// Reasons of their waits, the longest first.
    pub waited_for: Vec<WaitedFor>,
}

/// Number of jobs by their state at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// All jobs.
    pub total: u64,
    /// Jobs whose tasks all finished.
    pub finished: u64,
    /// Jobs whose tasks all started, and some still run.
    pub running: u64,
    /// Jobs with a task that has not started.
    pub waiting: u64,
    /// Jobs that can never start.
    pub impossible: u64,
    /// Jobs that were refused at submission.
    pub rejected: u64,
    /// Jobs whose lifetime ended before all their tasks ended. Absent without such jobs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub expired: u64,
}

// `serde` requires a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Waits of jobs that started, with percentiles by nearest rank. All zero without such jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// Number of these jobs.
    pub jobs: u64,
    /// Sum in ms.
    pub total_ms: u64,
    /// Mean, rounded to the nearest ms.
    pub mean_ms: u64,
    /// Median in ms.
    pub p50_ms: u64,
    /// 95th percentile in ms.
    pub p95_ms: u64,
    /// 99th percentile in ms.
    pub p99_ms: u64,
    /// Longest wait in ms.
    pub max_ms: u64,
}

/// Waits of jobs that still wait at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenWaits {
    /// Number of these jobs.
    pub jobs: u64,
    /// Sum of the times from submission to the end of the run, in ms.
    pub total_ms: u64,
    /// Longest wait in ms.
    pub max_ms: u64,
}

/// Bounded slowdowns. Zero if no job started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slowdowns {
    /// Mean.
    pub mean: f64,
    /// 95th percentile, nearest rank.
    pub p95: f64,
}

/// Part of a wait with one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitedFor {
    /// Position in [`Summary::blockers`].
    pub blocker: usize,
    /// Total in ms.
    pub wait_ms: u64,
}

/// Metrics of one queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueSummary {
    /// Metrics of its jobs, including those of its descendants.
    pub scope: Scope,
    /// Whether the queue is a leaf.
    pub leaf: bool,
    /// Usage in percent of the cluster by type, over the whole run.
    pub share_percent: BTreeMap<String, f64>,
    /// Guarantee, if the queue has a guarantee in a resource type of the cluster.
    pub guarantee: Option<Guarantee>,
}

/// Guarantee of a queue, in the resource type of which it is the largest fraction of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// Resource type of the guarantee.
    pub resource: String,
    /// Guaranteed amount in percent of the cluster's mean capacity.
    pub percent: f64,
    /// Mean usage in percent of the cluster.
    pub used_percent: f64,
}

/// A reason of waits over the whole run, without jobs that were impossible or rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockerSummary {
    /// Reason code.
    pub code: String,
    /// Object that has the limit.
    pub subject: String,
    /// Total wait in ms.
    pub wait_ms: u64,
    /// Number of jobs that waited for this reason.
    pub jobs: u64,
}

/// A reason why jobs were refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// `rejected` at the submission, or `impossible`.
    pub state: String,
    /// Reason as a sentence.
    pub reason: String,
    /// Number of jobs.
    pub jobs: u64,
    /// Name of the first of these jobs.
    pub first: String,
}

/// Recorded waits of a workload, and the waits of the same jobs in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedWaits {
    /// Recorded waits.
    pub recorded: Waits,
    /// Waits in the run.
    pub simulated: Waits,
    /// Explanations of differences between the recorded and the simulated waits, as sentences. Empty if the waits have
    /// the same order of magnitude.
    pub remarks: Vec<String>,
}

/// Number of jobs that waited at least `from_ms` and less than `to_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitBucket {
    /// Lower edge in ms, inclusive.
    pub from_ms: u64,
    /// Upper edge in ms, exclusive. `None` for the last bucket.
    pub to_ms: Option<u64>,
    /// Number of jobs.
    pub jobs: u64,
}

/// Curves over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesSet {
    /// Percentage of the capacity that allocations use, by type.
    pub utilisation: Vec<Series>,
    /// Number of waiting and of running tasks, without impossible and rejected jobs.
    pub tasks: Vec<Series>,
    /// Number of waiting and of running jobs.
    pub jobs: Vec<Series>,
    /// Shares by type, in percent of the cluster: the leaf queues with the highest usage, and the sum of all other leaf
    /// queues. The sum of all curves is the utilization.
    pub queue_share: BTreeMap<String, Vec<Series>>,
    /// Shares of queues with a guarantee, in percent of the cluster, in the type of [`Guarantee::resource`]. The
    /// largest guarantees are first.
    pub guaranteed_share: Vec<Series>,
    /// Percentage of the capacity that is free, but unusable for waiting tasks, by type.
    pub unusable: Vec<Series>,
}
