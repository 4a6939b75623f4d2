//! The load of Kueue's scalability tests, from its parameters.
//!
//! Every cohort has equal queues, and every queue gets three streams of workloads at fixed intervals. Only the users
//! are random. [`Kueue::default`] is the baseline: 5 cohorts of 6 queues, 15,000 workloads. Queues are named
//! `root.cohort0.queue0` and so on. In Kueue's test, each queue has 20 processors of its own, and can borrow 100 more
//! from its cohort.
//!
//! Source: the generator configuration `baseline` of Kueue's scheduler performance test, restated.

use headroom_core::Name;
use headroom_core::resource::Amounts;

use super::super::{Job, Workload};
use super::random::Random;
use super::{GenerateError, GenerateOptions, Population, between, settled};

/// Numbers of cohorts and queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kueue {
    /// Number of cohorts, at least 1.
    pub cohorts: u64,
    /// Number of queues in each cohort, at least 1.
    pub queues: u64,
}

impl Default for Kueue {
    fn default() -> Self {
        Self { cohorts: 5, queues: 6 }
    }
}

/// One stream of workloads for every queue.
struct Stream {
    class: &'static str,
    count: u64,
    interval_ms: u64,
    run_ms: u64,
    priority: i32,
    vcore_milli: i64,
}

const STREAMS: [Stream; 3] = [
    Stream {
        class: "small",
        count: 350,
        interval_ms: 100,
        run_ms: 200,
        priority: 50,
        vcore_milli: 1_000,
    },
    Stream {
        class: "medium",
        count: 100,
        interval_ms: 500,
        run_ms: 500,
        priority: 100,
        vcore_milli: 5_000,
    },
    Stream {
        class: "large",
        count: 50,
        interval_ms: 1_200,
        run_ms: 1_000,
        priority: 200,
        vcore_milli: 20_000,
    },
];

/// Returns workloads of one task each, 500 for every queue. Uses only users, groups, seed, and load of the options. The
/// test defines jobs, queues, and amounts.
///
/// # Errors
/// If a parameter is out of range.
pub fn kueue(options: &GenerateOptions, sets: Kueue) -> Result<Workload, GenerateError> {
    let population = Population::new(options)?;
    between("cohorts", sets.cohorts, 1, 1_000)?;
    between("queues", sets.queues, 1, 10)?;
    let mut random = Random::new(options.seed);
    let mut jobs = Vec::new();
    for cohort in 0..sets.cohorts {
        for queue in 0..sets.queues {
            let path = Name::from(format!("root.cohort{cohort}.queue{queue}"));
            for stream in &STREAMS {
                let amounts = Amounts::from([("vcore", stream.vcore_milli)]);
                for number in 0..stream.count {
                    let class = stream.class;
                    // Less than a minute, times a factor of at most 1,000.
                    #[allow(
                        clippy::cast_precision_loss,
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss
                    )]
                    let submit_ms =
                        ((number * stream.interval_ms) as f64 / options.load).round() as u64;
                    jobs.push(Job {
                        name: Name::from(format!("c{cohort}-q{queue}-{class}-{number}")),
                        submit_ms,
                        run_ms: stream.run_ms,
                        queue: Some(path.clone()),
                        priority: stream.priority,
                        per_processor: amounts.clone(),
                        ..population.job(&mut random, 1)
                    });
                }
            }
        }
    }
    Ok(settled(jobs))
}
