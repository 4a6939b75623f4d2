//! Hints to the RM: asks that more nodes would help. Source: scheduling §15, no-starvation NS-52.
//!
//! A scan reports as many waiting asks as queues and limits would admit if there were enough nodes. A reported ask that
//! still waits counts as if it ran.
//!
//! Before the first scan, nothing is recorded, so partitions without scans have no cost. After the first scan, each
//! class maintains its unreported asks in order. A scan costs the classes with unreported asks and the number of its
//! reports.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::iter::Peekable;

use crate::books::{Books, Queue};
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, ApplicationId, LevelId, PartitionId, QueueId};
use crate::resource::Resources;

use super::batch_list::BatchKey;
use super::check_class::may_not_start;
use super::class::{AskBatch, AskBatchId, ClassId};
use super::order::{ApplicationKey, AskKey, QueueKey};
use super::placement_mode::PlacementMode;
use super::{ChargeState, Scheduler};

/// Classes with unreported asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    /// Whether a scan was ever requested.
    wanted: bool,
    by_leaf: BTreeMap<QueueId, BTreeSet<ClassId>>,
}

impl Hints {
    /// Returns whether a scan was ever requested.
    pub(super) const fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Returns empty hints for rebuilt indexes.
    pub(super) fn renewed(&self) -> Self {
        Self { wanted: self.wanted, ..Self::default() }
    }
}

/// Position of the first unreported ask of a batch.
pub(super) type Unreported = (ApplicationKey, AskKey, AskBatchId);

/// Unreported asks of a batch, and the number of its reported asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    /// Asks that are not reported and that can be.
    unreported: BTreeSet<AskKey>,
    /// Number of reported asks that still wait.
    reported: usize,
    /// Key of the batch in its class.
    place: Option<Box<Unreported>>,
}

/// Returns whether more nodes can help an ask for which no node has enough free capacity. They help neither an ask that
/// requires a node nor one that replaces a placeholder.
pub fn more_nodes_help(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    row.required_node().is_none() && !PlacementMode::of(books, ask, row).replaces_placeholder()
}

impl Scheduler {
    /// Returns events that report the unreported asks of a partition that more nodes would help.
    pub fn outstanding(&mut self, books: &Books, partition: PartitionId) -> Vec<Event> {
        // Without a resource manager, no client could add nodes.
        if books.partition(partition).away.is_some() {
            return Vec::new();
        }
        if self.is_stale() {
            self.rebuild(books);
        }
        if !core::mem::replace(&mut self.hints.wanted, true) {
            self.disown_all();
            let known: Vec<(AskBatchId, Vec<AllocationId>)> = self
                .classes
                .batches
                .iter()
                .map(|(id, batch)| (id, batch.asks.values().copied().collect()))
                .collect();
            for (batch, asks) in known {
                for ask in asks {
                    self.hint_joins(books, ask, batch);
                }
            }
        }
        if self.hints.by_leaf.is_empty() {
            return Vec::new();
        }
        let mut scan = Scan::of(books, self);
        scan.queue(books.partition(partition).root);
        scan.collected.into_iter().map(|ask| Event::Ask(AskEvent::ScaleUpAsked { ask })).collect()
    }

    /// Records that an ask joined a batch.
    pub(super) fn hint_joins(&mut self, books: &Books, ask: AllocationId, batch: AskBatchId) {
        if !self.hints.wanted {
            return;
        }
        let (row, heard) = (books.allocation(ask), &mut self.classes.batches[batch].heard);
        if row.scale_up_asked {
            self.count_reported(batch, true);
        } else if row.required_node().is_none() {
            heard.unreported.insert(AskKey::of(row));
            self.show_unreported(batch);
        }
    }

    /// Records that an ask is about to leave a batch.
    pub(super) fn hint_leaves(&mut self, books: &Books, ask: AllocationId, batch: AskBatchId) {
        if !self.hints.wanted {
            return;
        }
        let row = books.allocation(ask);
        if row.scale_up_asked {
            self.count_reported(batch, false);
        } else if self.classes.batches[batch].heard.unreported.remove(&AskKey::of(row)) {
            self.show_unreported(batch);
        }
    }

    /// Records that an ask was reported.
    pub(super) fn hint_given(&mut self, books: &Books, ask: AllocationId) {
        let row = books.allocation(ask);
        if !self.hints.wanted || !row.is_pending() {
            return;
        }
        let mode = PlacementMode::of(books, ask, row);
        let waiting = self.applications.get(row.application.index());
        let Some(batch) = waiting.and_then(|one| one.batch(BatchKey::of(books, ask, mode))) else {
            return;
        };
        if self.classes.batches[batch].heard.unreported.remove(&AskKey::of(row)) {
            self.count_reported(batch, true);
            self.show_unreported(batch);
        }
    }

