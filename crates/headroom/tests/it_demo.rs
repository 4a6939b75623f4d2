//! `headroom serve --demo`: within a minute there is something of everything to see, and it comes
//! back on the journal that it leaves.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod support;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use support::Folder;
use support::server::Server;

/// For so long everything may take to be seen. It takes a minute at most on an idle machine.
const PATIENCE: Duration = Duration::from_mins(3);

const PARTITION: &str = "/ws/v1/partition/default";

fn read(server: &Server, path: &str) -> Value {
    let answer = server.get(path);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
    serde_json::from_str(&unchunked(head, body)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The body, of which the server may have sent piece by piece.
fn unchunked(head: &str, body: &str) -> String {
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap();
    }
    whole
}

fn list(server: &Server, path: &str) -> Vec<Value> {
    read(server, path).as_array().cloned().unwrap_or_default()
}

/// What has not been seen yet, each with a way to see it.
type Sight = (&'static str, fn(&Server) -> bool);

const SIGHTS: [Sight; 17] = [
    ("nodes with allocations of others", |server| {
        let nodes = list(server, &format!("{PARTITION}/nodes"));
        nodes.len() == 16 && nodes.iter().all(|one| one["foreignAllocations"].is_array())
    }),
    ("a node in use", |server| {
        list(server, &format!("{PARTITION}/nodes")).iter().any(|one| one["allocations"].is_array())
    }),
    ("queues in use", |server| {
        let root = read(server, &format!("{PARTITION}/queues"));
        let all = root["children"].as_array();
        all.is_some_and(|all| all.iter().all(|one| one["allocatedResource"].is_object()))
    }),
    ("applications that run, with the tags of their allocations", |server| {
        let all = list(server, &format!("{PARTITION}/applications/active?status=running"));
        all.iter().any(|one| one["allocations"][0]["allocationTags"].is_object())
    }),
    ("applications that wait", |server| {
        let all = list(server, &format!("{PARTITION}/applications/active"));
        all.iter().any(|one| one["requests"].is_array())
    }),
    ("applications that are completed", |server| {
        !list(server, &format!("{PARTITION}/applications/completed")).is_empty()
    }),
    ("a gang whose members took the places of placeholders", |server| {
        let all = list(server, &format!("{PARTITION}/applications/active"));
        all.iter().any(|one| one["placeholderData"][0]["replaced"].as_i64() > Some(1))
    }),
    ("users with something", |server| {
        list(server, &format!("{PARTITION}/usage/users"))
            .iter()
            .any(|one| one["queues"]["resourceUsage"]["vcore"].as_i64() > Some(0))
    }),
    ("groups with something", |server| {
        list(server, &format!("{PARTITION}/usage/groups"))
            .iter()
            .any(|one| one["queues"]["resourceUsage"]["vcore"].as_i64() > Some(0))
    }),
    ("node utilisation", |server| {
        let all = list(server, "/ws/v1/scheduler/node-utilizations");
        all.iter().any(|one| one["utilizations"].as_array().is_some_and(|all| !all.is_empty()))
    }),
    ("a tenant with tasks that run and tasks that wait", |server| {
        let tasks = |state: &str| {
            let answer = server.get(&format!("/headroom/v1/tenants/genomics/tasks?state={state}"));
            let is_there = answer.starts_with("HTTP/1.1 200");
            is_there && answer.contains(&format!("\"state\":\"{state}\""))
        };
        tasks("RUNNING") && tasks("WAITING")
    }),
    ("the build of the resource manager", |server| {
        let clusters = list(server, "/ws/v1/clusters");
        clusters[0]["rmBuildInformation"][0]["buildVersion"].is_string()
    }),
    // Details of events: 501 an allocation was preempted.
    ("somebody was stopped for others", |server| has_event(server, 501)),
    ("a user at his limit", |server| {
        let events = events(server);
        events.iter().any(|one| {
            one["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("user dana at root.sandbox"))
        })
    }),
    ("users who share a leaf and use different amounts of it", |server| {
        let path = format!("{PARTITION}/queue/root.research.language/userlimits");
        // The queues come with the scene.
        if !server.get(&path).starts_with("HTTP/1.1 200") {
            return false;
        }
        let limits = read(server, &path);
        let users = limits["users"].as_array().cloned().unwrap_or_default();
        let used = |user: &Value| user["used"]["nvidia.com/gpu"].as_i64().unwrap_or(0);
        let shares = users.iter().all(|user| user["softShare"]["nvidia.com/gpu"].is_i64());
        shares && users.iter().any(|one| users.iter().any(|other| used(one) > used(other)))
    }),
    ("a gang that was given up", |server| has_event(server, 211) || has_event(server, 209)),
    ("metrics", |server| server.get("/ws/v1/metrics").contains("yunikorn_queue_app")),
];

fn events(server: &Server) -> Vec<Value> {
    let all = read(server, "/ws/v1/events/batch?count=100000");
    all["EventRecords"].as_array().cloned().unwrap_or_default()
}

fn has_event(server: &Server, detail: i64) -> bool {
    events(server).iter().any(|one| one["eventChangeDetail"].as_i64() == Some(detail))
}

#[test]
fn within_a_minute_everything_is_seen() {
    let folder = Folder::new("demo");
    let mut server = Server::start(&folder, &["--demo"]);
    let begin = Instant::now();
    let mut unseen = SIGHTS.to_vec();
    while !unseen.is_empty() {
        let left: Vec<&str> = unseen.iter().map(|(name, _)| *name).collect();
        assert!(begin.elapsed() < PATIENCE, "not seen: {left:?}; {}", folder.read("log"));
        unseen.retain(|(_, seen)| !seen(&server));
        std::thread::sleep(Duration::from_millis(500));
    }
    println!("everything was seen within {:?}", begin.elapsed());
    commands_show_it(&folder, &server);
    let log = folder.read("log");
    assert!(!log.contains("WARN"), "nothing that a newcomer cannot act on: {log}");
    server.signal("TERM");
    let (status, _) = server.end();
    assert!(status.success(), "{status}: {}", folder.read("log"));
    assert!(!folder.read("log").contains("ERROR"), "{}", folder.read("log"));

    // The resource manager registers again, which removes its earlier state.
    let ended =
        i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
    let again = Server::start(&folder, &["--demo"]);
    let begin = Instant::now();
    loop {
        // While the resource manager registers the partition may be gone for a moment.
        let answer = again.get(&format!("{PARTITION}/applications/active"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let active: Vec<Value> = serde_json::from_str(&unchunked(head, body)).unwrap_or_default();
        // Tasks of tenants stay.
        let is_task = |one: &&Value| one["applicationID"].as_str().unwrap().starts_with("t-");
        let mut others = active.iter().filter(|one| !is_task(one)).peekable();
        let is_new = |one: &Value| one["submissionTime"].as_i64().unwrap() >= ended;
        if others.peek().is_some() && others.all(is_new) {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "it does not play again: {}", folder.read("log"));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Each command that asks a server, in each format.
fn commands_show_it(folder: &Folder, server: &Server) {
    let url = format!("http://{}", server.address);
    let ask =
        |arguments: &[&str]| folder.succeed(&[arguments, &["--server", &url]].concat()).stdout;
    // Of events the newest are shown, and many of one kind may come at once.
    let commands: [(&[&str], &str, &str); 6] = [
        (&["queues"], "QUEUE  ", "root.production.serving"),
        (&["apps"], "APPLICATION  ", "root.sandbox"),
        (&["nodes"], "NODE  ", "gpu-10"),
        (&["users"], "USER  ", "dana"),
        (&["groups"], "GROUP  ", "language"),
        (&["events", "--kind", "askAdded"], "NUMBER  ", "askAdded"),
    ];
    for (command, columns, sought) in commands {
        let ask = |format: &[&str]| ask(&[command, format].concat());
        let table = ask(&[]);
        assert!(table.trim_start().starts_with(columns) && table.contains(sought), "{table}");
        let command = command[0];
        let json: Value = serde_json::from_str(&ask(&["-o", "json"])).unwrap();
        assert!(json.is_array() || json.is_object(), "{command}: {json}");
        assert!(ask(&["-o", "yaml"]).contains(": "), "{command}");
        let csv = ask(&["-o", "csv"]);
        let mut rows = csv::Reader::from_reader(csv.as_bytes()).into_records();
        assert!(rows.all(|row| row.is_ok()), "{command}: {csv}");
    }
    let limits = ask(&["users", "--limits"]);
    let heading = "root.research.language: ";
    assert!(limits.starts_with(heading) && limits.contains("guaranteed vcore 32"), "{limits}");

    let application = &list(server, &format!("{PARTITION}/applications/active?status=running"))[0];
    let id = application["applicationID"].as_str().unwrap();
    let one = ask(&["apps", id]);
    assert!(one.starts_with(&format!("{id} of ")) && one.contains("\nALLOCATION  "), "{one}");

    let gone = folder.run(&["apps", "nobody-0000", "--server", &url]);
    assert_eq!((gone.code, &*gone.stdout), (Some(1), ""), "{}", gone.stderr);
    assert!(gone.stderr.contains("Application not found"), "{}", gone.stderr);
    let nobody = folder.run(&["queues", "--server", "http://127.0.0.1:1"]);
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("headroom serve"), "{}", nobody.stderr);
}
