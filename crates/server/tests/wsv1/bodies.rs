//! What is in the answers. Checklist 2: fields and their order are held by the tests of the api
//! crate; here it is held that they are filled.

use headroom_api::client::ApplicationList;
use headroom_core::{Command, Name, Termination};
use serde_json::json;

use crate::support::{START, Server};

const NANOS: i64 = 1_000_000;

fn start() -> i64 {
    i64::try_from(START.as_millis()).unwrap() * NANOS
}

#[tokio::test]
async fn partitions_come_default_first_with_their_totals() {
    let server = Server::start().await;
    server.furnish().await;
    let all = server.json("/ws/v1/partitions").await;
    let expected = json!([
        {
            "clusterId": "",
            "name": "default",
            "capacity": {
                "capacity": {"memory": 137_438_953_472_i64, "vcore": 12_000},
                "usedCapacity": {"memory": 2_147_483_648_i64, "vcore": 3_000},
                "utilization": {"memory": 1, "vcore": 25},
            },
            "nodeSortingPolicy": {"type": "fair", "resourceWeights": {"memory": 1, "vcore": 1}},
            "preemptionEnabled": true,
            "quotaPreemptionEnabled": false,
            "totalNodes": 2,
            "applications": {"New": 1, "Rejected": 1, "Running": 2, "total": 4},
            "totalContainers": 2,
            "state": "Active",
            "lastStateTransitionTime": start(),
        },
        {
            "clusterId": "",
            "name": "gpu",
            "capacity": {},
            "nodeSortingPolicy": {"type": "fair", "resourceWeights": {"memory": 1, "vcore": 1}},
            "preemptionEnabled": true,
            "quotaPreemptionEnabled": false,
            "applications": {"total": 0},
            "state": "Active",
            "lastStateTransitionTime": start(),
        },
    ]);
    assert_eq!(all, expected);
    let clusters = server.json("/ws/v1/clusters").await;
    assert_eq!(clusters[0]["clusterName"], "kubernetes");
    assert_eq!(clusters[0]["startTime"], clusters[1]["startTime"]);
    assert_eq!(clusters[1]["partition"], "gpu");
}

#[tokio::test]
async fn a_queue_shows_what_it_has_and_a_tree_what_is_below() {
    let server = Server::start().await;
    server.furnish().await;
    let sales = server.json("/ws/v1/partition/default/queue/root.sales").await;
    let expected = json!({
        "queuename": "root.sales",
        "status": "Active",
        "partition": "default",
        "pendingResource": {"memory": 1_073_741_824, "vcore": 20_000},
        "maxResource": {"memory": 68_719_476_736_i64, "vcore": 8_000},
        "guaranteedResource": {"vcore": 2_000},
        "allocatedResource": {"memory": 1_073_741_824, "vcore": 2_000},
        "headroom": {"memory": 67_645_734_912_i64, "vcore": 6_000},
        "isLeaf": true,
        "isManaged": true,
        "properties": {"application.sort.policy": "fair"},
        "parent": "root",
        "absUsedCapacity": {"memory": 1, "vcore": 25},
        "runningApps": 1,
        "currentPriority": 0,
        "sortingPolicy": "fair",
        "prioritySorting": true,
        "preemptionEnabled": true,
        "isPreemptionFence": false,
        "preemptionDelay": "30s",
        "quotaPreemptionDelay": "0s",
        "isPriorityFence": false,
    });
    assert_eq!(sales, expected);
    let root = server.json("/ws/v1/partition/default/queue/root").await;
    assert_eq!(root["childNames"], json!(["root.dev", "root.sales"]));
    assert_eq!(root.get("children"), None);
    let dev = server.json("/ws/v1/partition/default/queue/root.dev?subtree").await;
    assert_eq!(dev["children"][0]["queuename"], "root.dev.one");
    assert_eq!(dev["template"], json!({"maxApplications": 3, "maxResource": {"vcore": 4_000}}));
    assert_eq!(dev["children"][0]["currentPriority"], i32::MIN);
    let tree = server.client().get_queues("default").await.unwrap();
    let paths: Vec<&str> = tree.children.iter().map(|one| one.queue_name.as_str()).collect();
    assert_eq!(paths, ["root.dev", "root.sales"]);
    assert_eq!(tree.max_resource.0["vcore"], 12_000);
    let empty = server.json("/ws/v1/partition/gpu/queues").await;
    assert_eq!((&empty["queuename"], &empty["isLeaf"]), (&json!("root"), &json!(false)));
}

