//! Counters for metrics: numbers of events, and totals that would otherwise require a scan of all applications.

mod holds;
mod tenants;

pub use tenants::{Spans, TenantTallies, TenantTally};

use alloc::collections::{BTreeMap, VecDeque};

use crate::books::{Application, ApplicationState, Books};
use crate::command::Command;
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, NodeEvent, PartitionEvent, PreemptionCause,
    QueueEvent,
};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::Timestamp;

/// Counts of events since the start, and of current objects. A clone is cheap: queues share their chunks.
///
/// Counts of current objects are always exact. Counts of events begin at zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Refused commands, by the code of the rejection.
    pub refused: BTreeMap<&'static str, u64>,
    /// Submitted applications, with any outcome.
    pub submitted: u64,
    /// Accepted applications.
    pub accepted: u64,
    /// Rejected applications.
    pub rejected: u64,
    /// Completed applications.
    pub completed: u64,
    /// Failed applications.
    pub failed: u64,
    /// Refused asks.
    pub asks_refused: u64,
    /// New allocations, including members that replaced placeholders.
    pub allocated: u64,
    /// Released allocations.
    pub released: u64,
    /// New reservations.
    pub reserved: u64,
    /// Removed nodes.
    pub nodes_removed: u64,
    /// Completed placeholder replacements.
    pub swapped: u64,
    /// Preemptions for a queue below its guarantee.
    pub preempted_for_guarantee: u64,
    /// Preemptions for another user of the same leaf.
    pub preempted_for_share: u64,
    /// Preemptions for asks of a higher priority in the same leaf.
    pub preempted_for_priority: u64,
    /// Preemptions for an ask with a required node.
    pub preempted_for_node: u64,
    /// Preemptions because the queue exceeds its maximum.
    pub preempted_for_quota: u64,
    /// Counts by partition.
    pub partitions: BTreeMap<PartitionId, PartitionTally>,
    /// Counts by path of each queue that had an application. Queues with the same path in several partitions are
    /// combined. Includes the last [`Tally::GONE_MAX`] removed queues.
    pub queues: OrderedMap<Name, QueueTally>,
    /// Counts by tenant.
    pub tenants: TenantTallies,
    /// Removed queues, in the order of their removal.
    gone: VecDeque<Name>,
}

/// Counts of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionTally {
    /// Applications by state, including stored ended ones.
    pub states: StateCounts,
    /// Applications that count as running since their first allocation (decision L-4).
    pub with_allocations: u64,
    /// Allocated to placeholders, by the path of the leaf. Leaves without placeholders have no entry.
    pub reserved: OrderedMap<Name, Amounts>,
    /// Rate of placements, reservations, and preemptions.
    pub decisions: Rate,
}

impl PartitionTally {
    /// Returns the amounts that are allocated to placeholders. Costs the leaves with placeholders.
    pub fn placeholders(&self) -> Amounts {
        let mut sum = Amounts::EMPTY;
        self.reserved.iter().for_each(|(_, amounts)| add(&mut sum, amounts, 1));
        sum
    }
}

/// Counts of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTally {
    /// Applications in the queue, by state.
    pub states: StateCounts,
    /// Completed applications.
    pub completed: u64,
    /// Failed applications.
    pub failed: u64,
    /// Rejected applications that requested it.
    pub rejected: u64,
    /// New allocations.
    pub allocated: u64,
    /// Released allocations.
    pub released: u64,
}

/// Number of applications by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts([u64; 8]);

impl StateCounts {
    /// Returns the number of applications in this state.
    pub const fn get(&self, state: ApplicationState) -> u64 {
        self.0[state as usize]
    }

    fn change(&mut self, state: ApplicationState, by: i64) {
        let count = &mut self.0[state as usize];
        *count = count.saturating_add_signed(by);
    }
}

/// Number of events in each of the last seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    counts: [u32; Self::SECONDS],
    /// Last counted second.
    second: u64,
}

impl Default for Rate {
    fn default() -> Self {
        Self { counts: [0; Self::SECONDS], second: 0 }
    }
}

impl Rate {
    /// Number of stored seconds.
    pub const SECONDS: usize = 60;

    /// Adds a number of events at this time.
    pub fn note(&mut self, now: Timestamp, times: u32) {
        let second = now.as_millis() / 1_000;
        let passed = second.saturating_sub(self.second).min(Self::SECONDS as u64);
        for later in 0..passed {
            self.counts[slot(second - later)] = 0;
        }
        self.second = self.second.max(second);
        let count = &mut self.counts[slot(self.second)];
        *count = count.saturating_add(times);
    }

