//! What something that the core does not schedule takes of a node.

use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;

/// What something that the core does not schedule takes of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum ForeignEvent {
    /// Something that the core does not schedule takes this much of a node from now on.
    Set {
        partition: PartitionId,
        key: Name,
        node: NodeId,
        /// How much.
        resources: Amounts,
        /// Whether it may be taken back.
        preemptable: bool,
    },
    /// Something that the core does not schedule is gone.
    Removed { partition: PartitionId, key: Name },
}
