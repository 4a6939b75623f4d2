//! Nodes of one partition in the order in which they are tried.
//!
//! The nodes are stored in blocks of neighbors. Each block has an upper bound of the free amount of its nodes, by type.
//! A search skips a block whose bound is too low. The bound is raised immediately, and lowered only when a search finds
//! that it is too high. So the bound costs nothing while nodes fill up in order.
#![expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "a node's score is defined in floating point: scheduling §7.4"
)]

use alloc::vec::Vec;

use crate::books::{Books, Node};
use crate::config::{NodeOrder, NodeSortConfig};
use crate::id::{NodeId, PartitionId, ShapeId};
use crate::name::Name;
use crate::resource::{Quantity, ResourceType, Resources, Share, Shortfall};

use super::rank::Ranks;

/// Size from which a block is split.
const BLOCK: usize = 64;

/// Position of a node in the order: its score, then the rank of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    score: Share,
    rank: u64,
}

/// Reason why no node matches the node selector of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsuited {
    /// No node has the label.
    Label,
    /// Every node with enough free capacity is on the block list.
    Blocked,
}

/// Neighbors in the order.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Nodes in order.
    nodes: Vec<(Key, NodeId)>,
    /// Upper bound of the free amounts of usable nodes.
    free: Resources,
    /// Number of usable nodes.
    open: usize,
}

/// Nodes of one partition.
#[derive(Clone, Debug)]
pub(super) struct NodeIndex {
    order: NodeOrder,
    /// Weight of each type in the score of a node. Empty for the default.
    weights: Vec<(Name, f64)>,
    /// Blocks in order, none empty.
    blocks: Vec<Block>,
    /// Key, ID, and whether the node is usable, by node index. `None` for nodes of other partitions.
    keys: Vec<Option<(Key, NodeId, bool)>>,
    /// Number of usable nodes.
    open: usize,
    ranks: Ranks,
}

impl NodeIndex {
    pub(super) fn new(sort: &NodeSortConfig) -> Self {
        Self {
            order: sort.order,
            weights: sort.weights.clone(),
            blocks: Vec::new(),
            keys: Vec::new(),
            open: 0,
            ranks: Ranks::default(),
        }
    }

    /// Adds all nodes of a partition to an empty index.
    pub(super) fn fill(&mut self, books: &Books, partition: PartitionId) {
        let mine = || books.nodes().iter().filter(|(_, node)| node.partition == partition);
        // All names are ranked first. Otherwise, a renumbering would leave nodes with outdated ranks.
        for (_, node) in mine() {
            self.ranks.insert(&node.name);
        }
        for (id, node) in mine() {
            self.put(books, id, self.ranks.get(&node.name));
        }
    }

    /// Adds a node that was registered.
    pub(super) fn add(&mut self, books: &Books, partition: PartitionId, node: NodeId) {
        if let Some(rank) = self.ranks.insert(&books.node(node).name) {
            self.put(books, node, rank);
            return;
        }
        // All names were renumbered, so all keys change. The order stays the same.
        self.blocks.clear();
        self.keys.clear();
        self.open = 0;
        for (id, row) in books.nodes().iter().filter(|(_, one)| one.partition == partition) {
            self.put(books, id, self.ranks.get(&row.name));
        }
    }

    /// Removes a node. Call it while the books still have the node.
    pub(super) fn remove(&mut self, books: &Books, node: NodeId) {
        self.take(node);
        self.ranks.remove(&books.node(node).name);
    }

    /// Updates the position of a node after its size, usage, or state changed.
    #[inline]
    pub(super) fn update(&mut self, books: &Books, node: NodeId) {
        // The rank does not change, and a search for it would compare names.
        let rank = self.take(node).map(|key| key.rank);
        let rank = rank.unwrap_or_else(|| self.ranks.get(&books.node(node).name));
        self.put(books, node, rank);
    }

