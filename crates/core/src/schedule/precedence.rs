//! Who is looked at before an ask that nothing else holds back, and by what order.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::QueuePosition;
use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::wait::Precedence;

use super::Scheduler;
use super::placement_mode::Pass;

/// What goes before an ask that nothing else holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// At which queue.
    pub(crate) queue: QueueId,
    /// By what.
    pub(crate) by: Precedence,
    /// Which ask is looked at first; none where that is found out with the next step only.
    pub(crate) first: Option<AllocationId>,
}

impl Scheduler {
    /// At which queue others are looked at before an ask, and by what; none if it is the next of its partition, and
    /// while the rules are new.
    ///
    /// Those that were put aside do not count: they stand before nobody. Costs the queues, and what asks are put aside for.
    pub(crate) fn goes_before(&self, books: &Books, ask: AllocationId) -> Option<Before> {
        let leaf = books.application(books.allocation(ask).application).queue;
        let Some((pass, open)) = self.to_be_looked_at(books, books.queue(leaf).partition) else {
            // Nothing is: an ask that waits for nothing is woken first, and then stands at its
            // place.
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

    /// The ask that a pass looks at first below a queue, of the queues in which it finds something.
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

    /// By what another ask of its leaf is looked at before this one.
    fn goes_before_in_leaf(
        &self,
        books: &Books,
        (leaf, pass): (QueueId, Pass),
        ask: AllocationId,
    ) -> Option<Before> {
        let of = |by, first| Some(Before { queue: leaf, by, first });
        let Some((_, class)) = self.tree.ready(leaf, pass).first() else {
            // Whose turn it is among users is only found out with the next step.
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

    /// The pass that finds something to be judged in a partition, and the queues in which it does, with those above
    /// them.
    fn to_be_looked_at(
        &self,
        books: &Books,
        partition: PartitionId,
    ) -> Option<(Pass, BTreeSet<QueueId>)> {
        if self.is_stale() {
            return None;
        }
        // Of users that take turns a leaf shows nobody before the next step; then its open groups say that some wait.
        let opened: BTreeSet<(Pass, QueueId)> =
            self.parked.open_leaves().map(|(leaf, pass)| (pass, leaf)).collect();
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
