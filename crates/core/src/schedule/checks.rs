//! Chain of checks of an ask. Source: decision page 32.
//!
//! [`Check::ORDER`] is the only definition of their order. Placement, waits, and predictions need the first failed
//! check and call [`Checked::first`]. Explanations call [`Checked::all`]. A [`Position`] provides the values that
//! depend on the caller and not on the books.
//!
//! Cost: the depth of the queue for each check, and the nodes for the last check.

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
    /// The partition can schedule: its resource manager is connected and a node has a size.
    Standstill,
    /// The queues accept allocations.
    QueueStates,
    /// Some order of releases can start the ask.
    Possible,
    /// The application is active, or can be activated.
    Activation,
    /// The ask is not blocked by the head of line of its leaf.
    HeadOfLine,
    /// The RM has answered all questions about the ask.
    Question,
    /// The limits on running applications allow the application: of its queues, then of its user and group.
    Numbers,
    /// The application does not back off.
    BackOff,
    /// The gang can use capacity: all placeholders are requested, and no other gang gathers.
    Gang,
    /// The limits of the user and group allow the amounts, then the user cap of the leaf.
    Limits,
    /// The queue maxima allow the amounts.
    Maxima,
    /// The queues hold no capacity for another ask that this ask would use.
    Hold,
    /// The fair share of the user in the leaf allows the amounts.
    Share,
    /// The RM can be asked, and its nodes have reported.
    Manager,
    /// A node is available.
    Node,
}

impl Check {
    /// All checks in order. The first failed check is the wait reason.
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

/// Values of an ask that the checks need and that the books do not contain.
pub(super) trait Position {
    /// Whether the ask is about to be placed. Then its queues are open and its user is picked, and the placement itself
    /// searches the nodes.
    const IS_PLACING: bool;

    /// Checks the ask against the head of line of its leaf. `None` if it is in no line.
    fn in_line(&self) -> Option<CheckResult>;

    /// Checks whether its gang can use capacity. `None` for an ask without a gang, or if the gang is known to pass.
    fn gang(&self) -> Option<CheckResult>;

    /// Checks whether its application backs off. `None` if it is not known to do so.
    fn back_off(&self) -> Option<CheckResult>;

    /// Checks whether the RM can be asked and all nodes have reported.
    fn manager(&self) -> Option<CheckResult>;

    /// Checks whether a node is available. `is_held` is true if an earlier check fails. `None` if that is not known
    /// yet.
    fn node(&self, is_held: bool) -> Option<CheckResult>;
}

/// An ask with the data for its checks.
pub(super) struct Checked<'books, P> {
    pub(super) books: &'books Books,
    /// Application that is not active yet. `None` if it is active.
    pub(super) activating: Option<ApplicationId>,
    pub(super) key: ClassKey,
    pub(super) position: P,
}

impl<P: Position> Checked<'_, P> {
    /// Returns the first failed check with its wait. `None` if the ask can start.
    #[inline]
    pub(super) fn first(&self) -> Option<(Check, Wait)> {
        Check::ORDER.into_iter().find_map(|check| Some((check, self.failing(check)?)))
    }

    /// Returns the results of all checks in order.
    pub(super) fn all(&self) -> Vec<CheckResult> {
        let mut all = Vec::new();
        for check in Check::ORDER {
            let is_held = all.iter().any(|one: &CheckResult| one.failed);
            self.results(check, is_held, &mut all);
        }
        all
    }

    /// Returns the wait if the ask fails one check.
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
                // An application that can be activated still waits until it is active before its asks are placed.
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

    /// Appends the results of one check, one for each bound that it compares.
    fn results(&self, check: Check, is_held: bool, all: &mut Vec<CheckResult>) {
        let (books, key) = (self.books, self.key);
        let failed = |blocker| CheckResult::failed(Wait::of(blocker));
        match check {
            Check::Standstill => all.extend(standstill(books, self.partition()).map(failed)),
            Check::QueueStates => all.extend(waits::states(books, key.leaf)),
            // While the whole partition is paused, a property of the ask is not the reason. A blocked ask is not sent
            // to the RM.
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
            // A member that replaces a placeholder is already charged.
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
            // Without nodes, the check has no subject.
            Check::Node if all.iter().any(|one| matches!(one.blocker, Blocker::NoNodes(_))) => {}
            Check::Node => all.extend(self.position.node(is_held)),
        }
    }

    fn partition(&self) -> PartitionId {
        self.books.queue(self.key.leaf).partition
    }
}

/// Returns the first failed check of those about charges: numbers of applications and amounts.
#[inline]
pub(super) fn wait_for_charge(books: &Books, key: ClassKey) -> Option<Wait> {
    Check::ORDER.into_iter().find_map(|check| charged(books, key, check))
}

/// Returns the wait if a class fails a check about charges. `None` for other checks.
///
/// A member that replaces a placeholder is already charged.
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

/// Returns the single ask of a class for questions to the RM.
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

/// Returns the blocker if the ask of the class waits for an answer of the RM.
#[inline]
fn question(books: &Books, key: ClassKey) -> Option<Blocker> {
    let ask = asked_about(key)?;
    questions::awaits_rm(books, ask).then_some(Blocker::AwaitingRm(ask))
}

/// Appends the checks of the numbers of running applications. Appends nothing if the application already counts.
fn numbers(books: &Books, key: ClassKey, all: &mut Vec<CheckResult>) {
    let ChargeState::Linked { link, counts_in_queues, counts_in_limits, .. } = key.charge else {
        return;
    };
    if counts_in_queues {
        // The queue nearest to the root has precedence.
        let mut queues: Vec<CheckResult> = bounds::numbers_of_queues(books, key.leaf).collect();
        queues.reverse();
        all.extend(queues);
    }
    if counts_in_limits {
        let partition = books.queue(key.leaf).partition;
        all.extend(bounds::numbers_of_limits(books, partition, link));
    }
}

/// Appends the checks of the amounts of the user and the group. Appends nothing before the group is known.
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
