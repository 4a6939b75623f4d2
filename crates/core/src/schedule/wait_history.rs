//! Wait history of classes, and the times since which whole queues and partitions are blocked. For explanations only:
//! no decision depends on it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::Books;
use crate::event::{AskEvent, Event, PartitionEvent, QueueEvent};
use crate::id::{AllocationId, PartitionId, QueueId};
use crate::time::Timestamp;
use crate::wait::{About, Blocker, WaitCode};

use super::Scheduler;
use super::class::ClassId;

/// Number of stored changes of a class. Older changes are in the journal.
pub const WAIT_HISTORY_MAX: usize = 20;

/// Change of the wait reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitChange {
    /// Time of the change.
    pub at: Timestamp,
    /// Last record at that time, which contains the cause. 0 if records are not counted.
    pub sequence: u64,
    /// New wait code.
    pub code: WaitCode,
}

/// Changes of a class, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitHistory(SmallVec<[WaitChange; 1]>);

impl WaitHistory {
    /// Adds a change if its code differs from the last one.
    pub(super) fn note(&mut self, mark: WaitChange) {
        if self.0.last().is_some_and(|last| last.code == mark.code) {
            return;
        }
        if self.0.len() == WAIT_HISTORY_MAX {
            self.0.remove(0);
        }
        self.0.push(mark);
    }

    /// Returns the history of an ask that was created at this time: the changes of its class since then. `whole` is the
    /// change that blocks its whole queue or partition, if any.
    pub(super) fn since(&self, came: Timestamp, whole: Option<WaitChange>) -> Vec<WaitChange> {
        let mut all = self.clone();
        if let Some(mark) = whole {
            all.0.retain(|one| one.at <= mark.at);
            all.note(mark);
        }
        let before = all.0.iter().filter(|mark| mark.at <= came).count().saturating_sub(1);
        let own = all.0.iter().skip(before);
        own.map(|mark| WaitChange { at: mark.at.max(came), ..*mark }).collect()
    }
}

/// State from which changes are recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitHistoryState {
    /// Number of the last record, if records are counted.
    pub(super) record: u64,
    /// Wait history of an ask that moves to another class, while it is in no class.
    carried: WaitHistory,
    /// Queues that accept no allocations, and since when. `None` if that is older than the scheduler.
    closed_queues: BTreeMap<QueueId, Option<Moment>>,
    /// Times at which queues became leaves or parents.
    turned: BTreeMap<QueueId, Moment>,
    /// Partitions in recovery, and since when.
    recovering: BTreeMap<PartitionId, Option<Moment>>,
    /// Partitions with a disconnected resource manager, and since when.
    away: BTreeMap<PartitionId, Option<Moment>>,
}

/// Time of an event, and the last record then.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at: Timestamp,
    sequence: u64,
}

impl WaitHistoryState {
    /// Finds blocked queues and partitions in complete books.
    pub(super) fn know(&mut self, books: &Books) {
        for (queue, _) in books.queues().iter().filter(|(_, row)| !row.accepts_allocations()) {
            self.closed_queues.entry(queue).or_default();
        }
        for partition in books.partitions().keys().filter(|id| books.is_recovering(**id)) {
            self.recovering.entry(*partition).or_default();
        }
        let away = books.partitions().iter().filter(|(_, row)| row.away.is_some());
        self.away.extend(away.map(|(partition, _)| (*partition, None)));
    }

    /// Records, before an event, a queue that becomes a leaf or a parent. Its former applications or children accept no
    /// allocations afterwards.
    #[inline]
    pub(super) fn foresee(&mut self, books: &Books, at: Timestamp, event: &Event) {
        let Event::Queue(QueueEvent::Changed { partition, queue, leaf, .. }) = event else {
            return;
        };
        let queue = books.partition(*partition).queues.get(&**queue);
        if let Some(queue) = queue.filter(|queue| books.queue(**queue).leaf != *leaf) {
            self.turned.insert(*queue, Moment { at, sequence: self.record });
        }
    }

    /// Records, after an event, the queues and partitions that it blocks or unblocks. No class is checked for that, so
    /// no class records it.
    #[inline]
    pub(super) fn follow(&mut self, books: &Books, at: Timestamp, event: &Event) {
        let now = Moment { at, sequence: self.record };
        match event {
            Event::Queue(QueueEvent::Added { partition, parent, name, .. }) => {
                let path = alloc::format!("{parent}.{name}");
                let queue = books.partition(*partition).queues.get(path.as_str());
                self.follow_queue(books, queue.copied(), now);
            }
            Event::Queue(
                QueueEvent::Changed { partition, queue, .. }
                | QueueEvent::Moved { partition, queue, .. },
            ) => {
                let queue = books.partition(*partition).queues.get(&**queue);
                self.follow_queue(books, queue.copied(), now);
            }
            Event::Queue(QueueEvent::Removed { queue }) => {
                self.closed_queues.remove(queue);
                self.turned.remove(queue);
            }
            Event::Partition(PartitionEvent::RecoverySet { partition, .. })
                if books.is_recovering(*partition) =>
            {
                self.recovering.entry(*partition).or_insert(Some(now));
            }
            Event::Partition(PartitionEvent::RecoverySet { partition, .. }) => {
                self.recovering.remove(partition);
            }
            Event::Partition(PartitionEvent::ManagerAway { partition, away: Some(_) }) => {
                self.away.entry(*partition).or_insert(Some(now));
            }
            Event::Partition(PartitionEvent::ManagerAway { partition, away: None }) => {
                self.away.remove(partition);
            }
            Event::Configured { .. }
            | Event::Partition(
                PartitionEvent::Added { .. }
                | PartitionEvent::Changed { .. }
                | PartitionEvent::Removed { .. }
                | PartitionEvent::QuestionsSet { .. },
            )
            | Event::Queue(
                QueueEvent::LimitsChanged { .. } | QueueEvent::QuotaClockStopped { .. },
            )
            | Event::Node(_)
            | Event::Application(_)
            | Event::Task(_)
            | Event::Ask(_)
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => {}
        }
    }

