//! Nodes that gained free capacity, and the classes that wait for such a node.
//!
//! A node with more free capacity can fit the first class of very many groups, although it has room for few asks. So
//! these groups do not open at once. Each leaf with such groups is listed in the queue tree. When it is the next leaf,
//! it opens the first of its groups that fits such a node. The search ends when no waiting size fits such a node. So
//! an allocation that ends costs the distinct sizes that wait, and the leaves that the search visits.
//!
//! If few groups fit, they open at once. Then the search does not visit leaves in vain.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Books, Node};
use crate::id::{NodeId, PartitionId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::wait::Blocker;

use super::park::{GroupKey, Parked};
use super::placement_mode::Pass;
use super::tree::Tree;

/// Largest number of groups that open at once.
const OPENED_AT_ONCE: u32 = 16;
/// Largest number of nodes that are compared one by one with a group. Beyond it, only an upper bound of their free
/// amounts is compared, so a group can open in vain, once.
const NODES_COMPARED: usize = 16;

/// Groups that open when their leaf is next.
#[derive(Clone, Debug)]
pub(super) struct WakingNodes {
    /// Number of groups of each size.
    sizes: BTreeMap<(PartitionId, Pass, ShapeId), u32>,
    /// Groups of each leaf, and whether the tree lists the leaf.
    leaves: BTreeMap<(QueueId, Pass), LeafGroups>,
    /// Current searches.
    searches: BTreeMap<(PartitionId, Pass), NodeSearch>,
    /// Largest number of groups that open at once.
    opened_at_once: u32,
}

impl Default for WakingNodes {
    fn default() -> Self {
        Self {
            sizes: BTreeMap::new(),
            leaves: BTreeMap::new(),
            searches: BTreeMap::new(),
            opened_at_once: OPENED_AT_ONCE,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct LeafGroups {
    groups: BTreeSet<GroupKey>,
    /// Whether the current search visited the leaf, and its groups did not change since.
    is_visited: bool,
}

/// Search for classes that fit nodes that gained free capacity.
#[derive(Clone, Debug, Default)]
struct NodeSearch {
    nodes: BTreeSet<NodeId>,
    /// Nodes among them that changed since they were last compared with the waiting sizes.
    changed: BTreeSet<NodeId>,
    /// Upper bound of the free amounts of the nodes.
    free: Resources,
    visited: BTreeSet<QueueId>,
    /// Groups whose first class found no node during the search.
    in_vain: BTreeSet<GroupKey>,
}

impl WakingNodes {
    /// Returns an empty value with the same settings.
    pub(super) fn renewed(&self) -> Self {
        Self { opened_at_once: self.opened_at_once, ..Self::default() }
    }

    /// Adds a new group.
    pub(super) fn insert(&mut self, tree: &mut Tree, key: GroupKey) {
        let Some(partition) = partition_of(key) else { return };
        *self.sizes.entry((partition, key.pass, key.shape)).or_default() += 1;
        let leaf = self.leaves.entry((key.leaf, key.pass)).or_default();
        leaf.groups.insert(key);
        leaf.show(tree, key);
    }

    /// Removes a group that lost its last class.
    pub(super) fn remove(&mut self, tree: &mut Tree, key: GroupKey) {
        let Some(partition) = partition_of(key) else { return };
        let size = (partition, key.pass, key.shape);
        if let Some(count) = self.sizes.get_mut(&size) {
            *count -= 1;
            if *count == 0 {
                self.sizes.remove(&size);
            }
        }
        let Some(leaf) = self.leaves.get_mut(&(key.leaf, key.pass)) else { return };
        leaf.groups.remove(&key);
        leaf.show(tree, key);
        if leaf.groups.is_empty() {
            self.leaves.remove(&(key.leaf, key.pass));
        }
        if let Some(search) = self.searches.get_mut(&(partition, key.pass)) {
            search.in_vain.remove(&key);
        }
    }

    /// Records that the first class of a group can have changed, so that its leaf is visited again.
    #[inline]
    pub(super) fn changed(&mut self, tree: &mut Tree, key: GroupKey) {
        if self.searches.is_empty() || partition_of(key).is_none() {
            return;
        }
        if let Some(leaf) = self.leaves.get_mut(&(key.leaf, key.pass))
            && leaf.is_visited
        {
            leaf.is_visited = false;
            leaf.show(tree, key);
        }
    }

    /// Records that the first class of a group found no node.
    #[inline]
    pub(super) fn found_none(&mut self, key: GroupKey) {
        if self.searches.is_empty() {
            return;
        }
        if let Some(partition) = partition_of(key)
            && let Some(search) = self.searches.get_mut(&(partition, key.pass))
        {
            search.in_vain.insert(key);
        }
    }

    /// Records that a node changed, so that it is compared again with the waiting sizes.
    #[inline]
    pub(super) fn node_changed(&mut self, partition: PartitionId, node: NodeId) {
        if self.searches.is_empty() {
            return;
        }
        for pass in Pass::WITH_WAITING {
            if let Some(search) = self.searches.get_mut(&(partition, pass))
                && search.nodes.contains(&node)
            {
                search.changed.insert(node);
            }
        }
    }

    /// Returns the sizes of a pass that fit the free capacity of a usable node, each with its number of groups.
    fn fitting(
        &self,
        books: &Books,
        (partition, pass): (PartitionId, Pass),
        node: NodeId,
    ) -> impl Iterator<Item = (ShapeId, u32)> {
        let row = books.nodes().get(node).filter(|row| row.is_open());
        let from = (partition, pass, ShapeId::FIRST);
        let sizes = row.map(|row| (row, self.sizes.range(from..)));
        sizes.into_iter().flat_map(move |(row, sizes)| {
            let mine = sizes.take_while(move |(size, _)| (size.0, size.1) == (partition, pass));
            let mine = mine.map(|((.., shape), count)| (*shape, *count));
            mine.filter(move |(shape, _)| fits(books, (node, row), *shape))
        })
    }

    /// Ends a search. The tree lists the visited leaves again.
    fn end(&mut self, tree: &mut Tree, search: (PartitionId, Pass)) {
        let ended = self.searches.remove(&search);
        self.forget_visits(tree, search.1, ended.into_iter().flat_map(|ended| ended.visited));
    }

    fn forget_visits(
        &mut self,
        tree: &mut Tree,
        pass: Pass,
        visited: impl IntoIterator<Item = QueueId>,
    ) {
        for leaf in visited {
            if let Some(groups) = self.leaves.get_mut(&(leaf, pass)) {
                groups.is_visited = false;
                tree.list_waiting(leaf, pass, !groups.groups.is_empty());
            }
        }
    }

    /// Adds a node to the search of a pass. All leaves and groups can fit it, so the search begins again.
    fn search(&mut self, tree: &mut Tree, books: &Books, pass: Pass, node: NodeId) {
        let row = books.node(node);
        let search = self.searches.entry((row.partition, pass)).or_default();
        search.nodes.insert(node);
        search.free.raise(&row.available);
        search.changed.remove(&node);
        search.in_vain.clear();
        let visited = core::mem::take(&mut search.visited);
        self.forget_visits(tree, pass, visited);
    }

    /// Returns whether a search of this pass continues. Ends it if no waiting size fits its nodes.
    #[inline]
    pub(super) fn is_searching(
        &mut self,
        tree: &mut Tree,
        books: &Books,
        at: (PartitionId, Pass),
    ) -> bool {
        if self.searches.is_empty() {
            return false;
        }
        let Some(search) = self.searches.get_mut(&at) else { return false };
        for node in core::mem::take(&mut search.changed) {
            let is_useless = self.fitting(books, at, node).next().is_none();
            let search = self.searches.get_mut(&at).expect("the search continues");
            if is_useless {
                search.nodes.remove(&node);
            }
        }
        let continues = !self.searches[&at].nodes.is_empty();
        if !continues {
            self.end(tree, at);
        }
        continues
    }

    /// Returns the leaves and passes that a search has not visited yet and that have a group that fits one of its
    /// nodes.
    pub(super) fn to_be_visited(&self, books: &Books) -> impl Iterator<Item = (QueueId, Pass)> {
        let unvisited = self.leaves.iter().filter(|(_, leaf)| !leaf.is_visited);
        let is_wanted = move |(leaf, pass): (QueueId, Pass), groups: &LeafGroups| {
            let at = (books.queue(leaf).partition, pass);
            let search = self.searches.get(&at)?;
            groups.groups.iter().any(|key| search.can_place(books, *key)).then_some((leaf, pass))
        };
        unvisited.filter_map(move |(at, groups)| is_wanted(*at, groups))
    }

    /// Discards the searches, as if no node had gained capacity.
    #[cfg(feature = "testkit")]
    pub(super) fn end_all(&mut self, tree: &mut Tree) {
        while let Some((at, _)) = self.searches.first_key_value() {
            self.end(tree, *at);
        }
    }
}

impl LeafGroups {
    fn show(&self, tree: &mut Tree, key: GroupKey) {
        tree.list_waiting(key.leaf, key.pass, !self.is_visited && !self.groups.is_empty());
    }
}

impl NodeSearch {
    /// Returns whether a group was not tried in vain and can fit one of the nodes.
    fn can_place(&self, books: &Books, key: GroupKey) -> bool {
        if self.in_vain.contains(&key) {
            return false;
        }
        if !self.free.fits(books.shapes().on_node(key.shape)) {
            return false;
        }
        let rows = self.nodes.iter().filter_map(|id| Some((*id, books.nodes().get(*id)?)));
        let mut open = rows.filter(|(_, row)| row.is_open());
        self.nodes.len() > NODES_COMPARED || open.any(|node| fits(books, node, key.shape))
    }
}

impl Parked {
    /// Begins a search for classes that fit a node that gained free capacity. Opens their groups at once if these are
    /// few.
    pub(super) fn node_gained(&mut self, tree: &mut Tree, books: &Books, node: NodeId) {
        let partition = books.node(node).partition;
        for pass in Pass::WITH_WAITING {
            let at = (partition, pass);
            let mut few = Vec::new();
            let mut count = 0;
            for (shape, groups) in self.waking_nodes.fitting(books, at, node) {
                few.push(shape);
                count += groups;
                if count > self.waking_nodes.opened_at_once {
                    break;
                }
            }
            if count > self.waking_nodes.opened_at_once {
                self.waking_nodes.search(tree, books, pass, node);
                continue;
            }
            for shape in few {
                self.open_size(tree, Blocker::Nodes(partition), (shape, pass));
            }
        }
    }

    /// Opens the first group of a leaf, in its order, that fits a node of the search. With fair share, opens all such
    /// groups, and the leaf picks the user.
    pub(super) fn visit_leaf(&mut self, tree: &mut Tree, books: &Books, at: (QueueId, Pass)) {
        let (leaf, pass) = at;
        let partition = books.queue(leaf).partition;
        let waking = &mut self.waking_nodes;
        let (Some(groups), Some(search)) =
            (waking.leaves.get(&at), waking.searches.get_mut(&(partition, pass)))
        else {
            return;
        };
        let fitting = groups.groups.iter().filter(|key| search.can_place(books, **key));
        let (shared, others): (Vec<GroupKey>, Vec<GroupKey>) =
            fitting.copied().partition(|key| key.shared);
        search.visited.insert(leaf);
        let first = self.first_group(others);
        for key in shared.into_iter().chain(first) {
            self.open_group(tree, key);
        }
        let waking = &mut self.waking_nodes;
        if let Some(groups) = waking.leaves.get_mut(&at) {
            groups.is_visited = true;
        }
        tree.list_waiting(leaf, pass, false);
    }

    /// Ends the search of a pass after it visited all leaves.
    pub(super) fn end_search(&mut self, tree: &mut Tree, at: (PartitionId, Pass)) {
        if self.waking_nodes.searches.contains_key(&at) {
            self.waking_nodes.end(tree, at);
        }
    }
}

fn fits(books: &Books, (id, node): (NodeId, &Node), shape: ShapeId) -> bool {
    node.available.fits(books.shapes().on_node(shape)) && books.suits(shape, id)
}

/// Returns the partition of a group that opens when its leaf is next. `None` for other groups.
const fn partition_of(key: GroupKey) -> Option<PartitionId> {
    match key.blocker {
        Some(Blocker::Nodes(partition)) if key.opens_in_turn.is_some() => Some(partition),
        _ => None,
    }
}

#[cfg(feature = "testkit")]
impl super::Scheduler {
    /// Sets how many groups open at once when a node gains capacity. For tests: with 0, also small clusters search.
    pub const fn open_at_once(&mut self, groups: u32) {
        self.parked.waking_nodes.opened_at_once = groups;
    }
}
