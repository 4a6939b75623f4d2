//! Reasons of waits, over the whole run.

use std::cmp::Reverse;

use super::summary::BlockerSummary;
use super::tally::can_run;
use crate::outcome::Outcome;

/// Blockers in descending order of the waits that they caused.
pub(super) struct Ranking {
    /// Position in the summary by position in the outcome. `None` if the blocker caused no wait.
    ranks: Vec<Option<usize>>,
    blockers: Vec<BlockerSummary>,
}

impl Ranking {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let mut totals = vec![(0_u64, 0_u64); outcome.blockers.len()];
        for job in outcome.jobs.iter().filter(|job| can_run(job)) {
            for (blocker, wait_ms) in job.waits.iter().filter(|(_, wait_ms)| *wait_ms > 0) {
                let (total, jobs) = &mut totals[*blocker];
                *total = total.saturating_add(*wait_ms);
                *jobs += 1;
            }
        }
        let mut order: Vec<usize> = (0..totals.len()).filter(|one| totals[*one].0 > 0).collect();
        order.sort_by_key(|one| {
            let record = &outcome.blockers[*one];
            (Reverse(totals[*one].0), record.code, &record.subject, *one)
        });
        let mut ranks = vec![None; totals.len()];
        for (rank, one) in order.iter().enumerate() {
            ranks[*one] = Some(rank);
        }
        let summary_of = |one: &usize| BlockerSummary {
            code: outcome.blockers[*one].code.to_owned(),
            subject: outcome.blockers[*one].subject.clone(),
            wait_ms: totals[*one].0,
            jobs: totals[*one].1,
        };
        Self { ranks, blockers: order.iter().map(summary_of).collect() }
    }

    /// Returns the position in the summary of the blocker at this position in the outcome.
    pub(super) fn rank_of(&self, blocker: usize) -> Option<usize> {
        self.ranks[blocker]
    }

    /// Returns the sum of all waits in ms.
    pub(super) fn total_ms(&self) -> i128 {
        let waits = self.blockers.iter().map(|one| i128::from(one.wait_ms));
        waits.sum()
    }

    pub(super) fn into_blockers(self) -> Vec<BlockerSummary> {
        self.blockers
    }
}
