//! Why a change of the trackers was refused.

use crate::id::{LevelId, QueueId};

/// Why a change of the trackers was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// A path without a queue.
    #[error("the path is empty: it needs the root queue at least")]
    EmptyPath,
    /// A user or group without a name.
    #[error("the name of the user or group is empty")]
    EmptyName,
    /// A queue that is known under another path.
    #[error("queue {queue} is not where the path has it")]
    OtherPath {
        /// The queue.
        queue: QueueId,
    },
    /// A level that was cleaned away: whoever kept its id has to link again.
    #[error("level {level} is not there any more: link again")]
    LevelGone {
        /// The level.
        level: LevelId,
    },
    /// More links let go than were made.
    #[error("no application is tied to level {level}")]
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
