//! Converts events to records.

use crate::books::Books;
use crate::command::Command;
use crate::config::tenant::INSTANCES;
use crate::event::Event;
use crate::id::{AllocationId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::Timestamp;

use super::{Change, Detail, Kind, Record};

/// Calls `heard` with every record of an event, in order. `books` is the state just before the event.
///
/// Costs the objects that the event refers to, and for a changed queue file its limits. Records of waiting asks are not
/// included: see [`super::Edges`].
pub fn records(books: &Books, now: Timestamp, event: &Event, heard: &mut impl FnMut(Record)) {
    RecordBuilder { books, at: now, heard }.hear(event);
}

/// Calls `heard` with the records of a refused command. A node that could not be registered is recorded as if it had
/// been. `books` is the same before and after the command.
pub fn records_of_refusal(
    books: &Books,
    now: Timestamp,
    command: &Command,
    heard: &mut impl FnMut(Record),
) {
    if let Command::AddNode(add) = command
        && books.partition_named(&add.partition).is_some()
    {
        let mut teller = RecordBuilder { books, at: now, heard };
        teller.schedulable(&add.node, add.schedulable);
        teller.node_came(&add.node, &add.capacity);
    }
}

/// Creates the records of one event.
pub(super) struct RecordBuilder<'a> {
    pub(super) books: &'a Books,
    pub(super) at: Timestamp,
    heard: &'a mut dyn FnMut(Record),
}

impl RecordBuilder<'_> {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Partition(event) => self.hear_of_partition(event),
            Event::Queue(event) => self.hear_of_queue(event),
            Event::Node(event) => self.hear_of_node(event),
            Event::Application(event) => self.hear_of_application(event),
            Event::Ask(event) => self.hear_of_ask(event),
            Event::Allocation(event) => self.hear_of_allocation(event),
            Event::Foreign(event) => self.hear_of_foreign(event),
            // Changes of tenant settings are recorded with queues and limits, and changes of tasks with their
            // applications. YuniKorn has no record of a queue file.
            Event::Configured { .. } | Event::Task(_) | Event::Tenant(_) => {}
        }
    }

    pub(super) fn tell(&mut self, record: Record) {
        (self.heard)(record);
    }

    pub(super) fn record(
        &self,
        kind: Kind,
        change: Change,
        detail: Detail,
        object: &Name,
    ) -> Record {
        Record::new(self.at, kind, change, detail, object)
    }

    pub(super) fn amounts(&self, resources: &Resources) -> Amounts {
        self.books.types().amounts(resources)
    }

    /// Returns the amounts of an event as an RM or a user of the partition sees them.
    pub(super) fn plain(&self, partition: PartitionId, amounts: &Amounts) -> Amounts {
        let plain = amounts.without_label(|label| self.books.is_exclusive(partition, label));
        if self.books.partition(partition).settings.tenants.is_none() {
            return plain;
        }
        let tasks = |name: &Name| **name == *INSTANCES;
        plain
            .iter()
            .filter(|(name, _)| !tasks(name))
            .map(|(name, one)| (name.clone(), one))
            .collect()
    }

    /// Returns the amounts of an ask or allocation that count for users and groups.
    pub(super) fn counted(&self, one: AllocationId) -> Amounts {
        self.amounts(self.books.resources_of(one))
    }

    /// Returns the amounts of an ask or allocation for all other records.
    pub(super) fn size_of(&self, one: AllocationId) -> Amounts {
        self.books.plain_size_of(one)
    }

    /// Records the change of the cluster size, and with it of the maximum of the root queue.
    pub(super) fn root_resized(
        &mut self,
        partition: PartitionId,
        gained: &Amounts,
        lost: &Resources,
    ) {
        let root = self.books.queue(self.books.partition(partition).root);
        let before = root.max.as_ref().map(|max| self.amounts(max)).unwrap_or_default();
        let mut total = before.clone();
        for (name, amount) in gained.iter() {
            total.set(name.clone(), total.get(name).unwrap_or_default().plus(amount));
        }
        for (name, amount) in self.amounts(lost).iter() {
            total.set(name.clone(), total.get(name).unwrap_or_default().minus(amount));
        }
        let total = pruned(&total);
        if total != before {
            let record =
                self.record(Kind::Queue, Change::Set, Detail::QueueMax, &root.path).of(total);
            self.tell(record);
        }
    }
}

/// Returns the amounts without zeros.
pub(super) fn pruned(amounts: &Amounts) -> Amounts {
    let nonzero = amounts.iter().filter(|(_, amount)| *amount != Quantity::ZERO);
    nonzero.map(|(name, amount)| (name.clone(), amount)).collect()
}
