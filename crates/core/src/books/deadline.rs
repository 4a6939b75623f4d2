//! Deadlines of applications, and protection of the head of line. Source: tenants §8.

use crate::config::OvertakingLimits;
use crate::id::QueueId;
use crate::time::{Millis, Timestamp};

use super::{Application, Books};

/// Time in which an application without a deadline should start.
const DEFAULT_SLACK: Millis = Millis::from_secs(3_600);

/// Deadline and estimated run time of an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Deadline {
    /// Deadline. `None` if the application has none.
    pub at: Option<Timestamp>,
    /// Estimated run time.
    pub estimate: Millis,
}

impl Application {
    /// Returns the time by which the application must start: the deadline minus the estimate, or an hour after its
    /// submission without a deadline.
    pub fn starts_by(&self) -> Timestamp {
        match self.deadline.at {
            Some(at) => {
                Timestamp::from_millis(at.as_millis().saturating_sub(self.deadline.estimate.get()))
            }
            None => self.submitted + DEFAULT_SLACK,
        }
    }

    /// Returns whether no other ask can overtake the application as the head of line, because it was overtaken often
    /// enough or waited long enough.
    pub fn holds(&self, values: &OvertakingLimits, now: Timestamp) -> bool {
        self.overtaken >= values.max_overtakes || now.since(self.submitted) >= values.max_head_wait
    }
}

impl Books {
    /// Returns whether a leaf has a head of line. A leaf with user limits picks users by fair share instead.
    pub fn has_line(&self, leaf: QueueId) -> bool {
        let order = self.queues[leaf].settings.values.application_order;
        order.has_head_of_line() && self.users_of(leaf).is_none()
    }
}
