//! The session profile: one order, numbers, and going on after a cut. Scheduler interface §12.3,
//! §12.5; item 7 of the list.

use headroom_api::si::headroom::rm_message::Content as Ask;
use headroom_api::si::headroom::scheduler_message::Content as Told;
use headroom_api::si::headroom::scheduler_session_client::SchedulerSessionClient;
use headroom_api::si::headroom::{
    Capabilities, Ping, RecoveryDone, Register, RmMessage, SchedulerMessage,
};
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{
    Allocation, AllocationRequest, ApplicationRequest, NodeRequest, UpdateConfigurationRequest,
};
use headroom_server::grpc::RmState;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Request};

use crate::support::{Pipe, QUEUES, Server, ask, new, node, registration, until};

/// An RM with a session.
pub(crate) struct SessionRm {
    pub(crate) pipe: Pipe<RmMessage, SchedulerMessage>,
    pub(crate) token: String,
    pub(crate) resumed: bool,
    pub(crate) seq: u64,
    /// The number of the last message that it has processed.
    pub(crate) processed: u64,
}

pub(crate) fn register(token: &str, skip_recovery: bool, capabilities: Capabilities) -> Ask {
    Ask::Register(Register {
        manager: Some(registration("rm", QUEUES)),
        capabilities: Some(capabilities),
        skip_recovery,
        session_token: token.to_owned(),
    })
}

/// A stream whose first message is this.
pub(crate) async fn open(server: &Server, first: RmMessage) -> Pipe<RmMessage, SchedulerMessage> {
    let (requests, receiver) = mpsc::unbounded_channel();
    requests.send(first).unwrap();
    let mut client = SchedulerSessionClient::new(server.channel.clone());
    let request = Request::new(UnboundedReceiverStream::new(receiver));
    let answers = client.session(request).await.unwrap().into_inner();
    Pipe { requests, answers }
}

impl SessionRm {
    pub(crate) async fn on(server: &Server, capabilities: Capabilities) -> Self {
        Self::begin(server, register("", true, capabilities)).await
    }

    pub(crate) async fn begin(server: &Server, register: Ask) -> Self {
        let first = RmMessage { seq: 1, content: Some(register), ..RmMessage::default() };
        let mut pipe = open(server, first).await;
        let message = pipe.next().await;
        let Some(Told::Registered(one)) = message.content else { panic!("{message:?}") };
        assert_eq!((message.seq, message.ack_seq), (1, 1));
        Self { pipe, token: one.session_token, resumed: one.resumed, seq: 1, processed: 1 }
    }

    /// Go on with a session on another stream; and how far the scheduler has come.
    pub(crate) async fn resume(
        server: &Server,
        (token, seq, processed): (String, u64, u64),
    ) -> (Self, u64) {
        let content = Some(register(&token, true, Capabilities::default()));
        let first = RmMessage { seq: 0, ack_seq: processed, content, ..RmMessage::default() };
        let mut pipe = open(server, first).await;
        let message = pipe.next().await;
        let Some(Told::Registered(one)) = message.content else { panic!("{message:?}") };
        let (token, resumed) = (one.session_token, one.resumed);
        (Self { pipe, token, resumed, seq, processed }, message.ack_seq)
    }

    pub(crate) fn send(&mut self, content: Ask) -> u64 {
        self.seq += 1;
        self.send_as(self.seq, content);
        self.seq
    }

    pub(crate) fn send_as(&self, seq: u64, content: Ask) {
        let content = Some(content);
        let ack_seq = self.processed;
        self.pipe.send(RmMessage { seq, ack_seq, content, ..RmMessage::default() });
    }

    /// The next message, whose number follows the one before.
    pub(crate) async fn next(&mut self) -> (u64, Told) {
        let message = self.pipe.next().await;
        assert_eq!(message.seq, self.processed + 1, "{message:?}");
        self.processed = message.seq;
        (message.ack_seq, message.content.unwrap())
    }

    /// Waits until everything sent so far is applied. Returns the messages until then.
    pub(crate) async fn settled(&mut self) -> Vec<Told> {
        let seq = self.send(Ask::Ping(Ping { id: 77 }));
        let mut told = Vec::new();
        loop {
            match self.next().await {
                (applied, Told::Pong(pong)) if pong.id == 77 => {
                    assert_eq!(applied, seq);
                    return told;
                }
                (_, other) => told.push(other),
            }
        }
    }
}

pub(crate) fn nodes(nodes: &[(&str, i64)]) -> Ask {
    let nodes = nodes.iter().map(|(id, size)| node(id, ActionFromRm::Create, *size)).collect();
    Ask::Node(NodeRequest { nodes, rm_id: "rm".into() })
}

