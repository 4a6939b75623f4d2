//! The session profile: one ordered, resumable stream in each direction. Scheduler interface §12.3, §12.5.
//!
//! Messages have numbers in both directions. Messages of the scheduler are stored until the RM acknowledges them. A
//! message that the RM sends twice is executed once. To resume an interrupted stream, each side reports the last
//! message that it has processed.

use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use headroom_api::si::headroom::rm_message::Content as Asked;
use headroom_api::si::headroom::scheduler_message::Content as Told;
use headroom_api::si::headroom::scheduler_session_server::SchedulerSession;
use headroom_api::si::headroom::{
    ConfigurationResult, GetServerInfoRequest, GetServerInfoResponse, Pong, Register, Registered,
    RequestError, RmMessage, SchedulerMessage, UpdateConfigurationResponse,
};
use headroom_api::si::v1::UpdateConfigurationRequest;
use tokio::sync::oneshot;
use tonic::{Request, Response, Status, Streaming};

use crate::Caller;
use crate::secret::same_secret;

use super::compat::{Answers, is_lost, too_large};
use super::interface::{Interface, Profile};
use super::manager::Manager;
use super::outbox::{OutboundMessage, Outbox};
use super::session_queue::SessionQueue;
use super::{caller, requests};

/// Serves the session profile.
pub(super) struct Session(pub(super) Interface);

#[tonic::async_trait]
impl SchedulerSession for Session {
    type SessionStream = Answers<SchedulerMessage>;

    async fn session(
        &self,
        request: Request<Streaming<RmMessage>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let caller = caller::rm(&request)?;
        let messages = request.into_inner().map_err(|status| {
            if is_lost(&status) { Broken::Lost } else { Broken::Refused(too_large(status)) }
        });
        Ok(Response::new(Box::pin(converse(self.0.clone(), caller, messages))))
    }

    async fn update_configuration(
        &self,
        request: Request<UpdateConfigurationRequest>,
    ) -> Result<Response<UpdateConfigurationResponse>, Status> {
        let caller = caller::rm(&request)?;
        let UpdateConfigurationRequest { rm_id, config, extra_config, .. } = request.into_inner();
        let manager = self.0.named(&rm_id, "UpdateConfigurationRequest")?;
        self.0.configure(&caller, &manager, &config, extra_config).await?;
        Ok(Response::new(UpdateConfigurationResponse {}))
    }

    async fn get_server_info(
        &self,
        request: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        caller::rm(&request)?;
        let about = &self.0.service().about;
        let registered = self.0.registered().map(|one| one.rm_id);
        Ok(Response::new(GetServerInfoResponse {
            version: about.version.to_owned(),
            instance_uuid: about.instance.clone(),
            registered_rm_i_ds: registered.into_iter().collect(),
        }))
    }
}

/// A stream of an RM. A drop before the server ends the stream means that the client has disconnected.
struct Open {
    manager: Arc<Manager>,
    taker: u64,
    /// Message without a number, sent before all other messages.
    first: Option<SchedulerMessage>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let Self { manager, taker, .. } = self;
        let goes_on = line(manager).is_ok_and(|line| line.is_taken_by(*taker));
        if goes_on && !manager.is_over() {
            manager.set_away(|away| away.stream = true);
        }
    }
}

impl Interface {
    /// Opens a session with an RM in this process. The caller must have the role `rm` or `admin`.
    ///
    /// The session is that of the profile: the first message is `register`, messages have numbers, and the RM
    /// acknowledges what it has processed.
    pub fn connect(
        &self,
        caller: Caller,
        messages: impl Stream<Item = RmMessage> + Send + Unpin + 'static,
    ) -> impl Stream<Item = Result<SchedulerMessage, Status>> + Send + 'static {
        converse(self.clone(), caller, messages.map(Ok))
    }
}

/// Reason why the messages of an RM end early.
enum Broken {
    /// The connection was lost.
    Lost,
    /// A message was refused with this status.
    Refused(Status),
}

/// Reads the messages of an RM in the background. Returns the messages to the RM.
fn converse(
    interface: Interface,
    caller: Caller,
    messages: impl Messages,
) -> impl Stream<Item = Result<SchedulerMessage, Status>> + Send + 'static {
    let (to_answers, opened) = oneshot::channel();
    tokio::spawn(Reading { interface, caller }.read(messages, to_answers));
    answers(opened)
}

/// Messages of an RM.
trait Messages: Stream<Item = Result<RmMessage, Broken>> + Send + Unpin + 'static {}

impl<S: Stream<Item = Result<RmMessage, Broken>> + Send + Unpin + 'static> Messages for S {}

/// Reads the messages of an RM.
struct Reading {
    interface: Interface,
    caller: Caller,
}

