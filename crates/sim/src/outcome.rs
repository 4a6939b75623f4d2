//! Records of a run, on which all reports and checks are based.

use headroom_core::Name;
use headroom_core::resource::Amounts;
use serde::{Deserialize, Serialize};

/// All records of a run. A reference to another record is its position in the lists of this type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One record for each job of the workload, in order of submission.
    pub jobs: Vec<JobRecord>,
    /// Allocations in order of their start.
    pub allocations: Vec<AllocationRecord>,
    /// Nodes in order of registration.
    pub nodes: Vec<NodeRecord>,
    /// Every configured queue in file order, parents before children. The first is `root`.
    pub queues: Vec<QueueRecord>,
    /// Reasons of waits, in order of first appearance. `JobRecord::waits` refers to them.
    pub blockers: Vec<BlockerRecord>,
    /// Counts of events other than placements and ends.
    pub counts: Counts,
    /// Virtual time at the end of the run, ms.
    pub end_ms: u64,
    /// Number of decisions (events of the scheduler, and answers to commands).
    pub decisions: u64,
    /// xxh3-128 digest of all decisions, as 32 hexadecimal digits.
    pub digest: String,
}

/// Counts of events other than placements and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of submitted jobs. A job that was submitted repeatedly counts once.
    pub submitted: u64,
    /// Counts of gangs. Zero unless jobs were simulated as gangs.
    pub gangs: GangCounts,
    /// Counts of injected faults. `None` without faults.
    pub faults: Option<FaultCounts>,
}

/// Counts of gangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GangCounts {
    /// Submissions of gangs, including repeated ones.
    pub submitted: u64,
    /// Gangs that became complete. Their members then started.
    pub complete: u64,
    /// Gangs that did not become complete in time.
    pub expired: u64,
    /// Repeated submissions of gangs that were not complete in time.
    pub submitted_again: u64,
    /// Members that replaced a placeholder.
    pub swaps: u64,
    /// Replacements that were not completed. The member then waited again.
    pub swaps_dropped: u64,
}

/// Counts of injected faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Temporary losses of nodes, in addition to losses in the node file.
    pub nodes_lost: u64,
    /// Lost nodes among these that returned.
    pub nodes_back: u64,
    /// Temporary drains of nodes.
    pub nodes_drained: u64,
    /// Number of times that the RM sent its whole state again.
    pub reconnects: u64,
    /// Number of times that the core was lost and recovered from its records.
    pub recoveries: u64,
    /// Confirmations that arrived after the confirmations of later requests.
    pub confirmed_late: u64,
    /// Confirmations that were late by many minutes.
    pub confirmed_very_late: u64,
    /// Confirmations that were repeated.
    pub confirmed_twice: u64,
    /// Releases of unknown allocations.
    pub unknown_releases: u64,
    /// Messages of the RM that the core refused, as expected.
    pub refused: u64,
}

impl FaultCounts {
    /// Returns the number of all faults. Refused messages are a consequence of faults, and do not count.
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
    /// Name of the job, which is unique.
    pub name: Name,
    /// User who submitted the job.
    pub user: Name,
    /// The group whose limit applies to the job. Without such a group, the first group of the submission.
    pub group: Option<Name>,
    /// Position in [`Outcome::queues`]. `None` if the job was rejected.
    pub queue: Option<usize>,
    /// Time of the submission in ms.
    pub submit_ms: u64,
    /// Time in ms at which all tasks had started, or the gang was complete. The wait of the job ends here. The time
    /// does not change if tasks are lost with a node and start again.
    pub start_ms: Option<u64>,
    /// Time in ms at which its last task ended.
    pub end_ms: Option<u64>,
    /// State at the end of the run.
    pub state: JobState,
    /// Number of asks, without placeholders of a gang.
    pub asks: u64,
    /// Whether its tasks start together.
    pub gang: bool,
    /// Resources of the whole job.
    pub resources: Amounts,
    /// Number of tasks for each size, in the order of the asks. Empty if all tasks have the same size.
    pub sizes: Vec<(u64, Amounts)>,
    /// Run time of its longest task in ms.
    pub run_ms: u64,
    /// Reasons why its last task waited, and the durations: position in [`Outcome::blockers`], and ms. The sum is the
    /// wait of the job.
    pub waits: Vec<(usize, u64)>,
    /// Reason of the wait, the impossibility, or the rejection, as a sentence. Otherwise empty.
    pub reason: String,
}

