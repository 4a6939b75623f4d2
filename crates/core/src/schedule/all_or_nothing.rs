//! Tasks of several members: all of them are given nodes in one step, or none. Source: tenants TR-15,
//! decision page 35.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::id::AllocationId;
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::class::ClassId;
use super::head_of_line::HeadCheck;
use super::{Scheduler, Search, place};

impl Scheduler {
    /// Place all members of the first task of a class, each where it would go if those before it were there
    /// already; or none, and park it.
    ///
    /// Costs the nodes with room for one of them where there is not room for all, and otherwise what as many
    /// placements cost, on books that are shared but for those.
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
        let members: Vec<AllocationId> = batch.asks.values().copied().collect();
        let partition = books.queue(row.key.leaf).partition;
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        let shape = row.key.shape;
        // All of it waits; between the events of the step that places it, the rest of it.
        debug_assert!(members.len() <= row.key.members() as usize, "no more than it has");
        let no_room = Wait::of(Blocker::Nodes(partition));
        if !nodes.has_room_for(books, shape, members.len()) {
            self.park(books, (class, no_room), now);
            return Search::GoesOn;
        }
        let (mut then, mut touched) = (books.clone(), Vec::new());
        for member in &members {
            let found = nodes.first_fit(&then, shape);
            let node = found.expect("those before leave room for all of them");
            let before = events.len();
            place(&then, batch.application, (*member, node), events);
            for event in &events[before..] {
                then.apply(now, event);
            }
            nodes.update(&then, node);
            touched.push(node);
        }
        debug_assert_eq!(touched.len(), members.len(), "there is room for all of them");
        for node in touched {
            nodes.update(books, node); // Nothing of it has happened yet.
        }
        events.extend(head_check.overtaken());
        Search::Over
    }
}
