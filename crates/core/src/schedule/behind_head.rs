//! Checks which capacity asks behind the head of line would take from the head, and what must change before they can
//! start. Source: no-starvation NS-22.
//!
//! An ask can take capacity from the head in two ways. A queue from the leaf to the root, which represents the cluster,
//! can have too little of a type for both. Or no node has enough free capacity for the head, and the ask needs a type
//! that the nodes lack for the head. Types that only one of them needs do not matter: a head that waits for a GPU does
//! not delay asks without GPUs.
//!
//! Both conditions depend on the books only. Blocked asks are checked again when a queue has enough of the type for one
//! of them. They are also checked again when the nodes lack another type for the head. A release costs the leaves that
//! it can help.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cell::OnceCell;

use smallvec::SmallVec;

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId, ShapeId};
use crate::resource::{Quantity, ResourceType, Resources, Shortfall};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::class::ClassKey;
use super::nodes::NodeIndex;
use super::placement_mode::PlacementMode;

/// Amounts that asks would take.
#[derive(Clone, Debug)]
pub(super) struct Wants<'books> {
    /// Amounts and node selector of each ask.
    pub(super) shape: ShapeId,
    /// Number of asks that start together. 0 for a gang whose placeholders differ in size.
    pub(super) members: u32,
    /// Amounts of all asks, which queues must allow.
    pub(super) total: Cow<'books, Resources>,
}

impl<'books> Wants<'books> {
    /// Returns the request of `members` asks of a shape. `None` for a gang of several sizes, which one shape does not
    /// describe.
    pub(super) fn of(books: &'books Books, (shape, members): (ShapeId, u32)) -> Option<Self> {
        let total = || books.shapes().times(shape, members);
        (members > 0).then(|| Self { shape, members, total: total() })
    }
}

/// Nodes on which a head can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    partition: PartitionId,
    shape: ShapeId,
    members: u32,
    /// Node that is reserved for the head, or that the head requires.
    own: Option<NodeId>,
    /// Whether the head can start only on that node.
    only_there: bool,
}

/// Needs of the head of line.
#[derive(Debug)]
pub(super) struct HeadNeeds<'books> {
    pub(super) application: ApplicationId,
    pub(super) leaf: QueueId,
    pub(super) partition: PartitionId,
    wants: Wants<'books>,
    /// Nodes for the head. `None` if the required node is not registered.
    places: Option<Places>,
    /// Types that the nodes lack. Computed on first use, because it costs the nodes. Valid for all asks behind the
    /// head.
    lacked: OnceCell<Lacked>,
}

/// Capacity that an ask behind the head would take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    /// A queue has less left than both need. `is_leaf` is true for the leaf itself, because not every user can see what
    /// other queues have left.
    InQueue {
        /// Queue that is short.
        queue: QueueId,
        is_leaf: bool,
        /// Need of the ask, and what the head leaves of the type.
        short: Shortfall,
        /// Amount of the type that both need.
        both: Quantity,
    },
    /// No node has enough free capacity for the head, and the ask needs a type that the nodes lack for the head.
    OnNodes,
}

impl Taken {
    /// Returns the wait of the ask behind a head.
    pub(super) fn wait(self, leaf: QueueId, head: Option<AllocationId>) -> Wait {
        let shortfall = match self {
            Self::InQueue { is_leaf: true, short, .. } => Some(short),
            Self::InQueue { is_leaf: false, .. } | Self::OnNodes => None,
        };
        Wait { blocker: Blocker::BehindHead(leaf, head), shortfall }
    }
}

