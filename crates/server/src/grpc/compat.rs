//! The published interface: three streams for generated clients of `si.v1`. Scheduler interface §12.2.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use headroom_api::si::SESSION_METADATA;
use headroom_api::si::v1::scheduler_server::Scheduler;
use headroom_api::si::v1::{
    AllocationRequest, AllocationResponse, ApplicationRequest, ApplicationResponse, NodeRequest,
    NodeResponse, RegisterResourceManagerRequest, RegisterResourceManagerResponse,
};
use tokio::sync::oneshot;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::secret::same_secret;

use super::interface::{Interface, Profile};
use super::manager::Manager;
use super::message_queue::{Coalesce, Consumer, MessageQueue};
use super::outbox::{Outbox, StreamQueues};
use super::{caller, requests};

/// Responses of a stream.
pub(super) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Serves the published interface.
pub(super) struct Compat(pub(super) Interface);

#[tonic::async_trait]
impl Scheduler for Compat {
    type UpdateAllocationStream = Answers<AllocationResponse>;
    type UpdateApplicationStream = Answers<ApplicationResponse>;
    type UpdateNodeStream = Answers<NodeResponse>;

    async fn register_resource_manager(
        &self,
        request: Request<RegisterResourceManagerRequest>,
    ) -> Result<Response<RegisterResourceManagerResponse>, Status> {
        let caller = caller::rm(&request)?;
        let manager = self.0.register(&caller, request.into_inner(), Profile::Compat).await?;
        let mut response = Response::new(RegisterResourceManagerResponse {});
        let token = manager.token.parse();
        let token =
            token.map_err(|_| Status::internal("the session token is not a valid header value"))?;
        response.metadata_mut().insert(SESSION_METADATA, token);
        Ok(response)
    }

    async fn update_allocation(
        &self,
        request: Request<Streaming<AllocationRequest>>,
    ) -> Result<Response<Self::UpdateAllocationStream>, Status> {
        serve(&self.0, request)
    }

    async fn update_application(
        &self,
        request: Request<Streaming<ApplicationRequest>>,
    ) -> Result<Response<Self::UpdateApplicationStream>, Status> {
        serve(&self.0, request)
    }

    async fn update_node(
        &self,
        request: Request<Streaming<NodeRequest>>,
    ) -> Result<Response<Self::UpdateNodeStream>, Status> {
        serve(&self.0, request)
    }
}

/// One of the three kinds of stream.
trait Kind: Send + 'static {
    type Response: Coalesce + Send + 'static;

    /// Name of the request.
    const NAME: &'static str;

    /// Returns the id of the RM that sends the request.
    fn rm_id(&self) -> &str;

    /// Returns the message queue of the responses.
    fn lane(lanes: &StreamQueues) -> &MessageQueue<Self::Response>;

    /// Executes the request.
    fn hand_in(
        self,
        interface: &Interface,
        manager: &Arc<Manager>,
    ) -> impl Future<Output = Result<(), Status>> + Send;
}

impl Kind for AllocationRequest {
    type Response = AllocationResponse;
    const NAME: &'static str = "AllocationRequest";

    fn rm_id(&self) -> &str {
        &self.rm_id
    }

    fn lane(lanes: &StreamQueues) -> &MessageQueue<AllocationResponse> {
        &lanes.allocations
    }

    async fn hand_in(self, interface: &Interface, manager: &Arc<Manager>) -> Result<(), Status> {
        requests::allocations(interface, manager, (0, self), &BTreeMap::new()).await
    }
}

impl Kind for ApplicationRequest {
    type Response = ApplicationResponse;
    const NAME: &'static str = "ApplicationRequest";

    fn rm_id(&self) -> &str {
        &self.rm_id
    }

    fn lane(lanes: &StreamQueues) -> &MessageQueue<ApplicationResponse> {
        &lanes.applications
    }

    async fn hand_in(self, interface: &Interface, manager: &Arc<Manager>) -> Result<(), Status> {
        requests::applications(interface, manager, (0, self)).await
    }
}

