//! Performs the writes that the state machine of pods requests.
//!
//! At most [`IN_FLIGHT`] writes are sent at the same time. Writes for one pod are sent in their order, one after another.
//! A wait for volumes does not count. Outcomes go into the queue of the loop as [`Notice::Written`].

mod bind;
mod device;
mod event;
mod namespace;
mod order;
mod placeholder;
mod pod;
mod volume;

use std::sync::Arc;
use std::time::Duration;

use headroom_pods::shim::{ApiWrite, BindError, BindStep, Notice, Outcome};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};

use crate::client::{Api, Fault};
use crate::queue::{DeviceWrite, Observed, ToServer};
use crate::volumes::Volumes;
use crate::watch::pause::Pauses;

use event::Events;
use order::{Key, Order, Write};

/// Most writes in flight.
const IN_FLIGHT: usize = 64;
/// Most writes that wait for an earlier one of their pod.
const BEHIND_MAX: usize = 4_096;
/// Tries of a write that has no retry in the state machine.
const TRIES: u32 = 5;

/// Why a step for devices without a selection fails.
const NO_DEVICES: &str = "no devices are selected";

/// Settings of the writes.
#[derive(Clone, Debug)]
pub struct Options {
    /// Namespace of the scheduler, which has its config maps.
    pub namespace: String,
    /// Name of this scheduler in events, such as the name of its pod.
    pub instance: String,
    /// Time within which the volumes of a pod must be bound.
    pub volume_timeout: Duration,
}

/// The running writes. They end when this is dropped.
#[derive(Debug)]
pub struct Writer {
    task: JoinHandle<()>,
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Writer {
    /// Waits until the queue of writes is closed, and every write has ended.
    pub async fn ended(&mut self) {
        drop((&mut self.task).await);
    }
}

/// Performs the writes of a queue, and reports their outcomes.
pub fn start(
    api: Api,
    options: &Options,
    volumes: Arc<Volumes>,
    writes: mpsc::Receiver<ToServer>,
    observed: mpsc::Sender<Observed>,
) -> Writer {
    let permits = Arc::new(Semaphore::new(IN_FLIGHT));
    let events = Events::start(api.clone(), options, Arc::clone(&permits));
    let (outcomes, taken) = mpsc::unbounded_channel();
    let actor = Actor { api, volumes, volume_timeout: options.volume_timeout, outcomes, permits };
    let work = run(actor, writes, events);
    let task = tokio::spawn(async move {
        tokio::join!(work, forward(taken, observed));
    });
    Writer { task }
}

/// Moves outcomes to the queue of the loop.
///
/// The loop reads no outcomes while many writes wait for space in their queue. So a write must not hold its permit until
/// its outcome is read. There are never more outcomes than accepted writes.
async fn forward(mut outcomes: mpsc::UnboundedReceiver<Observed>, to: mpsc::Sender<Observed>) {
    while let Some(outcome) = outcomes.recv().await {
        if to.send(outcome).await.is_err() {
            return;
        }
    }
}

async fn run(actor: Actor, mut writes: mpsc::Receiver<ToServer>, events: Events) {
    let mut order = Order::default();
    let mut running = JoinSet::<Key>::new();
    let mut is_open = true;
    let begin = |write, permit, order: &mut Order, running: &mut JoinSet<Key>| {
        let key = Key::of(&write);
        if let Some(write) = order.begin(&key, write) {
            running.spawn(actor.clone().perform(key, write, Some(permit)));
        }
    };
    while is_open || !running.is_empty() {
        tokio::select! {
            Some(ended) = running.join_next() => {
                // A write that panicked has no key, and its pod stays blocked: the order of its writes is lost.
                if let Ok(key) = ended
                    && let Some(write) = order.next(&key)
                {
                    running.spawn(actor.clone().perform(key, write, None));
                }
            }
            next = next(&actor.permits, &mut writes), if is_open && order.behind() < BEHIND_MAX => {
                match next {
                    None => is_open = false,
                    Some((_, ToServer::Event(event))) => events.offer(event),
                    Some((permit, ToServer::Write(write))) => {
                        begin(Write::Plain(write), permit, &mut order, &mut running);
                    }
                    Some((permit, ToServer::Devices(write))) => {
                        begin(Write::Devices(write), permit, &mut order, &mut running);
                    }
                }
            }
        }
    }
}

async fn next(
    permits: &Arc<Semaphore>,
    writes: &mut mpsc::Receiver<ToServer>,
) -> Option<(OwnedSemaphorePermit, ToServer)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    Some((permit, writes.recv().await?))
}

