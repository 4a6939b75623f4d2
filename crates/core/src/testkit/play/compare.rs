//! Compares the scheduler with a new scheduler and with the naive scheduler.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::{Application, Books, Partition};
use crate::event::{AllocationEvent, AskEvent, Event, PreemptionCause, QueueEvent, TaskEvent};
use crate::id::ApplicationId;
use crate::name::Name;
use crate::schedule::Scheduler;

use super::super::{World, naive_evictions, naive_next, naive_wrong_hold};
use super::{Player, STEPS_MAX};

impl Player<'_> {
    /// Takes one step, and checks that a new scheduler and the naive scheduler take the same step. Returns whether
    /// there was a step.
    pub(super) fn step(&mut self) -> bool {
        let mut events = Vec::new();
        let (books, now) = (&self.world.books, self.world.now);
        let naive = naive_next(books, now);
        let mut fresh = Vec::new();
        Scheduler::new(books).next(books, now, &mut fresh);
        self.world.scheduler.next(books, now, &mut events);
        if let Some(of_hold) = events.iter().chain(&fresh).find(|event| event.is_of_hold()).cloned()
        {
            // The choice of holds depends on why asks were parked. A new scheduler can therefore choose other holds,
            // but only when there is no other step.
            assert_eq!(naive, [], "a hold begins or ends before something moves\n{}", self.state());
            assert!(events.iter().chain(&fresh).all(Event::is_of_hold), "{events:?} {fresh:?}");
            if let Some(event) = events.first() {
                let wrong = naive_wrong_hold(books, now, event);
                assert_eq!(wrong, None, "{event:?}\n{}", self.state());
                self.count(format!(
                    "hold {}",
                    if matches!(of_hold, Event::Ask(AskEvent::Held { .. })) {
                        "begins"
                    } else {
                        "ends"
                    }
                ));
                let event = event.clone();
                self.apply(&event, true);
                return true;
            }
            return false;
        }
        assert_eq!(events, fresh, "a fresh scheduler decides like the old one\n{}", self.state());
        if let [Event::Task(TaskEvent::Throttled { application, .. })] = events[..] {
            assert_eq!(first_unreported(books), Some(application), "whose wait is reported");
            assert_eq!(
                naive,
                [],
                "a wait is reported only after everything that can move has moved"
            );
        } else {
            assert_eq!(events, naive, "indexes decide like sorting and scanning\n{}", self.state());
        }
        let placed = events.iter().find_map(|event| match event {
            Event::Ask(AskEvent::Placed { ask, .. }) => Some(books.allocation(*ask).application),
            _ => None,
        });
        let starting = placed.map(|id| books.application(id));
        self.starting = starting.is_some_and(|row| !row.allocating && !row.counted);
        for event in &events {
            self.count_placement(event);
            self.apply(event, true);
        }
        !events.is_empty()
    }

    /// Runs the scheduler until it is idle, and compares every reason for waiting.
    pub(super) fn settle(&mut self) {
        if self.world.journal.len() % 5 == 2 {
            self.tell_hints();
        }
        let settled = (0..STEPS_MAX).any(|_| !self.step());
        assert!(
            settled,
            "the world settles: {:?}",
            self.world.journal.iter().rev().take(8).collect::<Vec<_>>()
        );
        let World { books, scheduler, now, .. } = &mut self.world;
        let missed = scheduler.sweep(books, *now, usize::MAX);
        assert_eq!(missed, [], "nothing that could start was missed\n{}", self.state());
        self.note_waits();
        self.world.settled.push((self.world.journal.len(), self.world.now));
        if self.world.books.partitions().values().any(|one| one.open_questions.full) {
            self.count("RM has enough to answer");
        }
        let mut fresh = self.fresh_and_idle();
        let World { books, scheduler, .. } = &mut self.world;
        for id in books.partitions().keys() {
            let (stored, rebuilt) =
                (scheduler.outstanding(books, *id), fresh.outstanding(books, *id));
            assert_eq!(
                stored,
                rebuilt,
                "a fresh scheduler tells of the same asks\n{}",
                self.state()
            );
        }
        let repairs = |row: &Application| row.repairs_gang() && row.ask_count > 0;
        if self.world.books.applications().iter().any(|(_, row)| repairs(row)) {
            self.count("an ask waits that repairs a gang");
        }
        let books = &self.world.books;
        // If the RM has its maximum of questions, or nodes must report first, the new scheduler has not checked all
        // asks.
        let waits = books.allocations().iter().filter(|(_, ask)| {
            let partition = books.application(ask.application).partition;
            let looks = !books.is_paused(partition);
            ask.is_pending() && looks
        });
        for (id, _) in waits {
            let (ours, theirs) =
                (self.world.scheduler.wait_of(books, id), fresh.wait_of(books, id));
            assert_eq!(ours, theirs, "a fresh scheduler gives the same reason for {id}");
        }
        if self.world.journal.len() % 7 == 3 {
            self.world.scheduler = fresh;
            self.count("restarted");
        }
    }

    /// Reports the asks that more nodes would help, as the server does once a second.
    fn tell_hints(&mut self) {
        let World { books, scheduler, .. } = &mut self.world;
        let partitions = books.partitions().keys();
        let events: Vec<Event> =
            partitions.flat_map(|id| scheduler.outstanding(books, *id)).collect();
        for event in &events {
            self.apply(event, false);
            self.count("reported that more nodes would help");
        }
    }

    /// Checks that the scan of quotas stops the same allocations as the naive one, which recomputes the sums at each
    /// step.
    pub(super) fn check_evictions(&mut self, partition: &Name, events: &[Event]) {
        let books = &self.world.books;
        let row = books.partition_named(partition).map(|id| books.partition(id));
        let Some(root) = row.and_then(Partition::tenants_root) else { return };
        let of_tenant = |event: &&Event| match event {
            Event::Allocation(AllocationEvent::Preempted {
                cause: PreemptionCause::Quota(queue),
                ..
            })
            | Event::Queue(QueueEvent::QuotaClockStopped { queue }) => {
                books.queue(*queue).settings.tenant.is_some()
            }
            _ => false,
        };
        let ours: Vec<Event> = events.iter().filter(of_tenant).cloned().collect();
        let naive = naive_evictions(books, self.world.now, root);
        assert_eq!(ours, naive, "who is stopped of tenants\n{}", self.state());
        let stopped = ours
            .iter()
            .filter(|event| matches!(event, Event::Allocation(AllocationEvent::Preempted { .. })))
            .count();
        if stopped > 0 {
            self.count("stopped for the quota of a tenant");
        }
    }

    /// Returns a new scheduler for the books, after it has found that there is no step.
    fn fresh_and_idle(&self) -> Scheduler {
        let (mut scheduler, mut events) = (Scheduler::watching(&self.world.books), Vec::new());
        scheduler.next(&self.world.books, self.world.now, &mut events);
        assert!(events.iter().all(Event::is_of_hold), "the world has settled");
        scheduler
    }

    /// Returns the state and the last events, for the message of a failed test.
    pub(super) fn state(&self) -> String {
        let books = &self.world.books;
        let asks = books.allocations().iter().map(|(id, row)| {
            let application = books.application(row.application);
            let leaf = &books.queue(application.queue).path;
            let wait = row.is_pending().then(|| self.world.scheduler.wait_of(books, id)).flatten();
            let amounts = books.resources_of(id);
            format!("{id} in {leaf}: {row:?}, {amounts:?}, parked {:?}, waits {wait:?}\n  of {application:?}\n", self.world.scheduler.parked_under(books, id))
        });
        let last = self.world.journal.iter().rev().take(12);
        let last = last.map(|(at, event)| format!("{at:?} {event:?}\n"));
        let changes = books.changes();
        let rows: Vec<String> = asks.chain(last).collect();
        format!("at {:?}, {changes} changes\n{}", self.world.now, rows.concat())
    }
}

/// Returns the first pending task whose reason is not reported yet.
fn first_unreported(books: &Books) -> Option<ApplicationId> {
    let waits = |id: ApplicationId, row: &Application| {
        let untold = row.task.as_ref().is_some_and(|task| task.throttled.is_none());
        untold && books.allocations_of(id).any(|(_, one)| one.is_pending())
    };
    books.applications().iter().find(|(id, row)| waits(*id, row)).map(|(id, _)| id)
}
