//! What one client, and all together, may take.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, put};
use headroom_api::headroomv1::Problem;
use headroom_api::wsv1::ErrorBody;
use tokio::sync::{Notify, Semaphore};

use headroom_api::headroomv1::Role;
use headroom_core::{Command, Name, SetTenant};
use headroom_engine::users::Users;
use headroom_engine::{HandClock, Origin};
use headroom_server::QueueFile;
use headroom_server::auth::{Secret, TokenEntry, TokenFile};
use reqwest::Response;

use crate::support::{Folder, Server, client, client_2, start, start_with};

#[tokio::test(flavor = "multi_thread")]
async fn a_large_body_is_refused_told_ahead_or_not() {
    let server = start("limits: {requestBody: 1KiB}").await;
    let url = server.url("/ws/v1/validate-conf");
    for (bytes, expected) in [(1_024, 200), (1_025, 413), (4 << 20, 413)] {
        let sent = client().post(&url).body(vec![b'a'; bytes]).send().await;
        // The rest of a body that nobody reads may be cut off before the answer is seen.
        let Ok(response) = sent else { continue };
        assert_eq!(response.status(), expected, "{bytes} bytes");
    }
    let address = server.address;
    for (chunks, expected) in [(4, "HTTP/1.1 200 "), (5, "HTTP/1.1 413 ")] {
        let head = "POST /ws/v1/validate-conf HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        let chunk = format!("100\r\n{}\r\n", "a".repeat(256)).repeat(chunks);
        let sent = format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n");
        let (text, _) =
            tokio::task::spawn_blocking(move || talk(address, sent.as_bytes())).await.unwrap();
        assert!(text.starts_with(expected), "{text}");
        let body = text.lines().last().unwrap();
        let told = serde_json::from_str::<ErrorBody>(body).map(|body| body.message);
        let is_told = told.is_ok_and(|message| message.contains("at most 1024 bytes are allowed"));
        assert_eq!(is_told, chunks == 5, "{text}");
    }
}

