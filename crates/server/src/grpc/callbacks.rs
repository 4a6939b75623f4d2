//! The stream of questions to the RM, in addition to the published interface. Scheduler interface §12.4.

use std::sync::Arc;

use headroom_api::si::headroom::callback_rm_message::Content as Said;
use headroom_api::si::headroom::callbacks_server::Callbacks as Service;
use headroom_api::si::headroom::{
    CallbackAttach, CallbackRmMessage, CallbackSchedulerMessage, Capabilities,
};
use tokio::sync::oneshot;
use tonic::{Request, Response, Status, Streaming};

use super::caller;
use super::compat::{Answers, bound_by_metadata, is_lost, too_large};
use super::interface::Interface;
use super::manager::Manager;
use super::message_queue::Consumer;
use super::outbox::Outbox;

/// Serves the stream of questions.
pub(super) struct Callbacks(pub(super) Interface);

#[tonic::async_trait]
impl Service for Callbacks {
    type AttachStream = Answers<CallbackSchedulerMessage>;

    async fn attach(
        &self,
        request: Request<Streaming<CallbackRmMessage>>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        caller::rm(&request)?;
        let bound = bound_by_metadata(&self.0, &request)?;
        let (to_questions, attached) = oneshot::channel();
        tokio::spawn(read(self.0.clone(), request.into_inner(), bound, to_questions));
        Ok(Response::new(Box::pin(questions(attached))))
    }
}

/// A stream that is attached to an RM. A drop before the server ends the stream means that the client has disconnected.
struct Attached {
    manager: Arc<Manager>,
    taker: Consumer,
}

/// Returns whether the scheduler waits for answers of an RM with these capabilities.
const fn answers(capabilities: Capabilities) -> bool {
    capabilities.predicates || capabilities.preemption_predicates
}

impl Attached {
    fn to(manager: Arc<Manager>, capabilities: Capabilities) -> Self {
        let taker = manager.asking.lane.take_over();
        manager.asking.set_capabilities(capabilities);
        manager.set_away(|away| (away.callbacks, away.silent) = (false, false));
        manager.asking.ask_all(&manager);
        Self { manager, taker }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        lost(&self.manager, self.taker);
    }
}

/// Handles the loss of a stream. If the RM answers questions on the stream, the RM is paused until another stream
/// replaces it.
fn lost(manager: &Arc<Manager>, taker: Consumer) {
    let is_current = manager.asking.lane.is_taken_by(taker);
    if is_current && answers(manager.asking.capabilities()) && !manager.is_over() {
        manager.set_away(|away| away.callbacks = true);
    }
}

/// Reads answers until the client sends no more.
async fn read(
    interface: Interface,
    mut messages: Streaming<CallbackRmMessage>,
    bound: Option<Arc<Manager>>,
    to_questions: oneshot::Sender<Result<Attached, Status>>,
) {
    let attached = match attach(&interface, &mut messages, bound).await {
        Ok(attached) => attached,
        Err(why) => {
            // If the client has disconnected, the reason is not needed.
            let _ = to_questions.send(Err(why));
            return;
        }
    };
    let (manager, taker) = (Arc::clone(&attached.manager), attached.taker);
    // The scheduler starts to ask questions before the client learns that it will.
    interface.reconcile(&manager).await;
    if to_questions.send(Ok(attached)).is_err() {
        return;
    }
    let lane = &manager.asking.lane;
    tokio::select! {
        _ = lane.over(taker) => {}
        ended = read_all(&manager, &mut messages) => match ended {
            // A client that sends no more answers counts as disconnected.
            Ok(()) => {
                lost(&manager, taker);
                lane.dismiss(taker, Status::ok("the resource manager sends no more answers"));
            }
            Err(status) if is_lost(&status) => {}
            Err(status) => {
                lost(&manager, taker);
                lane.dismiss(taker, too_large(status));
            }
        }
    }
}

async fn attach(
    interface: &Interface,
    messages: &mut Streaming<CallbackRmMessage>,
    bound: Option<Arc<Manager>>,
) -> Result<Attached, Status> {
    let first = messages.message().await.map_err(too_large)?;
    let Some(CallbackRmMessage { content: Some(Said::Attach(attach)) }) = first else {
        return Err(Status::invalid_argument("the first message must be `attach`"));
    };
    let CallbackAttach { rm_id, capabilities } = attach;
    let manager = match bound {
        Some(manager) if rm_id.is_empty() || rm_id == manager.id() => manager,
        _ => interface.named(&rm_id, "CallbackAttach")?,
    };
    if matches!(manager.outbox, Outbox::Session(_)) {
        return Err(Status::failed_precondition(
            "this resource manager is registered for headroom.si.v1.SchedulerSession and receives \
             its questions there",
        ));
    }
    Ok(Attached::to(manager, capabilities.unwrap_or_default()))
}

async fn read_all(
    manager: &Arc<Manager>,
    messages: &mut Streaming<CallbackRmMessage>,
) -> Result<(), Status> {
    while let Some(message) = messages.message().await? {
        match message.content {
            Some(Said::Reply(reply)) => manager.asking.answer(manager, reply),
            Some(Said::Attach(_)) => {
                return Err(Status::invalid_argument("only the first message can be `attach`"));
            }
            // A kind of message of a later version.
            None => {}
        }
    }
    Ok(())
}

/// Returns the questions, as soon as the RM of the stream is known.
fn questions(
    attached: oneshot::Receiver<Result<Attached, Status>>,
) -> impl futures_util::Stream<Item = Result<CallbackSchedulerMessage, Status>> {
    let state = Some(Asked { waiting: Some(attached), attached: None });
    futures_util::stream::unfold(state, |state| async move {
        let mut state = state?;
        match state.next().await {
            Ok(message) => Some((Ok(message), Some(state))),
            // A normal end needs no status.
            Err(why) => (why.code() != tonic::Code::Ok).then_some((Err(why), None)),
        }
    })
}

/// Sends the questions.
struct Asked {
    waiting: Option<oneshot::Receiver<Result<Attached, Status>>>,
    attached: Option<Attached>,
}

impl Asked {
    async fn next(&mut self) -> Result<CallbackSchedulerMessage, Status> {
        let gone = || Status::cancelled("the stream has ended");
        if let Some(waiting) = &mut self.waiting {
            self.attached = Some(waiting.await.map_err(|_| gone())??);
            self.waiting = None;
        }
        let Attached { manager, taker } = self.attached.as_ref().ok_or_else(gone)?;
        let content = manager.asking.lane.next(*taker).await?;
        Ok(CallbackSchedulerMessage { content: Some(content) })
    }
}
