//! Checklist 1: every check of every route, and which of two faults wins.

use serde_json::json;

use crate::support::Server;

/// Path, status, message; the order of the rows is that of the page's index.
const REFUSED: &[(&str, u16, &str)] = &[
    ("partition/x/placementrules", 404, "Partition not found"),
    ("partition/x/queues", 404, "Partition not found"),
    // 10: partition, decoding, validation, queue.
    ("partition/x/queue/%25zz", 404, "Partition not found"),
    ("partition/x/queue/a%20b", 404, "Partition not found"),
    ("partition/default/queue/%25zz", 400, "invalid URL escape"),
    ("partition/default/queue/a%20b", 400, "queue name"),
    ("partition/default/queue/root..a", 400, "64 characters"),
    ("partition/default/queue/default", 404, "Queue not found"),
    ("partition/default/queue/root.none", 404, "Queue not found"),
    ("partition/default/queue/root.a+b", 400, "queue name"),
    ("partition/x/nodes", 404, "Partition not found"),
    ("partition/x/node/n1", 404, "Partition not found"),
    ("partition/default/node/none", 404, "Node not found"),
    ("partition/default/node/N1", 404, "Node not found"),
    // 13: decoding, validation, partition, queue.
    ("partition/x/queue/%25zz/applications", 400, "invalid URL escape"),
    ("partition/x/queue/a%20b/applications", 400, "queue name"),
    ("partition/x/queue/root/applications", 404, "Partition not found"),
    ("partition/default/queue/root.none/applications", 404, "Queue not found"),
    // 14: decoding, partition, validation, queue, application.
    ("partition/x/queue/%25zz/application/a", 400, "invalid URL escape"),
    ("partition/x/queue/a%20b/application/a", 404, "Partition not found"),
    ("partition/default/queue/a%20b/application/a", 400, "queue name"),
    ("partition/default/queue/root.none/application/app-1", 404, "Queue not found"),
    ("partition/default/queue/root.sales/application/none", 404, "Application not found"),
    ("partition/default/queue/root.dev.one/application/app-1", 404, "Application not found"),
    ("partition/x/application/app-1", 404, "Partition not found"),
    ("partition/default/application/none", 404, "Application not found"),
    ("partition/default/application/app-refused", 404, "Application not found"),
    // 16: partition, state, status.
    ("partition/x/applications/odd", 404, "Partition not found"),
    ("partition/default/applications/odd?status=odd", 400, "allowed: active, rejected, completed"),
    ("partition/default/applications/active?status=odd", 400, "new, accepted, running"),
    // 17: partition, decoding, validation, queue, state, status.
    ("partition/x/queue/%25zz/applications/odd", 404, "Partition not found"),
    ("partition/default/queue/%25zz/applications/odd", 400, "invalid URL escape"),
    ("partition/default/queue/a%20b/applications/odd", 400, "queue name"),
    ("partition/default/queue/root.none/applications/odd", 404, "Queue not found"),
    ("partition/default/queue/root/applications/completed?status=odd", 400, "allowed: active"),
    ("partition/default/queue/root/applications/active?status=odd", 400, "active statuses"),
    // 18 to 21: here the partition counts.
    ("partition/x/usage/users", 404, "Partition not found"),
    ("partition/x/usage/user/%25zz", 404, "Partition not found"),
    ("partition/default/usage/user/%25zz", 400, "invalid URL escape"),
    ("partition/default/usage/user/1", 400, "Invalid user name"),
    ("partition/default/usage/user/a%20b", 400, "Invalid user name"),
    ("partition/default/usage/user/none", 404, "User not found"),
    ("partition/x/usage/groups", 404, "Partition not found"),
    ("partition/x/usage/group/%25zz", 404, "Partition not found"),
    ("partition/default/usage/group/%25zz", 400, "invalid URL escape"),
    ("partition/default/usage/group/a@b", 400, "Invalid group name"),
    ("partition/default/usage/group/none", 404, "Group not found"),
    // 22 and 23.
    ("events/batch?count=0", 400, "0 is not a valid value for \"count\""),
    ("events/batch?count=-1", 400, "-1"),
    ("events/batch?count=x&start=y", 400, "count"),
    ("events/batch?start=18446744073709551616", 400, "start"),
    ("events/stream?count=x", 400, "count"),
    ("scheduler/healthcheck", 404, "Health check is not available"),
    // Nothing where a name belongs.
    ("partition//queues", 404, "Partition not found"),
    ("partition/default/queue//applications", 404, "Queue not found"),
];

#[tokio::test]
async fn every_check_has_its_status_and_its_message() {
    let server = Server::start().await;
    server.furnish().await;
    for (path, status, message) in REFUSED {
        let answer = server.get(&format!("/ws/v1/{path}")).await;
        let text = answer.text();
        assert_eq!(answer.status, *status, "{path}: {text}");
        let body = answer.json();
        let said = body["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{path}: {said}");
        let expected = json!({"status_code": status, "message": said, "description": said});
        assert_eq!(body, expected, "{path}");
        assert!(text.starts_with(&format!("{{\"status_code\":{status},\"message\":")), "{text}");
        assert!(text.ends_with("}\n"), "{path}: {text}");
        assert_eq!(answer.header("content-type"), Some("application/json; charset=UTF-8"));
    }
}

#[tokio::test]
async fn names_of_queues_and_users_are_decoded_twice() {
    let queues = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*', queues: [{name: 'a/b'}, {name: 'c:d@e#f'}]}]
";
    let options = crate::support::Options { queues: Some(queues.into()), ..Default::default() };
    let server = Server::with(options).await;
    for (path, name) in [
        ("root.a%252Fb", "root.a/b"),
        ("ROOT.A%252fB", "root.a/b"),
        ("root.c:d@e%23f", "root.c:d@e#f"),
    ] {
        let found = server.json(&format!("/ws/v1/partition/default/queue/{path}")).await;
        assert_eq!(found["queuename"], name, "{path}");
    }
    assert_eq!(server.get("/ws/v1/partition/default/queue/root.a/b").await.status, 404);
}

#[tokio::test]
async fn events_that_are_not_tracked_are_refused() {
    let extra = [("event.trackingEnabled".to_owned(), "false".to_owned())].into();
    let options = crate::support::Options { extra, ..Default::default() };
    let server = Server::with(options).await;
    for path in ["/ws/v1/events/batch?count=x", "/ws/v1/events/stream?count=x"] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, 500, "{path}");
        assert_eq!(answer.json()["message"], "Event tracking is disabled", "{path}");
    }
}
