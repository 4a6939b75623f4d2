//! Order of scheduling: asks in an application, applications in a leaf, and children of a queue. Source: scheduling §7.

use core::cmp::Reverse;

use crate::books::{Allocation, Application, Queue};
use crate::config::{ApplicationOrder, PropertyValues};
use crate::resource::{Share, Shares};
use crate::time::Timestamp;
use crate::wait::Precedence;

/// Order of the asks of one application: higher priority first, then older, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AskKey {
    priority: Reverse<i32>,
    created: Timestamp,
    number: i64,
}

impl AskKey {
    pub(super) const fn of(ask: &Allocation) -> Self {
        Self { priority: Reverse(ask.priority), created: ask.created, number: ask.number }
    }

    pub(super) const fn priority(self) -> i32 {
        self.priority.0
    }

    pub(super) const fn created(self) -> Timestamp {
        self.created
    }

    /// Returns the last key of the same priority.
    pub(super) const fn last_of_priority(self) -> Self {
        Self { created: Timestamp::MAX, number: i64::MAX, ..self }
    }
}

/// Order of the applications of one leaf by its policy. Ties are ordered by submission.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ApplicationKey {
    /// Whether it replaces no lost members of its gang. Source: no-starvation NS-33.
    is_whole: bool,
    /// First criterion: an inverted priority or a time.
    major: i64,
    share: Shares,
    /// Criterion after the share.
    minor: i64,
    number: u64,
}

impl ApplicationKey {
    /// Returns the key of an application with pending asks. `priority` is the highest of their priorities, and `aged`
    /// is the number of steps that the application gained by waiting.
    pub(crate) fn of(application: &Application, leaf: &Queue, priority: i32, aged: u32) -> Self {
        let urgent = -i64::from(priority);
        let age = i64::try_from(application.submitted.as_millis()).unwrap_or(i64::MAX);
        let plain = Shares::default;
        let (major, share, minor) =
            match (leaf.settings.values.application_order, leaf.settings.values.priority_first) {
                (ApplicationOrder::Fifo, true) => (urgent, plain(), age),
                (ApplicationOrder::Fifo, false) => (age, plain(), urgent),
                (ApplicationOrder::Fair, true) => (urgent, usage(application, leaf), 0),
                (ApplicationOrder::Fair, false) => (0, usage(application, leaf), urgent),
                (ApplicationOrder::FifoStrict | ApplicationOrder::FifoBackfill, _) => {
                    (age, plain(), 0)
                }
                (ApplicationOrder::Priority, _) => (urgent - i64::from(aged), plain(), age),
                (ApplicationOrder::Urgency, _) => {
                    let starts_by = application.starts_by().as_millis();
                    (i64::try_from(starts_by).unwrap_or(i64::MAX), plain(), age)
                }
            };
        let is_whole = !application.repairs_gang();
        Self { is_whole, major, share, minor, number: application.number }
    }

    /// Returns whether the application replaces no lost members of its gang.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the criterion by which this application precedes `later` in a leaf with these settings.
    pub(crate) fn precedence_over(&self, later: &Self, leaf: &PropertyValues) -> Precedence {
        let (order, first) = (leaf.application_order, leaf.priority_first);
        // Whether `major` and whether `minor` contain the priority. See [`Self::of`].
        let urgent = [
            match order {
                ApplicationOrder::Fifo => first,
                ApplicationOrder::Fair | ApplicationOrder::Priority | ApplicationOrder::Urgency => {
                    true
                }
                ApplicationOrder::FifoStrict | ApplicationOrder::FifoBackfill => false,
            },
            matches!(order, ApplicationOrder::Fifo | ApplicationOrder::Fair) && !first,
        ];
        let by = |urgent| if urgent { Precedence::Priority } else { Precedence::Order };
        if self.is_whole != later.is_whole {
            Precedence::Order
        } else if self.major != later.major {
            by(urgent[0])
        } else if self.share != later.share {
            Precedence::Share
        } else if self.minor != later.minor {
            by(urgent[1])
        } else {
            Precedence::Order
        }
    }
}

/// Returns the usage of an application without its placeholders, as shares of the guarantee of its leaf.
fn usage(application: &Application, leaf: &Queue) -> Shares {
    match &application.gang {
        None => Shares::of(&application.allocated, leaf.guaranteed.as_ref()),
        Some(_) => Shares::of(&application.real(), leaf.guaranteed.as_ref()),
    }
}

/// Order of sibling queues: by priority and fair share, in the order that the parent sets. Then the larger pending
/// amounts are first, then the path. Compared field by field, in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueKey {
    /// Inverted priority, if it precedes the share. Otherwise 0.
    priority_before: i64,
    share: Share,
    /// Inverted priority, if it follows the share. Otherwise 0.
    priority_after: i64,
    /// Sum over all types. A queue whose pending amounts exceed those of another in every type has a larger sum. The
    /// sum also orders queues that do not compare.
    pending: Reverse<i128>,
    rank: u64,
}

impl QueueKey {
    pub(crate) fn of(
        queue: &Queue,
        share: Share,
        priority: i32,
        priority_first: bool,
        rank: u64,
    ) -> Self {
        let inverted = -i64::from(priority);
        let (priority_before, priority_after) =
            if priority_first { (inverted, 0) } else { (0, inverted) };
        let pending = Reverse(queue.pending.total());
        Self { priority_before, share, priority_after, pending, rank }
    }

    /// Returns the fair share of the queue.
    pub(crate) const fn share(&self) -> Share {
        self.share
    }

    /// Returns the criterion by which this queue precedes `later`.
    pub(crate) fn precedence_over(&self, later: &Self) -> Precedence {
        if self.priority_before != later.priority_before {
            Precedence::Priority
        } else if self.share != later.share {
            Precedence::Share
        } else if self.priority_after != later.priority_after {
            Precedence::Priority
        } else {
            Precedence::Order
        }
    }
}
