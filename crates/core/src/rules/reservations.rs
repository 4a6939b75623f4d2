//! Ends reservations that a change of a node or an ask makes impossible. Source: no-starvation NS-10.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::config::tenant::INSTANCES;
use crate::event::{AllocationEvent, AskEvent, Event, ForeignEvent, NodeEvent};
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};

/// Adds, after each event of a command, the ends of the reservations that the event makes impossible. A reservation is
/// possible only while the ask fits the capacity of the node without its foreign allocations.
///
/// Costs the asks with reservations on changed nodes, which are few.
pub(super) fn end_unfit(books: &Books, events: Vec<Event>) -> Vec<Event> {
    if !events.iter().any(changes_a_size) {
        return events;
    }
    let mut sizes = Sizes { books, nodes: BTreeMap::new(), asks: BTreeMap::new() };
    let (mut ended, mut all) = (BTreeSet::new(), Vec::with_capacity(events.len()));
    for event in events {
        for ask in sizes.follow(&event) {
            if !sizes.fits(ask) && ended.insert(ask) {
                all.push(Event::Ask(AskEvent::Unreserved { ask }));
            }
        }
        all.push(event);
    }
    all
}

/// Returns whether an event changes the size of a node, a foreign allocation, or an ask.
const fn changes_a_size(event: &Event) -> bool {
    matches!(
        event,
        Event::Node(NodeEvent::Resized { .. })
            | Event::Foreign(ForeignEvent::Set { .. })
            | Event::Allocation(AllocationEvent::Resized { .. })
    )
}

/// Sizes of nodes and asks after the events so far. Sizes that are not listed are those of the books.
struct Sizes<'books> {
    books: &'books Books,
    nodes: BTreeMap<NodeId, NodeSize>,
    asks: BTreeMap<AllocationId, Amounts>,
}

/// Capacity of a node, and the part that foreign allocations use.
struct NodeSize {
    capacity: Amounts,
    foreign: Amounts,
}

impl Sizes<'_> {
    /// Updates the sizes after an event. Returns the asks with a reservation that the event affects.
    fn follow(&mut self, event: &Event) -> Vec<AllocationId> {
        let books = self.books;
        match event {
            Event::Node(NodeEvent::Resized { node, capacity }) => {
                self.node(*node).capacity = capacity.clone();
                books.node(*node).reservations().to_vec()
            }
            Event::Foreign(ForeignEvent::Set { partition, key, node, resources, .. }) => {
                if let Some((on, before)) = self.foreign(*partition, key) {
                    self.node(on).add_foreign(&before.times(-1));
                }
                self.node(*node).add_foreign(resources);
                books.node(*node).reservations().to_vec()
            }
            Event::Allocation(AllocationEvent::Resized { allocation, resources }) => {
                let Some(row) = books.allocations().get(*allocation) else { return Vec::new() };
                if row.reservation().is_none() {
                    return Vec::new();
                }
                let partition = books.application(row.application).partition;
                let has_tenants = books.partition(partition).settings.tenants.is_some();
                // The type that counts tasks matters only for queues.
                let on_nodes =
                    resources.iter().filter(|(name, _)| !has_tenants || ***name != *INSTANCES);
                let size = on_nodes.map(|(name, amount)| (name.clone(), amount)).collect();
                self.asks.insert(*allocation, size);
                Vec::from([*allocation])
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(
                NodeEvent::Added { .. }
                | NodeEvent::Scheduling { .. }
                | NodeEvent::Removed { .. }
                | NodeEvent::Reported { .. }
                | NodeEvent::VerdictsVoid { .. },
            )
            | Event::Application(_)
            | Event::Task(_)
            | Event::Ask(_)
            | Event::Allocation(
                AllocationEvent::Released { .. }
                | AllocationEvent::SwapStarted { .. }
                | AllocationEvent::SwapConfirmed { .. }
                | AllocationEvent::SwapDropped { .. }
                | AllocationEvent::ReleaseAsked { .. }
                | AllocationEvent::Preempted { .. }
                | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(ForeignEvent::Removed { .. })
            | Event::Tenant(_) => Vec::new(),
        }
    }

    /// Returns the node of a foreign allocation, if the node still exists, and its size.
    fn foreign(&self, partition: PartitionId, key: &Name) -> Option<(NodeId, Amounts)> {
        let known = self.books.partition(partition).foreign.get(&**key)?;
        self.books.nodes().get(known.node)?;
        Some((known.node, self.books.types().amounts(&known.resources)))
    }

    fn node(&mut self, node: NodeId) -> &mut NodeSize {
        let books = self.books;
        self.nodes.entry(node).or_insert_with(|| {
            let (row, amounts) = (books.node(node), |of: &Resources| books.types().amounts(of));
            NodeSize { capacity: amounts(&row.capacity), foreign: amounts(&row.occupied) }
        })
    }

    /// Returns whether an ask fits its reserved node without the foreign allocations.
    fn fits(&mut self, ask: AllocationId) -> bool {
        let books = self.books;
        let Some(reservation) = books.allocation(ask).reservation() else { return true };
        let known = || books.types().amounts(books.node_request(ask));
        let size = self.asks.get(&ask).cloned().unwrap_or_else(known);
        let node = self.node(reservation.node);
        let mut wanted = size.iter();
        wanted.all(|(name, wanted)| wanted <= node.left(name).max(Quantity::ZERO))
    }
}

impl NodeSize {
    fn add_foreign(&mut self, amounts: &Amounts) {
        for (name, amount) in amounts.iter() {
            let before = self.foreign.get(name).unwrap_or_default();
            self.foreign.set(name.clone(), before.plus(amount));
        }
    }

    fn left(&self, name: &str) -> Quantity {
        let amount = |of: &Amounts| of.get(name).unwrap_or_default();
        amount(&self.capacity).minus(amount(&self.foreign))
    }
}
