//! Places tasks of several members: all members in one step, or none. Source: tenants TR-15, decision page 35.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, ShapeId};
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::class::ClassId;
use super::head_of_line::HeadCheck;
use super::{Scheduler, Search, place};

impl Scheduler {
    /// Places all members of the first task of a class, or places none and parks the class. Each member is placed on
    /// the best node after the placement of the previous members.
    ///
    /// If the capacity is not enough for all members, costs the nodes with capacity for one member. Otherwise, costs
    /// one placement for each member, on a fork that shares most of its data with the books.
    pub(super) fn place_whole(
        &mut self,
        books: &Books,
        (class, head_check): (ClassId, &HeadCheck),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let row = &self.classes.rows[class];
        let (_, batch) = row.batches.first_key().expect("a class has a batch");
        let batch = &self.classes.batches[*batch];
        let partition = books.queue(row.key.leaf).partition;
        let (application, shape) = (batch.application, row.key.shape);
        // All members wait. Only between the events of the placing step, some of them already have nodes.
        debug_assert!(batch.asks.len() <= row.key.members() as usize, "no more than it has");
        let no_room = Wait::of(Blocker::Nodes(partition));
        if !self.nodes[&partition].has_room_for(books, shape, batch.asks.len()) {
            self.park(books, (class, no_room), now);
            return Search::GoesOn;
        }
        let members: Vec<_> = batch.asks.values().map(|ask| (*ask, shape)).collect();
        let is_placed = self.place_together(books, application, &members, now, events);
        debug_assert!(is_placed, "there is room for all of them");
        events.extend(head_check.overtaken(application));
        Search::Over
    }

    /// Places asks of an application, or none of them. Each ask is placed on the best node after the placement of the
    /// previous asks.
    ///
    /// Returns whether all asks were placed. Asks of different sizes that fit one by one do not always fit together.
    pub(super) fn place_together(
        &mut self,
        books: &Books,
        application: ApplicationId,
        asks: &[(AllocationId, ShapeId)],
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> bool {
        let partition = books.application(application).partition;
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        let (mut then, mut touched, first) = (books.clone(), Vec::new(), events.len());
        for (ask, shape) in asks {
            let Some(node) = nodes.first_fit(&then, *shape) else { break };
            let before = events.len();
            place(&then, application, (*ask, node), events);
            for event in &events[before..] {
                then.apply(now, event);
            }
            nodes.update(&then, node);
            touched.push(node);
        }
        let is_placed = touched.len() == asks.len();
        for node in touched {
            nodes.update(books, node); // Nothing of it has happened yet.
        }
        if !is_placed {
            events.truncate(first);
        }
        is_placed
    }
}
