//! Access to the writer from other threads. A bounded channel transports commands. Their outcomes are returned after
//! they are durable.

use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

use headroom_core::books::Books;
use headroom_core::{Millis, Scheduler, Timestamp};
use headroom_journal::{Origin, ReadStore};

use crate::audit_log::AuditReader;
use crate::clock::{Clock as _, ClockOffset, SteadyClock};
use crate::feed::Feed;
use crate::health::{Checked, Health, Verified};
use crate::published::Published;
use crate::shared_copy::SharedCopy;
use crate::trace;
use crate::view::Views;
use crate::watched::Watched;
use crate::writer::{Outcome, Submission};

/// Maximum number of messages that wait for the writer.
pub const COMMANDS_WAITING: usize = 8_192;

/// A function that reads the live books and the scheduler.
pub(crate) type ReadFn = Box<dyn FnOnce(&WriterState<'_>) + Send>;

/// A function that reads the live books, and returns whether a command is to be executed.
pub(crate) type Check = Box<dyn FnOnce(&WriterState<'_>) -> bool + Send>;

/// A function that damages the books or the scheduler.
#[cfg(feature = "testkit")]
pub(crate) type Corrupt = Box<dyn FnOnce(&mut Books, &mut Scheduler) + Send>;

/// State of the writer between two batches.
#[derive(Debug)]
pub struct WriterState<'a> {
    /// The live books.
    pub books: &'a Books,
    /// The scheduler. Its indexes match these books.
    pub scheduler: &'a Scheduler,
    /// Last record in the books. For reads, the record is durable. For the check of a command, it might not be durable
    /// yet.
    pub sequence: u64,
    /// Time of that record.
    pub time: Timestamp,
    pub(crate) copies: &'a SharedCopy,
}

impl WriterState<'_> {
    /// Returns a copy of the books that does not change. All callers at the same record share the copy, so several
    /// readers cost no more than one.
    pub fn copy_of_books(&self) -> Arc<Books> {
        self.copies.of(self.books, self.sequence)
    }
}

/// A message to the writer.
pub(crate) enum Message {
    /// Execute these commands in order, without other commands in between, and return all outcomes.
    Commands(Vec<Submission>, oneshot::Sender<Vec<Outcome>>),
    /// Execute this command if the check accepts it, without other commands in between.
    Checked(Check, Box<Submission>, oneshot::Sender<Vec<Outcome>>),
    /// Read the books between two batches, before the commands of the next batch.
    Look(ReadFn),
    /// Return a reader of the journal.
    Journal(oneshot::Sender<Box<dyn ReadStore + Send>>),
    /// Advance the time, and then run the scheduler by at most this number of steps. Only with
    /// [`Pace::ByHand`](crate::Pace::ByHand).
    Turn(u32, oneshot::Sender<u32>),
    /// Damage the books and the scheduler, for tests of the checks.
    #[cfg(feature = "testkit")]
    Spoil(Corrupt),
    /// Process all messages sent so far, and stop.
    Stop,
}

impl Message {
    /// Returns whether the message is processed before the commands of a batch.
    pub(crate) const fn is_look(&self) -> bool {
        match self {
            Self::Look(_) => true,
            #[cfg(feature = "testkit")]
            Self::Spoil(_) => true,
            Self::Commands(..)
            | Self::Checked(..)
            | Self::Journal(_)
            | Self::Turn(..)
            | Self::Stop => false,
        }
    }
}

/// Reason why a command was not executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The limit of waiting messages is reached.
    #[error(
        "{waiting} commands already wait for the scheduler, which is the limit. Try again later."
    )]
    Busy {
        /// Number of waiting messages.
        waiting: usize,
    },
    /// The engine has stopped for this reason. Everything that was answered is durable.
    #[error("the scheduler accepts no commands: {reason}")]
    Stopped {
        /// The reason as a sentence.
        reason: String,
    },
}

/// Handle of the writer, for any thread. Clones refer to the same writer.
#[derive(Clone, Debug)]
pub struct Handle {
    sender: mpsc::Sender<Message>,
    published: Published,
    stopped: Arc<OnceLock<String>>,
    clock: SteadyClock,
}

impl Handle {
    pub(crate) const fn new(
        sender: mpsc::Sender<Message>,
        published: Published,
        stopped: Arc<OnceLock<String>>,
        clock: SteadyClock,
    ) -> Self {
        Self { sender, published, stopped, clock }
    }

