//! Options that select and transform a workload.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use headroom_core::Name;
use headroom_sim::nodes::{NodeOptions, NodeSpec};
use headroom_sim::workload::{
    Format, ReadOptions, TagTemplate, Template, TimeScale, Workload, read,
};
use headroom_sim::world::Shape;

/// How jobs become asks.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShapeOption {
    /// One ask for all processors, on one node
    Single,
    /// One ask for each processor. The asks start and end independently
    Tasks,
    /// One ask for each processor. The asks start together, as a task group with placeholders
    Gang,
}

/// The workload, and how to read it.
#[derive(Debug, Default, Args)]
pub(crate) struct Trace {
    /// Workload file
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<PathBuf>,
    /// Format of the workload: swf, openb, sacct, jsonl, or yarn-sls. The default depends on the name and first line
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Template of user names from workload fields, such as `u{user}` or `u{row%40}`
    #[arg(long, value_name = "TEMPLATE")]
    users: Option<Template>,
    /// Template of group names from workload fields, such as `g{group}`
    #[arg(long, value_name = "TEMPLATE")]
    groups: Option<Template>,
    /// Template of queue paths from workload fields, such as `root.{partition}`
    #[arg(long, value_name = "TEMPLATE")]
    pub(super) queue_of: Option<Template>,
    /// Template of priorities from workload fields, as whole numbers, such as `{row%3}`
    #[arg(long, value_name = "TEMPLATE")]
    priority_of: Option<Template>,
    /// Tag to add to each application: a key, and a template of its value from workload fields, such as
    /// `namespace={group}`. Can be given several times
    #[arg(long, value_name = "KEY=TEMPLATE")]
    tag: Vec<TagTemplate>,
    /// How jobs become asks. The default is single if a job fits on a node, otherwise tasks
    #[arg(long)]
    shape: Option<ShapeOption>,
    /// openb: use `gpu-milli` instead of whole `nvidia.com/gpu`
    #[arg(long)]
    gpu_milli: bool,
    /// Factors for run times and times between submissions: `run=X,arrivals=Y`
    #[arg(long, value_name = "FACTORS")]
    stretch: Option<TimeScale>,
    /// Skip lines that cannot be parsed, and reject jobs that no queue accepts. The report counts both
    #[arg(long)]
    pub(crate) skip_bad_lines: bool,
}

impl Trace {
    /// Reads the workload. Returns `None` if no file is given.
    ///
    /// # Errors
    /// When the file cannot be read.
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
            // The run ends at the requested time, before later jobs arrive.
            until_ms: None,
        }
    }

    /// Returns how to read node lists of the same source.
    pub(crate) const fn node_options(&self) -> NodeOptions {
        NodeOptions { gpu_milli: self.gpu_milli }
    }

    /// Returns how jobs become asks.
    pub(crate) fn shape(&self) -> Shape {
        match self.shape {
            None => Shape::Fitting,
            Some(ShapeOption::Single) => Shape::Single,
            Some(ShapeOption::Tasks) => Shape::Tasks,
            Some(ShapeOption::Gang) => Shape::Gang,
        }
    }
}

/// Removes the resource types that no node has. A trace can have the memory of jobs although the node list has no
/// memory.
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
