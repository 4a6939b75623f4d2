//! Queue tree with the ready classes: finds the next queue of each parent.

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

/// State of one queue in the index.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueIndex {
    /// Ready classes and children by pass.
    passes: [Ready; Pass::COUNT],
    /// Denominator of its share.
    fair_max: Option<Resources>,
    /// Sizes that the indexes are based on, if they can change without an event of the queue.
    sizes: Option<EffectiveLimits>,
    /// Rank of its path among all paths.
    rank: u64,
    dirty: bool,
}

/// Ready classes and children of one queue, for one pass.
#[derive(Clone, Debug, Default)]
struct Ready {
    /// Ready classes of a leaf, in order.
    classes: BTreeSet<ClassPosition>,
    /// Children of a parent with ready classes, in order.
    children: BTreeSet<(QueueKey, QueueId)>,
    /// Whether a leaf without ready classes is listed, because it has classes that wait for a node.
    is_waiting: bool,
    /// Key of this queue in `children` of its parent.
    key: Option<QueueKey>,
}

/// What the search in the tree found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A leaf with a ready class, in this list.
    Ready(QueueId, Pass),
    /// A leaf with classes that wait for a node.
    Waiting(QueueId),
}

/// Queues of all partitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    queues: Vec<QueueIndex>,
    ranks: Ranks,
    /// Queues whose keys, and those of their ancestors, can have changed.
    dirty: Vec<QueueId>,
    /// Whether the size of a cluster changed, and with it every share.
    stale: bool,
    /// Whether all paths got new ranks.
    renumbered: bool,
}

impl Tree {
    /// Returns the ready classes of a leaf, in order.
    #[inline]
    pub(super) fn ready(&self, leaf: QueueId, pass: Pass) -> &BTreeSet<ClassPosition> {
        &self.queues[leaf.index()].passes[pass.index()].classes
    }

    #[inline]
    pub(super) fn ready_mut(&mut self, leaf: QueueId, pass: Pass) -> &mut BTreeSet<ClassPosition> {
        &mut self.queues[leaf.index()].passes[pass.index()].classes
    }

    /// Returns whether a leaf is listed because it has classes of a pass that wait for a node.
    pub(super) fn is_waiting(&self, leaf: QueueId, pass: Pass) -> bool {
        let list = pass.waiting().map(|list| &self.queues[leaf.index()].passes[list.index()]);
        list.is_some_and(|list| list.is_waiting)
    }

    /// Lists a leaf, or lists it no more, because it has classes of a pass that wait for a node.
    pub(super) fn list_waiting(&mut self, leaf: QueueId, pass: Pass, is_waiting: bool) {
        let Some(list) = pass.waiting() else { return };
        let list = &mut self.queues[leaf.index()].passes[list.index()];
        if list.is_waiting != is_waiting {
            list.is_waiting = is_waiting;
            self.touch(leaf);
        }
    }

    /// Adds all queues.
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

    /// Adds a new queue.
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

    /// Removes a queue that is about to be removed from the books. No ask waits in it.
    pub(super) fn remove(&mut self, books: &Books, queue: QueueId) {
        let row = books.queue(queue);
        self.ranks.remove(&row.path);
        // The parent can still list the queue, if its last ready class left without a step since.
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

    /// Updates a leaf after its maximum or guarantee changed.
    pub(super) fn sized(&mut self, books: &Books, leaf: QueueId) {
        let index = &mut self.queues[leaf.index()];
        index.fair_max = books.fair_max(leaf);
        index.sizes = index.sizes.is_some().then(|| EffectiveLimits::of(books.queue(leaf)));
        self.touch(leaf);
    }

    /// Returns the sizes that the indexes are based on, if they are tracked.
    pub(super) fn sizes_mut(&mut self, queue: QueueId) -> &mut Option<EffectiveLimits> {
        &mut self.queues[queue.index()].sizes
    }

    /// Marks every share as out of date, because the size of the cluster changed.
    pub(super) fn resize(&mut self) {
        self.stale = true;
    }

    /// Records that the usage, the asks, or the ready classes of a queue changed.
    #[inline]
    pub(super) fn touch(&mut self, queue: QueueId) {
        let index = &mut self.queues[queue.index()];
        if !index.dirty {
            index.dirty = true;
            self.dirty.push(queue);
        }
    }

    /// Updates the order of all changed queues.
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

    /// Returns the next leaf to check, and the list to use: of this pass, of reservations if nodes can be reserved
    /// (`keeps`), or of leaves with classes that wait for a node (`wakes`). The earliest of them precedes.
    #[inline]
    pub(super) fn first(
        &self,
        books: &Books,
        root: QueueId,
        pass: Pass,
        (keeps, wakes): (bool, bool),
    ) -> Option<Next> {
        let waiting = pass.waiting().filter(|_| wakes);
        let mut at = root;
        while !books.queue(at).leaf {
            let lists = &self.queues[at.index()].passes;
            let first = lists[pass.index()].children.first();
            let reserving = lists[Pass::ReserveNodes.index()].children.first().filter(|_| keeps);
            let waiting = waiting.and_then(|list| lists[list.index()].children.first());
            at = earlier(earlier(first, reserving), waiting)?.1;
        }
        if wakes && self.is_waiting(at, pass) {
            return Some(Next::Waiting(at));
        }
        let first = self.ready(at, pass).first();
        let reserving = self.ready(at, Pass::ReserveNodes).first().filter(|_| keeps);
        let chosen = earlier(first, reserving)?;
        Some(Next::Ready(at, if first == Some(chosen) { pass } else { Pass::ReserveNodes }))
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

    /// Reads the rank of every path again, also of queues that are listed by it.
    fn refresh_ranks(&mut self, books: &Books) {
        self.renumbered = false;
        for (id, queue) in books.queues().iter() {
            self.queues[id.index()].rank = self.ranks.get(&queue.path);
            if self.queues[id.index()].passes.iter().any(|one| one.key.is_some()) {
                self.touch(id);
            }
        }
    }

    /// Returns the key of a queue among its siblings, based on its current usage and asks.
    pub(super) fn key_of(&self, books: &Books, queue: QueueId) -> QueueKey {
        let (row, index) = (books.queue(queue), &self.queues[queue.index()]);
        let share = row.allocated.fair_share(row.guaranteed.as_ref(), index.fair_max.as_ref());
        let above = row.parent.map(|parent| books.queue(parent));
        let first = above.is_some_and(|parent| parent.settings.values.priority_first);
        QueueKey::of(row, share, row.shown_priority().unwrap_or(i32::MIN), first, index.rank)
    }

    /// Updates the position of a queue in its parent, or removes it.
    fn rekey(&mut self, books: &Books, queue: QueueId) {
        let row = books.queue(queue);
        let Some(parent) = row.parent else { return };
        let index = &self.queues[queue.index()];
        let waits = |one: &Ready| {
            let is_ready = one.is_waiting || !one.classes.is_empty();
            let some = if row.leaf { is_ready } else { !one.children.is_empty() };
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

/// Returns the lesser of two optional values, and the left one if they are equal.
#[inline]
fn earlier<'one, T: Ord>(left: Option<&'one T>, right: Option<&'one T>) -> Option<&'one T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}
