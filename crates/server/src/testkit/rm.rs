//! Arbitrary bytes as messages of a resource manager, through the services of the scheduler interface to an engine in
//! memory.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes as Chunk;
use futures_util::{FutureExt as _, stream};
use headroom_api::si::SESSION_METADATA;
use headroom_api::si::headroom::callback_rm_message::Content as Reply;
use headroom_api::si::headroom::rm_message::Content as Said;
use headroom_api::si::headroom::{
    CallbackAttach, CallbackRmMessage, Capabilities, Register, RmMessage,
};
use headroom_api::si::v1::RegisterResourceManagerRequest;
use headroom_core::Millis;
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::{Engine, HandClock, audit};
use http_body_util::BodyExt as _;
use prost::Message;
use tokio::sync::mpsc;
use tower::ServiceExt as _;

use super::bytes::Bytes;
use super::panics::watched;
use super::world::{QUEUES, START, service};
use crate::Caller;
use crate::grpc::{Interface, Settings};

/// Maximum number of messages of one input.
const MESSAGES_MAX: usize = 64;
/// Longest duration of one input. A longer one counts as endless.
const TIME_MAX: Duration = Duration::from_mins(1);

/// Receiver of the next part of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nodes,
    Applications,
    Allocations,
    /// A message of an open session, or the first one of a new session.
    Session,
    /// A message on an open stream of questions, or the first one on a new stream.
    Callbacks,
    Register,
    Configuration,
    /// No message: time advances, and the scheduler continues.
    Time,
}

const KINDS: [Kind; 8] = [
    Kind::Nodes,
    Kind::Applications,
    Kind::Allocations,
    Kind::Session,
    Kind::Callbacks,
    Kind::Register,
    Kind::Configuration,
    Kind::Time,
];

impl Kind {
    const fn path(self) -> &'static str {
        match self {
            Self::Nodes => "/si.v1.Scheduler/UpdateNode",
            Self::Applications => "/si.v1.Scheduler/UpdateApplication",
            Self::Allocations => "/si.v1.Scheduler/UpdateAllocation",
            Self::Session => "/headroom.si.v1.SchedulerSession/Session",
            Self::Callbacks => "/headroom.si.v1.Callbacks/Attach",
            Self::Register => "/si.v1.Scheduler/RegisterResourceManager",
            Self::Configuration => "/headroom.si.v1.SchedulerSession/UpdateConfiguration",
            Self::Time => "/headroom.si.v1.SchedulerSession/GetServerInfo",
        }
    }
}

/// Initial state of the RM, selected by the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// Registered for the published interface.
    Compat,
    /// Registered for the published interface, with a stream of questions.
    Asked,
    /// Registered with a session.
    Session,
    /// Not registered.
    Unknown,
}

const BEGINS: [Begin; 4] = [Begin::Compat, Begin::Asked, Begin::Session, Begin::Unknown];

/// Sends arbitrary bytes as messages of an RM: `begin, as it is, [kind, length, length, message]…`. Unless the second
/// byte is odd, a message gets a valid frame and valid session numbers, so that its content is evaluated.
///
/// # Panics
/// If anything panics, if the engine stops, or if the books are inconsistent or differ from a replay of the journal.
pub fn protobuf(bytes: &[u8]) {
    watched(|| {
        let journal = MemoryJournal::default();
        let (engine, clock) = on_a_runtime(play(Bytes::new(bytes), &journal));
        // All clients have disconnected by now.
        on_a_runtime(check(engine, &clock, &journal));
    });
}

/// Runs `work` on its own runtime, which ends afterwards with all its tasks.
fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("there are threads");
    runtime.block_on(async {
        let worked = tokio::time::timeout(TIME_MAX, work);
        worked.await.expect("it has an end")
    })
}

/// Checks that the books are consistent, and equal to a replay of the journal.
async fn check(engine: Engine, clock: &HandClock, journal: &MemoryJournal) {
    let handle = engine.handle();
    let live = handle.inspect(|books, _| {
        books.check().map_err(|fault| fault.to_string()).map(|()| books.clone())
    });
    let live = live.await.expect("the engine goes on").expect("the books balance");
    engine.stop().await.expect("it ends well");
    let judged = audit(&journal.open()).expect("the journal can be judged again");
    assert_eq!((judged.others, judged.first_other), (0, None), "decided as before");
    let (again, _) = service(journal, clock).await;
    let handle = again.handle();
    let made = handle.inspect(|books, _| books.clone()).await;
    assert_eq!(made.expect("the engine goes on"), live, "the journal makes the same books");
}

async fn play(mut bytes: Bytes<'_>, journal: &MemoryJournal) -> (Engine, HandClock) {
    let mut rm = Rm::on(journal).await;
    let begin = bytes.pick(&BEGINS).copied().unwrap_or(Begin::Unknown);
    let as_it_is = bytes.byte() & 1 == 1;
    rm.begin(begin).await;
    for _ in 0..MESSAGES_MAX {
        if bytes.is_empty() {
            break;
        }
        let Some(kind) = bytes.pick(&KINDS).copied() else { break };
        rm.send(kind, bytes.part(), as_it_is).await;
    }
    (rm.session, rm.callbacks) = (None, None);
    rm.settle().await;
    (rm.engine, rm.clock)
}

