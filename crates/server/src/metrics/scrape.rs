//! Values that all metrics of a scrape share.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::books::Books;
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::{Name, Timestamp, WaitCode};
use headroom_engine::View;

use super::tenants::Waits;
use crate::service::Service;

/// Values of a scrape.
pub(super) struct Scrape<'a> {
    pub(super) service: &'a Service,
    pub(super) view: Arc<View>,
    pub(super) now: Timestamp,
    /// Number of waiting asks, by the code of their wait reason. The code of asks that are next is `NEXT`.
    pub(super) waiting: BTreeMap<(PartitionId, &'static str), u64>,
    /// Time of the oldest waiting ask of each partition.
    pub(super) oldest: BTreeMap<PartitionId, Timestamp>,
    /// Waiting tasks of each tenant that has any.
    pub(super) tenants: BTreeMap<Name, Waits>,
}

impl<'a> Scrape<'a> {
    /// Reads the current values. The writer is blocked while its counts of waiting asks are read. It has one count for
    /// each leaf and reason.
    pub(super) async fn of(service: &'a Service) -> Self {
        let counts = service.engine.inspect(|books, scheduler| {
            let mut waiting: BTreeMap<_, u64> = BTreeMap::new();
            let mut tenants: BTreeMap<Name, Waits> = BTreeMap::new();
            for (leaf, reason, count) in scheduler.pending_counts() {
                let key = (
                    books.queue(leaf).partition,
                    reason
                        .as_reported(books, leaf)
                        .code(books, leaf)
                        .map_or("NEXT", WaitCode::as_str),
                );
                *waiting.entry(key).or_default() += count.asks;
                wait(books, leaf, count.applications, None, &mut tenants);
            }
            let mut oldest: BTreeMap<_, Timestamp> = BTreeMap::new();
            for (leaf, at) in scheduler.oldest_waiting() {
                let known = oldest.entry(books.queue(leaf).partition).or_insert(at);
                *known = at.min(*known);
                wait(books, leaf, 0, Some(at), &mut tenants);
            }
            (waiting, oldest, tenants)
        });
        // If the engine has stopped, these counts are empty, and all other values are still shown.
        let (waiting, oldest, tenants) = counts.await.unwrap_or_default();
        let view = service.engine.views().at_least(0).await;
        Self { service, view, now: service.clock.now(), waiting, oldest, tenants }
    }

    /// Returns the partitions with their names.
    pub(super) fn partitions(&self) -> impl Iterator<Item = (PartitionId, &str)> {
        self.view.books.partitions().iter().map(|(id, row)| (*id, row.name.as_str()))
    }
}

/// Adds waiting tasks of a leaf to its tenant and that tenant's ancestors.
fn wait(
    books: &Books,
    leaf: QueueId,
    tasks: u64,
    oldest: Option<Timestamp>,
    tenants: &mut BTreeMap<Name, Waits>,
) {
    let mut last = None;
    for (_, queue) in books.up(leaf) {
        let tenant = queue.settings.tenant.as_ref().map(|mark| &mark.tenant);
        // A tenant with child tenants has two queues.
        if let Some(tenant) = tenant.filter(|tenant| last != Some(*tenant)) {
            tenants.entry(tenant.clone()).or_default().add(tasks, oldest);
        }
        last = tenant;
    }
}
