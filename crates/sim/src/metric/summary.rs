//! The numbers of a run, as plain records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::series::Series;
use crate::outcome::{FaultCounts, GangCounts};

/// A run in numbers. Every list has a fixed order, so that equal runs give equal bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Virtual time at the end of the run, ms.
    pub end_ms: u64,
    /// Decisions taken.
    pub decisions: u64,
    /// Digest over all decisions.
    pub digest: String,
    /// First submission to last end, ms.
    pub makespan_ms: u64,
    /// Jain's index over users of their dominant-share hours; none if nothing ran.
    pub jain: Option<f64>,
    /// The resource types, in name order.
    pub types: Vec<TypeSummary>,
    /// The whole run.
    pub run: Scope,
    /// Queues as configured, parents before children; ancestors include their descendants.
    pub queues: Vec<QueueSummary>,
    /// Users, in name order.
    pub users: Vec<Scope>,
    /// Groups, in name order; jobs without a group are in none.
    pub groups: Vec<Scope>,
    /// Everything that jobs waited for, hours: the sum over the blockers.
    pub waiting_hours: f64,
    /// What made jobs wait, the longest total first.
    pub blockers: Vec<BlockerSummary>,
    /// What became of gangs; none if no job was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gangs: Option<GangSummary>,
    /// What went wrong on purpose; none if nothing was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// Why jobs were rejected or can never start, the most frequent first; left out where none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// Recorded and simulated waits; none where the workload records none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedWaits>,
    /// How many jobs that started waited how long.
    pub wait_histogram: Vec<WaitBucket>,
    /// The grid of every curve.
    pub grid: Grid,
    /// The curves.
    pub series: SeriesSet,
}

/// Jobs whose tasks start together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GangSummary {
    /// What became of them.
    pub counts: GangCounts,
    /// From the first submission until the gang was complete, over those that were.
    pub until_complete: Waits,
}

/// One resource type of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeSummary {
    /// Its name.
    pub name: String,
    /// The unit of its amounts in this summary: cores, GiB, or the type itself (a count).
    pub unit: String,
    /// Held by allocations without placeholders, unit × hours.
    pub used_hours: f64,
    /// Held by placeholders, unit × hours.
    #[serde(default)]
    pub reserved_hours: f64,
    /// What the nodes had, unit × hours.
    pub capacity_hours: f64,
    /// Used in percent of the capacity, over the whole run, without placeholders.
    pub used_percent: f64,
    /// Held by placeholders in percent of the capacity, over the whole run.
    #[serde(default)]
    pub reserved_percent: f64,
    /// Free but unusable for what waited, in percent of the capacity, over the whole run.
    pub unusable_percent: f64,
}

/// The jobs of one queue, user, group, or of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// Queue path, user, group; `run` for all.
    pub name: String,
    /// Jobs by state.
    pub jobs: JobCounts,
    /// Tasks: asks of these jobs.
    pub tasks: u64,
    /// Waits of the jobs that started.
    pub waits: Waits,
    /// Waits, so far, of the jobs that wait at the end of the run.
    pub still_waiting: OpenWaits,
    /// Bounded slowdown of the jobs that started.
    pub slowdowns: Slowdowns,
    /// Held by their allocations (placeholders included), unit × hours per type.
    pub resource_hours: BTreeMap<String, f64>,
    /// Largest share over the types, times the length of the run, hours.
    pub dominant_share_hours: f64,
    /// Allocations ended by preemption.
    pub preemptions: u64,
    /// Allocations ended by the loss of their node.
    pub node_losses: u64,
    /// Work of the preempted and lost allocations, unit × hours per type.
    pub lost_hours: BTreeMap<String, f64>,
    /// What they waited for, the longest first.
    pub waited_for: Vec<WaitedFor>,
}

/// Jobs by their state at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// All of them.
    pub total: u64,
    /// All tasks ran to their end.
    pub finished: u64,
    /// All tasks started, some still run.
    pub running: u64,
    /// Some task has not started.
    pub waiting: u64,
    /// Can never start.
    pub impossible: u64,
    /// Refused at submission.
    pub rejected: u64,
    /// Their lifetime was over before all tasks had ended; left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub expired: u64,
}