impl Kind for NodeRequest {
    type Response = NodeResponse;
    const NAME: &'static str = "NodeRequest";

    fn rm_id(&self) -> &str {
        &self.rm_id
    }

    fn lane(lanes: &StreamQueues) -> &MessageQueue<NodeResponse> {
        &lanes.nodes
    }

    async fn hand_in(self, _: &Interface, manager: &Arc<Manager>) -> Result<(), Status> {
        requests::nodes(manager, (0, self)).await
    }
}

/// Serves a stream. The metadata of the stream, or its first message, determine the RM.
fn serve<K: Kind>(
    interface: &Interface,
    request: Request<Streaming<K>>,
) -> Result<Response<Answers<K::Response>>, Status> {
    caller::rm(&request)?;
    // From here on this stream replaces the previous one.
    let bound = bound_by_metadata(interface, &request)?.map(Bound::<K>::to).transpose()?;
    let (to_answers, bound_to) = oneshot::channel();
    tokio::spawn(read::<K>(interface.clone(), request.into_inner(), bound, to_answers));
    Ok(Response::new(Box::pin(answers::<K>(bound_to))))
}

/// Returns the RM with the token in the metadata of a request. `None` without a token.
pub(super) fn bound_by_metadata<T>(
    interface: &Interface,
    request: &Request<T>,
) -> Result<Option<Arc<Manager>>, Status> {
    let Some(token) = request.metadata().get(SESSION_METADATA) else { return Ok(None) };
    let current = interface.current();
    let same = |manager: &Arc<Manager>| same_secret(token.as_bytes(), manager.token.as_bytes());
    let found = current.filter(same).ok_or_else(|| {
        Status::failed_precondition(
            "the session has ended, because the resource manager registered again or was \
             disconnected too long. Register again",
        )
    })?;
    Ok(Some(found))
}

/// Checks that a stream of an RM can be opened. Messages on a lost stream might not have arrived, so a lost stream
/// cannot be continued.
fn may_be_opened(manager: &Manager) -> Result<(), Status> {
    if matches!(manager.outbox, Outbox::Session(_)) {
        return Err(Status::failed_precondition(
            "this resource manager is registered for headroom.si.v1.SchedulerSession. Use the \
             stream of that session",
        ));
    }
    if manager.has_lost_stream() {
        return Err(Status::failed_precondition(
            "a stream of this resource manager broke, so messages can be lost. Register again, and \
             send all nodes, applications, and allocations",
        ));
    }
    Ok(())
}

/// A stream that is bound to an RM. A drop before the server ends the stream means that the client has disconnected.
struct Bound<K: Kind> {
    manager: Arc<Manager>,
    taker: Consumer,
    kind: PhantomData<fn(K)>,
}

impl<K: Kind> Bound<K> {
    fn to(manager: Arc<Manager>) -> Result<Self, Status> {
        may_be_opened(&manager)?;
        manager.note_seen();
        let taker = lane::<K>(&manager)?.take_over();
        Ok(Self { manager, taker, kind: PhantomData })
    }
}

impl<K: Kind> Drop for Bound<K> {
    fn drop(&mut self) {
        let Self { manager, taker, .. } = self;
        let goes_on = lane::<K>(manager).is_ok_and(|lane| lane.is_taken_by(*taker));
        if goes_on && !manager.is_over() {
            manager.set_away(|away| away.stream = true);
        }
    }
}

fn lane<K: Kind>(manager: &Manager) -> Result<&MessageQueue<K::Response>, Status> {
    match &manager.outbox {
        Outbox::Compat(lanes) => Ok(K::lane(lanes)),
        Outbox::Session(_) => Err(Status::failed_precondition(
            "this resource manager is registered with another interface",
        )),
    }
}

