//! A node with what runs on it.

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
    /// Name of its partition.
    pub partition: Name,
    /// Its size.
    pub capacity: Amounts,
    /// Allocated on it.
    pub allocated: Amounts,
    /// Used on it by what is not scheduled here.
    pub occupied: Amounts,
    /// What is left; negative after it shrank below its use.
    pub available: Amounts,
    /// `allocated` in percent of `capacity`.
    pub used_percent: Percents,
    /// What else is known of it.
    pub attributes: NodeAttributes,
    /// Whether asks may be placed on it.
    pub schedulable: bool,
    /// Keys of the asks that it is reserved for, sorted.
    pub reservations: Vec<Name>,
    /// What runs on it, by key, members included that will take a placeholder's place here.
    pub allocations: Vec<AllocationView>,
    /// What runs on it and is not scheduled here, by key.
    pub foreign: Vec<ForeignView>,
}

/// What runs on the nodes of a partition and is not scheduled here, gathered once for all of them.
#[derive(Clone, Debug, Default)]
pub struct ForeignByNode(BTreeMap<NodeId, Vec<ForeignView>>);

/// Something that runs on a node and is not scheduled here.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignView {
    /// Its key.
    pub key: Name,
    /// How much it takes.
    pub resources: Amounts,
    /// Whether it may be taken back.
    pub preemptable: bool,
}

impl NodeView {
    /// One node. Costs what runs on it, and all that is foreign to its partition.
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

    /// One node after the other, each once. Costs what runs on it.
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

    /// All nodes of a partition, by id.
    pub fn all(books: &Books, partition: PartitionId) -> Vec<Self> {
        let mut foreign = ForeignByNode::of(books, partition);
        let nodes = books.partition(partition).nodes.iter();
        nodes.map(|(_, node)| Self::next_of(books, *node, &mut foreign)).collect()
    }
}

impl ForeignByNode {
    /// All that is foreign to a partition.
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
