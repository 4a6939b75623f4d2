//! `headroom simulate`: play a workload on a queue file.

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

#[derive(Debug, Args)]
struct Play {
    /// Queue file, as `YuniKorn` reads it; absent: one queue without limits per queue or group of the workload
    #[arg(long, value_name = "FILE")]
    queues: Option<PathBuf>,
    /// Nodes: `N*{type: amount, …}`, a CSV or YAML file, or `FILE@1/N` for every Nth node of
    /// it; may be given several times
    #[arg(long, value_name = "NODES")]
    nodes: Vec<String>,
    #[command(flatten)]
    trace: Trace,
    /// End at this time after the first submission, for instance `36h`
    #[arg(long, value_name = "TIME", value_parser = play::parse_time)]
    until: Option<u64>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What goes wrong: `random:SEED`, or a YAML file that lists it
    #[arg(long, value_name = "FAULTS")]
    faults: Option<String>,
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
