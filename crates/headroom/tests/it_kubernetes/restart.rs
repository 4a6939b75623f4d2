//! Restarts, of which examples 3 and 24 are two, and changes of the config map.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::gangs::{never_complete, placeholders};
use crate::lab;
use crate::nodes::{daemon_set, on_linux};
use crate::world::{Lab, QUEUES, World};

#[test]
fn a_killed_scheduler_continues_with_what_runs_and_waits() {
    lab!(world, alone);
    let quota = json!({"yunikorn.apache.org/namespace.quota": r#"{"cpu":"2"}"#});
    let lab = Lab::new(world, quota);
    let id = format!("{}-app", lab.name);
    let pod = |name: &str| {
        lab.pod(name, json!({"labels": {"applicationId": id}}), requests(json!({"cpu": "1"})));
    };
    pod("p0");
    pod("p1");
    let nodes = (lab.runs("p0"), lab.runs("p1"));
    pod("p2");
    lab.waits("p2");
    world.kill_scheduler();
    pod("p3");
    world.start_scheduler();
    lab.eventually("the allocations are known again", || {
        let application = world.rest(&format!("/ws/v1/partition/default/application/{id}"))?;
        (application["usedResource"]["vcore"] == 2_000).then_some(())
    });
    assert_eq!((lab.runs("p0"), lab.runs("p1")), nodes);
    lab.waits("p3");
    lab.stays_pending("p2");
    lab.kubectl(&["delete", "pod", "p0"]);
    lab.runs("p2");
    lab.stays_pending("p3");
    lab.kubectl(&["delete", "pod", "p1"]);
    lab.runs("p3");
}

#[test]
fn a_refused_queue_file_is_reported_at_its_config_map_and_changes_nothing() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    let with = |text: &str| world.configure(text);
    with("partitions: [{name: default, queues: [{name: root, colour: blue}]}]");
    let note = lab.eventually("a warning at the config map", || {
        let events = world.get(&["events", "-n", "default"])?;
        let mut all = events["items"].as_array()?.iter();
        let one = all.find(|event| {
            let is_warning = event["type"] == "Warning" && event["reason"] == "Configuration";
            is_warning && event["involvedObject"]["name"] == "yunikorn-configs"
        })?;
        Some(one["message"].as_str().unwrap_or_default().to_owned())
    });
    assert!(note.contains("colour"), "{note}");
    assert!(world.rest("/ws/v1/partition/default/queue/root.x").is_some());
    // The next valid file is in force without a restart.
    with(&QUEUES.replace("name: x\n", "name: x\n          - name: y\n"));
    lab.eventually("the new queue", || world.rest("/ws/v1/partition/default/queue/root.y"));
    with(QUEUES);
}

#[test]
fn a_scheduler_waits_for_an_api_server_that_is_not_there_yet() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    world.kill_scheduler();
    lab.pod("p", json!({}), json!({}));
    world.stop_api_server();
    world.start_scheduler();
    std::thread::sleep(std::time::Duration::from_secs(1));
    world.start_api_server();
    lab.runs("p");
}

/// A queue file whose only rule needs the parent queue of the namespace.
const PARENTS: &str = "
partitions:
  - name: default
    placementrules:
      - name: tag
        value: namespace
        create: true
        parent: {name: tag, value: namespace.parentqueue}
    queues:
      - name: root
        submitacl: '*'
        queues:
          - {name: production, parent: true}
          - {name: development, parent: true, resources: {max: {vcore: 8}}}
";

