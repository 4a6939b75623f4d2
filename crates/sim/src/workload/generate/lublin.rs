//! The model of rigid jobs by Lublin and Feitelson.
//!
//! Sizes: a job uses one processor with a fixed probability. Otherwise, it uses 2ˣ processors with x from a two-stage
//! uniform distribution, often rounded to a power of two. Run times: the exponential of a hyper-gamma variable, whose
//! first, shorter part becomes rarer as jobs grow. Arrivals: the time to the next arrival is the exponential of a gamma
//! variable. This time passes faster in busy hours and slower at night, by a gamma-shaped cycle of 48 half hours that
//! starts at 5:30. Virtual time 0 is the first submission.
//!
//! Source: U. Lublin and D. G. Feitelson, "The Workload on Parallel Supercomputers: Modeling the Characteristics of
//! Rigid Jobs", Journal of Parallel and Distributed Computing 63(11), 2003, with its parameters for batch and
//! interactive jobs together. This is a new implementation. Its output was not compared with the output of the authors'
//! program.

use super::super::Workload;
use super::random::{Random, exp, ln};
use super::{GenerateError, GenerateOptions, Population, between, settled};

/// Probability of a job on one processor.
const SERIAL: f64 = 0.244;
/// Probability that a parallel job's size is rounded to a power of two.
const POWER_OF_TWO: f64 = 0.576;
/// Lower end of the first stage of log₂ size.
const LOG_SIZE_LOW: f64 = 0.8;
/// Distance of the start of the second stage from the upper end of log₂ size.
const LOG_SIZE_SECOND_STAGE: f64 = 2.5;
/// Probability of the first stage.
const FIRST_STAGE: f64 = 0.86;

/// Shape and scale of ln(run time in s), short part.
const RUN_SHORT: (f64, f64) = (4.2, 0.94);
/// Shape and scale of ln(run time in s), long part.
const RUN_LONG: (f64, f64) = (312.0, 0.03);
/// Slope of the probability of the short part: `slope` × processors + `intercept`.
const RUN_SHORT_SLOPE: f64 = -0.0054;
/// Intercept of that probability. See [`RUN_SHORT_SLOPE`].
const RUN_SHORT_INTERCEPT: f64 = 0.78;
/// Longer logarithms are drawn again: 45 hours.
const RUN_LOG_MAX: f64 = 12.0;

/// Shape and scale of ln(time to the next arrival in s) in the rush hours.
const GAP: (f64, f64) = (10.2303, 0.4871);
/// Factor of the shape from rush hours to the whole day.
const GAP_ALL_DAY: f64 = 1.0225;
/// Longer logarithms are drawn again: 5 days.
const GAP_LOG_MAX: f64 = 13.0;
/// Shape and scale of the daily cycle, in half hours.
const CYCLE: (f64, f64) = (8.1737, 3.9631);
/// The half hour in which the cycle starts: 5:30.
const CYCLE_START: usize = 11;
/// Half hours of a day.
const SLOTS: usize = 48;
/// Seconds of a half hour.
const SLOT_S: f64 = 1_800.0;
/// Number of draws after which the limit itself is used. Each draw succeeds with a probability above 0.9.
const DRAWS_MAX: u32 = 100;

/// Parameters of [`lublin()`] that depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lublin {
    /// Processors of the machine, at least 1. No job is larger.
    pub processors: u64,
}

impl Default for Lublin {
    /// Returns a machine of 128 processors, for which the paper's second stage begins at 4.5.
    fn default() -> Self {
        Self { processors: 128 }
    }
}

