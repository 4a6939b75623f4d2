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
    /// A fault is over: position in the list of faults.
    Over(usize),
    /// A task has run its time: its place in the records of allocations, and its id.
    End(usize, AllocationId),
    /// The RM has done what it was asked for: position in its list.
    Confirm(usize),
    /// A node is lost: position in the setup's nodes.
    Leave(usize),
    /// Something goes wrong: position in the list of faults.
    Fault(usize),
    /// A job is submitted: position in the workload.
    Submit(usize),
    /// A job is submitted again, whose gang was not complete in time: position in the workload.
    SubmitAgain(usize),
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

    /// How many things are ahead.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
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
