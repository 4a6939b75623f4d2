//! An RM, from its registration until another registration replaces it.

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

/// State of an RM. Scheduler interface §5.4, §12.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmState {
    /// The RM is registered, but has not opened a stream yet.
    Init,
    /// The RM is connected.
    Running,
    /// The RM is disconnected, or does not answer. The scheduler places nothing for the RM until it is back.
    Paused,
    /// The RM was disconnected for too long, or another registration replaced it.
    Stopped,
}

/// One RM.
pub(super) struct Manager {
    /// The registration request of the RM.
    pub(super) registration: RegisterResourceManagerRequest,
    /// Secret token that identifies this registration.
    pub(super) token: String,
    pub(super) intake: Intake,
    pub(super) outbox: Outbox,
    /// Questions to the RM.
    pub(super) asking: RmQuestions,
    /// Tags of its allocations.
    pub(super) tags: TagsOf,
    interface: WeakInterface,
    handle: Handle,
    facts: Mutex<Facts>,
    over: watch::Sender<Option<Status>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Whether the RM has opened a stream.
    seen: bool,
    /// Reasons why scheduling for the RM is paused.
    away: Away,
    /// Whether the RM is still sending existing objects.
    recovering: bool,
    /// Number of pauses so far.
    pause: u64,
}

/// Reasons why nothing is placed for an RM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Away {
    /// A required stream is lost.
    pub(super) stream: bool,
    /// The stream for questions is lost.
    pub(super) callbacks: bool,
    /// The RM does not answer questions in time.
    pub(super) silent: bool,
}

impl Away {
    const fn is_away(self) -> bool {
        self.stream || self.callbacks || self.silent
    }
}

impl Manager {
    /// Returns an RM that has just registered, and the receiving end of its requests.
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

    /// Returns the id of the RM.
    pub(super) fn id(&self) -> &str {
        &self.registration.rm_id
    }

    /// Returns the state of the RM.
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

    /// Stores that the RM has opened a stream.
    pub(super) fn note_seen(&self) {
        self.facts().seen = true;
    }

    /// Returns whether a required stream is lost.
    pub(super) fn has_lost_stream(&self) -> bool {
        self.facts().away.stream
    }

    /// Returns whether the RM still has to send existing objects.
    pub(super) fn is_recovering(&self) -> bool {
        self.facts().recovering
    }

    /// Stores that the RM has sent all existing objects. Returns whether this is new.
    pub(super) fn note_recovered(&self) -> bool {
        std::mem::replace(&mut self.facts().recovering, false)
    }

    /// Changes the reasons for the pause, and lets the scheduler pause or continue.
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

    /// Returns whether this pause continues.
    pub(super) fn is_in_pause(&self, pause: u64) -> bool {
        let facts = self.facts();
        facts.away.is_away() && facts.pause == pause
    }

    /// Returns whether the RM is paused.
    pub(super) fn is_away(&self) -> bool {
        self.facts().away.is_away()
    }

    /// Returns whether the RM does not answer questions in time.
    pub(super) fn is_silent(&self) -> bool {
        self.facts().away.silent
    }

    /// Returns whether questions are held until the RM is back.
    pub(super) fn holds_questions(&self) -> bool {
        let facts = self.facts();
        facts.away.is_away() || facts.recovering
    }

    /// Tells the scheduler which questions to ask before a placement, and whether the RM is disconnected.
    ///
    /// The caller holds the lock `seat`, so calls are serialized. The scheduler places nothing for an RM that is
    /// disconnected, or has not sent all existing objects: every placement becomes a question then. Only one question
    /// is open at a time, and no one answers it.
    ///
    /// # Errors
    /// If the engine accepts no commands.
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
        let origin = Some(Arc::new(self.own_origin()));
        let submission = |command| Submission { origin: origin.clone(), command };
        self.handle.submit_all(commands.map(submission).collect()).await?;
        Ok(())
    }

    /// Returns the representation of the disconnected RM in the books.
    fn as_away(&self) -> books::Away {
        books::Away { manager: Name::new(self.id()), since: self.intake.last() }
    }

    /// Returns the origin of commands that the server gives on behalf of the RM.
    pub(super) fn own_origin(&self) -> Origin {
        Origin { identity: format!("for rm:{}", self.id()), ..Origin::default() }
    }

    /// Returns the handle of the engine.
    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Ends this registration with this reason. Only the first call has an effect.
    pub(super) fn end(&self, why: &Status) {
        self.over.send_if_modified(|over| {
            let first = over.is_none();
            over.get_or_insert_with(|| why.clone());
            first
        });
        self.outbox.end(why);
        self.asking.end(why);
    }

    /// Returns whether this registration has ended.
    pub(super) fn is_over(&self) -> bool {
        self.over.borrow().is_some()
    }

    /// Waits until this registration has ended. Returns the reason.
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
