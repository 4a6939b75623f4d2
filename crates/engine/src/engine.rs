//! The writer on its own thread.

use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use headroom_core::{Command, Millis, Timestamp};
use headroom_journal::Store;
use headroom_journal::disk::Disk;

use crate::audit_log::AuditLog;
use crate::clock::{Clock, SteadyClock};
use crate::error::{EngineError, chain};
use crate::handle::{COMMANDS_WAITING, Handle, Message};
use crate::maintenance::Maintenance;
use crate::published::Published;
use crate::recover::{Recovering, recover_with};
use crate::users::Users;
use crate::writer::{
    FILES_CHECKED_EVERY, Outcome, Publication, Retention, SCAN_EVERY, STEPS_PER_BATCH, Submission,
    Writer,
};

/// Maximum number of messages in one batch.
const MESSAGES_PER_BATCH: usize = 1_024;

/// Source of progress of the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// The scheduler runs by itself, and with the clock.
    #[default]
    Automatic,
    /// The scheduler runs only on [`Handle::step`], for tests.
    ByHand,
}

/// Settings of an engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Source of progress of the scheduler.
    pub pace: Pace,
    /// Interval of the scans that the reference makes periodically. `None` if scans occur only by command.
    pub scan_every: Option<Millis>,
    /// Maximum number of waiting commands.
    pub commands_waiting: usize,
    /// Limits of stored data.
    pub retention: Retention,
    /// Cache of users that is cleaned periodically.
    pub users: Option<Arc<Users>>,
    /// Whether nothing starts after a restart before the known nodes have reported. Use this for nodes of an RM, which
    /// must first register again.
    pub awaits_nodes: bool,
    /// Disk for the audit log of tenants. `None` to store recent records in memory.
    pub audit: Option<Arc<dyn Disk>>,
}

impl Settings {
    /// Returns default settings with this clock.
    pub fn with(clock: impl Clock + 'static) -> Self {
        Self {
            clock: Arc::new(clock),
            pace: Pace::default(),
            scan_every: Some(SCAN_EVERY),
            commands_waiting: COMMANDS_WAITING,
            retention: Retention::default(),
            users: None,
            awaits_nodes: false,
            audit: None,
        }
    }
}

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    handle: Handle,
    begin: Begin,
    thread: JoinHandle<Result<(), EngineError>>,
}

/// Result of the start of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// The last existing record.
    pub sequence: u64,
    /// Number of records that were replayed, after a snapshot if one exists.
    pub replayed: u64,
    /// Warnings about unreadable snapshots, and about the audit log.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Replays the journal, and starts the engine on its own thread.
    ///
    /// # Errors
    /// If the journal cannot be read, or the thread cannot be started.
    pub fn start(store: Box<dyn Store>, settings: Settings) -> Result<Self, EngineError> {
        Self::start_telling(store, settings, &mut |_| {})
    }

    /// Does the same as [`Engine::start`], and reports the progress of the replay.
    ///
    /// # Errors
    /// The same as [`Engine::start`].
    pub fn start_telling(
        store: Box<dyn Store>,
        mut settings: Settings,
        tell: &mut dyn FnMut(Recovering),
    ) -> Result<Self, EngineError> {
        let trail = settings.audit.take().map(AuditLog::open).transpose();
        let trail = trail.map_err(EngineError::Audit)?.unwrap_or_default();
        let mut recovered = recover_with(&*store, trail, tell)?;
        let clock = SteadyClock::new(Arc::clone(&settings.clock), recovered.time);
        settings.clock = Arc::new(clock.clone());
        let begin = Begin {
            sequence: recovered.sequence,
            replayed: recovered.replayed,
            warnings: std::mem::take(&mut recovered.warnings),
        };
        let mut writer = Writer::new(store, recovered, settings.retention);
        writer.set_scan_every(settings.scan_every);
        if settings.awaits_nodes {
            writer.await_nodes(settings.clock.now())?;
        }
        let (sender, receiver) = mpsc::channel(settings.commands_waiting.max(1));
        let (published, stopped) = (writer.published(), Arc::new(OnceLock::new()));
        let reports = sender.downgrade();
        let handle = Handle::new(sender, published.clone(), Arc::clone(&stopped), clock);
        let rounds = Maintenance::new(settings.users.take(), Arc::clone(&published.vitals));
        let rounds = go_round(rounds, &settings, &published, reports)?;
        let end = End { published, stopped };
        let mut run =
            Run { writer, receiver, settings, rounds, end, wake_at: None, messages: Vec::new() };
        let thread = std::thread::Builder::new().name("headroom-writer".into());
        let thread = thread.spawn(move || run.run());
        Ok(Self { handle, begin, thread: thread.map_err(EngineError::Thread)? })
    }

    /// Returns the result of the start.
    pub const fn begin(&self) -> &Begin {
        &self.begin
    }

    /// Returns a handle to send commands.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until the engine has processed all messages sent so far, and has ended.
    ///
    /// # Errors
    /// The reason of an earlier stop.
    ///
    /// # Panics
    /// If the writer panicked.
    pub async fn stop(self) -> Result<(), EngineError> {
        self.handle.stop().await;
        let (ended, end) = oneshot::channel();
        let thread = self.thread;
        // Joining blocks, so it happens on another thread.
        std::thread::spawn(move || {
            let _ = ended.send(thread.join());
        });
        match end.await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Ok(()),
        }
    }
}

