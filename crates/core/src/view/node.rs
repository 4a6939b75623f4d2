//! A node with what runs on it.

use alloc::vec::Vec;

use crate::books::Books;
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
    /// Used on it by others than us. Always empty: the books do not know of others yet.
    pub occupied: Amounts,
    /// What is left; negative after it shrank below its use.
    pub available: Amounts,
    /// `allocated` in percent of `capacity`.
    pub used_percent: Percents,
    /// Whether asks may be placed on it.
    pub schedulable: bool,
    /// Keys of the asks that it is kept for. Always empty: no node is kept for an ask yet.
    pub reservations: Vec<Name>,
    /// What runs on it, by key.
    pub allocations: Vec<AllocationView>,
}

impl NodeView {
    /// One node. Costs what runs on it.
    pub fn of(books: &Books, node: NodeId) -> Self {
        let row = books.node(node);
        let amounts = |resources| books.types().amounts(resources);
        let mut allocations: Vec<AllocationView> = books
            .allocations_on(node)
            .filter_map(|(id, _)| AllocationView::of(books, id))
            .collect();
        allocations.sort_by(|one, other| one.key.cmp(&other.key));
        let (capacity, allocated) = (amounts(&row.capacity), amounts(&row.allocated));
        Self {
            node: row.name.clone(),
            partition: books.partition(row.partition).name.clone(),
            used_percent: percents(&capacity, &allocated),
            capacity,
            allocated,
            occupied: Amounts::EMPTY,
            available: amounts(&row.available),
            schedulable: row.schedulable,
            reservations: Vec::new(),
            allocations,
        }
    }

    /// All nodes of a partition, by id.
    pub fn all(books: &Books, partition: PartitionId) -> Vec<Self> {
        let nodes = &books.partition(partition).nodes;
        nodes.iter().map(|(_, node)| Self::of(books, *node)).collect()
    }
}
