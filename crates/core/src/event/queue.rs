//! Changes of a queue.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::books::{LimitSettings, QueueSettings, QueueState};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;

/// A change of a queue.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueEvent {
    /// A queue was created under a parent.
    Added {
        partition: PartitionId,
        /// Path of its parent, lower case.
        parent: Name,
        /// Last part of the path, lower case.
        name: Name,
        /// Whether it is a leaf, which holds applications.
        leaf: bool,
        /// Whether the queue file defines it. Otherwise, a placement rule created it.
        managed: bool,
        settings: Box<QueueSettings>,
    },
    /// The settings of a queue changed.
    Changed {
        partition: PartitionId,
        queue: Name,
        /// Whether it is a leaf, which holds applications.
        leaf: bool,
        /// Whether the queue file defines it.
        managed: bool,
        /// New settings.
        settings: Box<QueueSettings>,
    },
    /// The state of a queue changed, which determines whether it accepts applications.
    Moved { partition: PartitionId, queue: Name, state: QueueState },
    /// A queue without child queues and applications was removed.
    Removed { queue: QueueId },
    /// The limits of users and groups of a queue changed. The new list is complete, and groups are matched in its
    /// order.
    LimitsChanged {
        partition: PartitionId,
        /// Path of the queue, lower case.
        queue: Name,
        /// Limits, at most one for each user and group.
        limits: Vec<LimitSettings>,
    },
    /// The quota preemption timer of a queue stopped: the queue is within its maximum, or preemption began.
    QuotaClockStopped { queue: QueueId },
}