    /// Sends a command. Waits for capacity in the channel, and for the outcome.
    ///
    /// # Errors
    /// If the engine has stopped. In this case, the command may or may not have been executed.
    pub async fn submit(&self, submission: impl Into<Submission>) -> Result<Outcome, Unavailable> {
        let mut outcomes = self.submit_all(vec![submission.into()]).await?;
        outcomes.pop().ok_or_else(|| self.gone())
    }

    /// Sends commands that are executed in order, without other commands in between. Each command has its own outcome.
    ///
    /// # Errors
    /// The same as [`Handle::submit`].
    pub async fn submit_all(
        &self,
        submissions: Vec<Submission>,
    ) -> Result<Vec<Outcome>, Unavailable> {
        let traced = trace::Commands::begin(&submissions);
        let (answer, answered) = oneshot::channel();
        let message = Message::Commands(submissions, answer);
        let answered = match self.sender.send(message).await {
            Ok(()) => answered.await.map_err(|_| self.gone()),
            Err(_) => Err(self.gone()),
        };
        traced.end(answered.as_deref());
        answered
    }

    /// Sends a command that is executed only if `check` accepts the live books, with nothing in between. Otherwise
    /// returns the error of `check`. The writer is blocked during `check`.
    ///
    /// # Errors
    /// The same as [`Handle::submit`].
    pub async fn submit_if<T: Send + 'static>(
        &self,
        submission: Submission,
        check: impl FnOnce(&WriterState<'_>) -> Result<(), T> + Send + 'static,
    ) -> Result<Result<Outcome, T>, Unavailable> {
        let (object, objection) = oneshot::channel();
        let check: Check = Box::new(move |moment| match check(moment) {
            Ok(()) => true,
            Err(why) => {
                // The caller might have disconnected.
                let _ = object.send(why);
                false
            }
        });
        let (answer, answered) = oneshot::channel();
        let message = Message::Checked(check, Box::new(submission), answer);
        self.sender.send(message).await.map_err(|_| self.gone())?;
        match answered.await.map_err(|_| self.gone())?.pop() {
            Some(outcome) => Ok(Ok(outcome)),
            None => Ok(Err(objection.await.map_err(|_| self.gone())?)),
        }
    }

    /// Does the same as [`Handle::submit_all`], but fails immediately if the channel is full.
    ///
    /// # Errors
    /// The same as [`Handle::submit_all`]. Also if the limit of waiting messages is reached.
    pub async fn try_submit_all(
        &self,
        submissions: Vec<Submission>,
    ) -> Result<Vec<Outcome>, Unavailable> {
        let traced = trace::Commands::begin(&submissions);
        let (answer, answered) = oneshot::channel();
        let answered = match self.sender.try_send(Message::Commands(submissions, answer)) {
            Ok(()) => answered.await.map_err(|_| self.gone()),
            Err(mpsc::error::TrySendError::Full(_)) => {
                Err(Unavailable::Busy { waiting: self.sender.max_capacity() })
            }
            Err(mpsc::error::TrySendError::Closed(_)) => Err(self.gone()),
        };
        traced.end(answered.as_deref());
        answered
    }