pub(crate) fn application(id: &str) -> Ask {
    Ask::Application(ApplicationRequest {
        new: vec![new(id, "root.a")],
        rm_id: "rm".into(),
        ..ApplicationRequest::default()
    })
}

pub(crate) fn asks(allocations: Vec<Allocation>) -> Ask {
    Ask::Allocation(AllocationRequest {
        allocations,
        rm_id: "rm".into(),
        ..AllocationRequest::default()
    })
}

/// Returns the keys that are reported as new.
pub(crate) fn new_keys(told: &[Told]) -> Vec<String> {
    let new = told.iter().flat_map(|one| match one {
        Told::Allocation(one) => one.new.clone(),
        _ => Vec::new(),
    });
    new.map(|one| one.allocation_key).collect()
}

/// Item 7: a node, an application and its asks may be sent without a wait, and are answered in
/// that order.
#[tokio::test]
async fn everything_is_applied_in_the_order_in_which_it_is_sent() {
    let server = Server::start().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    assert!(!rm.resumed);
    rm.send(nodes(&[("n1", 10)]));
    rm.send(application("app"));
    rm.send(asks(vec![ask("app", "k1", 1), crate::support::placed("app", "k2", 1, "n1")]));
    let told = rm.settled().await;
    let kinds: Vec<&str> = told
        .iter()
        .map(|one| match one {
            Told::Node(_) => "node",
            Told::Application(one) if one.updated.is_empty() => "application",
            Told::Application(_) => "state",
            Told::Allocation(_) => "allocation",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["node", "application", "state", "allocation", "state"]);
    server.turn(10).await;
    assert_eq!(new_keys(&rm.settled().await), ["k1"]);
}

/// Item 7: after a cut both sides repeat what the other has not acknowledged; nothing is lost and
/// nothing happens twice.
#[tokio::test]
async fn a_session_goes_on_after_a_cut_without_loss_or_repeats() {
    let server = Server::start().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.send(nodes(&[("n1", 100)]));
    rm.send(application("app"));
    rm.settled().await;
    let mut sent: Vec<(u64, Ask)> = Vec::new();
    let mut all = Vec::new();
    for round in 0..6_u32 {
        for number in 0..5 {
            let content = asks(vec![ask("app", &format!("k{round}-{number}"), 1)]);
            sent.push((rm.send(content.clone()), content));
        }
        if round % 2 == 0 {
            server.turn(10).await;
        }
        // Some of the messages are processed, and then the stream is interrupted.
        for _ in 0..round {
            if let Ok((_, told)) =
                tokio::time::timeout(std::time::Duration::from_millis(20), rm.next()).await
            {
                all.push(told);
            }
        }
        let applied;
        let known = (rm.token.clone(), rm.seq, rm.processed);
        (rm, applied) = SessionRm::resume(&server, known).await;
        assert!(rm.resumed);
        for (seq, content) in sent.iter().filter(|(seq, _)| *seq > applied) {
            rm.send_as(*seq, content.clone());
        }
        all.extend(rm.settled().await);
    }
    server.turn(10).await;
    all.extend(rm.settled().await);
    let mut keys = new_keys(&all);
    keys.sort();
    let expected: Vec<String> =
        (0..6).flat_map(|round| (0..5).map(move |number| format!("k{round}-{number}"))).collect();
    assert_eq!(keys, expected);
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.allocations().iter().count(), 30);
}

/// Scheduler interface §12.5: nothing is placed without the stream. Placement resumes with it.
#[tokio::test]
async fn an_rm_that_is_away_is_paused_and_gets_what_waits_when_it_is_back() {
    let server = Server::start().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.send(nodes(&[("n1", 10)]));
    rm.send(application("app"));
    rm.send(asks(vec![ask("app", "k1", 1)]));
    rm.settled().await;
    let standing = || server.interface.registered().map(|one| one.standing);
    let SessionRm { pipe, token, seq, processed, .. } = rm;
    drop(pipe);
    until("the RM is paused", async || standing() == Some(RmState::Paused)).await;
    until("the scheduler holds", async || {
        let view = server.handle.views().at_least(0).await;
        view.books.partitions().values().all(|row| row.questions.is_some())
    })
    .await;
    server.turn(10).await;
    let view = server.handle.views().at_least(0).await;
    assert!(view.books.allocations().iter().all(|(_, row)| row.is_pending()));
    let reasons = || {
        server.handle.inspect(|books, scheduler| {
            let asks = books.allocations().iter().map(|(ask, _)| ask);
            let codes = asks.map(|ask| {
                let wait = scheduler.wait_of(books, ask)?;
                Some(wait.code(books, ask).as_str())
            });
            codes.collect::<Vec<_>>()
        })
    };
    assert_eq!(reasons().await.unwrap(), [Some("RM_AWAY")]);
    let (mut rm, _) = SessionRm::resume(&server, (token, seq, processed)).await;
    assert!(rm.resumed);
    assert_eq!(standing(), Some(RmState::Running));
    server.turn(10).await;
    assert_eq!(new_keys(&rm.settled().await), ["k1"]);
    assert_eq!(reasons().await.unwrap(), [None]);
}

