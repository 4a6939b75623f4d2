//! Changes of an application.

use alloc::vec::Vec;

use crate::books::{ApplicationState, GangSettings};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::{Millis, Timestamp};

/// A change of an application.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplicationEvent {
    /// An application was accepted into a queue.
    Added {
        partition: PartitionId,
        /// Path of its leaf queue, lower case.
        queue: Name,
        application: Name,
        /// User that is charged.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
        /// Gang settings of the application, if it has a gang.
        gang: GangSettings,
    },
    /// An application was rejected. The rejection is stored for a while.
    Rejected {
        partition: PartitionId,
        /// Requested queue.
        queue: Name,
        application: Name,
        /// User who submitted.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
        /// Short, stable code of the rule.
        code: Name,
        /// Reason, as a sentence.
        message: Name,
    },
    /// An application began to count for its user and at most one group, until [`Self::Unlinked`].
    Linked {
        application: ApplicationId,
        /// Group that is charged, or `*` for the common limit of all other groups. `None` if no limit applies to the
        /// user.
        group: Option<Name>,
    },
    /// The limit by which an application was charged to its group was removed. The usage of the application is
    /// subtracted from the group. The next check of the application chooses a group again, which is charged for later
    /// allocations.
    GroupUnlinked { application: ApplicationId },
    /// An application without allocations stopped counting in trackers.
    Unlinked { application: ApplicationId },
    /// A lifetime was set for an application that was just added or restored after a restart.
    LifetimeSet {
        application: ApplicationId,
        /// Start of the lifetime.
        since: Timestamp,
        /// Requested lifetime. `None` if the application requested none.
        asked: Option<Millis>,
    },
    /// The lifetime of an application ended. Its asks are withdrawn, and its allocations are released.
    LifetimeOver { application: ApplicationId },
    /// An application set its deadline.
    DeadlineSet {
        application: ApplicationId,
        /// New deadline. `None` if it was removed.
        deadline: Option<Timestamp>,
        /// Estimated run time.
        estimate: Millis,
    },
    /// A later ask overtook the head of line.
    Overtaken {
        /// Application of the head that was overtaken.
        application: ApplicationId,
        /// The application that started. Journals before format 9 do not have it.
        by: Option<ApplicationId>,
    },
    /// The state of an application changed.
    Moved {
        application: ApplicationId,
        state: ApplicationState,
        /// Time at which the timer of the new state fires. `None` if the state has no timer.
        timer: Option<Timestamp>,
    },
    /// An application was activated, so the scheduler checks its asks.
    Activated {
        application: ApplicationId,
        /// Amounts that its driver counts as until the application ends.
        driver: Amounts,
    },
    /// A placeholder of an Accepted application was placed. Its queues count the application as running until its state
    /// changes.
    Allocating { application: ApplicationId },
    /// An application was removed from the books.
    Removed {
        /// Removed application, without asks and allocations.
        application: ApplicationId,
    },
    /// Too many asks of an application found no node, so its asks are not checked for a while.
    BackedOff {
        application: ApplicationId,
        /// End of the back-off.
        until: Timestamp,
    },
    /// The placeholder timeout of an application ended before its gang was complete, or before its members arrived.
    PlaceholdersExpired { application: ApplicationId },
    /// The timer of the state of an application fired without effect. Another event will end the state.
    TimerStopped { application: ApplicationId },
}
