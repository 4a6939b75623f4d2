//! Tasks of several members: all of them are given nodes in one step, or none. Source: tenants TR-15,
//! decision page 32.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::id::{AllocationId, PartitionId};
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::class::ClassId;
use super::{Scheduler, place};

impl Scheduler {
    /// Place all members of the first task of a class, each where it would go if those before it were there
    /// already; or none, and why.
    ///
    /// Costs the nodes with room for one of them where there is not room for all, and otherwise what as many
    /// placements cost, on books that are shared but for those.
    pub(super) fn place_whole(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Option<Wait> {
        let row = &self.classes.rows[class];
        let (_, bundle) = row.bundles.first().expect("a class has a bundle");
        let bundle = &self.classes.bundles[*bundle];
        let members: Vec<AllocationId> = bundle.asks.values().copied().collect();
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        let (shape, known) = (row.key.shape, events.len());
        debug_assert_eq!(members.len(), row.key.members() as usize, "all of it waits");
        let no_room = Wait { blocker: Blocker::Nodes(partition), shortfall: None };
        if !nodes.has_room_for(books, shape, members.len()) {
            return Some(no_room);
        }
        let (mut then, mut touched) = (books.clone(), Vec::new());
        for member in &members {
            let Some(node) = nodes.first_fit(&then, shape) else { break };
            let before = events.len();
            place(&then, bundle.application, (*member, node), events);
            for event in &events[before..] {
                then.apply(now, event);
            }
            nodes.update(&then, node);
            touched.push(node);
        }
        let all = touched.len() == members.len();
        for node in touched {
            nodes.update(books, node); // Nothing of it has happened yet.
        }
        debug_assert!(all, "there was room for all of them");
        if all {
            return None;
        }
        events.truncate(known);
        Some(no_room)
    }
}