    /// Reads the live books and the scheduler between two batches, so everything in the books is durable. The writer is
    /// blocked meanwhile, so use this method only for short reads that need the scheduler.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub async fn inspect<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Books, &Scheduler) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.inspect_at(move |moment| look(moment.books, moment.scheduler)).await
    }

    /// Does the same as [`Handle::inspect`], with the number and time of the last record.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub async fn inspect_at<T: Send + 'static>(
        &self,
        look: impl FnOnce(&WriterState<'_>) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (answer, answered) = oneshot::channel();
        let look: ReadFn = Box::new(move |moment| {
            // The caller might have disconnected.
            let _ = answer.send(look(moment));
        });
        self.sender.send(Message::Look(look)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())
    }

    /// Returns a reader of the journal up to the last durable record. The writer continues meanwhile.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub async fn journal(&self) -> Result<Box<dyn ReadStore + Send>, Unavailable> {
        let (answer, answered) = oneshot::channel();
        self.sender.send(Message::Journal(answer)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())
    }

    /// Advances the time, and then runs the scheduler by at most `most` steps. Returns the number of steps. Only for
    /// engines with [`Pace::ByHand`](crate::Pace::ByHand).
    ///
    /// # Errors
    /// If the engine has stopped.
    pub async fn step(&self, most: u32) -> Result<u32, Unavailable> {
        let (answer, answered) = oneshot::channel();
        self.sender.send(Message::Turn(most, answer)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())
    }

    /// Changes the books and the scheduler without an event. Tests use this method to verify the checks that find such
    /// damage.
    ///
    /// # Errors
    /// If the engine has stopped.
    #[cfg(feature = "testkit")]
    pub async fn spoil(
        &self,
        spoil: impl FnOnce(&mut Books, &mut Scheduler) + Send + 'static,
    ) -> Result<(), Unavailable> {
        self.sender.send(Message::Spoil(Box::new(spoil))).await.map_err(|_| self.gone())
    }

    /// Stops the writer after it has processed all messages sent so far.
    pub async fn stop(&self) {
        // An error means that the writer has stopped already.
        let _ = self.sender.send(Message::Stop).await;
    }

    /// Returns the audit log of tenants. Reading the audit log can block.
    pub const fn audit(&self) -> &AuditReader {
        &self.published.audit
    }

    /// Returns the clock of the engine.
    pub const fn clock(&self) -> &SteadyClock {
        &self.clock
    }

    /// Returns both times if the system clock has jumped and is not followed.
    pub fn clock_offset(&self) -> Option<ClockOffset> {
        self.clock.offset()
    }

    /// Returns the number of messages that can be sent without waiting.
    pub fn room(&self) -> usize {
        self.sender.capacity()
    }

    /// Returns the largest number of waiting messages.
    pub fn commands_max(&self) -> usize {
        self.sender.max_capacity()
    }

    /// Returns the feed of entries.
    pub const fn feed(&self) -> &Feed {
        &self.published.feed
    }

    /// Returns the published views of the books.
    pub const fn views(&self) -> &Views {
        &self.published.views
    }

    /// Returns the records for watchers.
    pub const fn watched(&self) -> &Watched {
        &self.published.watched
    }

    /// Returns the health of the engine. Never blocks, and also works after the engine has stopped.
    pub fn health(&self) -> Health {
        let backlog = (self.backlog(), self.sender.max_capacity());
        let health = self.published.vitals.health(self.clock.now(), backlog);
        Health { stopped: self.stopped().map(str::to_owned), ..health }
    }

    /// Returns the number of messages that wait for the writer. Each can have several commands.
    pub fn backlog(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity()
    }

    /// Returns the result of the last check of the books. `None` before the first check, which is made at the start.
    pub fn checked(&self) -> Option<Arc<Checked>> {
        self.published.vitals.checked()
    }

    /// Returns the result of the last comparison of the counted usage of tenants with their tasks. The engine makes a
    /// comparison every `verifyintervalseconds`. `None` before the first comparison.
    pub fn verified(&self) -> Option<Arc<Verified>> {
        self.published.vitals.verified()
    }

    /// Compares the counted usage of tenants with their tasks now, in parallel with the writer. Records a difference
    /// with `origin`.
    ///
    /// # Errors
    /// If usage differs, but the engine has stopped and cannot record the difference.
    pub async fn verify(&self, origin: Origin) -> Result<Arc<Verified>, Unavailable> {
        let (view, now) = (self.views().at_least(0).await, self.clock.now());
        let compare = move || {
            let verified = Verified::of(&view.books, view.sequence, now);
            let report = verified.report(&view.books);
            (verified, report)
        };
        let compared = tokio::task::spawn_blocking(compare).await;
        let (verified, report) = compared.map_err(|_| self.gone())?;
        self.published.vitals.set_verified(verified.clone());
        if let Some(command) = report {
            // A rejection needs no answer: a partition without tenants has no drift.
            let _ = self.submit(Submission { origin: Some(Arc::new(origin)), command }).await?;
        }
        Ok(Arc::new(verified))
    }

    /// Sets the interval of checks of the books. The default is [`crate::CHECK_EVERY`]. `None` disables the checks.
    pub fn check_every(&self, every: Option<Millis>) {
        self.published.vitals.set_check_every(every);
    }

    /// Returns why the engine accepts no more commands. `None` while the engine accepts commands.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.get().map(String::as_str)
    }

    fn gone(&self) -> Unavailable {
        let reason = self.stopped().unwrap_or("the scheduler has ended").to_owned();
        Unavailable::Stopped { reason }
    }
}
