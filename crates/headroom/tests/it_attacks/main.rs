//! Malicious requests against the server as a process: none can stop it, fill its journal, or block other clients.
//!
//! The bound on memory is that of `docs/server.md`: a request may grow the process by 64 times its body and 64 MiB.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod routes;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use support::Folder;
use support::server::Server;

const TENANTS: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
    tenants:
      enabled: true
";

/// How long the server has to notice what is done to its files.
const NOTICED_WITHIN: Duration = Duration::from_mins(1);
/// How long a server without requests can still write.
const IDLE_AFTER: Duration = Duration::from_secs(3);

/// A server with a folder of its own, one node, and the tenants `lab` and `other`.
fn tenants(name: &str) -> (Folder, Server) {
    let folder = Folder::new(name);
    folder.write("queues.yaml", TENANTS);
    let server = start(&folder);
    for tenant in ["lab", "other"] {
        let body = json!({"id": tenant, "quota": {"resources": {"vcore": 8}}, "oversized": "park"});
        let (status, answer) = server.post("/headroom/v1/tenants", &body);
        assert_eq!(status, 201, "{answer}");
    }
    (folder, server)
}

fn start(folder: &Folder) -> Server {
    let node = "1*{vcore: 16, memory: 64G}";
    let arguments = ["--queues", "queues.yaml", "--journal-path", "journal", "--demo-nodes", node];
    Server::start(folder, &[&arguments[..], &["--limits-requests", "64"]].concat())
}

impl Server {
    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        self.send("POST", path, &["Content-Type: application/json"], &body.to_string())
    }

    /// Sends a request; returns the status and the body of the answer.
    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Authorization")) {
            head.push_str("X-Headroom-Request: 1\r\n");
        }
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.unwrap_or_default(), body.to_owned())
    }

    fn is_ready(&self) -> bool {
        self.send("GET", "/readyz", &[], "").0 == 200
    }

    /// The most memory that the process has had since [`Self::forget_peak`], in bytes.
    fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// Makes the memory that the process has now its peak, and returns it.
    fn forget_peak(&self) -> u64 {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
        self.peak()
    }
}

fn names(count: usize, bytes: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:0>bytes$}")).collect()
}

fn code(answer: &str) -> String {
    let problem: Value = serde_json::from_str(answer).unwrap_or_default();
    let rule = problem["rule"].as_str().or(problem["code"].as_str());
    rule.unwrap_or(answer).to_owned()
}

#[test]
fn sizes_are_judged_before_anything_is_made_of_them() {
    let (_folder, server) = tenants("attack-sizes");
    let of = |blocked: &[String], members: u32| json!({"resources": {"vcore": 1}, "members": members, "blockedNodes": blocked, "user": "ann"});
    let mut explained = of(&names(1_000, 240), 1_000);
    explained["tenant"] = "lab".into();
    let many = names(400_000, 3);
    let mut application = of(&many, 1_000);
    application["queue"] = "root.tenants.lab".into();
    let attacks = [
        ("/headroom/v1/tenants/lab/quota/check", of(&many, 1_000)),
        ("/headroom/v1/tenants/lab/quota/check", of(&names(1_000, 240), 1_000)),
        ("/headroom/v1/tenants/lab/tasks", of(&many, 1_000)),
        ("/headroom/v1/tenants/lab/tasks", of(&names(1_000, 240), 1_000)),
        ("/headroom/v1/partitions/default/explain", application),
        ("/headroom/v1/partitions/default/explain", explained),
    ];
    for (path, body) in attacks {
        let bytes = body.to_string().len() as u64;
        let before = server.forget_peak();
        let (status, answer) = server.post(path, &body);
        let grown = server.peak().saturating_sub(before);
        let most = 64 * bytes + (64 << 20);
        println!("{path}: {bytes} bytes, {status}, grown by {} KiB", grown >> 10);
        assert!(
            grown <= most,
            "{path} with {bytes} bytes grew the process by {grown}, at most {most}"
        );
        // What would become of it may be answered by 200, with the refusal in it.
        let refused = status == 422 || answer.contains("COMMAND_TOO_LARGE");
        assert!(refused, "{path}: {status} {answer}");
    }
    assert!(server.is_ready());
}