    /// Returns the first usable node in order that has enough free capacity for an ask of this shape and matches its
    /// node selector.
    #[inline]
    pub(super) fn first_fit(&mut self, books: &Books, shape: ShapeId) -> Option<NodeId> {
        let ask = books.shapes().on_node(shape);
        for block in &mut self.blocks {
            if !block.free.fits(ask) {
                continue;
            }
            let fits = |node: &Node| node.is_open() && node.available.fits(ask);
            let mut roomy = block.nodes.iter().filter(|(_, id)| fits(books.node(*id))).peekable();
            let is_roomy = roomy.peek().is_some();
            if let Some((_, found)) = roomy.find(|(_, id)| books.suits(shape, *id)) {
                return Some(*found);
            }
            if is_roomy {
                continue; // It has as much free, and none that suits.
            }
            block.free = most_free(books, &block.nodes);
        }
        None
    }

    /// Returns whether usable matching nodes have enough free capacity for `asks` asks of this shape at once.
    ///
    /// The asks are equal, so the order of their placement does not matter.
    pub(super) fn has_room_for(&self, books: &Books, shape: ShapeId, asks: usize) -> bool {
        let ask = books.shapes().on_node(shape);
        let blocks = self.blocks.iter().filter(|block| block.free.fits(ask));
        let mut missing = asks;
        for (_, id) in blocks.flat_map(|block| &block.nodes) {
            let node = books.node(*id);
            if node.is_open() && node.available.fits(ask) && books.suits(shape, *id) {
                missing -= node.available.times_that_fit(ask, missing);
            }
            if missing == 0 {
                return true;
            }
        }
        false
    }

    /// Returns the first usable node, in order, of a lent label. The node must have enough free capacity for an ask of
    /// this shape, and must not be on its block list.
    pub(super) fn first_lent(
        &self,
        books: &Books,
        (label, shape): (&Name, ShapeId),
        needs: &Resources,
    ) -> Option<NodeId> {
        let wish = books.shapes().wish(shape);
        let blocks = self.blocks.iter().filter(|block| block.free.fits(needs));
        let mut nodes = blocks.flat_map(|block| &block.nodes).map(|(_, id)| *id);
        nodes.find(|id| {
            let node = books.node(*id);
            node.lends()
                && node.label() == Some(label)
                && node.is_open()
                && node.available.fits(needs)
                && wish.is_none_or(|wish| !wish.blocks(&node.name))
        })
    }

    /// Returns the first of these nodes in order.
    pub(super) fn first_of(&self, nodes: impl Iterator<Item = NodeId>) -> Option<NodeId> {
        let keyed = nodes.filter_map(|id| Some((self.keys.get(id.index())?.as_ref()?.0, id)));
        keyed.min().map(|(_, id)| id)
    }

    /// Returns the first usable nodes in order that have enough free capacity for `ask` and satisfy `wanted`, up to a
    /// limit.
    pub(super) fn with_room(
        &self,
        books: &Books,
        ask: &Resources,
        wanted: impl Fn(NodeId) -> bool,
        limit: usize,
    ) -> Vec<NodeId> {
        let blocks = self.blocks.iter().filter(|block| block.free.fits(ask));
        let nodes = blocks.flat_map(|block| &block.nodes).map(|(_, id)| *id);
        let fits = |id: &NodeId| {
            let node = books.node(*id);
            node.is_open() && node.available.fits(ask)
        };
        nodes.filter(fits).filter(|id| wanted(*id)).take(limit).collect()
    }

    /// Returns the first node in order that has enough free capacity and satisfies `admits`. Skips reserved nodes.
    pub(super) fn first_with(
        &self,
        books: &Books,
        needs: &Resources,
        admits: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        let blocks = self.blocks.iter().filter(|block| block.free.fits(needs));
        let mut nodes = blocks.flat_map(|block| &block.nodes).map(|(_, id)| *id);
        nodes.find(|id| books.node(*id).available.fits(needs) && admits(*id))
    }

