//! `headroom simulate`: runs a workload against a queue file.

mod compare;
mod example;
mod generate;
mod play;
mod progress;
mod scenes;
mod trace;

use std::num::NonZeroU64;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(crate) use trace::{Trace, drop_types};

const EXAMPLE: &str = "\
Examples:
  headroom simulate
      The built-in example
  headroom simulate --queues queues.yaml --nodes '100*{vcore: 32, memory: 128Gi}' --workload jobs.swf
      A trace on your queue file and cluster
  headroom simulate generate lublin --jobs 1000 --seed 7 > jobs.jsonl
      A generated workload
  headroom simulate scenes --report scenes.html
      Situations where users of YARN's CapacityScheduler get stuck, and the remedies";

/// Run a workload against a queue file, and show how long each user waits, and why.
///
/// Without --workload, the command runs a built-in example: two weeks of a campus cluster with
/// 24 users.
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
    /// Generate a workload from a statistical model, as JSON lines
    Generate(generate::Generate),
    /// Run scenes in which users of YARN's `CapacityScheduler` get stuck, with three formulas
    Scenes(scenes::Scenes),
}

#[derive(Debug, Args)]
struct Play {
    /// Queue file in the format of `YuniKorn`. The default is one queue without limits for each queue or group of the workload
    #[arg(long, value_name = "FILE")]
    queues: Option<PathBuf>,
    /// Nodes: `N*{type: amount, …}`, a CSV or YAML file, or `FILE@1/N` for every Nth node of the
    /// file. Can be given several times
    #[arg(long, value_name = "NODES")]
    nodes: Vec<String>,
    #[command(flatten)]
    trace: Trace,
    /// End the run at this time after the first submission, such as `36h`
    #[arg(long, value_name = "TIME", value_parser = play::parse_time)]
    until: Option<u64>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Faults to inject: `random:SEED`, or a YAML file that lists them
    #[arg(long, value_name = "FAULTS")]
    faults: Option<String>,
    /// Recompute the scheduler state after every event instead of occasionally, and count every task
    /// at every moment. With `--check=N`, recompute after every Nth event
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
    /// Runs the command.
    pub(crate) fn run(self) -> Result<()> {
        match self.job {
            Some(Job::Compare(compare)) => compare.run(),
            Some(Job::Generate(generate)) => generate.run(),
            Some(Job::Scenes(scenes)) => scenes.run(),
            None => self.play.run(),
        }
    }
}
