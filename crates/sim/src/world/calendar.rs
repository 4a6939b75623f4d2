//! What is known to happen, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headroom_core::id::AllocationId;

/// Something that happens at a known time; variants in the order in which those of the same
/// moment happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    /// A node joins: position in the setup's nodes.
    Join(usize),
    /// A task has run its time: its place in the records of allocations, and its id.
    End(usize, AllocationId),
    /// A node is lost: position in the setup's nodes.
    Leave(usize),
    /// A job is submitted: position in the workload.
    Submit(usize),
}

/// Entries by time, then by kind, then by position.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    entries: BinaryHeap<Reverse<(u64, Entry)>>,
}

impl Calendar {
    /// Note something.
    pub(super) fn add(&mut self, at_ms: u64, entry: Entry) {
        self.entries.push(Reverse((at_ms, entry)));
    }

    /// When the next thing happens.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.entries.peek().map(|Reverse((at_ms, _))| *at_ms)
    }

    /// The next thing, if it happens at this time.
    pub(super) fn take(&mut self, at_ms: u64) -> Option<Entry> {
        if self.next_at() != Some(at_ms) {
            return None;
        }
        self.entries.pop().map(|Reverse((_, entry))| entry)
    }
}
