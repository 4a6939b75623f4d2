//! Periodic messages to an RM: events of objects, and asks that more nodes would help. Both can be dropped under
//! pressure. Scheduler interface §9.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use headroom_api::si::headroom::EventBatch;
use headroom_api::si::headroom::callback_scheduler_message::Content;
use headroom_api::si::v1::{EventRecord, UpdateContainerSchedulingStateRequest};
use headroom_core::books::Books;
use headroom_core::{Name, Timestamp};
use headroom_engine::{Notice, NoticeKind, Watcher};
use tokio::time::{MissedTickBehavior, interval};

use crate::convert::si::{RmUpdate, event, rm_update};

use super::interface::Interface;
use super::manager::Manager;

/// Setting next to the queue file: most records in one batch.
const CAPACITY: &str = "event.requestCapacity";
/// Default of that setting. Source: rest-api §9.4.
const CAPACITY_DEFAULT: usize = 1_000;

/// Most asks that are reported again at once. The others follow in turn, so that a report costs the same however many
/// asks wait.
const REPEATED_MAX: usize = 1_000;

/// Asks that more nodes would help. They are reported at intervals while they wait.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Asks>);

#[derive(Debug, Default)]
struct Asks {
    /// Asks that are not reported yet.
    new: Vec<UpdateContainerSchedulingStateRequest>,
    /// Asks that were reported, the one that is reported again next first.
    reported: VecDeque<UpdateContainerSchedulingStateRequest>,
    /// Whether to add asks that were reported before.
    seed: bool,
}

/// Sends an RM the messages that the RM wants to receive, until its registration ends.
pub(super) async fn run(interface: Interface, manager: Arc<Manager>) {
    let settings = *interface.settings();
    let (mut events, mut states) =
        (interval(settings.events_every), interval(settings.container_state_every));
    for each in [&mut events, &mut states] {
        each.set_missed_tick_behavior(MissedTickBehavior::Delay);
    }
    let mut watcher = None;
    loop {
        tokio::select! {
            _ = manager.over() => return,
            // From now on no event is missed.
            () = manager.asking.attached.notified() => {
                watcher = Some(manager.handle().watched().follow(0));
            }
            _ = events.tick() => tell_events(&interface, &manager, &mut watcher),
            _ = states.tick() => tell_states(&manager).await,
        }
    }
}

/// Sends all records since the last call.
fn tell_events(interface: &Interface, manager: &Manager, watcher: &mut Option<Watcher>) {
    let wants = manager.asking.capabilities().events && !manager.is_away();
    if !wants {
        *watcher = None;
        return;
    }
    let follow = || manager.handle().watched().follow(0);
    let following = watcher.get_or_insert_with(follow);
    let extra = &interface.service().queue_file.in_force().extra;
    let capacity = extra.get(CAPACITY).and_then(|text| text.parse().ok());
    let capacity = capacity.filter(|count| *count > 0).unwrap_or(CAPACITY_DEFAULT);
    while let Some(next) = following.next().now_or_never() {
        match next {
            Ok(Some(records)) => {
                let records: Vec<EventRecord> = records.iter().map(event).collect();
                for records in records.chunks(capacity) {
                    let batch = EventBatch { records: records.to_vec() };
                    manager.asking.offer(manager, Content::Events(batch));
                }
            }
            Ok(None) => return,
            // Records that were missed are not sent.
            Err(_) => *following = follow(),
        }
    }
}

/// Sends new asks that more nodes would help, and some of the others again.
async fn tell_states(manager: &Arc<Manager>) {
    let waiting = &manager.asking.waiting;
    if !manager.asking.capabilities().container_state || !waiting.has_any() {
        return waiting.clear();
    }
    let view = manager.handle().views().at_least(0).await;
    for request in waiting.due(manager.id(), &view.books) {
        if !manager.is_away() {
            manager.asking.offer(manager, Content::ContainerState(request));
        }
    }
}

impl Waiting {
    /// Adds an ask that more nodes would help.
    pub(super) fn note(&self, request: UpdateContainerSchedulingStateRequest) {
        self.asks().new.push(request);
    }

    /// Requests that asks that were reported before are added, because the RM wants these messages from now on.
    pub(super) fn seed(&self) {
        self.asks().seed = true;
    }

    fn has_any(&self) -> bool {
        let asks = self.asks();
        asks.seed || !asks.new.is_empty() || !asks.reported.is_empty()
    }

    /// Removes all asks, because the RM does not want these messages.
    fn clear(&self) {
        let mut asks = self.asks();
        (asks.new, asks.reported) = (Vec::new(), VecDeque::new());
    }

    /// Returns the asks to report that still wait: all new ones, and some of the others.
    ///
    /// Costs the new asks and [`REPEATED_MAX`] others. Asks that no longer wait are removed as fast as others are added.
    fn due(&self, rm_id: &str, books: &Books) -> Vec<UpdateContainerSchedulingStateRequest> {
        let mut asks = self.asks();
        if std::mem::take(&mut asks.seed) {
            // The reported asks are among them.
            (asks.new, asks.reported) = (told_before(rm_id, books), VecDeque::new());
        }
        let still_waits = |one: &UpdateContainerSchedulingStateRequest| {
            waits(books, &one.application_id, &one.allocation_key)
        };
        let mut due = std::mem::take(&mut asks.new);
        let again = asks.reported.len().min(REPEATED_MAX + due.len());
        due.extend(asks.reported.drain(..again));
        due.retain(still_waits);
        asks.reported.extend(due.iter().cloned());
        due
    }

    fn asks(&self) -> MutexGuard<'_, Asks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether an ask that more nodes would help still waits.
fn waits(books: &Books, application: &str, key: &str) -> bool {
    books.partitions().values().any(|partition| {
        let row = partition.allocations.get(key).map(|id| books.allocation(*id));
        row.is_some_and(|row| {
            let mine = *books.application(row.application).name == *application;
            mine && row.is_pending() && row.scale_up_asked
        })
    })
}

/// Returns all asks that were already reported as asks that could use more nodes.
fn told_before(rm_id: &str, books: &Books) -> Vec<UpdateContainerSchedulingStateRequest> {
    let asked = books.allocations().iter().filter(|(_, row)| row.scale_up_asked);
    let request = |application: &Name, key: &Name| {
        let news = NoticeKind::ScaleUp { application: application.clone(), key: key.clone() };
        match rm_update(rm_id, Timestamp::ZERO, &Notice { partition: Name::default(), news }) {
            RmUpdate::ContainerState(request) => Some(request),
            _ => None,
        }
    };
    let requests =
        asked.filter_map(|(_, row)| request(&books.application(row.application).name, &row.key));
    requests.collect()
}
