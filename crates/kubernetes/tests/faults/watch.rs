//! Watches.

use std::time::Duration;

use headroom_kubernetes::client::path;
use headroom_kubernetes::watch::{Change, Need, Source, Watch};
use headroom_pods::object::Node;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::stand_in::{Answer, StandIn, bookmark, event, node};

/// Describes changes of nodes, such as `+n1=a` and `-n1`.
async fn changes(watch: &mut Watch<Node>, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..count {
        let label = |node: &Node| {
            let label = node.metadata.labels.get("label").cloned().unwrap_or_default();
            format!("{}={label}", node.metadata.name)
        };
        found.push(match watch.next().await {
            Change::Listed(nodes) => {
                let mut names: Vec<_> = nodes.iter().map(|node| label(node)).collect();
                names.sort();
                format!("[{}]", names.join(" "))
            }
            Change::Applied(node) => format!("+{}", label(&node)),
            Change::Deleted(node) => format!("-{}", node.metadata.name),
        });
    }
    found
}

fn watch(server: &StandIn, need: Need) -> Watch<Node> {
    Watch::new(server.api(), Source::new(path::NODES, need))
}

fn added(name: &str, version: u32, label: &str) -> Value {
    event("ADDED", &node(name, &format!("uid-{name}"), version, label))
}

fn modified(name: &str, version: u32, label: &str) -> Value {
    event("MODIFIED", &node(name, &format!("uid-{name}"), version, label))
}

fn deleted(name: &str, version: u32) -> Value {
    event("DELETED", &node(name, &format!("uid-{name}"), version, ""))
}

