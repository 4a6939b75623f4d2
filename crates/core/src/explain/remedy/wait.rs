//! Remedies that wait: applications whose lifetimes end release their allocations.

use alloc::vec::Vec;

use crate::id::AllocationId;
use crate::time::Timestamp;
use crate::wait::Kind;

use super::edit::Edit;
use super::release;
use super::trial::Trial;
use super::{Remedy, RemedyKind};

/// Largest number of ends that are omitted one by one if they are not necessary.
const ENDS: usize = 64;

/// Returns the earliest known ends with which the ask starts, and only the necessary ones. `None` if the ask waits for
/// something without a known end, or if its own application ends first.
pub(super) fn find(trial: &mut Trial) -> Option<Remedy> {
    let ends = ends(trial);
    let edits = |count: usize| -> Vec<Edit> {
        let first = ends[..count].iter();
        first.map(|(at, allocation)| Edit::End { allocation: *allocation, at: *at }).collect()
    };
    if ends.is_empty() || !trial.starts(&edits(ends.len())) {
        return None;
    }
    let (mut below, mut enough) = (0, ends.len());
    while below + 1 < enough {
        let middle = usize::midpoint(below, enough);
        if trial.starts(&edits(middle)) { enough = middle } else { below = middle }
    }
    if enough > ENDS {
        return None;
    }
    let mut needed = edits(enough);
    let mut place = 0;
    while place < needed.len() {
        let mut fewer = needed.clone();
        fewer.remove(place);
        if trial.starts(&fewer) { needed = fewer } else { place += 1 }
    }
    let found = !trial.ran_out() && trial.starts(&needed);
    found.then_some(Remedy::of(RemedyKind::Wait, needed, true))
}

/// Returns the allocations that end before the application of the ask and that count in failed checks, in order of
/// time.
fn ends(trial: &Trial) -> Vec<(Timestamp, AllocationId)> {
    let books = trial.books();
    let own = books.allocation(trial.ask()).application;
    let own_end = books.application(own).lifetime.ends_at;
    let waits_for_nodes =
        trial.explanation().blocked_by().any(|check| check.blocker.row().kind == Kind::Node);
    let all = books.allocations().iter().filter(|(_, row)| row.is_allocated());
    let ends = all.filter_map(|(id, row)| {
        let at = books.application(row.application).lifetime.ends_at?;
        let other = row.application != own && own_end.is_none_or(|own| at < own);
        let counts = other && (waits_for_nodes || release::holds_any(trial, row));
        counts.then_some((at, id))
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_by_key(|(at, id)| (*at, books.allocation(*id).number, *id));
    ends
}
