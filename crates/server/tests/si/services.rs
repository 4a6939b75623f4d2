//! Authorized callers, and what every gRPC client expects in addition to the services themselves.

use headroom_api::headroomv1::Role;
use headroom_engine::testkit::MemoryJournal;
use headroom_server::Caller;
use headroom_server::grpc::Settings;
use prost::Message as _;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ExtensionRequest, ServerReflectionRequest};

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

/// Names of a file descriptor, as far as the test reads it.
#[derive(Clone, PartialEq, prost::Message)]
struct File {
    #[prost(string, tag = "1")]
    name: String,
}

async fn reflect(server: &Server, requests: Vec<MessageRequest>) -> Vec<MessageResponse> {
    let asked = requests.into_iter().map(|request| ServerReflectionRequest {
        host: "me".to_owned(),
        message_request: Some(request),
    });
    let asked: Vec<_> = asked.collect();
    let mut client = ServerReflectionClient::new(server.channel.clone());
    let requested = client.server_reflection_info(tokio_stream::iter(asked.clone()));
    let mut answers = requested.await.unwrap().into_inner();
    let mut found = Vec::new();
    for asked in asked {
        let answer = answers.message().await.unwrap().unwrap();
        assert_eq!((&*answer.valid_host, answer.original_request), ("me", Some(asked)));
        found.push(answer.message_response.unwrap());
    }
    found
}

/// What nobody knows is an answer, after which the stream goes on.
#[tokio::test]
async fn reflection_answers_what_it_does_not_know_with_an_error_response() {
    let server = Server::start().await;
    let number = |containing_type: &str, extension_number| {
        let containing_type = containing_type.to_owned();
        MessageRequest::FileContainingExtension(ExtensionRequest {
            containing_type,
            extension_number,
        })
    };
    let requests = vec![
        MessageRequest::FileContainingSymbol("si.v1.Nothing".into()),
        MessageRequest::FileByFilename("nothing.proto".into()),
        MessageRequest::AllExtensionNumbersOfType("si.v1.Nothing".into()),
        number("google.protobuf.FieldOptions", 999_999),
        number("si.v1.Nothing", 1),
    ];
    let count = requests.len();
    let answers = reflect(&server, requests).await;
    assert_eq!(answers.len(), count);
    for answer in answers {
        let MessageResponse::ErrorResponse(error) = answer else { panic!("{answer:?}") };
        assert_eq!(error.error_code, Code::NotFound as i32, "{error:?}");
        assert!(error.error_message.contains('"'), "it names what was asked for: {error:?}");
    }
}

#[tokio::test]
async fn reflection_knows_the_health_file_by_its_published_path_and_the_extensions() {
    let server = Server::start().await;
    let extended = "google.protobuf.FieldOptions";
    let answers = reflect(
        &server,
        vec![
            MessageRequest::FileByFilename("grpc/health/v1/health.proto".into()),
            MessageRequest::FileContainingSymbol("grpc.health.v1.Health".into()),
            MessageRequest::FileContainingSymbol(
                "grpc.health.v1.HealthCheckResponse.SERVING".into(),
            ),
            MessageRequest::AllExtensionNumbersOfType(extended.into()),
            MessageRequest::AllExtensionNumbersOfType("si.v1.AllocationRequest".into()),
            MessageRequest::FileContainingExtension(ExtensionRequest {
                containing_type: extended.into(),
                extension_number: 1_059,
            }),
        ],
    )
    .await;
    let file = |answer: &MessageResponse| {
        let MessageResponse::FileDescriptorResponse(file) = answer else { panic!("{answer:?}") };
        assert_eq!(file.file_descriptor_proto.len(), 1);
        File::decode(&*file.file_descriptor_proto[0]).unwrap().name
    };
    for answer in &answers[..3] {
        assert_eq!(file(answer), "grpc/health/v1/health.proto");
    }
    for (answer, name, numbers) in
        [(&answers[3], extended, &[1_059][..]), (&answers[4], "si.v1.AllocationRequest", &[])]
    {
        let MessageResponse::AllExtensionNumbersResponse(all) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!((&*all.base_type_name, &*all.extension_number), (name, numbers));
    }
    assert_eq!(file(&answers[5]), "si/v1/si.proto");
}