impl Reading {
    /// Reads messages until the client sends no more, or violates the protocol.
    async fn read(
        self,
        mut messages: impl Messages,
        to_answers: oneshot::Sender<Result<Open, Status>>,
    ) {
        let open = match self.open(&mut messages).await {
            Ok(open) => open,
            Err(why) => {
                // If the client has disconnected, the reason is not needed.
                let _ = to_answers.send(Err(why));
                return;
            }
        };
        let (manager, taker) = (Arc::clone(&open.manager), open.taker);
        if to_answers.send(Ok(open)).is_err() {
            return;
        }
        let Ok(line) = line(&manager) else { return };
        tokio::select! {
            _ = line.over(taker) => {}
            ended = self.read_all(&manager, taker, &mut messages) => {
                if let Err(why) = ended {
                    line.dismiss(taker, why);
                    manager.set_away(|away| away.stream = true);
                }
            }
        }
    }

    /// Opens or resumes a session with the first message.
    async fn open(&self, messages: &mut impl Messages) -> Result<Open, Status> {
        let first = match messages.next().await {
            Some(Ok(first)) => Some(first),
            Some(Err(Broken::Refused(status))) => return Err(status),
            Some(Err(Broken::Lost)) | None => None,
        };
        let Some(RmMessage { seq, ack_seq, content: Some(Asked::Register(register)), .. }) = first
        else {
            return Err(Status::invalid_argument("the first message must be `register`"));
        };
        if let Some(manager) = self.known(&register) {
            return self.resume(manager, register, ack_seq).await;
        }
        if seq == 0 {
            return Err(Status::invalid_argument(
                "seq is 0, but the sequence numbers of messages begin at 1",
            ));
        }
        let profile = Profile::Session {
            recovers: !register.skip_recovery,
            capabilities: register.capabilities.unwrap_or_default(),
        };
        let request = register.manager.unwrap_or_default();
        let manager = self.interface.register(&self.caller, request, profile).await?;
        manager.note_seen();
        let line = line(&manager)?;
        *line.receiving.lock().await = seq;
        let taker = line.take_over(0)?;
        let registered = Told::Registered(self.registered(&manager, false));
        manager.intake.say(seq, Some(OutboundMessage::Session(registered))).await?;
        Ok(Open { manager, taker, first: None })
    }

    /// Returns the session that a message requests to resume.
    fn known(&self, register: &Register) -> Option<Arc<Manager>> {
        let rm_id = register.manager.as_ref().map_or("", |one| one.rm_id.as_str());
        let token = register.session_token.as_bytes();
        self.interface.current().filter(|manager| {
            let same = same_secret(token, manager.token.as_bytes());
            same && manager.id() == rm_id && !manager.is_over() && line(manager).is_ok()
        })
    }

    async fn resume(
        &self,
        manager: Arc<Manager>,
        register: Register,
        processed: u64,
    ) -> Result<Open, Status> {
        let line = line(&manager)?;
        let taker = line.take_over(processed)?;
        // By now the previous reader has passed on its last message.
        let received = line.receiving.lock().await;
        manager.asking.set_capabilities(register.capabilities.unwrap_or_default());
        if register.skip_recovery {
            manager.note_recovered();
        }
        manager.set_away(|away| (away.stream, away.silent) = (false, false));
        self.interface.reconcile(&manager).await;
        manager.asking.ask_all(&manager);
        let registered = self.registered(&manager, true);
        let first = SchedulerMessage {
            seq: 0,
            ack_seq: line.applied(),
            content: Some(Told::Registered(registered)),
        };
        tracing::info!(rm = manager.id(), processed, "a resource manager resumed its session");
        drop(received);
        Ok(Open { manager, taker, first: Some(first) })
    }

    fn registered(&self, manager: &Manager, resumed: bool) -> Registered {
        Registered {
            session_token: manager.token.clone(),
            instance_uuid: self.interface.service().about.instance.clone(),
            resumed,
        }
    }

    /// Reads all messages. Returns an error if a message violates the protocol.
    async fn read_all(
        &self,
        manager: &Arc<Manager>,
        taker: u64,
        messages: &mut impl Messages,
    ) -> Result<(), Status> {
        let line = line(manager)?;
        let mut last = 0;
        loop {
            let message = match messages.next().await {
                Some(Ok(message)) => message,
                // The sending side ends too, and handles it.
                Some(Err(Broken::Lost)) | None => return Ok(()),
                Some(Err(Broken::Refused(status))) => return Err(status),
            };
            let seq = message.seq;
            if seq <= last {
                return Err(Status::invalid_argument(format!(
                    "seq is {seq}, but the previous message had {last}. Send a higher seq with \
                     every message"
                )));
            }
            last = seq;
            line.acknowledge(message.ack_seq)?;
            let mut received = line.receiving.lock().await;
            if !line.is_taken_by(taker) {
                return Ok(());
            }
            // Messages that had arrived before the interruption are not executed twice.
            if seq > *received {
                self.carry_out(manager, message).await?;
                *received = seq;
            }
        }
    }

