//! One check that an ask goes through, passed or failed.

use crate::resource::Shortfall;

use super::{Blocker, Wait};

/// One check of an ask, and what came of it. The first that fails is the reason for waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// What is checked.
    pub blocker: Blocker,
    /// Whether it holds the ask back.
    pub failed: bool,
    /// What there is too little of, if that is an amount.
    pub shortfall: Option<Shortfall>,
}

impl CheckResult {
    /// A check that failed, or did not.
    #[inline]
    pub(crate) const fn of(blocker: Blocker, failed: bool, shortfall: Option<Shortfall>) -> Self {
        Self { blocker, failed, shortfall }
    }

    /// A check that failed.
    pub(crate) const fn failed(wait: Wait) -> Self {
        Self::of(wait.blocker, true, wait.shortfall)
    }

    /// A check that holds back nobody.
    pub(crate) const fn passed(blocker: Blocker) -> Self {
        Self::of(blocker, false, None)
    }

    /// Why the ask waits, if this holds it back.
    #[inline]
    pub(crate) const fn wait(self) -> Option<Wait> {
        if self.failed {
            Some(Wait { blocker: self.blocker, shortfall: self.shortfall })
        } else {
            None
        }
    }
}
