//! Events that only tell of an attempt.

use super::{AllocationEvent, AskEvent, Event};

impl Event {
    /// Whether it only tells that something was tried, or would be done: nothing is placed or held
    /// back otherwise by it.
    pub(crate) const fn is_try(&self) -> bool {
        matches!(
            self,
            Self::Ask(AskEvent::PreemptionTried { .. })
                | Self::Allocation(AllocationEvent::PreemptionObserved { .. })
        )
    }
}
