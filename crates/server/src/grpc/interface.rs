//! The scheduler interface as a whole: the registered RM, and the replacement of a registration by another.

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

/// The scheduler interface. Clones share its state.
#[derive(Clone)]
pub struct Interface(Arc<Shared>);

/// A weak reference to the scheduler interface.
pub(super) struct WeakInterface(Weak<Shared>);

struct Shared {
    service: Service,
    settings: Settings,
    current: RwLock<Option<Arc<Manager>>>,
    shut_down: AtomicBool,
    /// Serializes registrations, and changes of the queue file by an RM.
    seat: tokio::sync::Mutex<SentQueueFiles>,
}

/// The queue files that RMs sent.
#[derive(Default)]
struct SentQueueFiles {
    /// Checksum of the last file that an RM sent, and the text of the file that was active before the first.
    sent: Option<(String, String)>,
}

/// Maximum length of the reason of a refusal, in characters.
const SENTENCE_CHARS_MAX: usize = 2_000;

/// Profile of the interface that an RM uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Profile {
    /// The three streams of the published interface.
    Compat,
    /// One ordered stream.
    Session {
        /// Whether the RM reports the end of the list of existing objects.
        recovers: bool,
        /// Questions that the RM answers, and messages that the RM wants to receive.
        capabilities: Capabilities,
    },
}

/// A registered RM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// ID that the RM chose.
    pub rm_id: String,
    /// Build information of the RM.
    pub build_info: BTreeMap<String, String>,
    /// Version of the interface that the RM uses.
    pub version: String,
    /// Name that the RM gave to its queue file.
    pub policy_group: String,
    /// State of the RM.
    pub standing: RmState,
    /// Time of its last message.
    pub last_seen: Timestamp,
    /// Whether it still has to send existing objects.
    pub is_recovering: bool,
}

impl Interface {
    /// Returns the interface of this service.
    pub fn new(service: Service, settings: Settings) -> Self {
        Self(Arc::new(Shared {
            service,
            settings,
            current: RwLock::default(),
            shut_down: AtomicBool::new(false),
            seat: tokio::sync::Mutex::default(),
        }))
    }

    /// Returns the registered RM. `None` without a registered RM.
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
            is_recovering: manager.is_recovering(),
        })
    }

    /// Returns the tags of an ask, an allocation, or a foreign allocation.
    pub fn tags(&self, partition: &str, key: &str) -> Option<BTreeMap<String, String>> {
        self.current()?.tags.get(partition, key)
    }

    /// Returns the RM's own state as JSON text, or the reason why the RM did not answer. `None` without an RM, or if
    /// the RM does not support this question.
    pub async fn state_dump(&self) -> Option<Result<String, String>> {
        let manager = self.current()?;
        manager.asking.dump(&manager).await
    }

    /// Ends all streams, because the server ends.
    pub fn shut_down(&self) {
        self.0.shut_down.store(true, Ordering::SeqCst);
        if let Some(manager) = self.current() {
            manager.end(&Status::unavailable("the server is shutting down. Try again later"));
        }
    }

    /// Returns whether the engine accepts no more commands.
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

    /// Returns the current registration.
    pub(super) fn current(&self) -> Option<Arc<Manager>> {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn seat_taken_by(&self, manager: Option<Arc<Manager>>) {
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = manager;
    }

    /// Returns the RM with this ID.
    ///
    /// # Errors
    /// If the RM is not registered.
    pub(super) fn named(&self, rm_id: &str, request: &str) -> Result<Arc<Manager>, Status> {
        self.current().filter(|manager| manager.id() == rm_id).ok_or_else(|| {
            let shown: String = rm_id.chars().take(80).collect();
            Status::failed_precondition(format!(
                "received {request}, but RmID={shown:?} is not registered; register first"
            ))
        })
    }

    /// Registers an RM. The state of the previous registration is removed, and the RM begins with only a queue file.
    /// Scheduler interface §5.1, decision K-1.
    ///
    /// # Errors
    /// If another RM is registered, if the queue file has faults, or if the engine accepts no commands.
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
        // The origin identifies its requests, because no other caller has it.
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

    /// Returns whether a retained partition still depends on a previous RM: it has questions for that RM, or is paused
    /// because the RM was disconnected when the server stopped.
    async fn holds_for_one_before(&self, sequence: u64) -> bool {
        let view = self.service().engine.views().at_least(sequence).await;
        let mut rows = view.books.partitions().values();
        rows.any(|row| row.questions.is_some() || row.away.is_some())
    }

    /// Handles the end of a registration. Unless another registration replaced it, the RM is paused, and its state is
    /// removed after the grace period.
    fn after(&self, manager: &Arc<Manager>) {
        let is_current = self.current().is_some_and(|one| Arc::ptr_eq(&one, manager));
        if is_current && self.service().engine.stopped().is_none() {
            manager.set_away(|away| away.stream = true);
        }
    }

    /// Sends the current state of an RM to the scheduler, which pauses or continues.
    pub(super) async fn reconcile(&self, manager: &Manager) {
        let _seat = self.0.seat.lock().await;
        if self.current().is_some_and(|one| std::ptr::eq(Arc::as_ptr(&one), manager)) {
            // A stopped engine places nothing.
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

    /// Applies the queue file of an RM. Scheduler interface §5.2.
    ///
    /// # Errors
    /// If the file has no partition or has faults. The previous file stays active then.
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
        // The file might have added partitions.
        manager.reconcile().await.map_err(|error| unavailable(&error))
    }

    /// Starts the grace period of a disconnected RM.
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

    /// Removes the state of an RM that did not reconnect in time.
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
        // A stopped engine places nothing.
        let _ = self.tear_down(&manager.own_origin(), true).await;
    }
}

impl WeakInterface {
    pub(super) fn upgrade(&self) -> Option<Interface> {
        self.0.upgrade().map(Interface)
    }
}

impl SentQueueFiles {
    /// Returns the queue file that an RM requests with this text. An empty text requests the file that was active
    /// before any RM sent a file, or the built-in file.
    fn text_for(&self, sent: &str, in_force: &crate::InForce) -> String {
        if !sent.is_empty() {
            return sent.to_owned();
        }
        match &self.sent {
            Some((checksum, before)) if *checksum == in_force.checksum => before.clone(),
            _ => in_force.text.clone(),
        }
    }

    /// Stores whether an RM sent the active queue file.
    fn note_sent(&mut self, sent: &str, before: &crate::InForce, checksum: &str) {
        if sent.is_empty() {
            self.sent = None;
            return;
        }
        let text = self.text_for("", before);
        self.sent = Some((checksum.to_owned(), text));
    }
}

/// Returns the origin of the requests of an RM.
fn origin(caller: &Caller, rm_id: &str) -> Origin {
    Origin { identity: format!("rm:{rm_id} by {}", caller.identity), ..Origin::default() }
}

/// Checks that a queue file can be applied, before anything is removed for the file.
fn check(text: &str) -> Result<(), Status> {
    let refused = |error: QueueFileError| refused("registration of RM failed", &error);
    let loaded =
        headroom_config::read(text).map_err(|error| refused(QueueFileError::Faulty(error)))?;
    Resolvers::of(&loaded.configuration).map_err(|error| refused(error.into()))?;
    Ok(())
}

fn refused(what: &str, error: &QueueFileError) -> Status {
    let mut sentence = format!("{what}: {error}");
    // A status is sent in a header, which has a size limit.
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
