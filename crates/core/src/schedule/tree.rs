//! Which queue is next: below each parent the queues with something ready, in order.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::QueueId;
use crate::resource::Resources;

use super::class_list::ClassPosition;
use super::effective_limits::EffectiveLimits;
use super::order::QueueKey;
use super::placement_mode::Pass;
use super::rank::Ranks;

/// What the scheduler keeps of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueIndex {
    /// What is ready, pass by pass.
    passes: [Ready; Pass::COUNT],
    /// The denominator of its share.
    fair_max: Option<Resources>,
    /// The sizes by which it stands in all indexes, where they may change without an event of its own.
    sizes: Option<EffectiveLimits>,
    /// Where its path stands among all paths.
    rank: u64,
    dirty: bool,
}

/// What is ready in one queue, for one pass.
#[derive(Clone, Debug, Default)]
struct Ready {
    /// Of a leaf: classes to be judged, in order.
    classes: BTreeSet<ClassPosition>,
    /// Of a parent: queues below with something ready, in order.
    children: BTreeSet<(QueueKey, QueueId)>,
    /// The key under which the parent has this queue as ready.
    key: Option<QueueKey>,
}

/// The queues of all partitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    queues: Vec<QueueIndex>,
    ranks: Ranks,
    /// Queues whose order keys may have changed, themselves and all above.
    dirty: Vec<QueueId>,
    /// Whether the size of a cluster changed, and so every share.
    stale: bool,
    /// Whether all paths have other numbers.
    renumbered: bool,
}

impl Tree {
    /// The classes of a leaf that are to be judged, in order.
    #[inline]
    pub(super) fn ready(&self, leaf: QueueId, pass: Pass) -> &BTreeSet<ClassPosition> {
        &self.queues[leaf.index()].passes[pass.index()].classes
    }

    #[inline]
    pub(super) fn ready_mut(&mut self, leaf: QueueId, pass: Pass) -> &mut BTreeSet<ClassPosition> {
        &mut self.queues[leaf.index()].passes[pass.index()].classes
    }

    /// Take in all queues at once.
    pub(super) fn fill(&mut self, books: &Books) {
        let count = books.queues().iter().map(|(id, _)| id.index() + 1).max().unwrap_or(0);
        self.queues.resize_with(count, QueueIndex::default);
        self.ranks.fill(books.queues().iter().map(|(_, queue)| &queue.path));
        for (id, row) in
            books.queues().iter().filter(|(_, row)| books.has_fractional_queues(row.partition))
        {
            self.queues[id.index()].sizes = Some(EffectiveLimits::of(row));
        }
        self.stale = true;
    }

    /// Take in a new queue.
    pub(super) fn add(&mut self, books: &Books, queue: QueueId) {
        if self.queues.len() <= queue.index() {
            self.queues.resize_with(queue.index() + 1, QueueIndex::default);
        }
        let index = &mut self.queues[queue.index()];
        let row = books.queue(queue);
        let sizes = books.has_fractional_queues(row.partition).then(|| EffectiveLimits::of(row));
        *index = QueueIndex { fair_max: books.fair_max(queue), sizes, ..QueueIndex::default() };
        match self.ranks.insert(&books.queue(queue).path) {
            Some(rank) => index.rank = rank,
            None => self.renumbered = true,
        }
    }

    /// Forget a queue that is about to go; nothing waits in it.
    pub(super) fn remove(&mut self, books: &Books, queue: QueueId) {
        let row = books.queue(queue);
        self.ranks.remove(&row.path);
        // Its parent may have it in its order still: what was ready left without a step since.
        let gone = core::mem::take(&mut self.queues[queue.index()]);
        if gone.dirty {
            self.dirty.retain(|dirty| *dirty != queue);
        }
        let Some(parent) = row.parent else { return };
        for pass in Pass::LISTS {
            if let Some(key) = gone.passes[pass.index()].key {
                let above = &mut self.queues[parent.index()].passes[pass.index()];
                above.children.remove(&(key, queue));
                self.touch(parent);
            }
        }
    }

    /// A leaf has another maximum or guarantee.
    pub(super) fn sized(&mut self, books: &Books, leaf: QueueId) {
        let index = &mut self.queues[leaf.index()];
        index.fair_max = books.fair_max(leaf);
        index.sizes = index.sizes.is_some().then(|| EffectiveLimits::of(books.queue(leaf)));
        self.touch(leaf);
    }

    /// The sizes by which a queue stands in all indexes, if they are known.
    pub(super) fn sizes_mut(&mut self, queue: QueueId) -> &mut Option<EffectiveLimits> {
        &mut self.queues[queue.index()].sizes
    }

