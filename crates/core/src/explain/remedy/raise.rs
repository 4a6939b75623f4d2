//! Limits that are to be raised, each to what is used and what is asked for.

use alloc::vec::Vec;

use crate::explain::{Amount, Check};
use crate::resource::Quantity;
use crate::wait::Blocker;

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind};

/// The limits that hold the ask back, raised as far as it needs.
pub(super) fn find(trial: &mut Trial) -> Option<Remedy> {
    let edits = edits(trial)?;
    confirmed(trial, RemedyKind::Raise, edits)
}

/// The edits that lift all checks about limits; none where one cannot be lifted by a number, or none fails.
pub(super) fn edits(trial: &Trial) -> Option<Vec<Edit>> {
    let failed: Vec<&Check> = trial.explanation().blocked_by().collect();
    let mut edits = Vec::new();
    for check in failed {
        for amount in &check.amounts {
            edits.extend(lift(trial, check.blocker, amount));
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// These edits, if the ask starts with them and with nothing less.
pub(super) fn confirmed(
    trial: &mut Trial,
    kind: RemedyKind,
    mut edits: Vec<Edit>,
) -> Option<Remedy> {
    if !trial.starts(&edits) {
        return None;
    }
    // What is not needed, as something else gives way with it, is left out.
    let mut place = 0;
    while place < edits.len() {
        let mut fewer = edits.clone();
        fewer.remove(place);
        if trial.starts(&fewer) { edits = fewer } else { place += 1 }
    }
    let remedy = Remedy { kind, edits, exact: true };
    let exact = remedy.lessened().iter().all(|less| !trial.starts(less));
    (exact && !trial.ran_out()).then_some(remedy)
}

fn lift(trial: &Trial, blocker: Blocker, amount: &Amount) -> Option<Edit> {
    let Amount { resource, limit, used, asked } = *amount;
    let to = used.plus(asked);
    let count = |number: Quantity| u64::try_from(number.get()).unwrap_or_default();
    match (blocker, resource) {
        (Blocker::QueueMax(queue), Some(resource)) => {
            // What the cluster has is raised by nodes.
            trial.books().queue(queue).parent?;
            Some(Edit::QueueMax { queue, resource, from: limit, to })
        }
        (Blocker::Limit(partition, level), Some(resource)) => {
            Some(Edit::Limit { partition, level, resource, from: limit, to })
        }
        (Blocker::QueueApplications(queue), None) => {
            Some(Edit::QueueApplications { queue, from: count(limit), to: count(to) })
        }
        (Blocker::LimitApplications(partition, level), None) => {
            let (from, to) = (count(limit), count(to));
            Some(Edit::LimitApplications { partition, level, from, to })
        }
        (Blocker::ParallelApplications(queue), None) => {
            Some(Edit::ParallelApplications { queue, from: count(limit), to: count(to) })
        }
        _ => None,
    }
}
