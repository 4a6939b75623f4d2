//! How an ask finds its node: which nodes it may have, and in which pass it is looked at.

use crate::books::{Allocation, Books};
use crate::id::{AllocationId, ApplicationId, NodeId};

use super::preempt;

/// The passes of a cycle, in their order: each is gone through only when those before found
/// nothing to do. Scheduling §5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    /// Asks with a reserved node.
    Reserved,
    /// Members of gangs that take the places of placeholders.
    ReplacePlaceholders,
    /// All others.
    Normal,
    /// No pass of its own: the classes of the normal pass that found no node, each at the place of
    /// its first ask that is old enough for a reservation.
    ReserveNodes,
    /// The last, which is no pass of its own either: asks that name no label, to which nodes of one are
    /// lent when nothing else moves.
    LendNodes,
}

impl Pass {
    /// What a cycle goes through.
    pub(super) const ALL: [Self; 3] = [Self::Reserved, Self::ReplacePlaceholders, Self::Normal];
    /// The passes that have ordered lists.
    pub(super) const LISTS: [Self; 5] = [
        Self::Reserved,
        Self::ReplacePlaceholders,
        Self::Normal,
        Self::ReserveNodes,
        Self::LendNodes,
    ];
    /// How many lists there are.
    pub(super) const COUNT: usize = Self::LISTS.len();

    #[inline]
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// What distinguishes asks of one size and application beyond their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlacementMode {
    /// Any node that is not reserved.
    AnyNode,
    /// The same, and others may be stopped for it, at this priority.
    MayPreempt(i32),
    /// Any node, or the one that it requires, if the RM lets this ask have it.
    NeedsVerdict(AllocationId),
    /// Any nodes that are not reserved, for all of so many members of a task at once.
    AllOrNothing(u32),
    /// This node only.
    RequiredNode(NodeId),
    /// A node only that is not there.
    RequiredNodeAbsent(AllocationId),
    /// A node is reserved for this ask.
    ReservedNode(AllocationId),
    /// The place of a placeholder, in the task group at this position of its application.
    ReplacePlaceholder(ApplicationId, u32),
    /// The same for this ask, which may run on one node only, or the RM is asked about it.
    ReplacePlaceholderAlone(AllocationId),
}

impl PlacementMode {
    /// The mode of an ask that waits.
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

    /// The mode of an ask that may run on any node.
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

    /// The mode of a member that waits for the place of a placeholder of the task group at this
    /// position of its application.
    pub(super) fn in_gang(books: &Books, id: AllocationId, ask: &Allocation, group: usize) -> Self {
        let partition = books.application(ask.application).partition;
        if ask.required_node().is_some() || books.asks_about_nodes(partition) {
            return Self::ReplacePlaceholderAlone(id);
        }
        let group = u32::try_from(group).expect("an application has few task groups");
        Self::ReplacePlaceholder(ask.application, group)
    }

    /// The mode that an ask has if it waits for no placeholder.
    pub(super) fn outside_gang(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        if ask.reservation().is_some() {
            return Self::ReservedNode(id);
        }
        let application = books.application(ask.application);
        if books.asks_about_nodes(application.partition) {
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

    /// The ask that is judged by itself, where a class has one alone.
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

    /// Whether it takes the place of a placeholder, which counts already: it needs nothing more.
    #[inline]
    pub(super) const fn replaces_placeholder(self) -> bool {
        matches!(self, Self::ReplacePlaceholder(..) | Self::ReplacePlaceholderAlone(_))
    }
}

/// Whether the asks of a class may run on one node only.
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