    fn count_reported(&mut self, batch: AskBatchId, more: bool) {
        let row = &mut self.classes.batches[batch];
        let class = &mut self.classes.rows[row.class];
        for count in [&mut row.heard.reported, &mut class.reported] {
            *count = if more { *count + 1 } else { *count - 1 };
        }
    }

    /// Records that a batch joined its class.
    pub(super) fn hint_enters(&mut self, batch: AskBatchId) {
        if self.hints.wanted {
            let row = &self.classes.batches[batch];
            self.classes.rows[row.class].reported += row.heard.reported;
            self.show_unreported(batch);
        }
    }

    /// Records that a batch is about to leave its class.
    pub(super) fn hint_exits(&mut self, batch: AskBatchId) {
        if self.hints.wanted {
            let row = &mut self.classes.batches[batch];
            let (class, before) = (row.class, row.heard.place.take().map(|place| *place));
            self.classes.rows[class].reported -= row.heard.reported;
            self.replace_unreported(class, before, None);
        }
    }

    /// Updates the position of a batch among the batches of its class with unreported asks.
    pub(super) fn show_unreported(&mut self, id: AskBatchId) {
        let AskBatch { class, head, heard, .. } = &mut self.classes.batches[id];
        let first = heard.unreported.first();
        let is_there = |place: &Unreported| Some(&place.1) == first && place.0 == head.application;
        if heard.place.as_deref().map_or(first.is_none(), is_there) {
            return;
        }
        let after = first.map(|ask| (head.application.clone(), *ask, id));
        let before = core::mem::replace(&mut heard.place, after.clone().map(Box::new));
        let class = *class;
        self.replace_unreported(class, before.map(|place| *place), after);
    }

    fn replace_unreported(
        &mut self,
        id: ClassId,
        before: Option<Unreported>,
        after: Option<Unreported>,
    ) {
        let class = &mut self.classes.rows[id];
        let was_empty = class.unreported.is_empty();
        if let Some(before) = before {
            class.unreported.remove(&before);
        }
        class.unreported.extend(after);
        let (leaf, is_empty) = (class.key.leaf, class.unreported.is_empty());
        if was_empty == is_empty {
            return;
        }
        let classes = self.hints.by_leaf.entry(leaf).or_default();
        if is_empty {
            classes.remove(&id);
        } else {
            classes.insert(id);
        }
        if classes.is_empty() {
            self.hints.by_leaf.remove(&leaf);
        }
    }
}

/// State of one scan.
struct Scan<'a> {
    books: &'a Books,
    scheduler: &'a Scheduler,
    /// Leaves with unreported asks, and all their ancestors.
    wanted: BTreeSet<QueueId>,
    collected: Vec<AllocationId>,
    /// Amounts of reported asks by queue and by tracker level. They are subtracted from the headroom.
    of_queues: BTreeMap<QueueId, Resources>,
    of_levels: BTreeMap<LevelId, Resources>,
}

impl<'a> Scan<'a> {
    fn of(books: &'a Books, scheduler: &'a Scheduler) -> Self {
        let leaves = scheduler.hints.by_leaf.keys();
        let wanted = leaves.flat_map(|leaf| books.up(*leaf).map(|(id, _)| id)).collect();
        let mut scan = Self {
            books,
            scheduler,
            wanted,
            collected: Vec::new(),
            of_queues: BTreeMap::new(),
            of_levels: BTreeMap::new(),
        };
        for (id, class) in scheduler.classes.rows.iter().filter(|(_, class)| class.reported > 0) {
            // The placeholder of a member already counts.
            if !class.key.mode.replaces_placeholder() {
                let count = u32::try_from(class.reported).unwrap_or(u32::MAX);
                let size = books.shapes().times(class.key.shape, count);
                scan.count(class.key.leaf, scheduler.first_ask(id).0, &size);
            }
        }
        scan
    }

    /// Counts an amount as reported.
    fn count(&mut self, leaf: QueueId, application: ApplicationId, size: &Resources) {
        for (queue, _) in self.books.up(leaf) {
            self.of_queues.entry(queue).or_default().add(size);
        }
        for (level, _) in self.books.limiting_levels(application) {
            self.of_levels.entry(level).or_default().add(size);
        }
    }

