//! Asks that are checked before an ask that passes every check, and the criterion for their order.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::QueuePosition;
use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::wait::Precedence;

use super::Scheduler;
use super::placement_mode::Pass;

/// The ask that precedes another ask, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// Queue at which the order is decided.
    pub(crate) queue: QueueId,
    /// Criterion of the order.
    pub(crate) by: Precedence,
    /// Ask that is checked first. `None` if only the next step determines it.
    pub(crate) first: Option<AllocationId>,
}

impl Scheduler {
    /// Returns the queue and the criterion by which other asks precede an ask. `None` if the ask is the next of its
    /// partition, and after a change of the rules until the next step.
    ///
    /// Parked asks precede no other ask, so they do not count. Costs the queues and the groups of parked asks.
    pub(crate) fn goes_before(&self, books: &Books, ask: AllocationId) -> Option<Before> {
        let leaf = books.application(books.allocation(ask).application).queue;
        let Some((pass, open)) = self.to_be_looked_at(books, books.queue(leaf).partition) else {
            // No class is ready. An ask without a reason to wait is woken in the next step, and takes its position
            // then.
            let place = QueuePosition::of(books, self, ask)?;
            let unknown = Before { queue: leaf, by: Precedence::Order, first: None };
            return (place.ahead_in_partition > 0).then_some(unknown);
        };
        let mut path: Vec<QueueId> = books.up(leaf).map(|(id, _)| id).collect();
        path.reverse();
        let above = path.iter().zip(path.iter().skip(1)).find_map(|(parent, mine)| {
            let key = |id: QueueId| self.tree.key_of(books, id);
            let others = books.children(*parent).map(|(id, _)| id);
            let others = others.filter(|id| id != mine && open.contains(id));
            let (first, own) = (others.map(key).min()?, key(*mine));
            let by = if first < own {
                first.precedence_over(&own)
            } else if open.contains(mine) {
                return None;
            } else {
                Precedence::Order // An earlier pass has nothing of its queue.
            };
            Some(Before {
                queue: *parent,
                by,
                first: self.first_below(books, *parent, (pass, &open)),
            })
        });
        above.or_else(|| self.goes_before_in_leaf(books, (leaf, pass), ask))
    }

    /// Returns the first ask that a pass checks in the subtree of a queue. `open` has the queues in which it finds a
    /// ready class.
    fn first_below(
        &self,
        books: &Books,
        mut queue: QueueId,
        (pass, open): (Pass, &BTreeSet<QueueId>),
    ) -> Option<AllocationId> {
        while !books.queue(queue).leaf {
            let below = books.children(queue).map(|(id, _)| id).filter(|id| open.contains(id));
            queue = below.min_by_key(|id| self.tree.key_of(books, *id))?;
        }
        let (_, class) = self.tree.ready(queue, pass).first()?;
        Some(self.first_ask(*class).1)
    }

    /// Returns the criterion by which another ask of its leaf precedes this ask.
    fn goes_before_in_leaf(
        &self,
        books: &Books,
        (leaf, pass): (QueueId, Pass),
        ask: AllocationId,
    ) -> Option<Before> {
        let of = |by, first| Some(Before { queue: leaf, by, first });
        let Some((_, class)) = self.tree.ready(leaf, pass).first() else {
            // Only the next step picks a user by fair share.
            let place = QueuePosition::of(books, self, ask)?;
            return if place.position > 1 { of(Precedence::Order, None) } else { None };
        };
        let (application, first) = self.first_ask(*class);
        if first == ask {
            return None;
        }
        let row = books.allocation(ask);
        if application == row.application {
            let urgent = books.allocation(first).priority > row.priority;
            return of(if urgent { Precedence::Priority } else { Precedence::Order }, Some(first));
        }
        let key = |id: ApplicationId| self.applications.get(id.index())?.key.as_ref();
        let (other, own) = (key(application)?, key(row.application)?);
        let by = other.precedence_over(own, &books.queue(leaf).settings.values);
        of(if other < own { by } else { Precedence::Order }, Some(first))
    }

    /// Returns the pass that finds a ready class in a partition, and the queues with ready classes, including their
    /// ancestors.
    fn to_be_looked_at(
        &self,
        books: &Books,
        partition: PartitionId,
    ) -> Option<(Pass, BTreeSet<QueueId>)> {
        if self.is_stale() {
            return None;
        }
        // With fair share, a leaf shows no class before the next step. Its open groups show that classes are ready.
        let opened: BTreeSet<(Pass, QueueId)> =
            self.parked.open_leaves(books).map(|(leaf, pass)| (pass, leaf)).collect();
        let leaves = || {
            let all = books.queues().iter().filter(|(_, row)| row.partition == partition);
            all.filter(|(_, row)| row.leaf && row.accepts_allocations()).map(|(id, _)| id)
        };
        Pass::ALL.into_iter().find_map(|pass| {
            let waits = |leaf: &QueueId| {
                !self.tree.ready(*leaf, pass).is_empty() || opened.contains(&(pass, *leaf))
            };
            let open = leaves().filter(waits);
            let queues = open.flat_map(|leaf| books.up(leaf).map(|(above, _)| above));
            let queues: BTreeSet<QueueId> = queues.collect();
            (!queues.is_empty()).then_some((pass, queues))
        })
    }
}