/// Thread that makes periodic checks.
enum Walker {
    /// The thread of the writer, at each explicit step.
    ByHand(Box<Maintenance>),
    /// A separate thread, until this is dropped.
    Automatic { _until: std::sync::mpsc::Sender<()> },
}

fn go_round(
    mut rounds: Maintenance,
    settings: &Settings,
    published: &Published,
    reports: mpsc::WeakSender<Message>,
) -> Result<Walker, EngineError> {
    let (clock, views) = (Arc::clone(&settings.clock), published.views.clone());
    if settings.pace == Pace::ByHand {
        // Books from a journal cannot have a drift to report yet.
        let _ = rounds.run_due(clock.now(), || views.latest());
        return Ok(Walker::ByHand(Box::new(rounds)));
    }
    let waiting = tokio::runtime::Builder::new_current_thread().build();
    let waiting = waiting.map_err(EngineError::Thread)?;
    let (until, end) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("headroom-rounds".into());
    let report = move |command: Command| {
        // The engine has ended.
        let Some(sender) = reports.upgrade() else { return };
        let (answer, _) = oneshot::channel();
        let _ = sender.blocking_send(Message::Commands(vec![command.into()], answer));
    };
    let walk = move || rounds.run(&*clock, &end, || waiting.block_on(views.at_least(0)), report);
    thread.spawn(walk).map_err(EngineError::Thread)?;
    Ok(Walker::Automatic { _until: until })
}

/// Notifies all readers of the end, even if the writer panics.
struct End {
    published: Published,
    stopped: Arc<OnceLock<String>>,
}

impl End {
    fn because(&self, reason: String) {
        // The first reason is the most specific.
        let _ = self.stopped.set(reason);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.because("the scheduler has failed. See the log of the server".to_owned());
        self.published.end();
    }
}

/// State of the thread.
struct Run {
    writer: Writer,
    receiver: mpsc::Receiver<Message>,
    settings: Settings,
    rounds: Walker,
    end: End,
    /// Time at which the scheduler can act without a new event.
    wake_at: Option<Timestamp>,
    /// Buffer for the messages of one batch.
    messages: Vec<Message>,
}

/// Reason why a wait ended.
enum Woken {
    By(Message),
    ByTime,
    /// The books must be published, or a reader waits for them.
    ToPublish,
    ByNobodyLeft,
}

/// Answers to send when the batch is durable.
#[derive(Default)]
struct Replies {
    outcomes: Vec<(oneshot::Sender<Vec<Outcome>>, Vec<Outcome>)>,
    turns: Vec<(oneshot::Sender<u32>, u32)>,
    stop: bool,
}

impl Run {
    fn run(&mut self) -> Result<(), EngineError> {
        let mut replies = Replies::default();
        let ended = self.serve(&mut replies);
        if let Err(EngineError::Journal(error)) = &ended {
            let reason = chain(error);
            tracing::error!(
                reason,
                "the journal has failed: the server writes no more records, and the scheduler \
                 accepts no commands"
            );
            self.end.published.vitals.journal_failed(reason);
        }
        // Before any caller gets an error for a missing answer.
        self.end.because(match &ended {
            Ok(()) => "the scheduler has ended".to_owned(),
            Err(error) => chain(error),
        });
        ended
    }

    fn serve(&mut self, replies: &mut Replies) -> Result<(), EngineError> {
        // The runtime is needed only to wait with a deadline.
        let waiting = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let waiting = waiting.map_err(EngineError::Thread)?;
        let mut more = true;
        loop {
            let first = if more {
                self.receiver.try_recv().ok()
            } else {
                match self.wait(&waiting) {
                    Woken::By(message) => Some(message),
                    Woken::ByTime => None,
                    Woken::ToPublish => {
                        self.writer.publish();
                        continue;
                    }
                    Woken::ByNobodyLeft => return self.finish(),
                }
            };
            more = self.batch(first, replies)?;
            replies.send();
            if replies.stop {
                return self.finish();
            }
        }
    }

