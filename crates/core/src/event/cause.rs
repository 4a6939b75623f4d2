//! Why something was stopped or given back.

use crate::id::{AllocationId, QueueId};

/// For whom an allocation is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PreemptionCause {
    /// For an ask of a queue that has less than its guarantee, or its part of what there is.
    Guarantee(AllocationId),
    /// For an ask of a user who has less than their share of the leaf, where this one's user has
    /// more.
    Share(AllocationId),
    /// For an ask of the same leaf that has a higher priority.
    Priority(AllocationId),
    /// For an ask that may run on this node only.
    RequiredNode(AllocationId),
    /// Because this queue uses more than its maximum.
    Quota(QueueId),
}

/// Why something was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Termination {
    /// The RM stopped it, or says that it ended.
    StoppedByRm,
    /// Its node left.
    NodeRemoved,
    /// Its partition is gone.
    PartitionRemoved,
    /// Its gang was not complete in time, or it was too small for its member.
    Timeout,
    /// It was stopped for the sake of others.
    Preempted,
    /// A member of its gang takes its place.
    PlaceholderReplaced,
    /// The lifetime of its application is over.
    LifetimeOver,
}

impl Termination {
    /// Whether the RM says by this that it has done what it was asked to. What is gone by then needs it no more.
    pub const fn is_confirmation(self) -> bool {
        match self {
            Self::Timeout | Self::Preempted | Self::PlaceholderReplaced => true,
            Self::StoppedByRm | Self::NodeRemoved | Self::PartitionRemoved | Self::LifetimeOver => {
                false
            }
        }
    }
}
