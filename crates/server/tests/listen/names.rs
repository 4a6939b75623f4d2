//! Names of the server, and pages of other sites.

use headroom_api::wsv1::ErrorBody;
use headroom_server::auth::{Secret, TokenEntry, TokenFile};
use jiff::Timestamp;
use reqwest::StatusCode;

use crate::support::{Folder, Server, client, client_2, start};

async fn named(server: &Server, host: &str) -> StatusCode {
    let request = client().get(server.url("/ws/v1/partitions")).header("host", host);
    request.send().await.unwrap().status()
}

#[tokio::test]
async fn an_open_server_goes_by_its_own_names_only() {
    let server = start("hosts: [headroom.example]").await;
    for (host, expected) in [
        ("localhost:9080", 200),
        ("127.0.0.1", 200),
        ("[::1]:1", 200),
        ("headroom.example", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
    ] {
        assert_eq!(named(&server, host).await, expected, "{host}");
    }
    let request = client().get(server.url("/ws/v1/partitions")).header("host", "evil.example");
    let body: ErrorBody = request.send().await.unwrap().json().await.unwrap();
    assert!(body.message.contains("\"evil.example\" is not a name of this server"), "{body:?}");
    // In HTTP/2 the name stands elsewhere.
    let elsewhere = format!("http://evil.example:{}/livez", server.address.port());
    let builder = reqwest::Client::builder().http2_prior_knowledge().no_proxy();
    let client = builder.resolve("evil.example", server.address).build().unwrap();
    assert_eq!(client.get(elsewhere).send().await.unwrap().status(), 421);
    assert_eq!(client_2().get(server.url("/livez")).send().await.unwrap().status(), 200);
}

fn token(folder: &Folder) -> (String, String) {
    let secret = Secret::random().unwrap();
    let entry = TokenEntry {
        name: "ci".to_owned(),
        sha256: secret.sha256(),
        user: String::new(),
        groups: Vec::new(),
        roles: vec![headroom_api::headroomv1::Role::Admin],
        created: Timestamp::now(),
        expires: None,
    };
    TokenFile::update(&folder.path("tokens"), |file| file.add(entry)).unwrap();
    let file = format!("auth: {{tokens: {}}}", folder.path("tokens").display());
    (file, secret.reveal().to_owned())
}

#[tokio::test]
async fn with_identities_any_name_will_do_and_pages_may_read() {
    let folder = Folder::new();
    let (file, token) = token(&folder);
    let server = start(&file).await;
    let request = client().get(server.url("/ws/v1/partitions")).header("host", "evil.example");
    let response = request.bearer_auth(token).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
}

#[tokio::test]
async fn only_what_the_reference_shows_is_shown_and_not_by_an_open_server() {
    let open = start("").await;
    let any = start("cors: any").await;
    for (server, path, expected) in [
        (&open, "/ws/v1/partitions", false),
        (&any, "/ws/v1/partitions", true),
        (&any, "/ws/v1/metrics", false),
        (&any, "/headroom/v1/partitions", false),
        (&any, "/livez", false),
    ] {
        let response = server.get(path).await;
        let headers = response.headers();
        assert_eq!(headers.contains_key("access-control-allow-origin"), expected, "{path}");
        let methods = headers.get("access-control-allow-methods");
        assert_eq!(methods.is_some_and(|value| value == "GET, OPTIONS"), expected, "{path}");
    }
    let request = client().post(any.url("/ws/v1/validate-conf")).body("a");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["access-control-allow-methods"], "OPTIONS, POST");
}

#[tokio::test]
async fn a_page_of_another_site_changes_nothing() {
    let folder = Folder::new();
    let (file, token) = token(&folder);
    let open = start("").await;
    let closed = start(&file).await;
    let own = format!("http://{}", open.address);
    for (headers, expected) in [
        (&[][..], 403),
        (&[("x-headroom-request", "0")], 403),
        (&[("x-headroom-request", "1")], 200),
        (&[("x-headroom-request", "1"), ("origin", &own)], 200),
        (&[("x-headroom-request", "1"), ("origin", "http://evil.example")], 403),
        (&[("x-headroom-request", "1"), ("origin", "null")], 403),
        (&[("origin", &own)], 403),
    ] {
        let request = client().put(open.url("/headroom/v1/log-level")).body("a");
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        assert_eq!(request.send().await.unwrap().status(), expected, "{headers:?}");
    }
    let request = client().put(closed.url("/headroom/v1/log-level")).body("a").bearer_auth(token);
    assert_eq!(request.header("origin", "http://evil.example").send().await.unwrap().status(), 200);
    // Judging a queue file changes nothing, and known clients send no such header.
    let judged = client().post(open.url("/ws/v1/validate-conf")).body("a").send().await.unwrap();
    assert_eq!(judged.status(), 200);
}
