//! Order of records as in YuniKorn, where a single event does not determine it.
//!
//! When an allocation is added or removed, YuniKorn first records the resulting state of its application. In Headroom,
//! the state change is a later event. The sequencer therefore holds back the records that must follow it. Source:
//! scheduling §4.4, W19.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, Event};
use crate::id::ApplicationId;
use crate::time::Timestamp;

use super::{Detail, Record, records};

/// Passes on the records of events one by one, and holds back those that must follow the next event.
#[derive(Debug, Default)]
pub struct RecordSequencer {
    /// Application that the next state change can belong to.
    application: Option<ApplicationId>,
    /// Records of a removed allocation, an added one, or both in order, each with the records that follow.
    held: VecDeque<Vec<Record>>,
    fresh: Vec<Record>,
}

impl RecordSequencer {
    /// Handles an event, with the books just before it, and calls `heard` with its records. Call
    /// [`RecordSequencer::finish`] at the end of a command or of a scheduler step.
    pub fn hear(
        &mut self,
        books: &Books,
        now: Timestamp,
        event: &Event,
        heard: &mut impl FnMut(Record),
    ) {
        match event {
            // Users and groups are also recorded before the state.
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
                // The removed allocation made it Completing, and the added one makes it Running.
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

    /// Calls `heard` with the records that were held back.
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

/// Returns the application of an added or removed allocation.
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

/// Returns whether a record is about an added or removed allocation of an application.
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
