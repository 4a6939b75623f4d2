//! Conditions that stop a whole partition, for every ask.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::id::{AllocationId, PartitionId};
use crate::time::DisplayTime;

use super::{About, Blocker, Wait};

/// Returns the condition that stops a partition: its resource manager is disconnected, or no node has a size.
///
/// This check precedes every other check, because no other remedy helps while the condition lasts.
pub(crate) fn standstill(books: &Books, partition: PartitionId) -> Option<Blocker> {
    let row = books.partition(partition);
    if row.away.is_some() {
        return Some(Blocker::RmAway(partition));
    }
    books.queue(row.root).max.is_none().then_some(Blocker::NoNodes(partition))
}

/// Returns the phrase for the resource manager of a partition. Includes its name if it is disconnected.
pub(super) fn manager(books: &Books, partition: PartitionId) -> String {
    let away = books.partition(partition).away.as_ref();
    away.map_or_else(
        || "the resource manager".into(),
        |one| format!("resource manager {}", one.manager),
    )
}

/// Returns since when a resource manager is disconnected, as a phrase that follows its name.
pub(super) fn since(books: &Books, partition: PartitionId) -> String {
    let away = books.partition(partition).away.as_ref();
    away.map_or_else(String::new, |one| {
        format!(" has been disconnected since {}", DisplayTime(one.since))
    })
}

/// Returns why no node of the partition has a size.
pub(super) fn no_nodes(books: &Books, partition: PartitionId) -> &'static str {
    if books.partition(partition).nodes.is_empty() {
        "no node has registered"
    } else {
        "no node has reported its size"
    }
}

/// Returns the sentence for a disconnected resource manager.
pub(super) fn of_absence(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::AbsentManager(partition) = wait.blocker.about() else { return String::new() };
    let (manager, since) = (manager(books, partition), since(books, partition));
    format!(
        "{manager}{since}. Nothing starts until {manager} reconnects. Check the resource manager."
    )
}

/// Returns the sentence for a partition without nodes.
pub(super) fn of_no_nodes(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::Partition(partition) = wait.blocker.about() else { return String::new() };
    let (why, name) = (no_nodes(books, partition), &books.partition(partition).name);
    format!("{why} in partition {name}. Register a node.")
}
