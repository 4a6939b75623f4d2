//! The participants of the demo: nodes, users, and kinds of jobs. All of them are invented.

/// The queue file of the demonstration.
pub(super) const QUEUES: &str = include_str!("../../../../examples/demo.yaml");

/// Amounts of each resource type, in the units of the protocol: millicores, bytes, and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) vcore: i64,
    pub(super) memory: i64,
    pub(super) gpu: i64,
}

const GI: i64 = 1 << 30;

const fn size(cores: i64, gib: i64, gpu: i64) -> Size {
    Size { vcore: cores * 1_000, memory: gib * GI, gpu }
}

/// A group of equal nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeKind {
    /// Prefix of the node names. A number from 1 follows.
    pub(super) prefix: &'static str,
    pub(super) count: usize,
    pub(super) capacity: Size,
    pub(super) instance_type: &'static str,
}

pub(super) const NODES: [NodeKind; 2] = [
    NodeKind { prefix: "gpu-", count: 10, capacity: size(32, 256, 8), instance_type: "gpu.8x" },
    NodeKind { prefix: "cpu-", count: 6, capacity: size(48, 192, 0), instance_type: "cpu.48x" },
];

/// Size of the foreign allocation on each node.
pub(super) const DAEMON: Size = size(1, 2, 0);

/// A group of similar jobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobKind {
    pub(super) name: &'static str,
    pub(super) queue: &'static str,
    /// Users that submit the jobs in turn, with their groups.
    pub(super) users: &'static [(&'static str, &'static str)],
    /// Minimum and maximum number of tasks of a job.
    pub(super) tasks: (u64, u64),
    pub(super) size: Size,
    /// Minimum and maximum run time of a task, in milliseconds.
    pub(super) runs: (u64, u64),
    /// Submission times of the first jobs, in milliseconds since the start.
    pub(super) first: &'static [u64],
    /// Minimum and maximum time between two jobs, in milliseconds.
    pub(super) every: (u64, u64),
    pub(super) priority: i32,
    /// Whether other tasks can be preempted for its tasks.
    pub(super) may_preempt: bool,
    /// Whether its tasks can be preempted.
    pub(super) preemptable: bool,
    pub(super) gang: Option<Gang>,
}

/// The gang settings of a job, whose tasks start together or not at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gang {
    /// `Soft` or `Hard`: the outcome if the gang is not complete in time.
    pub(super) style: &'static str,
    /// Maximum time until the gang is complete, in milliseconds.
    pub(super) timeout: i64,
}

const PLAIN: JobKind = JobKind {
    name: "",
    queue: "",
    users: &[],
    tasks: (1, 1),
    size: size(1, 1, 0),
    runs: (1_000, 1_000),
    first: &[],
    every: (1_000, 1_000),
    priority: 0,
    may_preempt: false,
    preemptable: true,
    gang: None,
};

const SANDBOX_USERS: &[(&str, &str)] = &[
    ("dana", "students"),
    ("eli", "students"),
    ("dana", "students"),
    ("femi", "students"),
    ("gita", "visitors"),
    ("dana", "students"),
    ("hugo", "visitors"),
];

/// Users with shares of one queue and different requests.
const LANGUAGE_USERS: &[(&str, &str)] = &[
    ("ines", "language"),
    ("jun", "language"),
    ("ines", "language"),
    ("kofi", "language"),
    ("ines", "language"),
];

pub(super) const JOBS: [JobKind; 6] = [
    JobKind {
        name: "notebook",
        queue: "root.sandbox",
        users: SANDBOX_USERS,
        tasks: (8, 16),
        size: size(4, 16, 0),
        runs: (30_000, 90_000),
        first: &[0, 0, 200, 400, 600, 800, 1_000, 1_200, 1_400],
        every: (3_000, 9_000),
        ..PLAIN
    },
    JobKind {
        name: "render",
        queue: "root.sandbox",
        users: SANDBOX_USERS,
        tasks: (2, 6),
        size: size(2, 16, 2),
        runs: (20_000, 60_000),
        first: &[500, 1_500],
        every: (8_000, 16_000),
        ..PLAIN
    },
    JobKind {
        name: "api",
        queue: "root.production.serving",
        users: &[("pia", "operators"), ("quinn", "operators")],
        tasks: (16, 28),
        size: size(4, 16, 0),
        runs: (15_000, 40_000),
        first: &[12_000],
        every: (35_000, 55_000),
        priority: 100,
        may_preempt: true,
        preemptable: false,
        gang: None,
    },
    JobKind {
        name: "nightly",
        queue: "root.production.etl",
        users: &[("quinn", "operators"), ("rosa", "operators")],
        tasks: (6, 12),
        size: size(8, 32, 0),
        runs: (20_000, 50_000),
        first: &[3_000, 20_000],
        every: (25_000, 45_000),
        priority: 50,
        may_preempt: true,
        ..PLAIN
    },
    JobKind {
        name: "train",
        queue: "root.research.language",
        users: LANGUAGE_USERS,
        tasks: (4, 8),
        size: size(4, 32, 4),
        runs: (25_000, 60_000),
        first: &[2_000, 6_000],
        every: (15_000, 30_000),
        priority: 10,
        gang: Some(Gang { style: "Soft", timeout: 30_000 }),
        ..PLAIN
    },
    JobKind {
        name: "sweep",
        queue: "root.research.vision",
        users: &[("lena", "vision"), ("moss", "vision")],
        tasks: (2, 5),
        size: size(6, 48, 8),
        runs: (15_000, 45_000),
        first: &[4_000],
        every: (12_000, 24_000),
        priority: 10,
        gang: Some(Gang { style: "Hard", timeout: 45_000 }),
        ..PLAIN
    },
];

/// The node that is drained repeatedly.
pub(super) const DRAINED: &str = "cpu-6";
/// Time from one draining to the next, in milliseconds.
pub(super) const DRAIN_EVERY: u64 = 60_000;
/// Duration of a draining, in milliseconds.
pub(super) const DRAIN_FOR: u64 = 15_000;

/// A tenant of the demo.
#[derive(Clone, Copy, Debug)]
pub(super) struct TenantKind {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Users that submit its tasks.
    pub(super) users: &'static [&'static str],
    /// Cores and memory of its quota, which is also its guarantee.
    pub(super) quota: (&'static str, &'static str),
    /// Cores of a task.
    pub(super) vcore: &'static str,
    /// Memory of a task.
    pub(super) memory: &'static str,
    /// Minimum and maximum run time of a task, in milliseconds.
    pub(super) runs: (u64, u64),
    /// Minimum and maximum time between two tasks, in milliseconds.
    pub(super) every: (u64, u64),
    /// Maximum number of tasks that have not ended. At this number, no more tasks are submitted.
    pub(super) live_max: usize,
}

pub(super) const TENANTS: [TenantKind; 2] = [
    TenantKind {
        name: "genomics",
        title: "Genomics",
        users: &["tara", "umar"],
        quota: ("24", "96Gi"),
        vcore: "4",
        memory: "16Gi",
        runs: (40_000, 100_000),
        every: (2_000, 9_000),
        live_max: 10,
    },
    TenantKind {
        name: "weather",
        title: "Weather models",
        users: &["vera"],
        quota: ("16", "64Gi"),
        vcore: "8",
        memory: "32Gi",
        runs: (60_000, 120_000),
        every: (10_000, 30_000),
        live_max: 5,
    },
];
