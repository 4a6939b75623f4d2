//! Sums over the jobs of one queue, user, or group, while they are collected.

use std::collections::BTreeMap;

use super::blockers::Ranking;
use super::statistics::{ratio, round, slowdown, slowdowns, waits};
use super::summary::{JobCounts, OpenWaits, Scope, WaitedFor};
use super::types::{HOUR_MS, Types};
use crate::outcome::{AllocationRecord, JobRecord, JobState};

/// Sums over some jobs and their allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) counts: JobCounts,
    tasks: u64,
    /// Waits of the jobs that started, in ms.
    pub(super) waits: Vec<u64>,
    slowdowns: Vec<f64>,
    open: OpenWaits,
    /// Core unit × ms by type.
    pub(super) used: Vec<i128>,
    lost: Vec<i128>,
    preemptions: u64,
    node_losses: u64,
    /// Wait in ms by position in the outcome's blockers.
    pub(super) waited_for: BTreeMap<usize, u64>,
}

impl Tally {
    pub(super) fn new(types: &Types) -> Self {
        Self { used: vec![0; types.len()], lost: vec![0; types.len()], ..Self::default() }
    }

    pub(super) fn add_job(&mut self, job: &JobRecord, end_ms: u64) {
        self.counts.total += 1;
        self.tasks += job.asks;
        let of_state = match job.state {
            JobState::Finished => &mut self.counts.finished,
            JobState::Running => &mut self.counts.running,
            JobState::Waiting => &mut self.counts.waiting,
            JobState::Impossible => &mut self.counts.impossible,
            JobState::Rejected => &mut self.counts.rejected,
            JobState::Expired => &mut self.counts.expired,
        };
        *of_state += 1;
        if !can_run(job) {
            return;
        }
        if let Some(start_ms) = job.start_ms {
            let wait_ms = start_ms.saturating_sub(job.submit_ms);
            self.waits.push(wait_ms);
            self.slowdowns.push(slowdown(wait_ms, job.run_ms));
        } else {
            let wait_ms = end_ms.saturating_sub(job.submit_ms);
            self.open.jobs += 1;
            self.open.total_ms = self.open.total_ms.saturating_add(wait_ms);
            self.open.max_ms = self.open.max_ms.max(wait_ms);
        }
        for (blocker, wait_ms) in &job.waits {
            let total = self.waited_for.entry(*blocker).or_default();
            *total = total.saturating_add(*wait_ms);
        }
    }

    pub(super) fn add_allocation(&mut self, one: &AllocationRecord, types: &Types, end_ms: u64) {
        let to_ms = one.end_ms.unwrap_or(end_ms).min(end_ms);
        let length = i128::from(to_ms.saturating_sub(one.start_ms));
        let was_lost = is_lost(one);
        self.preemptions += u64::from(one.ended_by == "preempted");
        self.node_losses += u64::from(one.ended_by == "node-lost");
        for (position, amount) in types.of_amounts(&one.resources) {
            self.used[position] += i128::from(amount) * length;
            // A placeholder does no work.
            if was_lost && !one.placeholder {
                self.lost[position] += i128::from(amount) * length;
            }
        }
    }

    /// Adds the sums of `other`, such as those of a child queue.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.counts.total += other.counts.total;
        self.counts.finished += other.counts.finished;
        self.counts.running += other.counts.running;
        self.counts.waiting += other.counts.waiting;
        self.counts.impossible += other.counts.impossible;
        self.counts.rejected += other.counts.rejected;
        self.counts.expired += other.counts.expired;
        self.tasks += other.tasks;
        self.waits.extend_from_slice(&other.waits);
        self.slowdowns.extend_from_slice(&other.slowdowns);
        self.open.jobs += other.open.jobs;
        self.open.total_ms = self.open.total_ms.saturating_add(other.open.total_ms);
        self.open.max_ms = self.open.max_ms.max(other.open.max_ms);
        self.preemptions += other.preemptions;
        self.node_losses += other.node_losses;
        for (sums, theirs) in [(&mut self.used, &other.used), (&mut self.lost, &other.lost)] {
            sums.iter_mut().zip(theirs).for_each(|(sum, one)| *sum += one);
        }
        for (blocker, wait_ms) in &other.waited_for {
            let total = self.waited_for.entry(*blocker).or_default();
            *total = total.saturating_add(*wait_ms);
        }
    }

    /// Returns whether some of these jobs could run. If so, their owner competed for resources.
    pub(super) fn competes(&self) -> bool {
        self.counts.total > self.counts.impossible + self.counts.rejected
    }

    /// Returns the largest share of `capacity` (core unit × ms by type), times the length of the run, in hours.
    pub(super) fn dominant_share_hours(&self, capacity: &[i128], end_ms: u64) -> f64 {
        let shares = self.used.iter().zip(capacity).map(|(used, all)| ratio(*used, *all));
        round(shares.fold(0.0, f64::max) * ratio(i128::from(end_ms), HOUR_MS))
    }

    pub(super) fn finish(self, name: &str, around: &Around<'_>) -> Scope {
        let mut waited_for: Vec<WaitedFor> = self
            .waited_for
            .iter()
            .filter_map(|(blocker, wait_ms)| {
                Some(WaitedFor { blocker: around.ranking.rank_of(*blocker)?, wait_ms: *wait_ms })
            })
            .filter(|part| part.wait_ms > 0)
            .collect();
        waited_for.sort_by_key(|part| (std::cmp::Reverse(part.wait_ms), part.blocker));
        Scope {
            name: name.to_owned(),
            dominant_share_hours: self.dominant_share_hours(around.capacity, around.end_ms),
            jobs: self.counts,
            tasks: self.tasks,
            waits: waits(self.waits),
            still_waiting: self.open,
            slowdowns: slowdowns(self.slowdowns),
            resource_hours: around.types.hours(&self.used),
            preemptions: self.preemptions,
            node_losses: self.node_losses,
            lost_hours: around.types.hours(&self.lost),
            waited_for,
        }
    }
}

/// Data of the run that is needed to convert a tally to a [`Scope`].
pub(super) struct Around<'a> {
    pub(super) types: &'a Types,
    pub(super) ranking: &'a Ranking,
    /// Core unit × ms by type.
    pub(super) capacity: &'a [i128],
    pub(super) end_ms: u64,
}

/// Returns whether a job could run. Impossible and rejected jobs do not wait.
pub(super) fn can_run(job: &JobRecord) -> bool {
    match job.state {
        JobState::Finished | JobState::Running | JobState::Waiting | JobState::Expired => true,
        JobState::Impossible | JobState::Rejected => false,
    }
}

/// Returns whether the work of this allocation has to be repeated.
pub(super) fn is_lost(one: &AllocationRecord) -> bool {
    matches!(one.ended_by, "preempted" | "node-lost")
}
