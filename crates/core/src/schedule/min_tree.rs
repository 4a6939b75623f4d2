//! Ordered set that finds the first entry with a sufficiently low measure without a scan of the entries before it.
//!
//! The tree is balanced by size. Every node has the lowest measure of its subtree. If even that measure is too high,
//! the search skips the subtree. Source of the balance: Hirai and Yamamoto, "Balancing weight-balanced trees" (2011),
//! with their parameters 3 and 2.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Measure of an entry.
pub(super) trait Measure: Clone + PartialEq {
    /// Lowers this measure to the largest one that exceeds neither of the two.
    fn lower(&mut self, other: &Self);
}

/// Index of no node.
const NONE: u32 = u32::MAX;

/// Stable handle of an entry. Valid until the entry is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryId(u32);

/// Handle of no entry.
impl Default for EntryId {
    fn default() -> Self {
        Self(NONE)
    }
}

/// Largest allowed ratio between the weights of the two sides of a node. The weight of a side is its number of entries
/// plus one.
const LEANING: u32 = 3;
/// Ratio of inner to outer weight from which a side needs a double rotation.
const TWICE: u32 = 2;

/// Entries in the order of their keys, each with a measure.
///
/// A search for the first sufficiently low measure costs the depth of the tree if measures are numbers. If measures are
/// vectors, the lowest measure of a subtree can be lower than each of its entries. The search can then visit that
/// subtree without a result.
#[derive(Clone, Debug)]
pub(super) struct MinTree<K, M> {
    nodes: Vec<Node<K, M>>,
    /// Unused nodes.
    free: Vec<u32>,
    root: u32,
    /// First entry.
    foremost: u32,
}

#[derive(Clone, Debug)]
struct Node<K, M> {
    key: K,
    measure: M,
    /// Lowest measure of the subtree.
    lowest: M,
    /// Parent node.
    above: u32,
    left: u32,
    right: u32,
    /// Number of entries in the subtree.
    size: u32,
}

impl<K, M> Default for MinTree<K, M> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), root: NONE, foremost: NONE }
    }
}

impl<K: Ord, M: Measure> MinTree<K, M> {
    /// Inserts an entry, or updates its measure. Returns its handle.
    pub(super) fn insert(&mut self, key: K, measure: M) -> EntryId {
        let (mut at, mut above, mut is_left) = (self.root, NONE, false);
        while let Some(node) = self.nodes.get(index(at)) {
            (above, at, is_left) = match key.cmp(&node.key) {
                Ordering::Less => (at, node.left, true),
                Ordering::Greater => (at, node.right, false),
                Ordering::Equal => {
                    self.set_at(EntryId(at), measure);
                    return EntryId(at);
                }
            };
        }
        let seat = self.add(key, measure, above);
        if self.foremost == above && (is_left || above == NONE) {
            self.foremost = seat;
        }
        match self.nodes.get_mut(index(above)) {
            Some(node) if is_left => node.left = seat,
            Some(node) => node.right = seat,
            None => self.root = seat,
        }
        self.balance_up(above);
        EntryId(seat)
    }

    /// Removes the entry with this key, if it exists.
    pub(super) fn remove(&mut self, key: &K) {
        if let Some(seat) = self.find(key) {
            self.remove_at(seat);
        }
    }

    /// Removes an entry.
    pub(super) fn remove_at(&mut self, EntryId(at): EntryId) {
        if self.foremost == at {
            self.foremost = self.after(at);
        }
        let Node { above, left, right, .. } = self.nodes[index(at)];
        self.free.push(at);
        if left == NONE || right == NONE {
            let below = if left == NONE { right } else { left };
            self.hang(above, at, below);
            return self.balance_up(above);
        }
        // The neighbor on the heavier side replaces the removed entry.
        let is_left = self.size(left) > self.size(right);
        let next = if is_left { self.last(left) } else { self.first_of(right) };
        let Node { above: from, left: inner, right: outer, .. } = self.nodes[index(next)];
        let rest = if is_left { inner } else { outer };
        self.hang(from, next, rest);
        let Node { left, right, .. } = self.nodes[index(at)];
        self.hang(above, at, next);
        let node = self.node_mut(next);
        (node.left, node.right) = (left, right);
        for side in [left, right] {
            if side != NONE {
                self.node_mut(side).above = next;
            }
        }
        self.balance_up(if from == at { next } else { from });
    }

    /// Changes the key of an entry, which keeps its measure and its handle.
    ///
    /// Cheap if the entry stays between its neighbors, which is the usual case.
    pub(super) fn rename_at(&mut self, seat: EntryId, after: K) {
        let EntryId(at) = seat;
        let comes_after = |one: u32| self.nodes.get(index(one)).is_none_or(|one| one.key < after);
        let comes_before = |one: u32| self.nodes.get(index(one)).is_none_or(|one| after < one.key);
        if comes_after(self.before(at)) && comes_before(self.after(at)) {
            self.node_mut(at).key = after;
        } else {
            let measure = self.nodes[index(at)].measure.clone();
            self.remove_at(seat);
            let same = self.insert(after, measure);
            debug_assert_eq!(same, seat, "the seat that was left last is taken first");
        }
    }

