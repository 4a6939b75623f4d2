//! Whether an ask can ever start. Source: no-starvation NS-01 to NS-03.
//!
//! An ask is *impossible* while no order of releases can start it: a queue, a limit, or the nodes are too small for
//! it, or no node is one that it may have. Nodes, maxima and limits may change, so an impossible ask waits in its
//! place. [`impossible`] is the only judge: the scheduler, explanations, reports and lists of waiting tasks ask it.
//!
//! Foreign allocations that may be taken back, and allocations of the scheduler, do not make an ask impossible. In
//! doubt an ask is possible.

use alloc::borrow::Cow;

use crate::books::{Allocation, Books, GangSize, TrackerLink};
use crate::bounds::levels;
use crate::id::{AllocationId, LevelId, NodeId, PartitionId, QueueId, ShapeId};
use crate::name::Name;
use crate::resource::Resources;
use crate::userlimit::{Enforcement, Formula};
use crate::wait::{Blocker, Wait};

/// An ask, as far as it matters for whether it can ever start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'books> {
    /// The leaf of its application.
    pub(crate) leaf: QueueId,
    /// The user and group that are charged; none before the group is known.
    pub(crate) link: Option<TrackerLink>,
    /// Its size, and what it says of nodes.
    pub(crate) shape: ShapeId,
    /// How many asks of this shape start together.
    pub(crate) members: u32,
    /// What a gang needs in all whose placeholders differ in size.
    pub(crate) mixed_gang: Option<&'books Resources>,
    /// The node that it requires by name.
    pub(crate) required: Option<&'books Name>,
    /// Whether a node is reserved for it, which is large enough and may be drained.
    pub(crate) is_reserved: bool,
}

impl<'books> Wanted<'books> {
    /// A waiting ask; none for one that replaces a placeholder, which is charged already.
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

    /// How many asks start together, and what a gang of different sizes needs in all; `members` where there is no gang.
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

    /// What queues, users and groups need room for at once.
    fn needs(self, books: &'books Books) -> Cow<'books, Resources> {
        match self.mixed_gang {
            // A placeholder may be larger than what the application specified for all.
            Some(whole) => Cow::Owned(whole.maximum(books.shapes().get(self.shape))),
            None => books.shapes().times(self.shape, self.members),
        }
    }
}

/// Returns the reason why a waiting ask can never start; none where it can. Costs the depth of its queue, and the nodes
/// up to the first that is large enough.
pub fn impossible_ask(books: &Books, ask: AllocationId) -> Option<Wait> {
    let wanted = Wanted::of(books, ask)?;
    let partition = books.queue(wanted.leaf).partition;
    impossible(books, wanted, || on_some_nodes(books, partition, wanted.shape, wanted.members))
}

/// The reason why this can never start; none where it can. `fits_nodes` says whether the nodes are large enough, which
/// costs most: [`on_some_nodes`], or a caller that remembers its answer.
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

/// Whether all nodes together have what a gang of different sizes needs. That it could be packed is not certain then.
fn fits_all_nodes(books: &Books, partition: PartitionId, whole: Option<&Resources>) -> bool {
    let Some(whole) = whole else { return true };
    let max = books.queue(books.partition(partition).root).max.as_ref();
    max.is_some_and(|max| max.is_at_least(whole))
}

/// Whether idle nodes of a label may be lent to it: these are counted elsewhere.
fn may_borrow(books: &Books, partition: PartitionId, wanted: Wanted<'_>) -> bool {
    let selector = books.shapes().wish(wanted.shape);
    let has_label = selector.is_some_and(|selector| selector.label.is_some());
    wanted.required.is_none() && !has_label && books.has_lending(partition)
}

/// The lowest queue whose maximum is too low. The maximum of the root is what the nodes have, which are asked themselves.
fn in_queues(books: &Books, leaf: QueueId, needs: &Resources) -> Option<Wait> {
    let mut queues = books.up(leaf).filter(|(_, queue)| queue.parent.is_some());
    queues.find_map(|(id, queue)| {
        let shortfall = queue.max.as_ref()?.shortfall_of_limit(needs)?;
        Some(Wait { blocker: Blocker::QueueTooSmall(id), shortfall: Some(shortfall) })
    })
}

/// The limit of the user or the group, or the user's cap at the leaf, that is too low.
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

/// The cap of a user at a leaf, where it is too low whatever others use.
fn by_cap(
    books: &Books,
    partition: PartitionId,
    (leaf, user): (QueueId, LevelId),
    needs: &Resources,
) -> Option<Wait> {
    let users = books.users_of(leaf)?;
    // The other formulas look at what is used.
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

/// Whether the node that an ask requires is missing, or too small. It may be drained.
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

/// Whether this node is in use, suits asks of this shape, and would be large enough for one of them.
pub(crate) fn on_node(books: &Books, shape: ShapeId, id: NodeId) -> bool {
    let node = books.node(id);
    node.schedulable
        && node.could_ever_hold(books.shapes().on_node(shape))
        && books.suits(shape, id)
}

/// How many asks of this shape the nodes in use would hold at once if nothing else ran there; at most `most`.
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

/// Whether the nodes in use would hold so many asks of this shape at once if nothing else ran there.
pub(crate) fn on_some_nodes(
    books: &Books,
    partition: PartitionId,
    shape: ShapeId,
    members: u32,
) -> bool {
    first_of_enough(books, partition, shape, members).is_some()
}

/// The first node that would hold an ask of this shape; none where the nodes would not hold so many at once.
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
