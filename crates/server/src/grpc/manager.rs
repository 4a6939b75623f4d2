//! One RM, from its registration until another takes its place.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_api::si::v1::RegisterResourceManagerRequest;
use headroom_core::books::{self, Questions};
use headroom_core::{Command, Name};
use headroom_engine::{Handle, Origin, Submission, Unavailable};
use tokio::sync::watch;
use tonic::Status;

use super::background::spawn;
use super::intake::{Intake, Pending};
use super::interface::{Interface, WeakInterface};
use super::outbox::Outbox;
use super::rm_questions::RmQuestions;
use super::tags::TagsOf;

/// How an RM stands. Scheduler interface §5.4, §12.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmState {
    /// Registered, and no stream of it was there yet.
    Init,
    /// It is there.
    Running,
    /// It is away, or answers nothing: nothing is placed for it until it is back.
    Paused,
    /// It was away for too long, or another registration took its place.
    Stopped,
}

/// One RM.
pub(super) struct Manager {
    /// What it calls itself, from its registration.
    pub(super) registration: RegisterResourceManagerRequest,
    /// Secret; names this registration.
    pub(super) token: String,
    pub(super) intake: Intake,
    pub(super) outbox: Outbox,
    /// What it is asked.
    pub(super) asking: RmQuestions,
    /// What it says of its allocations.
    pub(super) tags: TagsOf,
    interface: WeakInterface,
    handle: Handle,
    facts: Mutex<Facts>,
    over: watch::Sender<Option<Status>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// A stream of it was there.
    seen: bool,
    /// What keeps it from being scheduled for.
    away: Away,
    /// It sends what exists, and has not reported that this is all.
    recovering: bool,
    /// Counts pauses.
    pause: u64,
}

/// Why nothing is placed for an RM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Away {
    /// A stream that it needs is lost.
    pub(super) stream: bool,
    /// The stream for questions is lost.
    pub(super) callbacks: bool,
    /// It answers no questions in time.
    pub(super) silent: bool,
}

impl Away {
    const fn is_away(self) -> bool {
        self.stream || self.callbacks || self.silent
    }
}

impl Manager {
    /// An RM that has just registered, and where its requests come out.
    pub(super) fn new(
        interface: &Interface,
        (registration, token): (RegisterResourceManagerRequest, String),
        (origin, outbox, recovering): (Origin, Outbox, bool),
    ) -> (Arc<Self>, tokio::sync::mpsc::Receiver<Pending>) {
        let handle = interface.service().engine.clone();
        let clock = Arc::clone(&interface.service().clock);
        let (intake, pendings) = Intake::new(handle.clone(), clock, origin);
        let manager = Self {
            registration,
            token,
            intake,
            outbox,
            asking: RmQuestions::new(interface.settings()),
            tags: TagsOf::default(),
            interface: interface.downgrade(),
            handle,
            facts: Mutex::new(Facts { recovering, ..Facts::default() }),
            over: watch::Sender::new(None),
        };
        (Arc::new(manager), pendings)
    }

    /// What it calls itself.
    pub(super) fn id(&self) -> &str {
        &self.registration.rm_id
    }

    /// How it stands.
    pub(super) fn standing(&self) -> RmState {
        let facts = *self.facts();
        if self.over.borrow().is_some() {
            return RmState::Stopped;
        }
        match facts {
            Facts { away, .. } if away.is_away() => RmState::Paused,
            Facts { seen: true, .. } => RmState::Running,
            Facts { .. } => RmState::Init,
        }
    }

    /// A stream of it is there.
    pub(super) fn note_seen(&self) {
        self.facts().seen = true;
    }

    /// Whether a stream that it needs is lost.
    pub(super) fn has_lost_stream(&self) -> bool {
        self.facts().away.stream
    }

    /// All that exists has been sent.
    pub(super) fn note_recovered(&self) {
        self.facts().recovering = false;
    }

