//! Requests: what a client, the RM or the clock asks of the core.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::Configuration;
use crate::event::Termination;
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// One request. It carries names; whatever it breaks, it breaks as a whole: either all of
/// its events happen or none.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Take a queue file into force, as a whole or not at all. Partitions, queues and limits
    /// that it does not name any more go, as soon as nothing runs in them.
    Configure(Box<Configuration>),
    /// A node joins.
    AddNode(AddNode),
    /// A node has another size from now on; nothing is evicted.
    ResizeNode {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
        /// The new size.
        capacity: Amounts,
    },
    /// Drain a node, or take it back into use. Repeating it changes nothing.
    SetSchedulable {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
        /// Whether asks may be placed on it.
        schedulable: bool,
    },
    /// A node leaves; what runs on it is released.
    RemoveNode {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
    },
    /// An application is submitted.
    Submit(Submit),
    /// An application asks for room on one node.
    Ask(Ask),
    /// Something is given back: an allocation, a waiting ask, or all of an application.
    Release {
        /// Partition name.
        partition: Name,
        /// Application id.
        application: Name,
        /// Allocation key; none means everything that the application has and asks for.
        key: Option<Name>,
        /// Why.
        termination: Termination,
    },
    /// An application goes, with everything that it has and asks for.
    RemoveApplication {
        /// Partition name.
        partition: Name,
        /// Application id.
        application: Name,
    },
    /// Time has passed: fire the timers that are due.
    Tick,
}

/// A node joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddNode {
    /// Partition name.
    pub partition: Name,
    /// Node id, unique in its partition.
    pub node: Name,
    /// Its size; at least one amount above zero.
    pub capacity: Amounts,
    /// Whether asks may be placed on it at once.
    pub schedulable: bool,
}

/// An application is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submit {
    /// Partition name.
    pub partition: Name,
    /// Application id, unique among those that have not ended.
    pub application: Name,
    /// The queue that was asked for, for placement rules to use; may be empty.
    pub queue: Name,
    /// Who submits; not empty.
    pub user: Name,
    /// The user's groups, as resolved.
    pub groups: Vec<Name>,
    /// Free keys and values, of which placement rules and queue settings read some. Keys are
    /// compared in lower case; of equal keys the first counts.
    pub tags: Vec<(Name, Name)>,
    /// What the members of its gang need together; without an amount above zero it is none.
    pub placeholder_ask: Amounts,
}

/// An application asks for room on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Partition name.
    pub partition: Name,
    /// Application id.
    pub application: Name,
    /// Allocation key, unique in the partition. One that the application has already names that
    /// ask or allocation: it gets the size and, if it has none yet, the node given here.
    pub key: Name,
    /// What is needed; at least one amount above zero.
    pub resources: Amounts,
    /// Where it runs already; none for an ask that is to be placed.
    pub node: Option<Name>,
    /// Higher goes first.
    pub priority: i32,
    /// When it was made, if not now. Orders asks of one application, and an application by
    /// its oldest.
    pub created: Option<Timestamp>,
    /// Whether it is the first of its application, which is taken back last.
    pub originator: bool,
}
