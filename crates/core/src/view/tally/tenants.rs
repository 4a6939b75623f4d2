//! Counters of the tasks of each tenant: tenants §6. They exclude descendants, so that sums over tenants are correct.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::{Books, TaskOutcome};
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, TaskEvent, TaskStep, TenantEvent,
};
use crate::id::{AllocationId, ApplicationId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{Quantity, Resources};
use crate::time::{Millis, Timestamp};

use super::holds::Holds;

/// Counts by tenant, with the reasons of waits. A clone is cheap: rows are shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TenantTallies {
    rows: OrderedMap<Name, Arc<TenantTally>>,
    /// Number of reported waits by tenant and code.
    throttled: OrderedMap<(Name, Name), u64>,
    holds: Holds,
}

/// Counts of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantTally {
    /// Tasks that got all their nodes.
    pub started: u64,
    ended: [u64; TaskOutcome::ALL.len()],
    /// Preempted allocations.
    pub evicted: u64,
    /// Number of times that a head of line was overtaken.
    pub overtakes: u64,
    /// Starts that exceeded the quota. Anything but 0 is a bug.
    pub violations: u64,
    /// Time from the submission of tasks to their first start.
    pub waits: Spans,
    /// Time from the last release that freed capacity for a reported wait to the start of the task.
    pub after_release: Spans,
    /// Time for which heads of line blocked other asks, without current holds.
    pub held: Millis,
    /// Tasks that could have started, but were not woken. Anything but 0 is a bug.
    pub rescued: u64,
    /// Time of the last release in the tenant or a descendant.
    released: Option<Timestamp>,
}

impl TenantTally {
    /// Returns the number of tasks that ended with this outcome.
    pub const fn ended(&self, outcome: TaskOutcome) -> u64 {
        self.ended[outcome as usize]
    }
}

/// Histogram of time spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// Number of spans in each bucket. The last bucket has no bound.
    pub counts: [u64; Self::BOUNDS.len() + 1],
    /// Sum of all spans in milliseconds.
    pub millis: u64,
}

impl Spans {
    /// Upper bounds of the buckets in milliseconds.
    pub const BOUNDS: [u64; 13] = [
        1, 10, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 1_800_000, 7_200_000, 43_200_000,
        86_400_000,
    ];

    fn add(&mut self, span: Millis) {
        let bucket = Self::BOUNDS.partition_point(|bound| *bound < span.get());
        self.counts[bucket] += 1;
        self.millis = self.millis.saturating_add(span.get());
    }
}

impl TenantTallies {
    /// Returns the counts of a tenant. `None` before its first count.
    pub fn get(&self, tenant: &str) -> Option<&TenantTally> {
        self.rows.get(tenant).map(Arc::as_ref)
    }

    /// Returns the number of starts of all tenants that exceeded the quota. Anything but 0 is a bug.
    pub fn violations(&self) -> u64 {
        self.rows.iter().map(|(_, row)| row.violations).sum()
    }

    /// Returns the number of tasks of all tenants that were not woken. Anything but 0 is a bug.
    pub fn rescued(&self) -> u64 {
        self.rows.iter().map(|(_, row)| row.rescued).sum()
    }

