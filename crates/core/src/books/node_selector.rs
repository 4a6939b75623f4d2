//! Node selectors: the label and the blocked nodes of an ask. Source: user-headroom §3 (check 12) and §10 (C18),
//! decision L-10.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::config::NodeLabelsConfig;
use crate::config::tenant::INSTANCES;
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType, Resources, Sections, type_and_label};
use crate::table::Table;

use super::{Allocation, Books, Node};

/// Requirements of an ask for nodes. Asks with the same amounts and selector share a shape and are checked together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeSelector {
    /// Label of the nodes. `None` for all nodes without an exclusive label.
    pub label: Option<Name>,
    /// Blocked nodes, in the order of their names and without duplicates.
    pub blocked: Vec<Name>,
}

impl NodeSelector {
    /// Returns whether the selector is empty, which allows all nodes without an exclusive label.
    pub const fn is_empty(&self) -> bool {
        self.label.is_none() && self.blocked.is_empty()
    }

    /// Returns whether the label of a node matches. Without a label in the selector, the node must not have an
    /// exclusive label.
    pub fn fits_label(&self, node: &Node) -> bool {
        match &self.label {
            Some(label) => node.label() == Some(label),
            None => !node.is_closed(),
        }
    }

    /// Returns whether a node is blocked.
    pub fn blocks(&self, node: &Name) -> bool {
        self.blocked.binary_search(node).is_ok()
    }

    fn suits(&self, node: &Node) -> bool {
        self.fits_label(node) && !self.blocks(&node.name)
    }
}

/// Bit set of the nodes that match a selector. It is computed once for each node, so that placement does not compare
/// names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeSet(Vec<u64>);

impl NodeSet {
    /// Returns the nodes that match a selector.
    pub(super) fn of(wish: &NodeSelector, nodes: &Table<NodeId, Node>) -> Self {
        let mut set = Self::default();
        for (id, node) in nodes.iter() {
            set.put(id, wish.suits(node));
        }
        set
    }

    #[inline]
    pub(super) fn has(&self, node: NodeId) -> bool {
        let (word, bit) = place(node);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds a node.
    pub(super) fn add(&mut self, wish: &NodeSelector, id: NodeId, node: &Node) {
        self.put(id, wish.suits(node));
    }

    /// Removes a node.
    pub(super) fn remove(&mut self, id: NodeId) {
        self.put(id, false);
    }

    fn put(&mut self, node: NodeId, suits: bool) {
        let (word, bit) = place(node);
        if !suits {
            if let Some(word) = self.0.get_mut(word) {
                *word &= !bit;
            }
            // Without trailing zero words, equal sets are equal vectors, regardless of their history.
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
            return;
        }
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }
}

const fn place(node: NodeId) -> (usize, u64) {
    let index = node.index();
    (index / 64, 1 << (index % 64))
}

impl Books {
    /// Returns whether a label of a partition is exclusive: only asks that select it can use its nodes, and its nodes
    /// are counted in separate types.
    pub fn is_exclusive(&self, partition: PartitionId, label: &str) -> bool {
        let root = &self.queues[self.partition(partition).root];
        let labels = root.settings.node_labels.as_ref();
        labels.is_some_and(|labels| labels.is_exclusive(label))
    }

    /// Returns whether the label of a node is exclusive.
    pub(super) fn closes(&self, partition: PartitionId, label: Option<&Name>) -> bool {
        label.is_some_and(|label| self.is_exclusive(partition, label))
    }

    /// Returns the settings of the labels whose idle nodes are lent, which the root sets. `None` for most partitions.
    fn lending(&self, partition: PartitionId) -> Option<&NodeLabelsConfig> {
        let root = &self.queues[self.partition(partition).root];
        root.settings.node_labels.as_deref().filter(|labels| !labels.lends.is_empty())
    }

    /// Returns the labels of a partition whose idle nodes are lent and whose types are known, in order.
    pub(crate) fn lending_labels(&self, partition: PartitionId) -> Vec<Name> {
        let types = self.lending(partition).into_iter().flat_map(|_| self.types().iter());
        let labels = types.filter_map(|(_, name)| Some(Name::new(type_and_label(name)?.1)));
        let labels = labels.filter(|label| self.lends(partition, Some(label)));
        labels.collect::<BTreeSet<Name>>().into_iter().collect()
    }

