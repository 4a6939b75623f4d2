//! The server as a process: it starts, answers, ends, and comes back.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod load;
mod plans;
mod readme;
mod scene;
#[path = "../support/mod.rs"]
mod support;
mod tenants;
mod tutorial;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use support::Folder;
use support::server::Server;

fn has_snapshot(folder: &Folder) -> bool {
    let names = std::fs::read_dir(folder.path("headroom-data")).unwrap();
    names
        .map(|entry| entry.unwrap().file_name())
        .any(|name| name.to_str().unwrap().starts_with("snapshot-"))
}

/// Nodes that are made up come a moment after the server.
fn wait_for_a_node(server: &Server, folder: &Folder) {
    let until = Instant::now() + Duration::from_secs(20);
    while !server.get("/ws/v1/partition/default/nodes").contains("\"nodeID\"") {
        assert!(Instant::now() < until, "no node: {}", folder.read("log"));
        std::thread::sleep(Duration::from_millis(20));
    }
}

const QUEUES: &str =
    "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n    - name: NAME\n";

#[test]
fn it_starts_on_an_empty_folder_and_ends_with_a_snapshot() {
    let folder = Folder::new("serve-empty");
    let mut server = Server::start(&folder, &[]);
    assert!(
        server.line.ends_with("(no authentication: everyone on this machine has the role admin)\n"),
        "{}",
        server.line
    );
    assert!(server.get("/livez").starts_with("HTTP/1.1 200 "));
    assert!(!has_snapshot(&folder));
    // A connection that stays open does not hold it up.
    let _idle = TcpStream::connect(&server.address).unwrap();
    server.signal("TERM");
    let (status, took) = server.end();
    assert_eq!(status.code(), Some(0), "{}", folder.read("log"));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(has_snapshot(&folder));
    let log = folder.read("log");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["level"].is_string() && line["timestamp"].is_string(), "{line}");
    }
}

