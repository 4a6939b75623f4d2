//! The ordered path of requests to the engine.
//!
//! All streams of an RM pass their requests to its intake. The requests reach the engine in the order of arrival, many
//! at once, and their results are returned in the same order. If the engine is busy, or too many requests are pending,
//! the sender waits and does not read its stream.

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

/// Maximum number of pending requests of one RM.
const REQUESTS_MAX: usize = 256;

/// Maximum number of pending commands of one RM. A single request with more commands is also accepted.
const COMMANDS_MAX: u32 = 16_384;

/// The future results of commands.
pub(super) type Answer = BoxFuture<'static, Result<Vec<Outcome>, Unavailable>>;

/// A pending request.
pub(super) struct Pending {
    /// Number of the message, where messages have numbers. Otherwise 0.
    pub(super) seq: u64,
    /// Report about the request.
    pub(super) work: Work,
    /// Permit for the number of its commands.
    _room: Option<OwnedSemaphorePermit>,
}

/// Report about a request.
pub(super) enum Work {
    /// Results of its commands.
    Commands(Vec<Step>, Answer),
    /// This message, or none.
    Say(Option<Box<OutboundMessage>>),
}

/// The sending end for requests.
pub(super) struct Intake {
    handle: Handle,
    origin: Arc<Origin>,
    pendings: Mutex<Option<mpsc::Sender<Pending>>>,
    room: Arc<Semaphore>,
    clock: Arc<dyn Clock>,
    /// Time of the last request of the RM, in milliseconds since the epoch.
    last: AtomicU64,
}

/// The intake accepts no more requests.
#[derive(Debug)]
pub(super) struct Closed;

impl From<Closed> for Status {
    fn from(_: Closed) -> Self {
        Self::aborted("the registration of this resource manager has ended. Register again")
    }
}

impl Intake {
    /// Returns an intake for commands with this origin, and its receiving end.
    pub(super) fn new(
        handle: Handle,
        clock: Arc<dyn Clock>,
        origin: Origin,
    ) -> (Self, mpsc::Receiver<Pending>) {
        let (sender, receiver) = mpsc::channel(REQUESTS_MAX);
        let room = Arc::new(Semaphore::new(COMMANDS_MAX as usize));
        let last = AtomicU64::new(clock.now().as_millis());
        let pendings = Mutex::new(Some(sender));
        let origin = Arc::new(origin);
        (Self { handle, origin, pendings, room, clock, last }, receiver)
    }

    /// Passes on the commands of a request.
    ///
    /// # Errors
    /// If the intake is closed.
    pub(super) async fn commands(&self, seq: u64, steps: Vec<Step>) -> Result<(), Closed> {
        if steps.is_empty() {
            return self.say(seq, None).await;
        }
        self.note_heard();
        // The lock preserves the order from here on.
        let pendings = self.pendings.lock().await;
        let slot = pendings.as_ref().ok_or(Closed)?.reserve().await.map_err(|_| Closed)?;
        let count = u32::try_from(steps.len()).unwrap_or(u32::MAX).min(COMMANDS_MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(count).await.map_err(|_| Closed)?;
        let origin = &self.origin;
        let submission = |step: &Step| Submission {
            origin: Some(Arc::clone(origin)),
            command: step.command.clone(),
        };
        let submissions = steps.iter().map(submission).collect();
        let answer = begin(&self.handle, submissions).await;
        slot.send(Pending { seq, work: Work::Commands(steps, answer), _room: Some(room) });
        Ok(())
    }

    /// Returns the time of the last request of the RM, or of its registration.
    pub(super) fn last(&self) -> Timestamp {
        Timestamp::from_millis(self.last.load(Ordering::Relaxed))
    }

    fn note_heard(&self) {
        self.last.store(self.clock.now().as_millis(), Ordering::Relaxed);
    }

    /// Sends a message after the reports of all earlier requests.
    ///
    /// # Errors
    /// If the intake is closed.
    pub(super) async fn say(&self, seq: u64, what: Option<OutboundMessage>) -> Result<(), Closed> {
        self.note_heard();
        let pendings = self.pendings.lock().await;
        let work = Work::Say(what.map(Box::new));
        let pendings = pendings.as_ref().ok_or(Closed)?;
        pendings.send(Pending { seq, work, _room: None }).await.map_err(|_| Closed)
    }

    /// Closes the intake. Earlier requests already have their position in the order of the engine, before all later
    /// submissions.
    pub(super) async fn close(&self) {
        *self.pendings.lock().await = None;
    }
}

/// Submits commands to the engine, or queues them. In both cases, the position of the commands is fixed when this
/// function returns.
async fn begin(handle: &Handle, submissions: Vec<Submission>) -> Answer {
    let handle = handle.clone();
    let submitted = async move { handle.submit_all(submissions).await };
    // Without this, an exhausted budget of the task would yield before the position is fixed.
    let mut answer: Answer = Box::pin(tokio::task::unconstrained(submitted));
    match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
        Poll::Ready(answered) => Box::pin(std::future::ready(answered)),
        Poll::Pending => answer,
    }
}
