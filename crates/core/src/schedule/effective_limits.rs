//! Follows queue sizes that are fractions of a parent. A change of a node or a sibling alters them without an event of
//! their own.

use alloc::vec::Vec;

use crate::books::{Books, Queue};
use crate::config::ApplicationOrder;
use crate::id::QueueId;
use crate::resource::Resources;

use super::Scheduler;

/// Sizes of a queue that the indexes are based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EffectiveLimits {
    guaranteed: Option<Resources>,
    max: Option<Resources>,
}

impl EffectiveLimits {
    /// Returns the sizes of a queue.
    pub(super) fn of(row: &Queue) -> Self {
        Self { guaranteed: row.guaranteed.clone(), max: row.max.clone() }
    }

    fn are_of(&self, row: &Queue) -> bool {
        (&self.guaranteed, &self.max) == (&row.guaranteed, &row.max)
    }
}

impl Scheduler {
    /// Updates the indexes after sizes of descendants of `top` can have changed. Costs as much as the computation of
    /// these sizes, and nothing without fractional queues.
    pub(super) fn follow_sizes(&mut self, books: &Books, top: QueueId) {
        if self.stale || !books.has_fractional_queues(books.queue(top).partition) {
            return;
        }
        let mut open: Vec<QueueId> = alloc::vec![top];
        let mut changed: Vec<QueueId> = Vec::new();
        while let Some(queue) = open.pop() {
            for (id, row) in books.children(queue) {
                open.push(id);
                let known = self.tree.sizes_mut(id);
                if known.as_ref().is_some_and(|known| known.are_of(row)) {
                    continue;
                }
                let before = known.replace(EffectiveLimits::of(row));
                let promised = before.is_some_and(|before| before.guaranteed.is_some());
                if promised != row.guaranteed.is_some() {
                    // A guarantee enables preemption, and classes depend on that. The guarantee becomes positive with
                    // the first nodes and zero with the last ones.
                    self.stale = true;
                    return;
                }
                changed.push(id);
            }
        }
        if changed.is_empty() {
            return;
        }
        self.tree.resize();
        self.parked.lines.all_moved();
        for queue in &changed {
            self.max_grew(books, *queue);
            self.queue_gave_way(books, *queue);
            if books.queue(*queue).leaf {
                self.shares_moved(books, *queue);
            }
        }
        // The user cap of a leaf also depends on the maxima of its ancestors.
        self.all_turns_moved(books);
        self.activation_resized();
    }

    /// Updates the order of users and applications of a leaf after its guarantee changed.
    pub(super) fn shares_moved(&mut self, books: &Books, leaf: QueueId) {
        self.turns_sized(books, leaf);
        if books.queue(leaf).settings.values.application_order == ApplicationOrder::Fair {
            // The order of its applications depends on usage divided by the guarantee.
            for (application, _) in books.applications_in(leaf) {
                self.reorder(books, application, None);
            }
        }
    }
}
