//! What happened to a partition as a whole.

use crate::books::{Away, PartitionSettings, Questions, QueueSettings};
use crate::id::PartitionId;
use crate::name::Name;
use crate::time::Timestamp;

/// What happened to a partition as a whole.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a partition is added once; others have few events")]
pub enum PartitionEvent {
    /// A partition exists, with a queue `root`.
    Added {
        /// Name, unique in lower case.
        partition: Name,
        /// Its policies.
        settings: PartitionSettings,
        /// Settings of its root queue.
        root: QueueSettings,
    },
    /// A partition has other policies.
    Changed {
        partition: PartitionId,
        /// Its policies from now on.
        settings: PartitionSettings,
    },
    /// A partition is gone; nothing is left in it.
    Removed { partition: PartitionId },
    /// The RM of a partition answers these questions from now on, and no others.
    QuestionsSet {
        partition: PartitionId,
        /// What it answers; none if nothing.
        questions: Option<Questions>,
    },
    /// Nothing starts in a partition before all nodes that it has now have reported; or it may again.
    RecoverySet {
        partition: PartitionId,
        /// When that is over in any case; none if it is over.
        until: Option<Timestamp>,
    },
    /// The resource manager of a partition is away, or is back.
    ManagerAway {
        partition: PartitionId,
        /// Who is away; none if it is back.
        away: Option<Away>,
    },
}
