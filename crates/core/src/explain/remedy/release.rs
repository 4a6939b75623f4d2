//! Remedies that release other allocations.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Books, StopRequest};
use crate::explain::Nodes;
use crate::id::{AllocationId, NodeId};
use crate::resource::Quantity;
use crate::wait::{Blocker, Compared, Kind, NodeReason};

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind, raise, resume};

/// Number of allocations among which the smallest set is searched.
const CANDIDATES: usize = 12;

/// Largest size of a set that is proven to be the smallest.
const EXACT: usize = 3;

/// Largest number of released allocations in a remedy that also raises limits.
const WITH_RAISED_LIMITS: usize = 2;

/// Returns a smallest set of allocations whose release starts the ask: the fewest, then the smallest sum, then the
/// newest. If no release lifts a failed limit, the limit is raised in addition.
pub(super) fn find(trial: &mut Trial) -> Option<Remedy> {
    let (candidates, all) = candidates(trial);
    alone(trial, &candidates, all).or_else(|| with_raised_limits(trial, &candidates, all))
}

/// Returns a set with raised limits, if raised limits alone are not sufficient.
fn with_raised_limits(trial: &mut Trial, candidates: &[AllocationId], all: bool) -> Option<Remedy> {
    let lacks_node =
        trial.explanation().blocked_by().any(|check| check.blocker.row().kind == Kind::Node);
    let limits = raise::edits(trial).filter(|_| lacks_node)?;
    for count in 1..=WITH_RAISED_LIMITS {
        for set in in_order(trial.books(), sets(candidates, count)) {
            if trial.ran_out() {
                return None;
            }
            let mut edits = limits.clone();
            edits.extend(set.iter().map(|id| Edit::Release { allocation: *id }));
            if trial.starts(&edits) {
                let found = raise::confirmed(trial, RemedyKind::Release, edits)?;
                return Some(Remedy { exact: all, ..found });
            }
        }
    }
    None
}

fn alone(trial: &mut Trial, candidates: &[AllocationId], all: bool) -> Option<Remedy> {
    let resumed = resume::edits(trial);
    for count in 1..=EXACT {
        for set in in_order(trial.books(), sets(candidates, count)) {
            if trial.ran_out() {
                return None;
            }
            if !could(trial, &set) {
                continue;
            }
            let mut edits = resumed.clone();
            edits.extend(set.iter().map(|id| Edit::Release { allocation: *id }));
            if trial.starts(&edits) {
                return Some(Remedy::of(RemedyKind::Release, edits, all));
            }
        }
    }
    greedy(trial, candidates, resumed)
}

/// Sorts sets of one size: the smallest sum first, and of equal sums the newest.
fn in_order(books: &Books, mut sets: Vec<Vec<AllocationId>>) -> Vec<Vec<AllocationId>> {
    let size = |id: &AllocationId| books.resources_of(*id).total();
    sets.sort_by_cached_key(|set| {
        let placed = set.iter().map(|id| books.allocation(*id).placed).min();
        (set.iter().map(size).sum::<i128>(), Reverse(placed))
    });
    sets
}

/// Returns whether a set is sufficient by arithmetic: its release covers the lack of each limit, and the lack of free
/// capacity on some node.
fn could(trial: &Trial, set: &[AllocationId]) -> bool {
    let books = trial.books();
    trial.explanation().blocked_by().all(|check| match check.blocker.row().kind {
        Kind::Amount
            if matches!(check.blocker.compared(), Compared::Queue(_) | Compared::Limit(..)) =>
        {
            check.amounts.iter().all(|amount| {
                let Some(resource) = amount.resource else { return true };
                let mine =
                    set.iter().filter(|id| holds(books, books.allocation(**id), check.blocker));
                let freed = mine.fold(Quantity::ZERO, |sum, id| {
                    sum.plus(books.resources_of(*id).get_or_zero(resource))
                });
                freed >= amount.short()
            })
        }
        // If the set contains an ask with a reserved node, that node becomes available.
        Kind::Node if set.iter().any(|id| books.allocation(*id).is_pending()) => true,
        Kind::Node => {
            let wanted = books.node_request(trial.ask());
            near(trial).into_iter().any(|node| {
                let mut free = books.node(node).available.clone();
                for id in set.iter().filter(|id| books.allocation(**id).node == Some(node)) {
                    free.add(books.node_request(*id));
                }
                free.fits(wanted)
            })
        }
        Kind::Amount | Kind::State | Kind::Number | Kind::Policy | Kind::Rm => true,
    })
}