    /// Returns the number of events within the last minute.
    pub fn within_a_minute(&self, now: Timestamp) -> u64 {
        let second = now.as_millis() / 1_000;
        let oldest = (second + 1).saturating_sub(Self::SECONDS as u64);
        let known = (self.second + 1).saturating_sub(Self::SECONDS as u64);
        let seconds = oldest.max(known)..=self.second;
        seconds.map(|second| u64::from(self.counts[slot(second)])).sum()
    }
}

fn slot(second: u64) -> usize {
    usize::try_from(second % Rate::SECONDS as u64).unwrap_or(0)
}

impl Tally {
    /// Largest number of stored removed queues.
    pub const GONE_MAX: usize = 1_024;

    /// Counts the current objects in these books. Counts of events are zero.
    pub fn of(books: &Books) -> Self {
        let mut tally = Self::default();
        for (_, row) in books.applications().iter() {
            tally.count_state(row, row.state, 1);
            if row.counted {
                tally.partition(row.partition).with_allocations += 1;
            }
            let (held, _) = row.placeholders();
            tally.hold(row, &books.types().amounts(held), 1);
        }
        tally
    }

    /// Counts an event. `books` is the state just before it. Costs the objects that the event refers to.
    pub fn hear(&mut self, books: &Books, now: Timestamp, event: &Event) {
        self.tenants.hear(books, now, event);
        match event {
            Event::Application(event) => self.hear_of_application(books, event),
            Event::Ask(event) => self.hear_of_ask(books, now, event),
            Event::Allocation(event) => self.hear_of_allocation(books, now, event),
            Event::Node(NodeEvent::Removed { .. }) => self.nodes_removed += 1,
            Event::Queue(QueueEvent::Removed { queue }) => self.gone(&books.queue(*queue).path),
            Event::Partition(PartitionEvent::Removed { partition }) => {
                self.partitions.remove(partition);
            }
            // These events are not counted.
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Task(_)
            | Event::Foreign(_)
            | Event::Tenant(_) => {}
        }
    }

    fn hear_of_ask(&mut self, books: &Books, now: Timestamp, event: &AskEvent) {
        match event {
            AskEvent::Placed { ask, .. } => {
                let row = books.allocation(*ask);
                self.came(books, row.application);
                if row.placeholder {
                    let application = books.application(row.application);
                    self.hold(application, &size_of(books, *ask), 1);
                }
                self.decided(books, row.application, now);
            }
            AskEvent::Reserved { ask, .. } => {
                self.reserved += 1;
                self.decided(books, books.allocation(*ask).application, now);
            }
            AskEvent::Added { .. }
            | AskEvent::Removed { .. }
            | AskEvent::Unreserved { .. }
            | AskEvent::Held { .. }
            | AskEvent::HoldEnded { .. }
            | AskEvent::Asked { .. }
            | AskEvent::Answered { .. }
            | AskEvent::PreemptionTriggered { .. }
            | AskEvent::PreemptionTried { .. }
            | AskEvent::ScaleUpAsked { .. } => {}
        }
    }

    fn hear_of_allocation(&mut self, books: &Books, now: Timestamp, event: &AllocationEvent) {
        match event {
            AllocationEvent::Released { allocation, .. } => self.went(books, *allocation),
            AllocationEvent::SwapConfirmed { placeholder } => {
                let application = books.allocation(*placeholder).application;
                self.went(books, *placeholder);
                self.came(books, application);
                self.swapped += 1;
            }
            AllocationEvent::SwapStarted { ask, .. } => {
                self.decided(books, books.allocation(*ask).application, now);
            }
            AllocationEvent::Resized { allocation, resources } => {
                self.resized(books, *allocation, resources);
            }
            AllocationEvent::Preempted { victim, cause } => {
                *match cause {
                    PreemptionCause::Guarantee(_) => &mut self.preempted_for_guarantee,
                    PreemptionCause::Share(_) => &mut self.preempted_for_share,
                    PreemptionCause::Priority(_) => &mut self.preempted_for_priority,
                    PreemptionCause::RequiredNode(_) => &mut self.preempted_for_node,
                    PreemptionCause::Quota(_) => &mut self.preempted_for_quota,
                } += 1;
                self.decided(books, books.allocation(*victim).application, now);
            }
            AllocationEvent::SwapDropped { .. }
            | AllocationEvent::ReleaseAsked { .. }
            | AllocationEvent::PreemptionObserved { .. } => {}
        }
    }