/// What comes back when this is sent, and when the server has had enough.
fn talk(address: std::net::SocketAddr, sent: &[u8]) -> (String, Duration) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(sent).unwrap();
    let (begin, mut text) = (Instant::now(), Vec::new());
    let _ = stream.read_to_end(&mut text);
    (String::from_utf8_lossy(&text).into_owned(), begin.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_not_waited_for() {
    let server = start("limits: {headerTime: 300ms, idleTime: 300ms, requestTime: 300ms}").await;
    let address = server.address;
    for (sent, expected) in [
        ("", ""),
        ("G", ""),
        ("PRI * HT", ""),
        ("GET /livez HTTP/1.1\r\nHost: localhost\r\nA: ", ""),
        (
            "POST /ws/v1/validate-conf HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab",
            "HTTP/1.1 408 ",
        ),
        ("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 "),
    ] {
        let (text, took) =
            tokio::task::spawn_blocking(move || talk(address, sent.as_bytes())).await.unwrap();
        assert!(
            text.starts_with(expected) && text.is_empty() == expected.is_empty(),
            "{sent:?}: {text}"
        );
        assert!(took < Duration::from_secs(3), "{sent:?}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_kept_longer_than_a_head_can_take() {
    let server = start("limits: {headerTime: 200ms, idleTime: 1500ms}").await;
    let address = server.address;
    let request = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (text, took) =
        tokio::task::spawn_blocking(move || talk(address, request.as_bytes())).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert!(took > Duration::from_secs(1), "closed after {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_head_is_refused() {
    let server = start("limits: {headerSize: 8KiB}").await;
    let address = server.address;
    let head =
        format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nA: {}\r\n\r\n", "a".repeat(9_000));
    let (text, _) =
        tokio::task::spawn_blocking(move || talk(address, head.as_bytes())).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 431 "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_has_so_many_connections_and_no_more() {
    let server = start("limits: {connectionsPerAddress: 2}").await;
    let address = server.address;
    let hold = || TcpStream::connect(address).unwrap();
    let held = (hold(), hold());
    let until = Instant::now() + Duration::from_secs(5);
    while server.serving.connections() < 2 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(client().get(server.url("/livez")).send().await.is_err(), "a third is taken");
    // Another address is another matter.
    let local = "127.0.0.9".parse().unwrap();
    let other = reqwest::Client::builder().local_address(Some(local)).no_proxy().build().unwrap();
    assert_eq!(other.get(server.url("/livez")).send().await.unwrap().status(), 200);
    drop(held);
    loop {
        assert!(Instant::now() < until, "the places are not given back");
        if client().get(server.url("/livez")).send().await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn beyond_so_many_requests_the_next_is_told_to_wait() {
    let gate = Arc::new(Semaphore::new(0));
    let arrived = Arc::new(Notify::new());
    let (held, told) = (Arc::clone(&gate), Arc::clone(&arrived));
    let wait = get(move || {
        let (held, told) = (Arc::clone(&held), Arc::clone(&told));
        async move {
            told.notify_one();
            held.acquire().await.map(|_| "done").unwrap()
        }
    });
    let rest = Router::new().route("/ws/v1/clusters", wait).route("/livez", get(|| async { "ok" }));
    let server = start_with("limits: {requests: 1}", rest);
    let url = server.url("/ws/v1/clusters");
    let first = tokio::spawn(async move { client().get(url).send().await.unwrap().status() });
    arrived.notified().await;
    let refused = server.get("/ws/v1/clusters").await;
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"1".parse().unwrap())
    );
    assert_eq!(server.get("/livez").await.status(), 200, "whether it is there can always be asked");
    gate.add_permits(10);
    assert_eq!(first.await.unwrap(), 200);
    assert_eq!(server.get("/ws/v1/clusters").await.status(), 200);
}

#[tokio::test]
async fn an_answer_that_takes_too_long_and_a_panic_are_refusals() {
    let never = get(|| async { std::future::pending::<&str>().await });
    let panics = get(|| async { panic!("a bug") as &str });
    let rest = Router::new()
        .route("/ws/v1/clusters", never.clone())
        .route("/headroom/v1/health", panics)
        .route(
            "/debug/profile",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(600)).await;
                "profile"
            }),
        );
    let server = start_with("limits: {requestTime: 200ms}", rest);
    let response = server.get("/ws/v1/clusters").await;
    assert_eq!(
        (response.status().as_u16(), response.headers().contains_key("retry-after")),
        (429, true)
    );
    let response = server.get("/headroom/v1/health").await;
    assert_eq!(response.status(), 500);
    assert_eq!(response.json::<Problem>().await.unwrap().code, "INTERNAL");
    assert_eq!(server.get("/debug/profile").await.text().await.unwrap(), "profile");
}

#[tokio::test]
async fn when_the_engine_has_stopped_reads_go_on_and_changes_do_not() {
    let rest = Router::new()
        .route("/headroom/v1/log-level", put(|| async { "set" }).get(|| async { "read" }));
    let server = start_with("", rest);
    let change =
        || client().put(server.url("/headroom/v1/log-level")).header("x-headroom-request", "1");
    assert_eq!(change().send().await.unwrap().status(), 200);
    let handle = server.engine.handle();
    handle.stop().await;
    while handle.stopped().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let response = change().send().await.unwrap();
    assert_eq!(response.headers()["retry-after"], "10");
    let problem: Problem = response.json().await.unwrap();
    assert_eq!((problem.status, &*problem.code), (503, "READ_ONLY"));
    assert_eq!(server.get("/headroom/v1/log-level").await.text().await.unwrap(), "read");
}

/// A log that a test reads.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reflection reads: it is in no audit, and goes on when the engine has stopped.
#[tokio::test]
async fn reflection_and_health_are_no_changes() {
    let written = Written::default();
    let log = written.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let server = start("").await;
    let ask = async |path: &str| {
        let request = client_2().post(server.url(path)).header("content-type", "application/grpc");
        let response = request.body(vec![0; 5]).send().await.unwrap();
        response.headers().get("grpc-status").map(|status| status.to_str().unwrap().to_owned())
    };
    let reads = [
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        "/grpc.health.v1.Health/Check",
    ];
    let change = "/si.v1.Scheduler/UpdateNode";
    for path in reads.into_iter().chain([change]) {
        assert_eq!(ask(path).await, None, "{path}");
    }
    let handle = server.engine.handle();
    handle.stop().await;
    while handle.stopped().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for path in reads {
        assert_eq!(ask(path).await, None, "{path}");
    }
    assert_eq!(ask(change).await.as_deref(), Some("14"), "UNAVAILABLE");
    drop(guard);
    let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let audited: Vec<&str> = log.lines().filter(|line| line.contains("audit: change")).collect();
    assert_eq!(audited.len(), 2, "{log}");
    assert!(audited.iter().all(|line| line.contains(change)), "{log}");
}

/// A token of a user with a role.
fn token(folder: &Folder, user: &str, role: Role) -> String {
    let secret = Secret::random().unwrap();
    let entry = TokenEntry {
        name: user.to_owned(),
        sha256: secret.sha256(),
        user: user.to_owned(),
        groups: Vec::new(),
        roles: vec![role],
        created: jiff::Timestamp::now(),
        expires: None,
    };
    TokenFile::update(&folder.path("tokens"), |file| file.add(entry)).unwrap();
    secret.reveal().to_owned()
}

/// Have the engine of a server know these tenants, each below the one before if there is one.
async fn know(server: &Server, tenants: &[(&str, Option<&str>)]) {
    let handle = server.engine.handle();
    let clock = Arc::new(HandClock::default());
    let queues = QueueFile::resume(handle.clone(), clock, Arc::new(Users::default()), None).await;
    let text = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*'}]
    tenants: {enabled: true}
";
    queues.apply(Origin::default(), text).await.unwrap();
    for (tenant, parent) in tenants {
        let settings = headroom_core::config::TenantSettings {
            parent: parent.map(Name::new),
            ..headroom_core::config::TenantSettings::default()
        };
        let (partition, tenant) = (Name::new("default"), Name::new(tenant));
        let set = SetTenant { partition, tenant, settings, ..SetTenant::default() };
        handle.submit(Command::SetTenant(Box::new(set))).await.unwrap().unwrap();
    }
}

#[tokio::test]
#[doc(alias = "TR-63")]
async fn requests_of_a_tenant_are_taken_at_its_rate_and_cost_no_other() {
    let folder = Folder::new();
    let tokens = [
        ("ann", Role::TenantViewer),
        ("bob", Role::TenantViewer),
        ("cid", Role::TenantAdmin),
        ("root", Role::Admin),
        ("vic", Role::Viewer),
    ];
    let tokens = tokens.map(|(user, role)| (user, token(&folder, user, role)));
    let file = format!(
        "auth: {{tokens: {}, tenants: {{'user:ann': [a], 'user:bob': [b], 'user:cid': [dept]}}}}
limits: {{tenantRate: 1/h, tenantBurst: 3}}",
        folder.path("tokens").display()
    );
    let server = start(&file).await;
    know(&server, &[("dept", None), ("a", Some("dept")), ("b", None)]).await;
    let ask = async |user: &str, post: bool, path: &str| -> Response {
        let token = &tokens.iter().find(|(name, _)| *name == user).unwrap().1;
        let url = server.url(path);
        let request = if post { client().post(url) } else { client().get(url) };
        request.bearer_auth(token).send().await.unwrap()
    };
    let usage = "/headroom/v1/tenants/a/usage";
    for _ in 0..3 {
        assert_eq!(ask("ann", false, usage).await.status(), 200);
    }
    let refused = ask("ann", false, usage).await;
    let after: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((3_500..=3_600).contains(&after), "{after}");
    let problem: Problem = refused.json().await.unwrap();
    assert_eq!((problem.status, &*problem.code), (429, "RATE_LIMITED"));
    let both = "tenant a can send 1 requests in 3600 s, and 3 at once";
    assert!(problem.detail.starts_with(both), "{}", problem.detail);
    assert!(problem.detail.contains("has used all of them"), "{}", problem.detail);
    // It is the same for all that she asks, of whomever, and however it is spelled.
    for path in
        ["/ws/v1/partitions", "/headroom/v1/tenants/b/usage", "/headroom/v1/tenants/%62/quota"]
    {
        assert_eq!(ask("ann", false, path).await.status(), 429, "{path}");
    }
    // The other user therefore has a full bucket, and so has the user of the parent tenant.
    for (user, path) in [("bob", "/headroom/v1/tenants/b/usage"), ("cid", usage)] {
        for number in 0..4 {
            let expected = if number < 3 { 200 } else { 429 };
            assert_eq!(ask(user, false, path).await.status(), expected, "{user}");
        }
    }
    // An administrator of the cluster can always act. A submission for a tenant is charged to that tenant.
    for (user, post, path, expected) in [
        ("root", false, usage, 200),
        ("root", true, "/headroom/v1/tasks/t1/cancel", 200),
        ("vic", false, usage, 200),
        ("root", true, "/headroom/v1/tenants/a/tasks", 429),
        ("root", true, "/headroom/v1/tenants/b/quota/check", 429),
        ("root", true, "/headroom/v1/tenants/nowhere/tasks", 200),
    ] {
        for _ in 0..5 {
            assert_eq!(ask(user, post, path).await.status(), expected, "{user} {path}");
        }
    }
}
