//! Item 8 of the list: questions to the RM, and periodic messages. Scheduler interface §9, §12.4.

use std::collections::BTreeSet;
use std::time::Duration;

use headroom_api::si::headroom::callback_reply::Answer;
use headroom_api::si::headroom::callback_request::Question;
use headroom_api::si::headroom::callback_rm_message::Content as Said;
use headroom_api::si::headroom::callback_scheduler_message::Content as Told;
use headroom_api::si::headroom::callbacks_client::CallbacksClient;
use headroom_api::si::headroom::state_dump::Outcome;
use headroom_api::si::headroom::{
    CallbackAttach, CallbackReply, CallbackRequest, CallbackRmMessage, CallbackSchedulerMessage,
    Capabilities, NodeVerdict, PredicatesBatch, PredicatesVerdicts, StateDump,
};
use headroom_api::si::v1::NodeRequest;
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_server::grpc::{RmState, Settings};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Code;

use crate::support::{Pipe, Rm, Server, ask, node, until, with_token};

type Callbacks = Pipe<CallbackRmMessage, CallbackSchedulerMessage>;

pub(crate) const PREDICATES: Capabilities = Capabilities {
    predicates: true,
    preemption_predicates: false,
    events: false,
    container_state: false,
    state_dump: false,
    predicates_cacheable: false,
    questions_at_once: 0,
};

/// Attach, and see the scheduler ask.
pub(crate) async fn attach(server: &Server, rm: &Rm, capabilities: Capabilities) -> Callbacks {
    let (requests, receiver) = mpsc::unbounded_channel();
    let attach = CallbackAttach { rm_id: "rm".into(), capabilities: Some(capabilities) };
    requests.send(CallbackRmMessage { content: Some(Said::Attach(attach)) }).unwrap();
    let request = with_token(&rm.token, UnboundedReceiverStream::new(receiver));
    let mut client = CallbacksClient::new(server.channel.clone());
    let answers = client.attach(request).await.unwrap().into_inner();
    let asks = capabilities.predicates || capabilities.preemption_predicates;
    until("the scheduler asks", async || {
        let view = server.handle.views().at_least(0).await;
        view.books.partitions().values().all(|row| row.questions.is_some() == asks)
    })
    .await;
    Pipe { requests, answers }
}

pub(crate) async fn request(callbacks: &mut Callbacks) -> CallbackRequest {
    let message = callbacks.next().await;
    let Some(Told::Request(request)) = message.content else { panic!("{message:?}") };
    request
}

/// The next question about nodes.
async fn batch(callbacks: &mut Callbacks) -> (u64, PredicatesBatch) {
    let request = request(callbacks).await;
    let Some(Question::PredicatesBatch(batch)) = request.question else { panic!("{request:?}") };
    (request.id, batch)
}

fn reply(callbacks: &Callbacks, id: u64, verdicts: &[(&str, bool)]) {
    let verdict = |(node, ok): &(&str, bool)| NodeVerdict {
        node_id: (*node).to_owned(),
        ok: *ok,
        reason: if *ok { String::new() } else { "tainted".to_owned() },
    };
    let nodes = verdicts.iter().map(verdict).collect();
    let answer = Some(Answer::PredicatesBatch(PredicatesVerdicts { nodes }));
    let content = Some(Said::Reply(CallbackReply { id, answer }));
    callbacks.send(CallbackRmMessage { content });
}

/// Turn until the question is answered: the answer is a command of its own.
async fn turn_until_new(server: &Server, rm: &mut Rm) -> Vec<(String, String)> {
    for _ in 0..1_000 {
        server.turn(1).await;
        let next = tokio::time::timeout(Duration::from_millis(5), rm.allocations.answers.message());
        if let Ok(answer) = next.await {
            let new = answer.unwrap().unwrap().new;
            return new.into_iter().map(|one| (one.allocation_key, one.node_id)).collect();
        }
    }
    panic!("nothing is placed");
}

