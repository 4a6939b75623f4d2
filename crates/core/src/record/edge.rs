//! Records of waits: written when a reason begins and when it ends, and never in between.
//!
//! The scheduler checks equal asks as one class, so one record stands for all of them: that of the first ask. YuniKorn
//! records each ask that it checks.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::Books;
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, Event};
use crate::id::{AllocationId, ApplicationId};
use crate::schedule::{ClassId, Note, Scheduler};
use crate::time::Timestamp;
use crate::wait::{Blocker, Compared, Wait, refusals};

use super::application::QUIET_FOR;
use super::{Change, Detail, Kind, Record};

/// State of the recorded waits, so that each is recorded once.
///
/// Call it with every event before the event is applied, and with the notes of a [`Scheduler::watching`] after each
/// step. Records at most [`Edges::REMEMBERED`] asks and the same number of applications at once.
#[derive(Debug, Default)]
pub struct Edges {
    /// Asks recorded as exceeding a bound, the kind of that bound, and the time of the last record.
    asks: BTreeMap<AllocationId, (Option<Excess>, Timestamp)>,
    /// Asks recorded as rejected on every node by the RM, and when.
    refused: BTreeMap<AllocationId, Timestamp>,
    /// Applications recorded as blocked by a limit on applications, with the kind of that limit.
    applications: BTreeMap<ApplicationId, Count>,
    /// Classes of which all applications were recorded as blocked.
    classes: BTreeSet<ClassId>,
    /// Number of classes from which removed ones are searched and dropped.
    classes_max: usize,
}

/// Kind of an exceeded bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Queue,
    User,
}

/// Kind of a limit on applications that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Queue,
    User,
}

impl Edges {
    /// Largest number of asks, and of applications, with stored records.
    pub const REMEMBERED: usize = 65_536;

