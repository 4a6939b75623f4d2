//! Workloads: jobs from a trace or a generator.
//!
//! [`read`] reads the Standard Workload Format, openb pod lists, `sacct` text, job lists of Hadoop's Scheduler Load
//! Simulator, and Headroom's own JSON lines. [`generate`] creates workloads of statistical models. [`write_jsonl`]
//! writes both.

mod error;
pub mod generate;
mod intake;
pub mod jsonl;
pub(crate) mod lines;
mod number;
pub mod openb;
mod read;
pub mod sacct;
pub mod sls;
pub mod swf;
mod template;
mod time_scale;

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::Name;
use headroom_core::resource::Amounts;

pub use error::WorkloadError;
pub(crate) use error::quoted;
pub use jsonl::write_jsonl;
pub use number::PROCESSORS_MAX;
pub use read::{Format, FormatError, ReadOptions, read, read_from};
pub use template::{TagTemplate, Template, TemplateError};
pub use time_scale::{TIME_MS_MAX, TimeScale, TimeScaleError};

/// The jobs in order of submission, and metadata of the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// Jobs sorted by submission. Jobs with the same submission time are in source order. Names are unique.
    pub jobs: Vec<Job>,
    /// Number of skipped jobs by reason, in order of the reasons.
    pub skipped: BTreeMap<String, u64>,
    /// Number of jobs that asked for each resource type that no node has, and that was removed.
    pub dropped: BTreeMap<Name, u64>,
    /// Remarks on reading the source, for the report: defaults, assumed amounts.
    pub remarks: Vec<String>,
}

/// One job, with the values of the source, before it is converted to asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Name of the job, which is unique within the workload.
    pub name: Name,
    /// Time of the submission, in ms of virtual time. The earliest job of a source is at 0.
    pub submit_ms: u64,
    /// Run time of each task in ms. The tasks of `more` have their own run times.
    pub run_ms: u64,
    /// User who submits the job.
    pub user: Name,
    /// Groups of the user, in order.
    pub groups: Vec<Name>,
    /// Queue in the submission. `None` leaves the choice to the placement rules.
    pub queue: Option<Name>,
    /// Priority. Higher priorities are first.
    pub priority: i32,
    /// Whether preemption can stop other allocations for the tasks of this job.
    pub may_preempt: bool,
    /// Whether its tasks offer themselves for preemption. Others are preempted later.
    pub preemptable: bool,
    /// Number of processors (tasks), at least 1.
    pub processors: u64,
    /// Amounts of one processor (task).
    pub per_processor: Amounts,
    /// Tasks of other sizes or run times. The job requests these tasks after its other tasks.
    pub more: Vec<Tasks>,
    /// Amounts of the master: an additional task that is requested before all others, and ends after the last of the
    /// other tasks.
    pub master: Option<Amounts>,
    /// Requested node label, if any.
    pub node_label: Option<Name>,
    /// Longest lifetime in seconds. The lifetime of the queue can be shorter. `None` for the lifetime of the queue.
    pub lifetime_s: Option<u32>,
    /// Tags of its application, such as `namespace`, which placement rules read.
    pub tags: Vec<(Name, Name)>,
    /// Recorded wait in ms. `None` if the source has none, or times are scaled.
    pub recorded_wait_ms: Option<u64>,
    /// Line of the job in the source, from 1. 0 for a generated job.
    pub line: u64,
}

/// Equal tasks of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Tasks {
    /// Number of tasks, at least 1.
    pub count: u64,
    /// Run time of each task in ms.
    pub run_ms: u64,
    /// Amounts of each task.
    pub resources: Amounts,
    /// Whether the job requests these tasks only after all tasks of its other groups have ended, such as reduces after
    /// maps.
    pub is_second_stage: bool,
}

impl Job {
    /// Returns the sizes of the tasks of the job. The size of its master is first.
    pub fn sizes(&self) -> impl Iterator<Item = &Amounts> {
        let more = self.more.iter().map(|tasks| &tasks.resources);
        self.master.iter().chain([&self.per_processor]).chain(more)
    }

    /// Returns the run time of its longest task in ms.
    pub fn longest_ms(&self) -> u64 {
        self.more.iter().map(|tasks| tasks.run_ms).fold(self.run_ms, u64::max)
    }
}

impl Default for Job {
    /// Returns an empty job. Its tasks can preempt and be preempted, like those of `YuniKorn`'s RM for Kubernetes.
    fn default() -> Self {
        Self {
            name: Name::default(),
            submit_ms: 0,
            run_ms: 0,
            user: Name::default(),
            groups: Vec::new(),
            queue: None,
            priority: 0,
            may_preempt: true,
            preemptable: true,
            processors: 0,
            per_processor: Amounts::EMPTY,
            more: Vec::new(),
            master: None,
            node_label: None,
            lifetime_s: None,
            tags: Vec::new(),
            recorded_wait_ms: None,
            line: 0,
        }
    }
}

impl Workload {
    /// Removes all other resource types from the jobs, and adds a remark about the removed types.
    ///
    /// Use this function for types that no node has, for example if a trace has the memory of jobs but the nodes have
    /// only processors. Returns the number of jobs for each removed type, sorted by name.
    pub fn drop_missing_types(&mut self, known: &[Name]) -> BTreeMap<Name, u64> {
        let mut dropped: BTreeMap<Name, u64> = BTreeMap::new();
        for job in &mut self.jobs {
            let missing = |name: &Name| !known.contains(name);
            let asked = job.sizes().flat_map(Amounts::iter).map(|(name, _)| name);
            let gone: BTreeSet<Name> = asked.filter(|name| missing(name)).cloned().collect();
            if gone.is_empty() {
                continue;
            }
            for name in gone {
                *dropped.entry(name).or_default() += 1;
            }
            let more = job.more.iter_mut().map(|tasks| &mut tasks.resources);
            for size in job.master.iter_mut().chain([&mut job.per_processor]).chain(more) {
                let rest = size.iter().filter(|(name, _)| !missing(name));
                *size = rest.map(|(name, amount)| (name.clone(), amount)).collect();
            }
        }
        for (name, jobs) in &dropped {
            let remark = match jobs {
                1 => format!("1 job: {name} is ignored, because no node has {name}"),
                _ => format!("{jobs} jobs: {name} is ignored, because no node has {name}"),
            };
            self.remarks.push(remark);
            *self.dropped.entry(name.clone()).or_default() += jobs;
        }
        dropped
    }
}
