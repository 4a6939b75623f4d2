//! What the scheduler does about asks that can never start. No-starvation NS-02, NS-03.
//!
//! [`possible`](crate::possible) is the judge. A class that may start costs nothing: only one that is about to be
//! parked is judged. An impossible class is parked under what makes it so, outside the line of its leaf, until an
//! event may lift that.
//!
//! Whether nodes are large enough is remembered for each shape: the node that was found, which is looked at again, or
//! that there was none, until a node grows.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{AllocationId, Id, NodeId, PartitionId, QueueId, ShapeId};
use crate::possible::{self, Wanted};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::before_event::BeforeEvent;
use super::class::{ChargeState, ClassId, ClassKey};
use super::placement_mode::PlacementMode;

/// For how many sizes and numbers of asks that start together the answer is remembered.
const PLACES_KNOWN: usize = 1 << 12;

/// What was found about the nodes for one shape.
#[derive(Clone, Copy, Debug)]
struct Found {
    shape: ShapeId,
    partition: PartitionId,
    /// A node that is large enough; none where the nodes are too small.
    node: Option<NodeId>,
    /// [`KnownNodes::changes`] at that time.
    at: u64,
}

/// Whether nodes are large enough for shapes, as far as it was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownNodes {
    /// By the number of the shape's slot: as many as there were shapes at one time.
    found: Vec<Option<Found>>,
    /// Whether there are places for so many at once, since [`KnownNodes::changes`] had this value.
    places: BTreeMap<(PartitionId, ShapeId, u32), bool>,
    places_at: u64,
    /// How often a node came, went, or changed its size or state.
    changes: u64,
    /// Whether a node lost something since the heads of lines were judged.
    has_shrunk: bool,
}

impl KnownNodes {
    /// A node may be large enough for more.
    pub(super) const fn grew(&mut self) {
        self.changes += 1;
    }

    /// A node may be too small for what it was large enough for.
    pub(super) const fn shrank(&mut self) {
        self.changes += 1;
        self.has_shrunk = true;
    }

    /// Whether the nodes are large enough for so many asks of a shape at once.
    fn fit(&mut self, books: &Books, partition: PartitionId, key: (ShapeId, u32)) -> bool {
        let ((shape, members), at) = (key, self.changes);
        if members > 1 {
            if self.places_at != at || self.places.len() >= PLACES_KNOWN {
                self.places.clear();
                self.places_at = at;
            }
            let places = self.places.entry((partition, shape, members));
            return *places
                .or_insert_with(|| possible::on_some_nodes(books, partition, shape, members));
        }
        let place = shape.slot().number() as usize;
        let known = self.found.get(place).copied().flatten();
        let known = known.filter(|one| (one.shape, one.partition) == (shape, partition));
        if let Some(known) = known {
            let holds = |node: NodeId| {
                let is_there =
                    books.nodes().get(node).is_some_and(|row| row.partition == partition);
                is_there && possible::on_node(books, shape, node)
            };
            if known.at == at || known.node.is_some_and(holds) {
                return known.node.is_some();
            }
        }
        let node = possible::first_of_enough(books, partition, shape, 1);
        if self.found.len() <= place {
            self.found.resize(place + 1, None);
        }
        self.found[place] = Some(Found { shape, partition, node, at });
        node.is_some()
    }
}

impl ClassKey {
    /// What of a class matters for whether it can ever start; none for members that replace placeholders.
    fn wanted<'books>(&self, books: &'books Books) -> Option<Wanted<'books>> {
        let required = match self.mode {
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::AllOrNothing(_) => None,
            PlacementMode::RequiredNode(node) => Some(&books.node(node).name),
            PlacementMode::NeedsVerdict(ask)
            | PlacementMode::RequiredNodeAbsent(ask)
            | PlacementMode::ReservedNode(ask) => books.allocation(ask).required_node(),
            PlacementMode::ReplacePlaceholder(..) | PlacementMode::ReplacePlaceholderAlone(_) => {
                return None;
            }
        };
        let link = match self.charge {
            ChargeState::Linked { link, .. } => Some(link),
            ChargeState::Unlinked => None,
        };
        let (leaf, shape) = (self.leaf, self.shape);
        let (members, mixed_gang) = Wanted::size_of(books, self.gang, self.members());
        let is_reserved = matches!(self.mode, PlacementMode::ReservedNode(_));
        Some(Wanted { leaf, link, shape, members, mixed_gang, required, is_reserved })
    }
}

