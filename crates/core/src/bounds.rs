//! Checks of limits and queue maxima, in the order in which the scheduler applies them.
//!
//! Pure functions of [`Books`]: `schedule` checks asks with them, and `rules` checks resizes. Each function costs the
//! depth of the queue.

use crate::books::{Books, Level, TrackerLink};
use crate::id::{LevelId, PartitionId, QueueId};
use crate::resource::{Resources, Shortfall};
use crate::wait::{Blocker, CheckResult, Wait};

/// Returns the wait for the queue nearest to the root that has reached its limit on running applications.
pub(crate) fn queues_full(books: &Books, leaf: QueueId) -> Option<Wait> {
    numbers_of_queues(books, leaf).filter_map(CheckResult::wait).last()
}

/// Checks the limit on running applications of each queue from the leaf to the root. The last failed check has
/// precedence.
pub(crate) fn numbers_of_queues(books: &Books, leaf: QueueId) -> impl Iterator<Item = CheckResult> {
    books.up(leaf).map(|(id, queue)| {
        CheckResult::of(Blocker::QueueApplications(id), !queue.allows_application(), None)
    })
}

/// Returns the wait for the first tracker level that has reached its limit on running applications. Levels of the user
/// precede levels of the group, and lower levels precede higher ones.
pub(crate) fn limits_full(
    books: &Books,
    partition: PartitionId,
    link: TrackerLink,
) -> Option<Wait> {
    numbers_of_limits(books, partition, link).find_map(CheckResult::wait)
}

/// Checks the limit on running applications of the user, then of the group, at each level from the leaf to the root.
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

/// Returns the tracker levels of the user, then of the group, whose limits apply to this link.
pub(crate) fn levels(
    books: &Books,
    partition: PartitionId,
    link: TrackerLink,
) -> impl Iterator<Item = (LevelId, Level<'_>)> {
    let row = books.partition(partition);
    let trackers = &row.trackers;
    let group = link.group.level().into_iter().flat_map(|level| trackers.up(level));
    trackers.up(link.user).chain(group.skip(row.group_levels_skipped(link)))
}

/// Limit or maximum that amounts exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Maximum of a queue.
    QueueMax(QueueId),
    /// Limit of a user or a group at a queue.
    Limit(PartitionId, LevelId),
}

/// Returns the first limit or maximum that a user of a leaf exceeds with these additional amounts. Ignores the fair
/// share of the user.
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

/// Returns the first tracker level whose limit `ask` exceeds, with the shortfall.
///
/// `surely` means that the limits of the user are known to allow `ask`, so that only the group is checked.
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
        trackers.refusing(group, row.group_levels_skipped(link), ask)
    })
}

/// Returns the wait for the first limit that `ask` exceeds. `surely` skips the limits of the user, as in
/// [`refusing_level`].
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

/// Checks the amounts of the user, then of the group, at each level from the leaf to the root.
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

/// Returns the wait for the first queue maximum that `ask` exceeds, from the leaf to the root.
///
/// A type that no node has is absent from the maximum of the root, so the root does not refuse it. The check of the
/// nodes finds that the type is missing.
#[inline]
pub(crate) fn queues(books: &Books, leaf: QueueId, ask: &Resources) -> Option<Wait> {
    amounts_of_queues(books, leaf, ask).find_map(CheckResult::wait)
}

/// Checks the maximum of each queue from the leaf to the root.
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
