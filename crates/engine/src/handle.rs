//! How everybody talks to the writer: commands go in by a bounded channel, what came of them comes
//! back when it is durable.

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

/// How many commands may wait for the writer.
pub const COMMANDS_WAITING: usize = 8_192;

/// Looks at the live books and the scheduler.
pub(crate) type ReadFn = Box<dyn FnOnce(&WriterState<'_>) + Send>;

/// Looks at the live books, and says whether a command is to be judged.
pub(crate) type Check = Box<dyn FnOnce(&WriterState<'_>) -> bool + Send>;

/// Damages the books or the scheduler.
#[cfg(feature = "testkit")]
pub(crate) type Corrupt = Box<dyn FnOnce(&mut Books, &mut Scheduler) + Send>;

/// What there is between two batches.
#[derive(Debug)]
pub struct WriterState<'a> {
    /// The live books.
    pub books: &'a Books,
    /// The scheduler, whose indexes are of these books.
    pub scheduler: &'a Scheduler,
    /// The last record that is in them. It is durable for a look, and may not be for the check of a command.
    pub sequence: u64,
    /// When that was.
    pub time: Timestamp,
    pub(crate) copies: &'a SharedCopy,
}

impl WriterState<'_> {
    /// A copy of the books that does not change. All who want one at the same moment share it, so it costs nothing
    /// more while somebody reads the books.
    pub fn copy_of_books(&self) -> Arc<Books> {
        self.copies.of(self.books, self.sequence)
    }
}

/// What the writer is sent.
pub(crate) enum Message {
    /// Judge these in order, one after the other, and answer for all of them.
    Commands(Vec<Submission>, oneshot::Sender<Vec<Outcome>>),
    /// Judge this if the check lets it pass, right after it.
    Checked(Check, Box<Submission>, oneshot::Sender<Vec<Outcome>>),
    /// Look at the books between two batches, before the commands of the next one.
    Look(ReadFn),
    /// Answer with a reader of the journal.
    Journal(oneshot::Sender<Box<dyn ReadStore + Send>>),
    /// Take so many steps, and let time pass first: only where it goes by hand.
    Turn(u32, oneshot::Sender<u32>),
    /// Do this to the books and the scheduler, whatever comes of it: for those who look for damage.
    #[cfg(feature = "testkit")]
    Spoil(Corrupt),
    /// Finish what is there, and end.
    Stop,
}

impl Message {
    /// Whether it comes before the commands of a batch.
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

/// Why a command was not judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// As many commands wait as may.
    #[error(
        "{waiting} commands already wait for the scheduler, which is the limit. Try again later."
    )]
    Busy {
        /// How many.
        waiting: usize,
    },
    /// The engine has stopped, for this reason. What was answered is durable.
    #[error("the scheduler accepts no commands: {reason}")]
    Stopped {
        /// In a sentence.
        reason: String,
    },
}