#[test]
#[doc(alias = "SD-25")]
fn a_namespace_names_the_parent_of_its_queue() {
    lab!(world, alone);
    let (parent, quota) =
        ("yunikorn.apache.org/parentqueue", "yunikorn.apache.org/namespace.quota");
    let labs = [
        (json!({parent: "root.production"}), Some("root.production"), None),
        (json!({parent: "production"}), Some("root.production"), None),
        (
            json!({parent: "root.development", quota: r#"{"cpu":"2"}"#}),
            Some("root.development"),
            Some(2_000),
        ),
        (json!({parent: "root.nowhere"}), None, None),
    ]
    .map(|(annotations, above, max)| (Lab::new(world, annotations), above, max));
    world.configure(PARENTS);
    let queue = |path: &str| world.rest(&format!("/ws/v1/partition/default/queue/{path}"));
    labs[0].0.eventually("the queue file is in force", || queue("root.development"));
    for (lab, above, max) in &labs {
        lab.pod("p", json!({}), requests(json!({"cpu": "100m"})));
        let Some(above) = above else {
            let pod = lab.eventually("the pod fails", || {
                let pod = lab.get(&["pod", "p"])?;
                (pod["status"]["phase"] == "Failed").then_some(pod)
            });
            assert_eq!(pod["status"]["reason"], "ApplicationRejected", "{pod}");
            continue;
        };
        lab.runs("p");
        let own = queue(&format!("{above}.{}", lab.name)).unwrap();
        assert_eq!(own["maxResource"]["vcore"].as_i64(), *max, "{own}");
    }
    // The quota of the namespace does not reach the parent.
    assert_eq!(queue("root.development").unwrap()["maxResource"]["vcore"], 8_000);
    world.configure(QUEUES);
    labs[0].0.eventually("the former queue file is in force", || queue("root.x"));
}

#[test]
#[doc(alias = "kubernetes W3")]
fn generated_ids_can_be_those_of_pods() {
    lab!(world, alone);
    world.kill_scheduler();
    world.configure_all(json!({
        "queues.yaml": QUEUES,
        "admissionController.filtering.generateUniqueAppId": "true"
    }));
    world.start_scheduler();
    for lab in [
        Lab::new(world, json!({})),
        Lab::named(world, "a-very-long-namespace-name-here", json!({})),
    ] {
        lab.pod("p", json!({}), json!({}));
        lab.runs("p");
        let uid = lab.get(&["pod", "p"]).unwrap()["metadata"]["uid"].clone();
        let namespace: String = lab.name.chars().take(26).collect();
        let application = lab.application(&format!("{namespace}-{}", uid.as_str().unwrap()));
        assert_eq!(application["allocations"][0]["allocationKey"], uid);
    }
    world.kill_scheduler();
    world.configure(QUEUES);
    world.start_scheduler();
}

/// A queue file that lacks the queues of others, and makes none.
const OTHER: &str = "
partitions:
  - name: default
    placementrules: [{name: provided}]
    queues:
      - {name: root, submitacl: '*', queues: [{name: other}]}
";

#[test]
#[doc(alias = "kubernetes W24")]
fn a_pod_whose_queue_is_gone_after_a_restart_stays_in_the_recovery_queue() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    let id = format!("{}-kept", lab.name);
    let pod = |name: &str, id: &str| {
        let labels = json!({"labels": {"applicationId": id, "queue": "root.x"}});
        lab.pod(name, labels, requests(json!({"cpu": "1"})));
    };
    pod("p", &id);
    let node = lab.runs("p");
    assert_eq!(lab.application(&id)["queueName"], "root.x");
    world.kill_scheduler();
    world.configure(OTHER);
    world.start_scheduler();
    let application = lab.application(&id);
    assert_eq!(application["queueName"], "root.@recovery@");
    assert_eq!(application["usedResource"]["vcore"], 1_000);
    assert_eq!(application["allocations"][0]["nodeId"], node.as_str());
    assert_eq!(lab.runs("p"), node);
    // A new application of the queue is refused as always.
    pod("q", &format!("{}-new", lab.name));
    lab.eventually("the pod fails", || {
        (lab.get(&["pod", "q"])?["status"]["phase"] == "Failed").then_some(())
    });
    world.configure(QUEUES);
    lab.eventually("the former queue file is in force", || {
        world.rest("/ws/v1/partition/default/queue/root.x")
    });
}

/// Returns what the books have of all nodes and of some applications.
fn books(world: &World, ids: &[String]) -> Option<Value> {
    let key = |one: &Value| one["allocationKey"].as_str().unwrap_or_default().to_owned();
    let field = |all: &Value, fields: &[&str]| {
        let mut all = all.as_array().cloned().unwrap_or_default();
        all.sort_by_key(key);
        let pick = |one: Value| fields.iter().map(|field| one[*field].clone()).collect::<Value>();
        all.into_iter().map(pick).collect::<Value>()
    };
    let nodes = world.rest("/ws/v1/partition/default/nodes")?;
    let nodes = nodes.as_array()?.iter().map(|node| {
        let allocations = field(&node["allocations"], &["allocationKey", "resource"]);
        json!([node["nodeID"], node["allocated"], node["occupied"], allocations])
    });
    let applications = ids.iter().map(|id| {
        let one = world.rest(&format!("/ws/v1/partition/default/application/{id}"))?;
        let fields = ["allocationKey", "nodeId", "originator", "placeholder", "taskGroupName"];
        let (placed, asked) =
            (field(&one["allocations"], &fields), field(&one["requests"], &fields));
        Some(json!([one["queueName"], one["user"], one["usedResource"], placed, asked]))
    });
    let applications = applications.collect::<Option<Vec<_>>>()?;
    Some(json!([nodes.collect::<Vec<_>>(), applications]))
}

#[test]
fn a_restart_finds_gangs_and_the_use_of_nodes_as_they_were() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    let (plain, gang) = (format!("{}-plain", lab.name), format!("{}-gang", lab.name));
    lab.pod("s0", json!({"labels": {"applicationId": plain}}), requests(json!({"cpu": "250m"})));
    lab.runs("s0");
    let groups = r#"[{"name":"w","minMember":2,"minResource":{"cpu":"100m"}}]"#;
    for name in ["m0", "m1"] {
        let more = json!({
            "labels": {"applicationId": gang},
            "annotations": {
                "yunikorn.apache.org/task-group-name": "w",
                "yunikorn.apache.org/task-groups": groups
            }
        });
        lab.pod(name, more, requests(json!({"cpu": "100m"})));
    }
    for name in ["m0", "m1"] {
        lab.runs(name);
    }
    lab.eventually("all placeholders are replaced", || placeholders(&lab).is_empty().then_some(()));
    let waiting = never_complete(&lab, "n0");
    lab.eventually("the pods of other tests are gone", || {
        let pods = world.get(&["pods", "-A"])?;
        let leaves = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_string();
        (!pods["items"].as_array()?.iter().any(leaves)).then_some(())
    });
    let pods = || {
        let pods = lab.get(&["pods"]).unwrap();
        let all = pods["items"].as_array().unwrap().iter();
        let mut all: Vec<Value> =
            all.map(|pod| json!([pod["metadata"]["uid"], pod["spec"]["nodeName"]])).collect();
        all.sort_by_key(ToString::to_string);
        all
    };
    let ids = [plain, gang, waiting];
    let (pods_before, before) = (pods(), books(world, &ids).unwrap());
    world.kill_scheduler();
    world.start_scheduler();
    let mut last = None;
    let begin = std::time::Instant::now();
    while begin.elapsed().as_secs() < 30 && last.as_ref() != Some(&before) {
        std::thread::sleep(std::time::Duration::from_millis(200));
        last = books(world, &ids);
    }
    assert_eq!(last, Some(before), "thirty seconds after the restart");
    lab.stays_pending("n0");
    assert_eq!(pods(), pods_before, "no pod came, went, or moved");
}

