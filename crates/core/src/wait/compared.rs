//! Two sides of a check.

use crate::id::{LevelId, NodeId, PartitionId, QueueId};

/// Values that a check compares, in addition to the amounts of the ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Nothing is compared.
    Nothing,
    /// Usage and maximum of a queue.
    Queue(QueueId),
    /// Usage and limit of a user or group at this level.
    Limit(PartitionId, LevelId),
    /// Usage and user cap of a user in a leaf.
    Cap(PartitionId, LevelId),
    /// Usage and fair share of a user in a leaf.
    Share(PartitionId, LevelId),
    /// Number of running applications in a queue, and its limit.
    RunningIn(QueueId),
    /// Number of running applications of a user or group, and its limit.
    RunningAt(PartitionId, LevelId),
    /// Number of active applications in a queue, and its limit.
    ActivatedIn(QueueId),
    /// Number of active applications of a user, and its limit.
    ActivatedOf(PartitionId, LevelId),
    /// Usage of the drivers in a leaf, and its limit.
    DriversIn(QueueId),
    /// Usage of the drivers of a user in a leaf, and its limit.
    DriversOf(PartitionId, LevelId),
    /// Part of the maximum of the leaf that the head of line leaves free.
    LeftByHead(QueueId),
    /// Free amounts of a node.
    Free(NodeId),
    /// Capacity of an empty node, without foreign allocations.
    Size(NodeId),
    /// Largest free amount of any node.
    MostFree(PartitionId),
}
