//! How urgent the asks of applications and queues are, updated as they come and go.
//!
//! An application is as urgent as the most urgent of its asks. A queue shows its parent the
//! most urgent application or queue below, shifted by its offset, or its offset alone if it
//! is a fence. Queues and limits §4.7.

use crate::config::PriorityPolicy;
use crate::id::QueueId;
use crate::ordered::OrderedMap;

use super::by_priority::ByPriority;
use super::{Books, Queue};

/// The priorities of the asks of one application: each with its number of asks.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct AskPriorities(ByPriority<u32>);

impl AskPriorities {
    pub(super) fn highest(&self) -> Option<i32> {
        self.0.highest().map(|(priority, _)| priority)
    }

    #[inline]
    pub(super) fn add(&mut self, priority: i32) {
        let count = self.0.get(priority).unwrap_or(0);
        self.0.set(priority, count + 1);
    }

    #[inline]
    pub(super) fn remove(&mut self, priority: i32) {
        match self.0.get(priority) {
            Some(count) if count > 1 => self.0.set(priority, count - 1),
            _ => self.0.remove(priority),
        }
    }
}

/// The priorities below a queue: how many applications, or queues, show each.
pub(super) type ShownPriorities = OrderedMap<i32, u32>;

impl Queue {
    /// The highest priority that waits in this queue or that a queue below shows; none if
    /// nothing waits.
    pub fn waiting_priority(&self) -> Option<i32> {
        self.priorities.last().map(|(priority, _)| *priority)
    }

    /// The priority that the queue shows its parent; none if nothing waits.
    #[inline]
    pub fn shown_priority(&self) -> Option<i32> {
        let values = &self.settings.values;
        match self.waiting_priority()? {
            // The lowest of all means "nothing" to the reference, and stays what it is.
            i32::MIN => Some(i32::MIN),
            waiting => Some(match values.priority_policy {
                PriorityPolicy::Fence => values.priority_offset,
                PriorityPolicy::Default => waiting.saturating_add(values.priority_offset),
            }),
        }
    }

    /// The priorities that applications, or queues below, show here, each with their number.
    pub(crate) fn priorities(&self) -> impl Iterator<Item = (i32, u32)> {
        self.priorities.iter().map(|(priority, count)| (*priority, *count))
    }

    fn recount(&mut self, before: Option<i32>, after: Option<i32>) {
        let shown = |one: i32, all: &ShownPriorities| all.get(&one).copied().unwrap_or(0);
        if let Some(before) = before {
            match shown(before, &self.priorities) {
                0 | 1 => self.priorities.remove(&before),
                count => self.priorities.insert(before, count - 1),
            };
        }
        if let Some(after) = after {
            let count = shown(after, &self.priorities) + 1;
            self.priorities.insert(after, count);
        }
    }
}

impl Books {
    /// Follow an application of a leaf, or a queue below a parent, that shows another priority
    /// than before; none is one that waits for nothing.
    #[inline]
    pub(super) fn reprioritise(
        &mut self,
        queue: Option<QueueId>,
        mut before: Option<i32>,
        mut after: Option<i32>,
    ) {
        let mut next = queue;
        while let Some(queue) = next.filter(|_| before != after) {
            let row = &mut self.queues[queue];
            let shown = row.shown_priority();
            row.recount(before, after);
            (before, after) = (shown, row.shown_priority());
            next = row.parent;
        }
    }
}
