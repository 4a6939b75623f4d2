//! Impossible asks in the scheduler. Source: no-starvation NS-02, NS-03.
//!
//! [`possible`](crate::possible) decides whether an ask is impossible. A class that can start has no cost: only a class
//! that is about to be parked is checked. An impossible class is parked under the reason that makes it impossible,
//! outside the line of its leaf, until an event can change that reason.
//!
//! The result for the nodes is cached for each shape: the node that was found, which is checked again, or that no node
//! was large enough, until a node grows.

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

/// Largest number of cached results for several asks that start together.
const PLACES_KNOWN: usize = 1 << 12;

/// Cached result of the node search for one shape.
#[derive(Clone, Copy, Debug)]
struct Found {
    shape: ShapeId,
    partition: PartitionId,
    /// A node that is large enough. `None` if all nodes are too small.
    node: Option<NodeId>,
    /// [`KnownNodes::changes`] at the time of the search.
    at: u64,
}

/// Cache of whether nodes are large enough for shapes.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownNodes {
    /// Results by the slot of the shape. Its length is the largest number of shapes at one time.
    found: Vec<Option<Found>>,
    /// Whether the nodes could hold a number of asks of a shape at once, valid for [`KnownNodes::places_at`].
    places: BTreeMap<(PartitionId, ShapeId, u32), bool>,
    places_at: u64,
    /// Number of changes of nodes: additions, removals, and changes of size or state.
    changes: u64,
    /// Whether a node shrank since the heads of line were last checked.
    has_shrunk: bool,
}

impl KnownNodes {
    /// Records that a node can have become large enough for more shapes.
    pub(super) const fn grew(&mut self) {
        self.changes += 1;
    }

    /// Records that a node can have become too small.
    pub(super) const fn shrank(&mut self) {
        self.changes += 1;
        self.has_shrunk = true;
    }

    /// Returns whether the nodes could hold a number of asks of a shape at once when they are empty.
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
    /// Returns the properties that determine whether the class can ever start. `None` for members that replace
    /// placeholders.
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

/// Returns the reason why the asks of such a class can never start. `None` if they can.
pub(super) fn impossible(books: &Books, key: ClassKey) -> Option<Wait> {
    let wanted = key.wanted(books)?;
    let partition = books.queue(key.leaf).partition;
    possible::impossible(books, wanted, || {
        possible::on_some_nodes(books, partition, wanted.shape, wanted.members)
    })
}

impl Scheduler {
    /// Returns whether a waiting ask is impossible and therefore not the head of its line.
    ///
    /// Constant cost, except for an ask that was not checked yet, which costs as much as
    /// [`impossible_ask`](crate::impossible_ask).
    pub fn is_impossible(&self, books: &Books, ask: AllocationId) -> bool {
        let class = self.class_of(books, ask).and_then(|class| self.classes.rows.get(class));
        match class.map(|row| row.wait) {
            Some(Some(wait)) => wait.blocker.row().is_permanent,
            Some(None) | None => possible::impossible_ask(books, ask).is_some(),
        }
    }

    /// Returns the reason why a class can never start. `None` if it can.
    pub(super) fn impossible(&mut self, books: &Books, class: ClassId) -> Option<Wait> {
        let key = self.classes.rows[class].key;
        let (wanted, partition) = (key.wanted(books)?, books.queue(key.leaf).partition);
        let (nodes, size) = (&mut self.known_nodes, (wanted.shape, wanted.members));
        possible::impossible(books, wanted, || nodes.fit(books, partition, size))
    }

    /// Returns the wait under which a class is parked after it failed `wait`. Differs from `wait` if the class is
    /// impossible.
    pub(super) fn waits_for(&mut self, books: &Books, class: ClassId, wait: Wait) -> Wait {
        let backs_off = self.classes.rows[class].key.backoff_application.is_some();
        if wait.blocker.row().is_permanent || backs_off {
            return wait;
        }
        self.impossible(books, class).unwrap_or(wait)
    }

    /// Wakes classes for which no node was large enough, after a node can have grown.
    pub(super) fn node_grew(&mut self, books: &Books, node: NodeId) {
        self.known_nodes.grew();
        let partition = books.node(node).partition;
        // A gang with asks of different sizes depends on the sum of all nodes, so it is always checked.
        let fits = |(shape, members)| members == 0 || possible::on_node(books, shape, node);
        self.parked.open(&mut self.tree, Blocker::NodesTooSmall(partition), fits);
        let row = books.node(node);
        let fits = |(shape, _)| row.could_ever_hold(books.shapes().on_node(shape));
        self.parked.open(&mut self.tree, Blocker::RequiredNodeTooSmall(node), fits);
    }

    /// Updates the node of a foreign allocation that was removed or shrank.
    pub(super) fn foreign_left(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(node) = seen.freed {
            self.node_grew(books, node);
        }
    }

    /// Wakes classes for which a queue maximum was too low, after it can have grown.
    pub(super) fn max_grew(&mut self, books: &Books, queue: QueueId) {
        let max = books.queue(queue).max.as_ref();
        let fits = |(shape, members)| {
            members == 0 || max.is_none_or(|max| max.allows(&books.shapes().times(shape, members)))
        };
        self.parked.open(&mut self.tree, Blocker::QueueTooSmall(queue), fits);
    }

    /// Checks heads of line again after a node shrank. A head that became impossible leaves the line.
    pub(super) fn judge_heads(&mut self, books: &Books) {
        if core::mem::take(&mut self.known_nodes.has_shrunk) {
            for leaf in self.parked.lines.leaves().collect::<Vec<_>>() {
                self.drop_impossible_heads(books, leaf);
            }
        }
    }
}