/// Say yes to whatever is asked about `n1`, and turn until something is placed.
async fn say_yes_until_new(
    server: &Server,
    rm: &mut Rm,
    callbacks: &mut Callbacks,
) -> Vec<(String, String)> {
    let brief = Duration::from_millis(5);
    for _ in 0..1_000 {
        server.turn(1).await;
        if let Ok(message) = tokio::time::timeout(brief, callbacks.answers.message()).await
            && let Some(Told::Request(request)) = message.unwrap().unwrap().content
        {
            reply(callbacks, request.id, &[("n1", true)]);
        }
        if let Ok(answer) = tokio::time::timeout(brief, rm.allocations.answers.message()).await {
            let new = answer.unwrap().unwrap().new;
            return new.into_iter().map(|one| (one.allocation_key, one.node_id)).collect();
        }
    }
    panic!("nothing is placed");
}

/// Two nodes, and an ask for either.
async fn furnished(server: &Server) -> Rm {
    let mut rm = Rm::furnished(server).await;
    rm.create(&[("n2", 5)]).await;
    rm
}

async fn ask_for(rm: &mut Rm, key: &str) {
    rm.ask(vec![ask("app", key, 1)]);
    rm.states(1).await;
}

/// Item 8: without callbacks every node suits.
#[tokio::test]
async fn without_callbacks_nothing_is_asked() {
    let server = Server::start().await;
    let mut rm = furnished(&server).await;
    ask_for(&mut rm, "k1").await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await.len(), 1);
}

/// Item 8: one request asks about all candidates in order, and the first that suits is taken, as
/// if each had been asked about by itself.
#[tokio::test]
async fn a_batch_takes_the_first_node_that_suits() {
    let server = Server::start().await;
    let mut rm = furnished(&server).await;
    let mut callbacks = attach(&server, &rm, PREDICATES).await;
    ask_for(&mut rm, "k1").await;
    server.turn(10).await;
    let (id, asked) = batch(&mut callbacks).await;
    assert_eq!((&*asked.allocation_key, asked.allocate), ("k1", true));
    assert_eq!(asked.node_i_ds.len(), 2);
    let (first, second) = (&*asked.node_i_ds[0], &*asked.node_i_ds[1]);
    reply(&callbacks, id, &[(second, true), (first, false)]);
    assert_eq!(turn_until_new(&server, &mut rm).await, [("k1".to_owned(), second.to_owned())]);
    // The reason is shown to callers who ask why the other one was not chosen.
    ask_for_refused(&server, &mut rm, &mut callbacks).await;
}

async fn ask_for_refused(server: &Server, rm: &mut Rm, callbacks: &mut Callbacks) {
    rm.ask(vec![ask("app", "k2", 1)]);
    until("the ask is there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 2
    })
    .await;
    server.turn(10).await;
    let (id, asked) = batch(callbacks).await;
    let refusals: Vec<(&str, bool)> =
        asked.node_i_ds.iter().map(|node| (node.as_str(), false)).collect();
    reply(callbacks, id, &refusals);
    until("the refusal is in the books", async || {
        server.turn(1).await;
        let view = server.handle.views().at_least(0).await;
        let (ask, _) = view.books.allocations().iter().find(|(_, row)| &*row.key == "k2").unwrap();
        let mode = headroom_core::books::QuestionMode::Allocate;
        let mut said = view.books.verdicts_of(ask, mode);
        said.any(|(_, one)| one.refusal.as_deref() == Some("tainted"))
    })
    .await;
}

/// Item 8: an answer that does not come counts as no for this attempt; the ask is asked about
/// again, and after three of these the RM is paused until it answers.
#[tokio::test]
async fn an_rm_that_does_not_answer_is_paused_until_it_does() {
    let within = Duration::from_millis(50);
    let server = Server::with_settings(|settings| settings.answer_within = within).await;
    let mut rm = Rm::furnished(&server).await;
    let mut callbacks = attach(&server, &rm, PREDICATES).await;
    ask_for(&mut rm, "k1").await;
    let standing = || server.interface.registered().map(|one| one.standing);
    let mut asked = 0;
    until("the RM is paused", async || {
        server.turn(1).await;
        let next = callbacks.answers.message();
        asked += u32::from(tokio::time::timeout(Duration::from_millis(5), next).await.is_ok());
        standing() == Some(RmState::Paused)
    })
    .await;
    assert!(asked >= 3, "asked {asked} times");
    // It is knocked at until it answers.
    let (id, _) = batch(&mut callbacks).await;
    reply(&callbacks, id, &[("n1", true)]);
    until("the RM is back", async || standing() == Some(RmState::Running)).await;
    let placed = say_yes_until_new(&server, &mut rm, &mut callbacks).await;
    assert_eq!(placed, [("k1".to_owned(), "n1".to_owned())]);
}