    fn follow_queue(&mut self, books: &Books, queue: Option<QueueId>, now: Moment) {
        let Some(queue) = queue else { return };
        if books.queue(queue).accepts_allocations() {
            self.closed_queues.remove(&queue);
        } else {
            self.closed_queues.entry(queue).or_insert(Some(now));
        }
    }

    /// Returns since when a reason blocks all asks below a queue or in a partition. `None` if this is unknown, or if the
    /// reason is not of that kind.
    pub(super) fn of(
        &self,
        books: &Books,
        (blocker, leaf): (Blocker, QueueId),
    ) -> Option<WaitChange> {
        let since = if let Blocker::QueueState(queue) = blocker {
            self.closed_queues
                .get(&queue)
                .copied()
                .unwrap_or_else(|| self.turned.get(&queue).copied())
        } else if let About::Manager(partition) = blocker.about() {
            *self.recovering.get(&partition)?
        } else if let About::AbsentManager(partition) = blocker.about() {
            *self.away.get(&partition)?
        } else {
            None
        };
        let code = blocker.code(books, leaf);
        since.map(|Moment { at, sequence }| WaitChange { at, sequence, code })
    }
}

impl Scheduler {
    /// Sets the number of the record that contains the events applied so far and the next event. Explanations show it
    /// as the cause, and no decision depends on it.
    pub const fn count_records(&mut self, record: u64) {
        self.marking.record = record;
    }

    /// Saves, before an event, the history of an ask that the event moves to another class.
    pub(super) fn carry_marks(&mut self, books: &Books, event: &AskEvent) {
        let (AskEvent::Reserved { ask, .. }
        | AskEvent::Unreserved { ask }
        | AskEvent::Held { ask, .. }
        | AskEvent::HoldEnded { ask }) = event
        else {
            return;
        };
        match self.class_of(books, *ask) {
            Some(class) => self.take_marks(class),
            None => self.marking.carried = WaitHistory::default(),
        }
    }

    /// Saves the history of a class from which an ask moves to another one.
    pub(super) fn take_marks(&mut self, class: ClassId) {
        let row = self.classes.rows.get(class);
        self.marking.carried = row.map(|row| row.waited.marks.clone()).unwrap_or_default();
    }

    /// Restores, after the event, the saved history in the new class.
    pub(super) fn give_marks(&mut self, books: &Books, ask: AllocationId) {
        let carried = core::mem::take(&mut self.marking.carried);
        let class = self.class_of(books, ask).and_then(|class| self.classes.rows.get_mut(class));
        if let Some(row) = class.filter(|row| row.waited.marks.0.is_empty()) {
            row.waited.marks = carried;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: u64, code: WaitCode) -> WaitChange {
        WaitChange { at: Timestamp::from_millis(at), sequence: at, code }
    }

    #[test]
    fn changes_are_stored_without_repeats_and_the_oldest_go_first() {
        let mut marks = WaitHistory::default();
        for at in 0..50 {
            let code = if at % 4 < 2 { WaitCode::QueueMax } else { WaitCode::NoNodeFits };
            marks.note(mark(at, code));
        }
        let all = marks.since(Timestamp::ZERO, None);
        let all: Vec<_> = all.iter().map(|mark| mark.sequence).collect();
        assert_eq!(all, (10..50).step_by(2).collect::<Vec<_>>());
    }

    #[test]
    fn who_comes_later_has_waited_for_what_the_others_waited_for_since_he_came() {
        let mut marks = WaitHistory::default();
        marks.note(mark(1, WaitCode::QueueMax));
        marks.note(mark(5, WaitCode::NoNodeFits));
        marks.note(mark(9, WaitCode::QueueMax));
        let of = |came| marks.since(Timestamp::from_millis(came), None);
        assert_eq!(of(0).len(), 3);
        let late = [(7, WaitCode::NoNodeFits), (9, WaitCode::QueueMax)];
        let late = late.map(|(at, code)| (Timestamp::from_millis(at), code));
        assert_eq!(of(7).iter().map(|mark| (mark.at, mark.code)).collect::<Vec<_>>(), late);
        assert_eq!(of(7)[0].sequence, 5, "the cause is what it was");
        let shut =
            |at| marks.since(Timestamp::from_millis(7), Some(mark(at, WaitCode::QueueState)));
        assert_eq!(shut(11).last().map(|mark| mark.sequence), Some(11));
        let late = shut(6);
        assert_eq!(late.len(), 1, "who comes to a queue that is shut: {late:?}");
        assert_eq!((late[0].at, late[0].sequence), (Timestamp::from_millis(7), 6));
    }
}