#[test]
fn a_refusal_is_a_problem_that_names_the_request_as_the_log_does() {
    let folder = Folder::new("serve-refusal");
    let server = Server::start(&folder, &[]);
    for (path, status) in [("/headroom/v1/nothing", 404), ("/headroom/v1/partitions?limit=0", 400)]
    {
        let answer = server.get(path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert!(head.contains("content-type: application/problem+json"), "{head}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let id = head.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap();
        assert_eq!(body["requestId"], id, "{path}");
    }
    // Paths that clients of the reference ask for are refused as it does.
    let answer = server.get("/ws/v1/nothing");
    assert!(answer.contains("content-type: text/plain"), "{answer}");
}

#[test]
fn a_second_process_is_refused_and_told_who_is_there() {
    let folder = Folder::new("serve-second");
    let first = Server::start(&folder, &[]);
    let second = folder.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code, Some(1));
    let holder = format!("in use by process {}", first.child.id());
    assert!(second.stderr.contains(&holder), "{}", second.stderr);
    let taken = folder.run(&["serve", "--listen", &first.address, "--journal-path", "other"]);
    assert_eq!(taken.code, Some(1));
    assert!(
        taken.stderr.contains(&format!("cannot listen on {}", first.address)),
        "{}",
        taken.stderr
    );
}

#[test]
fn an_unsafe_or_misspelled_start_is_refused() {
    let folder = Folder::new("serve-refused");
    folder.write("headroom.yaml", "jornal: {path: a}\n");
    folder.write("bad.yaml", "partitions:\n- name: default\n");
    for (arguments, expected) in [
        (&["--listen", "0.0.0.0:0"][..], "--insecure"),
        (&["--config", "headroom.yaml"], "did you mean `journal`?"),
        (&["--config", "none.yaml"], "cannot read none.yaml"),
        (&["--listen", "nowhere"], "`nowhere` is not an address with a port"),
        (&["--auth-tokens", "none"], "cannot read the token file none"),
        (&["--tls-cert", "none", "--tls-key", "none"], "cannot read none"),
        (
            &["--listen", "127.0.0.1:0", "--queues", "bad.yaml"],
            "the queue file bad.yaml was not applied",
        ),
        (&["--listn", "127.0.0.1:0"], "--listen"),
    ] {
        let ran = folder.run(&[&["serve"], arguments].concat());
        assert!(matches!(ran.code, Some(1 | 2)), "{arguments:?}: {:?}", ran.code);
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
    let misspelled = folder.command(&["serve"]).env("HEADROOM_LISTNE", "a").output().unwrap();
    assert_eq!(misspelled.status.code(), Some(1));
}

#[test]
fn it_comes_back_with_what_was_there_after_being_killed() {
    let folder = Folder::new("serve-killed");
    folder.write("queues.yaml", QUEUES.replace("NAME", "first"));
    let server = Server::start(&folder, &["--queues", "queues.yaml"]);
    folder.write("queues.yaml", QUEUES.replace("NAME", "second"));
    let until = Instant::now() + Duration::from_secs(10);
    while folder.read("log").matches("the queue file is active").count() < 2 {
        assert!(Instant::now() < until, "the change is not seen: {}", folder.read("log"));
        std::thread::sleep(Duration::from_millis(50));
    }
    // As by kill -9.
    drop(server);
    let dumped = folder.succeed(&["journal", "dump"]).stdout;
    let records: Vec<serde_json::Value> =
        dumped.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 2, "{dumped}");
    assert!(
        records.iter().all(|record| record["origin"]["identity"] == "file:queues.yaml"),
        "{dumped}"
    );
    let mut again = Server::start(&folder, &[]);
    assert!(folder.read("log").contains("\"sequence\":2,\"replayed\":2"), "{}", folder.read("log"));
    again.signal("INT");
    assert_eq!(again.end().0.code(), Some(0));
}

#[test]
#[doc(alias = "C30")]
fn a_bad_queue_file_is_reported_and_the_running_one_kept() {
    let folder = Folder::new("serve-reload");
    folder.write("queues.yaml", QUEUES.replace("NAME", "first"));
    let mut server = Server::start(&folder, &["--queues", "queues.yaml"]);
    let seen = |text: &str, count: usize| {
        let until = Instant::now() + Duration::from_secs(10);
        while folder.read("log").matches(text).count() < count {
            assert!(Instant::now() < until, "{text} is not seen: {}", folder.read("log"));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    folder.write(
        "new",
        "partitions: [{name: default, queues: [{name: root, queues: [{name: '!'}]}]}]",
    );
    std::fs::rename(folder.path("new"), folder.path("queues.yaml")).unwrap();
    seen("The active queue file stays in use", 1);
    assert!(folder.read("log").contains("Q-NAME"), "{}", folder.read("log"));
    assert!(server.get("/livez").starts_with("HTTP/1.1 200 "));
    server.signal("HUP");
    seen("The active queue file stays in use", 2);
    folder.write("queues.yaml", QUEUES.replace("NAME", "third"));
    seen("the queue file is active", 2);
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn user_limits_are_shown_by_a_command_with_what_to_write_where_there_are_none() {
    let folder = Folder::new("serve-user-limits");
    let shared =
        "a\n      resources: {guaranteed: {vcore: 4}}\n      userlimits: {}\n    - name: b";
    folder.write("queues.yaml", QUEUES.replace("NAME", shared));
    let server = Server::start(&folder, &["--queues", "queues.yaml"]);
    let url = format!("http://{}", server.address);
    let ask = |arguments: &[&str]| {
        let limits = [&["users", "--limits", "--server", &url], arguments].concat();
        folder.succeed(&limits).stdout
    };
    let all = "root.a: 0 users, 0 active; used nothing; guaranteed vcore 4; minimum share 100 %; \
               user cap 1 times the guarantee\n";
    assert_eq!(ask(&[]), all);
    assert_eq!(ask(&["--queue", "root.a", "ann"]), all);
    let off = ask(&["--queue", "root.b"]);
    assert!(off.starts_with("no `userlimits` apply to root.b") && off.lines().count() == 1);
    let json: serde_json::Value = serde_json::from_str(&ask(&["-o", "json"])).unwrap();
    assert_eq!(json[0]["inputs"]["Q"]["vcore"], 4_000, "{json}");
    assert_eq!(ask(&["-o", "csv"]).lines().count(), 1);
    let nowhere = folder.run(&["users", "--limits", "--queue", "root.c", "--server", &url]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.stderr.contains("Queue not found"), "{}", nowhere.stderr);
    assert_eq!(folder.run(&["users", "--queue", "root.a"]).code, Some(2), "of limits alone");
}

#[test]
fn the_levels_of_the_log_are_changed_while_it_runs_and_that_is_audited() {
    let folder = Folder::new("serve-levels");
    let server = Server::start(&folder, &["--log-level", "off"]);
    let put = |body: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(
            stream,
            "PUT /headroom/v1/log-level HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             X-Headroom-Request: 1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    assert!(put("{\"level\":\"off\"}").starts_with("HTTP/1.1 200 "));
    assert!(put("{\"level\":\"loud\"}").starts_with("HTTP/1.1 400 "));
    assert!(!folder.read("log").contains("\"message\":\"request\""), "{}", folder.read("log"));
    assert!(
        put("{\"level\":\"warn\",\"targets\":{\"headroom_server\":\"debug\"}}")
            .starts_with("HTTP/1.1 200 ")
    );
    assert!(server.get("/headroom/v1/log-level").contains("\"headroom_server\":\"debug\""));
    let log = folder.read("log");
    assert!(log.contains("\"message\":\"request\""), "{log}");
    let audited: Vec<_> =
        log.lines().filter(|line| line.contains("\"target\":\"audit\"")).collect();
    assert_eq!(audited.len(), 3, "{log}");
    assert!(
        audited[0].contains("\"identity\":\"open\"") && audited[0].contains("\"status\":200"),
        "{log}"
    );
}

#[test]
fn a_token_is_made_used_and_revoked() {
    let folder = Folder::new("serve-token");
    let made = folder
        .succeed(&["token", "create", "ci", "--role", "viewer", "--role", "rm", "--user", "ann"]);
    let token = made.stdout.trim().to_owned();
    assert!(token.starts_with("headroom_") && token.len() == 73, "{token}");
    let listed = folder.succeed(&["token", "list"]).stdout;
    assert!(
        listed.contains("ci") && listed.contains("viewer, rm") && !listed.contains(&token),
        "{listed}"
    );
    let server = Server::start(&folder, &["--auth-tokens", "headroom-tokens"]);
    assert!(server.line.ends_with("(authentication required)\n"), "{}", server.line);
    let ask = |token: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let head =
            "GET /headroom/v1/log-level HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        write!(stream, "{head}Authorization: Bearer {token}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!((ask(&token), ask("headroom_0")), ("200".to_owned(), "401".to_owned()));
    folder.succeed(&["token", "revoke", "ci"]);
    let until = Instant::now() + Duration::from_secs(10);
    while ask(&token) != "401" {
        assert!(Instant::now() < until, "it is still worth something");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!folder.read("log").contains(&token));
    assert_eq!(folder.run(&["token", "revoke", "ci"]).code, Some(1));
    assert_eq!(folder.run(&["token", "create", "a b", "--role", "rm"]).code, Some(1));
    assert_eq!(folder.run(&["token", "create", "a", "--role", "king"]).code, Some(2));
}

#[test]
fn help_shows_every_key_and_an_example() {
    let folder = Folder::new("serve-help");
    let help = folder.succeed(&["serve", "--help"]).stdout;
    for key in headroom_config::process::KEYS {
        assert!(help.contains(&format!("--{}", key.flag())), "{}", key.name);
    }
    assert!(help.contains("Examples:"), "{help}");
}
