//! The chain of checks that an ask goes through. Decision page 32.
//!
//! [`Check::ORDER`] is the only place that defines their order. Placing, the display of a wait, and
//! predictions ask for the first check that fails and read [`Checked::first`]. An explanation reads
//! [`Checked::all`]. What the books do not say depends on who asks, and is a [`Position`].
//!
//! Cost: the depth of the queue for each check, and the nodes for the last one.

use alloc::vec::Vec;

use crate::books::Books;
use crate::bounds;
use crate::id::{AllocationId, ApplicationId, PartitionId};
use crate::rules::activation;
use crate::wait::{Blocker, CheckResult, Wait, standstill};

use super::class::{ChargeState, ClassKey};
use super::placement_mode::PlacementMode;
use super::{check_class, fair_share, holds, possibility, questions, waits};

/// One check of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Its partition is not at a standstill.
    Standstill,
    /// Its queues accept allocations.
    QueueStates,
    /// Some order of releases can start it.
    Possible,
    /// Its application was activated, or may be.
    Activation,
    /// It is not behind the head of the line of its leaf.
    HeadOfLine,
    /// The RM has answered what it was asked about it.
    Question,
    /// Its application may run: by the numbers of its queues, then of its user and group.
    Numbers,
    /// Its application does not back off.
    BackOff,
    /// Its gang may take room: all of it has arrived, and no other gang gathers.
    Gang,
    /// Its user and group may use so much, then what one user may have of the leaf.
    Limits,
    /// Its queues may use so much.
    Maxima,
    /// Its queues hold no room for another ask that it would take.
    Hold,
    /// Its user's share of the leaf allows it.
    Share,
    /// The RM can be asked, and its nodes have reported.
    Manager,
    /// There is a node.
    Node,
}

impl Check {
    /// All checks, in the order in which an ask goes through them. The first that fails is why it waits.
    pub(super) const ORDER: [Self; Self::Node as usize + 1] = [
        Self::Standstill,
        Self::QueueStates,
        Self::Possible,
        Self::Activation,
        Self::HeadOfLine,
        Self::Question,
        Self::Numbers,
        Self::BackOff,
        Self::Gang,
        Self::Limits,
        Self::Maxima,
        Self::Hold,
        Self::Share,
        Self::Manager,
        Self::Node,
    ];
}

/// What the checks have to know of an ask that the books do not tell.
pub(super) trait Position {
    /// Whether the ask is about to be placed. Then its queues are open, it is the turn of its user, and placing
    /// itself looks for a node.
    const IS_PLACING: bool;

    /// Whether it is behind the head of the line of its leaf; none where it stands in no line.
    fn in_line(&self) -> Option<CheckResult>;

    /// Whether its gang may take room; none for other asks, and where that is known to hold nothing back.
    fn gang(&self) -> Option<CheckResult>;

    /// Whether its application backs off; none where that is not known to hold it back.
    fn back_off(&self) -> Option<CheckResult>;

    /// Whether the RM is too busy to be asked, or nodes have yet to report.
    fn manager(&self) -> Option<CheckResult>;

    /// Whether there is a node; `is_held` says whether an earlier check fails. None where nobody knows yet.
    fn node(&self, is_held: bool) -> Option<CheckResult>;
}

/// An ask whose checks are made.
pub(super) struct Checked<'books, P> {
    pub(super) books: &'books Books,
    /// Its application, where that was not activated yet.
    pub(super) activating: Option<ApplicationId>,
    pub(super) key: ClassKey,
    pub(super) position: P,
}

impl<P: Position> Checked<'_, P> {
    /// Returns the first check that fails, and how; none if the ask may start.
    #[inline]
    pub(super) fn first(&self) -> Option<(Check, Wait)> {
        Check::ORDER.into_iter().find_map(|check| Some((check, self.failing(check)?)))
    }

    /// Returns all checks that are made of the ask, in order.
    pub(super) fn all(&self) -> Vec<CheckResult> {
        let mut all = Vec::new();
        for check in Check::ORDER {
            let is_held = all.iter().any(|one: &CheckResult| one.failed);
            self.results(check, is_held, &mut all);
        }
        all
    }

    /// Returns how the ask fails one check.
    #[inline]
    fn failing(&self, check: Check) -> Option<Wait> {
        let (books, key) = (self.books, self.key);
        match check {
            Check::Standstill
            | Check::QueueStates
            | Check::Possible
            | Check::BackOff
            | Check::Share
            | Check::Manager
            | Check::Node
                if P::IS_PLACING =>
            {
                None
            }
            Check::Standstill => standstill(books, self.partition()).map(Wait::of),
            Check::QueueStates => waits::closed_queue_wait(books, key.leaf),
            Check::Possible => possibility::impossible(books, key),
            Check::Activation => {
                let wait = activation::wait_for_activation(books, self.activating?);
                // One that may be activated is placed only after it was.
                wait.or(P::IS_PLACING.then_some(Wait::of(Blocker::DriverQueue(key.leaf))))
            }
            Check::HeadOfLine => self.position.in_line()?.wait(),
            Check::Question => question(books, key).map(Wait::of),
            Check::Numbers | Check::Limits | Check::Maxima | Check::Hold => {
                charged(books, key, check)
            }
            Check::BackOff => self.position.back_off()?.wait(),
            Check::Gang => self.position.gang()?.wait(),
            Check::Share => fair_share::wait_for_turn(books, key),
            Check::Manager => self.position.manager()?.wait(),
            Check::Node => self.position.node(false)?.wait(),
        }
    }

    /// Appends what one check says, a result for each bound that it compares.
    fn results(&self, check: Check, is_held: bool, all: &mut Vec<CheckResult>) {
        let (books, key) = (self.books, self.key);
        let failed = |blocker| CheckResult::failed(Wait::of(blocker));
        match check {
            Check::Standstill => all.extend(standstill(books, self.partition()).map(failed)),
            Check::QueueStates => all.extend(waits::states(books, key.leaf)),
            // While nothing starts at all, a single ask is not the reason. What is held asks no RM.
            Check::Possible | Check::Manager if is_held => {}
            Check::Possible => {
                all.extend(possibility::impossible(books, key).map(CheckResult::failed));
            }
            Check::Activation => {
                let activating = self.activating.into_iter();
                all.extend(activating.flat_map(|one| activation::checks(books, one)));
            }
            Check::HeadOfLine => all.extend(self.position.in_line()),
            Check::Question => {
                let asks = books.asks_about_nodes(self.partition());
                let awaits = question(books, key).is_some();
                let looked = |ask| CheckResult::of(Blocker::AwaitingRm(ask), awaits, None);
                all.extend(asked_about(key).filter(|_| asks).map(looked));
            }
            // A member that replaces a placeholder is charged already.
            Check::Numbers | Check::Limits | Check::Maxima | Check::Hold
                if key.mode.replaces_placeholder() => {}
            Check::Numbers => numbers(books, key, all),
            Check::BackOff => all.extend(self.position.back_off()),
            Check::Gang => all.extend(self.position.gang()),
            Check::Limits => limits(books, key, all),
            Check::Maxima => {
                all.extend(bounds::amounts_of_queues(books, key.leaf, &key.needs(books)));
            }
            Check::Hold => {
                all.extend(holds::behind_hold(books, key).map(CheckResult::failed));
            }
            Check::Share => all.extend(fair_share::share_of(books, key)),
            Check::Manager => all.extend(self.position.manager()),
            // Without nodes there is nothing to say of them.
            Check::Node if all.iter().any(|one| matches!(one.blocker, Blocker::NoNodes(_))) => {}
            Check::Node => all.extend(self.position.node(is_held)),
        }
    }

    fn partition(&self) -> PartitionId {
        self.books.queue(self.key.leaf).partition
    }
}

