//! Views of nodes with their allocations.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, Foreign, NodeAttributes};
use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;

use super::application::AllocationView;
use super::percent::{Percents, percents};

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeView {
    /// Node id.
    pub node: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Capacity of the node.
    pub capacity: Amounts,
    /// Usage of allocations.
    pub allocated: Amounts,
    /// Usage of foreign allocations.
    pub occupied: Amounts,
    /// Free amounts. Negative after the node shrank below its usage.
    pub available: Amounts,
    /// `allocated` as a percentage of `capacity`.
    pub used_percent: Percents,
    /// Attributes of the node.
    pub attributes: NodeAttributes,
    /// Whether the scheduler can place asks on it.
    pub schedulable: bool,
    /// Keys of the asks that have it reserved, sorted.
    pub reservations: Vec<Name>,
    /// Allocations by key, including members that are replacing a placeholder here.
    pub allocations: Vec<AllocationView>,
    /// Foreign allocations by key.
    pub foreign: Vec<ForeignView>,
}

/// Foreign allocations of a partition by node, collected once for all nodes.
#[derive(Clone, Debug, Default)]
pub struct ForeignByNode(BTreeMap<NodeId, Vec<ForeignView>>);

/// A foreign allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignView {
    /// Key of the foreign allocation.
    pub key: Name,
    /// Amounts that it uses.
    pub resources: Amounts,
    /// Whether it could be preempted.
    pub preemptable: bool,
}

impl NodeView {
    /// Returns the view of one node. Costs its allocations, and all foreign allocations of its partition.
    pub fn of(books: &Books, node: NodeId) -> Self {
        let partition = books.node(node).partition;
        let foreign = &books.partition(partition).foreign;
        let here = foreign.iter().filter(|(_, one)| one.node == node);
        Self::with(
            books,
            node,
            here.map(|(key, one)| foreign_view(books, partition, key, one)).collect(),
        )
    }

    /// Returns the view of a node and removes its entries from `foreign`, so call it once for each node. Costs its
    /// allocations.
    pub fn next_of(books: &Books, node: NodeId, foreign: &mut ForeignByNode) -> Self {
        Self::with(books, node, foreign.0.remove(&node).unwrap_or_default())
    }

    fn with(books: &Books, node: NodeId, foreign: Vec<ForeignView>) -> Self {
        let row = books.node(node);
        let amounts = |resources| books.plain(row.partition, resources);
        let mut allocations: Vec<AllocationView> = books
            .allocations_on(node)
            .filter_map(|(id, _)| AllocationView::of(books, id))
            .collect();
        allocations.sort_by(|one, other| one.key.cmp(&other.key));
        let reserved = row.reservations().iter();
        let mut reservations: Vec<Name> =
            reserved.map(|ask| books.allocation(*ask).key.clone()).collect();
        reservations.sort();
        let (capacity, allocated) = (amounts(&row.capacity), amounts(&row.allocated));
        Self {
            node: row.name.clone(),
            partition: books.partition(row.partition).name.clone(),
            used_percent: percents(&capacity, &allocated),
            capacity,
            allocated,
            occupied: amounts(&row.occupied),
            available: amounts(&row.available),
            attributes: row.attributes.clone(),
            schedulable: row.schedulable,
            reservations,
            allocations,
            foreign,
        }
    }

    /// Returns all nodes of a partition, by ID.
    pub fn all(books: &Books, partition: PartitionId) -> Vec<Self> {
        let mut foreign = ForeignByNode::of(books, partition);
        let nodes = books.partition(partition).nodes.iter();
        nodes.map(|(_, node)| Self::next_of(books, *node, &mut foreign)).collect()
    }
}

impl ForeignByNode {
    /// Collects all foreign allocations of a partition.
    pub fn of(books: &Books, partition: PartitionId) -> Self {
        let mut all: BTreeMap<NodeId, Vec<ForeignView>> = BTreeMap::new();
        for (key, one) in books.partition(partition).foreign.iter() {
            all.entry(one.node).or_default().push(foreign_view(books, partition, key, one));
        }
        Self(all)
    }
}

fn foreign_view(books: &Books, partition: PartitionId, key: &Name, one: &Foreign) -> ForeignView {
    let resources = books.plain(partition, &one.resources);
    ForeignView { key: key.clone(), resources, preemptable: one.preemptable }
}
