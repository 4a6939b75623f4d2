//! Records in the order of the reference, where one event alone cannot know it.
//!
//! When an allocation comes or goes, the reference first records the state that its application
//! enters by it. For us the change of state is an event that follows. So the records that belong
//! behind it are held back for that long. Source: scheduling §4.4, W19.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, Event};
use crate::id::ApplicationId;
use crate::time::Timestamp;

use super::{Detail, Record, records};

/// Tells of events one by one, and holds back what belongs behind the next.
#[derive(Debug, Default)]
pub struct RecordSequencer {
    /// Whose application the next state may be of.
    application: Option<ApplicationId>,
    /// An allocation that goes, one that comes, or one after the other; each with what follows.
    held: VecDeque<Vec<Record>>,
    fresh: Vec<Record>,
}

impl RecordSequencer {
    /// Tell `heard` of an event, from the books just before it. Call [`RecordSequencer::finish`] when
    /// what belongs together has ended: a command, or a step of the scheduler.
    pub fn hear(
        &mut self,
        books: &Books,
        now: Timestamp,
        event: &Event,
        heard: &mut impl FnMut(Record),
    ) {
        match event {
            // Users and groups are recorded before the state, too.
            Event::Application(
                ApplicationEvent::Linked { .. }
                | ApplicationEvent::Unlinked { .. }
                | ApplicationEvent::GroupUnlinked { .. },
            ) => {
                return records(books, now, event, heard);
            }
            Event::Application(ApplicationEvent::Moved { application, state, .. })
                if self.application == Some(*application) =>
            {
                // What went made it Completing; what came makes it run.
                if *state == ApplicationState::Running && self.held.len() > 1 {
                    self.let_go(heard);
                }
                records(books, now, event, heard);
                return self.let_go(heard);
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(
                ApplicationEvent::Added { .. }
                | ApplicationEvent::Rejected { .. }
                | ApplicationEvent::LifetimeSet { .. }
                | ApplicationEvent::LifetimeOver { .. }
                | ApplicationEvent::DeadlineSet { .. }
                | ApplicationEvent::Overtaken { .. }
                | ApplicationEvent::Moved { .. }
                | ApplicationEvent::Activated { .. }
                | ApplicationEvent::Allocating { .. }
                | ApplicationEvent::Removed { .. }
                | ApplicationEvent::BackedOff { .. }
                | ApplicationEvent::PlaceholdersExpired { .. }
                | ApplicationEvent::TimerStopped { .. },
            )
            | Event::Task(_)
            | Event::Ask(_)
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => {}
        }
        let mut fresh = core::mem::take(&mut self.fresh);
        records(books, now, event, &mut |record| fresh.push(record));
        if fresh.is_empty() {
            self.fresh = fresh;
            return; // Nobody sees that there was something in between.
        }
        self.finish(heard);
        self.application = application_of(books, event);
        let held_from = fresh.iter().position(is_of_allocation);
        let held_from = held_from.filter(|_| self.application.is_some());
        let mut behind = fresh.drain(held_from.unwrap_or(fresh.len())..).collect::<VecDeque<_>>();
        fresh.drain(..).for_each(heard);
        self.fresh = fresh;
        while let Some(first) = behind.pop_front() {
            let next = behind.iter().position(is_of_allocation).unwrap_or(behind.len());
            self.held.push_back(core::iter::once(first).chain(behind.drain(..next)).collect());
        }
    }

    /// Tell `heard` of what was held back.
    pub fn finish(&mut self, heard: &mut impl FnMut(Record)) {
        while !self.held.is_empty() {
            self.let_go(heard);
        }
        self.application = None;
    }

    fn let_go(&mut self, heard: &mut impl FnMut(Record)) {
        self.held.pop_front().into_iter().flatten().for_each(heard);
    }
}

/// Whose allocation comes or goes.
fn application_of(books: &Books, event: &Event) -> Option<ApplicationId> {
    let (Event::Ask(AskEvent::Placed { ask: one, .. })
    | Event::Allocation(
        AllocationEvent::Released { allocation: one, .. }
        | AllocationEvent::SwapConfirmed { placeholder: one },
    )) = event
    else {
        return None;
    };
    Some(books.allocation(*one).application)
}

/// Whether a record is about an allocation of an application that comes or goes.
fn is_of_allocation(record: &Record) -> bool {
    matches!(
        record.detail,
        Detail::AppAlloc
            | Detail::AllocCancel
            | Detail::AllocPreempt
            | Detail::AllocTimeout
            | Detail::AllocReplaced
            | Detail::AllocNodeRemoved
    )
}
