//! Placement modes: how an ask finds its node, and in which pass it is checked.

use crate::books::{Allocation, Books};
use crate::id::{AllocationId, ApplicationId, NodeId};

use super::preempt;

/// Passes of a cycle in order. A pass begins only when the earlier passes found nothing to do. Source: scheduling §5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    /// Asks with a reserved node.
    Reserved,
    /// Members of gangs that replace placeholders.
    ReplacePlaceholders,
    /// All other asks.
    Normal,
    /// Reservations. Not a pass of its own: it has the classes of the normal pass that found no node. Each is at the
    /// position of its first ask that is old enough for a reservation.
    ReserveNodes,
    /// Lending. Not a pass of its own: asks without a label can borrow idle nodes of a label when nothing else moves.
    LendNodes,
    /// Not a pass of its own: leaves with classes of the pass [`Pass::Reserved`] that wait for a node.
    WaitReserved,
    /// Not a pass of its own: leaves with classes of the normal pass that wait for a node.
    WaitNormal,
}

impl Pass {
    /// Passes of a cycle.
    pub(super) const ALL: [Self; 3] = [Self::Reserved, Self::ReplacePlaceholders, Self::Normal];
    /// Passes with a list of leaves that wait for a node: those for which [`Pass::waiting`] returns a list.
    pub(super) const WITH_WAITING: [Self; 2] = [Self::Reserved, Self::Normal];
    /// Passes with ordered lists.
    pub(super) const LISTS: [Self; 7] = [
        Self::Reserved,
        Self::ReplacePlaceholders,
        Self::Normal,
        Self::ReserveNodes,
        Self::LendNodes,
        Self::WaitReserved,
        Self::WaitNormal,
    ];
    /// Number of lists.
    pub(super) const COUNT: usize = Self::LISTS.len();

    #[inline]
    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Returns the list of leaves with classes of this pass that wait for a node. `None` if such classes are in no
    /// list.
    #[inline]
    pub(super) const fn waiting(self) -> Option<Self> {
        match self {
            Self::Reserved => Some(Self::WaitReserved),
            Self::Normal => Some(Self::WaitNormal),
            Self::ReplacePlaceholders
            | Self::ReserveNodes
            | Self::LendNodes
            | Self::WaitReserved
            | Self::WaitNormal => None,
        }
    }
}

/// Property that distinguishes asks of one size and application, in addition to their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlacementMode {
    /// Any node that is not reserved.
    AnyNode,
    /// Any node that is not reserved, with preemption at this priority.
    MayPreempt(i32),
    /// Any node, or the required node, if the RM accepts it for this ask. The RM was asked about the ask, the ask requires
    /// a node, or allocations were preempted for it. Other asks share a class with their equals.
    NeedsVerdict(AllocationId),
    /// Any nodes that are not reserved, for this number of members of a task at once.
    AllOrNothing(u32),
    /// Only this node.
    RequiredNode(NodeId),
    /// Only a required node that is not registered.
    RequiredNodeAbsent(AllocationId),
    /// A node that is reserved for this ask.
    ReservedNode(AllocationId),
    /// A placeholder of the task group at this position of the application.
    ReplacePlaceholder(ApplicationId, u32),
    /// A placeholder for this ask, which requires a node or is checked by the RM.
    ReplacePlaceholderAlone(AllocationId),
}

impl PlacementMode {
    /// Returns the mode of a waiting ask.
    #[inline]
    pub(super) fn of(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        let members = books.members_of(ask.application);
        if members > 1 {
            Self::AllOrNothing(members)
        } else if !ask.has_only_common_fields() || books.has_questions() {
            Self::of_special(books, id, ask)
        } else if ask.may_preempt {
            Self::of_ordinary(books, ask)
        } else {
            Self::AnyNode
        }
    }

    /// Returns the mode of an ask that can run on any node.
    fn of_ordinary(books: &Books, ask: &Allocation) -> Self {
        if preempt::can_preempt(books, ask) {
            Self::MayPreempt(ask.priority)
        } else {
            Self::AnyNode
        }
    }

