//! Decides whether an ask can ever start. Source: no-starvation NS-01 to NS-03.
//!
//! An ask is *impossible* while no order of releases can start it: a queue, a limit, or the nodes are too small for it,
//! or it can use no node. Nodes, maxima, and limits can change, so an impossible ask keeps its position and waits.
//! [`impossible`] is the only check. The scheduler, explanations, reports, and lists of waiting tasks call it.
//!
//! Foreign allocations that can be preempted, and allocations of the scheduler, do not make an ask impossible. If in
//! doubt, an ask is possible.

use alloc::borrow::Cow;

use crate::books::{Allocation, Books, GangSize, TrackerLink};
use crate::bounds::levels;
use crate::id::{AllocationId, LevelId, NodeId, PartitionId, QueueId, ShapeId};
use crate::name::Name;
use crate::resource::Resources;
use crate::userlimit::{Enforcement, Formula};
use crate::wait::{Blocker, Wait};

/// The properties of an ask that determine whether it can ever start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'books> {
    /// Leaf of the application.
    pub(crate) leaf: QueueId,
    /// User and group that are charged. `None` before the group is known.
    pub(crate) link: Option<TrackerLink>,
    /// Amounts and node selector of the ask.
    pub(crate) shape: ShapeId,
    /// Number of asks of this shape that start together.
    pub(crate) members: u32,
    /// Amounts of a whole gang whose placeholders differ in size.
    pub(crate) mixed_gang: Option<&'books Resources>,
    /// Name of the required node.
    pub(crate) required: Option<&'books Name>,
    /// Whether a node is reserved for the ask. Such a node is large enough, and can be drained.
    pub(crate) is_reserved: bool,
}

impl<'books> Wanted<'books> {
    /// Returns the properties of a waiting ask. `None` for an ask that replaces a placeholder, because the placeholder
    /// is already charged.
    pub(crate) fn of(books: &'books Books, ask: AllocationId) -> Option<Self> {
        let row = books.allocation(ask);
        let application = books.application(row.application);
        let replaces = |row: &Allocation| {
            let group = row.task_group().filter(|_| !row.placeholder);
            group.is_some_and(|group| application.waits_for_place(group))
        };
        if replaces(row) {
            return None;
        }
        let members = books.members_of(row.application);
        let (members, mixed_gang) = Self::size_of(books, books.gang_of(ask), members);
        Some(Self {
            leaf: application.queue,
            link: application.link.filter(|link| !link.group.is_undecided()),
            shape: row.shape,
            members,
            mixed_gang,
            required: row.required_node(),
            is_reserved: row.reservation().is_some(),
        })
    }

    /// Returns the number of asks that start together, and the amounts of a gang with asks of different sizes. Without
    /// a gang, the number is `members`.
    pub(crate) fn size_of(
        books: &'books Books,
        gang: Option<GangSize>,
        members: u32,
    ) -> (u32, Option<&'books Resources>) {
        match gang {
            None => (members, None),
            Some(GangSize { application, places: 0 }) => {
                (1, books.application(application).gang.as_ref().map(|gang| &gang.ask))
            }
            Some(GangSize { places, .. }) => (places, None),
        }
    }

