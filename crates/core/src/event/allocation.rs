//! What happened to an allocation, or to the placeholder and the member of a swap.

use crate::event::{PreemptionCause, Termination};
use crate::id::{AllocationId, NodeId};
use crate::resource::Amounts;

/// What happened to an allocation, or to the placeholder and the member of a swap.
#[derive(Clone, Debug, PartialEq)]
pub enum AllocationEvent {
    /// An ask wants another amount, or an allocation has another amount, whatever fits.
    Resized {
        allocation: AllocationId,
        /// What it wants or has from now on.
        resources: Amounts,
    },
    /// An allocation gave its room back.
    Released { allocation: AllocationId, termination: Termination },
    /// A member takes the place of a placeholder once the RM has stopped that. Until then queues, users and groups count
    /// the placeholder; so does the node if it is the same, and another counts the member.
    SwapStarted {
        /// The member; it waits no more.
        ask: AllocationId,
        /// Whose place it takes.
        placeholder: AllocationId,
        /// Where it will run.
        node: NodeId,
    },
    /// The RM has stopped the placeholder: the member is an allocation, and counts instead.
    SwapConfirmed {
        /// The placeholder, which is gone.
        placeholder: AllocationId,
    },
    /// A member does not take the place of its placeholder after all, and waits again.
    SwapDropped {
        /// The member.
        ask: AllocationId,
    },
    /// The RM is asked to stop a placeholder that nothing takes the place of. It counts until the RM has.
    ReleaseAsked { allocation: AllocationId, termination: Termination },
    /// The RM is asked to stop an allocation for the sake of others. It counts until the RM has.
    Preempted {
        victim: AllocationId,
        /// For whom.
        cause: PreemptionCause,
    },
    /// An allocation would be asked to stop, where this is only observed. Changes nothing.
    PreemptionObserved {
        victim: AllocationId,
        /// For whom.
        cause: PreemptionCause,
    },
}
