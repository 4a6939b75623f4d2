//! `GET /headroom/v1/partitions/{partition}/reasons`: the waiting asks by reason.
//!
//! The scheduler is blocked while its counts are read. It has one count for each leaf and reason. The search for
//! examples visits a bounded number of places.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{Code, WaitingExample, WaitingReason, WaitingReasons};
use headroom_core::books::Books;
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::resource::Resources;
use headroom_core::{Reason, Scheduler, Timestamp, WaitCode};

use super::answer::{Refused, json};
use super::partitions::of_path;
use super::request::NativeRequest;
use super::visible;
use super::words::{stamp, time};
use crate::caller::Caller;
use crate::convert::value::resources;
use crate::rest::Visibility;
use crate::service::Service;

/// Maximum number of examples of one reason.
const EXAMPLES: usize = 3;
/// Maximum number of places that are searched for examples of a reason.
const PLACES: usize = 64;
/// Number of reasons with examples.
const EXPLAINED: usize = 20;
/// Maximum number of queues that are named for a reason.
const QUEUES: usize = 5;

pub(super) async fn reasons(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let parameters = asked.parameters(&["queue", "limit"])?;
    let limit = parameters.limit()?;
    let view = service.engine.views().at_least(0).await;
    let partition = of_path(&view.books, &asked)?;
    let below = match parameters.get("queue") {
        None => view.books.partition(partition).root,
        Some(path) => {
            let found = view.books.queue_at(partition, &path.to_lowercase());
            let seen = found.filter(|queue| visible::queue(&view.books, &asked.caller, *queue));
            let detail = || format!("queue {path:?} does not exist, or you cannot see it");
            seen.ok_or_else(|| Refused::new(&asked, Code::NotFound, detail()))?
        }
    };
    let caller = asked.caller.clone();
    let found = service.engine.inspect(move |books, scheduler| {
        Look { books, scheduler, caller: &caller, partition, below }.found(limit)
    });
    let found = found.await.map_err(|why| Refused::unavailable(&asked, &why))?;
    let body = WaitingReasons {
        stamp: stamp(&service, &view),
        partition: view.books.partition(partition).name.to_string(),
        ..found
    };
    Ok(json(&asked, &body))
}

/// State of one pass over the waiting asks.
struct Look<'a> {
    books: &'a Books,
    scheduler: &'a Scheduler,
    caller: &'a Caller,
    partition: PartitionId,
    below: QueueId,
}

/// Sums for one reason.
#[derive(Default)]
struct Sum {
    asks: u64,
    applications: u64,
    resources: Resources,
    leaves: Vec<(u64, QueueId)>,
}

impl Look<'_> {
    fn found(&self, limit: usize) -> WaitingReasons {
        let mut body = WaitingReasons { oldest: self.oldest().map(time), ..Default::default() };
        let mut sums: BTreeMap<(Reason, WaitCode), Sum> = BTreeMap::new();
        let counts_hidden = visible::counts_hidden(self.caller);
        for (leaf, reason, count) in
            self.scheduler.pending_counts().filter(|one| self.is_below(one.0))
        {
            if !self.sees(leaf) {
                body.hidden += if counts_hidden { count.asks } else { 0 };
                continue;
            }
            body.waiting_asks += count.asks;
            let reason = reason.as_reported(self.books, leaf);
            let Some(code) = reason.code(self.books, leaf) else {
                body.next_asks += count.asks;
                continue;
            };
            let sum = sums.entry((reason, code)).or_default();
            sum.asks += count.asks;
            sum.applications += count.applications;
            sum.resources.add(&count.resources);
            sum.leaves.push((count.asks, leaf));
        }
        let mut sums: Vec<((Reason, WaitCode), Sum)> = sums.into_iter().collect();
        sums.sort_by_key(|(reason, sum)| (Reverse(sum.asks), *reason));
        body.more = sums.len().saturating_sub(limit) as u64;
        sums.truncate(limit);
        let shown = sums.into_iter().enumerate();
        body.reasons = shown
            .map(|(place, (reason, sum))| self.waiting_reason(reason, sum, place < EXPLAINED))
            .collect();
        body
    }

    fn waiting_reason(
        &self,
        (reason, code): (Reason, WaitCode),
        mut sum: Sum,
        explained: bool,
    ) -> WaitingReason {
        sum.leaves
            .sort_by_key(|(asks, leaf)| (Reverse(*asks), self.books.queue(*leaf).path.clone()));
        let queues = sum.leaves.iter().take(QUEUES);
        let examples = if explained { self.examples(reason, code) } else { Vec::new() };
        WaitingReason {
            code: code.as_str().to_owned(),
            scope: self.scope(reason),
            asks: sum.asks,
            applications: sum.applications,
            resources: resources(&self.books.types().amounts(&sum.resources)),
            queues: queues.map(|(_, leaf)| self.books.queue(*leaf).path.to_string()).collect(),
            examples,
        }
    }

    /// Returns the object that has the limit. Omits names that the caller does not see.
    fn scope(&self, reason: Reason) -> String {
        match reason {
            Reason::For(blocker) => Visibility::of(self.caller).scope_of(self.books, blocker),
            _ => reason.subject(self.books).unwrap_or_default(),
        }
    }

    fn examples(&self, reason: Reason, code: WaitCode) -> Vec<WaitingExample> {
        let wanted = |leaf| {
            self.is_below(leaf)
                && self.sees(leaf)
                && reason.as_reported(self.books, leaf).code(self.books, leaf) == Some(code)
        };
        let found = self.scheduler.examples_of(reason, wanted, PLACES).into_iter();
        let mut examples = Vec::new();
        for one in found {
            let row = self.books.allocation(one.ask);
            let application = self.books.application(row.application);
            let user = &application.user;
            if !visible::user_in(self.books, self.caller, user, application.queue) {
                continue;
            }
            let wanted = self.books.resources_of(one.ask);
            let wait = self.scheduler.wait_of(self.books, one.ask);
            let sight = Visibility::of(self.caller);
            let sentence = wait.map(|wait| sight.reason(self.books, &wait, one.ask));
            examples.push(WaitingExample {
                application: application.name.to_string(),
                ask: row.key.to_string(),
                queue: application.queue_path.to_string(),
                user: user.to_string(),
                resources: resources(&self.books.types().amounts(wanted)),
                since: time(row.created),
                asks: one.asks,
                sentence: sentence
                    .unwrap_or_else(|| "the scheduler checks the ask again soon".to_owned()),
            });
            if examples.len() == EXAMPLES {
                break;
            }
        }
        examples
    }

    fn oldest(&self) -> Option<Timestamp> {
        let oldest = self.scheduler.oldest_waiting();
        let seen = oldest.filter(|(leaf, _)| self.is_below(*leaf) && self.sees(*leaf));
        seen.map(|(_, oldest)| oldest).min()
    }

    fn is_below(&self, leaf: QueueId) -> bool {
        self.books.queue(leaf).partition == self.partition
            && self.books.up(leaf).any(|(queue, _)| queue == self.below)
    }

    fn sees(&self, leaf: QueueId) -> bool {
        visible::queue(self.books, self.caller, leaf)
    }
}
