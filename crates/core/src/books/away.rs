//! Disconnected resource managers. Source: no-starvation NS-51.

use crate::id::PartitionId;
use crate::name::Name;
use crate::time::Timestamp;

use super::Books;

/// A disconnected resource manager. Nothing starts in its partition until it reconnects, because no client could carry
/// it out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Away {
    /// Name that the resource manager uses for itself.
    pub manager: Name,
    /// Time of its last message.
    pub since: Timestamp,
}

impl Books {
    /// Returns whether nothing starts in a partition: not all of its nodes have reported, or its resource manager is
    /// disconnected.
    pub fn is_held(&self, partition: PartitionId) -> bool {
        self.is_recovering(partition) || self.partition(partition).away.is_some()
    }
}
