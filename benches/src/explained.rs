//! Why one of very many asks waits, and what would start it.

use std::time::{Duration, Instant};

use headroom_core::explain::remedy::{RemedyKind, TRIALS, remedies};
use headroom_core::explain::{Verdict, explain};
use headroom_core::id::AllocationId;

use crate::cluster::Cluster;

/// Asks of a cluster that wait, dealt over all of them.
///
/// # Panics
/// When there are fewer.
pub fn some_that_wait(cluster: &Cluster, count: usize) -> Vec<AllocationId> {
    let all = cluster.books.allocations().iter();
    let waiting: Vec<AllocationId> =
        all.filter(|(_, row)| row.is_pending()).map(|(id, _)| id).collect();
    assert!(waiting.len() >= count, "only {} wait", waiting.len());
    waiting.iter().copied().step_by(waiting.len() / count).take(count).collect()
}

/// How long verdict and checks of each of these took, sorted.
///
/// # Panics
/// When one does not wait.
pub fn verdicts(cluster: &Cluster, asks: &[AllocationId]) -> Vec<Duration> {
    let times = asks.iter().map(|ask| {
        let start = Instant::now();
        let found = explain(&cluster.books, &cluster.scheduler, *ask);
        let took = start.elapsed();
        let found = found.expect("it is there");
        assert_ne!(found.verdict, Verdict::Allocated, "it waits");
        assert!(found.blocked_by().next().is_some(), "something holds it back");
        took
    });
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times
}

/// What came of looking for every kind of remedy.
#[derive(Debug)]
pub struct Cures {
    /// How long it took for each ask, sorted.
    pub times: Vec<Duration>,
    /// For how many some were found.
    pub found: usize,
    /// For how many there was no time to look for more.
    pub ran_out: usize,
}

/// Look for every kind of remedy for each of these.
pub fn cures(cluster: &Cluster, asks: &[AllocationId]) -> Cures {
    let mut cures = Cures { times: Vec::new(), found: 0, ran_out: 0 };
    for ask in asks {
        let start = Instant::now();
        let explained = explain(&cluster.books, &cluster.scheduler, *ask).expect("it is there");
        let found = remedies(&cluster.books, cluster.now, &explained, &RemedyKind::ALL, TRIALS);
        cures.times.push(start.elapsed());
        cures.found += usize::from(found.starts_after.is_some() || !found.found.is_empty());
        cures.ran_out += usize::from(found.ran_out);
    }
    cures.times.sort_unstable();
    cures
}
