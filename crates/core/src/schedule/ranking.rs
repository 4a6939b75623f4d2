//! An ordered set in which the first entry is found that has little enough of something, without a
//! look at those before it.
//!
//! A tree balanced by size, in which every node knows the lowest measure below it. Where even that
//! is too much, none below will do. Source of the balance: Hirai and Yamamoto, "Balancing
//! weight-balanced trees" (2011), with their parameters 3 and 2.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// What is measured of an entry.
pub(super) trait Measure: Clone {
    /// Lower this to the largest measure that is no more than either.
    fn lower(&mut self, other: &Self);
}

/// No node.
const NONE: u32 = u32::MAX;

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
pub(super) struct Ranking<K, M> {
    nodes: Vec<Node<K, M>>,
    /// Nodes that are not used.
    free: Vec<u32>,
    root: u32,
}

#[derive(Clone, Debug)]
struct Node<K, M> {
    key: K,
    measure: M,
    /// The lowest of its own and of all below it.
    lowest: M,
    left: u32,
    right: u32,
    /// How many entries there are from here down.
    size: u32,
}

impl<K, M> Default for Ranking<K, M> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), root: NONE }
    }
}

impl<K: Ord + Clone, M: Measure> Ranking<K, M> {
    /// Add an entry, or measure it anew.
    pub(super) fn insert(&mut self, key: K, measure: M) {
        self.root = self.insert_below(self.root, key, measure);
    }

    /// Take an entry out, if it is there.
    pub(super) fn remove(&mut self, key: &K) {
        self.root = self.remove_below(self.root, key);
    }

    /// Give an entry another key. It keeps its measure.
    ///
    /// Mostly it keeps its place among the others, too: that costs no more than to find it.
    pub(super) fn rename(&mut self, before: &K, after: K) {
        let (mut at, mut behind, mut ahead) = (self.root, NONE, NONE);
        while let Some(node) = self.nodes.get(index(at)) {
            match before.cmp(&node.key) {
                Ordering::Less => (at, ahead) = (node.left, at),
                Ordering::Greater => (at, behind) = (node.right, at),
                Ordering::Equal => break,
            }
        }
        let Some(node) = self.nodes.get(index(at)) else { return };
        let behind = self.last(node.left).unwrap_or(behind);
        let ahead = self.first_of(node.right).unwrap_or(ahead);
        let comes_after = |one: u32| self.nodes.get(index(one)).is_none_or(|one| one.key < after);
        let comes_before = |one: u32| self.nodes.get(index(one)).is_none_or(|one| after < one.key);
        if comes_after(behind) && comes_before(ahead) {
            self.node_mut(at).key = after;
        } else {
            let measure = node.measure.clone();
            self.remove(before);
            self.insert(after, measure);
        }
    }

    /// The last node from here down.
    fn last(&self, mut at: u32) -> Option<u32> {
        let mut last = None;
        while let Some(node) = self.nodes.get(index(at)) {
            (last, at) = (Some(at), node.right);
        }
        last
    }

    /// The first node from here down.
    fn first_of(&self, mut at: u32) -> Option<u32> {
        let mut first = None;
        while let Some(node) = self.nodes.get(index(at)) {
            (first, at) = (Some(at), node.left);
        }
        first
    }

    /// Measure an entry anew, if it is there.
    pub(super) fn set(&mut self, key: &K, measure: M) {
        self.set_below(self.root, key, measure);
    }

    /// The lowest that all measures are no less than; none if there is no entry.
    pub(super) fn lowest(&self) -> Option<&M> {
        self.nodes.get(index(self.root)).map(|node| &node.lowest)
    }

    /// The first entry whose measure will do. What does must do when it is lower, too.
    pub(super) fn first(&self, mut will_do: impl FnMut(&M) -> bool) -> Option<&K> {
        self.first_below(self.root, &mut will_do)
    }

    fn first_below(&self, at: u32, will_do: &mut impl FnMut(&M) -> bool) -> Option<&K> {
        let node = self.nodes.get(index(at)).filter(|node| will_do(&node.lowest))?;
        if let Some(found) = self.first_below(node.left, will_do) {
            return Some(found);
        }
        if will_do(&node.measure) {
            return Some(&node.key);
        }
        self.first_below(node.right, will_do)
    }

