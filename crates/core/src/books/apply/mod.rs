//! How each event changes the books.
//!
//! An event is a fact: it is applied, not judged. The code that makes events (`rules` and
//! `schedule`) has checked them, and replaying a journal never checks again.

mod allocation;
mod application;
mod foreign;
mod replacement;
mod reservation;
mod structure;

use alloc::vec::Vec;

use crate::books::gang::StopRequest;
use crate::event::Event;
use crate::id::{ApplicationId, PartitionId, QueueId};
use crate::resource::{Amounts, Resources};
use crate::time::Timestamp;

use crate::books::tracker::Trackers;
use crate::books::{Books, Partition, PreemptionTry, Queue};

impl Books {
    /// Change the books by one event.
    ///
    /// # Panics
    /// When the event names a row that is not there: the events are then not of these books.
    pub fn apply(&mut self, now: Timestamp, event: &Event) {
        self.changes += u64::from(!event.is_try());
        let labelled = self.types.labelled();
        self.apply_one(now, event);
        if self.types.labelled() != labelled {
            self.note_labels(now);
        }
    }

    /// The books have met types of a label for the first time: queues and users have parts of them.
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
            Event::PartitionAdded { .. }
            | Event::PartitionChanged { .. }
            | Event::PartitionRemoved { .. }
            | Event::Configured { .. }
            | Event::QueueAdded { .. }
            | Event::QueueChanged { .. }
            | Event::QueueMoved { .. }
            | Event::QueueRemoved { .. }
            | Event::LimitsChanged { .. }
            | Event::NodeAdded { .. }
            | Event::NodeResized { .. }
            | Event::NodeScheduling { .. }
            | Event::NodeRemoved { .. } => self.apply_structure(now, event),
            Event::TenantSet { .. }
            | Event::TenantDraining { .. }
            | Event::TenantRemoved { .. }
            | Event::TenantDefaultsSet { .. } => self.apply_tenant(event),
            Event::ApplicationAdded { .. } => self.admit(now, event),
            Event::ApplicationRejected { .. } => self.reject_application(now, event),
            Event::TaskAdded { .. } | Event::TaskThrottled { .. } | Event::TaskMoved { .. } => {
                self.apply_task(now, event);
            }
            Event::ApplicationLinked { application, group } => {
                self.link(*application, group.as_ref());
            }
            Event::DriftFound { .. } => {} // To be known, and no more.
            Event::RecoverySet { .. } | Event::NodeReported { .. } => self.apply_recovery(event),
            Event::LifetimeSet { .. } | Event::LifetimeOver { .. } => self.apply_lifetime(event),
            Event::DeadlineSet { .. } | Event::Overtaken { .. } => self.apply_line(event),
            Event::GroupUnlinked { application } => self.unlink_group(*application),
            Event::ApplicationUnlinked { application } => self.unlink(*application),
            Event::ApplicationMoved { application, state, timer } => {
                self.move_application(now, *application, *state, *timer);
            }
            Event::ApplicationAllocating { application } => self.note_allocating(*application),
            Event::ApplicationActivated { application, driver } => self.start(*application, driver),
            Event::ApplicationRemoved { application } => self.remove_application(now, *application),
            Event::AskAdded { .. } => self.add_ask(event),
            Event::AskRemoved { ask, termination } => self.remove_ask(*ask, *termination),
            Event::Placed { ask, node } => self.place(now, *ask, *node),
            Event::Resized { allocation, resources } => self.resize(now, *allocation, resources),
            Event::Released { allocation, termination } => {
                self.release(now, *allocation, *termination);
            }
            Event::Reserved { .. }
            | Event::Unreserved { .. }
            | Event::SwapStarted { .. }
            | Event::SwapConfirmed { .. }
            | Event::SwapDropped { .. }
            | Event::ReleaseAsked { .. }
            | Event::Preempted { .. }
            | Event::PreemptionTriggered { .. }
            | Event::PreemptionObserved { .. }
            | Event::PreemptionTried { .. }
            | Event::QuotaClockStopped { .. }
            | Event::BackedOff { .. }
            | Event::PlaceholdersExpired { .. }
            | Event::TimerStopped { .. }
            | Event::ScaleUpAsked { .. }
            | Event::ForeignSet { .. }
            | Event::ForeignRemoved { .. }
            | Event::QuestionsSet { .. }
            | Event::ManagerAway { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::VerdictsVoid { .. } => self.apply_cycle(now, event),
        }
    }

    fn admit(&mut self, now: Timestamp, event: &Event) {
        let Event::ApplicationAdded { partition, queue, application, user, groups, gang } = event
        else {
            return;
        };
        let queue = self.partition(*partition).queues_path(queue);
        self.add_application(now, queue, application, user, groups, gang);
    }

    /// The events of partitions, queues and nodes.
    fn apply_structure(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::PartitionAdded { partition, settings, root } => {
                self.add_partition(now, partition, settings.clone(), root);
            }
            Event::PartitionChanged { partition, settings } => {
                self.change_partition(*partition, settings.clone());
            }
            Event::PartitionRemoved { partition } => self.remove_partition(*partition),
            Event::Configured { checksum } => self.checksum = checksum.clone(),
            Event::QueueAdded { partition, parent, name, leaf, managed, settings } => {
                self.add_queue(now, *partition, parent, name, (*leaf, *managed), settings);
            }
            Event::QueueChanged { partition, queue, leaf, managed, settings } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.change_queue(now, queue, (*leaf, *managed), settings);
            }
            Event::QueueMoved { partition, queue, state } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.queues[queue].state = *state;
                self.watch_emptiness(now, queue);
                self.watch_drain(now, queue);
            }
            Event::QueueRemoved { queue } => self.remove_queue(now, *queue),
            Event::LimitsChanged { partition, queue, limits } => {
                self.set_limits(*partition, queue, limits);
            }
            Event::NodeAdded { partition, node, capacity, schedulable, attributes } => {
                self.add_node(now, *partition, node, capacity, *schedulable, attributes);
            }
            Event::NodeResized { node, capacity } => {
                let capacity = self.types.intern_all(capacity).pruned();
                let row = &mut self.nodes[*node];
                let change = capacity.minus(&row.capacity);
                row.set_capacity(capacity);
                let partition = row.partition;
                self.resize_root(now, partition, &change);
            }
            Event::NodeScheduling { node, schedulable } => {
                let row = &mut self.nodes[*node];
                row.schedulable = *schedulable;
                row.version += 1;
            }
            Event::NodeRemoved { node } => self.remove_node(now, *node),
            _ => unreachable!("every other event is applied elsewhere"),
        }
    }

    /// An application was activated, with a driver of this size.
    fn start(&mut self, application: ApplicationId, driver: &Amounts) {
        let driver = self.types.intern_all(driver).pruned();
        self.activate(application, &driver);
    }

    /// The events of tenants.
    fn apply_tenant(&mut self, event: &Event) {
        match event {
            Event::TenantSet { partition, tenant, settings } => {
                self.partition_mut(*partition).tenants.set(tenant, settings);
            }
            Event::TenantDraining { partition, tenant } => {
                self.partition_mut(*partition).tenants.drain(tenant);
            }
            Event::TenantRemoved { partition, tenant } => {
                self.partition_mut(*partition).tenants.remove(tenant);
            }
            Event::TenantDefaultsSet { partition, defaults } => {
                self.partition_mut(*partition).tenants.set_defaults(defaults);
            }
            _ => unreachable!("every other event is applied elsewhere"),
        }
    }

    /// The events of reservations, gangs, preemption and foreign use.
    fn apply_cycle(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::Reserved { ask, node } => self.reserve(now, *ask, *node),
            Event::Unreserved { ask } => self.drop_reservation(*ask),
            Event::SwapStarted { ask, placeholder, node } => {
                self.start_swap(*ask, *placeholder, *node);
            }
            Event::SwapConfirmed { placeholder } => self.confirm_swap(now, *placeholder),
            Event::SwapDropped { ask } => self.drop_swap(*ask),
            Event::ReleaseAsked { allocation, termination: _ } => {
                self.allocations[*allocation].mark = StopRequest::Released;
            }
            Event::Preempted { victim, cause: _ } => self.preempt(*victim),
            Event::PreemptionObserved { .. } => {}
            Event::PreemptionTriggered { ask } => {
                self.allocations[*ask].preemption_triggered = true;
                self.forget_removals(*ask);
            }
            Event::PreemptionTried { ask } => {
                let tried = PreemptionTry { at: now, changes: self.changes };
                self.allocations[*ask].special_mut().preemption_tried = Some(tried);
                if let Some((shape, equals)) = self.equals_of(*ask) {
                    self.shapes.note_try(shape, equals, tried);
                }
            }
            Event::QuotaClockStopped { queue } => self.queues[*queue].quota_preemption_at = None,
            Event::BackedOff { application, until } => {
                self.applications[*application].backed_off = Some(*until);
            }
            Event::PlaceholdersExpired { application } => self.expire_placeholders(*application),
            Event::TimerStopped { application } => self.stop_timer(*application),
            Event::ScaleUpAsked { ask } => self.allocations[*ask].scale_up_asked = true,
            Event::ForeignSet { partition, key, node, resources, preemptable } => {
                self.set_foreign(*partition, key, *node, resources, *preemptable);
            }
            Event::ForeignRemoved { partition, key } => self.remove_foreign(*partition, key),
            Event::ManagerAway { partition, away } => {
                self.partition_mut(*partition).away.clone_from(away);
            }
            Event::QuestionsSet { partition, questions } => {
                self.set_questions(*partition, *questions);
            }
            Event::Asked { ask, subject } => self.ask_rm(now, *ask, subject),
            Event::Answered { ask, verdicts } => self.answer(*ask, verdicts),
            Event::VerdictsVoid { node } => self.nodes[*node].version += 1,
            _ => unreachable!("every other event is applied elsewhere"),
        }
    }

    /// The vector of these amounts; none unless it limits or grants anything at all.
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
    /// The queue at a path that an event names.
    pub(super) fn queues_path(&self, path: &str) -> QueueId {
        *self.queues.get(path).expect("the event names a queue that is there")
    }
}
