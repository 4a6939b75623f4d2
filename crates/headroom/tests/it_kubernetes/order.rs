//! Which of several pods starts next, and on which node.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::nodes::{tolerates, zones};
use crate::world::{Lab, QUEUES, World};

/// Creates a pod with one core in a queue of the queue file. The priority class can be empty.
fn pod(lab: &Lab, name: &str, id: &str, queue: &str, class: &str) {
    let id = format!("{}-{id}", lab.name);
    let mut spec = requests(json!({"cpu": "1"}));
    if !class.is_empty() {
        spec["priorityClassName"] = json!(class);
    }
    lab.pod(name, json!({"labels": {"applicationId": id, "queue": queue}}), spec);
}

#[test]
fn a_fair_queue_serves_the_application_that_uses_less() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let pod = |name: &str, id: &str| pod(&lab, name, id, "root.fair", "");
    for name in ["a0", "a1"] {
        pod(name, "a");
        lab.runs(name);
    }
    for (name, id) in [("a2", "a"), ("b0", "b")] {
        pod(name, id);
        lab.waits(name);
    }
    // The older ask would be the next one in the order of submission.
    lab.kubectl(&["delete", "pod", "a0"]);
    lab.runs("b0");
    lab.stays_pending("a2");
    lab.kubectl(&["delete", "pod", "a1"]);
    lab.runs("a2");
}

#[test]
fn priorities_of_pods_and_offsets_of_queues_decide_who_is_next() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let class = format!("{}-middle", lab.name);
    world.apply(&json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": class}, "value": 50}));
    pod(&lab, "first", "first", "root.ranked.low", "");
    lab.runs("first");
    for (name, queue, class) in [
        ("ordinary", "root.ranked.low", ""),
        ("middle", "root.ranked.low", &*class),
        ("offset", "root.ranked.high", ""),
    ] {
        pod(&lab, name, name, queue, class);
        lab.waits(name);
    }
    let mut running = "first";
    let mut waiting = vec!["offset", "middle", "ordinary"];
    while !waiting.is_empty() {
        lab.kubectl(&["delete", "pod", running]);
        running = waiting.remove(0);
        lab.runs(running);
        for name in &waiting {
            let pod = lab.get(&["pod", name]).unwrap();
            assert_eq!(pod["spec"]["nodeName"], Value::Null, "{name} before {running}");
        }
    }
}

#[test]
fn nodes_are_filled_one_after_the_other_or_evenly() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    let names = ["own-n1", "own-n2"];
    zones(&lab, &names);
    let mut spec = tolerates("none");
    spec["nodeSelector"] = json!({"spread": lab.name});
    spec["containers"] = requests(json!({"cpu": "500m"}))["containers"].clone();
    let place = |round: &str| {
        let mut nodes = ["p0", "p1", "p2", "p3"].map(|name| {
            let name = format!("{round}-{name}");
            lab.pod(&name, json!({}), spec.clone());
            lab.runs(&name)
        });
        nodes.sort();
        lab.kubectl(&["delete", "pod", "--all"]);
        lab.eventually("the nodes are empty", || (lab.used() == 0).then_some(()));
        nodes
    };
    assert_eq!(place("fair"), ["own-n1", "own-n1", "own-n2", "own-n2"]);
    let full = QUEUES.replace(
        "    placementrules:",
        "    nodesortpolicy: {type: binpacking}\n    placementrules:",
    );
    world.configure(&full);
    lab.eventually("the order of nodes", || (order(world)? == "binpacking").then_some(()));
    let nodes = place("full");
    assert!(nodes.iter().all(|node| *node == nodes[0]), "{nodes:?}");
    world.configure(QUEUES);
    lab.eventually("the former order", || (order(world)? == "fair").then_some(()));
    world.kubectl(&["delete", "node", "own-n1", "own-n2"]);
}

/// Returns the policy by which the partition orders its nodes.
fn order(world: &World) -> Option<String> {
    let partitions = world.rest("/ws/v1/partitions")?;
    Some(partitions[0]["nodeSortingPolicy"]["type"].as_str()?.to_owned())
}
