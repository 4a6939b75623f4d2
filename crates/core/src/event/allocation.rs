//! Changes of an allocation, and steps of a placeholder replacement.

use crate::event::{PreemptionCause, Termination};
use crate::id::{AllocationId, NodeId};
use crate::resource::Amounts;

/// A change of an allocation, or a step of a placeholder replacement.
#[derive(Clone, Debug, PartialEq)]
pub enum AllocationEvent {
    /// An ask or an allocation was resized, whether the new size fits or not.
    Resized {
        allocation: AllocationId,
        /// New size.
        resources: Amounts,
    },
    /// An allocation was released.
    Released { allocation: AllocationId, termination: Termination },
    /// A placeholder replacement began. The member becomes an allocation when the RM has stopped the placeholder.
    ///
    /// Until then, queues, users, and groups count the placeholder. If the member runs on the same node, that node also
    /// counts the placeholder. Otherwise, the node of the member counts the member.
    SwapStarted {
        /// Member, which no longer waits.
        ask: AllocationId,
        /// Placeholder to replace.
        placeholder: AllocationId,
        /// Node of the member.
        node: NodeId,
    },
    /// The RM stopped the placeholder. The member became an allocation and counts instead of the placeholder.
    SwapConfirmed {
        /// Placeholder, which is removed.
        placeholder: AllocationId,
    },
    /// A placeholder replacement was canceled, and the member waits again.
    SwapDropped {
        /// Member of the replacement.
        ask: AllocationId,
    },
    /// The RM was asked to stop a placeholder that no member replaces. It counts until the RM has stopped it.
    ReleaseAsked { allocation: AllocationId, termination: Termination },
    /// The RM was asked to stop an allocation because of preemption. It counts until the RM has stopped it.
    Preempted {
        victim: AllocationId,
        /// Cause of the preemption.
        cause: PreemptionCause,
    },
    /// Preemption in observation mode selected an allocation. Changes nothing.
    PreemptionObserved {
        victim: AllocationId,
        /// Cause of the preemption.
        cause: PreemptionCause,
    },
}
