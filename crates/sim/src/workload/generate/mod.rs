//! Workloads of statistical models with a seed. The same parameters give the same jobs on every machine and in every
//! release.

pub mod kueue;
pub mod lublin;
pub(crate) mod random;
pub mod uniform;

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};

use super::{Job, Workload};
use random::{Random, Zipf};

pub use kueue::kueue;
pub use lublin::lublin;
pub use uniform::uniform;

/// Maximum number of jobs of a call, and maximum numbers of users, groups, and queues.
pub const JOBS_MAX: u64 = 10_000_000;

/// Options of all models.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateOptions {
    /// Number of jobs, at least 1. [`kueue()`] has its own number.
    pub jobs: u64,
    /// Number of users, at least 1. The users are named `u1` and so on. User k submits in proportion to 1/k (Zipf).
    pub users: u64,
    /// Number of groups, named `g1` and so on. Users are assigned to groups in turn. 0 means no groups.
    pub groups: u64,
    /// Queues. Users are assigned to queues in turn, and submit to their queue. If empty, jobs specify no queue.
    pub queues: Vec<Name>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Factor by which jobs arrive faster than in the model, from 0.001 to 1000.
    pub load: f64,
    /// Amounts of one processor of a job. [`kueue()`] ignores this field.
    pub per_processor: Amounts,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        Self {
            jobs: 1_000,
            users: 20,
            groups: 0,
            queues: Vec::new(),
            seed: 1,
            load: 1.0,
            per_processor: Amounts::from([("vcore", 1_000)]),
        }
    }
}

/// A parameter that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} is {found}, expected {expected}")]
pub struct GenerateError {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// Value of the parameter.
    pub found: String,
    /// Valid values.
    pub expected: String,
}

/// Checks that a number is between these limits, inclusive.
fn between(
    parameter: &'static str,
    found: u64,
    least: u64,
    most: u64,
) -> Result<(), GenerateError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(GenerateError {
        parameter,
        found: found.to_string(),
        expected: format!("a whole number from {least} to {most}"),
    })
}

/// Users, with their groups and queues.
struct Population {
    shares: Zipf,
    users: Vec<Name>,
    groups: Vec<Name>,
    queues: Vec<Name>,
    per_processor: Amounts,
    digits: usize,
}

impl Population {
    fn new(options: &GenerateOptions) -> Result<Self, GenerateError> {
        between("jobs", options.jobs, 1, JOBS_MAX)?;
        between("users", options.users, 1, JOBS_MAX)?;
        between("groups", options.groups, 0, JOBS_MAX)?;
        if !(0.001..=1_000.0).contains(&options.load) {
            return Err(GenerateError {
                parameter: "load",
                found: options.load.to_string(),
                expected: "a number from 0.001 to 1000".to_owned(),
            });
        }
        let amounts = &options.per_processor;
        if amounts.iter().any(|(_, amount)| amount < Quantity::ZERO) {
            return Err(GenerateError {
                parameter: "per_processor",
                found: amounts.to_string(),
                expected: "no amount below zero".to_owned(),
            });
        }
        let named = |letter: char, count: u64| -> Vec<Name> {
            (1..=count).map(|number| Name::from(format!("{letter}{number}"))).collect()
        };
        Ok(Self {
            shares: Zipf::new(options.users),
            users: named('u', options.users),
            groups: named('g', options.groups),
            queues: options.queues.clone(),
            per_processor: amounts.clone(),
            digits: options.jobs.to_string().len(),
        })
    }

    /// Returns a job of a random user. `number` is counted from 1.
    fn job(&self, random: &mut Random, number: u64) -> Job {
        let user = self.shares.draw(random);
        let dealt = |names: &[Name]| match names.len() {
            0 => None,
            count => Some(names[user % count].clone()),
        };
        Job {
            name: Name::from(format!("j{number:0digits$}", digits = self.digits)),
            user: self.users[user].clone(),
            groups: dealt(&self.groups).into_iter().collect(),
            queue: dealt(&self.queues),
            processors: 1,
            per_processor: self.per_processor.clone(),
            ..Job::default()
        }
    }
}

/// Sorts jobs by submission, with the earliest at 0.
fn settled(mut jobs: Vec<Job>) -> Workload {
    jobs.sort_by_key(|job| job.submit_ms);
    let first = jobs.first().map_or(0, |job| job.submit_ms);
    for job in &mut jobs {
        job.submit_ms -= first;
    }
    Workload { jobs, ..Workload::default() }
}
