//! How an ask finds its node: which nodes it may have, and in which pass it is looked at.

use crate::books::{Allocation, Books};
use crate::id::{AllocationId, ApplicationId, NodeId};

use super::preempt;

/// The passes of a cycle, in their order: each is gone through only when those before found
/// nothing to do. Scheduling §5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    /// Asks for which a node is kept.
    Reserved,
    /// Members of gangs that take the places of placeholders.
    Replace,
    /// All others.
    Normal,
    /// No pass of its own: the classes of the normal pass that found no node, each where its
    /// first ask stands that is old enough to have one kept.
    Keep,
    /// The last, which is no pass of its own either: asks that name no label, to which nodes of one are
    /// lent when nothing else moves.
    Lend,
}

impl Pass {
    /// What a cycle goes through.
    pub(super) const ALL: [Self; 3] = [Self::Reserved, Self::Replace, Self::Normal];
    /// What is kept in order for them.
    pub(super) const LISTS: [Self; 5] =
        [Self::Reserved, Self::Replace, Self::Normal, Self::Keep, Self::Lend];
    /// How many lists there are.
    pub(super) const COUNT: usize = Self::LISTS.len();

    #[inline]
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// What distinguishes asks of one size and application beyond their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// Any node that is kept for nobody.
    Open,
    /// The same, and others may be stopped for it, at this priority.
    Calling(i32),
    /// Any node, or the one that it requires, if the RM lets this ask have it.
    Asking(AllocationId),
    /// Any nodes that are kept for nobody, for all of so many members of a task at once.
    Whole(u32),
    /// This node only.
    Pinned(NodeId),
    /// A node only that is not there.
    Absent(AllocationId),
    /// A node is kept for this ask.
    Kept(AllocationId),
    /// The place of a placeholder, in the task group at this position of its application.
    Swap(ApplicationId, u32),
    /// The same for this ask, which may run on one node only, or the RM is asked about it.
    PinnedSwap(AllocationId),
}

impl Lane {
    /// The lane of an ask that waits.
    #[inline]
    pub(super) fn of(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        let members = books.members_of(ask.application);
        if members > 1 {
            Self::Whole(members)
        } else if !ask.has_nothing_special() || books.has_questions() {
            Self::of_special(books, id, ask)
        } else if ask.may_preempt {
            Self::of_ordinary(books, ask)
        } else {
            Self::Open
        }
    }

    /// The lane of an ask that may run on any node.
    fn of_ordinary(books: &Books, ask: &Allocation) -> Self {
        if preempt::can_call(books, ask) { Self::Calling(ask.priority) } else { Self::Open }
    }

    fn of_special(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        if ask.reservation().is_some() {
            return Self::Kept(id);
        }
        let application = books.application(ask.application);
        if let (Some(name), Some(gang)) = (ask.task_group(), &application.gang)
            && let Some((place, group)) = gang.group(name)
            && group.has_places()
            && !ask.placeholder
        {
            return Self::in_gang(books, id, ask, place);
        }
        Self::outside_gang(books, id, ask)
    }

    /// The lane of a member that waits for the place of a placeholder of the task group at this
    /// position of its application.
    pub(super) fn in_gang(books: &Books, id: AllocationId, ask: &Allocation, group: usize) -> Self {
        let partition = books.application(ask.application).partition;
        if ask.required_node().is_some() || books.asks_about_nodes(partition) {
            return Self::PinnedSwap(id);
        }
        let group = u32::try_from(group).expect("an application has few task groups");
        Self::Swap(ask.application, group)
    }

    /// The lane that an ask has if it waits for no placeholder.
    pub(super) fn outside_gang(books: &Books, id: AllocationId, ask: &Allocation) -> Self {
        if ask.reservation().is_some() {
            return Self::Kept(id);
        }
        let application = books.application(ask.application);
        if books.asks_about_nodes(application.partition) {
            return Self::Asking(id);
        }
        let Some(node) = ask.required_node() else { return Self::of_ordinary(books, ask) };
        match books.partition(application.partition).nodes.get(&**node) {
            Some(node) => Self::Pinned(*node),
            None => Self::Absent(id),
        }
    }

    #[inline]
    pub(super) const fn pass(self) -> Pass {
        match self {
            Self::Kept(_) => Pass::Reserved,
            Self::Swap(..) | Self::PinnedSwap(_) => Pass::Replace,
            Self::Open
            | Self::Calling(_)
            | Self::Asking(_)
            | Self::Whole(_)
            | Self::Pinned(_)
            | Self::Absent(_) => Pass::Normal,
        }
    }

    /// Whether it takes the place of a placeholder, which counts already: it needs nothing more.
    #[inline]
    pub(super) const fn is_swap(self) -> bool {
        matches!(self, Self::Swap(..) | Self::PinnedSwap(_))
    }
}

/// Whether an ask that is judged by itself may run on one node only.
pub(super) fn is_required(books: &Books, lane: Lane) -> bool {
    matches!(lane, Lane::Asking(ask) if books.allocation(ask).required_node().is_some())
}
