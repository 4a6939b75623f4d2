//! Groups of events that listeners can treat alike.

use super::{AllocationEvent, AskEvent, Event};

impl Event {
    /// Returns whether the event starts or ends a hold, which holds capacity of queues for an ask.
    pub(crate) const fn is_of_hold(&self) -> bool {
        matches!(self, Self::Ask(AskEvent::Held { .. } | AskEvent::HoldEnded { .. }))
    }

    /// Returns whether the event only records an attempt or an observation, which neither places nor blocks anything.
    pub(crate) const fn is_try(&self) -> bool {
        matches!(
            self,
            Self::Ask(AskEvent::PreemptionTried { .. })
                | Self::Allocation(AllocationEvent::PreemptionObserved { .. })
        )
    }
}
