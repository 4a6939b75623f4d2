//! Requests on their way to the engine, in one order.
//!
//! All streams of an RM hand their requests in here. They reach the engine in the order in which
//! they came, many at once, and what became of them comes out in the same order. When the engine
//! is busy, or too much is on its way, the sender waits: so a stream is read no further.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use futures_util::future::BoxFuture;
use headroom_core::Timestamp;
use headroom_engine::{Clock, Handle, Origin, Outcome, Submission, Unavailable};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tonic::Status;

use crate::convert::si::Step;

use super::outbox::OutboundMessage;

/// How many requests of one RM are on their way at most.
const REQUESTS_MAX: usize = 256;

/// How many commands of one RM are on their way at most, but for a single request with more.
const COMMANDS_MAX: u32 = 16_384;

/// What becomes of commands, once it is known.
pub(super) type Answer = BoxFuture<'static, Result<Vec<Outcome>, Unavailable>>;

/// A request on its way.
pub(super) struct Pending {
    /// The number of the message, where messages have numbers; otherwise 0.
    pub(super) seq: u64,
    /// What is to be reported of it.
    pub(super) work: Work,
    /// Room for as many commands as it has.
    _room: Option<OwnedSemaphorePermit>,
}

/// What is to be reported of a request.
pub(super) enum Work {
    /// What becomes of its commands.
    Commands(Vec<Step>, Answer),
    /// This, or nothing.
    Say(Option<Box<OutboundMessage>>),
}

/// Where requests are handed in.
pub(super) struct Intake {
    handle: Handle,
    origin: Origin,
    pendings: Mutex<Option<mpsc::Sender<Pending>>>,
    room: Arc<Semaphore>,
    clock: Arc<dyn Clock>,
    /// When the RM handed in something last, milliseconds since the epoch.
    last: AtomicU64,
}

/// Nothing is taken in any more.
#[derive(Debug)]
pub(super) struct Closed;

impl From<Closed> for Status {
    fn from(_: Closed) -> Self {
        Self::aborted("the registration of this resource manager has ended. Register again")
    }
}

impl Intake {
    /// For commands of this origin; and where they come out.
    pub(super) fn new(
        handle: Handle,
        clock: Arc<dyn Clock>,
        origin: Origin,
    ) -> (Self, mpsc::Receiver<Pending>) {
        let (sender, receiver) = mpsc::channel(REQUESTS_MAX);
        let room = Arc::new(Semaphore::new(COMMANDS_MAX as usize));
        let last = AtomicU64::new(clock.now().as_millis());
        let pendings = Mutex::new(Some(sender));
        (Self { handle, origin, pendings, room, clock, last }, receiver)
    }

    /// Hand in the commands of a request.
    ///
    /// # Errors
    /// When nothing is taken in any more.
    pub(super) async fn commands(&self, seq: u64, steps: Vec<Step>) -> Result<(), Closed> {
        if steps.is_empty() {
            return self.say(seq, None).await;
        }
        self.note_heard();
        // One at a time: from here on the order stays.
        let pendings = self.pendings.lock().await;
        let slot = pendings.as_ref().ok_or(Closed)?.reserve().await.map_err(|_| Closed)?;
        let count = u32::try_from(steps.len()).unwrap_or(u32::MAX).min(COMMANDS_MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(count).await.map_err(|_| Closed)?;
        let origin = &self.origin;
        let submission =
            |step: &Step| Submission { origin: origin.clone(), command: step.command.clone() };
        let submissions = steps.iter().map(submission).collect();
        let answer = begin(&self.handle, submissions).await;
        slot.send(Pending { seq, work: Work::Commands(steps, answer), _room: Some(room) });
        Ok(())
    }

    /// When the RM handed in something last, or registered.
    pub(super) fn last(&self) -> Timestamp {
        Timestamp::from_millis(self.last.load(Ordering::Relaxed))
    }

    fn note_heard(&self) {
        self.last.store(self.clock.now().as_millis(), Ordering::Relaxed);
    }

    /// Send a message once everything before it was reported.
    ///
    /// # Errors
    /// When nothing is taken in any more.
    pub(super) async fn say(&self, seq: u64, what: Option<OutboundMessage>) -> Result<(), Closed> {
        self.note_heard();
        let pendings = self.pendings.lock().await;
        let work = Work::Say(what.map(Box::new));
        let pendings = pendings.as_ref().ok_or(Closed)?;
        pendings.send(Pending { seq, work, _room: None }).await.map_err(|_| Closed)
    }

    /// Take in nothing more. What was handed in has its place in the order of the engine by now,
    /// before whatever is given to it behind this.
    pub(super) async fn close(&self) {
        *self.pendings.lock().await = None;
    }
}

/// Give commands to the engine, or queue up for it; either way they have their place in its order.
async fn begin(handle: &Handle, submissions: Vec<Submission>) -> Answer {
    let handle = handle.clone();
    let submitted = async move { handle.submit_all(submissions).await };
    // A budget that is used up would send it away without a place.
    let mut answer: Answer = Box::pin(tokio::task::unconstrained(submitted));
    match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
        Poll::Ready(answered) => Box::pin(std::future::ready(answered)),
        Poll::Pending => answer,
    }
}
