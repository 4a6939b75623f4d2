//! Passing of time, and reserved nodes.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::id::{AllocationId, NodeId};
use crate::schedule::Step;
use crate::time::{Millis, Timestamp};

use super::{Player, naive_next};

/// Maximum number of wakes. An application that backs off is woken until it has no pending asks.
const WAKES: u32 = 20;

impl Player<'_> {
    /// Advances the time. Before each time at which the scheduler wants to wake, checks that it has no step. Then runs
    /// it at that time.
    pub(super) fn sleep(&mut self, until: Timestamp) {
        let mut events = Vec::new();
        for _ in 0..WAKES {
            self.settle();
            let books = &self.world.books;
            let step = self.world.scheduler.next(books, self.world.now, &mut events);
            if events.iter().any(Event::is_of_hold) {
                // The scheduler was restarted, and chooses another ask for a hold.
                for event in core::mem::take(&mut events) {
                    self.apply(&event, true);
                }
                continue;
            }
            let Step::Idle { wake_at } = step else { unreachable!("the world has settled") };
            let timer = books.next_deadline().filter(|at| *at > self.world.now);
            let wake = wake_at.into_iter().chain(timer).min().unwrap_or(until).min(until);
            assert!(wake > self.world.now || wake == until, "time goes on");
            let before = wake.before(Millis::new(1)).max(self.world.now);
            let early = naive_next(books, before);
            assert!(early.is_empty(), "woken too late, at {wake:?} for {early:?}");
            self.world.now = wake;
            if wake == until {
                return;
            }
            self.count("woken by time");
        }
        self.world.now = until;
    }
}

/// Whether a node can be used for an ask: it is schedulable or required, and not reserved. A node that is reserved for
/// this ask can always be used.
pub(super) fn may_place(books: &Books, ask: AllocationId, node: NodeId) -> bool {
    let (row, on) = (books.allocation(ask), books.node(node));
    let is_mine = row.reservation().is_some_and(|one| one.node == node);
    let required = row.required_node() == Some(&on.name);
    is_mine || ((on.schedulable || required) && !on.is_reserved())
}