    /// Handles an event before it is applied, which can end a wait.
    pub fn hear(
        &mut self,
        books: &Books,
        now: Timestamp,
        event: &Event,
        heard: &mut impl FnMut(Record),
    ) {
        match event {
            Event::Ask(AskEvent::Placed { ask, .. })
            | Event::Allocation(AllocationEvent::SwapStarted { ask, .. }) => {
                self.fits(books, now, *ask, heard);
                self.asks.remove(ask);
                self.refused.remove(ask);
                self.may_run(books, now, books.allocation(*ask).application, heard);
            }
            Event::Ask(AskEvent::Removed { ask, .. }) => {
                self.asks.remove(ask);
                self.refused.remove(ask);
            }
            Event::Application(ApplicationEvent::Moved { application, .. }) => {
                self.may_run(books, now, *application, heard);
            }
            Event::Application(ApplicationEvent::Removed { application }) => {
                self.applications.remove(application);
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(
                ApplicationEvent::Added { .. }
                | ApplicationEvent::Rejected { .. }
                | ApplicationEvent::Linked { .. }
                | ApplicationEvent::GroupUnlinked { .. }
                | ApplicationEvent::Unlinked { .. }
                | ApplicationEvent::LifetimeSet { .. }
                | ApplicationEvent::LifetimeOver { .. }
                | ApplicationEvent::DeadlineSet { .. }
                | ApplicationEvent::Overtaken { .. }
                | ApplicationEvent::Activated { .. }
                | ApplicationEvent::Allocating { .. }
                | ApplicationEvent::BackedOff { .. }
                | ApplicationEvent::PlaceholdersExpired { .. }
                | ApplicationEvent::TimerStopped { .. },
            )
            | Event::Task(_)
            | Event::Ask(
                AskEvent::Added { .. }
                | AskEvent::Reserved { .. }
                | AskEvent::Unreserved { .. }
                | AskEvent::Held { .. }
                | AskEvent::HoldEnded { .. }
                | AskEvent::Asked { .. }
                | AskEvent::Answered { .. }
                | AskEvent::PreemptionTriggered { .. }
                | AskEvent::PreemptionTried { .. }
                | AskEvent::ScaleUpAsked { .. },
            )
            | Event::Allocation(
                AllocationEvent::Resized { .. }
                | AllocationEvent::Released { .. }
                | AllocationEvent::SwapConfirmed { .. }
                | AllocationEvent::SwapDropped { .. }
                | AllocationEvent::ReleaseAsked { .. }
                | AllocationEvent::Preempted { .. }
                | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(_)
            | Event::Tenant(_) => {}
        }
    }

    /// Handles the notes of the scheduler.
    pub fn take(
        &mut self,
        books: &Books,
        scheduler: &Scheduler,
        now: Timestamp,
        notes: &[Note],
        heard: &mut impl FnMut(Record),
    ) {
        for note in notes {
            match *note {
                Note::Renewed => self.classes.clear(),
                Note::Joined { application, class } => {
                    // The other applications of its class were recorded before it joined.
                    if self.classes.contains(&class)
                        && let Some(ask) = scheduler.first_of(class)
                        && let Some(wait) = scheduler.wait_of(books, ask)
                        && let Some(count) = count_of(wait.blocker)
                    {
                        self.may_not_run(books, now, application, (count, wait, ask), heard);
                    }
                }
                Note::Parked { class, check, .. } => {
                    self.parked(books, scheduler, now, (class, check), heard);
                }
            }
        }
    }

    fn parked(
        &mut self,
        books: &Books,
        scheduler: &Scheduler,
        now: Timestamp,
        (class, wait): (ClassId, Wait),
        heard: &mut impl FnMut(Record),
    ) {
        let Some(ask) = scheduler.first_of(class) else { return };
        let application = books.allocation(ask).application;
        let Some(count) = count_of(wait.blocker) else {
            self.may_run(books, now, application, heard);
            if let Some(excess) = excess_of(wait.blocker) {
                return self.exceeds(books, now, ask, (excess, wait), heard);
            }
            self.fits(books, now, ask, heard);
            if let Blocker::NodeConstraint(_) = wait.blocker {
                self.refuse(books, now, ask, heard);
            }
            return;
        };
        self.may_not_run(books, now, application, (count, wait, ask), heard);
        if self.remember_class(scheduler, class) {
            for application in scheduler.applications_of(class) {
                self.may_not_run(books, now, application, (count, wait, ask), heard);
            }
        }
    }

    /// Adds a class. Returns whether it is new.
    fn remember_class(&mut self, scheduler: &Scheduler, class: ClassId) -> bool {
        if self.classes.len() >= self.classes_max.max(1_024) {
            self.classes.retain(|class| scheduler.first_of(*class).is_some());
            self.classes_max = self.classes.len() * 2;
        }
        self.classes.insert(class)
    }

    fn may_not_run(
        &mut self,
        books: &Books,
        now: Timestamp,
        application: ApplicationId,
        (count, wait, ask): (Count, Wait, AllocationId),
        heard: &mut impl FnMut(Record),
    ) {
        let before = self.applications.get(&application).copied();
        if before == Some(count)
            || (before.is_none() && self.applications.len() >= Self::REMEMBERED)
        {
            return;
        }
        self.may_run(books, now, application, heard);
        self.applications.insert(application, count);
        let detail = match count {
            Count::Queue => Detail::AppCannotRunQueue,
            Count::User => Detail::AppCannotRunQuota,
        };
        let text = wait.sentence(books, ask);
        heard(of_application(books, now, application, detail).saying(&text));
    }

    fn may_run(
        &mut self,
        books: &Books,
        now: Timestamp,
        application: ApplicationId,
        heard: &mut impl FnMut(Record),
    ) {
        let detail = match self.applications.remove(&application) {
            None => return,
            Some(Count::Queue) => Detail::AppRunnableQueue,
            Some(Count::User) => Detail::AppRunnableQuota,
        };
        heard(of_application(books, now, application, detail));
    }

    fn exceeds(
        &mut self,
        books: &Books,
        now: Timestamp,
        ask: AllocationId,
        (excess, wait): (Excess, Wait),
        heard: &mut impl FnMut(Record),
    ) {
        let known = self.asks.get(&ask).copied();
        let quiet = known
            .is_some_and(|(reported, at)| reported == Some(excess) || now.since(at) < QUIET_FOR);
        if quiet || (known.is_none() && self.asks.len() >= Self::REMEMBERED) {
            return;
        }
        self.fits(books, now, ask, heard);
        self.asks.insert(ask, (Some(excess), now));
        let text = wait.sentence(books, ask);
        heard(of_ask(books, now, ask).saying(&text));
    }

    /// Records that the RM rejected every node for an ask, with the most frequent reasons first.
    fn refuse(
        &mut self,
        books: &Books,
        now: Timestamp,
        ask: AllocationId,
        heard: &mut impl FnMut(Record),
    ) {
        let reported = self.refused.get(&ask).copied();
        let quiet = reported.is_some_and(|at| now.since(at) < QUIET_FOR);
        if quiet || (reported.is_none() && self.refused.len() >= Self::REMEMBERED) {
            return;
        }
        self.refused.insert(ask, now);
        let reasons: Vec<String> = refusals(books, ask)
            .into_iter()
            .map(|(reason, count)| format!("{reason} ({count}x)"))
            .collect();
        let text = format!("predicates reject the nodes for the ask: {}", reasons.join("; "));
        heard(of_ask(books, now, ask).saying(&text));
    }

    /// Records that an ask no longer exceeds a bound.
    fn fits(
        &mut self,
        books: &Books,
        now: Timestamp,
        ask: AllocationId,
        heard: &mut impl FnMut(Record),
    ) {
        let Some((reported, at)) = self.asks.get_mut(&ask) else { return };
        let text = match reported.take() {
            None => return,
            Some(Excess::Queue) => "the ask fits the maximum of its queue again",
            Some(Excess::User) => "the ask fits the limits of its user and group again",
        };
        *at = now;
        heard(of_ask(books, now, ask).saying(text));
    }
}

const fn count_of(blocker: Blocker) -> Option<Count> {
    if let Compared::RunningIn(_) = blocker.compared() {
        Some(Count::Queue)
    } else if let Compared::RunningAt(..) = blocker.compared() {
        Some(Count::User)
    } else {
        None
    }
}

const fn excess_of(blocker: Blocker) -> Option<Excess> {
    if let Compared::Queue(_) = blocker.compared() {
        Some(Excess::Queue)
    } else if let Compared::Limit(..) = blocker.compared() {
        Some(Excess::User)
    } else {
        None
    }
}

fn of_application(
    books: &Books,
    now: Timestamp,
    application: ApplicationId,
    detail: Detail,
) -> Record {
    let name = &books.application(application).name;
    Record::new(now, Kind::Application, Change::None, detail, name)
}

fn of_ask(books: &Books, now: Timestamp, ask: AllocationId) -> Record {
    let row = books.allocation(ask);
    let name = &books.application(row.application).name;
    let record = Record::new(now, Kind::Request, Change::None, Detail::None, &row.key);
    record.with(name).of(books.plain_size_of(ask))
}
