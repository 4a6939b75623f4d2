//! Who may call, and what every gRPC client expects beside the services themselves.

use headroom_api::headroomv1::Role;
use headroom_engine::testkit::MemoryJournal;
use headroom_server::Caller;
use headroom_server::grpc::Settings;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::support::{Server, register, registration, until};

#[tokio::test]
async fn only_an_rm_or_an_admin_may_register() {
    let caller = |roles: &[Role]| Caller { roles: roles.to_vec(), ..Caller::open() };
    for (caller, expected) in [
        (Some(caller(&[Role::Rm])), Ok(())),
        (Some(caller(&[Role::Viewer, Role::Admin])), Ok(())),
        (Some(caller(&[Role::Viewer])), Err(Code::PermissionDenied)),
        (Some(caller(&[])), Err(Code::PermissionDenied)),
        (None, Err(Code::Unauthenticated)),
    ] {
        let shown = format!("{caller:?}");
        let journal = MemoryJournal::default();
        let server = Server::with_caller(&journal, Settings::default(), |_| {}, caller).await;
        let registered = register(&server, registration("rm", "")).await;
        assert_eq!(registered.map(drop).map_err(|why| why.code()), expected, "{shown}");
    }
}

#[tokio::test]
async fn health_says_whether_commands_are_taken() {
    let mut server = Server::start().await;
    let mut client = HealthClient::new(server.channel.clone());
    let mut check = async |service: &str| {
        let request = HealthCheckRequest { service: service.into() };
        client.check(request).await.map(|answer| answer.into_inner().status())
    };
    for service in ["", "si.v1.Scheduler", "headroom.si.v1.SchedulerSession"] {
        assert_eq!(check(service).await.unwrap(), ServingStatus::Serving, "{service}");
    }
    assert_eq!(check("x").await.unwrap_err().code(), Code::NotFound);
    server.engine.take().unwrap().stop().await.unwrap();
    until("nothing is served", async || {
        check("si.v1.Scheduler").await.unwrap() == ServingStatus::NotServing
    })
    .await;
}

/// Item 1: what is published is what is served.
#[tokio::test]
async fn reflection_lists_the_services_and_describes_their_messages() {
    let server = Server::start().await;
    let mut client = ServerReflectionClient::new(server.channel.clone());
    let ask =
        |request| ServerReflectionRequest { host: String::new(), message_request: Some(request) };
    let requests = [
        ask(MessageRequest::ListServices(String::new())),
        ask(MessageRequest::FileContainingSymbol("si.v1.AllocationRequest".into())),
    ];
    let requested = client.server_reflection_info(tokio_stream::iter(requests));
    let mut answers = requested.await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(list) = answer else { panic!("{answer:?}") };
    let names: Vec<&str> = list.service.iter().map(|one| one.name.as_str()).collect();
    for name in [
        "grpc.health.v1.Health",
        "headroom.si.v1.Callbacks",
        "headroom.si.v1.SchedulerSession",
        "si.v1.Scheduler",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    assert!(matches!(answer, MessageResponse::FileDescriptorResponse(_)), "{answer:?}");
}
