//! Causes of preemption and of releases.

use crate::id::{AllocationId, QueueId};

/// Reason why an allocation is preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PreemptionCause {
    /// An ask of a queue that uses less than its guarantee, or less than its share of the parent.
    Guarantee(AllocationId),
    /// An ask of a user who uses less than their fair share of the leaf, while the user of the victim uses more.
    Share(AllocationId),
    /// An ask of the same leaf with a higher priority.
    Priority(AllocationId),
    /// An ask that requires this node.
    RequiredNode(AllocationId),
    /// This queue uses more than its maximum.
    Quota(QueueId),
}

/// Reason why an ask or allocation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Termination {
    /// The RM stopped it, or reported its end.
    StoppedByRm,
    /// Its node was removed.
    NodeRemoved,
    /// Its partition was removed.
    PartitionRemoved,
    /// Its gang was not complete in time, or the placeholder was too small for its member.
    Timeout,
    /// The allocation was preempted.
    Preempted,
    /// A member of its gang replaced it.
    PlaceholderReplaced,
    /// The lifetime of its application ended.
    LifetimeOver,
}

impl Termination {
    /// Returns whether the RM uses this cause to confirm a release that the scheduler requested. An allocation that is
    /// already gone needs no confirmation.
    pub const fn is_confirmation(self) -> bool {
        match self {
            Self::Timeout | Self::Preempted | Self::PlaceholderReplaced => true,
            Self::StoppedByRm | Self::NodeRemoved | Self::PartitionRemoved | Self::LifetimeOver => {
                false
            }
        }
    }
}
