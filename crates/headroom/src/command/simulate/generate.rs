//! `headroom simulate generate`: a workload from a statistical model.

use std::io::{self, BufWriter};

use anyhow::{Context, Result};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, value_parser};
use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};
use headroom_sim::workload::generate::GenerateOptions;
use headroom_sim::workload::generate::kueue::{Kueue, kueue};
use headroom_sim::workload::generate::lublin::{Lublin, lublin};
use headroom_sim::workload::generate::uniform::{Uniform, uniform};
use headroom_sim::workload::write_jsonl;

/// The longest time: 1,000,000,000 seconds, or 31 years.
const SECONDS_MAX: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Model {
    /// Sizes, run times and a daily cycle of a parallel machine (Lublin and Feitelson 2003)
    Lublin,
    /// Uniform distributions
    Uniform,
    /// The workload of the performance test of Kueue
    Kueue,
}

/// Generate a workload from a statistical model, as JSON lines on standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: headroom simulate generate lublin --jobs 1000 --seed 7 > jobs.jsonl"
)]
pub(crate) struct Generate {
    /// Statistical model
    model: Model,
    /// Number of jobs
    #[arg(long, default_value_t = 1_000)]
    jobs: u64,
    /// Number of users. The first users submit the most jobs
    #[arg(long, default_value_t = 20)]
    users: u64,
    /// Number of groups, among which the users are distributed
    #[arg(long, default_value_t = 0)]
    groups: u64,
    /// Queues, separated by commas, among which the users are distributed
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    queues: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Multiply the arrival rate by this factor
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    load: f64,
    /// Number of processors of the machine. A job uses at most this number (lublin and uniform)
    #[arg(long, default_value_t = 128)]
    processors: u64,
    /// uniform: the longest run time, in seconds
    #[arg(long, default_value_t = 3_600, value_parser = value_parser!(u64).range(1..=SECONDS_MAX))]
    run_seconds: u64,
    /// uniform: time within which all jobs arrive, in seconds
    #[arg(long, default_value_t = 86_400, value_parser = value_parser!(u64).range(..=SECONDS_MAX))]
    period_seconds: u64,
    /// kueue: number of cohorts
    #[arg(long, default_value_t = 5)]
    cohorts: u64,
    /// kueue: number of queues in each cohort
    #[arg(long, default_value_t = 6, value_parser = value_parser!(u64).range(1..=10))]
    cohort_queues: u64,
    /// Amounts that one processor of a job needs, as `type=amount`, separated by commas
    #[arg(long, default_value = "vcore=1", value_parser = parse_amounts)]
    per_processor: Amounts,
}

impl Generate {
    pub(crate) fn run(self) -> Result<()> {
        let options = GenerateOptions {
            jobs: self.jobs,
            users: self.users,
            groups: self.groups,
            queues: self.queues.iter().map(Name::new).collect(),
            seed: self.seed,
            load: self.load,
            per_processor: self.per_processor,
        };
        let workload = match self.model {
            Model::Lublin => lublin(&options, Lublin { processors: self.processors })?,
            Model::Uniform => uniform(
                &options,
                &Uniform {
                    period_ms: self.period_seconds.saturating_mul(1_000),
                    processors: (1, self.processors),
                    run_ms: (1_000, self.run_seconds.saturating_mul(1_000)),
                },
            )?,
            Model::Kueue => {
                kueue(&options, Kueue { cohorts: self.cohorts, queues: self.cohort_queues })?
            }
        };
        let mut out = BufWriter::new(io::stdout().lock());
        match write_jsonl(&workload, &mut out).and_then(|()| io::Write::flush(&mut out)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write to standard output"),
        }
    }
}

fn parse_amounts(text: &str) -> Result<Amounts, String> {
    let mut amounts = Amounts::EMPTY;
    for entry in text.split(',') {
        let (name, amount) = entry
            .split_once('=')
            .ok_or_else(|| format!("{entry:?} is not of the form type=amount"))?;
        let amount =
            Quantity::parse(name, amount).map_err(|error| format!("{entry:?}: {error}"))?;
        if amounts.set(name, amount).is_some() {
            return Err(format!("the type {name} occurs twice. Specify the type once"));
        }
    }
    Ok(amounts)
}
