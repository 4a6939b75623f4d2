//! What happened to a node.

use crate::books::NodeAttributes;
use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;

/// What happened to a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    /// A node joined.
    Added {
        partition: PartitionId,
        node: Name,
        capacity: Amounts,
        /// Whether asks may be placed on it.
        schedulable: bool,
        /// What else is known of it.
        attributes: NodeAttributes,
    },
    /// A node has another size.
    Resized { node: NodeId, capacity: Amounts },
    /// A node was drained, or taken back into use.
    Scheduling {
        node: NodeId,
        /// Whether asks may be placed on it.
        schedulable: bool,
    },
    /// A node left; nothing is allocated on it any more.
    Removed { node: NodeId },
    /// A node has reported that is there already.
    Reported { node: NodeId },
    /// The verdicts of the RM on a node no longer hold.
    VerdictsVoid { node: NodeId },
}
