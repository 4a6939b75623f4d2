//! Changes of a partition as a whole.

use alloc::boxed::Box;

use crate::books::{Away, PartitionSettings, Questions, QueueSettings};
use crate::id::PartitionId;
use crate::name::Name;
use crate::time::Timestamp;

/// A change of a partition as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionEvent {
    /// A partition was created with the queue `root`.
    Added {
        /// Name, unique in lower case.
        partition: Name,
        /// Policies of the partition.
        settings: Box<PartitionSettings>,
        /// Settings of its root queue.
        root: Box<QueueSettings>,
    },
    /// The policies of a partition changed.
    Changed {
        partition: PartitionId,
        /// New policies.
        settings: Box<PartitionSettings>,
    },
    /// An empty partition was removed.
    Removed { partition: PartitionId },
    /// The RM set the questions that it answers.
    QuestionsSet {
        partition: PartitionId,
        /// Questions that the RM answers. `None` if it answers none.
        questions: Option<Questions>,
    },
    /// Recovery began or ended. During recovery, nothing starts until every current node has reported.
    RecoverySet {
        partition: PartitionId,
        /// Time at which recovery ends at the latest. `None` if recovery ended.
        until: Option<Timestamp>,
    },
    /// The resource manager disconnected or reconnected.
    ManagerAway {
        partition: PartitionId,
        /// Disconnected resource manager. `None` after it reconnected.
        away: Option<Away>,
    },
}
