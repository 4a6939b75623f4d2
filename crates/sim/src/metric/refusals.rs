//! Reasons why jobs were rejected, or can never start.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::summary::Refusal;
use crate::outcome::{JobRecord, JobState, Outcome};

/// Maximum number of reasons in a summary. Reasons with the fewest jobs are omitted.
const REASONS_MAX: usize = 100;

/// Returns the reasons, the most frequent first.
pub(super) fn refusals(outcome: &Outcome) -> Vec<Refusal> {
    let mut known: BTreeMap<(&'static str, &str), (u64, &JobRecord)> = BTreeMap::new();
    for job in &outcome.jobs {
        let state = match job.state {
            JobState::Rejected => "rejected",
            JobState::Impossible => "impossible",
            JobState::Finished | JobState::Running | JobState::Waiting | JobState::Expired => {
                continue;
            }
        };
        known.entry((state, &job.reason)).or_insert((0, job)).0 += 1;
    }
    let mut all: Vec<Refusal> = known
        .into_iter()
        .map(|((state, reason), (jobs, first))| Refusal {
            state: state.to_owned(),
            reason: reason.to_owned(),
            jobs,
            first: first.name.to_string(),
        })
        .collect();
    all.sort_by_key(|one| Reverse(one.jobs));
    all.truncate(REASONS_MAX);
    all
}