/// State of a job at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobState {
    /// All tasks finished.
    Finished,
    /// All tasks started, and some still run.
    Running,
    /// Some task has not started.
    Waiting,
    /// Some task is larger than every node, or than a maximum that cannot change.
    Impossible,
    /// The submission was refused.
    Rejected,
    /// Its lifetime ended before all tasks did.
    Expired,
}

/// One allocation: a task on a node.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocationRecord {
    /// Allocation key, which is unique in a run.
    pub key: Name,
    /// Position in [`Outcome::jobs`].
    pub job: usize,
    /// Position in [`Outcome::nodes`].
    pub node: usize,
    /// Time of the start in ms.
    pub start_ms: u64,
    /// Time of the end in ms. `None` if the allocation still ran at the end of the run.
    pub end_ms: Option<u64>,
    /// Resources of the allocation.
    pub resources: Amounts,
    /// Whether the allocation is a placeholder of a gang member.
    pub placeholder: bool,
    /// Reason of the end: `finished`, `preempted`, `replaced`, `node-lost`, or `released`. Empty while the allocation
    /// runs.
    pub ended_by: &'static str,
    /// Job for which the allocation was preempted, as a position in [`Outcome::jobs`], and the time in ms. `None`
    /// without preemption, or if the queue used more than its maximum.
    pub preempted_for: Option<(usize, u64)>,
}

/// A time span in which a node existed. A node that returns has another record.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRecord {
    /// Node id.
    pub name: Name,
    /// Start of the time span in ms.
    pub from_ms: u64,
    /// End of the time span in ms. `None` if the time span lasted until the end of the run.
    pub to_ms: Option<u64>,
    /// Size of the node.
    pub resources: Amounts,
}

/// One queue as configured.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRecord {
    /// Full path.
    pub path: Name,
    /// Position of the parent in [`Outcome::queues`]. `None` for root.
    pub parent: Option<usize>,
    /// Whether the queue is a leaf.
    pub leaf: bool,
    /// Guarantee. Empty if the queue has no guarantee.
    pub guaranteed: Amounts,
    /// Maximum. `None` without a limit.
    pub max: Option<Amounts>,
}

/// Code of a wait without a known reason, which is a bug of the simulator.
pub const NOT_EXPLAINED: &str = "NOT_EXPLAINED";

/// Code of jobs that wait because their gang was not complete in time and is to be submitted again.
pub const GANG_AGAIN: &str = "GANG_AGAIN";

/// A reason why jobs waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockerRecord {
    /// Reason code: `QUEUE_MAX`, `ROOT_CAPACITY`, `ABS_USER_LIMIT`, `ABS_GROUP_LIMIT`,
    /// `NO_NODE_FITS`, `MAX_APPS`, `USER_APPS`, `GROUP_APPS`, …
    pub code: &'static str,
    /// Object that has the limit: a queue path, `user ann at root.a`, `every node`.
    pub subject: String,
}

/// One line of `decisions.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Number of the decision, counted from 1.
    pub sequence: u64,
    /// Virtual time, ms.
    pub time_ms: u64,
    /// Kind of the event, such as `allocationGranted`, or `waits`.
    pub kind: &'static str,
    /// Object of the event: an application, an ask, or a node.
    pub subject: String,
    /// Further details as a sentence.
    pub detail: String,
}