/// Talks to the writer, from any thread. Clones talk to the same.
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

    /// Give a command, wait for room in the channel if there is none, and for the answer.
    ///
    /// # Errors
    /// When the engine has stopped. Then it is not known whether the command was judged.
    pub async fn submit(&self, submission: impl Into<Submission>) -> Result<Outcome, Unavailable> {
        let mut outcomes = self.submit_all(vec![submission.into()]).await?;
        outcomes.pop().ok_or_else(|| self.gone())
    }

    /// Give commands that are judged one right after the other, each by itself.
    ///
    /// # Errors
    /// As [`Handle::submit`].
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

    /// Give a command that is judged only if a look at the live books says so, with nothing between the look
    /// and the command; what the look objects to otherwise. It holds up the writer for as long as it takes.
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub async fn submit_if<T: Send + 'static>(
        &self,
        submission: Submission,
        check: impl FnOnce(&WriterState<'_>) -> Result<(), T> + Send + 'static,
    ) -> Result<Result<Outcome, T>, Unavailable> {
        let (object, objection) = oneshot::channel();
        let check: Check = Box::new(move |moment| match check(moment) {
            Ok(()) => true,
            Err(why) => {
                // The caller may have gone.
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

    /// As [`Handle::submit_all`], but refused at once if there is no room.
    ///
    /// # Errors
    /// As there, and when as many commands wait as may.
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

    /// Look at the live books and the scheduler, between two batches: all that is in them is durable. It holds up the
    /// writer for as long as it takes: for short looks that need the scheduler.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn inspect<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Books, &Scheduler) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.inspect_at(move |moment| look(moment.books, moment.scheduler)).await
    }

    /// The same, with the place in the one order.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn inspect_at<T: Send + 'static>(
        &self,
        look: impl FnOnce(&WriterState<'_>) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (answer, answered) = oneshot::channel();
        let look: ReadFn = Box::new(move |moment| {
            // The caller may have gone.
            let _ = answer.send(look(moment));
        });
        self.sender.send(Message::Look(look)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())
    }

    /// A reader of the journal, up to the last record that is durable now. The writer goes on meanwhile.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn journal(&self) -> Result<Box<dyn ReadStore + Send>, Unavailable> {
        let (answer, answered) = oneshot::channel();
        self.sender.send(Message::Journal(answer)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())
    }

    /// Let time pass and the scheduler take at most so many steps; how many it took. Only where
    /// the engine goes by hand.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn step(&self, most: u32) -> Result<u32, Unavailable> {
        let (answer, answered) = oneshot::channel();
        self.sender.send(Message::Turn(most, answer)).await.map_err(|_| self.gone())?;
        answered.await.map_err(|_| self.gone())
    }

    /// Do something to the books and the scheduler that no event does: for tests of what finds such damage.
    ///
    /// # Errors
    /// When the engine has stopped.
    #[cfg(feature = "testkit")]
    pub async fn spoil(
        &self,
        spoil: impl FnOnce(&mut Books, &mut Scheduler) + Send + 'static,
    ) -> Result<(), Unavailable> {
        self.sender.send(Message::Spoil(Box::new(spoil))).await.map_err(|_| self.gone())
    }

    /// Have the writer finish what was sent so far, and end.
    pub async fn stop(&self) {
        // One that has ended needs no telling.
        let _ = self.sender.send(Message::Stop).await;
    }

    /// The audit of tenants. Reading it may block.
    pub const fn audit(&self) -> &AuditReader {
        &self.published.audit
    }

    /// The time that the engine goes by.
    pub const fn clock(&self) -> &SteadyClock {
        &self.clock
    }

    /// Returns both times if the system clock has jumped and is not followed.
    pub fn clock_offset(&self) -> Option<ClockOffset> {
        self.clock.offset()
    }

    /// How many messages may still be sent before the next must wait.
    pub fn room(&self) -> usize {
        self.sender.capacity()
    }

    /// How many messages may wait.
    pub fn commands_max(&self) -> usize {
        self.sender.max_capacity()
    }

    /// What has happened.
    pub const fn feed(&self) -> &Feed {
        &self.published.feed
    }

    /// The books, for readers.
    pub const fn views(&self) -> &Views {
        &self.published.views
    }

    /// Returns the records for watchers.
    pub const fn watched(&self) -> &Watched {
        &self.published.watched
    }

    /// How the engine is. It waits for nobody, and answers after the engine has stopped, too.
    pub fn health(&self) -> Health {
        let backlog = (self.backlog(), self.sender.max_capacity());
        let health = self.published.vitals.health(self.clock.now(), backlog);
        Health { stopped: self.stopped().map(str::to_owned), ..health }
    }

    /// How many messages wait for the writer; each may hold several commands.
    pub fn backlog(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity()
    }

    /// What the last check of the books found; none before the first, which is made at the start.
    pub fn checked(&self) -> Option<Arc<Checked>> {
        self.published.vitals.checked()
    }

    /// What came of comparing last what is counted of tenants with what their tasks have; it is done every
    /// `verifyintervalseconds`. None before the first time.
    pub fn verified(&self) -> Option<Arc<Verified>> {
        self.published.vitals.verified()
    }

    /// Compare now what is counted of tenants with what their tasks have, in parallel with the writer. A
    /// difference is recorded with the caller as its origin.
    ///
    /// # Errors
    /// When something disagrees and the engine has stopped, so that it cannot be written down.
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
            // It is no refusal of anybody's: a partition without tenants has no drift.
            let _ = self.submit(Submission { origin, command }).await?;
        }
        Ok(Arc::new(verified))
    }

    /// How often the books are checked from now on: [`crate::CHECK_EVERY`] by default;
    /// never again with `None`.
    pub fn check_every(&self, every: Option<Millis>) {
        self.published.vitals.set_check_every(every);
    }

    /// Why the engine takes no commands any more; none while it does.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.get().map(String::as_str)
    }

    fn gone(&self) -> Unavailable {
        let reason = self.stopped().unwrap_or("the scheduler has ended").to_owned();
        Unavailable::Stopped { reason }
    }
}
