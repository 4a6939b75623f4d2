//! Where an ask stands among those that wait.

use crate::books::Books;
use crate::id::AllocationId;

use super::Scheduler;

/// Where an ask stands, in the order in which room is offered now. What each queue uses is part of that
/// order, so it changes with every placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    /// Its place among the asks of its leaf, from one on.
    pub position: u64,
    /// How many asks wait there.
    pub of: u64,
    /// How many asks of the partition come before it, those of other leaves included.
    pub ahead_in_partition: u64,
}

impl QueuePosition {
    /// Where an ask that waits stands; none while the rules are new. Costs the applications, and the asks of its own that come before it.
    pub(crate) fn of(books: &Books, scheduler: &Scheduler, ask: AllocationId) -> Option<Self> {
        let row = books.allocation(ask);
        let leaf = books.application(row.application).queue;
        let others = books.applications_in(leaf).filter(|(id, _)| *id != row.application);
        let mut position = 1 + scheduler.asks_before(books, ask)?;
        let mut of = u64::from(books.application(row.application).ask_count);
        for (id, other) in others {
            let asks = u64::from(other.ask_count);
            of += asks;
            if asks > 0 && scheduler.comes_before(id, row.application)? {
                position += asks;
            }
        }
        let elsewhere = scheduler.asks_before_leaf(books, leaf);
        Some(Self { position, of, ahead_in_partition: elsewhere + position - 1 })
    }
}
