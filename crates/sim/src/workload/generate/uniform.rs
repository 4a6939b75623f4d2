//! Jobs without structure: all values are uniform between limits.

use super::super::{PROCESSORS_MAX, TIME_MS_MAX, Workload};
use super::random::Random;
use super::{GenerateError, GenerateOptions, Population, between, settled};

/// Limits of [`uniform()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Time span of the submissions in ms, from 0. A load of 2 halves the time span.
    pub period_ms: u64,
    /// Smallest and largest number of processors of a job.
    pub processors: (u64, u64),
    /// Shortest and longest run time in ms.
    pub run_ms: (u64, u64),
}

impl Default for Uniform {
    /// Returns a day, up to 8 processors, and a minute to an hour.
    fn default() -> Self {
        Self { period_ms: 86_400_000, processors: (1, 8), run_ms: (60_000, 3_600_000) }
    }
}

/// Returns jobs with submission, size, and run time uniform between limits.
///
/// # Errors
/// If a parameter is out of range.
pub fn uniform(options: &GenerateOptions, bounds: &Uniform) -> Result<Workload, GenerateError> {
    let population = Population::new(options)?;
    between("period_ms", bounds.period_ms, 0, TIME_MS_MAX / 1_000)?;
    between("most processors", bounds.processors.1, 1, PROCESSORS_MAX)?;
    between("least processors", bounds.processors.0, 1, bounds.processors.1)?;
    between("longest run_ms", bounds.run_ms.1, 0, TIME_MS_MAX)?;
    between("shortest run_ms", bounds.run_ms.0, 0, bounds.run_ms.1)?;
    // In range: at most 10¹² ms, times a factor of at most 1,000.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let period_ms = (bounds.period_ms as f64 / options.load).round() as u64;
    let mut random = Random::new(options.seed);
    let jobs = (1..=options.jobs)
        .map(|number| {
            let mut job = population.job(&mut random, number);
            job.submit_ms = random.whole(0, period_ms);
            job.processors = random.whole(bounds.processors.0, bounds.processors.1);
            job.run_ms = random.whole(bounds.run_ms.0, bounds.run_ms.1);
            job
        })
        .collect();
    Ok(settled(jobs))
}
