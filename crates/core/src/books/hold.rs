//! Holds of queue capacity for asks that waited too long. Source: no-starvation NS-20, NS-21, decision page 51.
//!
//! A hold covers the queues from the leaf of its ask to the highest queue that does not allow the ask. Capacity that is
//! released there stays for the ask until it starts. Other asks use only the rest. No queue holds capacity for two
//! asks. A growing hold therefore waits only for holds that begin higher, and no two holds wait for each other.

use alloc::vec::Vec;

use crate::id::{AllocationId, QueueId};
use crate::resource::{Quantity, Resources, Shortfall};
use crate::time::{Millis, Timestamp};

use super::Books;

/// Hold of queue capacity for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Hold {
    /// Highest queue of the hold. The lowest is the leaf of the ask.
    pub top: QueueId,
    /// Start of the hold.
    pub since: Timestamp,
}

impl Hold {
    /// Largest duration of the first hold of an ask as a multiple of `starvation.after`. Each further hold of the ask
    /// can last twice as long. Source: no-starvation NS-21, decision page 51.
    const FIRST: u64 = 4;
}

impl Books {
    /// Returns the ask for which this queue holds capacity.
    pub fn held_for(&self, queue: QueueId) -> Option<AllocationId> {
        self.holds.get(&queue).copied()
    }

    /// Returns the time at which a hold of an ask ends at the latest: after 4 times `starvation.after`, and twice as late
    /// after each hold that ended before the ask started.
    ///
    /// Allocations can run longer than any fixed multiple. With doubled times, a hold of every ask outlasts them.
    pub fn hold_ends_at(&self, ask: AllocationId, hold: Hold) -> Timestamp {
        let row = self.allocation(ask);
        let partition = self.application(row.application).partition;
        let after = self.partition(partition).settings.starvation_after;
        let times = Hold::FIRST.saturating_mul(2_u64.saturating_pow(row.holds_failed()));
        hold.since + Millis::new(after.get().saturating_mul(times))
    }

    /// Returns the time from which queues can hold capacity for an ask: after `starvation.after`, or at once if it
    /// replaces a lost member of a gang.
    pub(crate) fn hold_due_at(&self, ask: AllocationId) -> Timestamp {
        let row = self.allocation(ask);
        let application = self.application(row.application);
        let after = self.partition(application.partition).settings.starvation_after;
        let wait = if application.repairs_gang() { Millis::ZERO } else { after };
        row.waits_for_hold_since() + wait
    }

    /// Returns all queues that hold capacity, each with the ask.
    pub fn holds(&self) -> impl Iterator<Item = (QueueId, AllocationId)> {
        self.holds.iter().map(|(queue, ask)| (*queue, *ask))
    }

    /// Returns whether any queue holds capacity.
    #[inline]
    pub(crate) fn has_holds(&self) -> bool {
        !self.holds.is_empty()
    }

    /// Returns the queues from one to its ancestor `top`, both included.
    pub(crate) fn up_to(&self, queue: QueueId, top: QueueId) -> impl Iterator<Item = QueueId> {
        let mut is_over = false;
        self.up(queue).map(|(queue, _)| queue).take_while(move |queue| {
            let goes_on = !is_over;
            is_over |= *queue == top;
            goes_on
        })
    }

    /// Returns the queues of the hold of an ask with this highest queue.
    pub(crate) fn holding(&self, ask: AllocationId, top: QueueId) -> impl Iterator<Item = QueueId> {
        self.up_to(self.application(self.allocation(ask).application).queue, top)
    }

    /// Returns the first type in which a request would use capacity that a queue holds for an ask, because there is not
    /// enough for both.
    pub(crate) fn shortfall_beside(
        &self,
        queue: QueueId,
        held: AllocationId,
        request: &Resources,
    ) -> Option<Shortfall> {
        let left = self.queue(queue).left.as_ref()?;
        let held = self.total_request(held);
        request.iter().find_map(|(resource, needed)| {
            let first = held.get_or_zero(resource);
            if needed <= Quantity::ZERO || first <= Quantity::ZERO {
                return None;
            }
            let available = left.get(resource)?.minus(first);
            (needed > available).then_some(Shortfall { resource, needed, available })
        })
    }

    /// Returns whether a request is within the guarantee of a queue from the leaf up to `queue`, which holds capacity for
    /// `held`. A queue on the path of the held ask does not count, because both asks have its guarantee.
    pub(crate) fn is_guaranteed_beside(
        &self,
        (leaf, queue): (QueueId, QueueId),
        held: AllocationId,
        request: &Resources,
    ) -> bool {
        let below = self.up(leaf).take_while(|(id, _)| *id != queue);
        let mut own = below.filter(|(id, _)| self.held_for(*id) != Some(held));
        own.any(|(id, _)| self.is_within_guarantee(id, held, request))
    }

    /// Returns whether a queue does not exceed its guarantee with a request, in the types that `held` also needs.
    pub(crate) fn is_within_guarantee(
        &self,
        queue: QueueId,
        held: AllocationId,
        request: &Resources,
    ) -> bool {
        let row = self.queue(queue);
        let Some(guaranteed) = &row.guaranteed else { return false };
        let held = self.total_request(held);
        request.iter().all(|(resource, needed)| {
            let is_shared = needed > Quantity::ZERO && held.get_or_zero(resource) > Quantity::ZERO;
            let free = |guaranteed: Quantity| {
                guaranteed.minus(row.allocated.get_or_zero(resource)) >= needed
            };
            !is_shared || guaranteed.get(resource).is_some_and(free)
        })
    }

    pub(super) fn hold(&mut self, now: Timestamp, ask: AllocationId, top: QueueId) {
        self.drop_hold(ask);
        for queue in self.holding(ask, top).collect::<Vec<_>>() {
            self.holds.insert(queue, ask);
        }
        self.allocations[ask].special_mut().hold = Some(Hold { top, since: now });
    }

    /// Ends the hold of an ask, if it has one.
    pub(super) fn drop_hold(&mut self, ask: AllocationId) {
        let row = &mut self.allocations[ask];
        let Some(hold) = row.special.as_mut().and_then(|one| one.hold.take()) else { return };
        row.settle();
        for queue in self.holding(ask, hold.top).collect::<Vec<_>>() {
            self.holds.remove(&queue);
        }
    }

    /// Ends the hold of an ask that did not start in time. Its wait for the next hold begins now.
    pub(super) fn end_hold(&mut self, now: Timestamp, ask: AllocationId) {
        self.drop_hold(ask);
        let special = self.allocations[ask].special_mut();
        special.hold_ended = Some(now);
        special.holds_failed = special.holds_failed.saturating_add(1);
    }
}
