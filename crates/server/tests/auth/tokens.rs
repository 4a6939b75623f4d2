//! Static tokens.

use std::time::Duration;

use headroom_api::headroomv1::{Problem, Role};
use headroom_api::wsv1::ErrorBody;
use headroom_server::auth::{Secret, TokenEntry, TokenFile};
use jiff::Timestamp;

use crate::support::{Folder, client, process, start};

fn add(folder: &Folder, name: &str, roles: &[Role]) -> String {
    let secret = Secret::random().unwrap();
    let entry = TokenEntry {
        name: name.to_owned(),
        sha256: secret.sha256(),
        user: "ann".to_owned(),
        groups: Vec::new(),
        roles: roles.to_vec(),
        created: Timestamp::now(),
        expires: None,
    };
    TokenFile::update(&folder.path("tokens"), |file| file.add(entry)).unwrap();
    secret.reveal().to_owned()
}

#[tokio::test]
async fn a_refusal_says_what_is_missing_in_the_words_of_the_route() {
    let folder = Folder::new();
    let token = add(&folder, "ci", &[Role::Submitter]);
    let file = format!("auth: {{tokens: {}}}", folder.path("tokens").display());
    let server = start(&file).await;
    let client = client();

    let response =
        client.get(server.url("/ws/v1/clusters")).bearer_auth(&token).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json; charset=UTF-8");
    let body: ErrorBody = response.json().await.unwrap();
    let expected = "the request needs one of admin, operator, viewer, but token:ci has submitter";
    assert_eq!((body.status_code, &*body.message), (403, expected));

    let response =
        client.get(server.url("/headroom/v1/health")).bearer_auth(&token).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], Problem::MEDIA_TYPE);
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let problem: Problem = response.json().await.unwrap();
    assert_eq!((&*problem.code, &*problem.detail), ("FORBIDDEN", expected));
    assert_eq!(problem.request_id, id);

    let response =
        client.get(server.url("/ws/v1/partitions")).bearer_auth(&token).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "token:ci sent 0");
}

#[tokio::test]
async fn what_cannot_be_trusted_is_never_nothing() {
    let folder = Folder::new();
    let token = add(&folder, "ci", &[Role::Admin]);
    let file = format!("auth: {{tokens: {}}}", folder.path("tokens").display());
    let server = start(&file).await;
    let other = Secret::random().unwrap();
    for (header, expected) in [
        (format!("Bearer {token}"), 200),
        (format!("bearer  {token} "), 200),
        (format!("Bearer {}", other.reveal()), 401),
        (format!("Bearer {}", token.to_uppercase()), 401),
        (format!("Basic {token}"), 401),
        ("Bearer".to_owned(), 401),
        (String::new(), 401),
    ] {
        let request =
            client().get(server.url("/ws/v1/partitions")).header("authorization", &header);
        assert_eq!(request.send().await.unwrap().status(), expected, "{header:?}");
    }
    let twice = client().get(server.url("/ws/v1/partitions")).bearer_auth(&token);
    let twice = twice.header("authorization", format!("Bearer {token}"));
    assert_eq!(twice.send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn a_revoked_token_is_worth_nothing_after_the_file_is_read_again() {
    let folder = Folder::new();
    let token = add(&folder, "ci", &[Role::Admin]);
    let file = format!("auth: {{tokens: {}}}", folder.path("tokens").display());
    let server = start(&file).await;
    let ask = async || {
        let request = client().get(server.url("/ws/v1/clusters")).bearer_auth(&token);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask().await, 200);
    TokenFile::update(&folder.path("tokens"), |file| file.remove("ci")).unwrap();
    server.gate.authenticator().unwrap().tokens().unwrap().reload().unwrap();
    assert_eq!(ask().await, 401);
    tokio::time::sleep(Duration::ZERO).await;
}

#[tokio::test]
async fn a_server_does_not_start_without_its_tokens() {
    let folder = Folder::new();
    let file = format!("auth: {{tokens: {}}}", folder.path("none").display());
    let refused = crate::support::begin(&process(&file)).err().unwrap();
    assert!(refused.contains("cannot read the token file"), "{refused}");
}