/// Scheduler interface §12.5: a lost callback stream pauses the RM. A new stream resumes it.
#[tokio::test]
async fn a_lost_stream_of_questions_pauses_and_another_resumes() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let callbacks = attach(&server, &rm, PREDICATES).await;
    let standing = || server.interface.registered().map(|one| one.standing);
    drop(callbacks);
    until("the RM is paused", async || standing() == Some(RmState::Paused)).await;
    ask_for(&mut rm, "k1").await;
    server.turn(10).await;
    let mut first = attach(&server, &rm, PREDICATES).await;
    assert_eq!(standing(), Some(RmState::Running));
    let mut second = attach(&server, &rm, PREDICATES).await;
    assert_eq!(first.end().await.code(), Code::Aborted);
    let placed = say_yes_until_new(&server, &mut rm, &mut second).await;
    assert_eq!(placed, [("k1".to_owned(), "n1".to_owned())]);
}

/// Item 8: each second, the RM is notified which asks more nodes would help, as long as they wait.
#[tokio::test]
async fn asks_that_more_nodes_would_help_are_told_again_and_again() {
    assert_eq!(Settings::default().container_state_every, Duration::from_secs(1));
    let every = Duration::from_millis(50);
    let server = Server::with_settings(|settings| settings.container_state_every = every).await;
    let mut rm = Rm::furnished(&server).await;
    let wants = Capabilities { container_state: true, ..Capabilities::default() };
    let mut callbacks = attach(&server, &rm, wants).await;
    rm.ask(vec![ask("app", "large", 11)]);
    rm.states(1).await;
    server.turn(1_000).await;
    server.turn(1_000).await;
    for _ in 0..3 {
        let message = callbacks.next().await;
        let Some(Told::ContainerState(one)) = message.content else { panic!("{message:?}") };
        assert_eq!((&*one.application_id, &*one.allocation_key), ("app", "large"));
        assert_eq!(one.state, 4, "FAILED");
    }
    rm.create(&[("n2", 20)]).await;
    server.turn(1_000).await;
    rm.allocated(1).await;
    // What was under way may come.
    while let Ok(message) = tokio::time::timeout(every * 4, callbacks.answers.message()).await {
        message.unwrap().unwrap();
    }
}

#[tokio::test]
async fn of_very_many_asks_that_more_nodes_would_help_some_are_told_again_in_turn() {
    const COUNT: usize = 1_100;
    let every = Duration::from_millis(50);
    let server = Server::with_settings(|settings| settings.container_state_every = every).await;
    let mut rm = Rm::furnished(&server).await;
    let wants = Capabilities { container_state: true, ..Capabilities::default() };
    let mut callbacks = attach(&server, &rm, wants).await;
    rm.ask((0..COUNT).map(|number| ask("app", &format!("large{number}"), 11)).collect());
    rm.states(1).await;
    server.turn(1_000).await;
    server.turn(1_000).await;
    for round in 0..3 {
        let mut told = BTreeSet::new();
        for _ in 0..COUNT {
            let message = callbacks.next().await;
            let Some(Told::ContainerState(one)) = message.content else { panic!("{message:?}") };
            told.insert(one.allocation_key);
        }
        assert_eq!(told.len(), COUNT, "in round {round}, each is told once");
    }
}

