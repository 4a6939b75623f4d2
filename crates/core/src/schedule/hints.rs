//! Hints to the RM: asks that more nodes would help. Source: scheduling §15, no-starvation NS-52.
//!
//! A scan reports as many waiting asks as queues and limits would admit if there were enough nodes. A reported ask that
//! still waits counts as if it ran.
//!
//! Before the first scan, nothing is recorded, so partitions without scans have no cost. After the first scan, the
//! unreported asks of equal classes are stored in order, with the number of reported asks. A scan costs these groups of
//! classes and the number of its reports. An ask about which the RM was asked is a class of its own, but in
//! the group of its equals.

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
use super::class::{AskBatch, AskBatchId, ClassId, ClassKey};
use super::order::{ApplicationKey, AskKey, QueueKey};
use super::placement_mode::PlacementMode;
use super::{ChargeState, Scheduler};

/// Asks that are reported or can be.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    /// Whether a scan was ever requested.
    wanted: bool,
    /// Number of groups with unreported asks.
    open: usize,
    by_leaf: BTreeMap<QueueId, BTreeMap<ClassKey, Group>>,
}

/// Returns the key of the group of a class: everything that its asks share with those of other classes, so that all of
/// them fit, or none. An ask about which the RM was asked is in the group of its equals.
fn group_of(class: ClassKey) -> ClassKey {
    match class.mode {
        PlacementMode::NeedsVerdict(_) => ClassKey { mode: PlacementMode::AnyNode, ..class },
        PlacementMode::AnyNode
        | PlacementMode::MayPreempt(_)
        | PlacementMode::AllOrNothing(_)
        | PlacementMode::RequiredNode(_)
        | PlacementMode::RequiredNodeAbsent(_)
        | PlacementMode::ReservedNode(_)
        | PlacementMode::ReplacePlaceholder(..)
        | PlacementMode::ReplacePlaceholderAlone(_) => class,
    }
}

