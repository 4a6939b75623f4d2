//! What happened to an application.

use alloc::vec::Vec;

use crate::books::{ApplicationState, GangSettings};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::{Millis, Timestamp};

/// What happened to an application.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplicationEvent {
    /// An application was accepted into a queue.
    Added {
        partition: PartitionId,
        /// Path of its leaf queue, lower case.
        queue: Name,
        application: Name,
        /// Who is charged.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
        /// How it waits for its gang, if it has one.
        gang: GangSettings,
    },
    /// An application was refused; it is remembered for a while.
    Rejected {
        partition: PartitionId,
        /// The queue that was asked for.
        queue: Name,
        application: Name,
        /// Who submitted it.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
        /// Which rule, by a short code that does not change.
        code: Name,
        /// Why, in a sentence.
        message: Name,
    },
    /// An application counts for its user and at most one group until [`Self::Unlinked`].
    Linked {
        application: ApplicationId,
        /// The group that is charged, `*` for the common group of all others; none if no limit concerns the user.
        group: Option<Name>,
    },
    /// The limit is gone by which an application was charged to its group. What it has is taken off the group; the next
    /// look at it chooses a group again, which is charged with what it gets from then on.
    GroupUnlinked { application: ApplicationId },
    /// An application holds nothing, and counts in no tracker any more.
    Unlinked { application: ApplicationId },
    /// An application that was just added asks for a lifetime, or was made before a restart.
    LifetimeSet {
        application: ApplicationId,
        /// From when its lifetime counts.
        since: Timestamp,
        /// What it asks for; none if it does not.
        asked: Option<Millis>,
    },
    /// The lifetime of an application is over: it asks for nothing any more, and what it has is given back.
    LifetimeOver { application: ApplicationId },
    /// An application says when it is to be done.
    DeadlineSet {
        application: ApplicationId,
        /// When; none if it does not matter any more.
        deadline: Option<Timestamp>,
        /// How long it takes.
        estimate: Millis,
    },
    /// Another took what the head of a line waits for.
    Overtaken {
        /// The application at the head of the line.
        application: ApplicationId,
        /// The application that started. Journals before format 9 do not have it.
        by: Option<ApplicationId>,
    },
    /// An application changed its state.
    Moved {
        application: ApplicationId,
        state: ApplicationState,
        /// When the timer of the new state fires, if it has one.
        timer: Option<Timestamp>,
    },
    /// An application was activated: its asks are looked at from now on.
    Activated {
        application: ApplicationId,
        /// What its driver counts as until it ends.
        driver: Amounts,
    },
    /// A placeholder was placed for an Accepted application: its queues count it as running until its state changes.
    Allocating { application: ApplicationId },
    /// An application left the books.
    Removed {
        /// Which; it has no ask and no allocation.
        application: ApplicationId,
    },
    /// Too many asks of an application found no node; none is looked at for a while.
    BackedOff {
        application: ApplicationId,
        /// Until when.
        until: Timestamp,
    },
    /// The placeholders of an application have waited long enough for the rest of their gang, or for their members.
    PlaceholdersExpired { application: ApplicationId },
    /// The timer of the state of an application has fired and starts nothing: something else will end the state.
    TimerStopped { application: ApplicationId },
}