    /// Returns the number of reported waits of a tenant, by code.
    pub fn throttled<'all>(
        &'all self,
        tenant: &'all Name,
    ) -> impl Iterator<Item = (&'all Name, u64)> {
        let from = (tenant.clone(), Name::default());
        let all = self.throttled.iter_from(&from);
        all.take_while(move |((of, _), _)| of == tenant).map(|((_, code), count)| (code, *count))
    }

    /// Returns the current holds: the tenant of each, and the time that is not counted yet.
    pub fn holds<'all>(
        &'all self,
        books: &'all Books,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'all Name, Millis)> {
        self.holds.open(books, now)
    }

    /// Sets the head of line of a leaf, or removes it.
    pub(super) fn lead(
        &mut self,
        books: &Books,
        now: Timestamp,
        (leaf, head): (QueueId, Option<ApplicationId>),
    ) {
        self.settle(books, now, (leaf, None));
        self.holds.lead(books, now, (leaf, head));
    }

    fn settle(&mut self, books: &Books, now: Timestamp, what: (QueueId, Option<&Event>)) {
        if let Some((tenant, held)) = self.holds.settle(books, now, what) {
            self.row(tenant, |row| row.held = row.held + held);
        }
    }

    /// Counts an event. `books` is the state just before it. Costs the objects that the event refers to, and the levels
    /// of tenants.
    pub(super) fn hear(&mut self, books: &Books, now: Timestamp, event: &Event) {
        if let Some(leaf) = self.holds.leaf_of(books, event) {
            self.settle(books, now, (leaf, Some(event)));
        }
        match event {
            Event::Task(TaskEvent::Throttled { application, reason }) => {
                if let Some(tenant) = tenant_of(books, *application) {
                    let key = (tenant.clone(), reason.code.clone());
                    let count = self.throttled.get(&key).copied().unwrap_or_default();
                    self.throttled.insert(key, count + 1);
                }
            }
            Event::Task(TaskEvent::Moved {
                application,
                step: TaskStep::Ended { outcome, .. },
            }) => {
                self.of(books, *application, |row| row.ended[*outcome as usize] += 1);
            }
            // The outcome of the task was not reported.
            Event::Application(ApplicationEvent::Moved { application, state, .. })
                if !state.is_active() =>
            {
                self.is_over(books, *application);
            }
            Event::Ask(AskEvent::Placed { ask, .. }) => self.placed(books, now, *ask),
            Event::Allocation(AllocationEvent::Released { allocation, .. }) => {
                self.gave_back(books, now, *allocation);
            }
            Event::Allocation(AllocationEvent::Resized { allocation, .. })
                if books.allocation(*allocation).is_allocated() =>
            {
                self.gave_back(books, now, *allocation);
            }
            Event::Allocation(AllocationEvent::Preempted { victim, .. }) => {
                self.of(books, books.allocation(*victim).application, |row| row.evicted += 1);
            }
            Event::Application(ApplicationEvent::Overtaken { application, .. }) => {
                self.of(books, *application, |row| row.overtakes += 1);
            }
            Event::Tenant(TenantEvent::Removed { tenant, .. }) => self.forget(tenant),
            // These events are not counted.
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
                | ApplicationEvent::Moved { .. }
                | ApplicationEvent::Activated { .. }
                | ApplicationEvent::Allocating { .. }
                | ApplicationEvent::Removed { .. }
                | ApplicationEvent::BackedOff { .. }
                | ApplicationEvent::PlaceholdersExpired { .. }
                | ApplicationEvent::TimerStopped { .. },
            )
            | Event::Task(TaskEvent::Added { .. } | TaskEvent::Moved { .. })
            | Event::Ask(
                AskEvent::Added { .. }
                | AskEvent::Removed { .. }
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
                | AllocationEvent::SwapStarted { .. }
                | AllocationEvent::SwapConfirmed { .. }
                | AllocationEvent::SwapDropped { .. }
                | AllocationEvent::ReleaseAsked { .. }
                | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(_)
            | Event::Tenant(
                TenantEvent::Set { .. }
                | TenantEvent::Draining { .. }
                | TenantEvent::DefaultsSet { .. }
                | TenantEvent::DriftFound { .. },
            ) => {}
        }
    }

    /// Checks whether a placement by the scheduler fits the quota of each tenant on its path, in each requested type,
    /// and counts a violation. Uses only the books just before it, independent of the code that made the decision.
    /// Costs the levels of the queue.
    pub(super) fn judge(&mut self, books: &Books, event: &Event) {
        let Event::Ask(AskEvent::Placed { ask, .. }) = event else { return };
        let (asked, leaf) = (books.resources_of(*ask), queue_of(books, *ask));
        for (_, queue) in books.up(leaf) {
            let Some(mark) = &queue.settings.tenant else { continue };
            if queue.max.as_ref().is_some_and(|max| is_beyond(&queue.allocated, asked, max)) {
                self.row(&mark.tenant, |row| row.violations += 1);
            }
        }
    }

    /// Counts a task that was not woken until a search found it.
    pub(super) fn rescue(&mut self, books: &Books, application: ApplicationId) {
        self.of(books, application, |row| row.rescued += 1);
    }

    /// Counts the end of a task without a reported outcome, whose allocations are lost.
    fn is_over(&mut self, books: &Books, application: ApplicationId) {
        let row = books.application(application);
        if row.state.is_active()
            && let Some(task) = row.task.as_deref().filter(|task| task.end.is_none())
        {
            let lost = if task.cancelled { TaskOutcome::Cancelled } else { TaskOutcome::Failed };
            self.of(books, application, |row| row.ended[lost as usize] += 1);
        }
    }

    fn placed(&mut self, books: &Books, now: Timestamp, ask: AllocationId) {
        let allocation = books.allocation(ask);
        let application = books.application(allocation.application);
        if application.ask_count != 1 || allocation.placeholder {
            return; // Some of it still waits.
        }
        let Some(tenant) = tenant_of(books, allocation.application) else { return };
        let task = application.task.as_deref();
        let throttled = task.and_then(|task| task.throttled.as_ref()).map(|(first, _)| *first);
        let since = throttled.and_then(|throttled| self.released_since(books, ask, throttled));
        let first = task.is_none_or(|task| task.started.is_none());
        let submitted = application.submitted;
        self.row(tenant, |row| {
            row.started += 1;
            if first {
                row.waits.add(now.since(submitted));
            }
            if let Some(since) = since {
                row.after_release.add(now.since(since));
            }
        });
    }

    /// Returns the time of the last release since the report of a wait that can have freed capacity for an ask: in its
    /// tenant, or in the nearest ancestor with a release.
    fn released_since(
        &self,
        books: &Books,
        ask: AllocationId,
        throttled: Timestamp,
    ) -> Option<Timestamp> {
        let mut marks = books.up(queue_of(books, ask)).filter_map(|(_, queue)| {
            let tenant = &queue.settings.tenant.as_ref()?.tenant;
            self.rows.get(tenant)?.released.filter(|released| *released >= throttled)
        });
        marks.next()
    }

    fn gave_back(&mut self, books: &Books, now: Timestamp, allocation: AllocationId) {
        for (_, queue) in books.up(queue_of(books, allocation)) {
            if let Some(mark) = &queue.settings.tenant {
                self.row(&mark.tenant, |row| row.released = Some(now));
            }
        }
    }

    fn of(
        &mut self,
        books: &Books,
        application: ApplicationId,
        change: impl FnOnce(&mut TenantTally),
    ) {
        if let Some(tenant) = tenant_of(books, application) {
            self.row(tenant, change);
        }
    }

    fn row(&mut self, tenant: &Name, change: impl FnOnce(&mut TenantTally)) {
        if self.rows.get(tenant).is_none() {
            self.rows.insert(tenant.clone(), Arc::default());
        }
        if let Some(row) = self.rows.get_mut(tenant) {
            change(Arc::make_mut(row));
        }
    }

    fn forget(&mut self, tenant: &Name) {
        self.rows.remove(tenant);
        let codes: Vec<Name> = self.throttled(tenant).map(|(code, _)| code.clone()).collect();
        for code in codes {
            self.throttled.remove(&(tenant.clone(), code));
        }
    }
}

/// Returns the tenant of an application: that of its task, or of its queue.
fn tenant_of(books: &Books, application: ApplicationId) -> Option<&Name> {
    let row = books.application(application);
    match row.task.as_deref() {
        Some(task) => Some(&task.settings.tenant),
        None => books.queue(row.queue).settings.tenant.as_ref().map(|mark| &mark.tenant),
    }
}

fn queue_of(books: &Books, one: AllocationId) -> QueueId {
    books.application(books.allocation(one).application).queue
}

/// Returns whether the usage plus the ask exceeds the maximum in a requested type.
fn is_beyond(used: &Resources, asked: &Resources, max: &Resources) -> bool {
    let wanted = asked.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
    let mut wanted = wanted
        .map(|(resource, amount)| (used.get_or_zero(resource).plus(amount), max.get(resource)));
    wanted.any(|(sum, max)| max.is_some_and(|max| sum > max))
}