    async fn carry_out(&self, manager: &Arc<Manager>, message: RmMessage) -> Result<(), Status> {
        let RmMessage { seq, content, node_constraints, .. } = message;
        let interface = &self.interface;
        let foreign = match &content {
            Some(Asked::Application(one)) => Some(&one.rm_id),
            Some(Asked::Allocation(one)) => Some(&one.rm_id),
            Some(Asked::Node(one)) => Some(&one.rm_id),
            Some(Asked::Configuration(one)) => Some(&one.rm_id),
            _ => None,
        };
        if foreign.is_some_and(|rm_id| !rm_id.is_empty() && rm_id != manager.id()) {
            let message = format!(
                "this session belongs to RM {}, but the request has another RmID",
                manager.id()
            );
            return error(manager, seq, "RM_ID", message).await;
        }
        match content {
            Some(Asked::Application(one)) => {
                requests::applications(interface, manager, (seq, one)).await
            }
            Some(Asked::Allocation(one)) => {
                requests::allocations(interface, manager, (seq, one), &node_constraints).await
            }
            Some(Asked::Node(one)) => requests::nodes(manager, (seq, one)).await,
            Some(Asked::Configuration(one)) => self.configure(manager, seq, one).await,
            Some(Asked::RecoveryDone(_)) => {
                let is_new = manager.note_recovered();
                interface.reconcile(manager).await;
                // Questions were held back until now. Nobody else sends them.
                if is_new {
                    manager.asking.ask_all(manager);
                }
                say(manager, seq, None).await
            }
            Some(Asked::CallbackReply(reply)) => {
                manager.asking.answer(manager, reply);
                say(manager, seq, None).await
            }
            Some(Asked::Ping(ping)) => {
                say(manager, seq, Some(Told::Pong(Pong { id: ping.id }))).await
            }
            Some(Asked::Register(_)) => {
                Err(Status::invalid_argument("only the first message can be `register`"))
            }
            None => {
                let message = "the message has no content that this version supports".to_owned();
                error(manager, seq, "UNKNOWN_MESSAGE", message).await
            }
        }
    }

    async fn configure(
        &self,
        manager: &Arc<Manager>,
        seq: u64,
        request: UpdateConfigurationRequest,
    ) -> Result<(), Status> {
        let UpdateConfigurationRequest { config, extra_config, .. } = request;
        let done = self.interface.configure(&self.caller, manager, &config, extra_config).await;
        let error = done.err().map(|why| why.message().to_owned()).unwrap_or_default();
        let result = ConfigurationResult { request_seq: seq, error };
        say(manager, seq, Some(Told::ConfigurationResult(result))).await
    }
}

async fn say(manager: &Manager, seq: u64, what: Option<Told>) -> Result<(), Status> {
    Ok(manager.intake.say(seq, what.map(OutboundMessage::Session)).await?)
}

async fn error(manager: &Manager, seq: u64, code: &str, message: String) -> Result<(), Status> {
    let error = RequestError { request_seq: seq, code: code.to_owned(), message };
    say(manager, seq, Some(Told::RequestError(error))).await
}

fn line(manager: &Manager) -> Result<&SessionQueue, Status> {
    match &manager.outbox {
        Outbox::Session(line) => Ok(line),
        Outbox::Compat(_) => Err(Status::failed_precondition(
            "this resource manager is registered with another interface",
        )),
    }
}

/// Returns the messages to the RM, after the RM is known.
fn answers(
    opened: oneshot::Receiver<Result<Open, Status>>,
) -> impl Stream<Item = Result<SchedulerMessage, Status>> + Send + 'static {
    let state = Some(Sending { opening: Some(opened), open: None });
    futures_util::stream::unfold(state, |state| async move {
        let mut state = state?;
        match state.next().await {
            Ok(message) => Some((Ok(message), Some(state))),
            Err(why) => Some((Err(why), None)),
        }
    })
}

/// Sends messages to the RM.
struct Sending {
    opening: Option<oneshot::Receiver<Result<Open, Status>>>,
    open: Option<Open>,
}

impl Sending {
    async fn next(&mut self) -> Result<SchedulerMessage, Status> {
        let gone = || Status::cancelled("the stream has ended");
        if let Some(opening) = &mut self.opening {
            self.open = Some(opening.await.map_err(|_| gone())??);
            self.opening = None;
        }
        let Open { manager, taker, first } = self.open.as_mut().ok_or_else(gone)?;
        if let Some(first) = first.take() {
            return Ok(first);
        }
        line(manager)?.next(*taker).await
    }
}