/// Scheduler interface §12.3: scheduling begins at the end of the recovery.
#[tokio::test]
async fn nothing_is_placed_before_recovery_is_done() {
    let server = Server::start().await;
    let first = register("", false, Capabilities::default());
    let mut rm = SessionRm::begin(&server, first).await;
    rm.send(nodes(&[("n1", 10)]));
    rm.send(application("app"));
    let running = crate::support::placed("app", "k1", 1, "n1");
    rm.send(asks(vec![running, ask("app", "k2", 1)]));
    assert_eq!(new_keys(&rm.settled().await), ["k1"], "what runs already is taken in");
    server.turn(10).await;
    assert_eq!(new_keys(&rm.settled().await), [""; 0]);
    rm.send(Ask::RecoveryDone(RecoveryDone {}));
    rm.settled().await;
    server.turn(10).await;
    assert_eq!(new_keys(&rm.settled().await), ["k2"]);
}

/// Scheduler interface §12.3, §12.5: a message that breaks the rules of the stream ends it.
#[tokio::test]
async fn a_stream_that_breaks_its_rules_ends() {
    let server = Server::start().await;
    let ping =
        |seq| RmMessage { seq, content: Some(Ask::Ping(Ping { id: 1 })), ..RmMessage::default() };
    let mut pipe = open(&server, ping(1)).await;
    assert_eq!(pipe.end().await.code(), Code::InvalidArgument, "`register` comes first");

    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.pipe.send(ping(3));
    rm.pipe.send(ping(3));
    assert_eq!(rm.pipe.end().await.code(), Code::InvalidArgument, "numbers rise");

    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.pipe.send(RmMessage { ack_seq: 99, ..ping(3) });
    assert_eq!(rm.pipe.end().await.code(), Code::InvalidArgument, "99 was never sent");

    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.send(register("", true, Capabilities::default()));
    assert_eq!(rm.pipe.end().await.code(), Code::InvalidArgument, "`register` comes once");
}

/// Scheduler interface §12.5: another registration ends the session. An unknown token starts a new one.
#[tokio::test]
async fn a_token_that_is_not_known_begins_a_new_session() {
    let server = Server::start().await;
    let mut first = SessionRm::on(&server, Capabilities::default()).await;
    let second = SessionRm::on(&server, Capabilities::default()).await;
    assert_eq!(first.pipe.end().await.code(), Code::Aborted);
    let again = SessionRm::begin(&server, register(&first.token, true, Capabilities::default()));
    let again = again.await;
    assert!(!again.resumed && again.token != second.token);
}

/// Scheduler interface §12.3: the answer to an invalid request is in band, and the session continues.
#[tokio::test]
async fn requests_that_cannot_be_read_are_answered_in_band() {
    let server = Server::start().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.seq += 1;
    rm.pipe.send(RmMessage { seq: rm.seq, ..RmMessage::default() });
    let (_, Told::RequestError(error)) = rm.next().await else { panic!("no error") };
    assert_eq!((error.request_seq, &*error.code), (rm.seq, "UNKNOWN_MESSAGE"));
    let foreign = NodeRequest { nodes: Vec::new(), rm_id: "other".into() };
    let seq = rm.send(Ask::Node(foreign));
    let (_, Told::RequestError(error)) = rm.next().await else { panic!("no error") };
    assert_eq!((error.request_seq, &*error.code), (seq, "RM_ID"));
}

/// Scheduler interface §12.3: a session can replace the queue file, in its order.
#[tokio::test]
async fn a_queue_file_is_replaced_in_band() {
    let server = Server::start().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    let update = |config: &str| {
        Ask::Configuration(UpdateConfigurationRequest {
            config: config.into(),
            ..UpdateConfigurationRequest::default()
        })
    };
    let seq = rm.send(update("partitions: 7"));
    let (_, Told::ConfigurationResult(result)) = rm.next().await else { panic!("no result") };
    assert_eq!(result.request_seq, seq);
    assert!(result.error.starts_with("update of configuration failed"), "{}", result.error);
    rm.send(update(&QUEUES.replace("name: small", "name: tiny")));
    let (_, Told::ConfigurationResult(result)) = rm.next().await else { panic!("no result") };
    assert_eq!(result.error, "");
    rm.send(Ask::Application(ApplicationRequest {
        new: vec![new("app", "root.tiny")],
        ..ApplicationRequest::default()
    }));
    let (_, Told::Application(answer)) = rm.next().await else { panic!("no answer") };
    assert_eq!(answer.accepted.len(), 1);
}
