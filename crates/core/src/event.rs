//! Facts: what happened. The books change by these alone, and replaying them rebuilds the books.
//!
//! An event that makes a row carries names; one that changes a row carries its id. Ids depend
//! only on the history, so a replay gives every row the same one.

use alloc::vec::Vec;

use crate::books::{ApplicationState, LimitSubject, PartitionSettings, QueueSettings};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A partition exists, with a queue `root`.
    PartitionAdded {
        /// Name, unique in lower case.
        partition: Name,
        /// Its policies.
        settings: PartitionSettings,
        /// Settings of its root queue.
        root: QueueSettings,
    },
    /// A queue exists below another.
    QueueAdded {
        /// In which partition.
        partition: PartitionId,
        /// Path of its parent, lower case.
        parent: Name,
        /// Its own name, lower case.
        name: Name,
        /// Whether it holds applications.
        leaf: bool,
        /// Its settings.
        settings: QueueSettings,
    },
    /// A user or group is limited in a queue and below. Groups are looked for in the order
    /// in which their limits were set.
    LimitSet {
        /// In which partition.
        partition: PartitionId,
        /// Path of the queue, lower case.
        queue: Name,
        /// Who is limited.
        subject: LimitSubject,
        /// Types named are limited to the amount, zero forbids; empty = unlimited.
        max: Amounts,
        /// Applications that may run at once; 0 = unlimited.
        max_applications: u64,
    },
    /// A node joined.
    NodeAdded {
        /// In which partition.
        partition: PartitionId,
        /// Node id.
        node: Name,
        /// Its size.
        capacity: Amounts,
        /// Whether asks may be placed on it.
        schedulable: bool,
    },
    /// A node has another size.
    NodeResized {
        /// Which.
        node: NodeId,
        /// Its size.
        capacity: Amounts,
    },
    /// A node was drained, or taken back into use.
    NodeScheduling {
        /// Which.
        node: NodeId,
        /// Whether asks may be placed on it.
        schedulable: bool,
    },
    /// A node left; nothing is allocated on it any more.
    NodeRemoved {
        /// Which.
        node: NodeId,
    },
    /// An application was accepted into a queue.
    ApplicationAdded {
        /// Its leaf queue.
        queue: QueueId,
        /// Application id.
        application: Name,
        /// Who is charged.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
    },
    /// An application was tied to the trackers that count for it: those of its user and of
    /// at most one group. It stays so until [`Event::ApplicationUnlinked`].
    ApplicationLinked {
        /// Which.
        application: ApplicationId,
        /// The group that is charged, `*` for the common group of all others; none if no
        /// group limit on its path concerns the user.
        group: Option<Name>,
    },
    /// An application holds nothing, asks for nothing, and counts in no tracker any more.
    ApplicationUnlinked {
        /// Which.
        application: ApplicationId,
    },
    /// An application changed its state.
    ApplicationMoved {
        /// Which.
        application: ApplicationId,
        /// To which state.
        state: ApplicationState,
        /// When the timer of the new state fires, if it has one.
        timer: Option<Timestamp>,
    },
    /// An application left the books.
    ApplicationRemoved {
        /// Which; it has no ask and no allocation.
        application: ApplicationId,
    },
    /// An application asks for room on one node.
    AskAdded {
        /// Which.
        application: ApplicationId,
        /// Allocation key.
        key: Name,
        /// What is needed.
        resources: Amounts,
        /// Higher goes first.
        priority: i32,
        /// When it was made.
        created: Timestamp,
    },
    /// A waiting ask was withdrawn.
    AskRemoved {
        /// Which.
        ask: AllocationId,
        /// Why.
        termination: Termination,
    },
    /// An ask was given room on a node, and is an allocation now.
    Placed {
        /// Which.
        ask: AllocationId,
        /// Where.
        node: NodeId,
    },
    /// An allocation gave its room back.
    Released {
        /// Which.
        allocation: AllocationId,
        /// Why.
        termination: Termination,
    },
}

/// Why something was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Termination {
    /// The RM stopped it, or says that it ended.
    StoppedByRm,
    /// Its node left.
    NodeRemoved,
}
