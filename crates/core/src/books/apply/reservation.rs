//! Applies events of reservations. Source: scheduling §9.

use crate::books::{Books, Reservation};
use crate::id::{AllocationId, NodeId};
use crate::time::Timestamp;

impl Books {
    pub(super) fn reserve(&mut self, now: Timestamp, ask: AllocationId, node: NodeId) {
        let row = &mut self.allocations[ask];
        row.special_mut().reservation = Some(Reservation { node, since: now, nearer: now });
        let application = row.application;
        self.nodes[node].reservations.push(ask);
        let row = &mut self.applications[application];
        row.reservation_count += 1;
        let partition = row.partition;
        self.partition_mut(partition).reservation_count += 1;
        self.note_allocating(application);
    }

    /// Ends the reservation of an ask that does not start on its node.
    pub(super) fn give_up_reservation(&mut self, now: Timestamp, ask: AllocationId) {
        self.drop_reservation(ask);
        let application = self.allocations[ask].application;
        let row = &mut self.applications[application];
        if self.partitions[&row.partition].settings.reservation_share.is_some() {
            row.reservation_ended = Some(now);
        }
    }

    /// Records a release on a node for the asks that have it reserved.
    pub(super) fn bring_nearer(&mut self, now: Timestamp, node: NodeId) {
        for ask in &self.nodes[node].reservations {
            let special = self.allocations[*ask].special_mut();
            let reservation = special.reservation.as_mut();
            reservation.expect("the ask has the node reserved").nearer = now;
        }
    }

    /// Ends the reservation of an ask, if it has one.
    pub(super) fn drop_reservation(&mut self, ask: AllocationId) {
        let row = &mut self.allocations[ask];
        let Some(reservation) = row.special.as_mut().and_then(|one| one.reservation.take()) else {
            return;
        };
        row.settle();
        let application = row.application;
        self.nodes[reservation.node].reservations.retain(|one| *one != ask);
        let row = &mut self.applications[application];
        row.reservation_count -= 1;
        let partition = row.partition;
        self.partition_mut(partition).reservation_count -= 1;
    }
}
