//! Errors of changes of the trackers.

use crate::id::{LevelId, QueueId};

/// Reason why a change of the trackers was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// The path has no queue.
    #[error("the path is empty, but it needs at least the root queue")]
    EmptyPath,
    /// The name of the user or group is empty.
    #[error("the name of the user or group is empty")]
    EmptyName,
    /// A queue is known with another path.
    #[error("queue {queue} has another path in the tracker")]
    OtherPath {
        /// Queue in the path.
        queue: QueueId,
    },
    /// The level was removed. A caller that stored its ID must link again.
    #[error("level {level} no longer exists: link again")]
    LevelGone {
        /// Removed level.
        level: LevelId,
    },
    /// More links were removed than added.
    #[error("no application is linked to level {level}")]
    NotLinked {
        /// Level without links.
        level: LevelId,
    },
    /// More applications stopped than started.
    #[error("no application counts as running at level {level}")]
    NotRunning {
        /// Level without running applications.
        level: LevelId,
    },
}