    /// Change why it is away, and have the scheduler go on or hold.
    pub(super) fn set_away(self: &Arc<Self>, change: impl FnOnce(&mut Away)) {
        let (before, after, pause) = {
            let mut facts = self.facts();
            let before = facts.away;
            change(&mut facts.away);
            let after = facts.away;
            if !before.is_away() && after.is_away() {
                facts.pause += 1;
            }
            (before, after, facts.pause)
        };
        if before == after {
            return;
        }
        if let Some(interface) = self.interface.upgrade()
            && !before.is_away()
            && after.is_away()
        {
            tracing::warn!(
                rm = self.id(),
                ?after,
                "the resource manager disconnected, so nothing starts"
            );
            interface.begin_grace(self, pause);
        }
        if before.is_away() && !after.is_away() {
            tracing::info!(rm = self.id(), "the resource manager reconnected");
        }
        let (interface, manager) = (self.interface.upgrade(), Arc::clone(self));
        spawn(async move {
            if let Some(interface) = interface {
                interface.reconcile(&manager).await;
            }
        });
    }

    /// Whether this pause goes on.
    pub(super) fn is_in_pause(&self, pause: u64) -> bool {
        let facts = self.facts();
        facts.away.is_away() && facts.pause == pause
    }

    /// Whether it is away.
    pub(super) fn is_away(&self) -> bool {
        self.facts().away.is_away()
    }

    /// Whether it answers no questions in time.
    pub(super) fn is_silent(&self) -> bool {
        self.facts().away.silent
    }

    /// Whether questions are to be held until it is back.
    pub(super) fn holds_questions(&self) -> bool {
        let facts = self.facts();
        facts.away.is_away() || facts.recovering
    }

    /// Tell the scheduler what to ask about before it places anything.
    ///
    /// One at a time: the caller has the seat. Nothing is placed for an RM that is away or has not sent all that
    /// exists: whatever would be placed becomes a question, of which one is put and none answered.
    ///
    /// # Errors
    /// When the engine takes no commands.
    pub(super) async fn reconcile(&self) -> Result<(), Unavailable> {
        let facts = *self.facts();
        let questions = if facts.away.stream || facts.away.callbacks || facts.recovering {
            Some(Questions { victims: true, at_once: std::num::NonZeroU16::MIN })
        } else {
            self.asking.questions()
        };
        let view = self.handle.views().at_least(0).await;
        let away = facts.away.is_away().then(|| self.as_away());
        let of = |partition: &Name| {
            let partition = partition.clone();
            let is_away =
                Command::SetManagerAway { partition: partition.clone(), away: away.clone() };
            [is_away, Command::SetQuestions { partition, questions }]
        };
        let commands = view.books.partitions().values().flat_map(|row| of(&row.name));
        let submission = |command| Submission { origin: self.own_origin(), command };
        self.handle.submit_all(commands.map(submission).collect()).await?;
        Ok(())
    }

    /// How the books know that it is away.
    fn as_away(&self) -> books::Away {
        books::Away { manager: Name::new(self.id()), since: self.intake.last() }
    }

    /// The origin of what is done for it, not by it.
    pub(super) fn own_origin(&self) -> Origin {
        Origin { identity: format!("for rm:{}", self.id()), ..Origin::default() }
    }

    /// The engine.
    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// It is over with this registration, for this reason; the first one counts.
    pub(super) fn end(&self, why: &Status) {
        self.over.send_if_modified(|over| {
            let first = over.is_none();
            over.get_or_insert_with(|| why.clone());
            first
        });
        self.outbox.end(why);
        self.asking.end(why);
    }

    /// Whether it is over with this registration.
    pub(super) fn is_over(&self) -> bool {
        self.over.borrow().is_some()
    }

    /// Wait until it is over with this registration.
    pub(super) async fn over(&self) -> Status {
        let mut over = self.over.subscribe();
        match over.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_else(|| Status::aborted("the registration has ended")),
            Err(_) => Status::aborted("the registration has ended"),
        }
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