/// The reason why the asks of such a class can never start; none where they can.
pub(super) fn impossible(books: &Books, key: ClassKey) -> Option<Wait> {
    let wanted = key.wanted(books)?;
    let partition = books.queue(key.leaf).partition;
    possible::impossible(books, wanted, || {
        possible::on_some_nodes(books, partition, wanted.shape, wanted.members)
    })
}

impl Scheduler {
    /// Returns whether a waiting ask was found to be impossible: then it is not the head of its line. Constant, but for
    /// an ask that was not judged yet, which costs as [`impossible_ask`](crate::impossible_ask).
    pub fn is_impossible(&self, books: &Books, ask: AllocationId) -> bool {
        let class = self.class_of(books, ask).and_then(|class| self.classes.rows.get(class));
        match class.map(|row| row.wait) {
            Some(Some(wait)) => wait.blocker.row().is_permanent,
            Some(None) | None => possible::impossible_ask(books, ask).is_some(),
        }
    }

    /// The reason why a class can never start; none where it can.
    pub(super) fn impossible(&mut self, books: &Books, class: ClassId) -> Option<Wait> {
        let key = self.classes.rows[class].key;
        let (wanted, partition) = (key.wanted(books)?, books.queue(key.leaf).partition);
        let (nodes, size) = (&mut self.known_nodes, (wanted.shape, wanted.members));
        possible::impossible(books, wanted, || nodes.fit(books, partition, size))
    }

    /// What a class waits for that is about to be parked for this: it may be impossible.
    pub(super) fn waits_for(&mut self, books: &Books, class: ClassId, wait: Wait) -> Wait {
        let backs_off = self.classes.rows[class].key.backoff_application.is_some();
        if wait.blocker.row().is_permanent || backs_off {
            return wait;
        }
        self.impossible(books, class).unwrap_or(wait)
    }

    /// A node may be large enough for what no node was large enough for.
    pub(super) fn node_grew(&mut self, books: &Books, node: NodeId) {
        self.known_nodes.grew();
        let partition = books.node(node).partition;
        // A gang of different sizes is judged by all that the nodes have.
        let fits = |(shape, members)| members == 0 || possible::on_node(books, shape, node);
        self.parked.open(&mut self.tree, Blocker::NodesTooSmall(partition), fits);
        let row = books.node(node);
        let fits = |(shape, _)| row.could_ever_hold(books.shapes().on_node(shape));
        self.parked.open(&mut self.tree, Blocker::RequiredNodeTooSmall(node), fits);
    }

    /// A foreign allocation left a node, or takes less of it.
    pub(super) fn foreign_left(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(node) = seen.freed {
            self.node_grew(books, node);
        }
    }

    /// A queue may have a higher maximum.
    pub(super) fn max_grew(&mut self, books: &Books, queue: QueueId) {
        let max = books.queue(queue).max.as_ref();
        let fits = |(shape, members)| {
            members == 0 || max.is_none_or(|max| max.allows(&books.shapes().times(shape, members)))
        };
        self.parked.open(&mut self.tree, Blocker::QueueTooSmall(queue), fits);
    }

    /// Have classes judged that became impossible while they were first in a line: they are no head.
    pub(super) fn judge_heads(&mut self, books: &Books) {
        if core::mem::take(&mut self.known_nodes.has_shrunk) {
            for leaf in self.parked.lines.leaves().collect::<Vec<_>>() {
                self.drop_impossible_heads(books, leaf);
            }
        }
    }
}
