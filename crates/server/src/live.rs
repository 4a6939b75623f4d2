//! Counters of the running server: requests, streams, resource managers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use headroom_api::headroomv1::ResourceManager;
use headroom_core::Name;
use tokio::sync::Semaphore;

use crate::cluster::ClusterCounters;

/// Lock of a follower of events while its next events are prepared. One follower at a time prepares events, so other
/// requests wait for at most one piece, regardless of the number of followers.
pub(crate) static MAKING: Semaphore = Semaphore::const_new(1);

/// Counters of the server, which all interfaces share. Their size does not depend on the number of requests.
#[derive(Debug, Default)]
pub struct Live {
    requests_begun: AtomicU64,
    streams: [AtomicU64; 4],
    /// Number of open streams of each tenant that has any.
    of_tenants: Mutex<BTreeMap<Name, u64>>,
    requests: Mutex<BTreeMap<RequestKind, Requests>>,
    rms: OnceLock<Arc<dyn Managers>>,
    traces: OnceLock<Arc<Traces>>,
    cluster: OnceLock<Arc<ClusterCounters>>,
}

/// Numbers of spans for a collector of traces, by result.
#[derive(Debug, Default)]
pub struct Traces {
    /// Spans that the collector accepted.
    pub exported: AtomicU64,
    /// Spans that were dropped because the buffer was full.
    pub dropped: AtomicU64,
    /// Spans that the collector refused, or did not accept in time.
    pub failed: AtomicU64,
}

/// Source of the registered resource managers.
pub trait Managers: Send + Sync + fmt::Debug {
    /// Returns all resource managers, by id.
    fn managers(&self) -> Vec<ResourceManager>;
}

/// Kind of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamKind {
    /// Events of `/headroom/v1`.
    Events,
    /// Events of `/ws/v1`.
    Lines,
    /// The scheduler interface.
    Si,
    /// Events of one tenant.
    Tenants,
}

impl StreamKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Events, Self::Lines, Self::Si, Self::Tenants];

    /// Returns the name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Lines => "lines",
            Self::Si => "si",
            Self::Tenants => "tenants",
        }
    }
}

/// A stream that is counted until this value is dropped.
#[derive(Debug)]
pub struct OpenStream {
    live: Arc<Live>,
    kind: StreamKind,
    tenant: Option<Name>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.live.streams[self.kind as usize].fetch_sub(1, Ordering::Relaxed);
        if let Some(tenant) = &self.tenant {
            let mut of_tenants =
                self.live.of_tenants.lock().unwrap_or_else(PoisonError::into_inner);
            match of_tenants.get_mut(tenant) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(of_tenants.remove(tenant)),
            }
        }
    }
}

/// Key of requests that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestKind {
    /// Operation in the table of routes. Empty if no route matched.
    pub operation: &'static str,
    /// Status of the response.
    pub status: u16,
}

/// Number and duration of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// Number of requests in each bucket of [`Requests::BOUNDS`]. The last bucket has no bound.
    pub buckets: [u64; Requests::BOUNDS.len() + 1],
    /// Sum of the durations, in seconds.
    pub seconds: f64,
}