    /// Updates the measure of the entry with this key, if it exists.
    pub(super) fn set(&mut self, key: &K, measure: M) {
        if let Some(seat) = self.find(key) {
            self.set_at(seat, measure);
        }
    }

    /// Updates the measure of an entry.
    pub(super) fn set_at(&mut self, EntryId(mut at): EntryId, measure: M) {
        self.node_mut(at).measure = measure;
        while at != NONE && self.lower(at) {
            at = self.nodes[index(at)].above;
        }
    }

    /// Sets the measure of all entries. Costs the number of entries.
    pub(super) fn set_all(&mut self, measure: &M) {
        for node in &mut self.nodes {
            (node.measure, node.lowest) = (measure.clone(), measure.clone());
        }
    }

    /// Returns the handle of the entry with this key.
    pub(super) fn find(&self, key: &K) -> Option<EntryId> {
        let mut at = self.root;
        while let Some(node) = self.nodes.get(index(at)) {
            at = match key.cmp(&node.key) {
                Ordering::Less => node.left,
                Ordering::Greater => node.right,
                Ordering::Equal => return Some(EntryId(at)),
            };
        }
        None
    }

    /// Returns the key and measure of an entry.
    pub(super) fn at(&self, EntryId(at): EntryId) -> (&K, &M) {
        let node = &self.nodes[index(at)];
        (&node.key, &node.measure)
    }

    /// Returns whether the set is empty.
    pub(super) const fn is_empty(&self) -> bool {
        self.root == NONE
    }

