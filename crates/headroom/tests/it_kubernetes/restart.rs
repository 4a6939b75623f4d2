//! Restarts, of which example 24 is one, and changes of the config map.

use serde_json::json;

use crate::examples::requests;
use crate::lab;
use crate::world::{Lab, QUEUES};

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