impl Requests {
    /// Upper bounds of the buckets, in seconds.
    pub const BOUNDS: [f64; 12] =
        [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Counts a request.
    pub(crate) fn count_one(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = Self::BOUNDS.iter().position(|bound| seconds <= *bound);
        self.buckets[bucket.unwrap_or(Self::BOUNDS.len())] += 1;
        self.seconds += seconds;
    }
}

impl Live {
    /// Returns the number of a new request, counted from 1.
    pub fn begin_request(&self) -> u64 {
        self.requests_begun.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a request. `took` is the time until the headers of its response.
    pub fn answered(&self, kind: RequestKind, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.entry(kind).or_default().count_one(took);
    }

    /// Returns the counts of all requests so far.
    pub fn requests(&self) -> BTreeMap<RequestKind, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a stream until the returned value is dropped. `None` if `most` streams of its kind are open.
    pub fn open_stream(self: &Arc<Self>, kind: StreamKind, most: u64) -> Option<OpenStream> {
        let open = &self.streams[kind as usize];
        let more = |count| (count < most).then_some(count + 1);
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(OpenStream { live: Arc::clone(self), kind, tenant: None })
    }

    /// Counts a stream of a tenant. `None` if `most` streams of its kind are open, or `most_of_one` of that tenant.
    pub(crate) fn open_stream_of(
        self: &Arc<Self>,
        (kind, most): (StreamKind, u64),
        (tenant, most_of_one): (&Name, u64),
    ) -> Option<OpenStream> {
        let mut of_tenants = self.of_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let count = of_tenants.get(tenant).copied().unwrap_or(0);
        if count >= most_of_one {
            return None;
        }
        let mut open = self.open_stream(kind, most)?;
        open.tenant = Some(tenant.clone());
        of_tenants.insert(tenant.clone(), count + 1);
        Some(open)
    }

    /// Returns the number of open streams of a kind.
    pub fn streams(&self, kind: StreamKind) -> u64 {
        self.streams[kind as usize].load(Ordering::Relaxed)
    }

    /// Sets the source of the counts of spans. Only the first call has an effect.
    pub fn tell_traces_by(&self, traces: Arc<Traces>) {
        // The first source stays.
        let _ = self.traces.set(traces);
    }

    /// Returns the counts of spans. `None` if tracing is off.
    pub fn traces(&self) -> Option<&Traces> {
        self.traces.get().map(Arc::as_ref)
    }

    /// Sets the counters of the Kubernetes scheduler in this process. Only the first call has an effect.
    pub fn tell_cluster_by(&self, counters: Arc<ClusterCounters>) {
        // The first source stays.
        let _ = self.cluster.set(counters);
    }

    /// Returns the counters of the Kubernetes scheduler in this process. `None` without one.
    pub fn cluster(&self) -> Option<&ClusterCounters> {
        self.cluster.get().map(Arc::as_ref)
    }

    /// Sets the source of the resource managers. Only the first call has an effect.
    pub fn tell_rms_by(&self, managers: Arc<dyn Managers>) {
        // The first source stays.
        let _ = self.rms.set(managers);
    }

    /// Returns the resource managers, by id.
    pub fn rms(&self) -> Vec<ResourceManager> {
        self.rms.get().map(|source| source.managers()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_streams_than_may_and_one_that_ends_makes_room() {
        let live = Arc::new(Live::default());
        let first = live.open_stream(StreamKind::Events, 2);
        let second = live.open_stream(StreamKind::Events, 2);
        assert!(first.is_some() && second.is_some());
        assert!(live.open_stream(StreamKind::Events, 2).is_none());
        assert!(live.open_stream(StreamKind::Lines, 2).is_some(), "kinds are counted apart");
        drop(first);
        assert_eq!(live.streams(StreamKind::Events), 1);
        assert!(live.open_stream(StreamKind::Events, 2).is_some());
    }

    #[test]
    fn no_tenant_has_more_streams_than_one_may() {
        let (live, kind) = (Arc::new(Live::default()), (StreamKind::Tenants, 3));
        let open = |tenant: &str| live.open_stream_of(kind, (&Name::new(tenant), 2));
        let (first, second) = (open("a"), open("a"));
        assert!(first.is_some() && second.is_some() && open("a").is_none());
        let other = open("b");
        assert!(other.is_some() && open("c").is_none(), "three of all may be open");
        drop(other);
        drop(first);
        assert!(open("a").is_some());
        drop(second);
        assert!(live.of_tenants.lock().unwrap().is_empty(), "nothing is stored for closed streams");
    }

    #[test]
    fn a_request_is_in_the_first_bucket_that_holds_it() {
        let live = Live::default();
        let kind = RequestKind { operation: "getHealth", status: 200 };
        for millis in [1, 2, 10_000] {
            live.answered(kind, Duration::from_millis(millis));
        }
        let counted = &live.requests()[&kind];
        assert_eq!((counted.buckets[1], counted.buckets[2], counted.buckets[12]), (1, 1, 1));
        assert!((counted.seconds - 10.003).abs() < 1e-9);
    }
}
