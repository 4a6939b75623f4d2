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

/// How long it took to look for every kind of remedy for each of these, sorted; and for how many of them there
/// was no time to look for more.
///
/// # Panics
/// When nothing is found for one.
pub fn cures(cluster: &Cluster, asks: &[AllocationId]) -> (Vec<Duration>, usize) {
    let mut ran_out = 0;
    let times = asks.iter().map(|ask| {
        let start = Instant::now();
        let found = remedies(&cluster.books, cluster.now, *ask, &RemedyKind::ALL, TRIALS);
        let took = start.elapsed();
        assert!(found.starts_alone || !found.found.is_empty(), "there is a way to start it");
        ran_out += usize::from(found.ran_out);
        took
    });
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    (times, ran_out)
}
