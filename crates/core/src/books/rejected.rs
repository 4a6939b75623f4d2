//! Rejected applications.

use alloc::sync::Arc;

use crate::name::Name;
use crate::time::Timestamp;

/// A rejected application.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Rejected {
    /// Application id.
    pub application: Name,
    /// Requested queue.
    pub queue: Name,
    /// User who submitted.
    pub user: Name,
    /// The groups of the user at submission.
    pub groups: Arc<[Name]>,
    /// Time of the rejection.
    pub at: Timestamp,
    /// Short, stable code of the rule.
    pub code: Name,
    /// Reason, as a sentence.
    pub message: Name,
}

impl Rejected {
    /// Largest number of stored rejections in a partition. Beyond it, the oldest are dropped.
    pub const REMEMBERED: usize = 10_000;
}
