//! Partitions in recovery. Source: tenants §2.6, decision page 36.

use alloc::vec::Vec;

use crate::id::{NodeId, PartitionId};
use crate::time::Timestamp;

use super::{Books, Timer};

/// State of recovery: nothing starts until all nodes have reported or the time limit ends. Nodes can report later.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Recovery {
    /// End of the time limit. `None` after it.
    pub until: Option<Timestamp>,
    /// Nodes that have not reported, in the order of their IDs.
    missing: Vec<NodeId>,
}

impl Recovery {
    /// Returns the nodes that have not reported.
    pub fn missing(&self) -> &[NodeId] {
        &self.missing
    }

    /// Returns whether a node has not reported.
    pub fn lacks(&self, node: NodeId) -> bool {
        self.missing.binary_search(&node).is_ok()
    }

    /// Returns whether nothing starts, and this node is the last that has not reported.
    pub fn waits_for(&self, node: NodeId) -> bool {
        self.until.is_some() && self.missing == [node]
    }
}

impl Books {
    /// Starts recovery, which lasts until all current nodes have reported, or until this time.
    pub(super) fn start_recovery(&mut self, partition: PartitionId, until: Timestamp) {
        self.end_recovery(partition);
        let row = self.partition_mut(partition);
        let mut missing: Vec<NodeId> = row.nodes.iter().map(|(_, id)| *id).collect();
        missing.sort_unstable();
        row.recovery = Some(Recovery { until: Some(until), missing });
        self.timers.insert((until, Timer::Recovery(partition)), ());
    }

    /// Records that a node has reported or was removed.
    pub(super) fn no_longer_missing(&mut self, partition: PartitionId, node: NodeId) {
        let known = &mut self.partition_mut(partition).recovery;
        let Some(recovery) = known else { return };
        if let Ok(place) = recovery.missing.binary_search(&node) {
            recovery.missing.remove(place);
        }
        if recovery.missing.is_empty() && recovery.until.is_none() {
            *known = None;
        }
    }

    pub(super) fn end_recovery(&mut self, partition: PartitionId) {
        let known = &mut self.partition_mut(partition).recovery;
        let Some(recovery) = known else { return };
        let until = recovery.until.take();
        if recovery.missing.is_empty() {
            *known = None;
        }
        if let Some(until) = until {
            self.timers.remove(&(until, Timer::Recovery(partition)));
        }
    }

    /// Returns whether nothing starts in a partition because not all of its nodes have reported.
    pub fn is_recovering(&self, partition: PartitionId) -> bool {
        self.partition(partition).recovery.as_ref().is_some_and(|one| one.until.is_some())
    }
}
