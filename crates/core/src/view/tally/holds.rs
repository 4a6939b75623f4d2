//! Time for which heads of line block other asks: tenants §6, §8.

use crate::books::Books;
use crate::config::ApplicationOrder;
use crate::event::{ApplicationEvent, AskEvent, Event, QueueEvent};
use crate::id::{ApplicationId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::time::{Millis, Timestamp};

/// Heads of line of tenants. A clone is cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Holds {
    heads: OrderedMap<QueueId, Head>,
}

/// Head of line of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    application: ApplicationId,
    /// Start of its hold, or the time up to which the hold is counted.
    since: Timestamp,
    /// Time at which it was overtaken for the last allowed time.
    full: Option<Timestamp>,
}

impl Holds {
    /// Sets the head of line of a leaf, or removes it. A leaf in strict FIFO order has no holds.
    pub(super) fn lead(
        &mut self,
        books: &Books,
        now: Timestamp,
        (leaf, application): (QueueId, Option<ApplicationId>),
    ) {
        let before = self.heads.get(&leaf).cloned();
        let row = books.queues().get(leaf).filter(|row| row.settings.tenant.is_some());
        let line = row.map(|row| &row.settings.values);
        let line = line.filter(|line| line.application_order != ApplicationOrder::FifoStrict);
        let (Some(line), Some(application)) = (line, application) else {
            self.heads.remove(&leaf);
            return;
        };
        let known = before.filter(|before| before.application == application);
        let is_full = books.application(application).overtaken >= line.line.max_overtakes;
        let full = known.and_then(|known| known.full).or_else(|| is_full.then_some(now));
        self.heads.insert(leaf, Head { application, since: now, full });
    }

    /// Returns the leaf whose hold an event can begin, end, or change. `None` if the leaf has no head.
    pub(super) fn leaf_of(&self, books: &Books, event: &Event) -> Option<QueueId> {
        if self.heads.is_empty() {
            return None;
        }
        let application = match event {
            Event::Ask(AskEvent::Placed { ask, .. } | AskEvent::Removed { ask, .. }) => {
                books.allocation(*ask).application
            }
            Event::Application(
                ApplicationEvent::Moved { application, .. }
                | ApplicationEvent::Removed { application }
                | ApplicationEvent::Overtaken { application, .. },
            ) => *application,
            Event::Queue(QueueEvent::Changed { partition, queue, .. }) => {
                return books.queue_at(*partition, queue);
            }
            Event::Queue(QueueEvent::Removed { queue }) => return Some(*queue),
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(
                QueueEvent::Added { .. }
                | QueueEvent::Moved { .. }
                | QueueEvent::LimitsChanged { .. }
                | QueueEvent::QuotaClockStopped { .. },
            )
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
            | Event::Allocation(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => return None,
        };
        let leaf = books.application(application).queue;
        self.heads.get(&leaf).filter(|head| head.application == application).map(|_| leaf)
    }

    /// Counts the hold of a leaf up to now, and follows the event. Returns the duration and the tenant.
    pub(super) fn settle<'books>(
        &mut self,
        books: &'books Books,
        now: Timestamp,
        (leaf, event): (QueueId, Option<&Event>),
    ) -> Option<(&'books Name, Millis)> {
        let held = self.held(books, now, leaf);
        let head = self.heads.get_mut(&leaf)?;
        head.since = now;
        match event {
            Some(Event::Application(ApplicationEvent::Overtaken { application, .. })) => {
                let most = books.queue(leaf).settings.values.line.max_overtakes;
                if books.application(*application).overtaken.saturating_add(1) >= most {
                    head.full = head.full.or(Some(now));
                }
            }
            // The hold begins again if the application still waits for other asks.
            Some(Event::Ask(AskEvent::Placed { .. })) => head.full = None,
            _ => {}
        }
        if event.is_some_and(|event| waits_no_more(books, head.application, event)) {
            self.heads.remove(&leaf);
        }
        held
    }

    /// Returns the current holds, each with its tenant and the time that is not counted yet.
    pub(super) fn open<'all>(
        &'all self,
        books: &'all Books,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'all Name, Millis)> {
        self.heads.iter().filter_map(move |(leaf, _)| self.held(books, now, *leaf))
    }

    fn held<'books>(
        &self,
        books: &'books Books,
        now: Timestamp,
        leaf: QueueId,
    ) -> Option<(&'books Name, Millis)> {
        let head = self.heads.get(&leaf)?;
        let (queue, row) = (books.queues().get(leaf)?, books.applications().get(head.application)?);
        let by_age = row.submitted + queue.settings.values.line.max_head_wait;
        let begun = head.full.map_or(by_age, |full| full.min(by_age)).max(head.since);
        let tenant = &queue.settings.tenant.as_ref()?.tenant;
        (begun < now).then(|| (tenant, now.since(begun)))
    }
}

/// Returns whether a waiting application no longer waits after this event.
fn waits_no_more(books: &Books, application: ApplicationId, event: &Event) -> bool {
    match event {
        Event::Ask(AskEvent::Placed { .. } | AskEvent::Removed { .. }) => {
            books.applications().get(application).is_none_or(|row| row.ask_count <= 1)
        }
        Event::Application(ApplicationEvent::Moved { state, .. }) => !state.is_active(),
        Event::Application(ApplicationEvent::Removed { .. })
        | Event::Queue(QueueEvent::Removed { .. }) => true,
        Event::Configured { .. }
        | Event::Partition(_)
        | Event::Queue(
            QueueEvent::Added { .. }
            | QueueEvent::Changed { .. }
            | QueueEvent::Moved { .. }
            | QueueEvent::LimitsChanged { .. }
            | QueueEvent::QuotaClockStopped { .. },
        )
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
        | Event::Allocation(_)
        | Event::Foreign(_)
        | Event::Tenant(_) => false,
    }
}
