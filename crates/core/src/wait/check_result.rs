//! Result of one check of an ask.

use crate::resource::Shortfall;

use super::{Blocker, Wait};

/// One check of an ask and its result. The first failed check is the wait reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Bound that is checked.
    pub blocker: Blocker,
    /// Whether the check failed.
    pub failed: bool,
    /// Resource type that is short, with both sides. `None` if the check compares no amount.
    pub shortfall: Option<Shortfall>,
}

impl CheckResult {
    /// Returns the result of a check.
    #[inline]
    pub(crate) const fn of(blocker: Blocker, failed: bool, shortfall: Option<Shortfall>) -> Self {
        Self { blocker, failed, shortfall }
    }

    /// Returns a failed check with the blocker and shortfall of `wait`.
    pub(crate) const fn failed(wait: Wait) -> Self {
        Self::of(wait.blocker, true, wait.shortfall)
    }

    /// Returns a passed check.
    pub(crate) const fn passed(blocker: Blocker) -> Self {
        Self::of(blocker, false, None)
    }

    /// Returns the wait if the check failed.
    #[inline]
    pub(crate) const fn wait(self) -> Option<Wait> {
        if self.failed {
            Some(Wait { blocker: self.blocker, shortfall: self.shortfall })
        } else {
            None
        }
    }
}