/// Reads requests until the client sends no more, or violates the protocol.
async fn read<K: Kind>(
    interface: Interface,
    mut requests: Streaming<K>,
    bound: Option<Bound<K>>,
    to_answers: oneshot::Sender<Result<Bound<K>, Status>>,
) {
    let (bound, first) = match bound {
        Some(bound) => (Ok(bound), None),
        None => bound_by_message(&interface, &mut requests).await,
    };
    let bound = match bound {
        Ok(bound) => bound,
        Err(why) => {
            // If the client has disconnected, the reason is not needed.
            let _ = to_answers.send(Err(why));
            return;
        }
    };
    let (manager, taker) = (Arc::clone(&bound.manager), bound.taker);
    if to_answers.send(Ok(bound)).is_err() {
        return;
    }
    let Ok(lane) = lane::<K>(&manager) else { return };
    tokio::select! {
        _ = lane.over(taker) => {}
        ended = read_all(&interface, &manager, &mut requests, first) => {
            if let Err(why) = ended {
                lane.dismiss(taker, why);
            }
        }
    }
}

/// Returns the RM that the first message names, and that message.
async fn bound_by_message<K: Kind>(
    interface: &Interface,
    requests: &mut Streaming<K>,
) -> (Result<Bound<K>, Status>, Option<K>) {
    match requests.message().await {
        Ok(Some(request)) => {
            let named = interface.named(request.rm_id(), K::NAME);
            (named.and_then(Bound::<K>::to), Some(request))
        }
        Ok(None) => {
            let why = "the stream ended before a message with an RmID";
            (Err(Status::invalid_argument(why)), None)
        }
        Err(status) => (Err(too_large(status)), None),
    }
}

/// Reads all requests. Returns an error if a request is not valid.
async fn read_all<K: Kind>(
    interface: &Interface,
    manager: &Arc<Manager>,
    requests: &mut Streaming<K>,
    mut next: Option<K>,
) -> Result<(), Status> {
    loop {
        let request = match next.take() {
            Some(request) => request,
            None => match requests.message().await {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                // The sending side ends too, and handles it.
                Err(status) if is_lost(&status) => return Ok(()),
                Err(status) => return Err(too_large(status)),
            },
        };
        if !request.rm_id().is_empty() && request.rm_id() != manager.id() {
            return Err(interface.named(request.rm_id(), K::NAME).map_or_else(
                |why| why,
                |_| Status::failed_precondition("all messages of a stream must have the same RmID"),
            ));
        }
        request.hand_in(interface, manager).await?;
    }
}

/// Returns whether the client has disconnected, in which case no message can reach it.
pub(super) fn is_lost(status: &Status) -> bool {
    matches!(status.code(), Code::Cancelled | Code::Unknown | Code::Unavailable)
}

/// Replaces the status of a message that is too large by a status with a hint.
pub(super) fn too_large(status: Status) -> Status {
    if status.code() == Code::OutOfRange {
        let hint = "send lists of more than about 5,000 entries in several messages";
        return Status::resource_exhausted(format!("{}; {hint}", status.message()));
    }
    status
}

/// Returns the responses of a stream, as soon as its RM is known.
fn answers<K: Kind>(
    bound: oneshot::Receiver<Result<Bound<K>, Status>>,
) -> impl Stream<Item = Result<K::Response, Status>> {
    let state = Some(Sending { waiting: Some(bound), bound: None });
    futures_util::stream::unfold(state, |state| async move {
        let mut state = state?;
        match state.next().await {
            Ok(message) => Some((Ok(message), Some(state))),
            Err(why) => Some((Err(why), None)),
        }
    })
}

/// Sends the responses.
struct Sending<K: Kind> {
    waiting: Option<oneshot::Receiver<Result<Bound<K>, Status>>>,
    bound: Option<Bound<K>>,
}

impl<K: Kind> Sending<K> {
    async fn next(&mut self) -> Result<K::Response, Status> {
        let gone = || Status::cancelled("the stream has ended");
        if let Some(waiting) = &mut self.waiting {
            self.bound = Some(waiting.await.map_err(|_| gone())??);
            self.waiting = None;
        }
        let Bound { manager, taker, .. } = self.bound.as_ref().ok_or_else(gone)?;
        lane::<K>(manager)?.next(*taker).await
    }
}
