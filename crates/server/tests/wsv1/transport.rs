//! Section 1 of the page: paths, methods, headers, compression. Checklist 6.

use headroom_api::routes::{self, Method};
use headroom_server::rest::{Cors, RestSettings};

use crate::support::{Options, Server};

#[tokio::test]
async fn every_operation_of_the_reference_has_a_handler() {
    let server = Server::start().await;
    let ours = |operation: &&&str| {
        let route = routes::all().find(|route| route.operation == **operation).unwrap();
        route.path.starts_with("/ws/") || route.path.starts_with("/debug/")
    };
    let lacking: Vec<&str> = server.lacking.iter().filter(ours).copied().collect();
    assert_eq!(lacking, ["getMetrics"], "metrics come from another module");
}

#[tokio::test]
async fn paths_and_methods_that_are_not_there_are_answered_in_plain_text() {
    let server = Server::start().await;
    for path in ["/ws/v1/nothing", "/ws/v1/loglevel", "/ws/v1", "/ws/v1/partition/a/b/c/d/e"] {
        let answer = server.get(path).await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    for (method, path, allow) in [
        ("POST", "/ws/v1/partitions", "GET, OPTIONS"),
        ("DELETE", "/ws/v1/partition/default/nodes", "GET, OPTIONS"),
        ("HEAD", "/ws/v1/partitions", "GET, OPTIONS"),
        ("GET", "/ws/v1/validate-conf", "OPTIONS, POST"),
        ("PUT", "/debug/stack", "GET, OPTIONS"),
    ] {
        let answer = server.raw().send(method, path).await;
        assert_eq!(answer.status, 405, "{method} {path}");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        if method != "HEAD" {
            assert_eq!(answer.text(), "Method Not Allowed\n");
        }
    }
    for (path, allow) in [
        ("/ws/v1/partitions", "GET, OPTIONS"),
        ("/ws/v1/validate-conf", "OPTIONS, POST"),
        ("/ws/v1/partition/x/queue/root", "GET, OPTIONS"),
    ] {
        let answer = server.raw().send("OPTIONS", path).await;
        assert_eq!((answer.status, answer.body.len()), (200, 0), "{path}");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[tokio::test]
async fn other_spellings_of_a_path_are_led_to_it() {
    let server = Server::start().await;
    for (method, path, status, to) in [
        ("GET", "/ws/v1/partitions/", 301, "/ws/v1/partitions"),
        ("GET", "/WS/V1/Partitions?a=b", 301, "/ws/v1/partitions?a=b"),
        ("GET", "//ws/v1/partitions", 301, "/ws/v1/partitions"),
        ("POST", "/ws/v1/validate-conf/", 308, "/ws/v1/validate-conf"),
        ("GET", "/debug/pprof", 301, "/debug/pprof/"),
    ] {
        let answer = server.raw().send(method, path).await;
        assert_eq!((answer.status, answer.header("location")), (status, Some(to)), "{path}");
    }
    for (path, to) in [
        ("/ws/v1/stack", "/debug/stack"),
        ("/ws/v1/fullstatedump?x=/ws/v1", "/debug/fullstatedump?x=/ws/v1"),
    ] {
        let answer = server.get(path).await;
        assert_eq!((answer.status, answer.header("location")), (301, Some(to)), "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(answer.text().contains(&format!("href=\"{to}\"")), "{}", answer.text());
    }
}

#[tokio::test]
async fn pages_of_other_origins_read_answers_as_decision_c_7_says() {
    for (cors, identities, expected) in [
        (Cors::Auto, false, None),
        (Cors::Auto, true, Some("*")),
        (Cors::Any, false, Some("*")),
        (Cors::Any, true, Some("*")),
    ] {
        let settings = RestSettings { cors, identities, ..RestSettings::default() };
        let server = Server::with(Options { settings, ..Options::default() }).await;
        for path in ["/ws/v1/partitions", "/ws/v1/partition/x/queues", "/debug/stack"] {
            let answer = server.get(path).await;
            assert_eq!(answer.header("access-control-allow-origin"), expected, "{path}");
            let methods = expected.map(|_| "GET, OPTIONS");
            assert_eq!(answer.header("access-control-allow-methods"), methods, "{path}");
            let headers = expected.map(|_| "X-Requested-With,Content-Type,Accept,Origin");
            assert_eq!(answer.header("access-control-allow-headers"), headers, "{path}");
        }
        let answer = server.raw().body("a: b").send("POST", "/ws/v1/validate-conf").await;
        let methods = expected.map(|_| "OPTIONS, POST");
        assert_eq!(answer.header("access-control-allow-methods"), methods);
        for path in ["/ws/v1/stack", "/debug/pprof/cmdline", "/ws/v1/none"] {
            let answer = server.get(path).await;
            assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        }
        let preflight = server.raw().header("Access-Control-Request-Method", "GET");
        let answer = preflight.send("OPTIONS", "/ws/v1/partitions").await;
        assert_eq!(answer.header("access-control-allow-origin"), expected, "preflight");
    }
}

/// A queue file whose queue has a property of so many letters.
fn padded(letters: usize) -> String {
    format!(
        "partitions: [{{name: default, queues: [{{name: root, queues: [{{name: a, properties: \
         {{pad: {}}}}}]}}]}}]",
        "x".repeat(letters)
    )
}

#[tokio::test]
async fn bodies_are_compressed_from_1400_bytes_on() {
    let path = "/ws/v1/partition/default/queue/root.a";
    let server = Server::with(Options { queues: Some(padded(1)), ..Options::default() }).await;
    let empty = server.get(path).await.body.len() - 1;
    for (size, is_compressed) in [(1_399, false), (1_400, true), (30_000, true)] {
        let queues = Some(padded(size - empty));
        let server = Server::with(Options { queues, ..Options::default() }).await;
        assert_eq!(server.get(path).await.body.len(), size);
        for (accepted, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.1", true),
            ("gzip;q=0", false),
            ("*", false),
            ("deflate", false),
        ] {
            let answer = server.raw().header("Accept-Encoding", accepted).send("GET", path).await;
            let expected = (takes && is_compressed).then_some("gzip");
            assert_eq!(answer.header("content-encoding"), expected, "{accepted}, {size}");
            let vary = expected.map(|_| "Accept-Encoding");
            assert_eq!(answer.header("vary"), vary, "{accepted}, {size}");
            let plain = match expected {
                Some(_) => unzipped(&answer.body),
                None => answer.body,
            };
            assert_eq!(plain.len(), size, "{accepted}");
        }
    }
}

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read as _;

    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

#[tokio::test]
async fn metrics_are_compressed_once() {
    let modules: Vec<headroom_server::mount::Handlers> = vec![headroom_server::metrics::handler];
    let server = Server::with(Options { modules, ..Options::default() }).await;
    server.furnish().await;
    let plain = server.get("/ws/v1/metrics").await;
    assert_eq!(plain.header("content-encoding"), None);
    let raw = server.raw().header("Accept-Encoding", "gzip");
    let answer = raw.send("GET", "/ws/v1/metrics").await;
    let encodings = answer.headers.iter().filter(|(name, _)| name == "content-encoding");
    assert_eq!(encodings.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["gzip"]);
    // Once unpacked it is text, and not packed again.
    let text = String::from_utf8(unzipped(&answer.body)).unwrap();
    let names = |text: &str| {
        let of_type = text.lines().filter(|line| line.starts_with("# TYPE "));
        of_type.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(names(&text).len() > 10, "{text}");
    assert_eq!(names(&text), names(&plain.text()));
}

#[tokio::test]
async fn the_table_says_what_each_route_answers() {
    let server = Server::start().await;
    server.furnish().await;
    server.rest.checks.run(&server.service).await;
    for route in routes::all() {
        let is_ours = route.path.starts_with("/ws/") || route.path.starts_with("/debug/");
        // A stream does not end, profiles take a while, and others bring metrics.
        let apart = ["streamEvents", "getCpuProfile", "profile", "getMetrics"];
        if !is_ours || apart.contains(&route.operation) {
            continue;
        }
        let path = route
            .path
            .replace("{partition}", "default")
            .replace("{queue}", "root.sales")
            .replace("{node}", "n1")
            .replace("{application}", "app-1")
            .replace("{state}", "active")
            .replace("{user}", "ann")
            .replace("{group}", "ops");
        let method = if route.method == Method::Post { "POST" } else { "GET" };
        let takes_json = route.request.is_some_and(|body| body.media == "application/json");
        let body = if takes_json { "{}" } else { "" };
        let answer = server.raw().body(body).send(method, &path).await;
        let statuses: Vec<u16> = route.answers().iter().map(|answer| answer.status).collect();
        assert!(statuses.contains(&answer.status), "{path}: {}", answer.status);
        let said = route.answers().into_iter().find(|one| one.status == answer.status).unwrap();
        let media = answer.header("content-type").unwrap();
        let named = said.bodies.iter().any(|body| media.starts_with(body.media));
        assert!(named, "{path}: {media} is none of {:?}", said.bodies);
        let good = matches!(answer.status, 200 | 301 | 501);
        assert!(good, "{path}: {} {}", answer.status, answer.text());
    }
}
