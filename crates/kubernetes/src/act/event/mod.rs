//! Writes events, best effort.
//!
//! Equal events on an object are written once, and then as a series: a patch with their number, at most every
//! [`SERIES_PAUSE`]. A full queue drops events. They never delay a bind.

mod body;
mod record;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use headroom_pods::convert::event::Event;
use headroom_server::{ClusterCounters, EventOutcome};
use http::Method;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::client::{Api, Content, path};

use super::Options;
use body::Source;
use record::{Key, Records, Write};

/// Most events that wait.
const QUEUE: usize = 4_096;
/// Most event writes in flight.
const IN_FLIGHT: usize = 8;
/// Most event writes in flight while many other writes are, because binds need the API server more.
const IN_FLIGHT_BUSY: usize = 2;
/// Time between two writes of a series.
pub(super) const SERIES_PAUSE: Duration = Duration::from_secs(30);
/// How often it is checked whether a series is due.
const CHECK: Duration = Duration::from_secs(1);

/// The queue of events. Clones share it. The task ends with the last clone.
#[derive(Clone, Debug)]
pub(super) struct Events {
    queue: mpsc::Sender<Event>,
    counters: Arc<ClusterCounters>,
}

impl Events {
    /// Starts the task. `permits` are those of the other writes.
    pub(super) fn start(api: Api, options: &Options, permits: Arc<Semaphore>) -> Self {
        let (queue, events) = mpsc::channel(QUEUE);
        let counters = Arc::clone(api.counters());
        let source = Source::new(&options.namespace, &options.instance);
        let writer = Writer {
            api,
            source: Arc::new(source),
            records: Records::default(),
            due: VecDeque::new(),
            running: JoinSet::new(),
            permits,
        };
        tokio::spawn(writer.run(events));
        Self { queue, counters }
    }

    /// Queues an event, or drops it.
    pub(super) fn offer(&self, event: Event) {
        if self.queue.try_send(event).is_err() {
            let dropped = self.counters.event(EventOutcome::Dropped);
            if dropped.is_power_of_two() {
                tracing::warn!(dropped, "events are dropped, because their queue is full");
            }
        }
    }
}

struct Writer {
    api: Api,
    source: Arc<Source>,
    records: Records,
    /// Writes that can be sent now.
    due: VecDeque<(Key, Write)>,
    running: JoinSet<(Key, bool)>,
    permits: Arc<Semaphore>,
}

impl Writer {
    async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        let mut check = tokio::time::interval(CHECK);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            while self.running.len() < self.in_flight_max()
                && let Some((key, write)) = self.due.pop_front()
            {
                self.send(key, write);
            }
            tokio::select! {
                event = events.recv(), if self.due.is_empty() => {
                    let Some(event) = event else { return };
                    self.due.extend(self.records.take(&event, &self.source, Instant::now()));
                }
                Some(ended) = self.running.join_next() => {
                    if let Ok((key, is_written)) = ended {
                        let outcome = if is_written { EventOutcome::Written } else { EventOutcome::Failed };
                        self.api.counters().event(outcome);
                        self.records.ended(&key, is_written);
                    }
                }
                _ = check.tick() => self.due.extend(self.records.due(Instant::now())),
            }
        }
    }

    fn in_flight_max(&self) -> usize {
        let is_busy = self.permits.available_permits() < super::IN_FLIGHT / 2;
        if is_busy { IN_FLIGHT_BUSY } else { IN_FLIGHT }
    }

    fn send(&mut self, key: Key, write: Write) {
        let api = self.api.clone();
        self.running.spawn(async move {
            let written = match &write {
                Write::Create { namespace, body } => {
                    let path = path::events(namespace);
                    api.write(Method::POST, &path, Content::Json(body)).await
                }
                Write::Series { namespace, name, patch } => {
                    let path = format!("{}/{}", path::events(namespace), path::encoded(name));
                    api.write(Method::PATCH, &path, Content::MergePatch(patch)).await
                }
            };
            if let Err(fault) = &written {
                tracing::debug!("an event was not written: {fault}");
            }
            (key, written.is_ok())
        });
    }
}
