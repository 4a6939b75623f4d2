//! Another leaf in which it would start.

use alloc::vec;
use alloc::vec::Vec;

use crate::id::QueueId;
use crate::placement::may_submit;

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind};

/// How many leaves are tried.
const LEAVES: usize = 16;

/// The first leaf, by path, to which the user may submit and where it would start now.
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
        // What cannot hold it need not be tried.
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