/// An open stream.
struct Open {
    to: mpsc::UnboundedSender<Chunk>,
    /// Number of the last message, where messages have numbers.
    seq: u64,
}

/// A resource manager, and the services that it uses.
struct Rm {
    engine: Engine,
    clock: HandClock,
    router: Router,
    token: Option<String>,
    session: Option<Open>,
    callbacks: Option<Open>,
    /// Answers that have not ended.
    answers: Vec<Body>,
    _interface: Interface,
}

impl Rm {
    async fn on(journal: &MemoryJournal) -> Self {
        let clock = HandClock::at(START);
        let (engine, service) = service(journal, &clock).await;
        let interface = Interface::new(service, Settings::default());
        let router = interface.services().into_axum_router();
        let router = router.layer(axum::Extension(Caller::open()));
        let (token, session, callbacks, answers) = (None, None, None, Vec::new());
        Self { engine, clock, router, token, session, callbacks, answers, _interface: interface }
    }

    async fn begin(&mut self, begin: Begin) {
        let manager = RegisterResourceManagerRequest {
            rm_id: "rm".to_owned(),
            version: "1".to_owned(),
            policy_group: "queues".to_owned(),
            config: QUEUES.to_owned(),
            ..RegisterResourceManagerRequest::default()
        };
        let capabilities = Capabilities {
            predicates: true,
            preemption_predicates: true,
            ..Capabilities::default()
        };
        match begin {
            Begin::Unknown => {}
            Begin::Compat => self.send(Kind::Register, &manager.encode_to_vec(), false).await,
            Begin::Asked => {
                self.send(Kind::Register, &manager.encode_to_vec(), false).await;
                let attach =
                    CallbackAttach { rm_id: "rm".to_owned(), capabilities: Some(capabilities) };
                let attach = CallbackRmMessage { content: Some(Reply::Attach(attach)) };
                self.send(Kind::Callbacks, &attach.encode_to_vec(), false).await;
            }
            Begin::Session => {
                let register =
                    Register { manager: Some(manager), skip_recovery: true, ..Register::default() };
                let content = Some(Said::Register(register));
                let register = RmMessage { seq: 1, content, ..RmMessage::default() };
                self.send(Kind::Session, &register.encode_to_vec(), false).await;
            }
        }
    }

    /// Sends a message, and lets all its effects happen.
    async fn send(&mut self, kind: Kind, message: &[u8], as_it_is: bool) {
        let whole = |message: &[u8]| if as_it_is { message.to_vec() } else { framed(message) };
        match kind {
            Kind::Time => {
                let millis =
                    message.iter().take(3).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                self.clock.advance(Millis::new(millis));
            }
            Kind::Session | Kind::Callbacks => {
                let open =
                    if kind == Kind::Session { self.session.take() } else { self.callbacks.take() };
                let mut open = match open.filter(|open| !open.to.is_closed()) {
                    Some(open) => open,
                    None => self.open(kind).await,
                };
                open.seq += 1;
                let numbered = RmMessage::decode(message).ok().filter(|_| !as_it_is);
                let numbered = numbered.filter(|_| kind == Kind::Session);
                let numbered =
                    numbered.map(|one| RmMessage { seq: open.seq, ..one }.encode_to_vec());
                // If the stream has ended, the message has no receiver.
                let _ = open.to.send(whole(numbered.as_deref().unwrap_or(message)).into());
                *(if kind == Kind::Session { &mut self.session } else { &mut self.callbacks }) =
                    Some(open);
            }
            _ => {
                let body = Body::from(whole(message));
                self.call(kind, body).await;
            }
        }
        self.settle().await;
    }

    async fn open(&mut self, kind: Kind) -> Open {
        let (to, from) = mpsc::unbounded_channel::<Chunk>();
        let body = stream::unfold(from, |mut from| async {
            let next = from.recv().await?;
            Some((Ok::<_, std::io::Error>(next), from))
        });
        self.call(kind, Body::from_stream(body)).await;
        Open { to, seq: 0 }
    }

    async fn call(&mut self, kind: Kind, body: Body) {
        let mut request = Request::post(kind.path()).header(CONTENT_TYPE, "application/grpc");
        if let Some(token) = &self.token {
            request = request.header(SESSION_METADATA, token);
        }
        let request = request.body(body).expect("it is a good request");
        let Ok(response) = self.router.clone().oneshot(request).await;
        assert_eq!(response.status(), 200, "gRPC says what it has to say elsewhere");
        let token = response.headers().get(SESSION_METADATA).and_then(|token| token.to_str().ok());
        self.token = token.map(ToOwned::to_owned).or(self.token.take());
        self.answers.push(response.into_body());
    }

    /// Runs all tasks until none is ready.
    async fn settle(&mut self) {
        let handle = self.engine.handle();
        for _ in 0..2 {
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
            handle.step(64).await.expect("the engine goes on");
        }
        self.answers.retain_mut(goes_on);
    }
}

/// Reads the available part of an answer. Returns whether it can continue.
fn goes_on(answer: &mut Body) -> bool {
    loop {
        match answer.frame().now_or_never() {
            None => return true,
            Some(None | Some(Err(_))) => return false,
            Some(Some(Ok(_))) => {}
        }
    }
}

/// Returns a message with its frame, uncompressed. Source: gRPC over HTTP/2, "Length-Prefixed-Message".
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("it is small");
    [&[0], &length.to_be_bytes()[..], message].concat()
}