// `serde` asks for references.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Waits of jobs that started; percentiles by nearest rank; all zero without such jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// How many jobs these are.
    pub jobs: u64,
    /// Sum, ms.
    pub total_ms: u64,
    /// Mean, rounded to the nearest ms.
    pub mean_ms: u64,
    /// Half waited no longer, ms.
    pub p50_ms: u64,
    /// 95 % waited no longer, ms.
    pub p95_ms: u64,
    /// 99 % waited no longer, ms.
    pub p99_ms: u64,
    /// Longest, ms.
    pub max_ms: u64,
}

/// Jobs that still wait at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenWaits {
    /// How many.
    pub jobs: u64,
    /// Sum of submission to the end of the run, ms.
    pub total_ms: u64,
    /// Longest, ms.
    pub max_ms: u64,
}

/// Bounded slowdowns; zero if no job started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slowdowns {
    /// Mean.
    pub mean: f64,
    /// 95th percentile, nearest rank.
    pub p95: f64,
}

/// Part of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitedFor {
    /// Position in [`Summary::blockers`].
    pub blocker: usize,
    /// Total, ms.
    pub wait_ms: u64,
}

/// One queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueSummary {
    /// Its jobs, those of queues below included.
    pub scope: Scope,
    /// Whether it holds applications.
    pub leaf: bool,
    /// Used in percent of the cluster per type, over the whole run.
    pub share_percent: BTreeMap<String, f64>,
    /// Its guarantee, if it has one in a type that the cluster has.
    pub guarantee: Option<Guarantee>,
}

/// What a queue is guaranteed, in the type in which the guarantee is the largest part of the
/// cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// That type.
    pub resource: String,
    /// Guaranteed amount in percent of the cluster's mean capacity.
    pub percent: f64,
    /// Mean use in percent of the cluster.
    pub used_percent: f64,
}

/// What made jobs wait, over the whole run. Jobs that were impossible or rejected are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockerSummary {
    /// Reason code.
    pub code: String,
    /// What sets the bound.
    pub subject: String,
    /// Total wait, ms.
    pub wait_ms: u64,
    /// How many jobs it held back at some time.
    pub jobs: u64,
}

/// A reason for which jobs were refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// `rejected` at the submission, or `impossible`.
    pub state: String,
    /// The reason in a sentence.
    pub reason: String,
    /// How many jobs it holds for.
    pub jobs: u64,
    /// The first of them.
    pub first: String,
}

/// The waits that a workload records, and those of the same jobs in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedWaits {
    /// As recorded.
    pub recorded: Waits,
    /// In the run.
    pub simulated: Waits,
    /// What differs between the recorded cluster and the played one, in sentences; empty where the waits are
    /// of the same order.
    pub remarks: Vec<String>,
}

/// Jobs that waited at least `from_ms` and less than `to_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitBucket {
    /// Lower edge, ms, included.
    pub from_ms: u64,
    /// Upper edge, ms, not included; none for the last.
    pub to_ms: Option<u64>,
    /// How many.
    pub jobs: u64,
}

/// The curves over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesSet {
    /// Per type, percent of the capacity held by allocations.
    pub utilisation: Vec<Series>,
    /// Tasks that wait, and that run. Impossible and rejected jobs are left out.
    pub tasks: Vec<Series>,
    /// Jobs that wait, and that run.
    pub jobs: Vec<Series>,
    /// Per type: the leaf queues with the most use and the rest as one, in percent of the
    /// cluster; they stack to the utilisation.
    pub queue_share: BTreeMap<String, Vec<Series>>,
    /// Queues with a guarantee, those of the largest guarantees first: share in percent of the
    /// cluster, in the type of [`Guarantee::resource`].
    pub guaranteed_share: Vec<Series>,
    /// Per type, percent of the capacity that is free but unusable for what waits.
    pub unusable: Vec<Series>,
}
