//! Records of queues and of limits.

use alloc::string::String;

use crate::books::{LimitSettings, LimitSubject, QueueSettings};
use crate::event::{PartitionEvent, QueueEvent};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};

use super::builder::RecordBuilder;
use super::{Change, Detail, Kind};

impl RecordBuilder<'_> {
    pub(super) fn hear_of_partition(&mut self, event: &PartitionEvent) {
        match event {
            PartitionEvent::Added { .. } => {
                self.queue_came(&Name::new("root"), true, Change::Add);
            }
            PartitionEvent::Removed { .. } => {
                self.queue_came(&Name::new("root"), true, Change::Remove);
            }
            // YuniKorn has no record of these.
            PartitionEvent::Changed { .. }
            | PartitionEvent::QuestionsSet { .. }
            | PartitionEvent::RecoverySet { .. }
            | PartitionEvent::ManagerAway { .. } => {}
        }
    }

    pub(super) fn hear_of_queue(&mut self, event: &QueueEvent) {
        match event {
            QueueEvent::Added { parent, name, managed, .. } => {
                let path = alloc::format!("{parent}.{name}").into();
                self.queue_came(&path, *managed, Change::Add);
            }
            QueueEvent::Removed { queue } => {
                let row = self.books.queue(*queue);
                let (path, managed) = (row.path.clone(), row.managed);
                self.queue_came(&path, managed, Change::Remove);
            }
            QueueEvent::Changed { partition, queue, leaf, settings, .. } => {
                self.queue_changed(*partition, queue, *leaf, settings);
            }
            QueueEvent::LimitsChanged { partition, queue, limits } => {
                self.limits_changed(*partition, queue, limits);
            }
            QueueEvent::QuotaClockStopped { queue } => self.quota_enforced(*queue),
            QueueEvent::Moved { .. } => {}
        }
    }

    fn queue_came(&mut self, path: &Name, managed: bool, change: Change) {
        let detail = if managed { Detail::None } else { Detail::QueueDynamic };
        let record = self.record(Kind::Queue, change, detail, path);
        self.tell(record);
    }

    fn queue_changed(
        &mut self,
        partition: PartitionId,
        path: &Name,
        leaf: bool,
        settings: &QueueSettings,
    ) {
        let Some(queue) = self.books.queue_at(partition, path) else { return };
        let row = self.books.queue(queue);
        if row.leaf != leaf {
            let text = alloc::format!("leaf queue: {leaf}");
            let record = self.record(Kind::Queue, Change::Set, Detail::QueueType, path);
            self.tell(record.saying(&text));
        }
        if row.parent.is_none() {
            return; // What the root has is the size of the cluster.
        }
        for (detail, before, after) in [
            (Detail::QueueMax, &row.settings.max, &settings.max),
            (Detail::QueueGuaranteed, &row.settings.guaranteed, &settings.guaranteed),
        ] {
            // Records the configured values only, because the amounts of a fraction change with every node.
            let [before, after] = [before, after]
                .map(|one| one.as_ref().filter(|one: &&Amounts| one.is_strictly_positive()));
            if before != after {
                let value = after.cloned().unwrap_or_default();
                let record = self.record(Kind::Queue, Change::Set, detail, path).of(value);
                self.tell(record);
            }
        }
    }

    /// Records quota preemption if the timer stops after its time, because preemption began just now.
    fn quota_enforced(&mut self, queue: QueueId) {
        let row = self.books.queue(queue);
        let reached = row.quota_preemption_at.is_some_and(|at| at <= self.at);
        let staying = row.used_after_preemption();
        let over = row.max.iter().flat_map(Resources::iter).filter_map(|(resource, most)| {
            let over = staying.get_or_zero(resource).minus(most);
            (over > Quantity::ZERO).then_some((resource, over))
        });
        let over: Resources = over.filter(|_| row.settings.tenant.is_some()).collect();
        if !reached || (row.preempting.is_empty() && over.is_empty()) {
            return;
        }
        let (asked, used) = (self.amounts(&row.preempting), self.amounts(&row.allocated));
        let max = row.max.as_ref().map(|max| self.amounts(max)).unwrap_or_default();
        let stays = if over.is_empty() {
            String::new()
        } else {
            let over = self.amounts(&over);
            alloc::format!("; tasks that cannot be preempted use {over} above the maximum")
        };
        let text = alloc::format!(
            "the queue uses {used}, but its maximum is {max}; the resource manager must stop \
             {asked}{stays}"
        );
        let record = self.record(Kind::Queue, Change::Set, Detail::QueuePreemption, &row.path);
        self.tell(record.of(max).saying(&text));
    }

    /// Records limits that were added, changed, or removed.
    fn limits_changed(&mut self, partition: PartitionId, path: &Name, limits: &[LimitSettings]) {
        let Some(queue) = self.books.queue_at(partition, path) else { return };
        let before = self.books.partition(partition).trackers.limits_at(queue);
        for gone in before.iter().filter(|one| limits.iter().all(|two| two.subject != one.subject))
        {
            self.limit(Change::Remove, path, gone);
        }
        for set in limits.iter().filter(|one| !before.contains(one)) {
            self.limit(Change::Set, path, set);
        }
    }

    fn limit(&mut self, change: Change, path: &Name, limit: &LimitSettings) {
        let everybody = Name::new("*");
        let (detail, name) = match &limit.subject {
            LimitSubject::User(name) => (Detail::UserLimit, name),
            LimitSubject::AnyUser => (Detail::UserLimit, &everybody),
            LimitSubject::Group(name) => (Detail::GroupLimit, name),
            LimitSubject::AnyGroup => (Detail::GroupLimit, &everybody),
        };
        let record = self.record(Kind::UserGroup, change, detail, name).with(path);
        self.tell(record);
    }
}