#[test]
fn refusals_cost_little_and_the_largest_legal_task_stops_nothing() {
    let (folder, mut server) = tenants("attack-refusals");
    let quota =
        json!({"id": "strict", "quota": {"resources": {"vcore": 1}}, "oversized": "reject"});
    assert_eq!(server.post("/headroom/v1/tenants", &quota).0, 201);
    let journal = || {
        let files = fs::read_dir(folder.path("journal")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    let before = journal();
    for number in 0..200 {
        let id = format!("{number:0>240}");
        let body = json!({"id": id, "resources": {"vcore": 8}, "members": 1_000, "user": "ann"});
        let (status, answer) = server.post("/headroom/v1/tenants/strict/tasks", &body);
        assert_eq!((status, &*code(&answer)), (422, "EXCEEDS_QUOTA_ALWAYS"), "{answer}");
    }
    let grown = journal().saturating_sub(before);
    println!("200 refusals of 1,000 members: the journal grew by {} KiB", grown >> 10);
    assert!(grown < 8 << 20, "{grown} bytes");
    let long = json!({"id": "x".repeat(4_096), "resources": {"vcore": 1}, "user": "ann"});
    let (status, answer) = server.post("/headroom/v1/tenants/lab/tasks", &long);
    assert_eq!((status, &*code(&answer)), (422, "LONG_NAME"));
    // One task of 204 KB, which once made the server read-only, again after each restart.
    let blocked = names(1_000, 200);
    let mut legal =
        json!({"id": "large", "resources": {"vcore": 1}, "blockedNodes": blocked, "user": "ann"});
    let (status, answer) = server.post("/headroom/v1/tenants/lab/tasks", &legal);
    assert!(matches!(status, 201 | 202), "{answer}");
    legal["id"] = "too-large".into();
    legal["members"] = 1_000.into();
    let (status, answer) = server.post("/headroom/v1/tenants/lab/tasks", &legal);
    assert_eq!((status, &*code(&answer)), (422, "COMMAND_TOO_LARGE"), "{answer}");
    assert!(server.is_ready());
    server.signal("KILL");
    server.end();
    let again = start(&folder);
    let (status, answer) = again.send("GET", "/headroom/v1/tasks/large", &[], "");
    assert_eq!(status, 200, "{answer}");
    assert!(again.is_ready());
}

#[test]
fn the_asks_of_one_tenant_shut_nobody_out() {
    let (_folder, server) = tenants("attack-sums");
    let ask = |memory: i64, members: u32| json!({"resources": {"memory": memory}, "members": members, "user": "ann"});
    let (status, answer) = server.post("/headroom/v1/tenants/lab/tasks", &ask(i64::MAX, 1));
    assert_eq!((status, &*code(&answer)), (422, "TASK_AMOUNT"), "{answer}");
    for _ in 0..4 {
        let (status, answer) = server.post("/headroom/v1/tenants/lab/tasks", &ask(1 << 53, 1_000));
        assert_eq!(status, 202, "{answer}");
    }
    let small = json!({"resources": {"vcore": 1, "memory": 1_000_000}, "user": "bob"});
    let (status, answer) = server.post("/headroom/v1/tenants/other/tasks", &small);
    assert_eq!(status, 201, "{answer}");
}

#[test]
fn a_page_of_another_site_cannot_pass_by_a_word_in_authorization() {
    let (_folder, server) = tenants("attack-page");
    let body = json!({"id": "evil"}).to_string();
    let headers = [
        "Content-Type: application/json",
        "Authorization: Basic eDp5",
        "Origin: http://evil.example",
    ];
    let (status, answer) = server.send("POST", "/headroom/v1/tenants", &headers, &body);
    assert_eq!(status, 403, "{answer}");
    let headers = ["Content-Type: application/json", "Idempotency-Key: \u{e9}"];
    let body = json!({"resources": {"vcore": 1}, "user": "ann"}).to_string();
    let (status, answer) = server.send("POST", "/headroom/v1/tenants/lab/tasks", &headers, &body);
    assert_eq!(status, 400, "{answer}");
    let (status, answer) =
        server.send("GET", "/headroom/v1/events", &["Last-Event-ID: \u{e9}"], "");
    assert_eq!(status, 400, "{answer}");
}

#[test]
fn whoever_takes_the_files_away_stops_the_writer_and_nobody_writes_beside_it() {
    let (folder, server) = tenants("attack-files");
    // Long enough for the server to have nothing more to write.
    std::thread::sleep(IDLE_AFTER);
    fs::remove_file(folder.path("journal/lock")).unwrap();
    let begin = Instant::now();
    while server.is_ready() {
        assert!(begin.elapsed() < NOTICED_WITHIN, "it goes on without its lock");
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("noticed within {:?}", begin.elapsed());
    let (status, answer) = server.post("/headroom/v1/tenants", &json!({"id": "late"}));
    assert_eq!(status, 503, "{answer}");
    let (_, health) = server.send("GET", "/ws/v1/scheduler/healthcheck", &[], "");
    let health: Value = serde_json::from_str(&health).unwrap();
    assert_eq!(health["Healthy"], json!(false), "{health:#}");
    drop(server);
    // An audit without a journal is no new server.
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--journal-path", "journal"];
    for entry in fs::read_dir(folder.path("journal")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let third = folder.run(&arguments);
    assert_ne!(third.code, Some(0));
    assert!(third.stderr.contains("audit"), "{}", third.stderr);
}

/// In which time connections without progress end: 30 s, and as much again for a slow machine.
const STALL_ENDS_WITHIN: Duration = Duration::from_mins(1);

/// Clients of HTTP/2 that open windows of zero, and answer pings.
#[tokio::test]
async fn answers_that_nobody_takes_count_until_their_last_byte() {
    const CONNECTIONS: usize = 4;
    const STREAMS: usize = 90;
    let (_folder, server) = tenants("attack-windows");
    let before = server.forget_peak();
    let mut held = Vec::new();
    let mut answers = Vec::new();
    let (mut full, mut ok) = (0, 0);
    for _ in 0..CONNECTIONS {
        let stream = tokio::net::TcpStream::connect(&server.address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(0).max_concurrent_streams(1_000);
        let (mut requests, connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        held.push(tokio::spawn(connection));
        for _ in 0..STREAMS {
            requests = requests.ready().await.unwrap();
            let uri = format!("http://{}/headroom/v1/openapi.json", server.address);
            let request = axum::http::Request::get(uri).body(()).unwrap();
            let (answer, _) = requests.send_request(request, true).unwrap();
            let answer = tokio::time::timeout(Duration::from_secs(10), answer).await.unwrap();
            let answer = answer.unwrap();
            match answer.status().as_u16() {
                200 => ok += 1,
                429 => full += 1,
                other => panic!("status {other}"),
            }
            answers.push(answer.into_body());
        }
    }
    let grown = server.peak().saturating_sub(before);
    println!("{ok} answers untaken, {full} refused, grown by {} KiB", grown >> 10);
    assert!(full > 0, "as many answers are untaken as wanted");
    assert!(grown < 320 << 20, "{grown} bytes");
    // Another client gets this answer, and a probe is not refused.
    assert!(server.is_ready());
    // A connection whose answers make no progress for 30 s is closed, although it answers pings. Then others are
    // answered again.
    let begin = Instant::now();
    while server.send("GET", "/headroom/v1/openapi.json", &[], "").0 != 200 {
        assert!(begin.elapsed() < STALL_ENDS_WITHIN, "connections without progress go on");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    println!("others are answered again within {:?}", begin.elapsed());
    drop(answers);
    for one in held {
        one.abort();
    }
}