    fn insert_below(&mut self, at: u32, key: K, measure: M) -> u32 {
        let Some(node) = self.nodes.get_mut(index(at)) else { return self.add(key, measure) };
        match key.cmp(&node.key) {
            Ordering::Less => {
                let left = node.left;
                let left = self.insert_below(left, key, measure);
                self.node_mut(at).left = left;
            }
            Ordering::Greater => {
                let right = node.right;
                let right = self.insert_below(right, key, measure);
                self.node_mut(at).right = right;
            }
            Ordering::Equal => node.measure = measure,
        }
        self.balance(at)
    }

    fn remove_below(&mut self, at: u32, key: &K) -> u32 {
        let Some(node) = self.nodes.get(index(at)) else { return NONE };
        let (left, right) = (node.left, node.right);
        match key.cmp(&node.key) {
            Ordering::Less => {
                let left = self.remove_below(left, key);
                self.node_mut(at).left = left;
            }
            Ordering::Greater => {
                let right = self.remove_below(right, key);
                self.node_mut(at).right = right;
            }
            Ordering::Equal => {
                self.free.push(at);
                return self.join(left, right);
            }
        }
        self.balance(at)
    }

    fn set_below(&mut self, at: u32, key: &K, measure: M) {
        let Some(node) = self.nodes.get_mut(index(at)) else { return };
        let (left, right) = (node.left, node.right);
        match key.cmp(&node.key) {
            Ordering::Less => self.set_below(left, key, measure),
            Ordering::Greater => self.set_below(right, key, measure),
            Ordering::Equal => node.measure = measure,
        }
        self.renew(at);
    }

    /// One tree of two of which all of the left come before all of the right.
    fn join(&mut self, left: u32, right: u32) -> u32 {
        if left == NONE || right == NONE {
            return if left == NONE { right } else { left };
        }
        let (top, left, right) = if self.size(left) > self.size(right) {
            let (rest, last) = self.take_last(left);
            (last, rest, right)
        } else {
            let (rest, first) = self.take_first(right);
            (first, left, rest)
        };
        let node = self.node_mut(top);
        (node.left, node.right) = (left, right);
        self.balance(top)
    }

    /// A tree without its first node, and that.
    fn take_first(&mut self, at: u32) -> (u32, u32) {
        let (left, right) = self.sides(at);
        if left == NONE {
            return (right, at);
        }
        let (left, first) = self.take_first(left);
        self.node_mut(at).left = left;
        (self.balance(at), first)
    }

    /// A tree without its last node, and that.
    fn take_last(&mut self, at: u32) -> (u32, u32) {
        let (left, right) = self.sides(at);
        if right == NONE {
            return (left, at);
        }
        let (right, last) = self.take_last(right);
        self.node_mut(at).right = right;
        (self.balance(at), last)
    }

    /// Bring a node up to date whose sides are balanced in themselves, and turn it where one of them
    /// has become too heavy.
    fn balance(&mut self, at: u32) -> u32 {
        let (left, right) = self.sides(at);
        if self.weight(right) > LEANING * self.weight(left) {
            let (inner, outer) = self.sides(right);
            if self.weight(inner) >= TWICE * self.weight(outer) {
                let right = self.turn_right(right);
                self.node_mut(at).right = right;
            }
            return self.turn_left(at);
        }
        if self.weight(left) > LEANING * self.weight(right) {
            let (outer, inner) = self.sides(left);
            if self.weight(inner) >= TWICE * self.weight(outer) {
                let left = self.turn_left(left);
                self.node_mut(at).left = left;
            }
            return self.turn_right(at);
        }
        self.renew(at);
        at
    }

    /// Have its right side come up.
    fn turn_left(&mut self, at: u32) -> u32 {
        let (_, up) = self.sides(at);
        self.node_mut(at).right = self.sides(up).0;
        self.node_mut(up).left = at;
        self.renew(at);
        self.renew(up);
        up
    }

    /// Have its left side come up.
    fn turn_right(&mut self, at: u32) -> u32 {
        let (up, _) = self.sides(at);
        self.node_mut(at).left = self.sides(up).1;
        self.node_mut(up).right = at;
        self.renew(at);
        self.renew(up);
        up
    }

    fn renew(&mut self, at: u32) {
        let (left, right) = self.sides(at);
        let size = 1 + self.size(left) + self.size(right);
        let node = self.node_mut(at);
        let mut lowest = node.measure.clone();
        node.size = size;
        for side in [left, right] {
            if let Some(side) = self.nodes.get(index(side)) {
                lowest.lower(&side.lowest);
            }
        }
        self.node_mut(at).lowest = lowest;
    }

    fn add(&mut self, key: K, measure: M) -> u32 {
        let lowest = measure.clone();
        let node = Node { key, measure, lowest, left: NONE, right: NONE, size: 1 };
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