/// Returns a larger set: adds one allocation after the other, largest first, until the ask starts, and then omits those
/// that are not necessary.
fn greedy(trial: &mut Trial, candidates: &[AllocationId], mut edits: Vec<Edit>) -> Option<Remedy> {
    for id in candidates.iter().rev() {
        edits.push(Edit::Release { allocation: *id });
        if edits.len() <= EXACT || !trial.starts(&edits) {
            continue;
        }
        let mut place = 0;
        while place < edits.len() {
            let mut fewer = edits.clone();
            fewer.remove(place);
            if trial.starts(&fewer) { edits = fewer } else { place += 1 }
        }
        let found = trial.starts_and_needs_all(&edits);
        return found.then_some(Remedy::of(RemedyKind::Release, edits, false));
    }
    None
}

/// Returns the allocations that count in failed checks, smallest first and of equal sizes the newest, and whether these
/// are all.
fn candidates(trial: &Trial) -> (Vec<AllocationId>, bool) {
    let books = trial.books();
    let mut found: Vec<(AllocationId, &Allocation)> = Vec::new();
    let near = near(trial);
    let counts = |row: &Allocation| {
        trial.explanation().blocked_by().any(|check| match check.blocker.row().kind {
            Kind::Node => row.node.is_some_and(|node| near.contains(&node)),
            Kind::State | Kind::Number | Kind::Amount | Kind::Policy | Kind::Rm => {
                holds(books, row, check.blocker)
            }
        })
    };
    let keeps = |row: &Allocation| row.is_pending() && row.reservation().is_some();
    let is_reserved_for_others = is_reserved_for_others(trial);
    for (id, row) in books.allocations().iter() {
        let given = row.is_allocated() && row.mark == StopRequest::None && counts(row);
        if given || is_reserved_for_others && id != trial.ask() && keeps(row) {
            found.push((id, row));
        }
    }
    let size = |row: &Allocation| books.shapes().get(row.shape).total();
    found.sort_by_key(|(id, row)| (size(row), Reverse(row.placed), *id));
    let all = found.len() <= CANDIDATES;
    if found.len() > CANDIDATES {
        found.drain(..found.len() - CANDIDATES); // The large ones help most.
    }
    (found.into_iter().map(|(id, _)| id).collect(), all)
}

/// Returns whether nodes are unavailable because they are reserved for other asks.
fn is_reserved_for_others(trial: &Trial) -> bool {
    let mut failed = trial.explanation().blocked_by();
    failed.any(|check| {
        let refused = |nodes: &Nodes| nodes.refused.contains_key(&NodeReason::Reserved);
        check.blocker.row().node_reason == Some(NodeReason::Reserved)
            || check.nodes.as_ref().is_some_and(refused)
    })
}

/// Returns the nodes with the smallest lack, or the only node that the ask can use.
fn near(trial: &Trial) -> Vec<NodeId> {
    let mut near = Vec::new();
    for check in trial.explanation().blocked_by() {
        if let Compared::Free(node) = check.blocker.compared() {
            near.push(node);
        }
        let nodes = check.nodes.iter().flat_map(|nodes| &nodes.nearest);
        near.extend(nodes.map(|miss| miss.node));
    }
    near
}

/// Returns whether an allocation counts in any failed check that is not about nodes.
pub(super) fn holds_any(trial: &Trial, row: &Allocation) -> bool {
    let mut failed = trial.explanation().blocked_by();
    failed.any(|check| holds(trial.books(), row, check.blocker))
}

/// Returns whether an allocation counts in the bound of a check.
fn holds(books: &Books, row: &Allocation, blocker: Blocker) -> bool {
    let application = books.application(row.application);
    let below = |queue| books.up(application.queue).any(|(id, _)| id == queue);
    match blocker.compared() {
        Compared::Queue(queue)
        | Compared::RunningIn(queue)
        | Compared::ActivatedIn(queue)
        | Compared::DriversIn(queue) => below(queue),
        Compared::Limit(partition, level)
        | Compared::Cap(partition, level)
        | Compared::Share(partition, level)
        | Compared::RunningAt(partition, level)
        | Compared::ActivatedOf(partition, level)
        | Compared::DriversOf(partition, level) => {
            let trackers = &books.partition(partition).trackers;
            let tracker = trackers.level(level).tracker;
            application.partition == partition
                && application.link.is_some_and(|link| {
                    link.levels().any(|level| {
                        trackers.find_level(level).is_some_and(|level| level.tracker == tracker)
                    })
                })
        }
        Compared::Nothing
        | Compared::LeftByHead(_)
        | Compared::Free(_)
        | Compared::Size(_)
        | Compared::MostFree(_) => false,
    }
}

/// Returns all subsets of this size, in order.
fn sets(of: &[AllocationId], count: usize) -> Vec<Vec<AllocationId>> {
    if count == 0 {
        return alloc::vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (place, first) in of.iter().enumerate() {
        for rest in sets(&of[place + 1..], count - 1) {
            let mut set = alloc::vec![*first];
            set.extend(rest);
            found.push(set);
        }
    }
    found
}
