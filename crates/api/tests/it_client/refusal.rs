//! What is not answered says why, and what to do.

use std::time::Duration;

use headroom_api::client::{Client, ClientError};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{builder, client, example};

async fn serving(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

#[tokio::test]
async fn the_reason_is_read_from_either_shape() {
    let problem = example("headroomv1/problem");
    let error = example("wsv1/error");
    let noise = format!("\u{1b}[31m{}", "x".repeat(1_000));
    for (status, media, body, reason, remedy) in [
        (404, "application/json", &*error, "Partition not found", "check the name"),
        (404, "application/problem+json", &problem, "partition `gpu` is not there", "check"),
        (405, "text/plain", "Method Not Allowed\n", "Method Not Allowed", "this version"),
        (401, "text/plain", "", "Unauthorized", "token"),
        (502, "text/html", &noise, " [31mxxx", "log of the server"),
        (302, "text/html", "", "Found", "address"),
    ] {
        let answer = ResponseTemplate::new(status).set_body_raw(body, media);
        let server = serving(answer).await;
        let refused = client(&server).get_partitions().await.unwrap_err();
        assert_eq!(refused.status(), Some(status));
        let ClientError::Refused(refusal) = &refused else { panic!("{refused:?}") };
        assert!(refusal.reason.starts_with(reason), "{refusal:?}");
        assert!(refusal.reason.len() <= 200, "{refusal:?}");
        assert!(!refusal.reason.contains('\u{1b}'));
        let text = refused.to_string();
        assert!(text.contains(remedy) && text.contains(&status.to_string()), "{text}");
        let code = (media == "application/problem+json").then(|| "NOT_FOUND".to_owned());
        assert_eq!(refusal.code, code);
    }
}

#[tokio::test]
async fn overload_says_when_to_come_back() {
    let answer = ResponseTemplate::new(429).insert_header("Retry-After", "7");
    let refused = client(&serving(answer).await).get_health().await.unwrap_err();
    assert!(refused.is_temporary());
    assert!(refused.to_string().contains("try again later, in 7 s"), "{refused}");
}

#[tokio::test]
async fn answers_are_bounded_in_time_and_size() {
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_mins(1));
    let server = serving(slow).await;
    let hasty = builder(&server).timeout(Duration::from_millis(50)).build().unwrap();
    let error = hasty.get_partitions().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
    assert!(error.is_temporary());

    let server = serving(ResponseTemplate::new(200).set_body_string("x".repeat(101))).await;
    for (bytes_max, fits) in [(100, false), (101, true)] {
        let modest = builder(&server).body_bytes_max(bytes_max).build().unwrap();
        match modest.get_metrics().await {
            Ok(text) => assert!(fits && text.len() == 101),
            Err(error) => {
                assert!(!fits && matches!(error, ClientError::TooLarge { .. }), "{error:?}");
            }
        }
    }
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    // Nothing listens on the port that the system has just given back.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::builder(&address).build().unwrap();
    let error = client.get_live().await.unwrap_err();
    assert!(error.to_string().contains(&address), "{error}");
    assert_eq!(error.status(), None);
}

#[tokio::test]
async fn another_answer_than_agreed_is_no_success() {
    let server = serving(ResponseTemplate::new(200).set_body_string("<html>")).await;
    let error = client(&server).get_partitions().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_tree_that_is_too_deep_is_an_error_and_no_crash() {
    let part = r#"{"queuename":"root","partition":"","isLeaf":false,"isManaged":true,
        "currentPriority":0,"prioritySorting":true,"preemptionEnabled":true,
        "isPreemptionFence":false,"isPriorityFence":false"#;
    for (levels, fits) in [(60, true), (100_000, false)] {
        let open = format!("{part},\"children\":[").repeat(levels);
        let body = format!("{open}{part}}}{}", "]}".repeat(levels));
        let server = serving(ResponseTemplate::new(200).set_body_string(body)).await;
        let read = client(&server).get_queues("default").await;
        let is_right = match &read {
            Ok(_) => fits,
            Err(error) => !fits && matches!(error, ClientError::Unreadable { .. }),
        };
        assert!(is_right, "{levels} levels: {:?}", read.map(drop));
    }
}

#[tokio::test]
async fn the_token_is_sent_and_never_shown() {
    let server = serving(ResponseTemplate::new(200).set_body_string("[]")).await;
    let client = builder(&server).token(" s3cret\n").unwrap().build().unwrap();
    client.get_partitions().await.unwrap();
    let request = server.received_requests().await.unwrap().remove(0);
    assert_eq!(request.headers["authorization"], "Bearer s3cret");
    assert!(!format!("{client:?}").contains("s3cret"));
    assert!(matches!(builder(&server).token("two\nlines"), Err(ClientError::Token)));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = serving(ResponseTemplate::new(200).set_body_string("[]")).await;
    let moved = ResponseTemplate::new(301).insert_header("Location", &*elsewhere.uri());
    let error = client(&serving(moved).await).get_partitions().await.unwrap_err();
    assert_eq!(error.status(), Some(301));
    assert!(elsewhere.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn names_and_addresses_that_lead_elsewhere_are_refused() {
    let client = Client::builder("http://127.0.0.1:1").build().unwrap();
    for name in ["", ".", ".."] {
        let error = client.get_node("default", name).await.unwrap_err();
        assert!(matches!(error, ClientError::Name { .. }), "{name:?}: {error:?}");
    }
    for address in
        ["", "localhost:9080", "ftp://a", "http://", "http://sue:s3cret@a", "http://a/?x=1"]
    {
        let error = Client::builder(address).build().unwrap_err();
        assert!(matches!(error, ClientError::Address { .. }), "{address:?}");
    }
}

#[tokio::test]
async fn a_path_in_the_address_comes_first() {
    let server = serving(ResponseTemplate::new(200).set_body_string("[]")).await;
    for address in [format!("{}/a/b", server.uri()), format!("{}/a/b/", server.uri())] {
        Client::builder(address).build().unwrap().get_partitions().await.unwrap();
    }
    for request in server.received_requests().await.unwrap() {
        assert_eq!(request.url.path(), "/a/b/ws/v1/partitions");
    }
}
