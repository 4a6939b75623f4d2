//! Checks of a class, and the verdict on a class that passes them.

use crate::books::{Books, QuestionSubject, TrackerLink};
use crate::bounds::{limits, limits_full, queues_full};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::time::Timestamp;
use crate::wait::{Blocker, CheckResult, Wait};

use super::checks::{Check, Checked, Position};
use super::class::{ChargeState, ClassKey};
use super::head_of_line::HeadCheck;
use super::nodes::NodeIndex;
use super::placement_mode::PlacementMode;
use super::{fair_share, questions, reserve};

/// Action that follows from the check of a class.
pub(super) enum Verdict {
    /// Select the group of its first application.
    Link,
    /// Place its first ask on this node.
    Place(NodeId),
    /// Place all members of its first task, if there are nodes for all.
    PlaceWhole,
    /// Ask the RM about this ask.
    Ask(AllocationId, QuestionSubject),
    /// Replace a placeholder by its first ask.
    ReplacePlaceholder,
    /// Reserve this node for its first ask.
    Reserve(NodeId),
    /// End the reservation of this ask.
    Unreserve(AllocationId),
    /// The reserved node does not have enough free capacity: try other nodes later in the pass.
    Elsewhere,
    /// Park it, because its application is not active yet or the head of line precedes it.
    Early(Wait),
    /// Park it.
    Wait(Wait),
}

impl Verdict {
    /// Returns the wait if the class is to be parked.
    pub(super) const fn wait(&self) -> Option<Wait> {
        match self {
            Self::Early(wait) | Self::Wait(wait) => Some(*wait),
            Self::Link
            | Self::Place(_)
            | Self::PlaceWhole
            | Self::Ask(..)
            | Self::ReplacePlaceholder
            | Self::Reserve(_)
            | Self::Unreserve(_)
            | Self::Elsewhere => None,
        }
    }
}

/// A class that is about to be placed, and the check against the head of line of its leaf.
struct Placing<'a> {
    leaf: QueueId,
    head_check: &'a HeadCheck,
    gang_wait: Option<Wait>,
}

impl Position for Placing<'_> {
    const IS_PLACING: bool = true;

    #[inline]
    fn in_line(&self) -> Option<CheckResult> {
        let HeadCheck::Blocked(taken) = *self.head_check else { return None };
        Some(CheckResult::failed(taken.wait(self.leaf, None)))
    }

    fn gang(&self) -> Option<CheckResult> {
        self.gang_wait.map(CheckResult::failed)
    }

    fn back_off(&self) -> Option<CheckResult> {
        None // Its application is visited as a whole.
    }

    fn manager(&self) -> Option<CheckResult> {
        None // The pass ends where the RM is busy.
    }

    fn node(&self, _: bool) -> Option<CheckResult> {
        None // That is found out next.
    }
}

/// Checks a class against the books. `first` is its first ask. `elsewhere` is true for a class whose reserved node does
/// not have enough free capacity.
#[inline]
pub(super) fn check_class(
    books: &Books,
    nodes: &mut NodeIndex,
    (key, activating, head_check): (ClassKey, Option<ApplicationId>, &HeadCheck),
    first: AllocationId,
    (gang_wait, elsewhere): (Option<Wait>, bool),
    now: Timestamp,
) -> Verdict {
    // The checks need the group, so it is selected first.
    if key.charge == ChargeState::Unlinked {
        return Verdict::Link;
    }
    let position = Placing { leaf: key.leaf, head_check, gang_wait };
    if let Some((check, wait)) = (Checked { books, activating, key, position }).first() {
        if matches!(check, Check::Activation | Check::HeadOfLine) {
            return Verdict::Early(wait);
        }
        if let PlacementMode::ReservedNode(ask) = key.mode {
            if check == Check::Gang {
                return Verdict::Unreserve(ask); // It would hold a node for nothing.
            }
            return reserve::on_no_headroom(books, ask, wait, now);
        }
        return Verdict::Wait(wait);
    }
    let ask = books.shapes().on_node(key.shape);
    let partition = books.queue(key.leaf).partition;
    match key.mode {
        PlacementMode::NeedsVerdict(one) => questions::judge(books, nodes, (partition, one), ask),
        PlacementMode::AnyNode | PlacementMode::MayPreempt(_)
            if books.asks_about_nodes(partition) =>
        {
            questions::on_any_node(books, nodes, (partition, first), ask)
        }
        PlacementMode::AnyNode | PlacementMode::MayPreempt(_) => {
            on_any_node(books, nodes, key.leaf, key.shape)
        }
        PlacementMode::AllOrNothing(_) => Verdict::PlaceWhole,
        PlacementMode::RequiredNode(node) => reserve::on_required_node(books, node, ask),
        PlacementMode::RequiredNodeAbsent(_) => wait(Blocker::NodeAbsent(partition)),
        PlacementMode::ReservedNode(reserved) => {
            reserve::on_reserved_node(books, nodes, key, (reserved, elsewhere))
        }
        PlacementMode::ReplacePlaceholder(..) | PlacementMode::ReplacePlaceholderAlone(_) => {
            Verdict::ReplacePlaceholder
        }
    }
}

/// Returns the verdict to place the ask on the first node in order that has enough free capacity.
#[inline]
pub(super) fn on_any_node(
    books: &Books,
    nodes: &mut NodeIndex,
    leaf: QueueId,
    shape: ShapeId,
) -> Verdict {
    match nodes.first_fit(books, shape) {
        Some(node) => Verdict::Place(node),
        None => wait(Blocker::Nodes(books.queue(leaf).partition)),
    }
}

pub(super) const fn wait(blocker: Blocker) -> Verdict {
    Verdict::Wait(Wait::of(blocker))
}

/// Returns the wait if a limit on running applications blocks the class.
pub(super) fn may_not_start(books: &Books, key: ClassKey) -> Option<Wait> {
    let ChargeState::Linked { link, counts_in_queues, counts_in_limits, .. } = key.charge else {
        return None;
    };
    let partition = books.queue(key.leaf).partition;
    let in_queues = counts_in_queues.then(|| queues_full(books, key.leaf)).flatten();
    in_queues.or_else(|| counts_in_limits.then(|| limits_full(books, partition, link)).flatten())
}

/// Returns the first wait for a limit of the user, from the leaf to the root. The limits of the group follow in the
/// same order, and then the user cap of the leaf.
#[inline]
pub(super) fn limits_and_cap(
    books: &Books,
    leaf: QueueId,
    link: TrackerLink,
    ask: &Resources,
) -> Option<Wait> {
    let users = books.users_of(leaf);
    // In most cases one comparison covers both the limits and the cap of the user.
    let surely = users.is_some_and(|users| users.fast_within_cap(link.user, ask));
    debug_assert!(
        !surely || fair_share::capped(books, leaf, link, ask).is_none(),
        "the cap allows it"
    );
    limits(books, books.queue(leaf).partition, (link, surely), ask)
        .or_else(|| if surely { None } else { fair_share::capped(books, leaf, link, ask) })
}
