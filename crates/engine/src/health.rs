//! Health of the engine. The health can always be read, even while a flush does not return, and after the engine has
//! stopped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headroom_core::books::Books;
use headroom_core::view::{Check, Counters, health, is_healthy, tenant_drift, tenants};
use headroom_core::{Command, Millis, TenantDrift, Timestamp};

use crate::recent::Recent;

/// Default interval of checks of the books, as in the reference.
pub const CHECK_EVERY: Millis = Millis::from_secs(30);

/// Health of the engine.
#[derive(Clone, Debug)]
pub struct Health {
    /// Reason why the engine accepts no more commands. `None` while the engine accepts commands.
    pub stopped: Option<String>,
    /// Reason why the journal accepts no more records. `None` while the journal accepts records. With a reason, the
    /// engine has stopped.
    pub journal_failure: Option<String>,
    /// Time of the last flush.
    pub last_flush: Option<Timestamp>,
    /// Start of the current flush. If the start is long ago, the disk does not respond.
    pub flushing_since: Option<Timestamp>,
    /// Duration that 99 % of the flushes in the last minute did not exceed, rounded up by at most one eighth. `None`
    /// without flushes.
    pub flush_p99: Option<Duration>,
    /// Error of the last attempt to take a snapshot. `None` after a success. No data is lost, but the next start
    /// takes longer, and the journal needs more disk space.
    pub snapshot_failure: Option<SnapshotFailure>,
    /// Number of messages that wait for the writer.
    pub backlog: usize,
    /// Maximum number of messages that can wait.
    pub backlog_max: usize,
    /// Steps of the scheduler per second, within the last minute.
    pub steps_per_second: u64,
}

impl Health {
    /// Returns whether the engine accepts commands and can make them durable.
    pub const fn is_serving(&self) -> bool {
        self.stopped.is_none() && self.journal_failure.is_none()
    }
}

/// A failed attempt to take a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFailure {
    /// Time of the attempt.
    pub time: Timestamp,
    /// Reason as a sentence.
    pub reason: String,
}

/// Result of the checks of the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Time of the checks.
    pub time: Timestamp,
    /// Last record of the checked books.
    pub sequence: u64,
    /// Result of each check.
    pub checks: Vec<Check>,
}

impl Checked {
    /// Checks the books now.
    pub(crate) fn of(books: &Books, counters: Counters, sequence: u64, time: Timestamp) -> Self {
        Self { time, sequence, checks: health(books, counters) }
    }

    /// Returns whether all checks succeeded.
    pub fn is_healthy(&self) -> bool {
        is_healthy(&self.checks)
    }
}

/// Result of the comparison of the counted usage of tenants with their tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Time of the comparison.
    pub time: Timestamp,
    /// Last record of the compared books.
    pub sequence: u64,
    /// Differences. Empty unless there is a bug.
    pub drift: Vec<TenantDrift>,
}

impl Verified {
    /// Compares the usage now.
    pub(crate) fn of(books: &Books, sequence: u64, time: Timestamp) -> Self {
        let drift = tenant_drift(books);
        for one in &drift {
            tracing::error!(
                tenant = %one.tenant,
                resource = %one.resource,
                counted = one.counted.get(),
                found = one.found.get(),
                "the counted usage of a tenant differs from the sum of its tasks"
            );
        }
        Self { time, sequence, drift }
    }

    /// Returns the command that records the differences. `None` without differences.
    pub(crate) fn report(&self, books: &Books) -> Option<Command> {
        let (_, partition, _) = tenants(books).filter(|_| !self.drift.is_empty())?;
        Some(Command::ReportDrift { partition: partition.name.clone(), drift: self.drift.clone() })
    }
}

/// Health data that the writer publishes. Its locks are held only briefly.
#[derive(Debug)]
pub(crate) struct Vitals {
    state: Mutex<State>,
    checked: Mutex<Option<Arc<Checked>>>,
    verified: Mutex<Option<Arc<Verified>>>,
    /// Interval in milliseconds. 0 means never.
    check_every: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    journal_failure: Option<String>,
    last_flush: Option<Timestamp>,
    flushing_since: Option<Timestamp>,
    snapshot_failure: Option<SnapshotFailure>,
    recent: Recent,
}

impl Default for Vitals {
    fn default() -> Self {
        let check_every = AtomicU64::new(CHECK_EVERY.get());
        let (state, checked, verified) = Default::default();
        Self { state, checked, verified, check_every }
    }
}

impl Vitals {
    pub(crate) fn flush_begins(&self, now: Timestamp) {
        self.state().flushing_since = Some(now);
    }

    pub(crate) fn flushed(&self, now: Timestamp, took: Duration, steps: u64) {
        let mut state = self.state();
        (state.flushing_since, state.last_flush) = (None, Some(now));
        state.recent.note(now, took, steps);
    }

    pub(crate) fn journal_failed(&self, reason: String) {
        let mut state = self.state();
        (state.flushing_since, state.journal_failure) = (None, Some(reason));
    }

    pub(crate) fn set_snapshot_failure(&self, failure: Option<SnapshotFailure>) {
        self.state().snapshot_failure = failure;
    }

    pub(crate) fn set_checked(&self, checked: Checked) {
        let mut place = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::new(checked));
    }

    pub(crate) fn checked(&self) -> Option<Arc<Checked>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_verified(&self, verified: Verified) {
        let mut place = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::new(verified));
    }

    pub(crate) fn verified(&self) -> Option<Arc<Verified>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_check_every(&self, every: Option<Millis>) {
        self.check_every.store(every.map_or(0, Millis::get), Ordering::Relaxed);
    }

    pub(crate) fn check_every(&self) -> Option<Millis> {
        Some(self.check_every.load(Ordering::Relaxed)).filter(|every| *every > 0).map(Millis::new)
    }

    /// Returns the part of the health that the writer publishes.
    pub(crate) fn health(&self, now: Timestamp, backlog: (usize, usize)) -> Health {
        let state = self.state();
        Health {
            stopped: None,
            journal_failure: state.journal_failure.clone(),
            last_flush: state.last_flush,
            flushing_since: state.flushing_since,
            flush_p99: state.recent.flush_p99(now),
            snapshot_failure: state.snapshot_failure.clone(),
            backlog: backlog.0,
            backlog_max: backlog.1,
            steps_per_second: state.recent.steps_per_second(now),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
