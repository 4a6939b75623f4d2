//! What callers see who may not read everything.

use headroom_core::Command;
use serde_json::Value;

use crate::support::{CALLER, Exchange, NOBODY, Options, Server, ask, node, submit};

const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - {name: open, submitacl: '*'}
          - name: team
            adminacl: 'lead'
            queues:
              - {name: a, submitacl: 'ann dev'}
              - {name: b, submitacl: 'bob'}
          - {name: closed, submitacl: 'carol'}
  - name: secret
    queues: [{name: root, submitacl: 'carol'}]
";

async fn server() -> Server {
    let server = Server::with(Options { queues: Some(QUEUES.into()), ..Options::default() }).await;
    server.accept(Command::AddNode(node("n1", 64))).await;
    for (application, queue, user) in [
        ("of-ann", "root.team.a", "ann"),
        ("of-dan", "root.open", "dan"),
        ("of-bob", "root.team.b", "bob"),
        ("of-carol", "root.closed", "carol"),
    ] {
        server.accept(Command::Submit(submit(application, queue, user))).await;
        server.accept(Command::Ask(ask(application, application, 1))).await;
    }
    server.turn(1_000).await;
    server
}

async fn get(server: &Server, caller: &str, path: &str) -> Exchange {
    server.raw().header(CALLER, caller).send("GET", &format!("/ws/v1/{path}")).await
}

/// The values of a field of a list.
async fn names(server: &Server, caller: &str, path: &str, field: &str) -> Vec<String> {
    let answer = get(server, caller, path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let list = answer.json();
    let name = |one: &Value| one[field].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

/// All paths of a tree, the ones without figures in brackets.
fn paths(queue: &Value, found: &mut Vec<String>) {
    let path = queue["queuename"].as_str().unwrap();
    let has_figures = queue.get("sortingPolicy").is_some();
    found.push(if has_figures { path.to_owned() } else { format!("({path})") });
    for child in queue["children"].as_array().into_iter().flatten() {
        paths(child, found);
    }
}

#[tokio::test]
async fn without_a_guard_nothing_is_told_but_health() {
    let server = server().await;
    server.rest.checks.run(&server.service).await;
    for path in ["partitions", "config", "events/batch", "partition/default/queues", "clusters"] {
        assert_eq!(get(&server, NOBODY, path).await.status, 401, "{path}");
    }
    assert_eq!(get(&server, NOBODY, "scheduler/healthcheck").await.status, 200);
}

#[tokio::test]
async fn queues_are_seen_by_their_access_lists() {
    let server = server().await;
    for (caller, expected) in [
        ("x - viewer", "root root.closed root.open root.team root.team.a root.team.b"),
        ("ann - submitter", "(root) root.open (root.team) root.team.a"),
        ("eve dev submitter", "(root) root.open (root.team) root.team.a"),
        ("lead - queue-admin", "(root) root.open root.team root.team.a root.team.b"),
        ("eve - submitter", "(root) root.open"),
        ("- - submitter", "(root) root.open"),
    ] {
        let tree = get(&server, caller, "partition/default/queues").await.json();
        let mut found = Vec::new();
        paths(&tree, &mut found);
        assert_eq!(found.join(" "), expected, "{caller}");
    }
    let one = get(&server, "ann - submitter", "partition/default/queue/root.team").await.json();
    assert_eq!(one["childNames"], serde_json::json!(["root.team.a"]));
    assert_eq!(one.get("allocatedResource"), None);
}

#[tokio::test]
async fn what_is_not_seen_looks_as_if_it_were_not_there() {
    let server = server().await;
    let caller = "eve - submitter";
    for (hidden, absent) in [
        ("partition/secret/queues", "partition/none/queues"),
        ("partition/secret/usage/users", "partition/none/usage/users"),
        ("partition/default/queue/root.closed", "partition/default/queue/root.none"),
        (
            "partition/default/queue/root.closed/applications",
            "partition/default/queue/root.none/applications",
        ),
        ("partition/default/application/of-ann", "partition/default/application/none"),
        (
            "partition/default/queue/root.open/application/of-dan",
            "partition/default/queue/root.open/application/none",
        ),
        ("partition/default/usage/user/ann", "partition/default/usage/user/none"),
        ("partition/default/usage/group/dev", "partition/default/usage/group/none"),
    ] {
        let (hidden, absent) = (get(&server, caller, hidden), get(&server, caller, absent));
        let (hidden, absent) = (hidden.await, absent.await);
        assert_eq!(hidden.status, 404);
        assert_eq!(hidden.text(), absent.text());
    }
}

#[tokio::test]
async fn applications_and_usage_are_seen_by_whose_they_are() {
    let server = server().await;
    let active = "partition/default/applications/active";
    for (caller, applications, users) in [
        ("x - operator", "of-ann of-bob of-carol of-dan", "ann bob carol dan"),
        ("ann - submitter", "of-ann", "ann"),
        ("dan - submitter", "of-dan", "dan"),
        ("lead - queue-admin", "of-ann of-bob", ""),
        ("eve dev submitter", "", ""),
        ("- - submitter", "", ""),
    ] {
        let found = names(&server, caller, active, "applicationID").await;
        assert_eq!(found.join(" "), applications, "{caller}");
        let found = names(&server, caller, "partition/default/usage/users", "userName").await;
        assert_eq!(found.join(" "), users, "{caller}");
    }
    let path = "partition/default/queue/root.team.b/applications";
    assert_eq!(names(&server, "lead - queue-admin", path, "applicationID").await, ["of-bob"]);
    let partitions = get(&server, "ann - submitter", "partitions").await.json();
    assert_eq!(partitions.as_array().unwrap().len(), 1);
    assert_eq!(partitions[0]["capacity"], serde_json::json!({}), "totals are those of root");
    let all = names(&server, "carol - submitter", "partitions", "name").await;
    assert_eq!(all, ["default", "secret"]);
}
