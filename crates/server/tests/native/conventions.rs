//! What all answers share.

use headroom_api::headroomv1::{JournalState, Problem, ServerState};
use headroom_api::openapi;
use reqwest::header;
use serde_json::Value;

use crate::server::Server;

/// A refusal: its status and its content.
async fn problem(server: &Server, path: &str) -> (u16, Problem) {
    let answer = server.get(path).await;
    assert_eq!(answer.headers()[header::CONTENT_TYPE], Problem::MEDIA_TYPE, "{path}");
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_and_names_the_request() {
    let server = Server::furnished().await;
    let unknown = "/headroom/v1/partitions/nowhere/summary";
    for (path, status, code, text) in [
        (unknown, 404, "NOT_FOUND", "nowhere"),
        ("/headroom/v1/partitions/%FF/summary", 404, "NOT_FOUND", "does not exist"),
        ("/headroom/v1/partitions/default/reasons?queue=root.x", 404, "NOT_FOUND", "root.x"),
        ("/headroom/v1/partitions?limit=0", 400, "MALFORMED", "from 1 to 1000"),
        ("/headroom/v1/partitions?limit=-1", 400, "MALFORMED", "\"-1\""),
        ("/headroom/v1/partitions?page=2", 400, "MALFORMED", "Use one of: limit, cursor"),
        ("/headroom/v1/partitions?limit=1&limit=2", 400, "MALFORMED", "twice"),
        ("/headroom/v1/partitions?cursor=x", 400, "MALFORMED", "another list"),
        ("/headroom/v1/events?from=soon", 400, "MALFORMED", "soon"),
    ] {
        let (found, problem) = problem(&server, path).await;
        assert_eq!((found, &*problem.code, problem.status), (status, code, status), "{path}");
        assert!(problem.detail.contains(text), "{path}: {}", problem.detail);
        assert!(!problem.request_id.is_empty());
    }
    let first = problem(&server, unknown).await.1.request_id;
    assert_ne!(first, problem(&server, unknown).await.1.request_id);
}

#[tokio::test]
async fn whoever_does_not_say_who_he_is_is_asked() {
    let server = Server::furnished().await;
    for path in ["health", "partitions", "partitions/default/reasons", "events", "openapi.json"] {
        let answer = server.get_as("nobody", &format!("/headroom/v1/{path}")).await;
        assert_eq!(answer.status(), 401, "{path}");
        assert_eq!(answer.headers()[header::WWW_AUTHENTICATE], "Bearer");
    }
    for path in ["/livez", "/readyz"] {
        assert_eq!(server.get_as("nobody", path).await.status(), 200);
    }
}

#[tokio::test]
async fn an_entity_tag_changes_with_the_content_and_with_who_asks() {
    let server = Server::furnished().await;
    for path in ["partitions", "partitions/default/summary", "partitions/default/reasons"] {
        let url = server.url(&format!("/headroom/v1/{path}"));
        let ask = |tag: String| server.http.get(&url).header(header::IF_NONE_MATCH, tag).send();
        let first = server.http.get(&url).send().await.unwrap();
        assert!(first.headers()["server-timing"].to_str().unwrap().starts_with("total;dur="));
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        let again = ask(format!("\"other\", W/{tag}")).await.unwrap();
        assert_eq!(
            (again.status().as_u16(), again.headers()[header::ETAG].to_str().unwrap()),
            (304, &*tag)
        );
        assert!(again.bytes().await.unwrap().is_empty(), "{path}");

        let theirs = server.get_as("sue", &format!("/headroom/v1/{path}")).await;
        assert_ne!(theirs.headers()[header::ETAG].to_str().unwrap(), tag, "{path}");
        server.application(path, "ann", "root.a").await;
        server.ask(path, path, 1).await;
        assert_eq!(ask(tag).await.unwrap().status(), 200, "{path}");
    }
}

#[tokio::test]
async fn health_is_told_when_the_scheduler_has_ended_too() {
    let server = Server::furnished().await;
    let health = server.client().get_health().await.unwrap();
    assert_eq!((health.state, health.journal.state), (ServerState::Ready, JournalState::Ok));
    assert_eq!(health.stamp.sequence, server.service.engine.feed().newest());
    assert!(health.memory > 1 << 20 && health.leader);
    assert_eq!(server.text("/livez").await, "ok\n");
    assert_eq!(server.text("/readyz").await, "ready\n");

    server.stop_engine().await;
    let health = server.client().get_health().await.unwrap();
    assert_eq!((health.state, health.journal.state), (ServerState::Stopping, JournalState::Ok));
    assert_eq!(server.text("/livez").await, "ok\n");
    let ready = server.get("/readyz").await;
    assert_eq!(ready.status(), 503);
    assert!(ready.headers().contains_key(header::RETRY_AFTER));
    // Reads go on.
    assert_eq!(server.client().get_partition("default").await.unwrap().partition.nodes.active, 1);
    let (status, problem) = problem(&server, "/headroom/v1/partitions/default/reasons").await;
    assert_eq!((status, &*problem.code), (503, "READ_ONLY"));
}

#[tokio::test]
async fn the_document_is_that_of_all_routes() {
    let server = Server::empty().await;
    let served: Value = server.get("/headroom/v1/openapi.json").await.json().await.unwrap();
    assert_eq!(served, serde_json::to_value(openapi()).unwrap());
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"));
    server.end().await;
}
