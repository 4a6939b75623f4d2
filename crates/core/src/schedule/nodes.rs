//! The nodes of one partition in the order in which they are tried, and how much the
//! roomiest of each stretch has free.
//!
//! Stored in blocks of neighbours. Each block knows an upper bound of what any of its nodes has
//! free, type by type: a block whose bound is too low is passed over as a whole. The bound is
//! raised at once and lowered only when a search found it too generous. So the bound costs nothing
//! while nodes fill up in order.
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

/// A block is cut in two when it grows past this.
const BLOCK: usize = 64;

/// Where a node stands in the order: its score, then its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    score: Share,
    rank: u64,
}

/// Why no node suits what an ask says of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsuited {
    /// None has the label.
    Label,
    /// Those with room are on its block list.
    Blocked,
}

/// Neighbours in the order.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Sorted.
    nodes: Vec<(Key, NodeId)>,
    /// At least what any of them has free, if it may be used.
    free: Resources,
    /// How many of them may be used.
    open: usize,
}

/// The nodes of one partition.
#[derive(Clone, Debug)]
pub(super) struct NodeIndex {
    order: NodeOrder,
    /// Weight of each type in a node's score; empty for the default.
    weights: Vec<(Name, f64)>,
    /// In order, none empty.
    blocks: Vec<Block>,
    /// Key, id and whether it may be used, by node index; none for nodes of other partitions.
    keys: Vec<Option<(Key, NodeId, bool)>>,
    /// How many may be used.
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

    /// Take in all nodes of a partition, when none was before.
    pub(super) fn fill(&mut self, books: &Books, partition: PartitionId) {
        let mine = || books.nodes().iter().filter(|(_, node)| node.partition == partition);
        // Names first: a renumbering on the way would leave nodes under numbers of before.
        for (_, node) in mine() {
            self.ranks.insert(&node.name);
        }
        for (id, node) in mine() {
            self.put(books, id, self.ranks.get(&node.name));
        }
    }

    /// Take in a node that joined.
    pub(super) fn add(&mut self, books: &Books, partition: PartitionId, node: NodeId) {
        if let Some(rank) = self.ranks.insert(&books.node(node).name) {
            self.put(books, node, rank);
            return;
        }
        // All names were renumbered: the order is the same, the keys are not.
        self.blocks.clear();
        self.keys.clear();
        self.open = 0;
        for (id, row) in books.nodes().iter().filter(|(_, one)| one.partition == partition) {
            self.put(books, id, self.ranks.get(&row.name));
        }
    }

    /// Forget a node that leaves; call while the books still have it.
    pub(super) fn remove(&mut self, books: &Books, node: NodeId) {
        self.take(node);
        self.ranks.remove(&books.node(node).name);
    }

    /// Move a node to where it belongs now that its size, use or state has changed.
    #[inline]
    pub(super) fn update(&mut self, books: &Books, node: NodeId) {
        // The rank stays as it was; a search for it costs comparisons of names.
        let rank = self.take(node).map(|key| key.rank);
        let rank = rank.unwrap_or_else(|| self.ranks.get(&books.node(node).name));
        self.put(books, node, rank);
    }

    /// The first node in order that may be used, has room for all of an ask of this shape and suits
    /// it.
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

    /// Whether there is room for so many asks of this shape at once, on nodes that may be used and suit it.
    ///
    /// They are alike: however those before are put, there is as much room for the others.
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

    /// The first node in order of a label that lends which may be used, has room for what an ask of this
    /// shape needs there, and is not on its block list.
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

    /// The first in order of these nodes.
    pub(super) fn first_of(&self, nodes: impl Iterator<Item = NodeId>) -> Option<NodeId> {
        let keyed = nodes.filter_map(|id| Some((self.keys.get(id.index())?.as_ref()?.0, id)));
        keyed.min().map(|(_, id)| id)
    }

    /// The first nodes in order that may be used, have room for all of `ask` and are `wanted`, so
    /// many at most.
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

    /// The first node in order that has room for this and is admitted; none that is reserved.
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

    /// Whether any node may be used, and so be reserved for an ask.
    #[inline]
    pub(super) const fn has_open(&self) -> bool {
        self.open > 0
    }

    /// The node to keep for an ask: of those that may be used and could hold it, the one that its
    /// room would suit best; the first of equals. Scheduling §6.5, decision K-28.
    pub(super) fn best_to_keep(&self, books: &Books, shape: ShapeId) -> Option<NodeId> {
        let ask = books.shapes().on_node(shape);
        let mut best: Option<(Share, NodeId)> = None;
        let open = self.blocks.iter().filter(|block| block.open > 0);
        for (_, id) in open.flat_map(|block| &block.nodes) {
            let node = books.node(*id);
            if !node.is_open() || !node.could_hold(ask) || !books.suits(shape, *id) {
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

    /// The nodes that may be used, could hold `ask` and are `wanted`, the one that its room
    /// would suit best first, equals in order.
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

    /// Whether a node that may not be used, because it is reserved for others, has room for all of
    /// `ask`.
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

    /// Whether an ask finds no node because of what it says of nodes, and not for lack of room: no
    /// node has its label, or every one of those with room is one that it may not have.
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

    /// Of which type no node has enough free, and the most that one has; none if each amount
    /// is free somewhere.
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

    /// Take a node out. Where it stood, if it was there.
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

    /// Put a node where it belongs; `rank` is the number of its name.
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

    /// The block in which a key is or would be.
    #[inline]
    fn block_of(&self, key: Key) -> usize {
        self.blocks.partition_point(|block| block.nodes[0].0 <= key).saturating_sub(1)
    }

    /// The weighted mean of the used parts of a node's types, for the order in force: low goes
    /// first. Types without weight do not count.
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
        // No weight at all, or weights beyond what can be summed: not a number, and its sign
        // would depend on the machine.
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

/// Per type the most that one of these nodes has free, those not in use left out.
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
