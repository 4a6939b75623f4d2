//! Distinct resource vectors, each with what is wished for of nodes: equal asks share one.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::id::{NodeId, QueueId, ShapeId};
use crate::ordered::OrderedMap;
use crate::resource::Resources;
#[cfg(feature = "snapshot")]
use crate::stored::Unsound;
use crate::table::Table;

use super::node_selector::{NodeSelector, NodeSet};
use super::{Node, PreemptionTry, TrackerLink};

/// One distinct resource vector and wish, and how many asks and allocations have it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct Shape {
    /// What counts for queues, users and groups.
    resources: Resources,
    uses: u64,
    /// The requirements for nodes; none for those without any.
    #[cfg_attr(feature = "snapshot", serde(default))]
    wish: Option<Arc<NodeSelector>>,
    /// The nodes that suit the wish.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    nodes: NodeSet,
    /// What counts for nodes, where that is less: nodes do not have the type that counts tasks.
    #[cfg_attr(feature = "snapshot", serde(default))]
    on_node: Option<Resources>,
    /// The last tries in vain to stop something for such asks, which stand for all equal asks.
    #[cfg_attr(feature = "snapshot", serde(default, skip_serializing_if = "Vec::is_empty"))]
    tried: Vec<(Equals, PreemptionTry)>,
}

/// What equal asks of a shape have in common: their leaf, who is charged, and their priority.
pub(crate) type Equals = (QueueId, TrackerLink, i32);

/// The key that distinguishes shapes: what counts for queues, the requirements for nodes, and
/// whether something counts for queues alone.
type Key = (Resources, Option<Arc<NodeSelector>>, bool);

/// The distinct resource vectors and wishes in use.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Shapes {
    rows: Table<ShapeId, Shape>,
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    by_value: OrderedMap<Key, ShapeId>,
    /// How many say something of nodes.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    wishes: usize,
}

impl Shapes {
    /// The vector of a shape.
    #[inline]
    pub fn get(&self, shape: ShapeId) -> &Resources {
        &self.rows[shape].resources
    }

