//! Views of the waiting applications of a leaf, in the order of scheduling. Source: tenants §3, §8.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Application, Books, Queue};
use crate::config::ApplicationOrder;
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::schedule::ApplicationKey;
use crate::time::Timestamp;

/// A waiting application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingView {
    /// Application that waits.
    pub application: ApplicationId,
    /// First of its asks.
    pub ask: AllocationId,
    /// Priority, including steps gained by waiting if the order of the leaf uses them.
    pub priority: i64,
}

/// Returns the leaf for the own tasks of a tenant. `None` if the tenant is a limit or does not exist.
pub fn leaf_of_tenant(books: &Books, partition: PartitionId, tenant: &Name) -> Option<QueueId> {
    let row = books.partition(partition);
    let path = row.tenants.path_of(&row.settings.tenants.as_deref()?.root, tenant)?;
    let queue = *row.queues.get(&*path)?;
    if books.queue(queue).leaf {
        return Some(queue);
    }
    let mut below = books.children(queue);
    let is_own =
        |row: &Queue| row.settings.tenant.as_ref().is_some_and(|mark| mark.tenant == *tenant);
    below.find(|(_, row)| row.leaf && is_own(row)).map(|(id, _)| id)
}

/// Returns the waiting applications of a leaf in the current order of scheduling. Costs its unfinished applications.
pub fn waiting(books: &Books, now: Timestamp, leaf: QueueId) -> Vec<WaitingView> {
    let mut all: Vec<(ApplicationKey, WaitingView)> = books
        .applications_in(leaf)
        .filter_map(|(id, application)| {
            let (key, priority) = place_of(books, now, application)?;
            Some((key, WaitingView { application: id, ask: first_ask(books, id)?, priority }))
        })
        .collect();
    all.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, view)| view).collect()
}

/// Returns the position of a waiting application in its leaf, starting at 1, and the number of waiting applications.
/// `None` if it does not wait. Costs the unfinished applications of the leaf.
pub fn place(books: &Books, now: Timestamp, id: ApplicationId) -> Option<(usize, usize)> {
    let leaf = books.applications().get(id)?.queue;
    let all = waiting(books, now, leaf);
    let before = all.iter().position(|one| one.application == id)?;
    Some((before + 1, all.len()))
}

/// Returns the key and the priority of an application in its leaf. The smallest key is first. `None` if it does not
/// wait.
pub(super) fn place_of(
    books: &Books,
    now: Timestamp,
    application: &Application,
) -> Option<(ApplicationKey, i64)> {
    let leaf = books.queue(application.queue);
    let priority = application.priority()?;
    let aged = aged(leaf, application, now);
    let key = ApplicationKey::of(application, leaf, priority, aged);
    Some((key, i64::from(priority) + i64::from(aged)))
}

/// Returns the steps of priority that an application gained by waiting. 0 if the order of the leaf does not use them.
fn aged(leaf: &Queue, application: &Application, now: Timestamp) -> u32 {
    let values = &leaf.settings.values;
    match values.application_order {
        ApplicationOrder::Priority => values.line.aged(now.since(application.submitted)),
        ApplicationOrder::Fifo
        | ApplicationOrder::Fair
        | ApplicationOrder::FifoStrict
        | ApplicationOrder::FifoBackfill
        | ApplicationOrder::Urgency => 0,
    }
}

pub(super) fn first_ask(books: &Books, application: ApplicationId) -> Option<AllocationId> {
    let asks = books.allocations_of(application).filter(|(_, row)| row.is_pending());
    asks.min_by_key(|(_, row)| (Reverse(row.priority), row.created, row.number)).map(|(id, _)| id)
}
