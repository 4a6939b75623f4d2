//! Number of nodes that an ask can use, and the reasons for the others.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, Node, QuestionMode};
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::resource::{Quantity, Resources};
use crate::wait::{About, Blocker, NodeReason};

use super::amount::{self, Amount};

/// Largest number of reported near misses.
pub const MISSES: usize = 3;

/// Nodes of a partition, as seen by an ask without a required node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// Number of all checked nodes.
    pub looked_at: usize,
    /// Number of nodes that it can use now.
    pub fitting: usize,
    /// Number of nodes that it cannot use, by reason.
    pub refused: BTreeMap<NodeReason, usize>,
    /// Nodes with the smallest lack of free capacity, nearest first.
    pub nearest: Vec<Miss>,
}

/// A node that lacks little free capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Node that lacks capacity.
    pub node: NodeId,
    /// Resource types that are short on the node.
    pub lacks: Vec<Amount>,
}

impl Nodes {
    /// Returns the nodes if the check is about all nodes. Costs the nodes.
    pub(super) fn of(books: &Books, ask: AllocationId, blocker: Blocker) -> Option<Self> {
        if !blocker.row().lists_nodes {
            return None;
        }
        let partition = match blocker.about() {
            About::AnyNode(partition) => partition,
            About::Node(node) => books.node(node).partition,
            // For a required node, the answer of the RM is about that node only.
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

/// Returns why an ask cannot use a node now. `None` if it can. The reasons are those of the scheduler.
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

/// Returns the distance of a node from enough free capacity: the sum of the missing parts of all requested types.
fn distance(free: &Resources, asked: &Resources) -> u128 {
    let lack = |(resource, asked): (_, Quantity)| {
        let lack = i128::from(asked.get()) - i128::from(free.get_or_zero(resource).get());
        let (lack, asked) = (lack.max(0).unsigned_abs(), asked.get().unsigned_abs());
        lack * 1_000_000 / u128::from(asked.max(1))
    };
    asked.iter().filter(|(_, asked)| *asked > Quantity::ZERO).map(lack).sum()
}