/// Returns the first check that a class fails of those about what it is charged for: numbers and amounts.
#[inline]
pub(super) fn wait_for_charge(books: &Books, key: ClassKey) -> Option<Wait> {
    Check::ORDER.into_iter().find_map(|check| charged(books, key, check))
}

/// Returns how a class fails a check about what it is charged for; none for other checks.
///
/// A member that replaces a placeholder is charged already.
#[inline]
fn charged(books: &Books, key: ClassKey, check: Check) -> Option<Wait> {
    if key.mode.replaces_placeholder() {
        return None;
    }
    match check {
        Check::Numbers => check_class::may_not_start(books, key),
        Check::Limits => {
            let ChargeState::Linked { link, .. } = key.charge else { return None };
            check_class::limits_and_cap(books, key.leaf, link, &key.needs(books))
        }
        Check::Maxima => bounds::queues(books, key.leaf, &key.needs(books)),
        Check::Hold => holds::behind_hold(books, key),
        Check::Standstill
        | Check::QueueStates
        | Check::Possible
        | Check::Activation
        | Check::HeadOfLine
        | Check::Question
        | Check::BackOff
        | Check::Gang
        | Check::Share
        | Check::Manager
        | Check::Node => None,
    }
}

/// The ask about which the RM may be asked, where a class has one of its own.
const fn asked_about(key: ClassKey) -> Option<AllocationId> {
    match key.mode {
        PlacementMode::NeedsVerdict(ask)
        | PlacementMode::ReservedNode(ask)
        | PlacementMode::ReplacePlaceholderAlone(ask) => Some(ask),
        PlacementMode::AnyNode
        | PlacementMode::MayPreempt(_)
        | PlacementMode::AllOrNothing(_)
        | PlacementMode::RequiredNode(_)
        | PlacementMode::RequiredNodeAbsent(_)
        | PlacementMode::ReplacePlaceholder(..) => None,
    }
}

/// Whether a class waits for an answer of the RM.
#[inline]
fn question(books: &Books, key: ClassKey) -> Option<Blocker> {
    let ask = asked_about(key)?;
    questions::awaits_rm(books, ask).then_some(Blocker::AwaitingRm(ask))
}

/// How many applications may run; nothing where the application counts already.
fn numbers(books: &Books, key: ClassKey, all: &mut Vec<CheckResult>) {
    let ChargeState::Linked { link, counts_in_queues, counts_in_limits, .. } = key.charge else {
        return;
    };
    if counts_in_queues {
        // The highest queue comes first.
        let mut queues: Vec<CheckResult> = bounds::numbers_of_queues(books, key.leaf).collect();
        queues.reverse();
        all.extend(queues);
    }
    if counts_in_limits {
        let partition = books.queue(key.leaf).partition;
        all.extend(bounds::numbers_of_limits(books, partition, link));
    }
}

/// What the user and the group may use; nothing before the group is known.
fn limits(books: &Books, key: ClassKey, all: &mut Vec<CheckResult>) {
    let ChargeState::Linked { link, .. } = key.charge else { return };
    let (partition, needs) = (books.queue(key.leaf).partition, key.needs(books));
    all.extend(bounds::amounts_of_limits(books, partition, link, &needs));
    all.extend(fair_share::cap_of(books, key.leaf, link, &needs));
}

#[cfg(test)]
mod tests {
    use super::Check;

    #[test]
    fn each_check_stands_once_in_the_order_in_which_they_are_declared() {
        assert!(Check::ORDER.iter().enumerate().all(|(place, check)| *check as usize == place));
    }
}