/// Returns jobs as on a parallel supercomputer. See the documentation of the module.
///
/// # Errors
/// If a parameter is out of range.
pub fn lublin(options: &GenerateOptions, machine: Lublin) -> Result<Workload, GenerateError> {
    let population = Population::new(options)?;
    between("processors", machine.processors, 1, super::super::PROCESSORS_MAX)?;
    let mut random = Random::new(options.seed);
    let mut clock = Clock::new(options.load);
    let jobs = (1..=options.jobs)
        .map(|number| {
            let mut job = population.job(&mut random, number);
            job.processors = size(&mut random, machine.processors);
            job.run_ms = run_ms(&mut random, job.processors);
            job.submit_ms = clock.next_ms(&mut random);
            job
        })
        .collect();
    Ok(settled(jobs))
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Sizes are small whole numbers.
fn size(random: &mut Random, processors: u64) -> u64 {
    let high = ln(processors as f64) / std::f64::consts::LN_2;
    let low = LOG_SIZE_LOW.min(high);
    let middle = (high - LOG_SIZE_SECOND_STAGE).max(low);
    if random.unit() < SERIAL {
        return 1;
    }
    let log = if random.unit() < FIRST_STAGE {
        random.between(low, middle)
    } else {
        random.between(middle, high)
    };
    let rounded = random.unit() < POWER_OF_TWO;
    let log = if rounded { log.round() } else { log };
    let size = exp(log * std::f64::consts::LN_2).round() as u64;
    size.clamp(1, processors)
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Whole seconds, below 45 hours.
fn run_ms(random: &mut Random, processors: u64) -> u64 {
    let short = RUN_SHORT_SLOPE * processors as f64 + RUN_SHORT_INTERCEPT;
    let is_short = random.unit() < short.clamp(0.05, 0.95);
    let part = if is_short { RUN_SHORT } else { RUN_LONG };
    let seconds = exp(bounded_gamma(random, part, RUN_LOG_MAX)).round();
    seconds.max(1.0) as u64 * 1_000
}

fn bounded_gamma(random: &mut Random, (shape, scale): (f64, f64), most: f64) -> f64 {
    (0..DRAWS_MAX).map(|_| random.gamma(shape, scale)).find(|drawn| *drawn <= most).unwrap_or(most)
}

/// Time of arrivals.
struct Clock {
    /// Speed at which the time to the next arrival passes in each half hour of the day. 1 on average.
    pace: [f64; SLOTS],
    /// Time since midnight of the first day in s.
    now_s: f64,
    load: f64,
}

impl Clock {
    #[allow(clippy::cast_precision_loss)] // Half hours of a day.
    fn new(load: f64) -> Self {
        let (shape, scale) = CYCLE;
        let density = |slot: f64| exp((shape - 1.0) * ln(slot) - slot / scale);
        let mut pace = [0.0; SLOTS];
        for (slot, pace) in pace.iter_mut().enumerate() {
            // Half hours before the start belong to the end of the previous day.
            let place = if slot < CYCLE_START { slot + SLOTS } else { slot };
            let middle = place as f64;
            *pace = (density(middle - 0.5) + 4.0 * density(middle) + density(middle + 0.5)) / 6.0;
        }
        let mean = pace.iter().sum::<f64>() / SLOTS as f64;
        Self { pace: pace.map(|pace| pace / mean), now_s: CYCLE_START as f64 * SLOT_S, load }
    }

    /// Returns the time of the next arrival, in whole seconds as ms.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Below 10⁷ × 5 days.
    fn next_ms(&mut self, random: &mut Random) -> u64 {
        let gap = (GAP.0 * GAP_ALL_DAY, GAP.1);
        let mut left = exp(bounded_gamma(random, gap, GAP_LOG_MAX)) / self.load;
        loop {
            let slot = (self.now_s / SLOT_S).floor();
            let pace = self.pace[slot as u64 as usize % SLOTS];
            let slot_left = (slot + 1.0) * SLOT_S - self.now_s;
            if left <= slot_left * pace {
                self.now_s += left / pace;
                return self.now_s.round() as u64 * 1_000;
            }
            left -= slot_left * pace;
            self.now_s = (slot + 1.0) * SLOT_S;
        }
    }
}
