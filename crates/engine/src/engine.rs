//! The writer on a thread of its own.

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
    FILES_CHECKED_EVERY, Outcome, Retention, SCAN_EVERY, STEPS_PER_BATCH, Submission, Writer,
};

/// How many messages are taken into one batch.
const MESSAGES_PER_BATCH: usize = 1_024;

/// Who makes the scheduler go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// It goes by itself, and with the clock.
    #[default]
    Automatic,
    /// Only as far as [`Handle::step`] says, for tests.
    ByHand,
}

/// How an engine is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who makes it go.
    pub pace: Pace,
    /// How often the scans come that the reference does by the clock; none for never: then they
    /// are commands that somebody gives.
    pub scan_every: Option<Millis>,
    /// How many commands may wait.
    pub commands_waiting: usize,
    /// How much is stored.
    pub retention: Retention,
    /// Whose memory of users is cleaned by the clock.
    pub users: Option<Arc<Users>>,
    /// Whether nothing starts after a restart before the nodes that are known have reported: where an RM brings
    /// them, which is away until it has registered again.
    pub awaits_nodes: bool,
    /// Where the audit of tenants is stored; none for in memory, and not for long.
    pub audit: Option<Arc<dyn Disk>>,
}

impl Settings {
    /// As usual, by this clock.
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

/// An engine that runs.
#[derive(Debug)]
pub struct Engine {
    handle: Handle,
    begin: Begin,
    thread: JoinHandle<Result<(), EngineError>>,
}

/// How an engine began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// The last record that was there.
    pub sequence: u64,
    /// How many records were replayed, behind a snapshot if there was one.
    pub replayed: u64,
    /// Warnings: snapshots that could not be read, what is wrong with the audit.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Replay the journal, and run on a thread of its own from there.
    ///
    /// # Errors
    /// When the journal cannot be read, or the thread not be started.
    pub fn start(store: Box<dyn Store>, settings: Settings) -> Result<Self, EngineError> {
        Self::start_telling(store, settings, &mut |_| {})
    }

    /// As [`Engine::start`], and tell how far the replay is.
    ///
    /// # Errors
    /// As there.
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

    /// How it began.
    pub const fn begin(&self) -> &Begin {
        &self.begin
    }

    /// How to talk to it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Have it finish what was sent so far, and wait for it.
    ///
    /// # Errors
    /// Why it stopped, if it was not for this.
    ///
    /// # Panics
    /// If the writer did.
    pub async fn stop(self) -> Result<(), EngineError> {
        self.handle.stop().await;
        let (ended, end) = oneshot::channel();
        let thread = self.thread;
        // Joining blocks, so it does not happen here.
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

/// Who goes round.
enum Walker {
    /// The writer, at each explicit step.
    ByHand(Box<Maintenance>),
    /// A thread of its own, until this is dropped.
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
        // There is nothing to tell of books that follow from a journal.
        let _ = rounds.run_due(clock.now(), || views.latest());
        return Ok(Walker::ByHand(Box::new(rounds)));
    }
    let waiting = tokio::runtime::Builder::new_current_thread().build();
    let waiting = waiting.map_err(EngineError::Thread)?;
    let (until, end) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("headroom-rounds".into());
    let report = move |command: Command| {
        // Nobody is left to send to: the engine has ended.
        let Some(sender) = reports.upgrade() else { return };
        let (answer, _) = oneshot::channel();
        let _ = sender.blocking_send(Message::Commands(vec![command.into()], answer));
    };
    let walk = move || rounds.run(&*clock, &end, || waiting.block_on(views.at_least(0)), report);
    thread.spawn(walk).map_err(EngineError::Thread)?;
    Ok(Walker::Automatic { _until: until })
}

/// Tells everybody that nothing comes any more, even if the writer panics.
struct End {
    published: Published,
    stopped: Arc<OnceLock<String>>,
}

impl End {
    fn because(&self, reason: String) {
        // The first reason is the best.
        let _ = self.stopped.set(reason);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.because("the scheduler has failed. See the log of the server".to_owned());
        self.published.end();
    }
}

/// What the thread does.
struct Run {
    writer: Writer,
    receiver: mpsc::Receiver<Message>,
    settings: Settings,
    rounds: Walker,
    end: End,
    /// When time alone may change something for the scheduler.
    wake_at: Option<Timestamp>,
    /// Room for the messages of one batch.
    messages: Vec<Message>,
}

/// What ended a wait.
enum Woken {
    By(Message),
    ByTime,
    ByNobodyLeft,
}

/// Who is to be answered when the batch is durable.
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
        // Before any caller learns that there is no answer.
        self.end.because(match &ended {
            Ok(()) => "the scheduler has ended".to_owned(),
            Err(error) => chain(error),
        });
        ended
    }

    fn serve(&mut self, replies: &mut Replies) -> Result<(), EngineError> {
        // Waiting with a deadline is all that it is needed for.
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

    /// Wait for a message or a deadline.
    fn wait(&mut self, waiting: &tokio::runtime::Runtime) -> Woken {
        let deadline = match self.settings.pace {
            Pace::ByHand => None,
            // Somebody may take the files away while nothing else happens.
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
        waiting.block_on(async {
            match tokio::time::timeout(left, receiver.recv()).await {
                Ok(Some(message)) => Woken::By(message),
                Ok(None) => Woken::ByNobodyLeft,
                Err(_) => Woken::ByTime,
            }
        })
    }

    /// One batch: what waits, the time, the scheduler, and one flush; whether there is more to do
    /// at once.
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
        self.writer.flush(is_idle || is_turned)?;
        if let Walker::ByHand(rounds) = &mut self.rounds
            && is_turned
            && let Some(command) = rounds.run_due(now, || self.end.published.views.latest())
        {
            self.writer.by_itself(now, command)?;
            self.writer.flush(true)?;
        }
        Ok(more)
    }

    /// Take what was sent by now, up to the order to stop.
    ///
    /// Looks are answered at once: no caller has the outcome of the commands beside them yet. So they see books that are
    /// durable, and need not wait for this batch.
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
                // The caller may have gone.
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
    /// Answer everybody; some may not wait any more.
    fn send(&mut self) {
        for (answer, outcomes) in self.outcomes.drain(..) {
            let _ = answer.send(outcomes);
        }
        for (answer, steps) in self.turns.drain(..) {
            let _ = answer.send(steps);
        }
    }
}