impl<'books> HeadNeeds<'books> {
    /// Returns the needs of a head of this class.
    pub(super) fn of(books: &'books Books, application: ApplicationId, key: ClassKey) -> Self {
        let (partition, wants) = (books.queue(key.leaf).partition, key.wants(books));
        let (own, only_there) = match key.mode {
            PlacementMode::RequiredNode(node) => (Some(node), true),
            PlacementMode::NeedsVerdict(ask) | PlacementMode::ReservedNode(ask) => {
                let row = books.allocation(ask);
                match row.required_node() {
                    Some(name) => (books.partition(partition).nodes.get(name).copied(), true),
                    None => (row.reservation().map(|one| one.node), false),
                }
            }
            PlacementMode::RequiredNodeAbsent(_) => (None, true),
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::AllOrNothing(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => (None, false),
        };
        let Wants { shape, members, .. } = wants;
        let places = Places { partition, shape, members, own, only_there };
        let places = (own.is_some() || !only_there).then_some(places);
        let lacked = OnceCell::new();
        Self { application, leaf: key.leaf, partition, wants, places, lacked }
    }

    /// Returns what the asks would take from the head. `None` if the capacity is enough for both, or if the asks need
    /// no type that the head lacks.
    pub(super) fn lose(
        &self,
        books: &Books,
        nodes: &NodeIndex,
        wants: &Wants<'_>,
    ) -> Option<Taken> {
        self.lose_in_queues(books, wants).or_else(|| {
            let on_node = books.shapes().on_node(wants.shape);
            let needs = |resource| on_node.get_or_zero(resource) > Quantity::ZERO;
            let lacked = self.lacked(books, nodes, self.places?);
            lacked.types().any(needs).then_some(Taken::OnNodes)
        })
    }

    fn lacked(&self, books: &Books, nodes: &NodeIndex, places: Places) -> &Lacked {
        self.lacked.get_or_init(|| Lacked::by(books, nodes, places))
    }

    fn lose_in_queues(&self, books: &Books, wants: &Wants<'_>) -> Option<Taken> {
        let (head, wanted) = (&*self.wants.total, &*wants.total);
        books.up(self.leaf).find_map(|(queue, row)| {
            let left = row.left.as_ref()?;
            wanted.iter().find_map(|(resource, needed)| {
                let by_head = head.get_or_zero(resource);
                if needed <= Quantity::ZERO || by_head <= Quantity::ZERO {
                    return None;
                }
                let available = left.get(resource)?.minus(by_head);
                let short = Shortfall { resource, needed, available };
                let (is_leaf, both) = (queue == self.leaf, by_head.plus(needed));
                let taken = Taken::InQueue { queue, is_leaf, short, both };
                (needed > available).then_some(taken)
            })
        })
    }
}

/// Types that the nodes lack for a head.
#[derive(Clone, Debug)]
struct Lacked {
    /// Whether a node has enough free capacity for the head.
    has_room: bool,
    /// Each type that the head needs on nodes, the amount, and a node with enough of it.
    types: SmallVec<[(ResourceType, Quantity, Option<NodeId>); 4]>,
}

impl Lacked {
    /// Searches the nodes. Costs the nodes up to one with enough free capacity, and up to one with enough of each type.
    fn by(books: &Books, nodes: &NodeIndex, places: Places) -> Self {
        let on_node = books.shapes().on_node(places.shape);
        let own = places.own.filter(|node| places.admit(books, *node));
        let others = |resource: &Resources| {
            let any = || nodes.first_with(books, resource, |id| places.admit(books, id));
            if places.only_there { None } else { any() }
        };
        let own_holds =
            |needs: &Resources| own.filter(|node| books.node(*node).available.fits(needs));
        let has_room = match places.members {
            0 => false,
            1 => own_holds(on_node).or_else(|| others(on_node)).is_some(),
            members => nodes.has_room_for(books, places.shape, members as usize),
        };
        if has_room {
            return Self { has_room, types: SmallVec::new() };
        }
        let needed = on_node.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let types = needed.map(|(resource, amount)| {
            let one = Resources::from_iter([(resource, amount)]);
            (resource, amount, own_holds(&one).or_else(|| others(&one)))
        });
        Self { has_room, types: types.collect() }
    }

    /// Returns the types of which no node has enough. If every type is free somewhere but not on one node, returns all
    /// types.
    fn types(&self) -> impl Iterator<Item = ResourceType> {
        let all = self.types.iter().all(|(.., node)| node.is_some());
        let types = self.types.iter().filter(move |(.., node)| all || node.is_none());
        types.map(|(resource, ..)| *resource)
    }

    /// Returns whether a change of a node can change the result. A head that ended is handled elsewhere.
    fn depends_on(&self, books: &Books, places: Places, node: NodeId) -> bool {
        if !books.shapes().has(places.shape) {
            return false;
        }
        let row = places.admit(books, node).then(|| books.node(node));
        let has =
            |resource, amount| row.is_some_and(|row| row.available.get_or_zero(resource) >= amount);
        let on_node = books.shapes().on_node(places.shape);
        row.is_some_and(|row| row.available.fits(on_node))
            || self.types.iter().any(|(resource, amount, known)| match known {
                Some(known) => *known == node && !has(*resource, *amount),
                None => has(*resource, *amount),
            })
    }
}

impl Places {
    /// Returns whether the head can start on a node that has enough free capacity.
    fn admit(&self, books: &Books, node: NodeId) -> bool {
        let Some(row) = books.nodes().get(node) else { return false };
        if self.own == Some(node) {
            return self.only_there || row.schedulable;
        }
        !self.only_there && row.is_open() && books.suits(self.shape, node)
    }
}

/// Conditions that wake asks behind heads.
#[derive(Clone, Debug, Default)]
pub(super) struct BehindHeads {
    /// Queue, resource type, amount that the queue must have left, and the leaf to wake.
    queues: BTreeSet<(QueueId, ResourceType, Quantity, QueueId)>,
    /// Heads for which no node has enough free capacity, with their leaves.
    nodes: BTreeMap<Places, (Lacked, BTreeSet<QueueId>)>,
    /// Conditions recorded for each leaf.
    leaves: BTreeMap<QueueId, Noted>,
}

/// Conditions recorded for one leaf.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// Least amount that helps an ask, for each queue and type.
    queues: BTreeMap<(QueueId, ResourceType), Quantity>,
    nodes: Option<Places>,
}