    /// Waits for a message or a deadline.
    fn wait(&mut self, waiting: &tokio::runtime::Runtime) -> Woken {
        let deadline = match self.settings.pace {
            Pace::ByHand => None,
            // The files can be removed while nothing else happens.
            Pace::Automatic => {
                let look = self.settings.clock.now() + FILES_CHECKED_EVERY;
                [self.writer.next_deadline(), self.wake_at, Some(look)].into_iter().flatten().min()
            }
        };
        let receiver = &mut self.receiver;
        let Some(deadline) = deadline else {
            return receiver.blocking_recv().map_or(Woken::ByNobodyLeft, Woken::By);
        };
        let left = deadline.since(self.settings.clock.now());
        let left = Duration::from_millis(left.get());
        let publishes_at = self.writer.publishes_at();
        let views = &self.end.published.views;
        waiting.block_on(async {
            let to_publish = async {
                if let Some(at) = publishes_at {
                    let _ = tokio::time::timeout_at(at.into(), views.asked()).await;
                } else {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                biased;
                message = receiver.recv() => message.map_or(Woken::ByNobodyLeft, Woken::By),
                () = to_publish => Woken::ToPublish,
                () = tokio::time::sleep(left) => Woken::ByTime,
            }
        })
    }

    /// Processes a batch: messages, timers, scheduling, and one flush. Returns whether the next batch can start
    /// immediately.
    fn batch(
        &mut self,
        first: Option<Message>,
        replies: &mut Replies,
    ) -> Result<bool, EngineError> {
        let now = self.settings.clock.now();
        let mut messages = std::mem::take(&mut self.messages);
        self.receive(now, first, (&mut messages, replies))?;
        for message in messages.drain(..) {
            self.take(now, message, replies)?;
        }
        self.messages = messages;
        let mut more = false;
        if self.settings.pace == Pace::Automatic {
            self.writer.pass_time(now)?;
            let scheduled = self.writer.schedule(now, STEPS_PER_BATCH)?;
            more = scheduled.more;
            self.wake_at = scheduled.wake_at;
        }
        let is_turned = !replies.turns.is_empty();
        let is_idle = !more && self.receiver.is_empty();
        // With a journal, the next flush can fail or wait for the disk, and what was answered must be readable then.
        let publication = match (self.settings.pace, is_idle || is_turned) {
            (Pace::Automatic, true) if !self.writer.stores() => Publication::Due,
            (Pace::ByHand | Pace::Automatic, true) => Publication::Now,
            (Pace::ByHand | Pace::Automatic, false) => Publication::OnRequest,
        };
        self.writer.flush(publication)?;
        if let Walker::ByHand(rounds) = &mut self.rounds
            && is_turned
            && let Some(command) = rounds.run_due(now, || self.end.published.views.latest())
        {
            self.writer.by_itself(now, command)?;
            self.writer.flush(Publication::Now)?;
        }
        Ok(more)
    }

    /// Receives the messages that were sent so far, up to a request to stop.
    ///
    /// Reads of the state are executed immediately, before the commands of this batch. Such reads therefore see durable
    /// books, and do not wait for the flush.
    fn receive(
        &mut self,
        now: Timestamp,
        first: Option<Message>,
        (messages, replies): (&mut Vec<Message>, &mut Replies),
    ) -> Result<(), EngineError> {
        let mut next = first;
        for number in 1..=MESSAGES_PER_BATCH {
            let Some(message) = next.take() else { break };
            let is_last = number == MESSAGES_PER_BATCH || matches!(message, Message::Stop);
            if message.is_look() {
                self.take(now, message, replies)?;
            } else {
                messages.push(message);
            }
            next = if is_last { None } else { self.receiver.try_recv().ok() };
        }
        Ok(())
    }

    fn take(
        &mut self,
        now: Timestamp,
        message: Message,
        replies: &mut Replies,
    ) -> Result<(), EngineError> {
        match message {
            Message::Commands(submissions, answer) => {
                let outcomes = self.judge(now, submissions)?;
                replies.outcomes.push((answer, outcomes));
            }
            Message::Checked(check, submission, answer) => {
                let outcomes = if check(&self.writer.moment()) {
                    self.judge(now, vec![*submission])?
                } else {
                    Vec::new()
                };
                replies.outcomes.push((answer, outcomes));
            }
            Message::Look(look) => look(&self.writer.moment()),
            Message::Journal(answer) => {
                // The caller might have disconnected.
                let _ = answer.send(self.writer.journal_reader());
            }
            Message::Turn(most, answer) => {
                self.writer.pass_time(now)?;
                let steps = self.writer.schedule(now, most)?.steps;
                replies.turns.push((answer, steps));
            }
            #[cfg(feature = "testkit")]
            Message::Spoil(spoil) => self.writer.spoil(spoil),
            Message::Stop => replies.stop = true,
        }
        Ok(())
    }

    fn judge(
        &mut self,
        now: Timestamp,
        submissions: Vec<Submission>,
    ) -> Result<Vec<Outcome>, EngineError> {
        submissions.into_iter().map(|one| self.writer.judge(now, one)).collect()
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        self.writer.finish()
    }
}

impl Replies {
    /// Sends all answers. Some receivers might be gone.
    fn send(&mut self) {
        for (answer, outcomes) in self.outcomes.drain(..) {
            let _ = answer.send(outcomes);
        }
        for (answer, steps) in self.turns.drain(..) {
            let _ = answer.send(steps);
        }
    }
}
