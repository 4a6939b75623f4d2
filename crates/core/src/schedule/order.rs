//! In which order things are offered room: asks in an application, applications in a leaf,
//! queues below a parent. Scheduling §7.

use core::cmp::Reverse;

use crate::books::{Allocation, Application, Queue};
use crate::config::{ApplicationOrder, PropertyValues};
use crate::resource::{Share, Shares};
use crate::time::Timestamp;
use crate::wait::Precedence;

/// Asks of one application: high priority first, then old first, then by number.
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

    /// Behind every ask of the same priority.
    pub(super) const fn last_of_priority(self) -> Self {
        Self { created: Timestamp::MAX, number: i64::MAX, ..self }
    }
}

/// Applications of one leaf, by the leaf's policy; ties go to the earlier submission.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ApplicationKey {
    /// What comes first: a priority turned over, or a time.
    major: i64,
    share: Shares,
    /// What comes after the share.
    minor: i64,
    number: u64,
}

impl ApplicationKey {
    /// The key of an application with pending asks, `priority` being the highest of them; by its waiting
    /// it counts as more urgent by `aged`.
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
        Self { major, share, minor, number: application.number }
    }

    /// By what this one comes before a later one of a leaf with these settings.
    pub(crate) fn precedence_over(&self, later: &Self, leaf: &PropertyValues) -> Precedence {
        let (order, first) = (leaf.application_order, leaf.priority_first);
        // What the two hold: see above.
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
        if self.major != later.major {
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

/// What an application uses without its placeholders, as shares of its leaf's guarantee.
fn usage(application: &Application, leaf: &Queue) -> Shares {
    match &application.gang {
        None => Shares::of(&application.allocated, leaf.guaranteed.as_ref()),
        Some(_) => Shares::of(&application.real(), leaf.guaranteed.as_ref()),
    }
}

/// Sibling queues: by priority and fair share, as the parent says which first; then the one
/// that asks for more; then by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueKey {
    /// The priority turned over, if it comes first.
    first: i64,
    share: Share,
    /// The priority turned over, if it comes after the share.
    second: i64,
    /// The sum over types: larger wherever one queue's asks exceed the other's, and a total
    /// order where they do not compare.
    pending: Reverse<i128>,
    rank: u64,
}

impl QueueKey {
    pub(crate) fn of(queue: &Queue, share: Share, priority: i32, first: bool, rank: u64) -> Self {
        let urgent = -i64::from(priority);
        let (first, second) = if first { (urgent, 0) } else { (0, urgent) };
        Self { first, share, second, pending: Reverse(queue.pending.total()), rank }
    }

    /// By what this one comes before a later one.
    pub(crate) fn precedence_over(&self, later: &Self) -> Precedence {
        if self.first != later.first {
            Precedence::Priority
        } else if self.share != later.share {
            Precedence::Share
        } else if self.second != later.second {
            Precedence::Priority
        } else {
            Precedence::Order
        }
    }
}
