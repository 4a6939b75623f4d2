//! What a class waited for, one after the other: for those who ask, and for no decision.

use smallvec::SmallVec;

use crate::books::Books;
use crate::event::Event;
use crate::id::AllocationId;
use crate::time::Timestamp;
use crate::wait::WaitCode;

use super::Scheduler;

/// How many changes are kept of a class; older ones are in the journal.
pub const MARKS: usize = 20;

/// What somebody waits for from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Since when.
    pub at: Timestamp,
    /// The last record when it was found out: what it led to is the cause. 0 where nobody counts records.
    pub sequence: u64,
    /// For what.
    pub code: WaitCode,
}

/// The changes of a class, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks(SmallVec<[Mark; 1]>);

impl Marks {
    /// Note what is waited for, if it is something else than before.
    pub(super) fn note(&mut self, mark: Mark) {
        if self.0.last().is_some_and(|last| last.code == mark.code) {
            return;
        }
        if self.0.len() == MARKS {
            self.0.remove(0);
        }
        self.0.push(mark);
    }

    /// What somebody waited for who came at this time: from then on what the others waited for then.
    pub(super) fn since(&self, came: Timestamp) -> impl Iterator<Item = Mark> {
        let before = self.0.iter().filter(|mark| mark.at <= came).count().saturating_sub(1);
        let own = self.0.iter().skip(before);
        own.map(move |mark| Mark { at: mark.at.max(came), ..*mark })
    }
}

/// What is to be known to note them.
#[derive(Clone, Debug, Default)]
pub(super) struct Marking {
    /// The last record of what happened, as far as somebody counts.
    pub(super) record: u64,
    /// What an ask waited for that gets a node kept, or loses that, while it is in no class.
    carried: Marks,
}

impl Scheduler {
    /// All that was applied so far is in the records up to this one: a cause for who asks, and for no decision.
    pub const fn count_records(&mut self, record: u64) {
        self.marking.record = record;
    }

    /// Before an event: what an ask has waited for that is in another class from then on, and the same ask.
    pub(super) fn carry_marks(&mut self, books: &Books, event: &Event) {
        let (Event::Reserved { ask, .. } | Event::Unreserved { ask }) = event else { return };
        let class = self.class_of(books, *ask).and_then(|class| self.classes.rows.get(class));
        self.marking.carried = class.map(|row| row.marks.clone()).unwrap_or_default();
    }

    /// After it: have its class know, where that is new.
    pub(super) fn give_marks(&mut self, books: &Books, ask: AllocationId) {
        let carried = core::mem::take(&mut self.marking.carried);
        let class = self.class_of(books, ask).and_then(|class| self.classes.rows.get_mut(class));
        if let Some(row) = class.filter(|row| row.marks.0.is_empty()) {
            row.marks = carried;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn mark(at: u64, code: WaitCode) -> Mark {
        Mark { at: Timestamp::from_millis(at), sequence: at, code }
    }

    #[test]
    fn changes_are_kept_and_no_repeats_and_the_oldest_go_first() {
        let mut marks = Marks::default();
        for at in 0..50 {
            let code = if at % 4 < 2 { WaitCode::QueueMax } else { WaitCode::NoNodeFits };
            marks.note(mark(at, code));
        }
        let all: Vec<_> = marks.since(Timestamp::ZERO).map(|mark| mark.sequence).collect();
        assert_eq!(all, (10..50).step_by(2).collect::<Vec<_>>());
    }

    #[test]
    fn who_comes_later_has_waited_for_what_the_others_waited_for_since_he_came() {
        let mut marks = Marks::default();
        marks.note(mark(1, WaitCode::QueueMax));
        marks.note(mark(5, WaitCode::NoNodeFits));
        marks.note(mark(9, WaitCode::QueueMax));
        let of = |came| marks.since(Timestamp::from_millis(came)).collect::<Vec<_>>();
        assert_eq!(of(0).len(), 3);
        let late = [(7, WaitCode::NoNodeFits), (9, WaitCode::QueueMax)];
        let late = late.map(|(at, code)| (Timestamp::from_millis(at), code));
        assert_eq!(of(7).iter().map(|mark| (mark.at, mark.code)).collect::<Vec<_>>(), late);
        assert_eq!(of(7)[0].sequence, 5, "the cause is what it was");
    }
}