/// Asks of the classes of a group.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Batches with unreported asks in order.
    unreported: BTreeSet<Unreported>,
    /// Batches with reported asks.
    reporters: BTreeSet<AskBatchId>,
    /// Number of reported asks.
    reported: usize,
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
    /// Key of the batch in its group.
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
        if self.hints.open == 0 {
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
        let AskBatch { class, heard, .. } = &mut self.classes.batches[batch];
        let before = heard.reported;
        heard.reported = if more { before + 1 } else { before - 1 };
        let (class, after) = (*class, heard.reported);
        self.replace_reported(class, batch, before, after);
    }

    /// Records that a batch joined its class.
    pub(super) fn hint_enters(&mut self, batch: AskBatchId) {
        if self.hints.wanted {
            let row = &self.classes.batches[batch];
            let (class, reported) = (row.class, row.heard.reported);
            self.replace_reported(class, batch, 0, reported);
            self.show_unreported(batch);
        }
    }

    /// Records that a batch is about to leave its class.
    pub(super) fn hint_exits(&mut self, batch: AskBatchId) {
        if self.hints.wanted {
            let AskBatch { class, heard, .. } = &mut self.classes.batches[batch];
            let (class, reported) = (*class, heard.reported);
            let before = heard.place.take().map(|place| *place);
            self.replace_reported(class, batch, reported, 0);
            self.replace_unreported(class, before, None);
        }
    }

    /// Updates the position of a batch among the batches of its group with unreported asks.
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
        class: ClassId,
        before: Option<Unreported>,
        after: Option<Unreported>,
    ) {
        self.change_group(class, |group| {
            if let Some(before) = before {
                group.unreported.remove(&before);
            }
            group.unreported.extend(after);
        });
    }

    /// Changes the number of reported asks of a batch in the group of its class.
    fn replace_reported(&mut self, class: ClassId, batch: AskBatchId, before: usize, after: usize) {
        self.change_group(class, |group| {
            group.reported = group.reported - before + after;
            if after > 0 {
                group.reporters.insert(batch);
            } else {
                group.reporters.remove(&batch);
            }
        });
    }

    /// Changes the group of a class. A group without asks is not stored.
    fn change_group(&mut self, class: ClassId, change: impl FnOnce(&mut Group)) {
        let key = self.classes.rows[class].key;
        let groups = self.hints.by_leaf.entry(key.leaf).or_default();
        let group = groups.entry(group_of(key)).or_default();
        let was_open = usize::from(!group.unreported.is_empty());
        change(group);
        let is_open = usize::from(!group.unreported.is_empty());
        self.hints.open = self.hints.open - was_open + is_open;
        if is_open == 0 && group.reporters.is_empty() {
            groups.remove(&group_of(key));
        }
        if groups.is_empty() {
            self.hints.by_leaf.remove(&key.leaf);
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
        let is_open = |group: &Group| !group.unreported.is_empty();
        let leaves = scheduler.hints.by_leaf.iter();
        let leaves = leaves.filter(|(_, groups)| groups.values().any(is_open));
        let wanted = leaves.flat_map(|(leaf, _)| books.up(*leaf).map(|(id, _)| id)).collect();
        let mut scan = Self {
            books,
            scheduler,
            wanted,
            collected: Vec::new(),
            of_queues: BTreeMap::new(),
            of_levels: BTreeMap::new(),
        };
        for (class, group) in scheduler.hints.by_leaf.values().flatten() {
            // The placeholder of a member already counts.
            if let Some(batch) = group.reporters.first()
                && !class.mode.replaces_placeholder()
            {
                let count = u32::try_from(group.reported).unwrap_or(u32::MAX);
                let size = books.shapes().times(class.shape, count);
                scan.count(class.leaf, scheduler.classes.batches[*batch].application, &size);
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

    /// Visits the groups of a leaf in parallel, in the order of their asks. A group ends with its first ask that does
    /// not fit, because its asks are equal and capacity does not increase during a scan.
    fn leaf(&mut self, leaf: QueueId) {
        let scheduler = self.scheduler;
        let groups = scheduler.hints.by_leaf.get(&leaf).into_iter().flatten();
        let groups = groups.filter(|(key, _)| self.may_be_reported(**key));
        let mut lines: Vec<(ClassKey, Peekable<_>)> =
            groups.map(|(key, group)| (*key, unreported(scheduler, group).peekable())).collect();
        let mut next: BinaryHeap<Reverse<(Turn<'a>, usize)>> = BinaryHeap::new();
        for (place, (_, line)) in lines.iter_mut().enumerate() {
            next.extend(line.peek().map(|turn| Reverse((*turn, place))));
        }
        while let Some(Reverse((_, place))) = next.pop() {
            let (class, line) = &mut lines[place];
            let members = class.members() as usize;
            // Asks that start together are reported together.
            let turns: Vec<Turn<'_>> = line.by_ref().take(members).collect();
            if self.tell(*class, &turns) {
                next.extend(line.peek().map(|turn| Reverse((*turn, place))));
            }
        }
    }

    /// Returns whether the asks of a class would start as soon as nodes have enough free capacity.
    fn may_be_reported(&self, key: ClassKey) -> bool {
        let is_known = matches!(key.charge, ChargeState::Linked { waits: false, .. });
        is_known && !key.mode.replaces_placeholder() && may_not_start(self.books, key).is_none()
    }

    /// Reports the next asks of a class, as many as start together. Returns whether they fit.
    fn tell(&mut self, class: ClassKey, turns: &[Turn<'_>]) -> bool {
        let books = self.books;
        let Some((.., first)) = turns.first() else { return false };
        let batch = &self.scheduler.classes.batches[*first];
        let size = class.needs(books);
        // More nodes would increase the capacity of the cluster, so the maximum of the root is not checked.
        let mut queues = books.up(class.leaf).filter(|(_, queue)| queue.parent.is_some());
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
            self.count(class.leaf, batch.application, &size);
            self.collected.extend(asks);
        }
        true
    }
}

/// Position of an ask in its leaf, and its batch.
type Turn<'a> = (&'a ApplicationKey, &'a AskKey, AskBatchId);

/// Returns the unreported asks of a group in order.
fn unreported<'a>(
    scheduler: &'a Scheduler,
    group: &'a Group,
) -> impl Iterator<Item = Turn<'a>> + use<'a> {
    group.unreported.iter().flat_map(|(application, _, batch)| {
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
