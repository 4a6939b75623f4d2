//! An ordered set in which the first entry is found that has little enough of something, without a
//! look at those before it.
//!
//! A tree balanced by size, in which every node knows the lowest measure below it. Where even that
//! is too much, none below will do. Source of the balance: Hirai and Yamamoto, "Balancing
//! weight-balanced trees" (2011), with their parameters 3 and 2.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// What is measured of an entry.
pub(super) trait Measure: Clone + PartialEq {
    /// Lower this to the largest measure that is no more than either.
    fn lower(&mut self, other: &Self);
}

/// No node.
const NONE: u32 = u32::MAX;

/// Where an entry is; it stays there until it is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryId(u32);

/// Of those that have none.
impl Default for EntryId {
    fn default() -> Self {
        Self(NONE)
    }
}

/// Neither side of a node weighs more than this many times the other; a side weighs its entries and
/// one.
const LEANING: u32 = 3;
/// A side this many times as heavy inside as outside is turned twice.
const TWICE: u32 = 2;

/// Entries in the order of their keys, each with what is measured of it.
///
/// Finding the first by its measure costs the depth of the tree where measures are numbers; where they
/// are vectors, a part of the tree may promise more than any of its entries keeps, and is looked
/// through.
#[derive(Clone, Debug)]
pub(super) struct MinTree<K, M> {
    nodes: Vec<Node<K, M>>,
    /// Nodes that are not used.
    free: Vec<u32>,
    root: u32,
    /// The first of all.
    foremost: u32,
}

#[derive(Clone, Debug)]
struct Node<K, M> {
    key: K,
    measure: M,
    /// The lowest of its own and of all below it.
    lowest: M,
    /// The node above it.
    above: u32,
    left: u32,
    right: u32,
    /// How many entries there are from here down.
    size: u32,
}

impl<K, M> Default for MinTree<K, M> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), root: NONE, foremost: NONE }
    }
}

impl<K: Ord, M: Measure> MinTree<K, M> {
    /// Add an entry, or update its measure. Returns where it sits from now on.
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

    /// Take an entry out, if it is there.
    pub(super) fn remove(&mut self, key: &K) {
        if let Some(seat) = self.find(key) {
            self.remove_at(seat);
        }
    }

    /// Take an entry out.
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
        // Its neighbour on the heavier side takes its place.
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

    /// Give an entry another key. It keeps its measure and its seat.
    ///
    /// Mostly it keeps its place among the others, too: that costs little.
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

    /// Update the measure of an entry, if it is there.
    pub(super) fn set(&mut self, key: &K, measure: M) {
        if let Some(seat) = self.find(key) {
            self.set_at(seat, measure);
        }
    }

    /// Update the measure of an entry.
    pub(super) fn set_at(&mut self, EntryId(mut at): EntryId, measure: M) {
        self.node_mut(at).measure = measure;
        while at != NONE && self.lower(at) {
            at = self.nodes[index(at)].above;
        }
    }

    /// Give all entries the same new measure. Costs as much as there are.
    pub(super) fn set_all(&mut self, measure: &M) {
        for node in &mut self.nodes {
            (node.measure, node.lowest) = (measure.clone(), measure.clone());
        }
    }

    /// Where an entry sits.
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

    /// The entry that sits there.
    pub(super) fn at(&self, EntryId(at): EntryId) -> (&K, &M) {
        let node = &self.nodes[index(at)];
        (&node.key, &node.measure)
    }

    /// Whether there is no entry.
    pub(super) const fn is_empty(&self) -> bool {
        self.root == NONE
    }

    /// All entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.entries().map(|(key, _)| key)
    }

    /// All entries in order, each with its measure.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&K, &M)> {
        let first = Some(self.foremost).filter(|at| *at != NONE);
        let next = |at: &u32| Some(self.after(*at)).filter(|at| *at != NONE);
        core::iter::successors(first, next).map(|at| self.at(EntryId(at)))
    }

    /// The first entry.
    pub(super) fn foremost(&self) -> Option<&K> {
        self.nodes.get(index(self.foremost)).map(|node| &node.key)
    }

    /// The lowest that all measures are no less than; none if there is no entry.
    pub(super) fn lowest(&self) -> Option<&M> {
        self.nodes.get(index(self.root)).map(|node| &node.lowest)
    }

    /// The first entry whose measure will do. What does must do when it is lower, too.
    pub(super) fn first(&self, will_do: impl FnMut(&M) -> bool) -> Option<&K> {
        self.first_seat(will_do).map(|seat| self.at(seat).0)
    }

    /// Where the first entry sits whose measure will do.
    pub(super) fn first_seat(&self, mut will_do: impl FnMut(&M) -> bool) -> Option<EntryId> {
        let foremost = self.nodes.get(index(self.foremost))?;
        if will_do(&foremost.measure) {
            return Some(EntryId(self.foremost));
        }
        self.first_below(self.root, &mut will_do)
    }

    /// The same among those behind this one.
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
            // Up to the first that comes behind all of this.
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

    /// The last node from here down.
    fn last(&self, mut at: u32) -> u32 {
        let mut last = NONE;
        while let Some(node) = self.nodes.get(index(at)) {
            (last, at) = (at, node.right);
        }
        last
    }

    /// The first node from here down.
    fn first_of(&self, mut at: u32) -> u32 {
        let mut first = NONE;
        while let Some(node) = self.nodes.get(index(at)) {
            (first, at) = (at, node.left);
        }
        first
    }

    /// The node right behind this one.
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

    /// The node right before this one.
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

    /// Have another node, or none, where this one was below the one above it.
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

    /// Bring all nodes from here up to date, and turn those of which a side has become too heavy.
    fn balance_up(&mut self, mut at: u32) {
        while at != NONE {
            let top = self.balance(at);
            at = self.nodes[index(top)].above;
        }
    }

    /// Bring a node up to date whose sides are balanced in themselves, and turn it where one of them
    /// has become too heavy. The node that is there then.
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

    /// Have its right side come up.
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

    /// Have its left side come up.
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

    /// Recompute the lowest measure from here down; returns whether it changed.
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

/// Where a node is; beyond all of them for none.
const fn index(at: u32) -> usize {
    at as usize
}

#[cfg(test)]
mod tests;
