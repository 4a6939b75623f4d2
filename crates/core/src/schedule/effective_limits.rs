//! Following sizes of queues that are parts: a node or a sibling gives them others, without an event
//! of their own.

use alloc::vec::Vec;

use crate::books::{Books, Queue};
use crate::config::ApplicationOrder;
use crate::id::QueueId;
use crate::resource::Resources;

use super::Scheduler;

/// The sizes by which a queue stands in the indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EffectiveLimits {
    guaranteed: Option<Resources>,
    max: Option<Resources>,
}

impl EffectiveLimits {
    /// Those of a queue.
    pub(super) fn of(row: &Queue) -> Self {
        Self { guaranteed: row.guaranteed.clone(), max: row.max.clone() }
    }

    fn are_of(&self, row: &Queue) -> bool {
        (&self.guaranteed, &self.max) == (&row.guaranteed, &row.max)
    }
}

impl Scheduler {
    /// The queues below one may have other sizes: bring along what depends on them. It costs as much
    /// as working these out did, and nothing where no queue has a part.
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
                    // With a guarantee others may be stopped for asks, which tells these apart: it
                    // comes with the first nodes and goes with the last ones.
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
        // What users of a leaf may have depends on the maxima above it, too.
        self.all_turns_moved(books);
        self.activation_resized();
    }

    /// A leaf guarantees something else: its users, and its applications, are served otherwise.
    pub(super) fn shares_moved(&mut self, books: &Books, leaf: QueueId) {
        self.turns_sized(books, leaf);
        if books.queue(leaf).settings.values.application_order == ApplicationOrder::Fair {
            // Its applications are ordered by what they use of the guarantee.
            for (application, _) in books.applications_in(leaf) {
                self.reorder(books, application, None);
            }
        }
    }
}
