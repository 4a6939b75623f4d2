//! The scheduler interface as a whole: who is registered, and how one registration follows
//! another.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use headroom_api::si::headroom::Capabilities;
use headroom_api::si::v1::RegisterResourceManagerRequest;
use headroom_core::Timestamp;
use headroom_engine::Origin;
use headroom_engine::users::Resolvers;
use tonic::Status;

use crate::queue_file::QueueFileError;
use crate::secret::random_token;
use crate::{Caller, Service};

use super::background::spawn;
use super::manager::{Manager, RmState};
use super::notifier::{RmNotifier, unavailable};
use super::outbox::Outbox;
use super::settings::Settings;
use super::watching;

/// The scheduler interface. Clones are one.
#[derive(Clone)]
pub struct Interface(Arc<Shared>);

/// The same, as long as somebody else has it.
pub(super) struct WeakInterface(Weak<Shared>);

struct Shared {
    service: Service,
    settings: Settings,
    current: RwLock<Option<Arc<Manager>>>,
    shut_down: AtomicBool,
    /// One registration, or change of the queue file by an RM, at a time.
    seat: tokio::sync::Mutex<SentQueueFiles>,
}

/// What is known of the queue files that RMs sent.
#[derive(Default)]
struct SentQueueFiles {
    /// The checksum of the last one, and the text that was in force before the first.
    sent: Option<(String, String)>,
}

/// How long the reason of a refusal is at most, in characters.
const SENTENCE_CHARS_MAX: usize = 2_000;

/// Which profile an RM uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Profile {
    /// The three streams of the published interface.
    Compat,
    /// One ordered stream.
    Session {
        /// Whether it says when it has sent all that exists.
        recovers: bool,
        /// What it answers and wants to receive.
        capabilities: Capabilities,
    },
}

/// An RM that is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// What it calls itself.
    pub rm_id: String,
    /// The RM's own data on how it was built.
    pub build_info: BTreeMap<String, String>,
    /// The version of the interface that it speaks.
    pub version: String,
    /// The name that it gave its queue file.
    pub policy_group: String,
    /// How it stands.
    pub standing: RmState,
    /// When it sent something last.
    pub last_seen: Timestamp,
}

impl Interface {
    /// To this service.
    pub fn new(service: Service, settings: Settings) -> Self {
        Self(Arc::new(Shared {
            service,
            settings,
            current: RwLock::default(),
            shut_down: AtomicBool::new(false),
            seat: tokio::sync::Mutex::default(),
        }))
    }

    /// The RM that is registered, if one is.
    pub fn registered(&self) -> Option<Registered> {
        let manager = self.current()?;
        let registration = &manager.registration;
        Some(Registered {
            rm_id: registration.rm_id.clone(),
            build_info: registration.build_info.clone(),
            version: registration.version.clone(),
            policy_group: registration.policy_group.clone(),
            standing: manager.standing(),
            last_seen: manager.intake.last(),
        })
    }

    /// The tags that came with an ask, an allocation or something foreign.
    pub fn tags(&self, partition: &str, key: &str) -> Option<Arc<BTreeMap<String, String>>> {
        self.current()?.tags.get(partition, key)
    }

    /// What the RM knows, as a JSON text, or why it does not say. None if there is no RM, or it
    /// is never asked this.
    pub async fn state_dump(&self) -> Option<Result<String, String>> {
        let manager = self.current()?;
        manager.asking.dump(&manager).await
    }

    /// End all streams, since the server ends.
    pub fn shut_down(&self) {
        self.0.shut_down.store(true, Ordering::SeqCst);
        if let Some(manager) = self.current() {
            manager.end(&Status::unavailable("the server is shutting down. Try again later"));
        }
    }

    /// Whether no commands are taken any more.
    pub(super) fn is_shut_down(&self) -> bool {
        self.0.shut_down.load(Ordering::SeqCst) || self.service().engine.stopped().is_some()
    }

