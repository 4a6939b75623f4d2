//! A partition of which not all nodes are known to be there again. Source: tenants §2.6, decision page 36.

use alloc::vec::Vec;

use crate::event::Event;
use crate::id::{NodeId, PartitionId};
use crate::time::Timestamp;

use super::{Books, Timer};

/// Nothing starts until all nodes have reported, or for so long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Recovery {
    /// When it is over in any case.
    pub until: Timestamp,
    /// The nodes that have not reported, in the order of their ids.
    missing: Vec<NodeId>,
}

impl Recovery {
    /// The nodes that have not reported.
    pub fn missing(&self) -> &[NodeId] {
        &self.missing
    }

    /// Whether a node has not reported.
    pub fn lacks(&self, node: NodeId) -> bool {
        self.missing.binary_search(&node).is_ok()
    }

    /// Whether this node is the last that has not reported.
    pub fn lacks_only(&self, node: NodeId) -> bool {
        self.missing == [node]
    }
}

impl Books {
    /// The events of recoveries.
    pub(super) fn apply_recovery(&mut self, event: &Event) {
        match event {
            Event::RecoverySet { partition, until: None } => self.end_recovery(*partition),
            Event::RecoverySet { partition, until: Some(until) } => {
                self.end_recovery(*partition);
                let row = self.partition_mut(*partition);
                let mut missing: Vec<NodeId> = row.nodes.iter().map(|(_, id)| *id).collect();
                missing.sort_unstable();
                row.recovery = Some(Recovery { until: *until, missing });
                self.timers.insert((*until, Timer::Recovery(*partition)), ());
            }
            Event::NodeReported { node } => {
                let partition = self.nodes[*node].partition;
                self.no_longer_missing(partition, *node);
            }
            _ => unreachable!("every other event is applied elsewhere"),
        }
    }

    /// A node has reported, or is gone.
    pub(super) fn no_longer_missing(&mut self, partition: PartitionId, node: NodeId) {
        if let Some(recovery) = &mut self.partition_mut(partition).recovery
            && let Ok(place) = recovery.missing.binary_search(&node)
        {
            recovery.missing.remove(place);
        }
    }

    pub(super) fn end_recovery(&mut self, partition: PartitionId) {
        if let Some(recovery) = self.partition_mut(partition).recovery.take() {
            self.timers.remove(&(recovery.until, Timer::Recovery(partition)));
        }
    }

    /// Whether nothing starts in a partition, since not all of its nodes have reported.
    pub fn is_recovering(&self, partition: PartitionId) -> bool {
        self.partition(partition).recovery.is_some()
    }
}
