//! What is submitted: jobs read from a trace, or made by a generator.
//!
//! [`read`] takes Standard Workload Format, openb pod lists, `sacct` text, job lists of Hadoop's
//! Scheduler Load Simulator and our own JSON lines; [`generate`] makes workloads of statistical models; [`write_jsonl`] writes either.

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

/// The jobs to play, in order of submission, and what the source held besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// Sorted by submission; jobs of the same moment in source order. Names are unique.
    pub jobs: Vec<Job>,
    /// Jobs left out, by reason, in name order of the reasons.
    pub skipped: BTreeMap<String, u64>,
    /// How many jobs asked for each resource type that no node has, and that was left out.
    pub dropped: BTreeMap<Name, u64>,
    /// Remarks on how the source was read, for the report: defaults taken, amounts guessed.
    pub remarks: Vec<String>,
}

/// One job, in the terms of the source, before it is shaped into asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Unique within the workload.
    pub name: Name,
    /// When it is submitted, in ms of virtual time; the earliest job of a source is at 0.
    pub submit_ms: u64,
    /// How long each of its tasks runs, in ms; of `more` each has its own time.
    pub run_ms: u64,
    /// Who submits.
    pub user: Name,
    /// The user's groups, in order.
    pub groups: Vec<Name>,
    /// The queue named at submission; none leaves the choice to the placement rules.
    pub queue: Option<Name>,
    /// Higher goes first.
    pub priority: i32,
    /// Whether others may be stopped for its tasks.
    pub may_preempt: bool,
    /// Whether its tasks offer themselves to be stopped for others; if not, they go later.
    pub preemptable: bool,
    /// How many processors (tasks) it consists of; at least 1.
    pub processors: u64,
    /// What one processor (task) needs.
    pub per_processor: Amounts,
    /// Tasks of other sizes or run times, asked for after the others.
    pub more: Vec<Tasks>,
    /// What its master needs: one more task, asked for before all others, that ends when the last of
    /// them has ended.
    pub master: Option<Amounts>,
    /// The node label it wishes for, if any.
    pub node_label: Option<Name>,
    /// How long it may live, in seconds; its queue may let it live less. None: as its queue says.
    pub lifetime_s: Option<u32>,
    /// Tags of its application, such as `namespace`, which placement rules read.
    pub tags: Vec<(Name, Name)>,
    /// How long it waited as recorded, in ms; none where the source does not say, or times are stretched.
    pub recorded_wait_ms: Option<u64>,
    /// Line of the source that tells it, from 1; 0 for a job that was generated.
    pub line: u64,
}

/// Some equal tasks of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Tasks {
    /// How many; at least 1.
    pub count: u64,
    /// How long each runs, in ms.
    pub run_ms: u64,
    /// What each needs.
    pub resources: Amounts,
    /// Whether the job asks for them only when all tasks of its other groups have ended, as for reduces after maps.
    pub is_second_stage: bool,
}

impl Job {
    /// All that one task of it may need, size by size, that of its master first.
    pub fn sizes(&self) -> impl Iterator<Item = &Amounts> {
        let more = self.more.iter().map(|tasks| &tasks.resources);
        self.master.iter().chain([&self.per_processor]).chain(more)
    }

    /// How long its longest task runs, in ms.
    pub fn longest_ms(&self) -> u64 {
        self.more.iter().map(|tasks| tasks.run_ms).fold(self.run_ms, u64::max)
    }
}

impl Default for Job {
    /// A job of nothing. Its tasks may preempt and be preempted, as those that the RM of
    /// `YuniKorn` for Kubernetes submits.
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
    /// Leave only these resource types in what the jobs ask for, and remark what went.
    ///
    /// For types that no node has: a trace may tell the memory of each job while the nodes are
    /// described by their processors only. Returns how many jobs asked for each type dropped,
    /// in name order.
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
