//! `headroom simulate`: play a workload on a queue file.

mod compare;
mod example;
mod generate;
mod play;
mod progress;
mod scenes;

use std::num::NonZeroU64;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use headroom_sim::workload::{Format, Stretch, Template};
use headroom_sim::world::Shape;

const EXAMPLE: &str = "\
Examples:
  headroom simulate
      The example that it brings along
  headroom simulate --queues queues.yaml --nodes '100*{vcore: 32, memory: 128Gi}' --workload jobs.swf
      A trace on a queue file and a cluster
  headroom simulate generate lublin --jobs 1000 --seed 7 > jobs.jsonl
      A workload that is made up
  headroom simulate scenes --report scenes.html
      Where users of YARN's CapacityScheduler get stuck, and what helps";

/// Play a workload on a queue file, and say who would have waited how long, and why.
///
/// Without --workload it plays the example that it brings along: two weeks of a campus
/// cluster with 24 users.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLE)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    job: Option<Job>,
    #[command(flatten)]
    play: Play,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Compare two reports that --json wrote
    Compare(compare::Compare),
    /// Make a workload from a statistical model, as JSON lines
    Generate(generate::Generate),
    /// Play the scenes in which users of YARN's `CapacityScheduler` get stuck, by three formulas
    Scenes(scenes::Scenes),
}

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

#[derive(Debug, Args)]
struct Play {
    /// Queue file, as `YuniKorn` reads it; absent: one queue without limits per queue or group of the workload
    #[arg(long, value_name = "FILE")]
    queues: Option<PathBuf>,
    /// Nodes: `N*{type: amount, …}`, a CSV or YAML file, or `FILE@1/N` for every Nth node of
    /// it; may be given several times
    #[arg(long, value_name = "NODES")]
    nodes: Vec<String>,
    /// Workload file
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
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
    queue_of: Option<Template>,
    /// Priorities from the workload's fields, as whole numbers, for instance `{row%3}`
    #[arg(long, value_name = "TEMPLATE")]
    priority_of: Option<Template>,
    /// How jobs become asks; absent: single where a job fits on a node, tasks where not
    #[arg(long)]
    shape: Option<ShapeOption>,
    /// openb: amounts of `gpu-milli` instead of whole `nvidia.com/gpu`
    #[arg(long)]
    gpu_milli: bool,
    /// End at this time after the first submission, for instance `36h`
    #[arg(long, value_name = "TIME", value_parser = play::parse_time)]
    until: Option<u64>,
    /// Multiply run times and times between submissions: `run=X,arrivals=Y`
    #[arg(long, value_name = "FACTORS")]
    stretch: Option<Stretch>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What goes wrong: `random:SEED`, or a YAML file that lists it
    #[arg(long, value_name = "FAULTS")]
    faults: Option<String>,
    /// Leave out lines that cannot be read, and reject jobs that no queue takes; both counted
    #[arg(long)]
    skip_bad_lines: bool,
    /// Recompute the books from scratch after every event, not only now and then, and count every
    /// task at every moment; `--check=N`: the books after every Nth event
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    check: Option<NonZeroU64>,
    /// Write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write jobs, allocations, nodes and decisions as CSV files into this folder
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
}

impl Simulate {
    /// Do it.
    pub(crate) fn run(self) -> Result<()> {
        match self.job {
            Some(Job::Compare(compare)) => compare.run(),
            Some(Job::Generate(generate)) => generate.run(),
            Some(Job::Scenes(scenes)) => scenes.run(),
            None => self.play.run(),
        }
    }
}

impl From<ShapeOption> for Shape {
    fn from(option: ShapeOption) -> Self {
        match option {
            ShapeOption::Single => Self::Single,
            ShapeOption::Tasks => Self::Tasks,
            ShapeOption::Gang => Self::Gang,
        }
    }
}
