//! An application that was refused.

use alloc::sync::Arc;

use crate::name::Name;
use crate::time::Timestamp;

/// What is remembered of an application that no queue took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Rejected {
    /// Application id.
    pub application: Name,
    /// The queue that was asked for.
    pub queue: Name,
    /// Who submitted it.
    pub user: Name,
    /// The groups of the user at submission.
    pub groups: Arc<[Name]>,
    /// When.
    pub at: Timestamp,
    /// Which rule, by a short code that does not change.
    pub code: Name,
    /// Why, in a sentence.
    pub message: Name,
}

impl Rejected {
    /// How many are remembered in a partition; of more, the oldest are forgotten.
    pub const REMEMBERED: usize = 10_000;
}
