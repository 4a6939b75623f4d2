//! Remedies that lower the request, type by type.

use alloc::vec::Vec;

use crate::books::Books;
use crate::id::AllocationId;
use crate::resource::{Quantity, ResourceType};
use crate::wait::{Blocker, Compared, Kind};

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind, resume};

/// Returns, for each type, the largest amount with which the ask starts if the other amounts do not change.
///
/// Members of a task that start together have the same size, so one member cannot shrink. Neither can a placeholder of
/// a gang that waits for others.
pub(super) fn find(trial: &mut Trial) -> Vec<Remedy> {
    let (books, ask) = (trial.books(), trial.ask());
    if books.members_of(books.allocation(ask).application) > 1 || trial.is_gang() {
        return Vec::new();
    }
    let asked = trial.books().node_request(trial.ask()).clone();
    let types = asked.iter().filter(|(_, asked)| *asked > Quantity::of(1));
    types.filter_map(|(resource, _)| of_type(trial, resource)).collect()
}

fn of_type(trial: &mut Trial, resource: ResourceType) -> Option<Remedy> {
    let from = trial.wants(resource);
    let most = estimate(trial, resource).min(from.minus(Quantity::of(1))).max(Quantity::of(1));
    let ask = trial.ask();
    let resumed = resume::edits(trial);
    let edits = |to| {
        let mut edits = resumed.clone();
        edits.push(Edit::Size { ask, resource, from, to });
        edits
    };
    let starts = |trial: &mut Trial, to: Quantity| to < from && trial.starts(&edits(to));
    let mut most = most;
    if !starts(trial, most) || starts(trial, most.plus(Quantity::of(1))) {
        most = by_halves(trial, from, starts)?;
    }
    Some(Remedy::of(RemedyKind::Shrink, edits(most), true))
}

/// Returns the largest sufficient amount by bisection, for limits that are not amounts: steps, shares, and driver
/// limits.
fn by_halves(
    trial: &mut Trial,
    from: Quantity,
    starts: impl Fn(&mut Trial, Quantity) -> bool,
) -> Option<Quantity> {
    let follows = |blocker: Blocker| {
        matches!(
            blocker.compared(),
            Compared::Cap(..)
                | Compared::Share(..)
                | Compared::DriversIn(_)
                | Compared::DriversOf(..)
        )
    };
    if !trial.explanation().blocked_by().any(|check| follows(check.blocker)) {
        return None;
    }
    let (mut enough, mut beyond) = (Quantity::of(1), from);
    if !starts(trial, enough) {
        return None;
    }
    while enough.plus(Quantity::of(1)) < beyond {
        let middle = Quantity::of(enough.get() + (beyond.get() - enough.get()) / 2);
        if starts(trial, middle) { enough = middle } else { beyond = middle }
    }
    (!trial.ran_out()).then_some(enough)
}

/// Returns the amount of a type that all checks and the best node allow, where the other amounts fit.
fn estimate(trial: &Trial, resource: ResourceType) -> Quantity {
    let (books, ask) = (trial.books(), trial.ask());
    let mut most = roomiest(books, ask, resource);
    for check in &trial.explanation().checks {
        if check.blocker.row().kind != Kind::Amount {
            continue;
        }
        for amount in check.amounts.iter().filter(|one| one.resource == Some(resource)) {
            most = most.min(amount.limit.minus(amount.used));
        }
    }
    most
}

/// Returns the largest free amount of a type on a node that the ask can use and that the other amounts fit.
fn roomiest(books: &Books, ask: AllocationId, resource: ResourceType) -> Quantity {
    let row = books.allocation(ask);
    let mut rest = books.node_request(ask).clone();
    rest.remove(resource);
    let partition = books.application(row.application).partition;
    let nodes = books.partition(partition).nodes.iter().map(|(_, id)| *id);
    let usable = nodes.filter(|id| {
        let node = books.node(*id);
        let pinned = row.required_node().is_some();
        (pinned || node.is_open()) && books.may_run_on(ask, *id) && node.available.fits(&rest)
    });
    let free = usable.map(|id| books.node(id).available.get_or_zero(resource));
    free.max().unwrap_or_default()
}