    /// So many times the vector of a shape.
    #[inline]
    pub fn times(&self, shape: ShapeId, count: u32) -> Cow<'_, Resources> {
        let one = self.get(shape);
        if count == 1 { Cow::Borrowed(one) } else { Cow::Owned(one.times(i64::from(count))) }
    }

    /// What a node must have for an ask of a shape: its vector, without what counts for queues alone.
    #[inline]
    pub fn on_node(&self, shape: ShapeId) -> &Resources {
        let row = &self.rows[shape];
        row.on_node.as_ref().unwrap_or(&row.resources)
    }

    /// What asks of a shape say of nodes; none where they say nothing.
    pub fn wish(&self, shape: ShapeId) -> Option<&NodeSelector> {
        self.rows[shape].wish.as_deref()
    }

    /// The same, to be shared.
    pub(super) fn shared_wish(&self, shape: ShapeId) -> Option<Arc<NodeSelector>> {
        self.rows[shape].wish.clone()
    }

    /// Whether asks of a shape may have a node.
    #[inline]
    pub(super) fn suits(&self, shape: ShapeId, id: NodeId, node: &Node) -> bool {
        let row = &self.rows[shape];
        if row.wish.is_none() { !node.is_closed() } else { row.nodes.has(id) }
    }

    /// Whether a shape is there.
    pub(crate) fn has(&self, shape: ShapeId) -> bool {
        self.rows.get(shape).is_some()
    }

    /// All shapes in use, with the number of their users.
    pub fn iter(&self) -> impl Iterator<Item = (ShapeId, &Resources, u64)> {
        self.rows.iter().map(|(id, shape)| (id, &shape.resources, shape.uses))
    }

    /// Use a vector and a wish once more; `node_request` is what counts for nodes, where that is less.
    pub(super) fn acquire(
        &mut self,
        (resources, on_node): (Resources, Option<Resources>),
        wish: Option<Arc<NodeSelector>>,
        nodes: &Table<NodeId, Node>,
    ) -> ShapeId {
        let key = (resources, wish, on_node.is_some());
        if let Some(shape) = self.by_value.get(&key).copied() {
            self.rows[shape].uses += 1;
            return shape;
        }
        let (resources, wish, _) = key.clone();
        self.wishes += usize::from(wish.is_some());
        let nodes = wish.as_ref().map(|wish| NodeSet::of(wish, nodes)).unwrap_or_default();
        let shape =
            self.rows.insert(Shape { resources, uses: 1, wish, nodes, on_node, tried: Vec::new() });
        self.by_value.insert(key, shape);
        shape
    }

    /// The last try in vain to stop something for one of these equal asks, be that still there or not.
    pub(crate) fn tried(&self, shape: ShapeId, equals: Equals) -> Option<PreemptionTry> {
        let mut tried = self.rows[shape].tried.iter();
        tried.find(|(one, _)| *one == equals).map(|(_, tried)| *tried)
    }

    /// Nothing could be stopped for one of these equal asks. Tries whose pause is over are forgotten.
    pub(super) fn note_try(&mut self, shape: ShapeId, equals: Equals, tried: PreemptionTry) {
        let all = &mut self.rows[shape].tried;
        all.retain(|(one, before)| *one != equals && tried.at < before.at + PreemptionTry::PAUSE);
        all.push((equals, tried));
    }

    /// Use a shape once less; it goes with its last user.
    pub(super) fn release(&mut self, shape: ShapeId) {
        let row = &mut self.rows[shape];
        row.uses -= 1;
        if row.uses == 0
            && let Some(gone) = self.rows.remove(shape)
        {
            self.wishes -= usize::from(gone.wish.is_some());
            self.by_value.remove(&(gone.resources, gone.wish, gone.on_node.is_some()));
        }
    }

    /// A node has come.
    pub(super) fn node_added(&mut self, id: NodeId, node: &Node) {
        self.each_wish(|wish, nodes| nodes.add(wish, id, node));
    }

    /// A node is gone.
    pub(super) fn node_removed(&mut self, id: NodeId) {
        self.each_wish(|_, nodes| nodes.remove(id));
    }

    /// Other nodes may suit.
    pub(super) fn refresh(&mut self, all: &Table<NodeId, Node>) {
        self.each_wish(|wish, nodes| *nodes = NodeSet::of(wish, all));
    }

    fn each_wish(&mut self, mut change: impl FnMut(&NodeSelector, &mut NodeSet)) {
        if self.wishes == 0 {
            return;
        }
        let wishing = self.rows.iter().filter(|(_, row)| row.wish.is_some());
        let wishing: Vec<ShapeId> = wishing.map(|(id, _)| id).collect();
        for shape in wishing {
            let row = &mut self.rows[shape];
            if let Some(wish) = &row.wish {
                change(wish, &mut row.nodes);
            }
        }
    }
}

#[cfg(feature = "snapshot")]
impl Shapes {
    /// How many slots there are for shapes.
    pub(super) const fn slots(&self) -> usize {
        self.rows.slots()
    }

    /// After they were read: find them by their values again, and the nodes that suit them. `uses`
    /// says for each slot how often its shape is used.
    pub(super) fn settle(
        &mut self,
        uses: &[u64],
        nodes: &Table<NodeId, Node>,
    ) -> Result<(), Unsound> {
        for (id, shape) in self.rows.iter() {
            let counted = uses.get(id.index()).is_some_and(|uses| *uses == shape.uses);
            Unsound::unless(counted, id, "its uses")?;
            let wish = shape.wish.as_ref();
            let sound = wish.is_none_or(|wish| {
                !wish.is_empty() && wish.blocked.is_sorted_by(|one, next| one < next)
            });
            Unsound::unless(sound, id, "what is wished for of nodes")?;
            let part = shape.on_node.as_ref().is_none_or(|on_node| {
                on_node.iter().all(|(resource, one)| shape.resources.get(resource) == Some(one))
            });
            Unsound::unless(part, id, "what counts for nodes")?;
        }
        let ids: Vec<ShapeId> = self.rows.iter().map(|(id, _)| id).collect();
        self.wishes = 0;
        for id in ids {
            if let Some(wish) = self.rows[id].wish.clone() {
                self.wishes += 1;
                self.rows[id].nodes = NodeSet::of(&wish, nodes);
            }
        }
        let Self { rows, by_value, .. } = self;
        Unsound::unless(by_value.len() == rows.len(), "all shapes", "those found by value")?;
        by_value.name(|id| {
            let shape = rows.get(*id).ok_or_else(|| Unsound::dangling("an index", "a shape"))?;
            Ok((shape.resources.clone(), shape.wish.clone(), shape.on_node.is_some()))
        })
    }
}