#[tokio::test]
async fn nodes_show_what_runs_on_them() {
    let server = Server::start().await;
    server.furnish().await;
    let nodes = server.client().get_nodes("default").await.unwrap();
    let [one, two] = nodes.as_slice() else { panic!("{nodes:?}") };
    assert_eq!((one.node_id.as_str(), one.host_name.as_str()), ("n1", "n1.example.org"));
    assert_eq!(one.attributes["si/node-partition"], "[]default");
    for node in [one, two] {
        let sum = node.allocated.0.get("vcore").unwrap_or(&0)
            + node.occupied.0.get("vcore").unwrap_or(&0)
            + node.available.0["vcore"];
        assert_eq!(sum, node.capacity.0["vcore"], "{}", node.node_id);
    }
    let foreign = &one.foreign_allocations[0];
    assert_eq!((foreign.allocation_key.as_str(), foreign.node_id.as_str()), ("daemon", "n1"));
    let allocations = nodes.iter().flat_map(|node| &node.allocations);
    let mut keys: Vec<&str> = allocations.map(|one| one.allocation_key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["a1", "b1"]);
    let same = server.client().get_node("default", "n1").await.unwrap();
    assert_eq!(same, *one);
    assert_eq!(server.json("/ws/v1/partition/gpu/nodes").await, json!([]));
}

