//! Changes of a node.

use crate::books::NodeAttributes;
use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;

/// A change of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    /// A node was registered.
    Added {
        partition: PartitionId,
        node: Name,
        capacity: Amounts,
        /// Whether the scheduler can place asks on it.
        schedulable: bool,
        /// Attributes of the node.
        attributes: NodeAttributes,
    },
    /// The capacity of a node changed.
    Resized { node: NodeId, capacity: Amounts },
    /// A node was drained, or became schedulable again.
    Scheduling {
        node: NodeId,
        /// Whether the scheduler can place asks on it.
        schedulable: bool,
    },
    /// A node without allocations was removed.
    Removed { node: NodeId },
    /// A registered node reported during recovery.
    Reported { node: NodeId },
    /// The verdicts of the RM on a node became invalid.
    VerdictsVoid { node: NodeId },
}
