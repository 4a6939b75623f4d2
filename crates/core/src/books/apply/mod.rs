//! Applies events to the books.
//!
//! An event is a fact, so it is applied without checks. The code that creates events (`rules` and `schedule`) has
//! checked them, and a replay of a journal never checks them again.

mod allocation;
mod application;
mod foreign;
mod replacement;
mod reservation;
mod structure;

use alloc::vec::Vec;

use crate::books::gang::StopRequest;
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, NodeEvent, PartitionEvent,
    QueueEvent, TaskEvent, TenantEvent,
};
use crate::id::{PartitionId, QueueId};
use crate::resource::{Amounts, Resources};
use crate::time::Timestamp;

use crate::books::tracker::Trackers;
use crate::books::{Books, Deadline, Partition, PreemptionTry, Queue};

impl Books {
    /// Applies one event to the books.
    ///
    /// # Panics
    ///
    /// Panics if the event refers to a row that does not exist, which means that the event does not belong to these
    /// books.
    pub fn apply(&mut self, now: Timestamp, event: &Event) {
        // Neither a failed attempt nor a hold changes which allocations can be preempted.
        self.changes += u64::from(!event.is_try() && !event.is_of_hold());
        let labelled = self.types.labelled();
        self.apply_one(now, event);
        if self.types.labelled() != labelled {
            self.note_labels(now);
        }
    }

    /// Recomputes the fractions of queues and users after the first type of a label was added.
    #[cold]
    fn note_labels(&mut self, now: Timestamp) {
        let partitions: Vec<(PartitionId, QueueId)> =
            self.partitions.iter().map(|(id, row)| (*id, row.root)).collect();
        for (partition, root) in partitions {
            if self.has_fractional_queues(partition) {
                self.divide(Some(now), root, None);
                self.look_at_sizes(root);
            }
            self.share_by_label(partition);
        }
    }

