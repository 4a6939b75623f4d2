//! Events that only tell of an attempt.

use super::{AllocationEvent, AskEvent, Event};

impl Event {
    /// Whether it only tells that something was tried, or would be done: nothing is placed or held
    /// Whether it says that queues hold room for an ask, or no more.
    pub(crate) const fn is_of_hold(&self) -> bool {
        matches!(self, Self::Ask(AskEvent::Held { .. } | AskEvent::HoldEnded { .. }))
    }

    /// back otherwise by it.
    pub(crate) const fn is_try(&self) -> bool {
        matches!(
            self,
            Self::Ask(AskEvent::PreemptionTried { .. })
                | Self::Allocation(AllocationEvent::PreemptionObserved { .. })
        )
    }
}