    fn resized(&mut self, books: &Books, allocation: AllocationId, resources: &Amounts) {
        let row = books.allocation(allocation);
        if !row.is_allocated() {
            return;
        }
        let application = books.application(row.application);
        let before = size_of(books, allocation);
        let grows =
            |(name, amount): (&Name, Quantity)| amount > before.get(name).unwrap_or_default();
        // An additional charge makes the application count as running again, as its first allocation does.
        if !application.counted && resources.iter().any(grows) {
            self.partition(application.partition).with_allocations += 1;
        }
        if row.placeholder {
            self.hold(application, &before, -1);
            self.hold(application, resources, 1);
        }
    }

    /// Checks whether a placement by the scheduler is within the quotas of tenants. `books` is the state just before
    /// it. Do not call it for allocations that an RM reports, which are charged regardless of quotas.
    pub fn judge(&mut self, books: &Books, event: &Event) {
        self.tenants.judge(books, event);
    }

    /// Records the new head of line of a leaf, as the scheduler reports it after a step.
    pub fn lead(&mut self, books: &Books, now: Timestamp, head: (QueueId, Option<ApplicationId>)) {
        self.tenants.lead(books, now, head);
    }

    /// Counts an application that could have started, but was not woken.
    pub fn rescue(&mut self, books: &Books, application: ApplicationId) {
        self.tenants.rescue(books, application);
    }

    /// Counts a refused command.
    pub fn refuse(&mut self, command: &Command, rejection: &Rejection) {
        *self.refused.entry(rejection.code().as_str()).or_default() += 1;
        if let Command::Ask(_) = command {
            self.asks_refused += 1;
        }
    }

    fn hear_of_application(&mut self, books: &Books, event: &ApplicationEvent) {
        match event {
            ApplicationEvent::Added { partition, queue, .. } => {
                self.submitted += 1;
                self.accepted += 1;
                self.partition(*partition).states.change(ApplicationState::New, 1);
                self.queue(queue, |queue| queue.states.change(ApplicationState::New, 1));
            }
            ApplicationEvent::Rejected { partition, queue, .. } => {
                self.submitted += 1;
                self.rejected += 1;
                // A rejected application can name any queue. Only existing queues are counted.
                if books.queue_at(*partition, queue).is_some() {
                    self.queue(queue, |queue| queue.rejected += 1);
                }
            }
            ApplicationEvent::Moved { application, state, .. } => {
                let row = books.application(*application);
                self.count_state(row, row.state, -1);
                self.count_state(row, *state, 1);
                match state {
                    ApplicationState::Completing if row.counted => self.stops(row),
                    ApplicationState::Completed => {
                        self.completed += 1;
                        self.queue(&row.queue_path, |queue| queue.completed += 1);
                    }
                    ApplicationState::Failed => {
                        self.failed += 1;
                        self.queue(&row.queue_path, |queue| queue.failed += 1);
                    }
                    ApplicationState::New
                    | ApplicationState::Accepted
                    | ApplicationState::Running
                    | ApplicationState::Completing
                    | ApplicationState::Resuming
                    | ApplicationState::Failing => {}
                }
            }
            ApplicationEvent::Unlinked { application } => {
                let row = books.application(*application);
                if row.counted {
                    self.stops(row);
                }
            }
            ApplicationEvent::Removed { application } => {
                let row = books.application(*application);
                self.count_state(row, row.state, -1);
                if row.counted {
                    self.stops(row);
                }
            }
            ApplicationEvent::Linked { .. }
            | ApplicationEvent::GroupUnlinked { .. }
            | ApplicationEvent::LifetimeSet { .. }
            | ApplicationEvent::LifetimeOver { .. }
            | ApplicationEvent::DeadlineSet { .. }
            | ApplicationEvent::Overtaken { .. }
            | ApplicationEvent::Activated { .. }
            | ApplicationEvent::Allocating { .. }
            | ApplicationEvent::BackedOff { .. }
            | ApplicationEvent::PlaceholdersExpired { .. }
            | ApplicationEvent::TimerStopped { .. } => {}
        }
    }

    /// Counts a new allocation of an application, which can be its first.
    fn came(&mut self, books: &Books, application: ApplicationId) {
        let row = books.application(application);
        self.allocated += 1;
        self.queue(&row.queue_path, |queue| queue.allocated += 1);
        if !row.counted {
            self.partition(row.partition).with_allocations += 1;
        }
    }

