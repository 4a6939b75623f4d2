//! How the engine is, at any time: also while a flush does not come back, and
//! after the engine has stopped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headroom_core::books::Books;
use headroom_core::view::{Check, Counters, health, is_healthy, tenant_drift, tenants};
use headroom_core::{Command, Millis, TenantDrift, Timestamp};

use crate::recent::Recent;

/// How often the books are checked by default, as in the reference.
pub const CHECK_EVERY: Millis = Millis::from_secs(30);

/// How the engine is.
#[derive(Clone, Debug)]
pub struct Health {
    /// Why it takes no commands any more; none while it does.
    pub stopped: Option<String>,
    /// Why the journal takes no more; none while it does. The engine has stopped then.
    pub journal_failure: Option<String>,
    /// When records were last made durable.
    pub last_flush: Option<Timestamp>,
    /// Since when a flush is under way. A long time ago means that the disk does not answer.
    pub flushing_since: Option<Timestamp>,
    /// What 99 of 100 flushes of the last minute took at most, and at most an eighth more; none
    /// if there were none.
    pub flush_p99: Option<Duration>,
    /// Why the last attempt to take a snapshot failed; none after a success. Nothing is lost by
    /// that but time at the next start, and room on the disk.
    pub snapshot_failure: Option<SnapshotFailure>,
    /// How many messages wait for the writer.
    pub backlog: usize,
    /// How many may.
    pub backlog_max: usize,
    /// How many steps the scheduler took in a second, in the last minute.
    pub steps_per_second: u64,
}

impl Health {
    /// Whether commands are taken, and what is answered is durable.
    pub const fn is_serving(&self) -> bool {
        self.stopped.is_none() && self.journal_failure.is_none()
    }
}

/// An attempt to take a snapshot that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFailure {
    /// When.
    pub time: Timestamp,
    /// In a sentence.
    pub reason: String,
}

/// What the checks of the books found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// When they were made.
    pub time: Timestamp,
    /// Of the books after this record.
    pub sequence: u64,
    /// Each check.
    pub checks: Vec<Check>,
}

impl Checked {
    /// Check books now.
    pub(crate) fn of(books: &Books, counters: Counters, sequence: u64, time: Timestamp) -> Self {
        Self { time, sequence, checks: health(books, counters) }
    }

    /// Whether all is well.
    pub fn is_healthy(&self) -> bool {
        is_healthy(&self.checks)
    }
}

/// What came of comparing what is counted of tenants with what their tasks have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// When it was done.
    pub time: Timestamp,
    /// Of the books after this record.
    pub sequence: u64,
    /// What disagrees: nothing, or there is a bug.
    pub drift: Vec<TenantDrift>,
}

impl Verified {
    /// Compare now.
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

    /// The command that has it written down; none where there is nothing to write.
    pub(crate) fn report(&self, books: &Books) -> Option<Command> {
        let (_, partition, _) = tenants(books).filter(|_| !self.drift.is_empty())?;
        Some(Command::ReportDrift { partition: partition.name.clone(), drift: self.drift.clone() })
    }
}

/// What the writer lets others see of how it is. Nobody holds its locks for long.
#[derive(Debug)]
pub(crate) struct Vitals {
    state: Mutex<State>,
    checked: Mutex<Option<Arc<Checked>>>,
    verified: Mutex<Option<Arc<Verified>>>,
    /// Milliseconds; 0 for never.
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

    /// How it is, as far as the writer says.
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
