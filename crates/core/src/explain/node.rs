//! How many nodes there are for an ask, and what is wrong with the others.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, Node, QuestionMode};
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::resource::{Quantity, Resources};
use crate::wait::{About, Blocker, NodeReason};

use super::amount::{self, Amount};

/// How many near misses are reported.
pub const MISSES: usize = 3;

/// The nodes of a partition, as an ask sees them that may run on any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// How many were looked at: all.
    pub looked_at: usize,
    /// How many it may have now.
    pub fitting: usize,
    /// How many it may not have, by reason.
    pub refused: BTreeMap<NodeReason, usize>,
    /// Those with too little room that lack least, the nearest first.
    pub nearest: Vec<Miss>,
}

/// A node that has too little room, and not by much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Which.
    pub node: NodeId,
    /// Each type of which it has too little.
    pub lacks: Vec<Amount>,
}

impl Nodes {
    /// All nodes, where the check is about any of them. Costs the nodes.
    pub(super) fn of(books: &Books, ask: AllocationId, blocker: Blocker) -> Option<Self> {
        if !blocker.row().lists_nodes {
            return None;
        }
        let partition = match blocker.about() {
            About::AnyNode(partition) => partition,
            About::Node(node) => books.node(node).partition,
            // An ask that requires a node has the answer about that one alone.
            About::Answer(one) if books.allocation(one).required_node().is_none() => {
                books.application(books.allocation(one).application).partition
            }
            About::Answer(_)
            | About::Queue(_)
            | About::Level(..)
            | About::RequiredNode(_)
            | About::Partition(_)
            | About::Manager(_)
            | About::AbsentManager(_)
            | About::Application(_)
            | About::Gang(_) => return None,
        };
        Some(Self::look(books, partition, ask))
    }

    fn look(books: &Books, partition: PartitionId, ask: AllocationId) -> Self {
        let mut found = Self::default();
        let mut misses: Vec<(u128, &Node, NodeId)> = Vec::new();
        let asked = books.node_request(ask);
        for (_, id) in books.partition(partition).nodes.iter() {
            found.looked_at += 1;
            let node = books.node(*id);
            let Some(reason) = reason(books, ask, (*id, node)) else {
                found.fitting += 1;
                continue;
            };
            *found.refused.entry(reason).or_default() += 1;
            if reason == NodeReason::Room {
                misses.push((distance(&node.available, asked), node, *id));
                misses.sort_by(|(left, one, _), (right, other, _)| {
                    left.cmp(right).then_with(|| one.name.cmp(&other.name))
                });
                misses.truncate(MISSES);
            }
        }
        let nearest = misses.into_iter().map(|(_, row, node)| {
            let mut lacks = amount::on_node(&row.capacity, &row.available, asked);
            amount::short_only(&mut lacks, true);
            Miss { node, lacks }
        });
        found.nearest = nearest.collect();
        found
    }
}

/// Why an ask may not have a node now; none where it may. In the terms of the scheduler.
fn reason(books: &Books, ask: AllocationId, (id, node): (NodeId, &Node)) -> Option<NodeReason> {
    let (row, asked) = (books.allocation(ask), books.node_request(ask));
    let mine = row.reservation().is_some_and(|reservation| reservation.node == id);
    let wish = books.shapes().wish(row.shape);
    if !books.suits(row.shape, id) {
        let labelled = wish.map_or_else(|| !node.is_closed(), |wish| wish.fits_label(node));
        return Some(if labelled { NodeReason::Blocked } else { NodeReason::Label });
    }
    let verdict = || books.verdict_on(ask, id, QuestionMode::Allocate);
    let asks = || books.asks_about_nodes(node.partition);
    if !node.capacity.fits(asked) {
        Some(NodeReason::Size)
    } else if !node.schedulable && !mine {
        Some(NodeReason::Drained)
    } else if node.is_reserved() && !mine {
        Some(NodeReason::Reserved)
    } else if !node.available.fits(asked) {
        Some(NodeReason::Room)
    } else if asks() && verdict().is_some_and(|verdict| verdict.refusal.is_some()) {
        Some(NodeReason::Refused)
    } else if asks() && verdict().is_none() {
        Some(NodeReason::Unasked)
    } else {
        None
    }
}

/// How far a node is from having room: what it lacks of each type, as a part of what is asked for.
fn distance(free: &Resources, asked: &Resources) -> u128 {
    let lack = |(resource, asked): (_, Quantity)| {
        let lack = i128::from(asked.get()) - i128::from(free.get_or_zero(resource).get());
        let (lack, asked) = (lack.max(0).unsigned_abs(), asked.get().unsigned_abs());
        lack * 1_000_000 / u128::from(asked.max(1))
    };
    asked.iter().filter(|(_, asked)| *asked > Quantity::ZERO).map(lack).sum()
}