impl BehindHeads {
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Records why asks of a leaf stay behind its head.
    fn note(&mut self, books: &Books, nodes: &NodeIndex, needs: &HeadNeeds<'_>, taken: Taken) {
        let leaf = needs.leaf;
        match (taken, needs.places) {
            (Taken::InQueue { queue, short, both, .. }, _) => {
                let noted = &mut self.leaves.entry(leaf).or_default().queues;
                let known = noted.entry((queue, short.resource)).or_insert(Quantity::MAX);
                if both < *known {
                    self.queues.remove(&(queue, short.resource, *known, leaf));
                    self.queues.insert((queue, short.resource, both, leaf));
                    *known = both;
                }
            }
            (Taken::OnNodes, Some(places)) => {
                let noted = &mut self.leaves.entry(leaf).or_default().nodes;
                let before = noted.replace(places).filter(|before| *before != places);
                if let Some(before) = before {
                    self.forget_nodes(leaf, before);
                }
                let lacked = || (needs.lacked(books, nodes, places).clone(), BTreeSet::new());
                self.nodes.entry(places).or_insert_with(lacked).1.insert(leaf);
            }
            (Taken::OnNodes, None) => {}
        }
    }

    /// Returns the leaves to wake, now that a queue has `left`. Removes their conditions.
    pub(super) fn with_enough(&mut self, queue: QueueId, left: &Resources) -> Vec<QueueId> {
        let mut leaves = Vec::new();
        for (resource, amount) in left.iter() {
            let from = self.queues.range((queue, resource, Quantity::MIN, QueueId::FIRST)..);
            let found = from.take_while(|(one, of, least, _)| {
                *one == queue && *of == resource && *least <= amount
            });
            let found: Vec<_> = found.copied().collect();
            for entry in found {
                self.queues.remove(&entry);
                let noted = self.leaves.get_mut(&entry.3).expect("each leaf is noted");
                noted.queues.remove(&(queue, resource));
                self.drop_if_empty(entry.3);
                leaves.push(entry.3);
            }
        }
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    /// Returns the heads for which a change of a node can change the lacking types.
    fn moved_by(&self, books: &Books, partition: PartitionId, node: NodeId) -> Vec<Places> {
        let of_partition = self.nodes.iter().filter(|(places, _)| places.partition == partition);
        let moved =
            of_partition.filter(|(places, (lacked, _))| lacked.depends_on(books, **places, node));
        moved.map(|(places, _)| *places).collect()
    }

    /// Searches the nodes again for these heads. Returns the leaves to wake.
    fn look_again(&mut self, books: &Books, nodes: &NodeIndex, places: Places) -> Vec<QueueId> {
        let Some((lacked, leaves)) = self.nodes.get_mut(&places) else { return Vec::new() };
        *lacked = Lacked::by(books, nodes, places);
        let leaves: Vec<_> = leaves.iter().copied().collect();
        if lacked.has_room {
            self.nodes.remove(&places);
            for leaf in &leaves {
                self.leaves.get_mut(leaf).expect("each leaf is noted").nodes = None;
                self.drop_if_empty(*leaf);
            }
        }
        leaves
    }

    fn drop_if_empty(&mut self, leaf: QueueId) {
        let noted = self.leaves.get(&leaf);
        if noted.is_some_and(|noted| noted.queues.is_empty() && noted.nodes.is_none()) {
            self.leaves.remove(&leaf);
        }
    }

    /// Removes the conditions of a leaf, because no ask stays behind its head or the head changed.
    pub(super) fn forget(&mut self, leaf: QueueId) {
        let Some(noted) = self.leaves.remove(&leaf) else { return };
        for ((queue, resource), least) in noted.queues {
            self.queues.remove(&(queue, resource, least, leaf));
        }
        if let Some(places) = noted.nodes {
            self.forget_nodes(leaf, places);
        }
    }

    fn forget_nodes(&mut self, leaf: QueueId, places: Places) {
        if let Some((_, leaves)) = self.nodes.get_mut(&places) {
            leaves.remove(&leaf);
            if leaves.is_empty() {
                self.nodes.remove(&places);
            }
        }
    }
}

impl Scheduler {
    /// Records why asks stay behind a head.
    pub(super) fn note_taken(&mut self, books: &Books, needs: &HeadNeeds<'_>, taken: Taken) {
        let nodes = &self.nodes[&needs.partition];
        self.parked.lines.behind.note(books, nodes, needs, taken);
    }

    /// Updates the lacking types of heads after a node changed its free capacity or state, or was removed.
    #[inline]
    pub(super) fn room_of_heads_changed(
        &mut self,
        books: &Books,
        partition: PartitionId,
        node: NodeId,
    ) {
        if self.parked.lines.behind.nodes.is_empty() {
            return;
        }
        for places in self.parked.lines.behind.moved_by(books, partition, node) {
            let nodes = &self.nodes[&partition];
            for leaf in self.parked.lines.behind.look_again(books, nodes, places) {
                self.open_line(books, leaf, false);
            }
        }
    }
}
