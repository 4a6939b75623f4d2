//! Item 2 of the list: registration and configuration.

use headroom_api::si::headroom::GetServerInfoRequest;
use headroom_api::si::headroom::scheduler_session_client::SchedulerSessionClient;
use headroom_api::si::v1::{NodeRequest, TerminationType, UpdateConfigurationRequest};
use headroom_engine::Origin;
use headroom_engine::testkit::MemoryJournal;
use headroom_server::grpc::{RmState, Settings};
use tonic::Code;

use crate::support::{QUEUES, Rm, Server, ask, new, register, registration, until};

/// Item 2: no text means the built-in queue file, where applications go by their namespace.
#[tokio::test]
async fn without_a_queue_file_the_built_in_one_is_used() {
    let server = Server::start().await;
    let mut rm = Rm::on(&server, "").await;
    let mut tagged = new("app", "");
    tagged.tags = [("namespace".to_owned(), "dev".to_owned())].into();
    rm.add(tagged);
    assert_eq!(rm.applications.next().await.accepted.len(), 1);
    let view = server.handle.views().at_least(0).await;
    let partition = view.books.partition_named("default").unwrap();
    assert!(view.books.queue_at(partition, "root.dev").is_some());
    assert_eq!(server.interface.registered().unwrap().standing, RmState::Running);
}

/// Item 2: a server that was started with a queue file keeps it, unless the RM sends another;
/// what the RM sent before is not the server's.
#[tokio::test]
async fn the_server_s_own_queue_file_is_used_before_the_built_in_one() {
    let server = Server::start().await;
    let queue_file = &server.service.queue_file;
    queue_file.apply(Origin::default(), QUEUES).await.unwrap();
    let mut rm = Rm::on(&server, "").await;
    rm.submit("app", "root.a").await;
    let other = QUEUES.replace("name: a\n", "name: other\n");
    let mut rm = Rm::on(&server, &other).await;
    rm.submit("app", "root.other").await;
    let mut rm = Rm::on(&server, "").await;
    rm.submit("app", "root.a").await;
    assert_eq!(queue_file.in_force().text, QUEUES);
}

/// Item 2: the faults of a queue file are reported, and nothing has changed.
#[tokio::test]
async fn a_faulty_queue_file_is_refused_and_the_registration_before_goes_on() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let faulty = "partitions:\n  - name: default\n    queues: []\n    limits: 7\n";
    let refused = register(&server, registration("rm", faulty)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let message = refused.message();
    assert!(message.starts_with("registration of RM failed: "), "{message}");
    let empty = register(&server, registration("", QUEUES)).await.unwrap_err();
    assert_eq!(empty.code(), Code::InvalidArgument);
    rm.submit("other", "root.a").await;
}

/// Item 2: a second registration of the same RM begins with nothing, without a word of what went.
#[tokio::test]
async fn registering_again_wipes_what_there_was() {
    let server = Server::start().await;
    let mut before = Rm::furnished(&server).await;
    before.ask(vec![ask("app", "k1", 1)]);
    until("the ask is there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 1
    })
    .await;
    server.turn(10).await;
    before.allocated(1).await;
    let mut after = Rm::on(&server, QUEUES).await;
    for end in [before.applications.end().await, before.allocations.end().await] {
        assert_eq!(end.code(), Code::Aborted, "{end:?}");
    }
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.nodes().iter().count(), 0);
    assert_eq!(view.books.applications().iter().count(), 0);
    after.create(&[("n1", 10)]).await;
    after.submit("app", "root.a").await;
    after.release("app", "k1", TerminationType::StoppedByRm);
    after.allocations.silent().await;
}

/// Item 2: one RM at a time.
#[tokio::test]
async fn another_rm_is_refused_while_one_is_registered() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let refused = register(&server, registration("other", QUEUES)).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let message = refused.message();
    assert!(message.contains("RM rm has been registered before, active partitions 1"), "{message}");
    rm.submit("second", "root.a").await;
}

