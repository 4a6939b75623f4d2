//! Position of an ask among the waiting asks.

use crate::books::Books;
use crate::id::AllocationId;

use super::Scheduler;

/// Position of an ask in the current order of scheduling. The order depends on the usage of each queue, so it changes
/// with every placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    /// Position among the asks of its leaf, starting at 1.
    pub position: u64,
    /// Number of waiting asks of the leaf.
    pub of: u64,
    /// Number of asks of the partition that precede it, including those of other leaves.
    pub ahead_in_partition: u64,
}

impl QueuePosition {
    /// Returns the position of a waiting ask. `None` after a change of the rules until the next step. Costs the
    /// applications, and the preceding asks of its own application.
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
