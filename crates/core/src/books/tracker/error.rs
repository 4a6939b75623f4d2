//! Why a change of the trackers was refused.

use crate::id::{LevelId, QueueId};

/// Why a change of the trackers was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// A path without a queue.
    #[error("the path is empty, but it needs at least the root queue")]
    EmptyPath,
    /// A user or group without a name.
    #[error("the name of the user or group is empty")]
    EmptyName,
    /// A queue that is known under another path.
    #[error("queue {queue} has another path in the tracker")]
    OtherPath {
        /// The queue.
        queue: QueueId,
    },
    /// A level that was cleaned away: a caller that stored its id has to link again.
    #[error("level {level} no longer exists: link again")]
    LevelGone {
        /// The level.
        level: LevelId,
    },
    /// More links let go than were made.
    #[error("no application is linked to level {level}")]
    NotLinked {
        /// The level.
        level: LevelId,
    },
    /// More applications stopped than started.
    #[error("no application counts as running at level {level}")]
    NotRunning {
        /// The level.
        level: LevelId,
    },
}