    /// Visits a queue: the children of a parent in the order of a cycle, or the asks of a leaf in order.
    fn queue(&mut self, id: QueueId) {
        let (books, row) = (self.books, self.books.queue(id));
        if row.leaf {
            return self.leaf(id);
        }
        let below = books.children(id).filter(|(_, queue)| queue.accepts_allocations());
        let mut below: Vec<(QueueId, &Queue)> =
            below.filter(|(queue, _)| self.wanted.contains(queue)).collect();
        below.sort_by_cached_key(|(id, queue)| (self.key(*id, queue, row), queue.path.clone()));
        for (queue, _) in below {
            self.queue(queue);
        }
    }

    fn key(&self, id: QueueId, queue: &Queue, parent: &Queue) -> QueueKey {
        let fair_max = self.books.fair_max(id);
        let share = queue.allocated.fair_share(queue.guaranteed.as_ref(), fair_max.as_ref());
        let priority = queue.shown_priority().unwrap_or(i32::MIN);
        QueueKey::of(queue, share, priority, parent.settings.values.priority_first, 0)
    }

    /// Visits the classes of a leaf in parallel, in the order of their asks. A class ends with its first ask that does
    /// not fit, because its asks are equal and capacity does not increase during a scan.
    fn leaf(&mut self, leaf: QueueId) {
        let scheduler = self.scheduler;
        let classes = scheduler.hints.by_leaf.get(&leaf).into_iter().flatten();
        let classes = classes.filter(|id| self.may_be_reported(**id));
        let mut lines: Vec<(ClassId, Peekable<_>)> =
            classes.map(|id| (*id, unreported(scheduler, *id).peekable())).collect();
        let mut next: BinaryHeap<Reverse<(Turn<'a>, usize)>> = BinaryHeap::new();
        for (place, (_, line)) in lines.iter_mut().enumerate() {
            next.extend(line.peek().map(|turn| Reverse((*turn, place))));
        }
        while let Some(Reverse((_, place))) = next.pop() {
            let (class, line) = &mut lines[place];
            let members = scheduler.classes.rows[*class].key.members() as usize;
            // Asks that start together are reported together.
            let turns: Vec<Turn<'_>> = line.by_ref().take(members).collect();
            if self.tell(*class, &turns) {
                next.extend(line.peek().map(|turn| Reverse((*turn, place))));
            }
        }
    }

    /// Returns whether the asks of a class would start as soon as nodes have enough free capacity.
    fn may_be_reported(&self, id: ClassId) -> bool {
        let key = self.scheduler.classes.rows[id].key;
        let is_known = matches!(key.charge, ChargeState::Linked { waits: false, .. });
        is_known && !key.mode.replaces_placeholder() && may_not_start(self.books, key).is_none()
    }

    /// Reports the next asks of a class, as many as start together. Returns whether they fit.
    fn tell(&mut self, class: ClassId, turns: &[Turn<'_>]) -> bool {
        let (books, row) = (self.books, &self.scheduler.classes.rows[class]);
        let Some((.., first)) = turns.first() else { return false };
        let batch = &self.scheduler.classes.batches[*first];
        let size = row.key.needs(books);
        // More nodes would increase the capacity of the cluster, so the maximum of the root is not checked.
        let mut queues = books.up(row.key.leaf).filter(|(_, queue)| queue.parent.is_some());
        let fits = |left: Option<Resources>, reported: Option<&Resources>| {
            left.is_none_or(|left| less(left, reported).allows(&size))
        };
        let fits_queues =
            queues.all(|(id, queue)| fits(queue.left.clone(), self.of_queues.get(&id)));
        let mut levels = books.limiting_levels(batch.application);
        if !fits_queues || !levels.all(|(id, one)| fits(one.left(), self.of_levels.get(&id))) {
            return false;
        }
        let asks =
            turns.iter().map(|(_, ask, batch)| self.scheduler.classes.batches[*batch].ask(**ask));
        // Until the RM answers a question, one of the existing nodes can be sufficient.
        let asks: Vec<AllocationId> =
            asks.filter(|ask| books.question_of(*ask).is_none()).collect();
        if !asks.is_empty() {
            self.count(row.key.leaf, batch.application, &size);
            self.collected.extend(asks);
        }
        true
    }
}

/// Position of an ask in its leaf, and its batch.
type Turn<'a> = (&'a ApplicationKey, &'a AskKey, AskBatchId);

/// Returns the unreported asks of a class in order.
fn unreported(scheduler: &Scheduler, class: ClassId) -> impl Iterator<Item = Turn<'_>> {
    scheduler.classes.rows[class].unreported.iter().flat_map(|(application, _, batch)| {
        let asks = &scheduler.classes.batches[*batch].heard.unreported;
        asks.iter().map(move |ask| (application, ask, *batch))
    })
}

fn less(left: Resources, reported: Option<&Resources>) -> Resources {
    match reported {
        Some(reported) => left.minus_existing(reported),
        None => left,
    }
}
