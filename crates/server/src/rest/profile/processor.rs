//! Where processor time goes: the system's timer for profiling interrupts whatever runs, and the
//! stack is noted.
//!
//! Nothing of this exists before the first profile, and nothing runs between two. Why this
//! library: `docs/decisions/0021-cpu-profile.md`.

use std::time::{Duration, SystemTime};

use pprof::{ProfilerGuard, ProfilerGuardBuilder, Report, Symbol};

use super::form::{Place, Profile, Taken};

/// How often a second of processor time is interrupted. Not a round number, so that it does not
/// fall in step with what happens by the clock.
const SAMPLES_PER_SECOND: i32 = 99;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A profile that is being taken, until this is dropped.
pub(super) struct Sampling(ProfilerGuard<'static>);

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub(super) enum SamplingError {
    /// Somebody else takes one of this process.
    #[error("another profile is being taken; one is at a time")]
    Busy,
    /// The timer, its signal or the file for what does not fit into memory is not to be had.
    #[error("the processor cannot be watched")]
    Failed(#[source] pprof::Error),
}

impl From<pprof::Error> for SamplingError {
    fn from(error: pprof::Error) -> Self {
        match error {
            pprof::Error::Running => Self::Busy,
            other => Self::Failed(other),
        }
    }
}

impl Sampling {
    /// Begin to watch all threads. It reads the tables of the program first, so it takes a moment.
    ///
    /// # Errors
    /// When that is not possible, or done already.
    pub(super) fn begin() -> Result<Self, SamplingError> {
        Ok(Self(ProfilerGuardBuilder::default().frequency(SAMPLES_PER_SECOND).build()?))
    }

    /// What was seen so far. It looks for the names of all places, so it takes its time.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn profile(&self) -> Result<Profile, SamplingError> {
        Ok(written(&self.0.report().build()?))
    }
}

fn written(report: &Report) -> Profile {
    let period = NANOS_PER_SECOND / i64::from(SAMPLES_PER_SECOND);
    let at = report.timing.start_time.duration_since(SystemTime::UNIX_EPOCH);
    let taken =
        Taken { at: nanos(at.unwrap_or_default()), during: nanos(report.timing.duration), period };
    let mut profile = Profile::new([("samples", "count"), ("cpu", "nanoseconds")], taken);
    for (seen, count) in &report.data {
        let stack: Vec<Vec<Place>> =
            seen.frames.iter().map(|symbols| symbols.iter().map(place).collect()).collect();
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        let values = [count, count.saturating_mul(period)];
        profile.add(&stack, values, Some(&seen.thread_name_or_id()));
    }
    profile
}

fn place(symbol: &Symbol) -> Place {
    let file = symbol.filename.as_deref().map(|path| path.to_string_lossy().into_owned());
    Place { function: symbol.name(), file: file.unwrap_or_default(), line: symbol.lineno() }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
