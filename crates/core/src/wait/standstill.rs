//! What stops a whole partition, whatever an ask is like.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::id::{AllocationId, PartitionId};
use crate::time::DisplayTime;

use super::{About, Blocker, Wait};

/// Returns what stops a partition, if anything does: its resource manager is away, or no node has a size.
///
/// It comes before every other reason, as nothing else helps while it lasts.
pub(crate) fn standstill(books: &Books, partition: PartitionId) -> Option<Blocker> {
    let row = books.partition(partition);
    if row.away.is_some() {
        return Some(Blocker::RmAway(partition));
    }
    books.queue(row.root).max.is_none().then_some(Blocker::NoNodes(partition))
}

/// Returns the resource manager of a partition, by its name if it is away.
pub(super) fn manager(books: &Books, partition: PartitionId) -> String {
    let away = books.partition(partition).away.as_ref();
    away.map_or_else(
        || "the resource manager".into(),
        |one| format!("resource manager {}", one.manager),
    )
}

/// Returns since when a resource manager is away, in words that follow its name.
pub(super) fn since(books: &Books, partition: PartitionId) -> String {
    let away = books.partition(partition).away.as_ref();
    away.map_or_else(String::new, |one| {
        format!(" has been disconnected since {}", DisplayTime(one.since))
    })
}

/// Returns what is wrong with the nodes of a partition that has none with a size.
pub(super) fn no_nodes(books: &Books, partition: PartitionId) -> &'static str {
    if books.partition(partition).nodes.is_empty() {
        "no node has registered"
    } else {
        "no node has reported its size"
    }
}

/// About a resource manager that is away.
pub(super) fn of_absence(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::AbsentManager(partition) = wait.blocker.about() else { return String::new() };
    let (manager, since) = (manager(books, partition), since(books, partition));
    format!(
        "{manager}{since}. Nothing starts until {manager} reconnects. Check the resource manager."
    )
}

/// About a partition without nodes.
pub(super) fn of_no_nodes(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::Partition(partition) = wait.blocker.about() else { return String::new() };
    let (why, name) = (no_nodes(books, partition), &books.partition(partition).name);
    format!("{why} in partition {name}. Register a node.")
}
