//! Planned events in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headroom_core::id::AllocationId;

/// An event at a known time. Events at the same time happen in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    /// A node joins: position in the setup's nodes.
    Join(usize),
    /// A fault ends: position in the list of faults.
    Over(usize),
    /// A task finishes: position of its record in the allocations, and its id.
    End(usize, AllocationId),
    /// The RM has executed a request: position in its list.
    Confirm(usize),
    /// A node is lost: position in the setup's nodes.
    Leave(usize),
    /// A fault begins: position in the list of faults.
    Fault(usize),
    /// A job is submitted: position in the workload.
    Submit(usize),
    /// A job whose gang was not complete in time is submitted again: position in the workload.
    SubmitAgain(usize),
}

/// Events by time, then by kind, and then by position.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    entries: BinaryHeap<Reverse<(u64, Entry)>>,
}

impl Calendar {
    /// Adds an event.
    pub(super) fn add(&mut self, at_ms: u64, entry: Entry) {
        self.entries.push(Reverse((at_ms, entry)));
    }

    /// Returns the number of future events.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the time of the next event.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.entries.peek().map(|Reverse((at_ms, _))| *at_ms)
    }

    /// Removes and returns the next event if its time is `at_ms`. Otherwise returns `None`.
    pub(super) fn take(&mut self, at_ms: u64) -> Option<Entry> {
        if self.next_at() != Some(at_ms) {
            return None;
        }
        self.entries.pop().map(|Reverse((_, entry))| entry)
    }
}
