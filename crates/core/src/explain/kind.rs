//! Of which kind a check is, which says what could help.

use crate::wait::Blocker;

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whether the queue is open.
    State,
    /// How many applications there may be.
    Number,
    /// How much may be used.
    Amount,
    /// Whether others go first.
    Policy,
    /// Whether the RM has answered.
    Rm,
    /// Whether there is a node.
    Node,
}

/// Of which kind a check is.
pub const fn kind(blocker: Blocker) -> Kind {
    match blocker {
        Blocker::QueueState(_) => Kind::State,
        Blocker::QueueApplications(_)
        | Blocker::LimitApplications(..)
        | Blocker::ParallelApplications(_)
        | Blocker::ParallelOfUser(..) => Kind::Number,
        Blocker::QueueMax(_)
        | Blocker::Limit(..)
        | Blocker::UserCap(..)
        | Blocker::DriverQueue(_)
        | Blocker::DriverUser(..) => Kind::Amount,
        Blocker::UserShare(..)
        | Blocker::BehindHead(..)
        | Blocker::BackOff(_)
        | Blocker::Order(..) => Kind::Policy,
        Blocker::AwaitingRm(_) | Blocker::RmBusy(_) | Blocker::RmAway(_) => Kind::Rm,
        Blocker::Nodes(_)
        | Blocker::NoNodes(_)
        | Blocker::NodesReserved(_)
        | Blocker::NodeBlocked(_)
        | Blocker::NoSuchLabel(_)
        | Blocker::KeptNode(_)
        | Blocker::Preempting(_)
        | Blocker::RequiredNode(_)
        | Blocker::RequiredNodeSize(_)
        | Blocker::NodeAbsent(_)
        | Blocker::Placeholders(..)
        | Blocker::NodeConstraint(_) => Kind::Node,
    }
}
