//! The three streams of the published interface: who has them, and how they end. Scheduler
//! interface §12.2, §12.5.

use std::time::Duration;

use headroom_api::si::v1::{AllocationRequest, ApplicationRequest, NodeInfo, NodeRequest};
use headroom_server::grpc::RmState;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Code;

use crate::support::{
    Pipe, QUEUES, Rm, Server, ask, new, open, register, registration, until, with_token,
};

#[tokio::test]
async fn a_stream_without_metadata_belongs_to_the_rm_that_its_first_message_names() {
    let server = Server::start().await;
    register(&server, registration("rm", QUEUES)).await.unwrap();
    let (requests, receiver) = mpsc::unbounded_channel();
    let mut client = server.client();
    let requested = client.update_application(UnboundedReceiverStream::new(receiver));
    let answers = requested.await.unwrap().into_inner();
    let mut applications = Pipe { requests, answers };
    applications.send(ApplicationRequest {
        new: vec![new("app", "root.a")],
        rm_id: "rm".into(),
        ..ApplicationRequest::default()
    });
    assert_eq!(applications.next().await.accepted.len(), 1);
    applications.send(ApplicationRequest { rm_id: "other".into(), ..Default::default() });
    assert_eq!(applications.end().await.code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_second_stream_of_a_kind_takes_the_place_of_the_first() {
    let server = Server::start().await;
    let mut first = Rm::furnished(&server).await;
    let mut second = Rm::with_token(&server, &first.token).await;
    assert_eq!(first.nodes.end().await.code(), Code::Aborted);
    second.create(&[("n2", 1)]).await;
    second.submit("app2", "root.a").await;
    assert_eq!(server.interface.registered().unwrap().standing, RmState::Running);
}

#[tokio::test]
async fn after_a_half_close_answers_go_on() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    rm.ask(vec![ask("app", "k1", 1)]);
    let (closed, _) = mpsc::unbounded_channel();
    drop(std::mem::replace(&mut rm.allocations.requests, closed));
    until("the ask is there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 1
    })
    .await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await, [("k1".to_owned(), "n1".to_owned())]);
    assert_eq!(server.interface.registered().unwrap().standing, RmState::Running);
}

#[tokio::test]
async fn answers_wait_for_a_stream_that_is_not_there_yet() {
    let server = Server::start().await;
    let token = register(&server, registration("rm", QUEUES)).await.unwrap();
    let mut applications = open!(server, &token, update_application);
    applications.send(ApplicationRequest {
        new: vec![new("app", "root.a")],
        ..ApplicationRequest::default()
    });
    applications.next().await;
    let placed = headroom_core::Command::AddNode(headroom_core::AddNode {
        partition: "default".into(),
        node: "n1".into(),
        capacity: [("vcore", 1_000)].into(),
        ..headroom_core::AddNode::default()
    });
    server.handle.submit(placed).await.unwrap().unwrap();
    let mut nodes: Pipe<NodeRequest, _> = open!(server, &token, update_node);
    assert_eq!(nodes.next().await.accepted.len(), 1, "it came before there was a stream for it");
}

#[tokio::test]
async fn too_many_answers_for_an_absent_stream_end_the_session() {
    let server = Server::with_settings(|settings| settings.messages_held = 4).await;
    let mut before = Rm::furnished(&server).await;
    let token = register(&server, registration("rm", QUEUES)).await.unwrap();
    assert_eq!(before.nodes.end().await.code(), Code::Aborted);
    // Each state that an application enters is a message, and nobody takes those.
    let mut nodes: Pipe<NodeRequest, _> = open!(server, &token, update_node);
    let mut allocations: Pipe<AllocationRequest, _> = open!(server, &token, update_allocation);
    let submit = |number| {
        headroom_core::Command::Submit(headroom_core::Submit {
            partition: "default".into(),
            application: format!("app{number}").into(),
            queue: "root.a".into(),
            user: "ann".into(),
            ..headroom_core::Submit::default()
        })
    };
    for number in 0..5 {
        server.handle.submit(submit(number)).await.unwrap().unwrap();
    }
    assert_eq!(allocations.end().await.code(), Code::ResourceExhausted);
    assert_eq!(nodes.end().await.code(), Code::ResourceExhausted);
    let mut rm = Rm::on(&server, QUEUES).await;
    rm.create(&[("n1", 1)]).await;
}

#[tokio::test]
async fn a_lost_stream_pauses_the_rm_and_only_another_registration_brings_it_back() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    drop(rm.nodes);
    until("the RM is paused", async || {
        server.interface.registered().is_some_and(|one| one.standing == RmState::Paused)
    })
    .await;
    until("the scheduler holds", async || {
        let view = server.handle.views().at_least(0).await;
        view.books.partitions().values().all(|row| row.questions.is_some())
    })
    .await;
    rm.allocations
        .send(AllocationRequest { allocations: vec![ask("app", "k1", 1)], ..Default::default() });
    until("the ask is there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 1
    })
    .await;
    server.turn(10).await;
    rm.allocations.silent().await;
    let again = with_token(&rm.token, tokio_stream::empty::<NodeRequest>());
    let refused = server.client().update_node(again).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "{refused:?}");
    let mut rm = Rm::furnished(&server).await;
    rm.ask(vec![ask("app", "k1", 1)]);
    rm.states(1).await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await.len(), 1);
}

#[tokio::test]
async fn an_rm_that_stays_away_is_given_up() {
    let grace = Duration::from_millis(200);
    let server = Server::with_settings(|settings| settings.grace = grace).await;
    let rm = Rm::furnished(&server).await;
    drop(rm);
    until("nobody is registered", async || server.interface.registered().is_none()).await;
    until("nothing is there", async || {
        server.handle.views().at_least(0).await.books.partitions().is_empty()
    })
    .await;
    let other = register(&server, registration("other", QUEUES)).await;
    other.expect("the place is free");
}

#[tokio::test]
async fn when_the_server_ends_streams_end_as_unavailable() {
    let mut server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    server.interface.shut_down();
    assert_eq!(rm.nodes.end().await.code(), Code::Unavailable);
    assert_eq!(rm.allocations.end().await.code(), Code::Unavailable);
    let refused = register(&server, registration("rm", QUEUES)).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    server.engine.take().unwrap().stop().await.unwrap();
}

#[tokio::test]
async fn an_engine_that_stops_ends_streams_as_unavailable() {
    let mut server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    server.engine.take().unwrap().stop().await.unwrap();
    assert_eq!(rm.nodes.end().await.code(), Code::Unavailable);
}

#[tokio::test]
async fn a_message_that_is_too_large_has_a_status_of_its_own() {
    let server = Server::with_settings(|settings| settings.message_bytes_max = 1_024).await;
    let mut rm = Rm::furnished(&server).await;
    let info = NodeInfo { node_id: "x".repeat(2_000), ..NodeInfo::default() };
    rm.nodes.send(NodeRequest { nodes: vec![info], rm_id: "rm".into() });
    let end = rm.nodes.end().await;
    assert_eq!(end.code(), Code::ResourceExhausted, "{end:?}");
    // The client got all earlier messages, so it can continue.
    let mut rm = Rm::with_token(&server, &rm.token).await;
    rm.create(&[("n2", 1)]).await;
}
