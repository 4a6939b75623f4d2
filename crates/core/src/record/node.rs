//! Records of nodes: capacity, allocations, and reservations.

use crate::event::{ForeignEvent, NodeEvent};
use crate::id::{AllocationId, NodeId};
use crate::name::Name;
use crate::resource::{Amounts, Resources};

use super::builder::{RecordBuilder, pruned};
use super::{Change, Detail, Kind};

impl RecordBuilder<'_> {
    pub(super) fn hear_of_node(&mut self, event: &NodeEvent) {
        match event {
            NodeEvent::Added { partition, node, capacity, schedulable, .. } => {
                self.schedulable(node, *schedulable);
                self.root_resized(*partition, capacity, &Resources::new());
                self.node_came(node, &self.plain(*partition, capacity));
            }
            NodeEvent::Resized { node, capacity } => {
                let row = self.books.node(*node);
                let record = self.record(Kind::Node, Change::Set, Detail::NodeCapacity, &row.name);
                self.tell(record.of(pruned(&self.plain(row.partition, capacity))));
                self.root_resized(row.partition, capacity, &row.capacity);
            }
            NodeEvent::Scheduling { node, schedulable } => {
                let name = &self.books.node(*node).name;
                self.schedulable(name, *schedulable);
            }
            NodeEvent::Removed { node } => {
                let row = self.books.node(*node);
                self.root_resized(row.partition, &Amounts::EMPTY, &row.capacity);
                let detail = Detail::NodeDecommission;
                let record = self.record(Kind::Node, Change::Remove, detail, &row.name);
                self.tell(record);
            }
            NodeEvent::Reported { .. } | NodeEvent::VerdictsVoid { .. } => {}
        }
    }

    pub(super) fn hear_of_foreign(&mut self, event: &ForeignEvent) {
        match event {
            ForeignEvent::Set { partition, key, node, resources, .. } => {
                let known = self.books.partition(*partition).foreign.get(&**key);
                // A resized allocation stays on its node.
                if known.map(|one| one.node) != Some(*node) {
                    if let Some(known) = known {
                        self.foreign_gone(known.node, key, &known.resources);
                    }
                    let size = self.plain(*partition, resources);
                    self.carries(*node, key, size, Change::Add);
                }
            }
            ForeignEvent::Removed { partition, key } => {
                if let Some(known) = self.books.partition(*partition).foreign.get(&**key) {
                    self.foreign_gone(known.node, key, &known.resources);
                }
            }
        }
    }

    pub(super) fn schedulable(&mut self, node: &Name, schedulable: bool) {
        let text = if schedulable { "schedulable: true" } else { "schedulable: false" };
        let record = self.record(Kind::Node, Change::Set, Detail::NodeSchedulable, node);
        self.tell(record.saying(text));
    }

    pub(super) fn node_came(&mut self, node: &Name, capacity: &Amounts) {
        let record = self.record(Kind::Node, Change::Add, Detail::None, node);
        self.tell(record.of(pruned(capacity)));
    }

    /// Records that an allocation was added to a node, or removed from it.
    pub(super) fn carries(&mut self, node: NodeId, key: &Name, size: Amounts, change: Change) {
        let name = &self.books.node(node).name;
        let record = self.record(Kind::Node, change, Detail::NodeAlloc, name).with(key);
        self.tell(record.of(size));
    }

    /// Records that an allocation of the scheduler was added to a node, or removed from it.
    pub(super) fn carries_allocation(&mut self, node: NodeId, one: AllocationId, change: Change) {
        let size = self.size_of(one);
        self.carries(node, &self.books.allocation(one).key, size, change);
    }

    fn foreign_gone(&mut self, node: NodeId, key: &Name, size: &Resources) {
        // The node might be removed together with its foreign allocations.
        if self.books.nodes().get(node).is_some() {
            let size = self.books.plain(self.books.node(node).partition, size);
            self.carries(node, key, size, Change::Remove);
        }
    }

    pub(super) fn reservation(&mut self, ask: AllocationId, node: NodeId, change: Change) {
        let (name, key) = (&self.books.node(node).name, &self.books.allocation(ask).key);
        let size = self.size_of(ask);
        let record = self.record(Kind::Node, change, Detail::NodeReservation, name).with(key);
        self.tell(record.of(size));
    }

    /// Records the end of the reservation of an ask, if it has one.
    pub(super) fn reservation_ended(&mut self, ask: AllocationId) {
        if let Some(reserved) = self.books.allocation(ask).reservation() {
            self.reservation(ask, reserved.node, Change::Remove);
        }
    }
}