#[test]
fn the_config_maps_set_the_levels_of_the_log() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    let levels = || world.rest("/headroom/v1/log-level").unwrap();
    let before = levels();
    world.configure_all(
        json!({"queues.yaml": QUEUES, "log.level": "ERROR", "log.shim.context.level": "-1"}),
    );
    lab.eventually("the levels", || (levels()["level"] == "error").then_some(()));
    assert_eq!(levels()["targets"]["headroom_kubernetes"], "debug");
    world.configure(QUEUES);
    lab.eventually("the former levels", || (levels() == before).then_some(()));
}

#[test]
fn a_pod_of_a_daemon_set_that_waits_does_not_block_a_restart() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    // The start is not over before this pod is known, and the asks of others precede its end.
    lab.pod("before", json!({}), json!({}));
    lab.runs("before");
    world.kill_scheduler();
    // These pods require a node, so the core asks about them although no node takes other asks yet.
    daemon_set(&lab, &on_linux());
    lab.eventually("the pods exist", || {
        let pods = lab.get(&["pods"])?;
        (pods["items"].as_array()?.len() >= 4).then_some(())
    });
    lab.pod("p", json!({}), json!({}));
    world.start_scheduler();
    lab.runs("p");
    lab.eventually("each pod has its node", || {
        let pods = lab.get(&["pods"])?;
        let mut pods = pods["items"].as_array()?.iter();
        pods.all(|pod| pod["spec"]["nodeName"].is_string()).then_some(())
    });
    lab.kubectl(&["delete", "daemonset", "agent"]);
}
