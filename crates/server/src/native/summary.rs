//! Summary of a partition.
//!
//! The cost depends on the nodes, the queues, and the limits of a partition, and not on its asks and allocations, which
//! are counted as they change.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use headroom_api::headroomv1::{AwayManager, NodeCounts, PartitionSummary, StarvedQueue};
use headroom_core::Timestamp;
use headroom_core::books::{Application, ApplicationState, Books, Queue};
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::resource::{Quantity, Resources};
use headroom_engine::View;

use super::health::per_second;
use super::over_limit::over_limit;
use super::request::NativeRequest;
use super::visible;
use super::words::time;
use crate::convert::value::resources;
use crate::service::Service;

/// Maximum number of entries in a list of problems.
pub(super) const LISTED_MAX: usize = 10;

/// Time of the oldest waiting ask in each leaf.
#[derive(Debug, Default)]
pub(super) struct Ages(BTreeMap<QueueId, Timestamp>);

impl Ages {
    /// Reads the times from the scheduler. If the scheduler has stopped, reads the times from the books.
    pub(super) async fn of(service: &Service) -> Self {
        let known = service.engine.inspect(|_, scheduler| scheduler.oldest_waiting().collect());
        if let Ok(ages) = known.await {
            return Self(ages);
        }
        let mut ages: BTreeMap<QueueId, Timestamp> = BTreeMap::new();
        let view = service.engine.views().latest();
        for (_, row) in view.books.allocations().iter().filter(|(_, row)| row.is_pending()) {
            let leaf = view.books.application(row.application).queue;
            let oldest = ages.entry(leaf).or_insert(row.created);
            *oldest = row.created.min(*oldest);
        }
        Self(ages)
    }

    /// Returns the oldest time among leaves that `wanted` accepts.
    pub(super) fn oldest(&self, wanted: impl Fn(QueueId) -> bool) -> Option<Timestamp> {
        self.0.iter().filter(|(leaf, _)| wanted(**leaf)).map(|(_, oldest)| *oldest).min()
    }
}

/// Returns the part of the summary of a partition that the caller can see. If its root queue is hidden from the caller,
/// the sums cover only the visible queues.
pub(super) fn summary(
    service: &Service,
    view: &View,
    ages: &Ages,
    asked: &NativeRequest,
    id: PartitionId,
) -> PartitionSummary {
    let books = &view.books;
    let row = books.partition(id);
    let root = books.queue(row.root);
    let everything = visible::everything(&asked.caller);
    let sees = |queue: QueueId| {
        books.queues().get(queue).is_some_and(|row| row.partition == id)
            && visible::queue(books, &asked.caller, queue)
    };
    let sum = |amount: fn(&Queue) -> &Resources| {
        let sum = highest_seen(books, id, &sees).fold(Resources::new(), |mut sum, queue| {
            sum.add(amount(queue));
            sum
        });
        books.types().amounts(&sum)
    };
    let allocated = sum(|queue| &queue.allocated);
    let capacity = root.max.as_ref().filter(|_| sees(row.root));
    // These counts cover the whole partition.
    let whole = view.tally.partitions.get(&id).filter(|_| everything);
    let tally = whole.cloned().unwrap_or_default();
    let now = service.clock.now();
    let oldest = ages.oldest(sees).map_or(0, |oldest| now.since(oldest).get() / 1_000);
    PartitionSummary {
        name: row.name.to_string(),
        state: root.state.to_string(),
        away: row
            .away
            .as_ref()
            .map(|one| AwayManager { manager: one.manager.to_string(), since: time(one.since) }),
        nodes: if everything { node_counts(books, id) } else { NodeCounts::default() },
        types: by_use(books, &root.allocated, root.max.as_ref()),
        capacity: capacity.map(|max| resources(&books.types().amounts(max))).unwrap_or_default(),
        allocated: resources(&allocated),
        pending: resources(&sum(|queue| &queue.pending)),
        placeholders: resources(&tally.placeholders()),
        preempting: resources(&sum(|queue| &queue.preempting)),
        applications: if everything {
            applications(view, id)
        } else {
            applications_seen(view, id, &sees)
        },
        allocations: if everything {
            row.allocation_count
        } else {
            seen_of(books, id, &sees, |row| row.allocation_count)
        },
        waiting_asks: if everything {
            row.ask_count
        } else {
            seen_of(books, id, &sees, |row| row.ask_count)
        },
        oldest_wait_seconds: oldest,
        starved: starved(books, ages, id, &sees),
        over_limit: over_limit(books, &asked.caller, id, &sees),
        decisions_per_second: per_second(tally.decisions.within_a_minute(now)),
    }
}

