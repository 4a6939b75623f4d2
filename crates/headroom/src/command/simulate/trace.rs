//! A workload, as it is named on a command line.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use headroom_core::Name;
use headroom_sim::nodes::{NodeOptions, NodeSpec};
use headroom_sim::workload::{Format, ReadOptions, Stretch, TagTemplate, Template, Workload, read};
use headroom_sim::world::Shape;

/// How jobs become asks.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShapeOption {
    /// One ask of all processors on one node
    Single,
    /// One ask per processor; they start and end each for itself
    Tasks,
    /// One ask per processor; they start together, as a task group with placeholders
    Gang,
}

/// Which workload, and how it is read.
#[derive(Debug, Default, Args)]
pub(crate) struct Trace {
    /// Workload file
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<PathBuf>,
    /// Format of the workload: swf, openb, sacct, jsonl or yarn-sls; absent: told by name and first line
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Users from the workload's fields, for instance `u{user}` or `u{row%40}`
    #[arg(long, value_name = "TEMPLATE")]
    users: Option<Template>,
    /// Groups from the workload's fields, for instance `g{group}`
    #[arg(long, value_name = "TEMPLATE")]
    groups: Option<Template>,
    /// Queues from the workload's fields, for instance `root.{partition}`
    #[arg(long, value_name = "TEMPLATE")]
    pub(super) queue_of: Option<Template>,
    /// Priorities from the workload's fields, as whole numbers, for instance `{row%3}`
    #[arg(long, value_name = "TEMPLATE")]
    priority_of: Option<Template>,
    /// A tag of every application from the workload's fields, for instance `namespace={group}`; may be given several
    /// times
    #[arg(long, value_name = "KEY=TEMPLATE")]
    tag: Vec<TagTemplate>,
    /// How jobs become asks; absent: single where a job fits on a node, tasks where not
    #[arg(long)]
    shape: Option<ShapeOption>,
    /// openb: amounts of `gpu-milli` instead of whole `nvidia.com/gpu`
    #[arg(long)]
    gpu_milli: bool,
    /// Multiply run times and times between submissions: `run=X,arrivals=Y`
    #[arg(long, value_name = "FACTORS")]
    stretch: Option<Stretch>,
    /// Leave out lines that cannot be read, and reject jobs that no queue takes; both counted
    #[arg(long)]
    pub(crate) skip_bad_lines: bool,
}

impl Trace {
    /// Read the workload; none if no file is named.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(&self) -> Result<Option<Workload>> {
        let path = self.workload.as_ref();
        Ok(path.map(|path| read(path, self.format, &self.options())).transpose()?)
    }

    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions {
            users: self.users.clone(),
            groups: self.groups.clone(),
            queue_of: self.queue_of.clone(),
            priority_of: self.priority_of.clone(),
            tags: self.tag.clone(),
            stretch: self.stretch.unwrap_or_default(),
            skip_bad_lines: self.skip_bad_lines,
            gpu_milli: self.gpu_milli,
            // Later jobs are left to the run, which ends before them at the time asked for.
            until_ms: None,
        }
    }

    /// How node lists are read beside it.
    pub(crate) const fn node_options(&self) -> NodeOptions {
        NodeOptions { gpu_milli: self.gpu_milli }
    }

    /// How jobs become asks.
    pub(crate) fn shape(&self) -> Shape {
        match self.shape {
            None => Shape::Fitting,
            Some(ShapeOption::Single) => Shape::Single,
            Some(ShapeOption::Tasks) => Shape::Tasks,
            Some(ShapeOption::Gang) => Shape::Gang,
        }
    }
}

/// Traces tell the memory of some jobs; it counts only where the nodes tell theirs.
pub(crate) fn drop_types(workload: &mut Workload, nodes: &[NodeSpec]) {
    let types: Vec<Name> =
        nodes.iter().flat_map(|node| node.resources.iter().map(|(name, _)| name.clone())).collect();
    let memory = Name::new("memory");
    if !types.contains(&memory) {
        let mut known = types;
        let asked = workload.jobs.iter().flat_map(|job| job.per_processor.iter());
        known.extend(asked.map(|(name, _)| name.clone()).filter(|name| *name != memory));
        workload.drop_missing_types(&known);
    }
}
