//! Nodes that are reserved for asks, where a command changes the size of a node or an ask.
//! No-starvation NS-10.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::config::tenant::INSTANCES;
use crate::event::{AllocationEvent, AskEvent, Event, ForeignEvent, NodeEvent};
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};

/// The events of a command, each behind the ends of the reservations that it makes impossible. A
/// node is reserved only while its ask fits the size of the node less what is foreign there.
///
/// Costs the asks that changed nodes are reserved for, which are few.
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

/// Whether a node, what is foreign on one, or an ask has another size by an event.
const fn changes_a_size(event: &Event) -> bool {
    matches!(
        event,
        Event::Node(NodeEvent::Resized { .. })
            | Event::Foreign(ForeignEvent::Set { .. })
            | Event::Allocation(AllocationEvent::Resized { .. })
    )
}

/// The sizes of nodes and asks as the events so far make them; all others are as the books have them.
struct Sizes<'books> {
    books: &'books Books,
    nodes: BTreeMap<NodeId, NodeSize>,
    asks: BTreeMap<AllocationId, Amounts>,
}

/// What a node has, and what of it is foreign.
struct NodeSize {
    capacity: Amounts,
    foreign: Amounts,
}

impl Sizes<'_> {
    /// Bring the sizes along with an event; the asks with a node of which one has another size by it.
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
                // What counts tasks counts for queues alone.
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

    /// What is known of something foreign: its node, if that is there still, and its size.
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

    /// Whether an ask fits the node that is reserved for it, less what is foreign there.
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