    fn went(&mut self, books: &Books, allocation: AllocationId) {
        let row = books.allocation(allocation);
        let application = books.application(row.application);
        self.released += 1;
        self.queue(&application.queue_path, |queue| queue.released += 1);
        if row.placeholder {
            self.hold(application, &size_of(books, allocation), -1);
        }
    }

    fn stops(&mut self, row: &Application) {
        let count = &mut self.partition(row.partition).with_allocations;
        *count = count.saturating_sub(1);
    }

    /// Ended applications are no longer in their queue.
    fn count_state(&mut self, row: &Application, state: ApplicationState, by: i64) {
        self.partition(row.partition).states.change(state, by);
        if state.is_active() {
            self.queue(&row.queue_path, |queue| queue.states.change(state, by));
        }
    }

    fn decided(&mut self, books: &Books, application: ApplicationId, now: Timestamp) {
        let partition = books.application(application).partition;
        self.partition(partition).decisions.note(now, 1);
    }

    /// Adds amounts to those of placeholders, or subtracts them.
    fn hold(&mut self, application: &Application, amounts: &Amounts, sign: i64) {
        let tally = self.partition(application.partition);
        let leaf = &application.queue_path;
        let mut reserved = tally.reserved.get(leaf).cloned().unwrap_or_default();
        add(&mut reserved, amounts, sign);
        if reserved.is_empty() {
            tally.reserved.remove(leaf);
        } else {
            tally.reserved.insert(leaf.clone(), reserved);
        }
    }

    /// Stores a removed queue for a while, because its counters must never decrease.
    fn gone(&mut self, path: &Name) {
        if self.queues.get(path).is_none() {
            return;
        }
        self.gone.push_back(path.clone());
        if self.gone.len() > Self::GONE_MAX
            && let Some(oldest) = self.gone.pop_front()
            && self.queues.get(&oldest).is_some_and(|one| one.states == StateCounts::default())
        {
            self.queues.remove(&oldest);
        }
    }

    fn partition(&mut self, partition: PartitionId) -> &mut PartitionTally {
        self.partitions.entry(partition).or_default()
    }

    fn queue(&mut self, path: &Name, change: impl FnOnce(&mut QueueTally)) {
        let mut row = self.queues.get(path).copied().unwrap_or_default();
        change(&mut row);
        self.queues.insert(path.clone(), row);
    }

    /// Returns whether the counts of current objects agree with these books.
    #[cfg(feature = "testkit")]
    pub fn agrees_with(&self, books: &Books) -> bool {
        let there = Self::of(books);
        let partition = |tally: &Self, id: PartitionId| {
            let row = tally.partitions.get(&id).cloned().unwrap_or_default();
            PartitionTally { decisions: Rate::default(), ..row }
        };
        let states = |tally: &Self, path: &Name| {
            tally.queues.get(path).map(|queue| queue.states).unwrap_or_default()
        };
        let mut ids = books.partitions().keys();
        let mut paths = self.queues.iter().chain(there.queues.iter()).map(|(path, _)| path);
        ids.all(|id| partition(self, *id) == partition(&there, *id))
            && paths.all(|path| states(self, path) == states(&there, path))
    }
}

/// Adds amounts to a sum, or subtracts them. Amounts of zero have no entry.
fn add(sum: &mut Amounts, amounts: &Amounts, sign: i64) {
    for (name, amount) in amounts.iter() {
        let amount = sum.get(name).unwrap_or_default().plus(amount.times(sign));
        sum.set(name.clone(), amount);
    }
    if sum.iter().any(|(_, amount)| amount == Quantity::ZERO) {
        let left = sum.iter().filter(|(_, amount)| *amount != Quantity::ZERO);
        *sum = left.map(|(name, amount)| (name.clone(), amount)).collect();
    }
}

fn size_of(books: &Books, one: AllocationId) -> Amounts {
    let resources: &Resources = books.resources_of(one);
    books.types().amounts(resources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_forgets_what_is_older_than_a_minute() {
        let at = |second: u64| Timestamp::from_millis(second * 1_000 + 999);
        let mut rate = Rate::default();
        for (second, within) in [(1_000, 2), (1_030, 4), (1_059, 6), (1_060, 6), (1_090, 6)] {
            rate.note(at(second), 2);
            assert_eq!(rate.within_a_minute(at(second)), within, "at {second}");
        }
        assert_eq!(rate.within_a_minute(at(1_149)), 2);
        assert_eq!(rate.within_a_minute(at(1_150)), 0);
        rate.note(at(9_000), 1);
        rate.note(at(8_000), 1);
        assert_eq!(rate.within_a_minute(at(9_000)), 2, "a clock that steps back counts now");
    }
}
