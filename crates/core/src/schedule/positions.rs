//! Positions of asks, applications, and leaves in the order of scheduling.

use alloc::collections::BTreeSet;

use crate::books::{Books, Queue};
use crate::id::{AllocationId, ApplicationId, QueueId};

use super::Scheduler;
use super::class::ClassId;
use super::order::AskKey;

impl Scheduler {
    /// Returns the first ask of a class, and its application.
    pub(super) fn first_ask(&self, class: ClassId) -> (ApplicationId, AllocationId) {
        let (_, batch) = self.classes.rows[class].batches.first_key().expect("a class has a batch");
        let batch = &self.classes.batches[*batch];
        let (_, ask) = batch.asks.first().expect("a batch has an ask");
        (batch.application, *ask)
    }

    /// Returns the first waiting ask of an application. `None` if no ask waits, and after a change of the rules until
    /// the next step.
    pub(crate) fn first_that_waits(&self, application: ApplicationId) -> Option<AllocationId> {
        let waiting = self.applications.get(application.index())?;
        let batches = waiting.batches.iter().map(|batch| &self.classes.batches[batch]);
        batches.filter_map(|batch| batch.asks.first()).min().map(|(_, ask)| *ask)
    }

    /// Returns the number of asks of the same application that precede a waiting ask. Costs that number, regardless of
    /// the number of later asks.
    pub(crate) fn asks_before(&self, books: &Books, ask: AllocationId) -> Option<u64> {
        let row = books.allocation(ask);
        let waiting = self.applications.get(row.application.index())?;
        let batches = waiting.batches.iter().map(|batch| &self.classes.batches[batch]);
        Some(batches.map(|batch| batch.asks.count_before(&AskKey::of(row)) as u64).sum())
    }

    /// Returns whether an application precedes another of its leaf. `None` if one of them has no waiting ask, and after
    /// a change of the rules until the next step.
    pub(crate) fn comes_before(&self, one: ApplicationId, other: ApplicationId) -> Option<bool> {
        let key = |id: ApplicationId| self.applications.get(id.index())?.key.as_ref();
        Some(key(one)? < key(other)?)
    }

    /// Returns the number of asks that wait in queues that precede a leaf. Costs the applications of these queues.
    pub(crate) fn asks_before_leaf(&self, books: &Books, leaf: QueueId) -> u64 {
        let waits =
            |queue: &Queue| queue.pending.is_strictly_positive() && queue.accepts_allocations();
        let mut before = BTreeSet::new();
        for (id, row) in books.up(leaf) {
            let Some(parent) = row.parent else { continue };
            let mine = self.tree.key_of(books, id);
            let others = books.children(parent).filter(|(other, one)| *other != id && waits(one));
            let earlier = others.filter(|(other, _)| self.tree.key_of(books, *other) < mine);
            before.extend(earlier.map(|(other, _)| other));
        }
        if before.is_empty() {
            return 0;
        }
        let asking = books.applications().iter().filter(|(_, row)| row.ask_count > 0);
        let counted =
            asking.filter(|(_, row)| books.up(row.queue).any(|(queue, _)| before.contains(&queue)));
        counted.map(|(_, row)| u64::from(row.ask_count)).sum()
    }
}
