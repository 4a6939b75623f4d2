//! Changes of foreign allocations, which the core does not schedule.

use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;

/// A change of a foreign allocation, which the core does not schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum ForeignEvent {
    /// A foreign allocation was added or resized.
    Set {
        partition: PartitionId,
        key: Name,
        node: NodeId,
        /// Amounts that it uses.
        resources: Amounts,
        /// Whether it could be preempted.
        preemptable: bool,
    },
    /// A foreign allocation was removed.
    Removed { partition: PartitionId, key: Name },
}
