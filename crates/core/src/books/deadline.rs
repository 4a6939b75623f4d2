//! When an application is to be done, and how it fares in the line of its leaf. Source: tenants §8.

use crate::config::OvertakingLimits;
use crate::id::QueueId;
use crate::time::{Millis, Timestamp};

use super::{Application, Books};

/// How long an application without a deadline has to start.
const DEFAULT_SLACK: Millis = Millis::from_secs(3_600);

/// When an application is to be done, and how long it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Deadline {
    /// When; none if it does not say.
    pub at: Option<Timestamp>,
    /// How long it takes, as far as it knows.
    pub estimate: Millis,
}

impl Application {
    /// When it has to start: as long before its deadline as it takes or, without one, an hour after its
    /// submission.
    pub fn starts_by(&self) -> Timestamp {
        match self.deadline.at {
            Some(at) => {
                Timestamp::from_millis(at.as_millis().saturating_sub(self.deadline.estimate.get()))
            }
            None => self.submitted + DEFAULT_SLACK,
        }
    }

    /// Whether nobody goes before it any more while it is the head of the line: others have so often, or
    /// it has waited for so long.
    pub fn holds(&self, values: &OvertakingLimits, now: Timestamp) -> bool {
        self.overtaken >= values.max_overtakes || now.since(self.submitted) >= values.max_head_wait
    }
}

impl Books {
    /// Whether applications of a leaf stand in a line. Where users share it, they take turns instead.
    pub fn has_line(&self, leaf: QueueId) -> bool {
        let order = self.queues[leaf].settings.values.application_order;
        order.has_head_of_line() && self.users_of(leaf).is_none()
    }
}
