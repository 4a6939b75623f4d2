//! What the limits and the maxima in the books allow, as checks in their order.
//!
//! Pure reads of [`Books`]: `schedule` judges asks by them, and `rules` judges resizes. Each function costs the depth of
//! the queue.

use crate::books::{Books, Level, TrackerLink};
use crate::id::{LevelId, PartitionId, QueueId};
use crate::resource::{Resources, Shortfall};
use crate::wait::{Blocker, CheckResult, Wait};

/// The highest queue in which no more application may run.
pub(crate) fn queues_full(books: &Books, leaf: QueueId) -> Option<Wait> {
    numbers_of_queues(books, leaf).filter_map(CheckResult::wait).last()
}

/// The numbers of applications that may run in the queues from a leaf up; what the highest says
/// comes first.
pub(crate) fn numbers_of_queues(books: &Books, leaf: QueueId) -> impl Iterator<Item = CheckResult> {
    books.up(leaf).map(|(id, queue)| {
        CheckResult::of(Blocker::QueueApplications(id), !queue.allows_application(), None)
    })
}

/// The lowest level of its user, then of its group, at which no more application may run.
pub(crate) fn limits_full(
    books: &Books,
    partition: PartitionId,
    link: TrackerLink,
) -> Option<Wait> {
    numbers_of_limits(books, partition, link).find_map(CheckResult::wait)
}

/// The numbers of applications that a user, then their group, may run, each from the leaf up.
pub(crate) fn numbers_of_limits(
    books: &Books,
    partition: PartitionId,
    link: TrackerLink,
) -> impl Iterator<Item = CheckResult> {
    levels(books, partition, link).map(move |(id, level)| {
        let blocker = Blocker::LimitApplications(partition, id);
        CheckResult::of(blocker, !level.allows_application(), None)
    })
}

/// The levels of the user, then of their group, whose limits apply to this link.
pub(crate) fn levels(
    books: &Books,
    partition: PartitionId,
    link: TrackerLink,
) -> impl Iterator<Item = (LevelId, Level<'_>)> {
    let row = books.partition(partition);
    let trackers = &row.trackers;
    let group = link.group.level().into_iter().flat_map(|level| trackers.up(level));
    trackers.up(link.user).chain(group.skip(row.lifted(link)))
}

/// A limit or a maximum that amounts exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The maximum of a queue.
    QueueMax(QueueId),
    /// The limit of a user or a group at a queue.
    Limit(PartitionId, LevelId),
}

/// The first limit or maximum that a user of a leaf exceeds with these amounts. Their share of the leaf does not count.
pub(crate) fn exceeded(
    books: &Books,
    leaf: QueueId,
    link: TrackerLink,
    amounts: &Resources,
) -> Option<Bound> {
    let partition = books.queue(leaf).partition;
    let limit = refusing_level(books, partition, (link, false), amounts);
    let limit = limit.map(|(level, _)| Bound::Limit(partition, level));
    limit.or_else(|| {
        let mut above = books.up(leaf);
        above
            .find(|(_, queue)| queue.shortfall(amounts).is_some())
            .map(|(id, _)| Bound::QueueMax(id))
    })
}

/// The lowest level of the user, then of the group, whose limit amounts exceed; that of the user is not checked if it
/// surely allows them.
#[inline]
fn refusing_level(
    books: &Books,
    partition: PartitionId,
    (link, surely): (TrackerLink, bool),
    ask: &Resources,
) -> Option<(LevelId, Shortfall)> {
    let row = books.partition(partition);
    let trackers = &row.trackers;
    let of_user = || trackers.refusing(link.user, 0, ask);
    debug_assert!(!surely || of_user().is_none(), "the limits of the user allow it");
    if surely { None } else { of_user() }.or_else(|| {
        let group = link.group.level()?;
        trackers.refusing(group, row.lifted(link), ask)
    })
}

/// The limits alone, those of the user unless they surely allow it.
#[inline]
pub(crate) fn limits(
    books: &Books,
    partition: PartitionId,
    (link, surely): (TrackerLink, bool),
    ask: &Resources,
) -> Option<Wait> {
    let refusing =
        refusing_level(books, partition, (link, surely), ask).map(|(level, shortfall)| Wait {
            blocker: Blocker::Limit(partition, level),
            shortfall: Some(shortfall),
        });
    debug_assert_eq!(
        refusing,
        amounts_of_limits(books, partition, link, ask).find_map(CheckResult::wait),
        "many levels are asked at once what each would say"
    );
    refusing
}

/// What a user, then their group, may use, each from the leaf up, one by one.
pub(crate) fn amounts_of_limits(
    books: &Books,
    partition: PartitionId,
    link: TrackerLink,
    ask: &Resources,
) -> impl Iterator<Item = CheckResult> {
    levels(books, partition, link).map(move |(id, level)| {
        let shortfall = level.shortfall(ask);
        CheckResult::of(Blocker::Limit(partition, id), shortfall.is_some(), shortfall)
    })
}

/// The maxima of the queues from the leaf up. A type that no node has is missing in the size
/// of the cluster, so the root does not hold it back: that no node has it is found there.
#[inline]
pub(crate) fn queues(books: &Books, leaf: QueueId, ask: &Resources) -> Option<Wait> {
    amounts_of_queues(books, leaf, ask).find_map(CheckResult::wait)
}

/// What the queues from the leaf up may use.
#[inline]
pub(crate) fn amounts_of_queues(
    books: &Books,
    leaf: QueueId,
    ask: &Resources,
) -> impl Iterator<Item = CheckResult> {
    books.up(leaf).map(|(id, queue)| {
        let shortfall = queue.shortfall(ask);
        CheckResult::of(Blocker::QueueMax(id), shortfall.is_some(), shortfall)
    })
}
