//! A small cluster and its RM in virtual time, with the real core. A preempted allocation ends after a second, and is
//! asked for again.

use std::collections::BTreeMap;

use headroom_core::books::Books;
use headroom_core::id::{AllocationId, QueueId};
use headroom_core::resource::{Amounts, Quantity, ResourceType};
use headroom_core::{
    AddNode, AllocationEvent, Ask, AskEvent, Command, Event, Millis, Name, Scheduler, Step, Submit,
    Termination, Timestamp, decide,
};

use crate::world::RunError;

use super::scene::{Actor, GIB, TOTAL};

const PARTITION: &str = "default";

/// Time in which the RM stops an allocation.
const STOPS_AFTER: Millis = Millis::from_secs(1);

/// Books, scheduler, and RM.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    pub(super) books: Books,
    pub(super) now: Timestamp,
    /// Preempted allocations so far.
    pub(super) stopped: Stopped,
    scheduler: Scheduler,
    asked: u64,
    /// Allocations that the RM is stopping, with their end times.
    stopping: BTreeMap<AllocationId, Timestamp>,
}

/// Preempted allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stopped {
    pub(super) containers: u64,
    /// Sum of their amounts in GiB.
    pub(super) amount: i64,
    /// Work of the stopped containers, in GiB × ms.
    pub(super) work: i64,
}

impl Cluster {
    /// Returns a cluster with one node and this queue file.
    pub(super) fn new(queue_file: &str) -> Result<Self, RunError> {
        let loaded = headroom_config::read(queue_file);
        let loaded =
            loaded.unwrap_or_else(|faults| panic!("a built-in queue file is invalid: {faults:?}"));
        let mut cluster = Self::default();
        cluster.command(&Command::Configure(Box::new(loaded.configuration)))?;
        cluster.command(&Command::AddNode(AddNode {
            partition: Name::new(PARTITION),
            node: Name::new("n1"),
            capacity: memory(TOTAL),
            schedulable: true,
            ..AddNode::default()
        }))?;
        Ok(cluster)
    }

    /// Submits an application with all its asks.
    pub(super) fn submit(&mut self, actor: &Actor) -> Result<(), RunError> {
        let application = Name::from(format!("{}-{}", actor.queue, actor.user));
        self.command(&Command::Submit(Submit {
            partition: Name::new(PARTITION),
            application: application.clone(),
            queue: Name::from(format!("root.{}", actor.queue)),
            user: Name::new(actor.user),
            ..Submit::default()
        }))?;
        (0..actor.count).try_for_each(|_| self.ask(&application, memory(actor.size)))
    }

    fn ask(&mut self, application: &Name, resources: Amounts) -> Result<(), RunError> {
        self.asked += 1;
        self.command(&Command::Ask(Ask {
            partition: Name::new(PARTITION),
            application: application.clone(),
            key: Name::from(format!("c{:04}", self.asked)),
            resources,
            may_preempt: true,
            preemptable: true,
            ..Ask::default()
        }))
    }

    /// Lets the RM stop a preempted allocation.
    fn stop(&mut self, allocation: AllocationId) {
        self.stopping.entry(allocation).or_insert(self.now + STOPS_AFTER);
    }

    /// Ends an allocation without asking for another.
    pub(super) fn give_back(&mut self, allocation: AllocationId) -> Result<(), RunError> {
        self.release(allocation, Termination::StoppedByRm)
    }

    fn release(&mut self, id: AllocationId, termination: Termination) -> Result<(), RunError> {
        let row = self.books.allocation(id);
        let application = self.books.application(row.application).name.clone();
        self.command(&Command::Release {
            partition: Name::new(PARTITION),
            application,
            key: Some(row.key.clone()),
            termination,
        })
    }

    /// Advances the time: preempted allocations end and are asked for again, and timers fire.
    pub(super) fn advance(&mut self, now: Timestamp) -> Result<(), RunError> {
        self.now = now;
        let due = self.stopping.iter().filter(|(_, at)| **at <= now);
        for id in due.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.stopping.remove(&id);
            self.end_for_others(id)?;
        }
        if self.books.next_deadline().is_some_and(|at| at <= now) {
            self.command(&Command::Tick)?;
        }
        Ok(())
    }

    /// Runs the scheduler until it is idle, or until this many asks are placed.
    pub(super) fn settle(&mut self, places: usize) {
        let (mut events, mut placed) = (Vec::new(), 0);
        while placed < places
            && self.scheduler.next(&self.books, self.now, &mut events) == Step::Moved
        {
            for event in events.drain(..) {
                if let Event::Allocation(AllocationEvent::Preempted { victim, .. }) = event {
                    self.stop(victim);
                }
                placed += usize::from(matches!(event, Event::Ask(AskEvent::Placed { .. })));
                self.scheduler.apply(&mut self.books, self.now, &event);
            }
        }
    }

    /// Ends a preempted allocation, and submits its ask again.
    pub(super) fn end_for_others(&mut self, id: AllocationId) -> Result<(), RunError> {
        // It might have been released meanwhile.
        let Some(row) = self.books.allocations().get(id) else { return Ok(()) };
        let (ran, application) = (self.now.since(row.placed), row.application);
        let name = self.books.application(application).name.clone();
        let size = self.books.types().amounts(self.books.resources_of(id));
        let amount = gib(size.get("memory").map_or(0, Quantity::get));
        self.stopped.containers += 1;
        self.stopped.amount += amount;
        self.stopped.work += amount * i64::try_from(ran.get()).unwrap_or(i64::MAX);
        self.release(id, Termination::Preempted)?;
        self.ask(&name, size)
    }

    fn command(&mut self, command: &Command) -> Result<(), RunError> {
        let events = decide(&self.books, self.now, command)
            .map_err(|rejection| RunError::Refused { at_ms: self.now.as_millis(), rejection })?;
        for event in &events {
            self.scheduler.apply(&mut self.books, self.now, event);
        }
        Ok(())
    }

    /// Returns a leaf below root.
    pub(super) fn leaf(&self, name: &str) -> QueueId {
        let partition = self.books.partition_named(PARTITION).expect("it was configured");
        let leaf = self.books.queue_at(partition, &format!("root.{name}"));
        leaf.expect("it is in the queue file")
    }

    /// Returns the only resource type.
    pub(super) fn memory(&self) -> ResourceType {
        self.books.types().find("memory").expect("the node has it")
    }

    /// Returns the allocations in a leaf, the newest first.
    pub(super) fn running(&self, leaf: QueueId) -> Vec<AllocationId> {
        let applications = self.books.applications_in(leaf);
        let all = applications.flat_map(|(id, _)| self.books.allocations_of(id));
        let mut running: Vec<_> = all.filter(|(_, row)| row.is_allocated()).collect();
        running.sort_by_key(|(_, row)| std::cmp::Reverse((row.placed, row.number)));
        running.into_iter().map(|(id, _)| id).collect()
    }
}

/// Returns an amount of memory in GiB.
fn memory(amount: i64) -> Amounts {
    Amounts::from([("memory", amount * GIB)])
}

/// Converts bytes to GiB. All amounts are whole GiB, except limits with a fractional factor.
pub(super) const fn gib(bytes: i64) -> i64 {
    bytes / GIB
}