    /// Returns whether a node is usable, and can therefore be reserved.
    #[inline]
    pub(super) const fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Returns the best node to reserve for an ask: of the usable nodes that could hold it, the one whose capacity
    /// matches best. The first of equals wins. Source: scheduling §6.5, decision K-28.
    pub(super) fn best_to_keep(
        &self,
        books: &Books,
        shape: ShapeId,
        admits: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        let ask = books.shapes().on_node(shape);
        let mut best: Option<(Share, NodeId)> = None;
        let open = self.blocks.iter().filter(|block| block.open > 0);
        for (_, id) in open.flat_map(|block| &block.nodes) {
            let node = books.node(*id);
            let suits = node.is_open() && node.could_hold(ask) && books.suits(shape, *id);
            if !suits || !admits(*id) {
                continue;
            }
            let score = Resources::fit_score(Some(ask), &node.available);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, *id));
                if score == Share::default() {
                    break; // No other can be better.
                }
            }
        }
        best.map(|(_, id)| id)
    }

    /// Returns the usable nodes that could hold `ask` and satisfy `wanted`. The best match to reserve is first, and
    /// equals are in order.
    pub(super) fn to_keep(
        &self,
        books: &Books,
        shape: ShapeId,
        wanted: impl Fn(NodeId) -> bool,
    ) -> Vec<NodeId> {
        let ask = books.shapes().on_node(shape);
        let wanted = |id| books.suits(shape, id) && wanted(id);
        let open = self.blocks.iter().filter(|block| block.open > 0);
        let nodes = open.flat_map(|block| &block.nodes).map(|(_, id)| (*id, books.node(*id)));
        let suits =
            nodes.filter(|(id, node)| node.is_open() && node.could_hold(ask) && wanted(*id));
        let score = |node: &Node| Resources::fit_score(Some(ask), &node.available);
        let mut scored: Vec<(Share, NodeId)> = suits.map(|(id, node)| (score(node), id)).collect();
        scored.sort_by_key(|(score, _)| *score);
        scored.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns whether a node that is reserved for other asks has enough free capacity for an ask of this shape.
    pub(super) fn is_reserved_from(&self, books: &Books, shape: ShapeId) -> bool {
        let ask = books.shapes().on_node(shape);
        let mut nodes = self.blocks.iter().flat_map(|block| &block.nodes);
        nodes.any(|(_, id)| {
            let node = books.node(*id);
            node.schedulable
                && node.is_reserved()
                && node.available.fits(ask)
                && books.suits(shape, *id)
        })
    }

    /// Returns why the node selector excludes all candidates: no node has the label, or the block list has every node
    /// with enough free capacity. `None` if the selector is not the reason.
    pub(super) fn lacks_suiting(&self, books: &Books, shape: ShapeId) -> Option<Unsuited> {
        let (ask, wish) = (books.shapes().on_node(shape), books.shapes().wish(shape)?);
        let nodes = || self.blocks.iter().flat_map(|block| &block.nodes).map(|(_, id)| *id);
        if !nodes().any(|id| wish.fits_label(books.node(id))) {
            return Some(Unsuited::Label);
        }
        let roomy = |id: &NodeId| {
            let node = books.node(*id);
            node.is_open() && node.available.fits(ask) && wish.fits_label(node)
        };
        nodes().any(|id| roomy(&id)).then_some(Unsuited::Blocked)
    }

    /// Returns the type of which no node has enough free, with the largest free amount. `None` if each amount is free
    /// on some node.
    pub(super) fn shortfall(&self, books: &Books, shape: ShapeId) -> Option<Shortfall> {
        let mut most = Resources::new();
        for (_, id) in self.blocks.iter().flat_map(|block| &block.nodes) {
            let node = books.node(*id);
            if node.is_open() && books.suits(shape, *id) {
                most = most.maximum(&node.available);
            }
        }
        most.shortfall(books.shapes().on_node(shape))
    }

    /// Removes a node from the order. Returns its former key.
    fn take(&mut self, node: NodeId) -> Option<Key> {
        let (key, id, open) = self.keys.get_mut(node.index()).and_then(Option::take)?;
        let number = self.block_of(key);
        let block = &mut self.blocks[number];
        block.open -= usize::from(open);
        self.open -= usize::from(open);
        if let Ok(place) = block.nodes.binary_search(&(key, id)) {
            block.nodes.remove(place);
        }
        if block.nodes.is_empty() {
            self.blocks.remove(number);
        }
        Some(key)
    }

    /// Inserts a node into the order. `rank` is the number of its name.
    fn put(&mut self, books: &Books, node: NodeId, rank: u64) {
        let row = books.node(node);
        let key = Key { score: self.score(books, row), rank };
        if self.keys.len() <= node.index() {
            self.keys.resize(node.index() + 1, None);
        }
        let before = self.keys[node.index()].replace((key, node, row.is_open()));
        debug_assert!(before.is_none(), "a node has one place");
        let number = if self.blocks.is_empty() {
            self.blocks.push(Block::default());
            0
        } else {
            self.block_of(key)
        };
        let block = &mut self.blocks[number];
        let place = block.nodes.partition_point(|held| *held < (key, node));
        block.nodes.insert(place, (key, node));
        if row.is_open() {
            block.free.raise(&row.available);
            block.open += 1;
            self.open += 1;
        }
        if block.nodes.len() > BLOCK {
            let rest = block.nodes.split_off(BLOCK / 2);
            let free = block.free.clone();
            let is_open =
                |(_, id): &&(Key, NodeId)| self.keys[id.index()].is_some_and(|(.., open)| open);
            let open = rest.iter().filter(is_open).count();
            block.open -= open;
            self.blocks.insert(number + 1, Block { nodes: rest, free, open });
        }
    }

    /// Returns the block that contains a key, or would contain it.
    #[inline]
    fn block_of(&self, key: Key) -> usize {
        self.blocks.partition_point(|block| block.nodes[0].0 <= key).saturating_sub(1)
    }

    /// Returns the score: the weighted mean of the used fractions of the types of a node, for the current order. A
    /// lower score is first. Types without weight do not count.
    fn score(&self, books: &Books, node: &Node) -> Share {
        let (mut used, mut weights) = (0.0, 0.0);
        for (resource, total) in node.capacity.iter() {
            let weight = self.weight(books, resource);
            if weight == 0.0 || total == Quantity::ZERO {
                continue;
            }
            let free = node.available.get_or_zero(resource).get() as f64 / total.get() as f64;
            used += weight * (1.0 - free);
            weights += weight;
        }
        let usage = used / weights;
        // Without weights, or with a sum of weights beyond the range, the quotient is NaN. Its sign bit, and with it
        // the order, would depend on the machine.
        let usage = if usage.is_finite() { usage } else { 0.0 };
        Share::of(match self.order {
            NodeOrder::Fair => usage,
            NodeOrder::BinPacking => 1.0 - usage,
        })
    }

    #[inline]
    fn weight(&self, books: &Books, resource: ResourceType) -> f64 {
        if self.weights.is_empty() {
            let counts = matches!(resource, ResourceType::MEMORY | ResourceType::VCORE);
            return f64::from(u8::from(counts));
        }
        let name = books.types().name(resource);
        self.weights.iter().find(|(known, _)| known == name).map_or(0.0, |(_, weight)| *weight)
    }
}

/// Returns the largest free amount of each type of these nodes, without unusable nodes.
fn most_free(books: &Books, nodes: &[(Key, NodeId)]) -> Resources {
    let mut most = Resources::new();
    for (_, id) in nodes {
        let node = books.node(*id);
        if node.is_open() {
            most.raise(&node.available);
        }
    }
    most
}

#[cfg(test)]
mod tests;
