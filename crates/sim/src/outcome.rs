//! What happened in a run, as plain records: everything that reports and checks start from.

use headroom_core::Name;
use headroom_core::resource::Amounts;
use serde::{Deserialize, Serialize};

/// Everything that a run produced. Records name things by position in the sibling tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One per job of the workload, in order of submission.
    pub jobs: Vec<JobRecord>,
    /// In order of start.
    pub allocations: Vec<AllocationRecord>,
    /// In order of registration.
    pub nodes: Vec<NodeRecord>,
    /// Every configured queue, parents before children, in file order; the first is `root`.
    pub queues: Vec<QueueRecord>,
    /// What made jobs wait, in order of first appearance; `JobRecord::waits` refers to it.
    pub blockers: Vec<BlockerRecord>,
    /// What happened besides placements and ends.
    pub counts: Counts,
    /// Virtual time at the end of the run, ms.
    pub end_ms: u64,
    /// Decisions taken (events of the scheduler and answers to commands).
    pub decisions: u64,
    /// xxh3-128 digest over all decisions, 32 hex digits.
    pub digest: String,
}

/// What happened besides placements and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that came; each of them once, however often it was submitted.
    pub submitted: u64,
    /// Gangs; zero unless jobs were played as such.
    pub gangs: GangCounts,
    /// What went wrong on purpose; none if nothing was to.
    pub faults: Option<FaultCounts>,
}

/// What became of gangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GangCounts {
    /// Gangs submitted, those that came again included.
    pub submitted: u64,
    /// Gangs that were complete, so that their members started.
    pub complete: u64,
    /// Gangs that were not complete in time.
    pub expired: u64,
    /// Gangs that were submitted again after that.
    pub submitted_again: u64,
    /// Members that took the place of a placeholder.
    pub swaps: u64,
    /// Members that were about to, and waited again.
    pub swaps_dropped: u64,
}

/// What went wrong on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Nodes lost for a while, in addition to those in the node file.
    pub nodes_lost: u64,
    /// Of these, nodes that came back.
    pub nodes_back: u64,
    /// Nodes drained for a while.
    pub nodes_drained: u64,
    /// Times that the RM sent its whole state again.
    pub reconnects: u64,
    /// Times that the core was lost, and recovered from what was recorded.
    pub recoveries: u64,
    /// Confirmations that came late, and so after others that were asked for later.
    pub confirmed_late: u64,
    /// Confirmations that stayed away for many minutes.
    pub confirmed_very_late: u64,
    /// Confirmations that came twice.
    pub confirmed_twice: u64,
    /// Releases of something that nobody knows.
    pub unknown_releases: u64,
    /// Messages of the RM that the core refused, and was right to.
    pub refused: u64,
}

impl FaultCounts {
    /// How many faults these are in all; what was refused followed from them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.nodes_lost
            + self.nodes_drained
            + self.reconnects
            + self.recoveries
            + self.confirmed_late
            + self.confirmed_very_late
            + self.confirmed_twice
            + self.unknown_releases
    }
}

/// One job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// Unique.
    pub name: Name,
    /// Who submitted it.
    pub user: Name,
    /// The group whose limit counts for it; without one, the first that it was submitted with.
    pub group: Option<Name>,
    /// Position in [`Outcome::queues`]; none if it was rejected.
    pub queue: Option<usize>,
    /// Submission, ms.
    pub submit_ms: u64,
    /// When all of its tasks had started, or its gang was complete, ms; a job's wait ends here.
    /// Tasks that are lost with a node afterwards and start again do not move it.
    pub start_ms: Option<u64>,
    /// When the last of its tasks ended, ms.
    pub end_ms: Option<u64>,
    /// How it stood at the end of the run.
    pub state: JobState,
    /// Number of asks; placeholders of a gang not counted.
    pub asks: u64,
    /// Whether its tasks start together.
    pub gang: bool,
    /// Of the whole job.
    pub resources: Amounts,
    /// How many tasks it has of each size, in the order in which they are asked for; empty where all have
    /// the same.
    pub sizes: Vec<(u64, Amounts)>,
    /// Time its longest task runs, ms.
    pub run_ms: u64,
    /// What held back its last task, and for how long: position in [`Outcome::blockers`] and
    /// ms. Sums to the job's wait.
    pub waits: Vec<(usize, u64)>,
    /// Why it waits, is impossible or was rejected, in one sentence; empty otherwise.
    pub reason: String,
}

/// How a job stood at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobState {
    /// All tasks ran to their end.
    Finished,
    /// All tasks started, some still run.
    Running,
    /// Some task has not started.
    Waiting,
    /// Some task is larger than every node, or than a maximum that cannot change.
    Impossible,
    /// The submission was refused.
    Rejected,
    /// Its lifetime was over before all tasks had ended.
    Expired,
}

/// One allocation: one task on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocationRecord {
    /// Allocation key, unique in a run.
    pub key: Name,
    /// Position in [`Outcome::jobs`].
    pub job: usize,
    /// Position in [`Outcome::nodes`].
    pub node: usize,
    /// Start, ms.
    pub start_ms: u64,
    /// End, ms; none if it still ran at the end.
    pub end_ms: Option<u64>,
    /// What it held.
    pub resources: Amounts,
    /// Room held for a gang member.
    pub placeholder: bool,
    /// How it ended: `finished`, `preempted`, `replaced`, `node-lost`, `released`; empty while it runs.
    pub ended_by: &'static str,
    /// Position in [`Outcome::jobs`] of the job for which it was asked to stop. `None` if it never was, or if its queue
    /// used more than its maximum.
    pub preempted_for: Option<usize>,
}

/// One node and a span of time in which it was there; one that comes back has another.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRecord {
    /// Node id.
    pub name: Name,
    /// From, ms.
    pub from_ms: u64,
    /// To, ms; none if it stayed to the end.
    pub to_ms: Option<u64>,
    /// Its size.
    pub resources: Amounts,
}

/// One queue as configured.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRecord {
    /// Full path.
    pub path: Name,
    /// Position of the parent in [`Outcome::queues`]; none for root.
    pub parent: Option<usize>,
    /// Whether it holds applications.
    pub leaf: bool,
    /// What it can always get back; empty if nothing.
    pub guaranteed: Amounts,
    /// What it cannot exceed; none = unlimited.
    pub max: Option<Amounts>,
}

/// The code of a wait for which the simulator found no reason: a mistake of the simulator.
pub const NOT_EXPLAINED: &str = "NOT_EXPLAINED";

/// The code of jobs that wait because their gang was not complete in time, and is submitted again.
pub const GANG_AGAIN: &str = "GANG_AGAIN";

/// One thing that made jobs wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockerRecord {
    /// Reason code: `QUEUE_MAX`, `ROOT_CAPACITY`, `ABS_USER_LIMIT`, `ABS_GROUP_LIMIT`,
    /// `NO_NODE_FITS`, `MAX_APPS`, `USER_APPS`, `GROUP_APPS`, …
    pub code: &'static str,
    /// What sets the bound: a queue path, `user ann at root.a`, `every node`.
    pub subject: String,
}

/// One line of `decisions.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Counts from 1.
    pub sequence: u64,
    /// Virtual time, ms.
    pub time_ms: u64,
    /// The kind of an event, such as `allocationGranted`; or `waits`.
    pub kind: &'static str,
    /// What it is about: an application, an ask, a node.
    pub subject: String,
    /// The rest in one sentence.
    pub detail: String,
}
