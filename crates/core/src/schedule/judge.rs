//! The checks, in their order: may its application run, do user and group allow it, do the
//! queues, and is there a node. The first that fails is the reason for waiting.

use crate::books::{Books, Link};
use crate::id::{NodeId, PartitionId, QueueId};
use crate::resource::Resources;
use crate::wait::{Blocker, Wait};

use super::class::{ClassKey, Standing};
use super::nodes::NodeIndex;

/// What is to be done with a class.
pub(super) enum Verdict {
    /// Choose the group of its first application.
    Link,
    /// Place its first ask.
    Place(NodeId),
    /// Park it.
    Wait(Wait),
}

/// Judge a class against the books.
#[inline]
pub(super) fn judge(books: &Books, nodes: &mut NodeIndex, key: ClassKey) -> Verdict {
    if key.standing == Standing::Unlinked {
        return Verdict::Link;
    }
    if let Some(wait) = held_back(books, key) {
        return Verdict::Wait(wait);
    }
    if let Some(node) = nodes.first_fit(books, books.shapes().get(key.shape)) {
        return Verdict::Place(node);
    }
    let blocker = Blocker::Nodes(books.queue(key.leaf).partition);
    Verdict::Wait(Wait { blocker, shortfall: None })
}

/// The first check that a class fails before nodes are looked at; none if it passes all.
#[inline]
pub(super) fn held_back(books: &Books, key: ClassKey) -> Option<Wait> {
    let link = key.standing.link()?;
    let ask = books.shapes().get(key.shape);
    let partition = books.queue(key.leaf).partition;
    matches!(key.standing, Standing::Starting(..))
        .then(|| applications(books, partition, key.leaf, link))
        .flatten()
        .or_else(|| limits(books, partition, link, ask))
        .or_else(|| queues(books, key.leaf, ask))
}

/// Whether one more application may run: in each queue from the root down, then by its user's
/// and its group's limits from the leaf up.
fn applications(books: &Books, partition: PartitionId, leaf: QueueId, link: Link) -> Option<Wait> {
    let wait = |blocker| Wait { blocker, shortfall: None };
    let full = books.up(leaf).filter(|(_, queue)| !queue.allows_application()).last();
    if let Some((queue, _)) = full {
        return Some(wait(Blocker::QueueApplications(queue)));
    }
    let partition_row = books.partition(partition);
    let trackers = &partition_row.trackers;
    let group = link.group.level().into_iter().flat_map(|level| trackers.up(level));
    trackers
        .up(link.user)
        .chain(group.skip(partition_row.lifted(link)))
        .find(|(_, level)| !level.allows_application())
        .map(|(level, _)| wait(Blocker::LimitApplications(partition, level)))
}

/// The limits of the user, then of the group, each from the leaf up.
#[inline]
fn limits(books: &Books, partition: PartitionId, link: Link, ask: &Resources) -> Option<Wait> {
    let row = books.partition(partition);
    let trackers = &row.trackers;
    let refusing = trackers.refusing(link.user, 0, ask).or_else(|| {
        let group = link.group.level()?;
        trackers.refusing(group, row.lifted(link), ask)
    });
    refusing.map(|(level, shortfall)| Wait {
        blocker: Blocker::Limit(partition, level),
        shortfall: Some(shortfall),
    })
}

/// The maxima of the queues from the leaf up. A type that no node has is missing in the size
/// of the cluster, so the root does not hold it back: that no node has it is found there.
#[inline]
fn queues(books: &Books, leaf: QueueId, ask: &Resources) -> Option<Wait> {
    books.up(leaf).find_map(|(id, queue)| {
        let shortfall = queue.shortfall(ask)?;
        Some(Wait { blocker: Blocker::QueueMax(id), shortfall: Some(shortfall) })
    })
}