    fn apply_one(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::Configured { checksum } => self.checksum = checksum.clone(),
            Event::Partition(event) => self.apply_partition(now, event),
            Event::Queue(event) => self.apply_queue(now, event),
            Event::Node(event) => self.apply_node(now, event),
            Event::Application(event) => self.apply_application(now, event),
            Event::Task(event) => self.apply_task(now, event),
            Event::Ask(event) => self.apply_ask(now, event),
            Event::Allocation(event) => self.apply_allocation(now, event),
            Event::Foreign(event) => self.apply_foreign(event),
            Event::Tenant(event) => self.apply_tenant(event),
        }
    }

    fn apply_partition(&mut self, now: Timestamp, event: &PartitionEvent) {
        match event {
            PartitionEvent::Added { partition, settings, root } => {
                self.add_partition(now, partition, (**settings).clone(), root);
            }
            PartitionEvent::Changed { partition, settings } => {
                self.change_partition(*partition, (**settings).clone());
            }
            PartitionEvent::Removed { partition } => self.remove_partition(*partition),
            PartitionEvent::QuestionsSet { partition, questions } => {
                self.set_questions(*partition, *questions);
            }
            PartitionEvent::RecoverySet { partition, until: None } => self.end_recovery(*partition),
            PartitionEvent::RecoverySet { partition, until: Some(until) } => {
                self.start_recovery(*partition, *until);
            }
            PartitionEvent::ManagerAway { partition, away } => {
                self.partition_mut(*partition).away.clone_from(away);
            }
        }
    }

    fn apply_queue(&mut self, now: Timestamp, event: &QueueEvent) {
        match event {
            QueueEvent::Added { partition, parent, name, leaf, managed, settings } => {
                self.add_queue(now, *partition, parent, name, (*leaf, *managed), settings);
            }
            QueueEvent::Changed { partition, queue, leaf, managed, settings } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.change_queue(now, queue, (*leaf, *managed), settings);
            }
            QueueEvent::Moved { partition, queue, state } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.queues[queue].state = *state;
                self.watch_emptiness(now, queue);
                self.watch_drain(now, queue);
            }
            QueueEvent::Removed { queue } => self.remove_queue(now, *queue),
            QueueEvent::LimitsChanged { partition, queue, limits } => {
                self.set_limits(*partition, queue, limits);
            }
            QueueEvent::QuotaClockStopped { queue } => {
                self.queues[*queue].quota_preemption_at = None;
            }
        }
    }

    fn apply_node(&mut self, now: Timestamp, event: &NodeEvent) {
        match event {
            NodeEvent::Added { partition, node, capacity, schedulable, attributes } => {
                self.add_node(now, *partition, node, capacity, *schedulable, attributes);
            }
            NodeEvent::Resized { node, capacity } => {
                let capacity = self.types.intern_all(capacity).pruned();
                let row = &mut self.nodes[*node];
                let change = capacity.minus(&row.capacity);
                row.set_capacity(capacity);
                let partition = row.partition;
                self.resize_root(now, partition, &change);
            }
            NodeEvent::Scheduling { node, schedulable } => {
                let row = &mut self.nodes[*node];
                row.schedulable = *schedulable;
                row.version += 1;
            }
            NodeEvent::Removed { node } => self.remove_node(now, *node),
            NodeEvent::Reported { node } => {
                let partition = self.nodes[*node].partition;
                self.no_longer_missing(partition, *node);
            }
            NodeEvent::VerdictsVoid { node } => self.nodes[*node].version += 1,
        }
    }

    fn apply_application(&mut self, now: Timestamp, event: &ApplicationEvent) {
        match event {
            ApplicationEvent::Added { partition, queue, application, user, groups, gang } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.add_application(now, queue, application, user, groups, gang);
            }
            ApplicationEvent::Rejected { .. } => self.reject_application(now, event),
            ApplicationEvent::Linked { application, group } => {
                self.link(*application, group.as_ref());
            }
            ApplicationEvent::GroupUnlinked { application } => self.unlink_group(*application),
            ApplicationEvent::Unlinked { application } => self.unlink(*application),
            ApplicationEvent::LifetimeSet { application, since, asked } => {
                self.set_lifetime(*application, *since, *asked);
            }
            ApplicationEvent::LifetimeOver { application } => self.end_lifetime(*application),
            ApplicationEvent::DeadlineSet { application, deadline, estimate } => {
                let deadline = Deadline { at: *deadline, estimate: *estimate };
                self.applications[*application].deadline = deadline;
            }
            ApplicationEvent::Overtaken { application, by } => {
                let by = by.map(|by| self.application(by).name.clone());
                let row = &mut self.applications[*application];
                row.overtaken = row.overtaken.saturating_add(1);
                row.overtaken_by = by;
            }
            ApplicationEvent::Moved { application, state, timer } => {
                self.move_application(now, *application, *state, *timer);
            }
            ApplicationEvent::Activated { application, driver } => {
                let driver = self.types.intern_all(driver).pruned();
                self.activate(*application, &driver);
            }
            ApplicationEvent::Allocating { application } => self.note_allocating(*application),
            ApplicationEvent::Removed { application } => {
                self.remove_application(now, *application);
            }
            ApplicationEvent::BackedOff { application, until } => {
                self.applications[*application].backed_off = Some(*until);
            }
            ApplicationEvent::PlaceholdersExpired { application } => {
                self.expire_placeholders(*application);
            }
            ApplicationEvent::TimerStopped { application } => self.stop_timer(*application),
        }
    }

    fn apply_task(&mut self, now: Timestamp, event: &TaskEvent) {
        match event {
            TaskEvent::Added { application, settings } => self.add_task(*application, settings),
            TaskEvent::Throttled { application, reason } => {
                self.note_throttled(now, *application, &reason.code);
            }
            TaskEvent::Moved { application, step } => self.step_task(now, *application, step),
        }
    }

    fn apply_ask(&mut self, now: Timestamp, event: &AskEvent) {
        match event {
            AskEvent::Added { .. } => self.add_ask(event),
            AskEvent::Removed { ask, termination } => self.remove_ask(*ask, *termination),
            AskEvent::Placed { ask, node } => self.place(now, *ask, *node),
            AskEvent::Reserved { ask, node } => self.reserve(now, *ask, *node),
            AskEvent::Unreserved { ask } => self.give_up_reservation(now, *ask),
            AskEvent::Held { ask, top } => self.hold(now, *ask, *top),
            AskEvent::HoldEnded { ask } => self.end_hold(now, *ask),
            AskEvent::Asked { ask, subject } => self.ask_rm(now, *ask, subject),
            AskEvent::Answered { ask, verdicts } => self.answer(*ask, verdicts),
            AskEvent::PreemptionTriggered { ask } => {
                self.allocations[*ask].preemption_triggered = true;
                self.forget_removals(*ask);
            }
            AskEvent::PreemptionTried { ask } => {
                let tried = PreemptionTry { at: now, changes: self.changes };
                self.allocations[*ask].special_mut().preemption_tried = Some(tried);
                if let Some((shape, equals)) = self.equals_of(*ask) {
                    self.shapes.note_try(shape, equals, tried);
                }
            }
            AskEvent::ScaleUpAsked { ask } => self.allocations[*ask].scale_up_asked = true,
        }
    }

    fn apply_allocation(&mut self, now: Timestamp, event: &AllocationEvent) {
        match event {
            AllocationEvent::Resized { allocation, resources } => {
                self.resize(now, *allocation, resources);
            }
            AllocationEvent::Released { allocation, termination } => {
                self.release(now, *allocation, *termination);
            }
            AllocationEvent::SwapStarted { ask, placeholder, node } => {
                self.start_swap(*ask, *placeholder, *node);
            }
            AllocationEvent::SwapConfirmed { placeholder } => self.confirm_swap(now, *placeholder),
            AllocationEvent::SwapDropped { ask } => self.drop_swap(*ask),
            AllocationEvent::ReleaseAsked { allocation, termination: _ } => {
                self.allocations[*allocation].mark = StopRequest::Released;
            }
            AllocationEvent::Preempted { victim, cause: _ } => self.preempt(*victim),
            AllocationEvent::PreemptionObserved { .. } => {}
        }
    }

    fn apply_foreign(&mut self, event: &ForeignEvent) {
        match event {
            ForeignEvent::Set { partition, key, node, resources, preemptable } => {
                self.set_foreign(*partition, key, *node, resources, *preemptable);
            }
            ForeignEvent::Removed { partition, key } => self.remove_foreign(*partition, key),
        }
    }

    fn apply_tenant(&mut self, event: &TenantEvent) {
        match event {
            TenantEvent::Set { partition, tenant, settings } => {
                self.partition_mut(*partition).tenants.set(tenant, settings);
            }
            TenantEvent::Draining { partition, tenant } => {
                self.partition_mut(*partition).tenants.drain(tenant);
            }
            TenantEvent::Removed { partition, tenant } => {
                self.partition_mut(*partition).tenants.remove(tenant);
            }
            TenantEvent::DefaultsSet { partition, defaults } => {
                self.partition_mut(*partition).tenants.set_defaults(defaults);
            }
            TenantEvent::DriftFound { .. } => {} // To be known, and no more.
        }
    }

    /// Returns the amounts as a vector. `None` if no amount is positive, because such a bound has no effect.
    pub(super) fn positive(&mut self, amounts: &Amounts) -> Option<Resources> {
        amounts.is_strictly_positive().then(|| self.types.intern_all(amounts))
    }

    pub(super) fn each_up(&mut self, queue: QueueId, mut change: impl FnMut(&mut Queue)) {
        let mut next = Some(queue);
        while let Some(id) = next {
            let queue = &mut self.queues[id];
            change(queue);
            next = queue.parent;
        }
    }

    pub(super) fn partition_mut(&mut self, partition: PartitionId) -> &mut Partition {
        self.partitions.get_mut(&partition).expect("the event names a partition that is there")
    }

    pub(super) fn trackers(&mut self, partition: PartitionId) -> &mut Trackers {
        &mut self.partition_mut(partition).trackers
    }
}

impl Partition {
    /// Returns the queue at the path of an event.
    pub(super) fn queues_path(&self, path: &str) -> QueueId {
        *self.queues.get(path).expect("the event names a queue that is there")
    }
}
