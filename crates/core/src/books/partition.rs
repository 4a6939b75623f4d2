//! One partition: a cluster with its own queue tree, nodes and trackers.

use crate::config::{NodeSortConfig, PreemptionConfig};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;

use super::tracker::Trackers;

/// The policies of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionSettings {
    /// In which order nodes are tried.
    pub node_sort: NodeSortConfig,
    /// Which kinds of preemption are on.
    pub preemption: PreemptionConfig,
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its name as configured.
    pub name: Name,
    /// Its policies.
    pub settings: PartitionSettings,
    /// The queue `root`; its maximum is the sum of the nodes.
    pub root: QueueId,
    /// Usage and limits of users and groups.
    pub trackers: Trackers,
    /// Queues by path.
    pub queues: OrderedMap<Name, QueueId>,
    /// Nodes by node id.
    pub nodes: OrderedMap<Name, NodeId>,
    /// Applications that have not ended, by application id.
    pub applications: OrderedMap<Name, ApplicationId>,
    /// Asks and allocations by key.
    pub allocations: OrderedMap<Name, AllocationId>,
    /// Asks that wait.
    pub ask_count: u64,
    /// Allocations in force.
    pub allocation_count: u64,
}
