//! What is submitted: jobs read from a trace, or made by a generator.

use headroom_core::Name;
use headroom_core::resource::Amounts;

/// The jobs to play, in order of submission, and what the source held besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// Sorted by submission; jobs of the same moment in source order. Names are unique.
    pub jobs: Vec<Job>,
    /// Jobs left out, by reason, in name order of the reasons.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// Remarks on how the source was read, for the report: defaults taken, amounts guessed.
    pub remarks: Vec<String>,
}

/// One job, in the terms of the source, before it is shaped into asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Unique within the workload.
    pub name: Name,
    /// When it is submitted, in ms of virtual time; the earliest job of a source is at 0.
    pub submit_ms: u64,
    /// How long each of its tasks runs, in ms.
    pub run_ms: u64,
    /// Who submits.
    pub user: Name,
    /// The user's groups, in order.
    pub groups: Vec<Name>,
    /// The queue named at submission; none leaves the choice to the placement rules.
    pub queue: Option<Name>,
    /// Higher goes first.
    pub priority: i32,
    /// How many processors (tasks) it consists of; at least 1.
    pub processors: u64,
    /// What one processor (task) needs.
    pub per_processor: Amounts,
    /// The node label it wishes for, if any.
    pub node_label: Option<Name>,
}
