//! The checks, in their order: may its application run, do user and group allow it, do the
//! queues, and is there a node. The first that fails is the reason for waiting.

use crate::books::{Books, Level, Link, QuestionSubject};
use crate::id::{AllocationId, LevelId, NodeId, PartitionId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::time::Timestamp;
use crate::wait::{Blocker, Looked, Wait};

use super::class::{ClassKey, Standing};
use super::lane::Lane;
use super::nodes::NodeIndex;
use super::{questions, reserve, turns};

/// What is to be done with a class.
pub(super) enum Verdict {
    /// Choose the group of its first application.
    Link,
    /// Place its first ask.
    Place(NodeId),
    /// Place all of its first task, if there are nodes for all.
    Whole,
    /// Ask the RM.
    Ask(AllocationId, QuestionSubject),
    /// Have its first ask take the place of a placeholder.
    Swap,
    /// Keep a node for its first ask.
    Keep(NodeId),
    /// Keep its node for this ask no longer.
    GiveUp(AllocationId),
    /// The node that is kept for its ask has no room: try others later in the pass.
    Elsewhere,
    /// Park it.
    Wait(Wait),
}

/// Judge a class against the books.
#[inline]
pub(super) fn judge(
    books: &Books,
    nodes: &mut NodeIndex,
    (key, elsewhere): (ClassKey, bool),
    now: Timestamp,
) -> Verdict {
    if key.standing == Standing::Unlinked {
        return Verdict::Link;
    }
    if let Lane::Asking(ask) | Lane::Kept(ask) | Lane::PinnedSwap(ask) = key.lane
        && questions::awaits_rm(books, ask)
    {
        return wait(Blocker::AwaitingRm(ask));
    }
    if let Some(wait) = held_back(books, key) {
        return match key.lane {
            Lane::Kept(ask) => reserve::on_no_headroom(books, ask, wait, now),
            _ => Verdict::Wait(wait),
        };
    }
    let ask = books.shapes().on_node(key.shape);
    match key.lane {
        Lane::Asking(one) => {
            questions::judge(books, nodes, (books.queue(key.leaf).partition, one), ask)
        }
        Lane::Open | Lane::Calling(_) => on_any_node(books, nodes, key.leaf, key.shape),
        Lane::Whole(_) => Verdict::Whole,
        Lane::Pinned(node) => reserve::on_required_node(books, node, ask),
        Lane::Absent(_) => wait(Blocker::NodeAbsent(books.queue(key.leaf).partition)),
        Lane::Kept(kept) => reserve::on_kept_node(books, nodes, key, (kept, elsewhere)),
        Lane::Swap(..) | Lane::PinnedSwap(_) => Verdict::Swap,
    }
}

/// On the first node in order that has room.
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
    Verdict::Wait(Wait { blocker, shortfall: None })
}

/// The first check that a class fails before nodes are looked at; none if it passes all.
#[inline]
pub(super) fn held_back(books: &Books, key: ClassKey) -> Option<Wait> {
    let Standing::Linked { link, counts_in_queues, counts_in_limits, .. } = key.standing else {
        return None;
    };
    if key.lane.is_swap() {
        return None;
    }
    let ask = key.needs(books);
    let may_not_start = (counts_in_queues || counts_in_limits).then(|| may_not_start(books, key));
    may_not_start
        .flatten()
        .or_else(|| limits_and_cap(books, key.leaf, link, &ask))
        .or_else(|| queues(books, key.leaf, &ask))
}

/// Where the number of applications holds a class back, if it does anywhere.
pub(super) fn may_not_start(books: &Books, key: ClassKey) -> Option<Wait> {
    let Standing::Linked { link, counts_in_queues, counts_in_limits, .. } = key.standing else {
        return None;
    };
    let partition = books.queue(key.leaf).partition;
    let in_queues = counts_in_queues.then(|| queues_full(books, key.leaf)).flatten();
    in_queues.or_else(|| counts_in_limits.then(|| limits_full(books, partition, link)).flatten())
}

/// The highest queue in which no more application may run.
fn queues_full(books: &Books, leaf: QueueId) -> Option<Wait> {
    numbers_of_queues(books, leaf).filter_map(Looked::wait).last()
}

/// The numbers of applications that may run in the queues from a leaf up; what the highest says
/// comes first.
pub(super) fn numbers_of_queues(books: &Books, leaf: QueueId) -> impl Iterator<Item = Looked> {
    books.up(leaf).map(|(id, queue)| {
        Looked::of(Blocker::QueueApplications(id), !queue.allows_application(), None)
    })
}