/// Returns the queues that the caller sees and whose parents are hidden from the caller.
fn highest_seen<'books>(
    books: &'books Books,
    partition: PartitionId,
    sees: &impl Fn(QueueId) -> bool,
) -> impl Iterator<Item = &'books Queue> {
    let queues = books.partition(partition).queues.iter().map(|(_, queue)| *queue);
    let highest = queues.filter(move |queue| {
        sees(*queue) && books.queue(*queue).parent.is_none_or(|parent| !sees(parent))
    });
    highest.map(|queue| books.queue(queue)).collect::<Vec<_>>().into_iter()
}

/// Returns the number of nodes of a partition by state.
pub(crate) fn node_counts(books: &Books, partition: PartitionId) -> NodeCounts {
    let mut counts = NodeCounts::default();
    for (_, node) in books.partition(partition).nodes.iter() {
        if books.node(*node).schedulable {
            counts.active += 1;
        } else {
            counts.draining += 1;
        }
    }
    // A lost node is removed from the books, so none is counted as failed.
    counts
}

/// States in the order of the output.
const STATES: [ApplicationState; 8] = [
    ApplicationState::New,
    ApplicationState::Accepted,
    ApplicationState::Running,
    ApplicationState::Completing,
    ApplicationState::Completed,
    ApplicationState::Resuming,
    ApplicationState::Failing,
    ApplicationState::Failed,
];

fn applications(view: &View, partition: PartitionId) -> BTreeMap<String, u64> {
    let states = view.tally.partitions.get(&partition).map(|one| one.states).unwrap_or_default();
    let rejected = view.books.partition(partition).rejected.len() as u64;
    let counts = STATES.into_iter().map(|state| (state.to_string(), states.get(state)));
    with_total(counts.chain([("Rejected".to_owned(), rejected)]))
}

fn applications_seen(
    view: &View,
    partition: PartitionId,
    sees: &impl Fn(QueueId) -> bool,
) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (path, queue) in view.books.partition(partition).queues.iter() {
        let Some(tally) = view.tally.queues.get(path).filter(|_| sees(*queue)) else { continue };
        for state in STATES {
            *counts.entry(state.to_string()).or_default() += tally.states.get(state);
        }
    }
    with_total(counts.into_iter())
}

fn with_total(counts: impl Iterator<Item = (String, u64)>) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = counts.filter(|(_, count)| *count > 0).collect();
    let total = counts.values().sum();
    counts.insert("total".to_owned(), total);
    counts
}

/// Returns a sum over the applications in queues that the caller can see. The function visits these queues, which are
/// few for a caller with restricted visibility.
fn seen_of(
    books: &Books,
    partition: PartitionId,
    sees: &impl Fn(QueueId) -> bool,
    count: fn(&Application) -> u32,
) -> u64 {
    let queues = books.partition(partition).queues.iter().map(|(_, queue)| *queue);
    let seen = queues.filter(|queue| sees(*queue));
    let applications = seen.flat_map(|queue| books.applications_in(queue));
    applications.map(|(_, row)| u64::from(count(row))).sum()
}

/// Returns the resource types, the most used first.
fn by_use(books: &Books, used: &Resources, total: Option<&Resources>) -> Vec<String> {
    let mut types: Vec<(u64, &str)> = total
        .into_iter()
        .flat_map(Resources::iter)
        .map(|(resource, total)| {
            let used = i128::from(used.get_or_zero(resource).get().max(0));
            let millionths = used * 1_000_000 / i128::from(total.get().max(1));
            let millionths = u64::try_from(millionths).unwrap_or(u64::MAX);
            (millionths, books.types().name(resource).as_str())
        })
        .collect();
    types.sort_by_key(|(share, name)| (Reverse(*share), *name));
    types.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Returns queues that have asks for a type of which they have less than their guarantee, the longest wait first.
fn starved(
    books: &Books,
    ages: &Ages,
    partition: PartitionId,
    sees: &impl Fn(QueueId) -> bool,
) -> Vec<StarvedQueue> {
    let mut found = Vec::new();
    for (_, id) in books.partition(partition).queues.iter().filter(|(_, id)| sees(**id)) {
        let queue = books.queue(*id);
        for (resource, guaranteed) in queue.guaranteed.iter().flat_map(Resources::iter) {
            let allocated = queue.allocated.get_or_zero(resource);
            let pending = queue.pending.get_or_zero(resource);
            if allocated >= guaranteed || pending <= Quantity::ZERO {
                continue;
            }
            let below = |leaf: QueueId| {
                books.queues().get(leaf).is_some() && books.up(leaf).any(|(one, _)| one == *id)
            };
            // The ages can be older than the view, and lack the first ask of a queue.
            let since = ages.oldest(below).unwrap_or_default();
            found.push(StarvedQueue {
                queue: queue.path.to_string(),
                resource: books.types().name(resource).to_string(),
                guaranteed: guaranteed.get(),
                allocated: allocated.get(),
                pending: pending.get(),
                since: time(since),
            });
        }
    }
    found.sort_by(|one, other| (one.since, &one.queue).cmp(&(other.since, &other.queue)));
    found.truncate(LISTED_MAX);
    found
}
