//! Limits of reservations. Source: no-starvation NS-12, decision page 53.
//!
//! A reserved node is idle for everyone else. A partition with `reservations.share` therefore limits how many nodes are
//! reserved, how many one application has reserved, and how long a reservation lasts if nothing is released on its node.
//! Nodes that an ask requires, and nodes on which allocations stop for an ask, are always reserved.

use crate::id::{AllocationId, PartitionId};
use crate::time::Timestamp;
use crate::userlimit::Decimal;

use super::{Books, Reservation};

impl Books {
    /// Returns the largest number of reservations in a partition: a fraction of its nodes, and at least one. `None` if
    /// the partition does not limit them.
    pub(crate) fn reservations_max(&self, partition: PartitionId) -> Option<u64> {
        let partition = self.partition(partition);
        let share = partition.settings.reservation_share?;
        let nodes = i64::try_from(partition.nodes.len()).unwrap_or(i64::MAX);
        let share = share.millionths().saturating_mul(nodes) / Decimal::ONE.millionths();
        Some(u64::try_from(share).unwrap_or_default().max(1))
    }

    /// Returns whether a partition allows one more reservation of a node that no ask requires.
    #[inline]
    pub(crate) fn allows_reservation(&self, partition: PartitionId) -> bool {
        let count = self.partition(partition).reservation_count;
        self.reservations_max(partition).is_none_or(|most| count < most)
    }

    /// Returns whether the limits allow one more reservation for an ask that no node is required for.
    pub(crate) fn may_reserve(&self, ask: AllocationId) -> bool {
        let application = self.application(self.allocation(ask).application);
        let limited = self.reservations_max(application.partition).is_some();
        let has_one = limited && application.reservation_count > 0;
        !has_one && self.allows_reservation(application.partition)
    }

    /// Returns the time from which the reservation of an ask is in vain, and another ask comes first. `None` if it
    /// lasts: its partition has no limit, it requires the node, or allocations stop there for it.
    pub(crate) fn reservation_in_vain_at(&self, ask: AllocationId) -> Option<Timestamp> {
        let row = self.allocation(ask);
        let partition = self.application(row.application).partition;
        self.partition(partition).settings.reservation_share?;
        let lasts = row.required_node().is_some() || row.preemption_triggered;
        row.reservation().filter(|_| !lasts).map(Reservation::is_vain_at)
    }

    /// Returns whether an ask without a reserved node waits in the partition of this ask.
    pub(crate) fn others_wait_beside(&self, ask: AllocationId) -> bool {
        let application = self.application(self.allocation(ask).application);
        let partition = self.partition(application.partition);
        partition.ask_count > partition.reservation_count
    }
}