    /// Returns all keys in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.entries().map(|(key, _)| key)
    }

    /// Returns all entries in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&K, &M)> {
        let first = Some(self.foremost).filter(|at| *at != NONE);
        let next = |at: &u32| Some(self.after(*at)).filter(|at| *at != NONE);
        core::iter::successors(first, next).map(|at| self.at(EntryId(at)))
    }

    /// Returns the first key.
    pub(super) fn foremost(&self) -> Option<&K> {
        self.nodes.get(index(self.foremost)).map(|node| &node.key)
    }

    /// Returns the lower bound of all measures. `None` if the set is empty.
    pub(super) fn lowest(&self) -> Option<&M> {
        self.nodes.get(index(self.root)).map(|node| &node.lowest)
    }

    /// Returns the first key whose measure satisfies `will_do`. The predicate must also accept every lower measure.
    pub(super) fn first(&self, will_do: impl FnMut(&M) -> bool) -> Option<&K> {
        self.first_seat(will_do).map(|seat| self.at(seat).0)
    }

    /// Returns the handle of the first entry whose measure satisfies `will_do`.
    pub(super) fn first_seat(&self, mut will_do: impl FnMut(&M) -> bool) -> Option<EntryId> {
        let foremost = self.nodes.get(index(self.foremost))?;
        if will_do(&foremost.measure) {
            return Some(EntryId(self.foremost));
        }
        self.first_below(self.root, &mut will_do)
    }

    /// Returns the first such entry after this one.
    pub(super) fn first_behind(
        &self,
        EntryId(mut at): EntryId,
        mut will_do: impl FnMut(&M) -> bool,
    ) -> Option<EntryId> {
        loop {
            let node = &self.nodes[index(at)];
            if let Some(found) = self.first_below(node.right, &mut will_do) {
                return Some(found);
            }
            // Ascend to the first ancestor that follows the whole visited subtree.
            let mut below = at;
            at = node.above;
            while let Some(node) = self.nodes.get(index(at)).filter(|node| node.right == below) {
                (below, at) = (at, node.above);
            }
            let node = self.nodes.get(index(at))?;
            if will_do(&node.measure) {
                return Some(EntryId(at));
            }
        }
    }

    fn first_below(&self, at: u32, will_do: &mut impl FnMut(&M) -> bool) -> Option<EntryId> {
        let node = self.nodes.get(index(at)).filter(|node| will_do(&node.lowest))?;
        if let Some(found) = self.first_below(node.left, will_do) {
            return Some(found);
        }
        if will_do(&node.measure) {
            return Some(EntryId(at));
        }
        self.first_below(node.right, will_do)
    }

    /// Returns the last node of the subtree.
    fn last(&self, mut at: u32) -> u32 {
        let mut last = NONE;
        while let Some(node) = self.nodes.get(index(at)) {
            (last, at) = (at, node.right);
        }
        last
    }

    /// Returns the first node of the subtree.
    fn first_of(&self, mut at: u32) -> u32 {
        let mut first = NONE;
        while let Some(node) = self.nodes.get(index(at)) {
            (first, at) = (at, node.left);
        }
        first
    }

    /// Returns the next node in order.
    fn after(&self, mut at: u32) -> u32 {
        let node = &self.nodes[index(at)];
        if node.right != NONE {
            return self.first_of(node.right);
        }
        let mut above = node.above;
        while let Some(node) = self.nodes.get(index(above)).filter(|node| node.right == at) {
            (at, above) = (above, node.above);
        }
        above
    }

    /// Returns the previous node in order.
    fn before(&self, mut at: u32) -> u32 {
        let node = &self.nodes[index(at)];
        if node.left != NONE {
            return self.last(node.left);
        }
        let mut above = node.above;
        while let Some(node) = self.nodes.get(index(above)).filter(|node| node.left == at) {
            (at, above) = (above, node.above);
        }
        above
    }

    /// Replaces the child `was` of a parent with `now`.
    fn hang(&mut self, above: u32, was: u32, now: u32) {
        match self.nodes.get_mut(index(above)) {
            Some(node) if node.left == was => node.left = now,
            Some(node) => node.right = now,
            None => self.root = now,
        }
        if let Some(node) = self.nodes.get_mut(index(now)) {
            node.above = above;
        }
    }

    /// Updates and rebalances all nodes from this one to the root.
    fn balance_up(&mut self, mut at: u32) {
        while at != NONE {
            let top = self.balance(at);
            at = self.nodes[index(top)].above;
        }
    }

    /// Updates a node whose sides are balanced, and rotates it if one side is too heavy. Returns the node that is now
    /// in its position.
    fn balance(&mut self, at: u32) -> u32 {
        let (left, right) = self.sides(at);
        if self.weight(right) > LEANING * self.weight(left) {
            let (inner, outer) = self.sides(right);
            if self.weight(inner) >= TWICE * self.weight(outer) {
                self.turn_right(right);
            }
            return self.turn_left(at);
        }
        if self.weight(left) > LEANING * self.weight(right) {
            let (outer, inner) = self.sides(left);
            if self.weight(inner) >= TWICE * self.weight(outer) {
                self.turn_left(left);
            }
            return self.turn_right(at);
        }
        self.renew(at);
        at
    }

    /// Rotates left: the right child becomes the parent. Returns that child.
    fn turn_left(&mut self, at: u32) -> u32 {
        let Node { above, right: up, .. } = self.nodes[index(at)];
        let inner = self.sides(up).0;
        self.hang(above, at, up);
        self.node_mut(at).right = inner;
        if inner != NONE {
            self.node_mut(inner).above = at;
        }
        self.node_mut(up).left = at;
        self.node_mut(at).above = up;
        self.renew(at);
        self.renew(up);
        up
    }

    /// Rotates right: the left child becomes the parent. Returns that child.
    fn turn_right(&mut self, at: u32) -> u32 {
        let Node { above, left: up, .. } = self.nodes[index(at)];
        let inner = self.sides(up).1;
        self.hang(above, at, up);
        self.node_mut(at).left = inner;
        if inner != NONE {
            self.node_mut(inner).above = at;
        }
        self.node_mut(up).right = at;
        self.node_mut(at).above = up;
        self.renew(at);
        self.renew(up);
        up
    }

    fn renew(&mut self, at: u32) {
        let (left, right) = self.sides(at);
        self.node_mut(at).size = 1 + self.size(left) + self.size(right);
        self.lower(at);
    }

    /// Recomputes the lowest measure of a node from its children. Returns whether it changed.
    fn lower(&mut self, at: u32) -> bool {
        let node = &self.nodes[index(at)];
        let mut lowest = node.measure.clone();
        for side in [node.left, node.right] {
            if let Some(side) = self.nodes.get(index(side)) {
                lowest.lower(&side.lowest);
            }
        }
        let differs = node.lowest != lowest;
        self.node_mut(at).lowest = lowest;
        differs
    }

    fn add(&mut self, key: K, measure: M, above: u32) -> u32 {
        let lowest = measure.clone();
        let node = Node { key, measure, lowest, above, left: NONE, right: NONE, size: 1 };
        if let Some(at) = self.free.pop() {
            *self.node_mut(at) = node;
            return at;
        }
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("fewer entries than ids")
    }

    fn node_mut(&mut self, at: u32) -> &mut Node<K, M> {
        &mut self.nodes[index(at)]
    }

    fn sides(&self, at: u32) -> (u32, u32) {
        let node = &self.nodes[index(at)];
        (node.left, node.right)
    }

    fn size(&self, at: u32) -> u32 {
        self.nodes.get(index(at)).map_or(0, |node| node.size)
    }

    fn weight(&self, at: u32) -> u32 {
        self.size(at) + 1
    }
}

/// Returns the position of a node, which is out of range for [`NONE`].
const fn index(at: u32) -> usize {
    at as usize
}

#[cfg(test)]
mod tests;