fn expired() -> Value {
    event("ERROR", &json!({ "kind": "Status", "code": 410, "message": "too old" }))
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_goes_on_as_a_watch() {
    let server = StandIn::new([Answer::watch(&[
        added("a", 1, "x"),
        added("b", 2, "x"),
        bookmark(5, true),
        modified("a", 6, "y"),
        modified("b", 7, "x"),
        bookmark(8, false),
        deleted("b", 9),
        deleted("c", 9),
        added("c", 10, "z"),
    ])
    .open()]);
    let mut watch = watch(&server, Need::Required);
    // A change that no field shows is left out, and so is the deletion of what is unknown.
    assert_eq!(changes(&mut watch, 4).await, ["[a=x b=x]", "+a=y", "-b", "+c=z"]);
    let [request] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
    assert!(request.contains("sendInitialEvents=true"), "{request}");
}

#[tokio::test(start_paused = true)]
async fn a_torn_watch_goes_on_after_the_last_event() {
    let server = StandIn::new([
        Answer::watch(&[added("a", 1, "x"), bookmark(5, true), modified("a", 6, "y")]).torn(),
        Answer::watch(&[bookmark(8, false)]),
        Answer::refusal(500),
        Answer::watch(&[modified("a", 9, "z")]).open(),
    ]);
    let mut watch = watch(&server, Need::Required);
    assert_eq!(changes(&mut watch, 3).await, ["[a=x]", "+a=y", "+a=z"]);
    let requests = server.requests();
    assert!(requests[1].ends_with("&resourceVersion=6"), "{requests:?}");
    assert!(requests[2].ends_with("&resourceVersion=8"), "{requests:?}");
    assert!(requests[3].ends_with("&resourceVersion=8"), "{requests:?}");
    assert_eq!(requests.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_forgotten_is_listed_anew_and_gives_the_differences() {
    let again = node("b", "another", 12, "new");
    let server = StandIn::new([
        Answer::watch(&[
            added("a", 1, "x"),
            added("b", 2, "x"),
            added("c", 2, "x"),
            bookmark(5, true),
        ]),
        Answer::refusal(410),
        Answer::watch(&[
            added("c", 2, "x"),
            event("ADDED", &again),
            added("d", 13, "x"),
            bookmark(20, true),
            expired(),
        ]),
        Answer::watch(&[added("d", 13, "y"), bookmark(30, true)]).open(),
    ]);
    let mut watch = watch(&server, Need::Required);
    assert_eq!(changes(&mut watch, 1).await, ["[a=x b=x c=x]"]);
    let mut first = changes(&mut watch, 4).await;
    first[..2].sort();
    first[2..].sort();
    assert_eq!(first, ["-a", "-b", "+b=new", "+d=x"]);
    let mut second = changes(&mut watch, 3).await;
    second[..2].sort();
    assert_eq!(second, ["-b", "-c", "+d=y"]);
}

#[tokio::test(start_paused = true)]
async fn without_streaming_lists_the_objects_come_in_pages() {
    let page = |rest: &str, nodes: &[Value]| {
        let metadata = json!({ "resourceVersion": "7", "continue": rest });
        Answer::object(200, &json!({ "metadata": metadata, "items": nodes }))
    };
    let (a, b) = (node("a", "1", 1, "x"), node("b", "2", 2, "x"));
    let server = StandIn::new([
        Answer::refusal(422),
        page("p/2", std::slice::from_ref(&a)),
        // The second page is forgotten, so the list starts again.
        Answer::refusal(410),
        page("p/2", &[a]),
        page("", &[b]),
        Answer::watch(&[deleted("a", 9), event("DELETED", &node("a", "1", 9, "x"))]).open(),
    ]);
    let mut watch = watch(&server, Need::Required);
    assert_eq!(changes(&mut watch, 2).await, ["[a=x b=x]", "-a"]);
    let requests = server.requests();
    assert!(requests[1].contains("limit=500") && !requests[1].contains("watch"), "{requests:?}");
    assert!(requests[4].contains("continue=p%2F2"), "{requests:?}");
    assert!(requests[5].ends_with("&resourceVersion=7"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn a_requested_pause_is_kept() {
    let server = StandIn::new([
        Answer::refusal(429).retry_after(20),
        Answer::watch(&[bookmark(5, true)]).open(),
    ]);
    let start = Instant::now();
    assert_eq!(changes(&mut watch(&server, Need::Required), 1).await, ["[]"]);
    assert!(start.elapsed() >= Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_absent_is_empty_and_tried_again() {
    for code in [403, 404] {
        let server = StandIn::new([
            Answer::refusal(code),
            Answer::refusal(code),
            Answer::watch(&[added("a", 1, "x"), bookmark(5, true)]).open(),
        ]);
        let mut optional = watch(&server, Need::Optional);
        assert_eq!(changes(&mut optional, 2).await, ["[]", "+a=x"]);
        assert_eq!(server.requests().len(), 3);
    }
    let answers =
        [Answer::refusal(403), Answer::watch(&[added("a", 1, "x"), bookmark(5, true)]).open()];
    let mut required = watch(&StandIn::new(answers), Need::Required);
    assert_eq!(changes(&mut required, 1).await, ["[a=x]"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_right_deletes_nothing() {
    let server = StandIn::new([
        Answer::watch(&[added("a", 1, "x"), bookmark(5, true)]),
        Answer::refusal(403),
        Answer::watch(&[added("a", 1, "y"), bookmark(9, true)]).open(),
    ]);
    assert_eq!(changes(&mut watch(&server, Need::Optional), 2).await, ["[a=x]", "+a=y"]);
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_object_is_left_out() {
    let bad =
        json!({ "metadata": { "name": "bad", "uid": "3", "labels": [1], "resourceVersion": "6" } });
    let server = StandIn::new([
        Answer::watch(&[
            event("ADDED", &bad),
            added("a", 1, "x"),
            bookmark(5, true),
            event("ADDED", &bad),
        ]),
        Answer::watch(&[modified("a", 7, "y")]).open(),
    ]);
    assert_eq!(changes(&mut watch(&server, Need::Required), 2).await, ["[a=x]", "+a=y"]);
    assert!(server.requests()[1].ends_with("&resourceVersion=6"));
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_replaced() {
    let server = StandIn::new([
        Answer::watch(&[added("a", 1, "x"), bookmark(5, true)]).open(),
        Answer::watch(&[modified("a", 7, "y")]).open(),
    ]);
    let start = Instant::now();
    assert_eq!(changes(&mut watch(&server, Need::Required), 2).await, ["[a=x]", "+a=y"]);
    assert!(start.elapsed() < Duration::from_mins(5));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_an_unknown_object_creates_it() {
    let server = StandIn::new([Answer::watch(&[
        bookmark(5, true),
        modified("a", 6, "x"),
        modified("a", 7, "y"),
        deleted("a", 8),
        modified("a", 9, "z"),
    ])
    .open()]);
    let mut watch = watch(&server, Need::Required);
    assert_eq!(changes(&mut watch, 5).await, ["[]", "+a=x", "+a=y", "-a", "+a=z"]);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_of_another_type_is_left_out() {
    let metadata = json!({ "name": "a", "uid": "uid-a", "labels": [1], "resourceVersion": "6" });
    let server = StandIn::new([Answer::watch(&[
        added("a", 1, "x"),
        added("b", 2, "x"),
        bookmark(5, true),
        event("DELETED", &json!({ "metadata": metadata })),
        event("DELETED", &json!({ "kind": "Status", "metadata": { "resourceVersion": "7" } })),
        deleted("b", 8),
        modified("a", 9, "y"),
    ])
    .open()]);
    let mut watch = watch(&server, Need::Required);
    assert_eq!(changes(&mut watch, 3).await, ["[a=x b=x]", "-b", "+a=y"]);
    assert_eq!(server.requests().len(), 1, "the watch goes on");
}