    fn of_special(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        if ask.reservation().is_some() {
            return Self::ReservedNode(id);
        }
        let application = books.application(ask.application);
        if let (Some(name), Some(gang)) = (ask.task_group(), &application.gang)
            && let Some((place, group)) = gang.group(name)
            && group.has_replaceable_placeholders()
            && !ask.placeholder
        {
            return Self::in_gang(books, id, ask, place);
        }
        Self::outside_gang(books, id, ask)
    }

    /// Returns the mode of a member that waits for a placeholder of the task group at this position of its application.
    pub(super) fn in_gang(books: &Books, id: AllocationId, ask: &Allocation, group: usize) -> Self {
        let partition = books.application(ask.application).partition;
        if ask.required_node().is_some() || books.asks_about_nodes(partition) {
            return Self::ReplacePlaceholderAlone(id);
        }
        let group = u32::try_from(group).expect("an application has few task groups");
        Self::ReplacePlaceholder(ask.application, group)
    }

    /// Returns the mode of an ask that waits for no placeholder.
    pub(super) fn outside_gang(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        if ask.reservation().is_some() {
            return Self::ReservedNode(id);
        }
        let application = books.application(ask.application);
        let by_itself =
            || ask.required_node().is_some() || ask.preemption_triggered || books.inquires(id);
        if books.asks_about_nodes(application.partition) && by_itself() {
            return Self::NeedsVerdict(id);
        }
        let Some(node) = ask.required_node() else { return Self::of_ordinary(books, ask) };
        match books.partition(application.partition).nodes.get(&**node) {
            Some(node) => Self::RequiredNode(*node),
            None => Self::RequiredNodeAbsent(id),
        }
    }

    #[inline]
    pub(super) const fn pass(self) -> Pass {
        match self {
            Self::ReservedNode(_) => Pass::Reserved,
            Self::ReplacePlaceholder(..) | Self::ReplacePlaceholderAlone(_) => {
                Pass::ReplacePlaceholders
            }
            Self::AnyNode
            | Self::MayPreempt(_)
            | Self::NeedsVerdict(_)
            | Self::AllOrNothing(_)
            | Self::RequiredNode(_)
            | Self::RequiredNodeAbsent(_) => Pass::Normal,
        }
    }

    /// Returns the ask if a class has only this ask and checks it by itself.
    pub(super) const fn single_ask(self) -> Option<AllocationId> {
        match self {
            Self::NeedsVerdict(ask)
            | Self::RequiredNodeAbsent(ask)
            | Self::ReservedNode(ask)
            | Self::ReplacePlaceholderAlone(ask) => Some(ask),
            Self::AnyNode
            | Self::MayPreempt(_)
            | Self::AllOrNothing(_)
            | Self::RequiredNode(_)
            | Self::ReplacePlaceholder(..) => None,
        }
    }

    /// Returns whether the ask replaces a placeholder, which already counts, so the ask needs no more capacity.
    #[inline]
    pub(super) const fn replaces_placeholder(self) -> bool {
        matches!(self, Self::ReplacePlaceholder(..) | Self::ReplacePlaceholderAlone(_))
    }
}

/// Returns whether the asks of a class require a node.
pub(super) fn is_required(books: &Books, mode: PlacementMode) -> bool {
    match mode {
        PlacementMode::RequiredNode(_) => true,
        PlacementMode::NeedsVerdict(ask) => books.allocation(ask).required_node().is_some(),
        PlacementMode::AnyNode
        | PlacementMode::MayPreempt(_)
        | PlacementMode::AllOrNothing(_)
        | PlacementMode::RequiredNodeAbsent(_)
        | PlacementMode::ReservedNode(_)
        | PlacementMode::ReplacePlaceholder(..)
        | PlacementMode::ReplacePlaceholderAlone(_) => false,
    }
}