/// Item 2: nothing is taken from an RM that has not registered.
#[tokio::test]
async fn requests_before_registration_are_refused() {
    let server = Server::start().await;
    let request = NodeRequest { nodes: Vec::new(), rm_id: "rm".into() };
    let mut answers =
        server.client().update_node(tokio_stream::iter([request])).await.unwrap().into_inner();
    let refused = answers.message().await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let message = refused.message();
    assert!(
        message.contains("received NodeRequest, but RmID=\"rm\" is not registered"),
        "{message}"
    );
    let mut client = SchedulerSessionClient::new(server.channel.clone());
    let update = UpdateConfigurationRequest { rm_id: "rm".into(), ..Default::default() };
    let refused = client.update_configuration(update).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
}

/// Item 2: the queue file may be replaced, and one with faults replaces nothing.
#[tokio::test]
async fn a_queue_file_is_replaced_as_a_whole_or_not_at_all() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let mut client = SchedulerSessionClient::new(server.channel.clone());
    let update = |config: &str| UpdateConfigurationRequest {
        rm_id: "rm".into(),
        config: config.into(),
        extra_config: [("log.level".to_owned(), config.len().to_string())].into(),
        ..UpdateConfigurationRequest::default()
    };
    let with_b = QUEUES.replace("name: fair\n", "name: b\n");
    client.update_configuration(update(&with_b)).await.unwrap();
    rm.submit("of-b", "root.b").await;
    let refused = client.update_configuration(update("partitions: 7")).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().starts_with("update of configuration failed: "), "{refused:?}");
    let in_force = server.service.queue_file.in_force();
    assert_eq!(in_force.text, with_b);
    assert_eq!(in_force.extra["log.level"], "13", "extra settings are replaced first");
    rm.submit("of-b-too", "root.b").await;
}

#[tokio::test]
async fn the_server_says_which_one_it_is_and_who_is_registered() {
    let server = Server::start().await;
    let mut client = SchedulerSessionClient::new(server.channel.clone());
    let info = client.get_server_info(GetServerInfoRequest {}).await.unwrap().into_inner();
    assert_eq!(info.registered_rm_i_ds, [""; 0]);
    assert_eq!(info.instance_uuid, server.service.about.instance);
    let mut said = registration("rm", "");
    said.build_info = [("version".to_owned(), "7".to_owned())].into();
    register(&server, said).await.unwrap();
    let info = client.get_server_info(GetServerInfoRequest {}).await.unwrap().into_inner();
    assert_eq!(info.registered_rm_i_ds, ["rm"]);
    let registered = server.interface.registered().unwrap();
    assert_eq!((registered.standing, &*registered.policy_group), (RmState::Init, "queues"));
    assert_eq!(registered.build_info["version"], "7");
}

/// Section 12.5 as far as the journal reaches: after a restart of the server the earlier state exists, until the RM
/// registers, which removes it.
#[tokio::test]
async fn after_a_restart_of_the_server_the_rm_registers_and_begins_anew() {
    let journal = MemoryJournal::default();
    let mut server = Server::with(&journal, Settings::default(), |_| {}).await;
    let rm = Rm::furnished(&server).await;
    let info = server.service.about.instance.clone();
    server.engine.take().unwrap().stop().await.unwrap();
    drop(server);

    let server = Server::with(&journal, Settings::default(), |_| {}).await;
    assert_ne!(server.service.about.instance, info);
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.nodes().iter().count(), 1, "nothing that was answered is lost");
    let request = crate::support::with_token(&rm.token, tokio_stream::empty::<NodeRequest>());
    let refused = server.client().update_node(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let mut rm = Rm::furnished(&server).await;
    rm.submit("second", "root.a").await;
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.nodes().iter().count(), 1);
    assert_eq!(view.books.applications().iter().count(), 2);
}