    pub(super) fn service(&self) -> &Service {
        &self.0.service
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(super) fn downgrade(&self) -> WeakInterface {
        WeakInterface(Arc::downgrade(&self.0))
    }

    /// Who is registered.
    pub(super) fn current(&self) -> Option<Arc<Manager>> {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn seat_taken_by(&self, manager: Option<Arc<Manager>>) {
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = manager;
    }

    /// The RM of this name.
    ///
    /// # Errors
    /// When it is not registered.
    pub(super) fn named(&self, rm_id: &str, request: &str) -> Result<Arc<Manager>, Status> {
        self.current().filter(|manager| manager.id() == rm_id).ok_or_else(|| {
            let shown: String = rm_id.chars().take(80).collect();
            Status::failed_precondition(format!(
                "received {request}, but RmID={shown:?} is not registered; register first"
            ))
        })
    }

    /// Register an RM: what is known of the one before goes, and it begins with a queue file and
    /// nothing else. Scheduler interface §5.1, decision K-1.
    ///
    /// # Errors
    /// When another RM is registered, the queue file has faults, or the engine takes no commands.
    pub(super) async fn register(
        &self,
        caller: &Caller,
        request: RegisterResourceManagerRequest,
        profile: Profile,
    ) -> Result<Arc<Manager>, Status> {
        if request.rm_id.is_empty() {
            return Err(Status::invalid_argument(
                "rmID is empty. Set a name of at least one character",
            ));
        }
        if self.is_shut_down() {
            return Err(Status::unavailable("the server is shutting down. Try again later"));
        }
        let mut seat = self.0.seat.lock().await;
        let before = self.current();
        if let Some(other) = before.as_ref().filter(|one| one.id() != request.rm_id) {
            return Err(self.taken(other).await);
        }
        let queue_file = &self.service().queue_file;
        queue_file.set_extra(request.extra_config.clone());
        let text = seat.text_for(&request.config, &queue_file.in_force());
        check(&text)?;
        let token = random_token().map_err(|error| Status::unavailable(error.to_string()))?;
        let has_before = before.is_some();
        self.seat_taken_by(None);
        if let Some(before) = before {
            before.end(&Status::aborted("this resource manager registered again"));
            before.intake.close().await;
        }
        let origin = origin(caller, &request.rm_id);
        self.tear_down(&origin, has_before).await?;
        let before = queue_file.in_force();
        let applied = queue_file.apply(origin.clone(), &text).await;
        let applied = applied.map_err(|error| refused("registration of RM failed", &error))?;
        seat.note_sent(&request.config, &before, &queue_file.in_force().checksum);
        let held_max = self.settings().messages_held;
        let (outbox, recovering) = match profile {
            Profile::Compat => (Outbox::compat(held_max), false),
            Profile::Session { recovers, .. } => (Outbox::session(held_max), recovers),
        };
        // Its requests are known by their origin, which nobody else's have.
        let identity = origin.identity.clone();
        let registration = (request, token);
        let (manager, pendings) = Manager::new(self, registration, (origin, outbox, recovering));
        tracing::info!(
            rm = manager.id(),
            ?profile,
            by = caller.identity,
            "a resource manager registered"
        );
        let teller =
            RmNotifier::new(Arc::clone(&manager), identity, pendings, applied.sequence + 1);
        let (interface, notified) = (self.clone(), Arc::clone(&manager));
        spawn(async move {
            teller.run().await;
            interface.after(&notified);
        });
        spawn(watching::run(self.clone(), Arc::clone(&manager)));
        self.seat_taken_by(Some(Arc::clone(&manager)));
        let is_told = match profile {
            Profile::Session { capabilities, .. } => {
                manager.asking.set_capabilities(capabilities);
                true
            }
            Profile::Compat => self.holds_for_one_before(applied.sequence).await,
        };
        if is_told {
            manager.reconcile().await.map_err(|error| unavailable(&error))?;
        }
        Ok(manager)
    }

    /// Whether partitions that stayed, as those with tenants do, ask an RM that is gone, or hold everything as it was
    /// away when the server stopped.
    async fn holds_for_one_before(&self, sequence: u64) -> bool {
        let view = self.service().engine.views().at_least(sequence).await;
        let mut rows = view.books.partitions().values();
        rows.any(|row| row.questions.is_some() || row.away.is_some())
    }

    /// It is over with a registration. If nobody took its place, nothing is placed for it, and
    /// what is known of it goes in a while.
    fn after(&self, manager: &Arc<Manager>) {
        let is_current = self.current().is_some_and(|one| Arc::ptr_eq(&one, manager));
        if is_current && self.service().engine.stopped().is_none() {
            manager.set_away(|away| away.stream = true);
        }
    }

    /// Have the scheduler go on or hold, as an RM stands by now.
    pub(super) async fn reconcile(&self, manager: &Manager) {
        let _seat = self.0.seat.lock().await;
        if self.current().is_some_and(|one| std::ptr::eq(Arc::as_ptr(&one), manager)) {
            // An engine that has stopped places nothing.
            let _ = manager.reconcile().await;
        }
    }

    async fn taken(&self, other: &Manager) -> Status {
        let view = self.service().engine.views().at_least(0).await;
        Status::failed_precondition(format!(
            "RM {} has been registered before, active partitions {}; one RM at a time",
            other.id(),
            view.books.partitions().len()
        ))
    }

    /// Put the queue file of an RM in force. Scheduler interface §5.2.
    ///
    /// # Errors
    /// When there is no partition, or the file has faults. The one before stays then.
    pub(super) async fn configure(
        &self,
        caller: &Caller,
        manager: &Arc<Manager>,
        config: &str,
        extra: BTreeMap<String, String>,
    ) -> Result<(), Status> {
        let mut seat = self.0.seat.lock().await;
        if manager.is_over() {
            return Err(Status::failed_precondition(
                "the registration of this resource manager has ended. Register again",
            ));
        }
        let queue_file = &self.service().queue_file;
        queue_file.set_extra(extra);
        let before = queue_file.in_force();
        let text = seat.text_for(config, &before);
        let mut origin = origin(caller, manager.id());
        origin.identity.push_str(" (queue file)");
        let applied = queue_file.apply(origin, &text).await;
        applied.map_err(|error| refused("update of configuration failed", &error))?;
        seat.note_sent(config, &before, &queue_file.in_force().checksum);
        // Partitions may be new.
        manager.reconcile().await.map_err(|error| unavailable(&error))
    }

    /// Give an RM that is away some time to come back.
    pub(super) fn begin_grace(&self, manager: &Arc<Manager>, pause: u64) {
        let (interface, manager) = (self.downgrade(), Arc::clone(manager));
        let grace = self.settings().grace;
        spawn(async move {
            tokio::time::sleep(grace).await;
            if let Some(interface) = interface.upgrade() {
                interface.give_up(&manager, pause).await;
            }
        });
    }

    /// It has not come back: what is known of it goes.
    async fn give_up(&self, manager: &Arc<Manager>, pause: u64) {
        let _seat = self.0.seat.lock().await;
        let is_current = self.current().is_some_and(|one| Arc::ptr_eq(&one, manager));
        if !is_current || !manager.is_in_pause(pause) {
            return;
        }
        tracing::warn!(rm = manager.id(), grace = ?self.settings().grace, "the resource manager was disconnected too long and was removed");
        self.seat_taken_by(None);
        manager.end(&Status::aborted(
            "this resource manager was disconnected too long. Register again",
        ));
        manager.intake.close().await;
        // If the engine has stopped, nothing is placed any more.
        let _ = self.tear_down(&manager.own_origin(), true).await;
    }
}

impl WeakInterface {
    pub(super) fn upgrade(&self) -> Option<Interface> {
        self.0.upgrade().map(Interface)
    }
}

impl SentQueueFiles {
    /// What an RM asks for by this text. None at all means the file that was there before any RM
    /// sent one; if there was none, the built-in one.
    fn text_for(&self, sent: &str, in_force: &crate::InForce) -> String {
        if !sent.is_empty() {
            return sent.to_owned();
        }
        match &self.sent {
            Some((checksum, before)) if *checksum == in_force.checksum => before.clone(),
            _ => in_force.text.clone(),
        }
    }

    /// A queue file is in force that an RM sent, or not.
    fn note_sent(&mut self, sent: &str, before: &crate::InForce, checksum: &str) {
        if sent.is_empty() {
            self.sent = None;
            return;
        }
        let text = self.text_for("", before);
        self.sent = Some((checksum.to_owned(), text));
    }
}

/// Who sends the requests of an RM.
fn origin(caller: &Caller, rm_id: &str) -> Origin {
    Origin { identity: format!("rm:{rm_id} by {}", caller.identity), ..Origin::default() }
}

/// See whether a queue file can be put in force, before anything is torn down for it.
fn check(text: &str) -> Result<(), Status> {
    let refused = |error: QueueFileError| refused("registration of RM failed", &error);
    let loaded =
        headroom_config::read(text).map_err(|error| refused(QueueFileError::Faulty(error)))?;
    Resolvers::of(&loaded.configuration).map_err(|error| refused(error.into()))?;
    Ok(())
}

fn refused(what: &str, error: &QueueFileError) -> Status {
    let mut sentence = format!("{what}: {error}");
    // A status travels in a header, which has a bound.
    if let Some((end, _)) = sentence.char_indices().nth(SENTENCE_CHARS_MAX) {
        sentence.truncate(end);
        sentence.push('…');
    }
    match error {
        QueueFileError::Faulty(_) | QueueFileError::Resolver(_) | QueueFileError::Rejected(_) => {
            Status::invalid_argument(sentence)
        }
        QueueFileError::Unavailable(_) => Status::unavailable(sentence),
        QueueFileError::Moved { .. } => Status::failed_precondition(sentence),
        QueueFileError::Failed | QueueFileError::Keep { .. } => Status::internal(sentence),
    }
}
