//! What a check compares with what an ask needs.

use crate::id::{LevelId, NodeId, PartitionId, QueueId};

/// The two sides of a check, in addition to what the ask needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Nothing is compared.
    Nothing,
    /// What a queue uses, with its maximum.
    Queue(QueueId),
    /// What a user or group uses, with their limit at this level.
    Limit(PartitionId, LevelId),
    /// What a user uses of a leaf, with the most that a user may have of it.
    Cap(PartitionId, LevelId),
    /// What a user uses of a leaf, with their share of it.
    Share(PartitionId, LevelId),
    /// How many applications run in a queue, with how many may.
    RunningIn(QueueId),
    /// How many applications of a user or group run, with how many may.
    RunningAt(PartitionId, LevelId),
    /// How many applications in a queue were activated, with how many may be.
    ActivatedIn(QueueId),
    /// How many applications of a user were activated, with how many may be.
    ActivatedOf(PartitionId, LevelId),
    /// What the drivers in a leaf use, with what they may.
    DriversIn(QueueId),
    /// What the drivers of a user use in a leaf, with what they may.
    DriversOf(PartitionId, LevelId),
    /// What the head of a line leaves of the maximum of its leaf.
    LeftByHead(QueueId),
    /// What is free on a node.
    Free(NodeId),
    /// What a node has for the scheduler when it is empty.
    Size(NodeId),
    /// The most that any node has free.
    MostFree(PartitionId),
}
