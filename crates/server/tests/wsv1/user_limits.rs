//! How the users of a leaf share it, as the server shows it.

use headroom_core::{AddNode, Ask, Command, Name};
use serde_json::{Value, json};

use crate::support::{CALLER, Exchange, Options, Server, amounts, submit};

pub(crate) const QUEUES: &str = "
partitions:
  - name: default
    limitprecedence: both
    queues:
      - name: root
        limits:
          - {limit: team, groups: [team], maxresources: {memory: 1000}}
        queues:
          - name: research
            submitacl: 'ann,bob,cid'
            adminacl: 'lead'
            resources: {guaranteed: {memory: 100}, max: {memory: 160}}
            limits:
              - {limit: bob, users: [bob], maxresources: {memory: 45}}
            userlimits:
              minimumuserlimitpercent: 25
              userlimitfactor: 1.5
              weights: {ann: 1.5}
              minimumallocation: {memory: 2}
              maximumallocation: {memory: 64}
          - {name: sandbox, submitacl: '*'}
          - name: team
            submitacl: 'ann'
            queues: [{name: a}]
  - name: empty
    queues: [{name: root}]
";

fn memory(amount: i64) -> headroom_core::resource::Amounts {
    amounts([("memory", amount)])
}

fn of_size(application: &str, key: &str, size: i64, node: Option<&str>) -> Ask {
    Ask {
        partition: Name::new("default"),
        application: Name::new(application),
        key: Name::new(key),
        resources: memory(size),
        node: node.map(Name::new),
        ..Ask::default()
    }
}

/// ann uses 40 and wants more, bob uses 40 and may have 5 more, cid uses 20 and wants nothing.
pub(crate) async fn server() -> Server {
    let server = Server::with(Options { queues: Some(QUEUES.into()), ..Options::default() }).await;
    for node in ["n1", "n2"] {
        server
            .accept(Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: Name::new(node),
                capacity: memory(60),
                schedulable: true,
                ..AddNode::default()
            }))
            .await;
    }
    for (application, user, size, node) in
        [("of-ann", "ann", 40, "n1"), ("of-bob", "bob", 40, "n2"), ("of-cid", "cid", 20, "n1")]
    {
        server.accept(Command::Submit(submit(application, "root.research", user))).await;
        let key = format!("{application}-1");
        server.accept(Command::Ask(of_size(application, &key, size, Some(node)))).await;
    }
    // No node has room for it.
    server.accept(Command::Ask(of_size("of-ann", "more", 30, None))).await;
    server.turn(1_000).await;
    server
}

pub(crate) const PATH: &str = "/ws/v1/partition/default/queue/root.research/userlimits";

async fn get(server: &Server, caller: &str, path: &str) -> Exchange {
    server.raw().header(CALLER, caller).send("GET", path).await
}

fn row<'a>(of: &'a Value, user: &str) -> &'a Value {
    let users = of["users"].as_array().unwrap();
    users.iter().find(|one| one["user"] == user).unwrap_or_else(|| panic!("{user}: {of:#}"))
}

#[tokio::test]
#[doc(alias = "C32")]
async fn a_leaf_shows_what_each_user_may_have_and_what_that_follows_from() {
    let server = server().await;
    let shown = server.json(PATH).await;
    assert_eq!(
        (&shown["queuePath"], &shown["partition"], &shown["enabled"]),
        (&json!("root.research"), &json!("default"), &json!(true))
    );
    assert_eq!(
        shown["inputs"],
        json!({
            "Q": {"memory": 100}, "Qmax": {"memory": 160},
            "U": {"memory": 100}, "Uact": {"memory": 40}, "Uin": {"memory": 60},
            "W": 1.5, "activeUsers": 1, "p": 25, "f": 1.5,
            "formula": "smooth", "enforcement": "progress", "calculator": "componentwise",
            "total": {"memory": 120}, "step": {"memory": 2}, "increment": {"memory": 2},
            "maximumAllocation": {"memory": 64}
        })
    );
    let names: Vec<&str> = shown["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["user"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ann", "bob", "cid"]);
    // B is 40 and 30, and she is alone; 1.5 times 1.5 times 100, but no more than the cluster, which is
    // less than the queue's maximum.
    assert_eq!(
        row(&shown, "ann"),
        &json!({
            "user": "ann",
            "softShare": {"memory": 70}, "hardCap": {"memory": 120}, "limit": {"memory": 70},
            "used": {"memory": 40}, "headroom": {"memory": 20},
            "limitedBy": "queueMax:root", "limitedByType": {"memory": "queueMax:root"},
            "active": true, "weight": 1.5, "r": {"memory": 30}, "runningApps": 1
        })
    );
    // As with an ask of the minimum allocation: 82 by 2.5 in parts of one, of 102 a quarter.
    let bob = row(&shown, "bob");
    assert_eq!((&bob["softShare"], &bob["r"]), (&json!({"memory": 34}), &json!({"memory": 2})));
    assert_eq!((&bob["headroom"], &bob["limitedBy"]), (&json!({"memory": 0}), &json!("softShare")));
    assert_eq!((&bob["active"], &bob["weight"]), (&json!(false), &json!(1)));
    assert_eq!(shown.get("others"), None);
    let typed = server.client().get_user_limits("default", "root.research").await.unwrap();
    assert_eq!(serde_json::to_value(typed.inputs).unwrap()["Uin"], shown["inputs"]["Uin"]);
}