#[tokio::test]
async fn nodes_are_counted_by_how_full_they_are() {
    let server = Server::start().await;
    server.furnish().await;
    let all = server.json("/ws/v1/scheduler/node-utilizations").await;
    assert_eq!(all[1], json!({"clusterId": "", "partition": "gpu", "utilizations": []}));
    let types: Vec<&str> = all[0]["utilizations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["memory", "vcore"]);
    for of_type in all[0]["utilizations"].as_array().unwrap() {
        let buckets = of_type["utilization"].as_array().unwrap();
        let names: Vec<&str> =
            buckets.iter().map(|one| one["bucketName"].as_str().unwrap()).collect();
        assert_eq!((names.len(), names[0], names[9]), (10, "0-10%", "90-100%"));
        let counts = buckets.iter().filter_map(|one| one["numOfNodes"].as_i64());
        assert_eq!(counts.sum::<i64>(), 2, "each node is in one bucket of a type");
        assert_eq!(buckets[9].as_object().unwrap().len(), 1, "an empty bucket has its name alone");
    }
}

#[tokio::test]
async fn applications_are_listed_by_state_and_queue_in_the_order_of_submission() {
    let server = Server::start().await;
    server.furnish().await;
    server
        .accept(Command::Release {
            partition: Name::new("default"),
            application: Name::new("app-2"),
            key: Some(Name::new("b1")),
            termination: Termination::StoppedByRm,
        })
        .await;
    server.turn(60_000).await;
    let client = server.client();
    let ids = |list: Vec<headroom_api::wsv1::Application>| -> Vec<String> {
        list.into_iter().map(|one| one.application_id).collect()
    };
    let list = |which| client.get_applications("default", which);
    assert_eq!(ids(list(ApplicationList::Active(None)).await.unwrap()), ["app-1", "app-3"]);
    assert_eq!(ids(list(ApplicationList::Active(Some("RUNNING"))).await.unwrap()), ["app-1"]);
    assert_eq!(ids(list(ApplicationList::Active(Some("new"))).await.unwrap()), ["app-3"]);
    let completed = list(ApplicationList::Completed).await.unwrap();
    assert_eq!(completed[0].application_state, "Completed");
    assert!(completed[0].finished_time.is_some() && completed[0].start_time > 0);
    assert_eq!(ids(completed), ["app-2"]);
    let rejected = list(ApplicationList::Rejected).await.unwrap();
    assert_eq!(rejected[0].state_log[0].application_state, "Rejected");
    assert_eq!(ids(rejected), ["app-refused"]);
    for path in ["applications/Active?status=", "applications/COMPLETED?status=odd"] {
        assert_eq!(server.get(&format!("/ws/v1/partition/default/{path}")).await.status, 200);
    }
    let of = |queue| client.get_queue_applications("default", queue);
    assert_eq!(ids(of("root.sales").await.unwrap()), ["app-1", "app-3"]);
    assert_eq!(ids(of("root").await.unwrap()), [""; 0], "a parent has none of its own");
    let active = client.get_queue_applications_by_state("default", "root.sales", Some("new"));
    assert_eq!(ids(active.await.unwrap()), ["app-3"]);
    let raw = server.get("/ws/v1/partition/default/applications/rejected").await.text();
    assert!(raw.contains("a queue \\u003cfor\\u003e it \\u0026 that"), "{raw}");
}

#[tokio::test]
async fn an_application_shows_what_it_has_and_why_it_waits() {
    let server = Server::start().await;
    server.furnish().await;
    let one = server.client().get_application("default", "app-1").await.unwrap();
    let client = server.client();
    let queue = client.get_queue_application("default", "root.sales", "app-1");
    assert_eq!(queue.await.unwrap(), one);
    assert_eq!((one.user.as_str(), one.groups.as_slice()), ("ann", &["ann".to_owned()][..]));
    assert_eq!(one.submission_time, start());
    assert_eq!(one.start_time * NANOS, start() + 1_000 * NANOS);
    let states: Vec<&str> =
        one.state_log.iter().map(|one| one.application_state.as_str()).collect();
    assert_eq!(states, ["Accepted", "Running"], "the first state is not logged");
    assert_eq!((one.used_resource.0["vcore"], one.pending_resource.0["vcore"]), (2_000, 20_000));
    assert_eq!(one.max_request_priority, 0);
    let [allocation] = one.allocations.as_slice() else { panic!("{one:?}") };
    assert_eq!((allocation.allocation_key.as_str(), allocation.priority.unwrap().0), ("a1", 0));
    assert_eq!(allocation.allocation_delay, 1_000 * NANOS);
    let [ask] = one.requests.as_slice() else { panic!("{one:?}") };
    assert!(ask.scheduling_attempted);
    let reason = &ask.allocation_log[0].message;
    assert!(
        reason.contains("needs 20 vcore") && reason.contains("maximum of queue root.sales is 8"),
        "{reason}"
    );
    // Lists say it, too.
    for path in ["queue/root.sales/applications", "applications/active"] {
        let all = server.json(&format!("/ws/v1/partition/default/{path}")).await;
        let all = all.as_array().unwrap().iter();
        let said: Vec<_> = all
            .filter(|listed| listed["applicationID"] == "app-1")
            .map(|listed| &listed["requests"][0]["allocationLog"][0]["message"])
            .collect();
        assert_eq!(said, [reason], "{path}");
    }

    let never = server.json("/ws/v1/partition/default/application/app-3").await;
    assert_eq!(never.get("startTime"), None, "it never began");
    assert_eq!(never["maxRequestPriority"], i32::MIN);
    assert_eq!(never["resourceHistory"], json!({}));
}

#[tokio::test]
async fn users_and_groups_show_their_use_and_their_limits() {
    let server = Server::start().await;
    server.furnish().await;
    let ann = server.json("/ws/v1/partition/default/usage/user/ann").await;
    assert_eq!(ann["queues"]["resourceUsage"]["vcore"], 3_000);
    assert_eq!(ann["queues"]["runningApplications"], json!(["app-1", "app-2"]));
    assert_eq!(ann["queues"]["queuename"], ann["queues"]["queuePath"]);
    let one = &ann["queues"]["children"][0]["children"][0];
    assert_eq!(one["queuePath"], "root.dev.one");
    assert_eq!(one["maxResources"], json!({"vcore": 4_000}));
    assert_eq!(one["maxApplications"], 2);
    let users = server.client().get_users("default").await.unwrap();
    let names: Vec<&str> = users.iter().map(|one| one.user_name.as_str()).collect();
    assert_eq!(names, ["ann"], "bob has nothing and no limit");
    let groups = server.client().get_groups("default").await.unwrap();
    assert_eq!(groups[0].group_name, "ops");
    let ops = server.client().get_group("default", "ops").await.unwrap();
    assert_eq!(ops, groups[0]);
    assert_eq!(server.json("/ws/v1/partition/gpu/usage/users").await, json!([]));
}

#[tokio::test]
async fn a_reader_sees_what_was_answered_before() {
    let server = Server::start().await;
    for count in 1..=30 {
        let node = crate::support::node(&format!("n{count:02}"), 1);
        server.accept(Command::AddNode(node)).await;
        assert_eq!(server.client().get_nodes("default").await.unwrap().len(), count);
    }
}

#[tokio::test]
async fn samples_are_taken_each_minute() {
    let server = Server::start().await;
    server.furnish().await;
    server.turn(60_000).await;
    // Samples are shown with the books, when something happens.
    server.accept(Command::AddNode(crate::support::node("n3", 1))).await;
    let apps = server.json("/ws/v1/history/apps").await;
    let last = apps.as_array().unwrap().last().unwrap();
    assert_eq!(last["totalApplications"], "2");
    assert_eq!(last["timestamp"], start() + 61_000 * NANOS);
    let containers = server.client().get_container_history().await.unwrap();
    assert_eq!(containers.last().unwrap().total_containers.unwrap().0, 2);
}

#[tokio::test]
async fn placement_rules_are_those_in_force() {
    let queues = "
partitions:
  - name: default
    placementrules:
      - name: fixed
        value: root.all
        create: true
        filter: {type: allow, users: ['^a.*$']}
        parent: {name: user, create: true, filter: {type: deny, groups: [ops, dev]}}
    queues: [{name: root, submitacl: '*'}]
";
    let options = crate::support::Options { queues: Some(queues.into()), ..Default::default() };
    let server = Server::with(options).await;
    let rules = server.json("/ws/v1/partition/default/placementrules").await;
    assert_eq!(rules[0]["filter"], json!({"type": "allow", "userExp": "^a.*$"}));
    assert_eq!(rules[0]["parameters"]["queue"], "root.all");
    assert_eq!(rules[0]["parentRule"]["filter"]["groupList"], json!(["ops", "dev"]));
    assert_eq!(
        rules.as_array().unwrap().last().unwrap(),
        &json!({"name": "recovery", "parameters": {"queue": "root.@recovery@"}})
    );
}

#[tokio::test]
async fn health_is_told_as_it_was_last() {
    let server = Server::start().await;
    server.furnish().await;
    server.rest.checks.run(&server.service).await;
    let health = server.client().get_health_check().await.unwrap();
    assert!(health.healthy);
    let names: Vec<&str> = health.health_checks.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), 9);
    assert_eq!((names[0], names[8]), ("Scheduling errors", "Orphan allocation on app check"));
    // A refused ask counts as an error from the next check on.
    let refused = server.handle.submit(Command::Ask(crate::support::ask("none", "x", 1)));
    refused.await.unwrap().unwrap_err();
    server.accept(Command::AddNode(crate::support::node("n3", 1))).await;
    assert!(server.client().get_health_check().await.unwrap().healthy);
    server.rest.checks.run(&server.service).await;
    let health = server.client().get_health_check().await.unwrap();
    assert!(!health.healthy && !health.health_checks[0].succeeded);
}
