//! CPU profiles: the profiling timer of the system interrupts running threads, and the stack is recorded.
//!
//! Nothing is allocated before the first profile, and nothing runs between profiles. For the choice of the library, see
//! `docs/decisions/0021-cpu-profile.md`.

use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use headroom_api::routes::PROFILE_SECONDS_MAX;
use pprof::{ProfilerGuard, ProfilerGuardBuilder, Report, Symbol};

use super::super::refusal::{Answer, Refusal};
use super::super::request::RestRequest;
use super::super::respond::blocking;
use super::form::{Place, Profile, Taken};
use super::{attachment, gzipped};

/// Default duration of a profile, in seconds.
const SECONDS: u64 = 30;

/// Number of samples per second of CPU time. The number is not round, so that sampling does not align with periodic
/// work.
const SAMPLES_PER_SECOND: i32 = 99;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Returns a processor profile.
pub(crate) async fn get_cpu_profile(asked: RestRequest) -> Answer {
    let seconds = asked.number("seconds")?.filter(|seconds| *seconds > 0).unwrap_or(SECONDS);
    if seconds > PROFILE_SECONDS_MAX {
        let why = format!("seconds is {seconds}, but it can be at most {PROFILE_SECONDS_MAX}");
        return Err(Refusal::bad(why));
    }
    let sampling = blocking(Sampling::begin).await?.map_err(|error| refusal(&error))?;
    // If the client disconnects, the sampling is dropped and stops.
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let profile = blocking(move || sampling.profile()).await?;
    let profile = profile.map_err(|error| refusal(&error))?;
    Ok(attachment("profile", gzipped(&profile)?))
}

fn refusal(error: &SamplingError) -> Refusal {
    match error {
        SamplingError::Busy => {
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, error.to_string()).retry_after(30)
        }
        SamplingError::Failed(_) => Refusal::failed(crate::chain(error)),
    }
}

/// A running profile. Sampling stops when this is dropped.
struct Sampling(ProfilerGuard<'static>);

/// Reason why a profile could not be taken.
#[derive(Debug, thiserror::Error)]
enum SamplingError {
    /// Another profile of this process is already running.
    #[error("another profile is in progress, and the server takes one at a time. Try again later.")]
    Busy,
    /// The timer, its signal, or the overflow file is not available.
    #[error("the CPU cannot be profiled")]
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
    /// Starts sampling all threads. First reads the symbol tables of the program, which takes a moment.
    ///
    /// # Errors
    /// If sampling is not possible, or another profile is in progress.
    fn begin() -> Result<Self, SamplingError> {
        Ok(Self(ProfilerGuardBuilder::default().frequency(SAMPLES_PER_SECOND).build()?))
    }

    /// Returns the samples so far. Resolving all symbols takes some time.
    ///
    /// # Errors
    /// If the samples cannot be read.
    fn profile(&self) -> Result<Profile, SamplingError> {
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
