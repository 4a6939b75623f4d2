//! One ask, and the allocation that it becomes.

use crate::id::{AllocationId, ApplicationId, NodeId, ShapeId};
use crate::name::Name;
use crate::time::Timestamp;

/// An ask while `node` is none, an allocation afterwards: one object, as in the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Allocation key, unique in the partition.
    pub key: Name,
    /// Whose.
    pub application: ApplicationId,
    /// How much.
    pub shape: ShapeId,
    /// Higher goes first.
    pub priority: i32,
    /// When the ask was made.
    pub created: Timestamp,
    /// Counts asks, across partitions; breaks ties. Below zero for one that goes in front of
    /// its equals.
    pub number: i64,
    /// Where it was placed.
    pub node: Option<NodeId>,
    /// When it was placed.
    pub placed: Timestamp,
    /// Whether it is the first of its application, which is taken back last.
    pub originator: bool,
    pub(super) next_in_application: Option<AllocationId>,
    pub(super) previous_in_application: Option<AllocationId>,
    pub(super) next_on_node: Option<AllocationId>,
    pub(super) previous_on_node: Option<AllocationId>,
}

impl Allocation {
    /// Whether it still waits for room.
    pub const fn is_pending(&self) -> bool {
        self.node.is_none()
    }
}