#[tokio::test]
async fn a_queue_without_user_limits_says_so_and_how_to_have_them() {
    let server = server().await;
    for (queue, said) in [
        ("root.sandbox", "set `userlimits: {}`"),
        ("root", "users share only leaves"),
        ("root.team", "Request a leaf"),
    ] {
        let path = format!("/ws/v1/partition/default/queue/{queue}/userlimits");
        let shown = server.json(&path).await;
        assert_eq!((&shown["enabled"], &shown["users"]), (&json!(false), &json!([])), "{queue}");
        let reason = shown["reason"].as_str().unwrap();
        assert!(reason.contains(said) && reason.contains(queue), "{reason}");
        assert_eq!(shown.get("inputs"), None);
    }
}

#[tokio::test]
async fn who_may_not_see_others_sees_them_summed_and_never_named() {
    let server = server().await;
    for caller in ["x - viewer", "x - operator", "lead - queue-admin"] {
        let shown = get(&server, caller, PATH).await.json();
        assert_eq!(shown["users"].as_array().unwrap().len(), 3, "{caller}");
        assert_eq!(shown.get("others"), None, "{caller}");
    }
    let answer = get(&server, "ann - submitter", PATH).await;
    let shown = answer.json();
    assert_eq!(shown["users"].as_array().unwrap().len(), 1);
    assert_eq!(row(&shown, "ann")["headroom"], json!({"memory": 20}));
    assert_eq!(
        shown["others"],
        json!({"users": 2, "active": 0, "weight": 2, "used": {"memory": 60}, "runningApps": 2})
    );
    for name in ["bob", "cid"] {
        assert!(!answer.text().contains(name), "{name} is named: {}", answer.text());
    }
    // What is not seen looks as if it were not there.
    for caller in ["eve - submitter", "- - submitter"] {
        let hidden = get(&server, caller, PATH).await;
        let absent = PATH.replace("research", "none");
        let absent = get(&server, caller, &absent).await;
        assert_eq!((hidden.status, hidden.text()), (404, absent.text()), "{caller}");
    }
    // A queue that is only passed through shows its name and no figures, and none can be had by asking.
    let passed = "/ws/v1/partition/default/queue/root/userlimits";
    let shown = get(&server, "ann - submitter", passed).await.json();
    assert_eq!((&shown["enabled"], shown.get("inputs")), (&json!(false), None));
    let asked = server.raw().header(CALLER, "ann - submitter").body("{}");
    assert_eq!(asked.send("POST", &format!("{passed}/simulate")).await.status, 404);
}

#[tokio::test]
async fn partition_escape_path_and_queue_are_checked_in_this_order() {
    let server = server().await;
    for (path, status, message) in [
        ("partition/x/queue/%25zz/userlimits", 404, "Partition not found"),
        ("partition/default/queue/%25zz/userlimits", 400, "invalid URL escape"),
        ("partition/default/queue/a%20b/userlimits", 400, "queue name"),
        ("partition/default/queue/root.none/userlimits", 404, "Queue not found"),
        ("partition/empty/queue/root.research/userlimits", 404, "Queue not found"),
    ] {
        for (method, end) in [("GET", ""), ("POST", "/simulate")] {
            let asked = server.raw().body(if method == "GET" { "" } else { "{}" });
            let answer = asked.send(method, &format!("/ws/v1/{path}{end}")).await;
            assert_eq!(answer.status, status, "{path}: {}", answer.text());
            let body = answer.json();
            let said = body["message"].as_str().unwrap().to_owned();
            assert!(said.contains(message), "{path}: {said}");
            assert_eq!(body, json!({"status_code": status, "message": said, "description": said}));
        }
    }
}
