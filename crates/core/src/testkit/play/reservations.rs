//! Time that passes, and nodes that are reserved.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::id::{AllocationId, NodeId};
use crate::schedule::Step;
use crate::time::{Millis, Timestamp};

use super::{Player, naive_next};

/// How often it is woken at most: an application that backs off is woken until it is helped.
const WAKES: u32 = 20;

impl Player<'_> {
    /// Let time pass. Before the point at which the scheduler says that it may have something to
    /// do, it has nothing to do; then it is let.
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

/// Whether a node is in use, and not reserved for another ask; or it is the one that the ask has to
/// go to.
pub(super) fn may_place(books: &Books, ask: AllocationId, node: NodeId) -> bool {
    let (row, on) = (books.allocation(ask), books.node(node));
    let is_mine = row.reservation().is_some_and(|one| one.node == node);
    let required = row.required_node() == Some(&on.name);
    is_mine || ((on.schedulable || required) && !on.is_reserved())
}