    /// Every share changes: the cluster has another size.
    pub(super) fn resize(&mut self) {
        self.stale = true;
    }

    /// Note that the use, the asks or the ready classes of a queue changed.
    #[inline]
    pub(super) fn touch(&mut self, queue: QueueId) {
        let index = &mut self.queues[queue.index()];
        if !index.dirty {
            index.dirty = true;
            self.dirty.push(queue);
        }
    }

    /// Bring the order up to date with the books.
    #[inline]
    pub(super) fn refresh(&mut self, books: &Books) {
        if self.stale {
            self.refresh_all(books);
        } else if self.renumbered {
            self.refresh_ranks(books);
        }
        while let Some(queue) = self.dirty.pop() {
            self.queues[queue.index()].dirty = false;
            let mut next = Some(queue);
            while let Some(queue) = next {
                self.rekey(books, queue);
                next = books.queue(queue).parent;
            }
        }
    }

    /// The leaf to look at next, and for what: this pass or, where nodes may be reserved, a
    /// reservation, whichever comes first.
    #[inline]
    pub(super) fn first(
        &self,
        books: &Books,
        root: QueueId,
        pass: Pass,
        keeps: bool,
    ) -> Option<(QueueId, Pass)> {
        let mut at = root;
        while !books.queue(at).leaf {
            let lists = &self.queues[at.index()].passes;
            let first = lists[pass.index()].children.first();
            let reserving = lists[Pass::ReserveNodes.index()].children.first().filter(|_| keeps);
            at = earlier(first, reserving)?.1;
        }
        let first = self.ready(at, pass).first();
        let reserving = self.ready(at, Pass::ReserveNodes).first().filter(|_| keeps);
        let chosen = earlier(first, reserving)?;
        Some((at, if first == Some(chosen) { pass } else { Pass::ReserveNodes }))
    }

    fn refresh_all(&mut self, books: &Books) {
        (self.stale, self.renumbered) = (false, false);
        for (id, queue) in books.queues().iter() {
            self.queues[id.index()].fair_max = books.fair_max(id);
            self.queues[id.index()].rank = self.ranks.get(&queue.path);
            if queue.leaf {
                self.touch(id);
            }
        }
    }

    /// Fetch the number of every path again, also for queues that stand in an order by it.
    fn refresh_ranks(&mut self, books: &Books) {
        self.renumbered = false;
        for (id, queue) in books.queues().iter() {
            self.queues[id.index()].rank = self.ranks.get(&queue.path);
            if self.queues[id.index()].passes.iter().any(|one| one.key.is_some()) {
                self.touch(id);
            }
        }
    }

    /// Where a queue stands among its siblings, by what it uses and asks for now.
    pub(super) fn key_of(&self, books: &Books, queue: QueueId) -> QueueKey {
        let (row, index) = (books.queue(queue), &self.queues[queue.index()]);
        let share = row.allocated.fair_share(row.guaranteed.as_ref(), index.fair_max.as_ref());
        let above = row.parent.map(|parent| books.queue(parent));
        let first = above.is_some_and(|parent| parent.settings.values.priority_first);
        QueueKey::of(row, share, row.shown_priority().unwrap_or(i32::MIN), first, index.rank)
    }

    /// Put a queue where it belongs below its parent, or take it out.
    fn rekey(&mut self, books: &Books, queue: QueueId) {
        let row = books.queue(queue);
        let Some(parent) = row.parent else { return };
        let index = &self.queues[queue.index()];
        let waits = |one: &Ready| {
            let some = if row.leaf { !one.classes.is_empty() } else { !one.children.is_empty() };
            some && row.accepts_allocations()
        };
        let waits = Pass::LISTS.map(|pass| waits(&index.passes[pass.index()]));
        let after = waits.contains(&true).then(|| self.key_of(books, queue));
        for pass in Pass::LISTS {
            let after = after.filter(|_| waits[pass.index()]);
            let ready = &mut self.queues[queue.index()].passes[pass.index()];
            let before = core::mem::replace(&mut ready.key, after);
            if before == after {
                continue;
            }
            let siblings = &mut self.queues[parent.index()].passes[pass.index()].children;
            if let Some(before) = before {
                siblings.remove(&(before, queue));
            }
            if let Some(after) = after {
                siblings.insert((after, queue));
            }
        }
    }
}

/// The earlier of two that may be missing; the left one if they are alike.
#[inline]
fn earlier<'one, T: Ord>(left: Option<&'one T>, right: Option<&'one T>) -> Option<&'one T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}
