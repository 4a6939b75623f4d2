//! What an ask requires of nodes in addition to room: their label, and those that it may not have.
//! Source: user-headroom §3 (check 12) and §10 (C18), decision L-10.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::config::NodeLabelsConfig;
use crate::config::tenant::INSTANCES;
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType, Resources, Sections, type_and_label};
use crate::table::Table;

use super::{Allocation, Books, Node};

/// What an ask says of nodes. Equal wishes of equal size are one shape, and are judged together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeSelector {
    /// The label of the nodes that it may have; none for all whose label is not exclusive.
    pub label: Option<Name>,
    /// The nodes that it may not have, in the order of their names, each once.
    pub blocked: Vec<Name>,
}

impl NodeSelector {
    /// Whether it says nothing: then it may have every node whose label is not exclusive.
    pub const fn is_empty(&self) -> bool {
        self.label.is_none() && self.blocked.is_empty()
    }

    /// Whether a node has the label that is wished for, or is open to who wishes for none.
    pub fn fits_label(&self, node: &Node) -> bool {
        match &self.label {
            Some(label) => node.label() == Some(label),
            None => !node.is_closed(),
        }
    }

    /// Whether a node is one of those that it may not have.
    pub fn blocks(&self, node: &Name) -> bool {
        self.blocked.binary_search(node).is_ok()
    }

    fn suits(&self, node: &Node) -> bool {
        self.fits_label(node) && !self.blocks(&node.name)
    }
}

/// The nodes that suit a wish, by their places: found out once for each node, so that nobody
/// compares names when an ask is placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeSet(Vec<u64>);

impl NodeSet {
    /// The nodes that suit a wish.
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

    /// A node has come.
    pub(super) fn add(&mut self, wish: &NodeSelector, id: NodeId, node: &Node) {
        self.put(id, wish.suits(node));
    }

    /// A node is gone.
    pub(super) fn remove(&mut self, id: NodeId) {
        self.put(id, false);
    }

    fn put(&mut self, node: NodeId, suits: bool) {
        let (word, bit) = place(node);
        if !suits {
            if let Some(word) = self.0.get_mut(word) {
                *word &= !bit;
            }
            // The same nodes are the same words, whatever was there before.
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
    /// Whether nodes of a partition with this label are for asks that name it alone, and are counted
    /// in types of their own.
    pub fn is_exclusive(&self, partition: PartitionId, label: &str) -> bool {
        let root = &self.queues[self.partition(partition).root];
        let labels = root.settings.node_labels.as_ref();
        labels.is_some_and(|labels| labels.is_exclusive(label))
    }

    /// The same of the label of a node, if it has one.
    pub(super) fn closes(&self, partition: PartitionId, label: Option<&Name>) -> bool {
        label.is_some_and(|label| self.is_exclusive(partition, label))
    }

    /// The labels of a partition whose idle nodes are lent, as its root says; none for most.
    fn lending(&self, partition: PartitionId) -> Option<&NodeLabelsConfig> {
        let root = &self.queues[self.partition(partition).root];
        root.settings.node_labels.as_deref().filter(|labels| !labels.lends.is_empty())
    }

    /// The labels of a partition whose idle nodes are lent, in order: those of which types are known.
    pub(crate) fn lending_labels(&self, partition: PartitionId) -> Vec<Name> {
        let types = self.lending(partition).into_iter().flat_map(|_| self.types().iter());
        let labels = types.filter_map(|(_, name)| Some(Name::new(type_and_label(name)?.1)));
        let labels = labels.filter(|label| self.lends(partition, Some(label)));
        labels.collect::<BTreeSet<Name>>().into_iter().collect()
    }

    /// Whether idle nodes of some label of a partition are lent.
    pub(crate) fn has_lending(&self, partition: PartitionId) -> bool {
        self.lending(partition).is_some()
    }

    /// Whether idle nodes of a label are lent.
    pub(super) fn lends(&self, partition: PartitionId, label: Option<&Name>) -> bool {
        let labels = self.lending(partition);
        label.is_some_and(|label| labels.is_some_and(|labels| labels.lends(label)))
    }

    /// Whether an allocation has a node that was lent: the node's label lends, and it did not name it, nor
    /// was it to run there and nowhere else.
    pub(crate) fn is_lent(&self, row: &Allocation) -> bool {
        let Some(node) = row.node.map(|node| &self.nodes[node]) else { return false };
        let named = self.shapes.wish(row.shape).and_then(|wish| wish.label.as_ref());
        node.lends && row.required_node().is_none() && named != node.label.as_ref()
    }

    /// The sections of the types of a partition.
    pub(crate) fn sections_of(&self, partition: PartitionId) -> Sections {
        Sections::of(self.types(), |label| self.is_exclusive(partition, label))
    }

    /// The type that counts tasks of tenants, where a partition has tenants.
    pub(crate) fn task_type(&self, partition: PartitionId) -> Option<ResourceType> {
        self.partition(partition).settings.tenants.as_ref()?;
        self.types().find(INSTANCES)
    }

    /// How many tasks of tenants these amounts of a partition are; none where none is counted.
    pub(crate) fn instances_of(
        &self,
        partition: PartitionId,
        resources: &Resources,
    ) -> Option<Quantity> {
        resources.get(self.task_type(partition)?)
    }

    /// What of these amounts counts for nodes, where that is less than all.
    pub(crate) fn for_nodes(
        &self,
        partition: PartitionId,
        resources: &Resources,
    ) -> Option<Resources> {
        self.instances_of(partition, resources)?;
        let tasks = self.types().find(INSTANCES)?;
        Some(resources.iter().filter(|(resource, _)| *resource != tasks).collect())
    }

    /// Amounts as an RM or a user of a partition knows them: what is counted in types of a label, in
    /// plain ones, and without the type that counts tasks of tenants.
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

    /// The label in whose types an ask, or an allocation, is counted; none for plain types.
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

    /// How much an ask wants, or an allocation has, in [plain](Self::plain) types.
    pub fn plain_size_of(&self, allocation: AllocationId) -> Amounts {
        let application = self.application(self.allocation(allocation).application);
        self.plain(application.partition, self.resources_of(allocation))
    }

    /// Find out again which nodes of a partition are for asks that name their label alone, and
    /// which suit what is wished for.
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
