//! What happened to a queue.

use alloc::vec::Vec;

use crate::books::{LimitSettings, QueueSettings, QueueState};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;

/// What happened to a queue.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueEvent {
    /// A queue exists below another.
    Added {
        partition: PartitionId,
        /// Path of its parent, lower case.
        parent: Name,
        /// Its own name, lower case.
        name: Name,
        /// Whether it holds applications.
        leaf: bool,
        /// Whether it comes from the queue file, and not from a placement rule.
        managed: bool,
        settings: QueueSettings,
    },
    /// A queue has other settings.
    Changed {
        partition: PartitionId,
        queue: Name,
        /// Whether it holds applications.
        leaf: bool,
        /// Whether it comes from the queue file.
        managed: bool,
        /// Its settings from now on.
        settings: QueueSettings,
    },
    /// A queue takes in applications from now on, or does not.
    Moved { partition: PartitionId, queue: Name, state: QueueState },
    /// A queue is gone; it had no queue below and no application.
    Removed { queue: QueueId },
    /// These are all limits of users and groups in a queue and below; groups are looked for in this order.
    LimitsChanged {
        partition: PartitionId,
        /// Path of the queue, lower case.
        queue: Name,
        /// Who is limited to what, each at most once.
        limits: Vec<LimitSettings>,
    },
    /// The clock of quota preemption of a queue is stopped: it is within its maximum, or room was asked back.
    QuotaClockStopped { queue: QueueId },
}