/// Performs writes.
#[derive(Clone)]
struct Actor {
    api: Api,
    volumes: Arc<Volumes>,
    volume_timeout: Duration,
    outcomes: mpsc::UnboundedSender<Observed>,
    permits: Arc<Semaphore>,
}

impl Actor {
    /// Performs a write, and returns its key.
    async fn perform(self, key: Key, write: Write, permit: Option<OwnedSemaphorePermit>) -> Key {
        let permit = match permit {
            Some(permit) => Some(permit),
            None => Arc::clone(&self.permits).acquire_owned().await.ok(),
        };
        match write {
            Write::Plain(write) => self.perform_plain(write, permit).await,
            Write::Devices(DeviceWrite::Allocate(request, claims)) => {
                let (uid, ticket) = (request.pod.uid.clone(), request.ticket);
                let result = self.allocate_devices(&request, &claims).await;
                self.report(Outcome::Bind { uid, ticket, result });
            }
            Write::Devices(DeviceWrite::Undo(pod, claims)) => {
                self.undo_devices(&pod, claims, permit).await;
            }
            Write::Devices(DeviceWrite::Free(pod, claim)) => {
                self.free_devices(&pod, claim, permit).await;
            }
        }
        key
    }

    async fn perform_plain(&self, write: ApiWrite, permit: Option<OwnedSemaphorePermit>) {
        match write {
            ApiWrite::Bind(request) => {
                let (uid, ticket) = (request.pod.uid.clone(), request.ticket);
                let result = match request.step {
                    BindStep::AssumeVolumes => self.assume_volumes(&request).await,
                    BindStep::BindVolumes => self.bind_volumes(&request, permit).await,
                    // The loop selects devices, and sends them as `ToServer::Devices`.
                    BindStep::AllocateDevices => Err(BindError::Retry(NO_DEVICES.to_owned())),
                    BindStep::BindPod => self.bind_pod(&request).await,
                };
                self.report(Outcome::Bind { uid, ticket, result });
            }
            ApiWrite::UndoVolumes { pod } => self.observe(self.volumes.undo(&pod.uid)),
            // Nothing was selected.
            ApiWrite::UndoDevices { .. } => {}
            ApiWrite::CreatePlaceholder { application, placeholder } => {
                let outcome = self.create_placeholder(application, &placeholder).await;
                self.report(outcome);
            }
            ApiWrite::DeletePod { pod, purpose } => {
                if let Err(fault) = self.delete_pod(&pod).await {
                    let error = fault.to_string();
                    self.report(Outcome::DeleteFailed { pod, purpose, error });
                }
            }
            ApiWrite::Condition { pod, reason, message } => {
                self.set_condition(&pod, reason, &message).await;
            }
            ApiWrite::FailPod { pod, reason, message } => {
                self.fail_pod(&pod, reason, &message).await;
            }
            ApiWrite::ReadNamespace { name } => {
                let namespace = self.read_namespace(&name).await;
                self.observe([Observed::Notice(Notice::NamespaceRead { name, namespace })]);
            }
        }
    }

    fn report(&self, outcome: Outcome) {
        self.observe([Observed::Notice(Notice::Written(outcome))]);
    }

    fn observe(&self, changes: impl IntoIterator<Item = Observed>) {
        for observed in changes {
            // The queue is closed only when the scheduler ends.
            drop(self.outcomes.send(observed));
        }
    }
}

/// Tries of a request that can be repeated without harm.
#[derive(Debug, Default)]
struct Tries(Pauses);

impl Tries {
    /// Returns whether to send the request again, after a pause.
    async fn again(&mut self, fault: &Fault) -> bool {
        let is_again = fault.is_transient() && self.0.failed() < TRIES;
        if is_again {
            tokio::time::sleep(self.0.pause(fault.retry_after())).await;
        }
        is_again
    }
}
