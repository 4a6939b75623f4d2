//! A partition whose resource manager is away. Source: no-starvation NS-51.

use crate::id::PartitionId;
use crate::name::Name;
use crate::time::Timestamp;

use super::Books;

/// A resource manager that is away. Nothing starts in its partition before it is back, as nobody would carry it out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Away {
    /// What the resource manager calls itself.
    pub manager: Name,
    /// When it was heard of last.
    pub since: Timestamp,
}

impl Books {
    /// Returns whether nothing starts in a partition: not all of its nodes have reported, or its resource manager is
    /// away.
    pub fn is_held(&self, partition: PartitionId) -> bool {
        self.is_recovering(partition) || self.partition(partition).away.is_some()
    }
}
