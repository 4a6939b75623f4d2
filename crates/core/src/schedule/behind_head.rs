//! What asks behind the head of a line would take of what the head lacks, and what has to give way for them.
//! No-starvation NS-22.
//!
//! An ask takes from the head in two ways. A queue at or above the leaf, the cluster included, may have too little of a
//! type for both. Or no node has room for the head, and the ask needs a type that the nodes lack for it. Types that only
//! one of them needs do not matter: what waits for a GPU does not delay work without GPUs.
//!
//! Both follow from the books alone. Those who stay behind are looked at again when a queue has enough left of the type
//! for one of them, or when the nodes lack another type for the head: a release costs the leaves that it may help.

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

/// What asks would take.
#[derive(Clone, Debug)]
pub(super) struct Wants<'books> {
    /// The size of each, and what it says of nodes.
    pub(super) shape: ShapeId,
    /// How many start together; 0 for a gang whose placeholders differ in size.
    pub(super) members: u32,
    /// What they need of queues in all.
    pub(super) total: Cow<'books, Resources>,
}

impl<'books> Wants<'books> {
    /// So many asks of a shape; none for a gang of several sizes, of which a shape says too little.
    pub(super) fn of(books: &'books Books, (shape, members): (ShapeId, u32)) -> Option<Self> {
        let total = || books.shapes().times(shape, members);
        (members > 0).then(|| Self { shape, members, total: total() })
    }
}

/// On which nodes a head may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    partition: PartitionId,
    shape: ShapeId,
    members: u32,
    /// A node that is reserved for it, or that it requires.
    own: Option<NodeId>,
    /// Whether it may start on no other.
    only_there: bool,
}

/// What the head of a line needs.
#[derive(Debug)]
pub(super) struct HeadNeeds<'books> {
    pub(super) application: ApplicationId,
    pub(super) leaf: QueueId,
    pub(super) partition: PartitionId,
    wants: Wants<'books>,
    /// None where the node that it requires is not there.
    places: Option<Places>,
    /// What nodes lack for it, once that was asked: it costs the nodes, and is the same for all behind it.
    lacked: OnceCell<Lacked>,
}

/// What an ask behind the head would take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    /// A queue has less left than both need. `is_leaf` if it is the leaf itself: not everybody may
    /// see what other queues leave.
    InQueue {
        /// That queue.
        queue: QueueId,
        is_leaf: bool,
        /// The need of the ask, and what the head leaves of the type.
        short: Shortfall,
        /// What both need of the type.
        both: Quantity,
    },
    /// No node has room for the head, and the ask needs a type that nodes lack for it.
    OnNodes,
}

impl Taken {
    /// The wait of the ask behind a head.
    pub(super) fn wait(self, leaf: QueueId, head: Option<AllocationId>) -> Wait {
        let shortfall = match self {
            Self::InQueue { is_leaf: true, short, .. } => Some(short),
            Self::InQueue { is_leaf: false, .. } | Self::OnNodes => None,
        };
        Wait { blocker: Blocker::BehindHead(leaf, head), shortfall }
    }
}

impl<'books> HeadNeeds<'books> {
    /// What a head needs that is an ask of a class.
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

    /// What asks behind the head would take from it; none if it needs none of that, or if there is enough for both.
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

/// What the nodes lack for a head.
#[derive(Clone, Debug)]
struct Lacked {
    /// Whether some nodes have room for it.
    has_room: bool,
    /// Each type that it needs there, and how much, with a node that has enough of that.
    types: SmallVec<[(ResourceType, Quantity, Option<NodeId>); 4]>,
}

impl Lacked {
    /// Costs the nodes up to one that has room, and to one that has enough of each type.
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

    /// The types of which no node has enough. Where each is there, but not all on one node: all of them.
    fn types(&self) -> impl Iterator<Item = ResourceType> {
        let all = self.types.iter().all(|(.., node)| node.is_some());
        let types = self.types.iter().filter(move |(.., node)| all || node.is_none());
        types.map(|(resource, ..)| *resource)
    }

    /// Whether it may be otherwise by what has become of a node. A head that has gone is followed elsewhere.
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
    /// Whether the head may start on a node when that has room.
    fn admit(&self, books: &Books, node: NodeId) -> bool {
        let Some(row) = books.nodes().get(node) else { return false };
        if self.own == Some(node) {
            return self.only_there || row.schedulable;
        }
        !self.only_there && row.is_open() && books.suits(self.shape, node)
    }
}

/// What has to give way for those who stay behind heads.
#[derive(Clone, Debug, Default)]
pub(super) struct BehindHeads {
    /// The queue and the type, how much of it the queue must have left, and the leaf that is helped.
    queues: BTreeSet<(QueueId, ResourceType, Quantity, QueueId)>,
    /// The heads for which the nodes have no room, and in which leaves they are.
    nodes: BTreeMap<Places, (Lacked, BTreeSet<QueueId>)>,
    /// What is noted for each leaf.
    leaves: BTreeMap<QueueId, Noted>,
}

/// What is noted for one leaf.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// The least that helps somebody, for each queue and type.
    queues: BTreeMap<(QueueId, ResourceType), Quantity>,
    nodes: Option<Places>,
}

impl BehindHeads {
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Asks of the leaf of a head stay behind it for the sake of this.
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

    /// The leaves where somebody may go, now that a queue has this left. They are forgotten.
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

    /// The heads for which the nodes may lack something else by what has become of a node.
    fn moved_by(&self, books: &Books, partition: PartitionId, node: NodeId) -> Vec<Places> {
        let of_partition = self.nodes.iter().filter(|(places, _)| places.partition == partition);
        let moved =
            of_partition.filter(|(places, (lacked, _))| lacked.depends_on(books, **places, node));
        moved.map(|(places, _)| *places).collect()
    }

    /// Look at the nodes once more for such heads. The leaves where somebody may go.
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

    /// Nobody of a leaf stays behind its head, or it has another.
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
    /// Note what has to give way for asks behind a head.
    pub(super) fn note_taken(&mut self, books: &Books, needs: &HeadNeeds<'_>, taken: Taken) {
        let nodes = &self.nodes[&needs.partition];
        self.parked.lines.behind.note(books, nodes, needs, taken);
    }

    /// A node has other room, is used otherwise, or has gone: heads may lack other types on nodes.
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
