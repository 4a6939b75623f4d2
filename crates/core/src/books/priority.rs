//! Priorities of applications and queues, updated with their asks.
//!
//! The priority of an application is the highest of its asks. A queue shows its parent the highest priority of its
//! applications or children, plus its offset, or only its offset if it is a fence. Source: queues and limits §4.7.

use crate::config::PriorityPolicy;
use crate::id::QueueId;
use crate::ordered::OrderedMap;

use super::by_priority::ByPriority;
use super::{Books, Queue};

/// Priorities of the asks of one application, each with the number of its asks.
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

/// Priorities that applications or children show to a queue, each with their number.
pub(super) type ShownPriorities = OrderedMap<i32, u32>;

impl Queue {
    /// Returns the highest priority of the waiting applications or of the children. `None` if nothing waits.
    pub fn waiting_priority(&self) -> Option<i32> {
        self.priorities.last().map(|(priority, _)| *priority)
    }

    /// Returns the priority that the queue shows its parent. `None` if nothing waits.
    #[inline]
    pub fn shown_priority(&self) -> Option<i32> {
        let values = &self.settings.values;
        match self.waiting_priority()? {
            // YuniKorn uses the lowest number for "nothing", so it does not change.
            i32::MIN => Some(i32::MIN),
            waiting => Some(match values.priority_policy {
                PriorityPolicy::Fence => values.priority_offset,
                PriorityPolicy::Default => waiting.saturating_add(values.priority_offset),
            }),
        }
    }

    /// Returns the priorities that applications or children show, each with their number.
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
    /// Updates the priorities of ancestors after the priority of an application or child changed. `None` means that no
    /// ask waits there.
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