    /// Returns the amounts that queues, users, and groups must allow at once.
    fn needs(self, books: &'books Books) -> Cow<'books, Resources> {
        match self.mixed_gang {
            // A placeholder can be larger than the amounts that the application specified for the whole gang.
            Some(whole) => Cow::Owned(whole.maximum(books.shapes().get(self.shape))),
            None => books.shapes().times(self.shape, self.members),
        }
    }
}

/// Returns the reason why a waiting ask can never start. `None` if it can.
///
/// Costs the depth of the queue, and the nodes up to the first that is large enough.
pub fn impossible_ask(books: &Books, ask: AllocationId) -> Option<Wait> {
    let wanted = Wanted::of(books, ask)?;
    let partition = books.queue(wanted.leaf).partition;
    impossible(books, wanted, || on_some_nodes(books, partition, wanted.shape, wanted.members))
}

/// Returns the reason why an ask can never start. `None` if it can.
///
/// `fits_nodes` returns whether the nodes are large enough, which is the most expensive check. Callers pass
/// [`on_some_nodes`] or a cached result.
pub(crate) fn impossible(
    books: &Books,
    wanted: Wanted<'_>,
    fits_nodes: impl FnOnce() -> bool,
) -> Option<Wait> {
    let partition = books.queue(wanted.leaf).partition;
    if may_borrow(books, partition, wanted) {
        return None;
    }
    let needs = &*wanted.needs(books);
    in_queues(books, wanted.leaf, needs)
        .or_else(|| for_user(books, partition, (wanted.leaf, wanted.link?), needs))
        .or_else(|| match wanted.required {
            _ if wanted.is_reserved => None,
            Some(name) => on_required_node(books, partition, (wanted.shape, name)),
            None => {
                let fits = fits_nodes() && fits_all_nodes(books, partition, wanted.mixed_gang);
                (!fits).then_some(Wait::of(Blocker::NodesTooSmall(partition)))
            }
        })
}

/// Returns whether all nodes together have the amounts of a gang with asks of different sizes. Does not check whether
/// the asks can be packed onto single nodes.
fn fits_all_nodes(books: &Books, partition: PartitionId, whole: Option<&Resources>) -> bool {
    let Some(whole) = whole else { return true };
    let max = books.queue(books.partition(partition).root).max.as_ref();
    max.is_some_and(|max| max.is_at_least(whole))
}

/// Returns whether the ask can borrow idle nodes of a label. Borrowed nodes are counted separately.
fn may_borrow(books: &Books, partition: PartitionId, wanted: Wanted<'_>) -> bool {
    let selector = books.shapes().wish(wanted.shape);
    let has_label = selector.is_some_and(|selector| selector.label.is_some());
    wanted.required.is_none() && !has_label && books.has_lending(partition)
}

/// Returns the wait for the first queue from the leaf whose maximum is too low. Skips the root, because its maximum is
/// the sum of the nodes, which have their own check.
fn in_queues(books: &Books, leaf: QueueId, needs: &Resources) -> Option<Wait> {
    let mut queues = books.up(leaf).filter(|(_, queue)| queue.parent.is_some());
    queues.find_map(|(id, queue)| {
        let shortfall = queue.max.as_ref()?.shortfall_of_limit(needs)?;
        Some(Wait { blocker: Blocker::QueueTooSmall(id), shortfall: Some(shortfall) })
    })
}

/// Returns the wait for the limit of the user or group, or for the user cap of the leaf, that is too low.
fn for_user(
    books: &Books,
    partition: PartitionId,
    (leaf, link): (QueueId, TrackerLink),
    needs: &Resources,
) -> Option<Wait> {
    let limit = levels(books, partition, link).find_map(|(id, level)| {
        let shortfall = level.max()?.shortfall_of_limit(needs)?;
        Some(Wait { blocker: Blocker::LimitTooSmall(partition, id), shortfall: Some(shortfall) })
    });
    limit.or_else(|| by_cap(books, partition, (leaf, link.user), needs))
}

/// Returns the wait for a user cap that is too low at any usage of the other users.
fn by_cap(
    books: &Books,
    partition: PartitionId,
    (leaf, user): (QueueId, LevelId),
    needs: &Resources,
) -> Option<Wait> {
    let users = books.users_of(leaf)?;
    // The other formulas depend on usage, so their cap can grow.
    if users.rules().enforcement != Enforcement::Progress
        || users.rules().formula != Formula::Smooth
    {
        return None;
    }
    let weight = users.user(user)?.weight;
    let (counted, nothing) = (users.normalised(needs), Resources::new());
    if !users.rules().exceeds_cap(users.outline(), weight, &nothing, &counted) {
        return None;
    }
    let shortfall = users.cap(weight, &counted).shortfall_of_limit(&counted);
    Some(Wait { blocker: Blocker::CapTooSmall(partition, user), shortfall })
}

/// Returns the wait for a required node that is not registered or too small. Ignores whether the node is drained.
fn on_required_node(
    books: &Books,
    partition: PartitionId,
    (shape, name): (ShapeId, &Name),
) -> Option<Wait> {
    let Some(id) = books.partition(partition).nodes.get(&**name).copied() else {
        return Some(Wait::of(Blocker::RequiredNodeMissing(partition)));
    };
    let shortfall = books.node(id).usable().shortfall(books.shapes().on_node(shape));
    shortfall.map(|shortfall| Wait {
        blocker: Blocker::RequiredNodeTooSmall(id),
        shortfall: Some(shortfall),
    })
}

/// Returns whether the node is in use, matches the node selector of the shape, and is large enough for one ask when it
/// is empty.
pub(crate) fn on_node(books: &Books, shape: ShapeId, id: NodeId) -> bool {
    let node = books.node(id);
    node.schedulable
        && node.could_ever_hold(books.shapes().on_node(shape))
        && books.suits(shape, id)
}

/// Returns the number of asks of this shape that the nodes in use could hold at once when they are empty, at most
/// `most`.
pub(crate) fn places_on_nodes(
    books: &Books,
    partition: PartitionId,
    shape: ShapeId,
    most: u32,
) -> u32 {
    let ask = books.shapes().on_node(shape);
    let mut missing = most as usize;
    for (_, id) in books.partition(partition).nodes.iter() {
        if on_node(books, shape, *id) {
            missing -= books.node(*id).usable().times_that_fit(ask, missing);
        }
        if missing == 0 {
            break;
        }
    }
    most - u32::try_from(missing).unwrap_or(most)
}

/// Returns whether the nodes in use could hold `members` asks of this shape at once when they are empty.
pub(crate) fn on_some_nodes(
    books: &Books,
    partition: PartitionId,
    shape: ShapeId,
    members: u32,
) -> bool {
    first_of_enough(books, partition, shape, members).is_some()
}

/// Returns the first node that could hold an ask of this shape. `None` if the nodes could not hold `members` asks at
/// once.
pub(crate) fn first_of_enough(
    books: &Books,
    partition: PartitionId,
    shape: ShapeId,
    members: u32,
) -> Option<NodeId> {
    let mut nodes = books.partition(partition).nodes.iter().map(|(_, id)| *id);
    let first = nodes.find(|id| on_node(books, shape, *id))?;
    (members == 1 || places_on_nodes(books, partition, shape, members) == members).then_some(first)
}
