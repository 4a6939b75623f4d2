//! What has a whole partition stand still, whatever an ask is like.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::id::PartitionId;
use crate::time::Told;

use super::Blocker;

/// Returns what has a partition stand still, if it does: its resource manager is away, or no node has a size.
///
/// It comes before every other reason, as nothing else helps while it lasts.
pub(crate) fn standstill(books: &Books, partition: PartitionId) -> Option<Blocker> {
    let row = books.partition(partition);
    if row.away.is_some() {
        return Some(Blocker::RmAway(partition));
    }
    books.queue(row.root).max.is_none().then_some(Blocker::NoNodes(partition))
}

/// The resource manager of a partition.
pub(super) fn manager(books: &Books, partition: PartitionId) -> String {
    let away = books.partition(partition).away.as_ref();
    away.map_or_else(
        || "the resource manager".into(),
        |one| format!("resource manager {}", one.manager),
    )
}

/// Since when a resource manager is away, after its name.
pub(crate) fn of_absence(books: &Books, partition: PartitionId) -> String {
    let away = books.partition(partition).away.as_ref();
    away.map_or_else(String::new, |one| format!(" has been away since {}", Told(one.since)))
}

/// What is wrong with the nodes of a partition that has none with a size.
pub(crate) fn of_no_nodes(books: &Books, partition: PartitionId) -> &'static str {
    if books.partition(partition).nodes.is_empty() {
        "no node has registered"
    } else {
        "no node has reported its size"
    }
}

/// Returns the sentence about a partition that stands still.
pub(super) fn sentence(books: &Books, partition: PartitionId) -> String {
    let row = books.partition(partition);
    if row.away.is_none() {
        let why = of_no_nodes(books, partition);
        return format!("{why} in partition {}; register a node", row.name);
    }
    let (manager, since) = (manager(books, partition), of_absence(books, partition));
    format!("{manager}{since}; nothing starts before it is back; see to the resource manager")
}
