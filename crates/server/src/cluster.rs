//! Counters of the Kubernetes scheduler in this process, for the metrics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::live::Requests;

/// Counters of the Kubernetes scheduler. Their size does not depend on the number of requests.
#[derive(Debug, Default)]
pub struct ClusterCounters {
    requests: Mutex<BTreeMap<ClusterRequest, u64>>,
    binds: Mutex<Requests>,
    bind_failures: AtomicU64,
    events: [AtomicU64; EventOutcome::ALL.len()],
    watch_faults: Mutex<BTreeMap<String, u64>>,
}

/// Key of requests to the API server that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterRequest {
    /// HTTP method.
    pub method: &'static str,
    /// Status of the answer. `None` without an answer.
    pub code: Option<u16>,
}

/// What became of an event for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// The API server stored the event.
    Written,
    /// The API server did not confirm that it stored the event.
    Failed,
    /// The queue of events was full.
    Dropped,
}

impl EventOutcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Written, Self::Failed, Self::Dropped];

    /// Returns the name of the outcome.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}

impl ClusterCounters {
    /// Counts a request to the API server.
    pub fn requested(&self, request: ClusterRequest) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry(request).or_default() += 1;
    }

    /// Returns the number of requests to the API server.
    pub fn requests(&self) -> BTreeMap<ClusterRequest, u64> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a pod that was bound. `took` is the time until the answer, with the wait for the limit of requests.
    pub fn bound(&self, took: Duration) {
        self.binds.lock().unwrap_or_else(PoisonError::into_inner).count_one(took);
    }

    /// Returns the number of bound pods, and how long binding them took.
    pub fn binds(&self) -> Requests {
        self.binds.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a try to bind a pod that failed.
    pub fn bind_failed(&self) {
        self.bind_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of tries to bind a pod that failed.
    pub fn bind_failures(&self) -> u64 {
        self.bind_failures.load(Ordering::Relaxed)
    }

    /// Counts an event. Returns the number of events with this outcome.
    pub fn event(&self, outcome: EventOutcome) -> u64 {
        self.events[outcome as usize].fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the number of events with this outcome.
    pub fn events(&self, outcome: EventOutcome) -> u64 {
        self.events[outcome as usize].load(Ordering::Relaxed)
    }

    /// Counts a watch that a fault ended. `kind` is the watched kind.
    pub fn watch_failed(&self, kind: &str) {
        let mut faults = self.watch_faults.lock().unwrap_or_else(PoisonError::into_inner);
        match faults.get_mut(kind) {
            Some(count) => *count += 1,
            None => {
                faults.insert(kind.to_owned(), 1);
            }
        }
    }

    /// Returns the number of watches that a fault ended, by kind.
    pub fn watch_faults(&self) -> BTreeMap<String, u64> {
        self.watch_faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
