//! Remedies that submit to another leaf.

use alloc::vec;
use alloc::vec::Vec;

use crate::id::QueueId;
use crate::placement::may_submit;

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind};

/// Largest number of leaves to try.
const LEAVES: usize = 16;

/// Returns the first leaf by path in which the ask would start now, and to which the user can submit.
pub(super) fn find(trial: &mut Trial) -> Option<Remedy> {
    let (books, ask) = (trial.books(), trial.ask());
    let row = books.application(books.allocation(ask).application);
    if row.task.is_some() || row.gang.is_some() {
        return None; // Tasks are where their tenant is, and gangs move as a whole.
    }
    let queues = books.partition(row.partition).queues.iter();
    let leaves = queues.map(|(_, id)| *id).filter(|id| {
        let queue = books.queue(*id);
        let other = queue.leaf && *id != row.queue && queue.accepts_allocations();
        // A leaf without enough capacity need not be tried.
        let roomy =
            || books.up(*id).all(|(_, one)| one.shortfall(books.resources_of(ask)).is_none());
        other && roomy() && may_submit(books, *id, &row.user, &row.groups)
    });
    let leaves: Vec<QueueId> = leaves.take(LEAVES).collect();
    leaves.into_iter().find_map(|queue| {
        let edits = vec![Edit::Leaf { ask, queue }];
        trial.starts(&edits).then_some(Remedy::of(RemedyKind::Move, edits, true))
    })
}