/// Scheduler interface §9: events about objects.
#[tokio::test]
async fn events_come_in_batches() {
    let every = Duration::from_millis(50);
    let server = Server::with_settings(|settings| settings.events_every = every).await;
    let mut rm = Rm::furnished(&server).await;
    let wants = Capabilities { events: true, ..Capabilities::default() };
    let mut callbacks = attach(&server, &rm, wants).await;
    tokio::time::sleep(every * 3).await;
    rm.submit("other", "root.a").await;
    let message = callbacks.next().await;
    let Some(Told::Events(batch)) = message.content else { panic!("{message:?}") };
    let of_application = batch
        .records
        .iter()
        .any(|one| (one.r#type, &*one.object_id, one.event_change_detail) == (2, "other", 203));
    assert!(of_application, "{batch:?}");
}

/// Scheduler interface §9: the RM supplies its own part of the state dump.
#[tokio::test]
async fn the_rm_is_asked_for_its_state() {
    let server = Server::start().await;
    let rm = Rm::furnished(&server).await;
    assert_eq!(server.interface.state_dump().await, None, "it is not asked");
    let wants = Capabilities { state_dump: true, ..Capabilities::default() };
    let mut callbacks = attach(&server, &rm, wants).await;
    until("it may be asked", async || {
        let asked = tokio::spawn({
            let interface = server.interface.clone();
            async move { interface.state_dump().await }
        });
        let next = tokio::time::timeout(Duration::from_millis(200), callbacks.answers.message());
        let Ok(Ok(Some(message))) = next.await else { return false };
        let Some(Told::Request(request)) = message.content else { panic!("no request") };
        let outcome = Some(Outcome::Json("{\"a\":1}".into()));
        let answer = Some(Answer::StateDump(StateDump { outcome }));
        let content = Some(Said::Reply(CallbackReply { id: request.id, answer }));
        callbacks.send(CallbackRmMessage { content });
        assert_eq!(asked.await.unwrap(), Some(Ok("{\"a\":1}".to_owned())));
        true
    })
    .await;
}

#[tokio::test]
async fn the_first_message_on_the_stream_of_questions_is_attach() {
    let server = Server::start().await;
    let rm = Rm::furnished(&server).await;
    let first = CallbackRmMessage { content: Some(Said::Reply(CallbackReply::default())) };
    let request = with_token(&rm.token, tokio_stream::iter([first]));
    let mut client = CallbacksClient::new(server.channel.clone());
    let mut answers = client.attach(request).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap_err().code(), Code::InvalidArgument);
    let stranger = CallbackAttach { rm_id: "other".into(), capabilities: None };
    let first = CallbackRmMessage { content: Some(Said::Attach(stranger)) };
    let mut answers = client.attach(tokio_stream::iter([first])).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap_err().code(), Code::FailedPrecondition);
}

/// Scheduler interface §12.4: an answer holds for one attempt. With `predicatesCacheable`, it holds until
/// the node changes, or its size is sent again.
#[tokio::test]
async fn a_refusal_is_asked_about_again_or_kept_as_the_rm_wants() {
    let within = Duration::from_millis(50);
    for cacheable in [false, true] {
        let server = Server::with_settings(|settings| settings.answer_within = within).await;
        let mut rm = Rm::furnished(&server).await;
        let wants = Capabilities { predicates_cacheable: cacheable, ..PREDICATES };
        let mut callbacks = attach(&server, &rm, wants).await;
        ask_for(&mut rm, "k1").await;
        server.turn(1).await;
        let (id, _) = batch(&mut callbacks).await;
        reply(&callbacks, id, &[("n1", false)]);
        if cacheable {
            for _ in 0..20 {
                server.turn(1).await;
                tokio::time::sleep(within / 5).await;
            }
            callbacks.quiet_for_a_while().await;
            rm.nodes.send(NodeRequest {
                nodes: vec![node("n1", ActionFromRm::Update, 10)],
                rm_id: "rm".into(),
            });
        }
        let placed = say_yes_until_new(&server, &mut rm, &mut callbacks).await;
        assert_eq!(placed, [("k1".to_owned(), "n1".to_owned())], "cacheable: {cacheable}");
    }
}