/// The lowest level of its user, then of its group, at which no more application may run.
fn limits_full(books: &Books, partition: PartitionId, link: Link) -> Option<Wait> {
    numbers_of_limits(books, partition, link).find_map(Looked::wait)
}

/// The numbers of applications that a user, then his group, may run, each from the leaf up.
pub(super) fn numbers_of_limits(
    books: &Books,
    partition: PartitionId,
    link: Link,
) -> impl Iterator<Item = Looked> {
    levels(books, partition, link).map(move |(id, level)| {
        let blocker = Blocker::LimitApplications(partition, id);
        Looked::of(blocker, !level.allows_application(), None)
    })
}

/// The levels whose limits hold for whoever is charged like this: of the user, then of his group.
fn levels(
    books: &Books,
    partition: PartitionId,
    link: Link,
) -> impl Iterator<Item = (LevelId, Level<'_>)> {
    let row = books.partition(partition);
    let trackers = &row.trackers;
    let group = link.group.level().into_iter().flat_map(|level| trackers.up(level));
    trackers.up(link.user).chain(group.skip(row.lifted(link)))
}

/// The limit or the maximum beyond which these amounts would take a user of a leaf, whatever his share of the
/// leaf is.
pub(crate) fn exceeds(
    books: &Books,
    leaf: QueueId,
    link: Link,
    amounts: &Resources,
) -> Option<Wait> {
    let limited = limits(books, books.queue(leaf).partition, (link, false), amounts);
    limited.or_else(|| queues(books, leaf, amounts))
}

/// The limits of the user, then of the group, each from the leaf up; then the cap of the user where users
/// share the leaf.
#[inline]
fn limits_and_cap(books: &Books, leaf: QueueId, link: Link, ask: &Resources) -> Option<Wait> {
    let users = books.users_of(leaf);
    // Both of what concerns the user are mostly told at once.
    let surely = users.is_some_and(|users| users.surely_within_cap(link.user, ask));
    debug_assert!(!surely || turns::capped(books, leaf, link, ask).is_none(), "the cap allows it");
    limits(books, books.queue(leaf).partition, (link, surely), ask)
        .or_else(|| if surely { None } else { turns::capped(books, leaf, link, ask) })
}

/// The limits alone, those of the user unless they surely allow it.
#[inline]
fn limits(
    books: &Books,
    partition: PartitionId,
    (link, surely): (Link, bool),
    ask: &Resources,
) -> Option<Wait> {
    let row = books.partition(partition);
    let trackers = &row.trackers;
    let of_user = || trackers.refusing(link.user, 0, ask);
    debug_assert!(!surely || of_user().is_none(), "the limits of the user allow it");
    let refusing = if surely { None } else { of_user() }.or_else(|| {
        let group = link.group.level()?;
        trackers.refusing(group, row.lifted(link), ask)
    });
    let refusing = refusing.map(|(level, shortfall)| Wait {
        blocker: Blocker::Limit(partition, level),
        shortfall: Some(shortfall),
    });
    debug_assert_eq!(
        refusing,
        amounts_of_limits(books, partition, link, ask).find_map(Looked::wait),
        "many levels are asked at once what each would say"
    );
    refusing
}

/// What a user, then his group, may use, each from the leaf up, one by one.
pub(super) fn amounts_of_limits(
    books: &Books,
    partition: PartitionId,
    link: Link,
    ask: &Resources,
) -> impl Iterator<Item = Looked> {
    levels(books, partition, link).map(move |(id, level)| {
        let shortfall = level.shortfall(ask);
        Looked::of(Blocker::Limit(partition, id), shortfall.is_some(), shortfall)
    })
}

/// The maxima of the queues from the leaf up. A type that no node has is missing in the size
/// of the cluster, so the root does not hold it back: that no node has it is found there.
#[inline]
pub(super) fn queues(books: &Books, leaf: QueueId, ask: &Resources) -> Option<Wait> {
    amounts_of_queues(books, leaf, ask).find_map(Looked::wait)
}

/// What the queues from the leaf up may use.
#[inline]
pub(super) fn amounts_of_queues(
    books: &Books,
    leaf: QueueId,
    ask: &Resources,
) -> impl Iterator<Item = Looked> {
    books.up(leaf).map(|(id, queue)| {
        let shortfall = queue.shortfall(ask);
        Looked::of(Blocker::QueueMax(id), shortfall.is_some(), shortfall)
    })
}
