//! Which asks more nodes would help. Scheduling §15.
//!
//! An ask counts only if the scheduler has looked at it, which needs no record of its own: once
//! the scheduler is idle it has looked at every ask whose application may run and whose user and
//! group have room for it. Costs what waits, as with the reference: a scan is made once a second.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Application, ApplicationState, Books, Queue};
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, LevelId, QueueId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Resources;
use crate::schedule::{ApplicationKey, QueueKey};
use crate::time::Timestamp;

use super::partition_named;

pub(super) fn scan(
    books: &Books,
    now: Timestamp,
    partition: &Name,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let mut scan = Scan::of(books, now);
    scan.queue(books.partition(partition).root);
    Ok(scan.collected.into_iter().map(|ask| Event::ScaleUpAsked { ask }).collect())
}

/// A scan on its way.
struct Scan<'books> {
    books: &'books Books,
    now: Timestamp,
    collected: Vec<AllocationId>,
    /// What was collected, by queue and by level of a tracker: it is taken off their headroom.
    of_queues: BTreeMap<QueueId, Resources>,
    of_levels: BTreeMap<LevelId, Resources>,
}

impl<'books> Scan<'books> {
    const fn of(books: &'books Books, now: Timestamp) -> Self {
        Self {
            books,
            now,
            collected: Vec::new(),
            of_queues: BTreeMap::new(),
            of_levels: BTreeMap::new(),
        }
    }

    /// The queues below a parent in the order of a cycle, the applications of a leaf in theirs.
    fn queue(&mut self, id: QueueId) {
        let (books, row) = (self.books, self.books.queue(id));
        if !row.pending.is_strictly_positive() {
            return;
        }
        if !row.leaf {
            let mut below: Vec<(QueueId, &Queue)> =
                books.children(id).filter(|(_, queue)| queue.offers_room()).collect();
            below.sort_by_cached_key(|(id, queue)| (self.key(*id, queue, row), queue.path.clone()));
            return below.into_iter().for_each(|(queue, _)| self.queue(queue));
        }
        let line = &row.settings.values.line;
        let key = |one: &Application| {
            let aged = line.aged(self.now.since(one.submitted));
            Some(ApplicationKey::of(one, row, one.priority()?, aged))
        };
        let mut waiting: Vec<(ApplicationKey, ApplicationId)> =
            books.applications_in(id).filter_map(|(id, one)| Some((key(one)?, id))).collect();
        waiting.sort();
        for (_, application) in waiting {
            self.application(id, application);
        }
    }

    fn key(&self, id: QueueId, queue: &Queue, parent: &Queue) -> QueueKey {
        let fair_max = self.books.fair_max(id);
        let share = queue.allocated.fair_share(queue.guaranteed.as_ref(), fair_max.as_ref());
        let priority = queue.shown_priority().unwrap_or(i32::MIN);
        QueueKey::of(queue, share, priority, parent.settings.values.priority_first, 0)
    }

    fn application(&mut self, leaf: QueueId, id: ApplicationId) {
        let (books, row) = (self.books, self.books.application(id));
        if row.lacks_group() || !may_run(books, id, row) {
            return;
        }
        let own = |levels: &BTreeMap<LevelId, Resources>| {
            books.limiting_levels(id).fold(None, |least: Option<Resources>, (level, one)| {
                let left = less(one.left(), levels.get(&level));
                Resources::min_of(least.as_ref(), left.as_ref())
            })
        };
        let allowed = own(&BTreeMap::new());
        let mut user = own(&self.of_levels);
        // The size of the cluster is what would change: the root does not count.
        let queues = books.up(leaf).filter(|(_, queue)| queue.parent.is_some());
        let mut room = queues.fold(None, |least: Option<Resources>, (queue, one)| {
            let left = less(one.left.clone(), self.of_queues.get(&queue));
            Resources::min_of(least.as_ref(), left.as_ref())
        });
        let fits = |room: &Option<Resources>, ask: &Resources| {
            room.as_ref().is_none_or(|room| room.allows(ask))
        };
        for (ask, one) in in_order(books, id) {
            let size = books.resources_of(ask);
            let member = one.task_group().is_some_and(|group| row.waits_for_place(group));
            let looked_at = fits(&allowed, size) && (one.placeholder || !member);
            if !looked_at || !fits(&user, size) || !fits(&room, size) {
                continue;
            }
            user = less(user, Some(size));
            room = less(room, Some(size));
            // As long as the RM has not answered, a node there may do.
            let awaits = books.question_of(ask).is_some();
            if !one.scale_up_asked && one.required_node().is_none() && !awaits {
                self.collect(leaf, id, ask, size);
            }
        }
    }

    fn collect(&mut self, leaf: QueueId, id: ApplicationId, ask: AllocationId, size: &Resources) {
        self.collected.push(ask);
        for (queue, _) in self.books.up(leaf) {
            self.of_queues.entry(queue).or_default().add(size);
        }
        for (level, _) in self.books.limiting_levels(id) {
            self.of_levels.entry(level).or_default().add(size);
        }
    }
}

fn less(left: Option<Resources>, taken: Option<&Resources>) -> Option<Resources> {
    match (left, taken) {
        (Some(left), Some(taken)) => Some(left.minus_existing(taken)),
        (left, _) => left,
    }
}

/// The asks of an application that wait, high priority first, then old first.
fn in_order(books: &Books, id: ApplicationId) -> Vec<(AllocationId, &Allocation)> {
    let mut asks: Vec<(AllocationId, &Allocation)> =
        books.allocations_of(id).filter(|(_, one)| one.is_pending()).collect();
    asks.sort_by_key(|(_, one)| (Reverse(one.priority), one.created, one.number));
    asks
}

/// Whether the numbers of applications allow it to run, or it counts already.
fn may_run(books: &Books, id: ApplicationId, row: &Application) -> bool {
    if row.state != ApplicationState::Accepted {
        return true;
    }
    let queues = || books.up(row.queue).all(|(_, queue)| queue.allows_application());
    let levels = || books.limiting_levels(id).all(|(_, level)| level.allows_application());
    (row.allocating || queues()) && (row.counted || levels())
}
