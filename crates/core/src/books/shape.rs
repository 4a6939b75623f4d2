//! Shapes: distinct combinations of amounts and node selector. Equal asks share one.

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

/// One shape, and its number of uses.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct Shape {
    /// Amounts for queues, users, and groups.
    resources: Resources,
    uses: u64,
    /// Node selector. `None` without one.
    #[cfg_attr(feature = "snapshot", serde(default))]
    wish: Option<Arc<NodeSelector>>,
    /// Nodes that match the selector.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    nodes: NodeSet,
    /// Amounts for nodes, if they are less: nodes do not have the type that counts tasks.
    #[cfg_attr(feature = "snapshot", serde(default))]
    on_node: Option<Resources>,
    /// Last failed preemption attempts for such asks, valid for all equal asks.
    #[cfg_attr(feature = "snapshot", serde(default, skip_serializing_if = "Vec::is_empty"))]
    tried: Vec<(Equals, PreemptionTry)>,
}

/// Properties that equal asks of a shape share: leaf, trackers, and priority.
pub(crate) type Equals = (QueueId, TrackerLink, i32);

/// Key that distinguishes shapes: the amounts for queues, the node selector, and whether the amounts for nodes are
/// less.
type Key = (Resources, Option<Arc<NodeSelector>>, bool);

/// Shapes in use.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Shapes {
    rows: Table<ShapeId, Shape>,
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    by_value: OrderedMap<Key, ShapeId>,
    /// Number of shapes with a node selector.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    wishes: usize,
}

impl Shapes {
    /// Returns the amounts of a shape.
    #[inline]
    pub fn get(&self, shape: ShapeId) -> &Resources {
        &self.rows[shape].resources
    }

    /// Returns the amounts of a shape times `count`.
    #[inline]
    pub fn times(&self, shape: ShapeId, count: u32) -> Cow<'_, Resources> {
        let one = self.get(shape);
        if count == 1 { Cow::Borrowed(one) } else { Cow::Owned(one.times(i64::from(count))) }
    }

    /// Returns the amounts that a node must have for an ask of a shape, without types that count only for queues.
    #[inline]
    pub fn on_node(&self, shape: ShapeId) -> &Resources {
        let row = &self.rows[shape];
        row.on_node.as_ref().unwrap_or(&row.resources)
    }

    /// Returns the node selector of a shape. `None` without one.
    pub fn wish(&self, shape: ShapeId) -> Option<&NodeSelector> {
        self.rows[shape].wish.as_deref()
    }

    /// Returns the shared node selector of a shape.
    pub(super) fn shared_wish(&self, shape: ShapeId) -> Option<Arc<NodeSelector>> {
        self.rows[shape].wish.clone()
    }

    /// Returns whether asks of a shape can use a node.
    #[inline]
    pub(super) fn suits(&self, shape: ShapeId, id: NodeId, node: &Node) -> bool {
        let row = &self.rows[shape];
        if row.wish.is_none() { !node.is_closed() } else { row.nodes.has(id) }
    }

    /// Returns whether a shape exists.
    pub(crate) fn has(&self, shape: ShapeId) -> bool {
        self.rows.get(shape).is_some()
    }

    /// Returns all shapes with their numbers of uses.
    pub fn iter(&self) -> impl Iterator<Item = (ShapeId, &Resources, u64)> {
        self.rows.iter().map(|(id, shape)| (id, &shape.resources, shape.uses))
    }

    /// Adds a use of a shape, and creates it if it is missing. `node_request` has the amounts for nodes, if they are
    /// less.
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

    /// Returns the last failed preemption attempt for one of these equal asks, even if that ask is gone.
    pub(crate) fn tried(&self, shape: ShapeId, equals: Equals) -> Option<PreemptionTry> {
        let mut tried = self.rows[shape].tried.iter();
        tried.find(|(one, _)| *one == equals).map(|(_, tried)| *tried)
    }

    /// Records a failed preemption attempt for one of these equal asks. Removes outdated attempts.
    pub(super) fn note_try(&mut self, shape: ShapeId, equals: Equals, tried: PreemptionTry) {
        let all = &mut self.rows[shape].tried;
        all.retain(|(one, before)| *one != equals && tried.at < before.at + PreemptionTry::PAUSE);
        all.push((equals, tried));
    }

    /// Removes a use of a shape, and the shape with its last use.
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

    /// Adds a node.
    pub(super) fn node_added(&mut self, id: NodeId, node: &Node) {
        self.each_wish(|wish, nodes| nodes.add(wish, id, node));
    }

    /// Removes a node.
    pub(super) fn node_removed(&mut self, id: NodeId) {
        self.each_wish(|_, nodes| nodes.remove(id));
    }

    /// Recomputes the matching nodes of all selectors.
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
    /// Returns the number of slots for shapes.
    pub(super) const fn slots(&self) -> usize {
        self.rows.slots()
    }

    /// Rebuilds the indexes after deserialization. `uses` has the number of uses for each slot.
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
