//! Remedies with nodes: a new node, or more capacity on an existing one.

use alloc::vec;
use alloc::vec::Vec;

use crate::resource::{Amounts, Quantity, ResourceType, Resources};
use crate::wait::Blocker;

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind, raise};

/// Returns the smallest new node that would help, and the node that needs the smallest increase. Each includes the
/// limits that must also be raised.
pub(super) fn find(trial: &mut Trial) -> Vec<Remedy> {
    let limits = raise::edits(trial).unwrap_or_default();
    let nodes: Vec<Edit> = new_node(trial).into_iter().chain(larger(trial)).collect();
    let with = |node: Edit| {
        let mut edits = vec![node];
        edits.extend(limits.iter().cloned());
        edits
    };
    let all: Vec<Vec<Edit>> = nodes.into_iter().map(with).collect();
    let found = all.into_iter().filter_map(|edits| raise::confirmed(trial, RemedyKind::Add, edits));
    // If no node is necessary, raised limits are the remedy.
    let adds = |edit: &Edit| matches!(edit, Edit::Node { .. } | Edit::Larger { .. });
    found.filter(|remedy| remedy.edits.iter().any(adds)).collect()
}

fn new_node(trial: &Trial) -> Option<Edit> {
    let (books, ask) = (trial.books(), trial.ask());
    let partition = trial.partition();
    let row = books.allocation(ask);
    let required = row.required_node();
    if required.is_some_and(|name| books.partition(partition).nodes.get(&**name).is_some()) {
        return None; // It may run on no other.
    }
    let wish = books.node_selector_of(ask);
    let label = wish.and_then(|wish| wish.label.clone()).unwrap_or_default();
    let mut size = trial.wanted_on_nodes();
    for amount in of_cluster(trial) {
        let (resource, short) = amount;
        size.set(resource, size.get_or_zero(resource).max(short));
    }
    let size: Resources = size.iter().filter(|(_, amount)| *amount > Quantity::ZERO).collect();
    let capacity = books.plain(partition, &size);
    let name = required.cloned().unwrap_or_default();
    Some(Edit::Node { partition, name, label, capacity })
}

/// Returns the amounts that the cluster lacks of each type.
fn of_cluster(trial: &Trial) -> impl Iterator<Item = (ResourceType, Quantity)> {
    let root = trial.books().partition(trial.partition()).root;
    let failed = trial.explanation().blocked_by();
    let failed = failed.filter(move |check| check.blocker == Blocker::QueueMax(root));
    let amounts = failed.flat_map(|check| &check.amounts);
    amounts.filter_map(|one| Some((one.resource?, one.short())))
}

/// Returns the node with the smallest lack, and the missing amounts.
fn larger(trial: &Trial) -> Option<Edit> {
    if trial.is_gang() {
        return None; // More than one node may lack something.
    }
    let books = trial.books();
    let mut checks = trial.explanation().checks.iter();
    let nodes = checks.find_map(|check| check.nodes.as_ref().filter(|_| check.failed));
    let node = match nodes {
        Some(nodes) => nodes.nearest.first()?.node,
        None => trial.explanation().blocked_by().find_map(|check| check.blocker.about().node())?,
    };
    let by = lacks(&books.node(node).available, books.node_request(trial.ask()));
    let by: Amounts = books.plain(trial.partition(), &by);
    (!by.is_empty()).then_some(Edit::Larger { node, by })
}

/// Returns the amounts that a node with this free capacity lacks.
fn lacks(free: &Resources, asked: &Resources) -> Resources {
    let each =
        asked.iter().map(|(resource, asked)| (resource, asked.minus(free.get_or_zero(resource))));
    each.filter(|(_, lack)| *lack > Quantity::ZERO).collect()
}