    /// Returns whether idle nodes of any label of a partition are lent.
    pub(crate) fn has_lending(&self, partition: PartitionId) -> bool {
        self.lending(partition).is_some()
    }

    /// Returns whether idle nodes of a label are lent.
    pub(super) fn lends(&self, partition: PartitionId, label: Option<&Name>) -> bool {
        let labels = self.lending(partition);
        label.is_some_and(|label| labels.is_some_and(|labels| labels.lends(label)))
    }

    /// Returns whether an allocation has a borrowed node: the label of the node lends, and the allocation neither
    /// selects the label nor requires the node.
    pub(crate) fn is_lent(&self, row: &Allocation) -> bool {
        let Some(node) = row.node.map(|node| &self.nodes[node]) else { return false };
        let named = self.shapes.wish(row.shape).and_then(|wish| wish.label.as_ref());
        node.lends && row.required_node().is_none() && named != node.label.as_ref()
    }

    /// Returns the sections of the types of a partition.
    pub(crate) fn sections_of(&self, partition: PartitionId) -> Sections {
        Sections::of(self.types(), |label| self.is_exclusive(partition, label))
    }

    /// Returns the type that counts tasks of tenants. `None` if the partition has no tenants.
    pub(crate) fn task_type(&self, partition: PartitionId) -> Option<ResourceType> {
        self.partition(partition).settings.tenants.as_ref()?;
        self.types().find(INSTANCES)
    }

    /// Returns the number of tasks in these amounts of a partition. `None` if they have no such type.
    pub(crate) fn instances_of(
        &self,
        partition: PartitionId,
        resources: &Resources,
    ) -> Option<Quantity> {
        resources.get(self.task_type(partition)?)
    }

    /// Returns the amounts that count for nodes. `None` if all do.
    pub(crate) fn for_nodes(
        &self,
        partition: PartitionId,
        resources: &Resources,
    ) -> Option<Resources> {
        self.instances_of(partition, resources)?;
        let tasks = self.types().find(INSTANCES)?;
        Some(resources.iter().filter(|(resource, _)| *resource != tasks).collect())
    }

    /// Returns amounts for an RM or a user: in plain types instead of types of a label, and without the type that
    /// counts tasks.
    pub fn plain(&self, partition: PartitionId, resources: &Resources) -> Amounts {
        let mut amounts = self.types().amounts(resources);
        if self.instances_of(partition, resources).is_some() {
            let others = amounts.iter().filter(|(name, _)| **name != *INSTANCES);
            amounts = others.map(|(name, amount)| (name.clone(), amount)).collect();
        }
        if !self.types().has_labelled() {
            return amounts;
        }
        amounts.without_label(|label| self.is_exclusive(partition, label))
    }

    /// Returns the label whose types an ask or allocation is counted in. `None` for plain types.
    pub(crate) fn label_of(&self, allocation: AllocationId) -> Option<&str> {
        if !self.types().has_labelled() {
            return None;
        }
        let application = self.application(self.allocation(allocation).application);
        let mut types = self.resources_of(allocation).iter();
        types.find_map(|(resource, _)| {
            let (_, label) = type_and_label(self.types().name(resource))?;
            self.is_exclusive(application.partition, label).then_some(label)
        })
    }

    /// Returns the amounts of an ask or allocation in [plain](Self::plain) types.
    pub fn plain_size_of(&self, allocation: AllocationId) -> Amounts {
        let application = self.application(self.allocation(allocation).application);
        self.plain(application.partition, self.resources_of(allocation))
    }

    /// Recomputes which nodes of a partition have exclusive labels, and which nodes match the selectors.
    pub(super) fn label_nodes(&mut self, partition: PartitionId) {
        let mine = self.nodes.iter().filter(|(_, node)| node.partition == partition);
        let mine: Vec<NodeId> = mine.map(|(id, _)| id).collect();
        for id in mine {
            let label = self.nodes[id].attributes.label().cloned();
            let closed = self.closes(partition, label.as_ref());
            let lends = self.lends(partition, label.as_ref());
            let node = &mut self.nodes[id];
            (node.label, node.closed, node.lends) = (label, closed, lends);
        }
        self.shapes.refresh(&self.nodes);
    }
}
