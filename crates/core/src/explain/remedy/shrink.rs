//! The largest request that would start, type by type.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::Books;
use crate::explain::{Kind, kind};
use crate::id::AllocationId;
use crate::resource::{Quantity, ResourceType};

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind};

/// For each type the most with which it would start, the others as asked.
///
/// Members of a task that start together are alike, so one of them has no other size.
pub(super) fn find(trial: &mut Trial) -> Vec<Remedy> {
    let (books, ask) = (trial.books(), trial.ask());
    if books.members_of(books.allocation(ask).application) > 1 {
        return Vec::new();
    }
    let asked = trial.books().on_node(trial.ask()).clone();
    let types = asked.iter().filter(|(_, asked)| *asked > Quantity::of(1));
    types.filter_map(|(resource, _)| of_type(trial, resource)).collect()
}

fn of_type(trial: &mut Trial, resource: ResourceType) -> Option<Remedy> {
    let from = trial.wants(resource);
    let most = estimate(trial, resource).min(from.minus(Quantity::of(1)));
    if most <= Quantity::ZERO || most >= from {
        return None;
    }
    let ask = trial.ask();
    let edits = |to| vec![Edit::Size { ask, resource, from, to }];
    let starts = |trial: &mut Trial, to: Quantity| trial.starts(&edits(to));
    if !starts(trial, most) || starts(trial, most.plus(Quantity::of(1))) {
        return None;
    }
    Some(Remedy { kind: RemedyKind::Shrink, edits: edits(most), exact: true })
}

/// What is left of a type by all checks, and on the node with most of it that has room for the others.
fn estimate(trial: &Trial, resource: ResourceType) -> Quantity {
    let (books, ask) = (trial.books(), trial.ask());
    let mut most = roomiest(books, ask, resource);
    for check in &trial.explanation().checks {
        if kind(check.blocker) != Kind::Amount {
            continue;
        }
        for amount in check.amounts.iter().filter(|one| one.resource == Some(resource)) {
            most = most.min(amount.limit.minus(amount.used));
        }
    }
    most
}

/// The most of a type that a node has which the ask may have, where the others fit.
fn roomiest(books: &Books, ask: AllocationId, resource: ResourceType) -> Quantity {
    let row = books.allocation(ask);
    let mut rest = books.on_node(ask).clone();
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
