//! Nodes: examples 21 and 25, and changes that let a refused pod start.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::world::{Lab, World};

/// Creates a node of its own with a label, so that other tests do not use it.
pub(crate) fn node(world: &World, name: &str, spec: Value) {
    let size = json!({"cpu": "3920m", "memory": "7Gi", "pods": "110"});
    let mut whole = json!({"taints": [{"key": "own", "value": name, "effect": "NoSchedule"}]});
    if let (Some(whole), Some(spec)) = (whole.as_object_mut(), spec.as_object()) {
        whole.extend(spec.clone());
    }
    world.apply(&json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "own": name}},
        "spec": whole}));
    let status = json!({"status": {"capacity": size, "allocatable": size}});
    world.kubectl(&[
        "patch",
        "node",
        name,
        "--subresource=status",
        "--type=merge",
        "-p",
        &status.to_string(),
    ]);
}

/// Creates nodes of one test, each in a zone of its own.
pub(crate) fn zones(lab: &Lab, names: &[&str]) {
    for name in names {
        node(lab.world, name, json!({}));
        let (own, zone) = (format!("spread={}", lab.name), format!("zone={name}"));
        lab.world.kubectl(&["label", "node", name, &own, &zone]);
    }
}

pub(crate) fn tolerates(node: &str) -> Value {
    json!({
        "nodeSelector": {"own": node},
        "tolerations": [{"key": "own", "operator": "Exists"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]
    })
}

#[test]
#[doc(alias = "kubernetes W25")]
fn a_refused_pod_starts_when_its_node_changes() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-a", json!({}));
    let mut spec = tolerates("own-a");
    spec["tolerations"] = json!([{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]);
    lab.pod("p", json!({}), spec);
    let (reason, _) = lab.waits("p");
    assert_eq!(reason, "Unschedulable");
    let nodes = world.rest("/ws/v1/partition/default/nodes").unwrap();
    let own = nodes.as_array().unwrap().iter().find(|node| node["nodeID"] == "own-a").unwrap();
    assert_eq!(own["capacity"], json!({"vcore": 3_920, "memory": 7_516_192_768_i64, "pods": 110}));
    let explained = world.headroom(&["explain", "pod", &format!("{}/p", lab.name)]);
    let taint =
        "add a toleration for the taint own=own-a:NoSchedule to the pod, or remove it from own-a";
    assert!(explained.contains("TaintToleration refuses"), "{explained}");
    assert!(explained.contains(taint), "{explained}");
    world.kubectl(&["taint", "node", "own-a", "own-"]);
    assert_eq!(lab.runs("p"), "own-a");
    lab.kubectl(&["delete", "pod", "p"]);
    world.kubectl(&["delete", "node", "own-a"]);
}

#[test]
#[doc(alias = "kubernetes W25")]
fn a_cordoned_node_takes_no_pod_until_it_is_uncordoned() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-b", json!({"unschedulable": true}));
    lab.pod("p", json!({}), tolerates("own-b"));
    assert_eq!(lab.waits("p").0, "Unschedulable");
    lab.stays_pending("p");
    world.kubectl(&["uncordon", "own-b"]);
    assert_eq!(lab.runs("p"), "own-b");
    lab.kubectl(&["delete", "pod", "p"]);
    world.kubectl(&["delete", "node", "own-b"]);
}

#[test]
fn a_deleted_node_releases_its_capacity() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-c", json!({}));
    let id = format!("{}-lost", lab.name);
    let mut spec = tolerates("own-c");
    spec["containers"] = requests(json!({"cpu": "1"}))["containers"].clone();
    lab.pod("p", json!({"labels": {"applicationId": id}}), spec);
    lab.runs("p");
    world.kubectl(&["delete", "node", "own-c"]);
    lab.eventually("the node is forgotten", || {
        let nodes = world.rest("/ws/v1/partition/default/nodes")?;
        let mut all = nodes.as_array()?.iter();
        (!all.any(|node| node["nodeID"] == "own-c")).then_some(())
    });
    lab.kubectl(&["delete", "pod", "p", "--force"]);
}

#[test]
fn a_node_that_returns_has_its_pods_again() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-f", json!({}));
    let id = format!("{}-back", lab.name);
    let mut spec = tolerates("own-f");
    spec["containers"] = requests(json!({"cpu": "1"}))["containers"].clone();
    lab.pod("p", json!({"labels": {"applicationId": id}}), spec);
    lab.runs("p");
    let own = || {
        let nodes = world.rest("/ws/v1/partition/default/nodes")?;
        nodes.as_array()?.iter().find(|node| node["nodeID"] == "own-f").cloned()
    };
    world.kubectl(&["delete", "node", "own-f"]);
    lab.eventually("the node is forgotten", || own().is_none().then_some(()));
    lab.eventually("nothing is used", || (lab.used() == 0).then_some(()));
    node(world, "own-f", json!({}));
    lab.eventually("the node has its pod", || {
        (own()?["allocated"]["vcore"] == 1_000).then_some(())
    });
    assert_eq!(lab.used(), 1_000);
    assert_eq!(lab.runs("p"), "own-f");
    lab.kubectl(&["delete", "pod", "p"]);
    world.kubectl(&["delete", "node", "own-f"]);
}

#[test]
fn a_pod_with_anti_affinity_starts_when_the_other_pod_ends() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-d", json!({}));
    node(world, "own-e", json!({}));
    for name in ["own-d", "own-e"] {
        world.kubectl(&["label", "node", name, "zone=de"]);
    }
    let mut spec = tolerates("own-d");
    lab.pod(
        "other",
        json!({"labels": {"app": "other", "applicationId": format!("{}-o", lab.name)}}),
        spec.clone(),
    );
    lab.runs("other");
    // The whole zone is refused, so the end of a pod on another node lets the pod start.
    spec["nodeSelector"] = json!({"own": "own-e"});
    spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "other"}}, "topologyKey": "zone"}
    ]}});
    lab.pod("p", json!({"labels": {"applicationId": format!("{}-p", lab.name)}}), spec);
    assert_eq!(lab.waits("p").0, "Unschedulable");
    lab.kubectl(&["delete", "pod", "other"]);
    assert_eq!(lab.runs("p"), "own-e");
    lab.kubectl(&["delete", "pod", "p"]);
    world.kubectl(&["delete", "node", "own-d", "own-e"]);
}

/// Creates the daemon set `agent`, whose pods are one application.
pub(crate) fn daemon_set(lab: &Lab, spec: &Value) {
    let labels = json!({"app": "agent", "applicationId": format!("{}-ds", lab.name)});
    lab.world.apply(&json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": lab.name},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {"metadata": {"labels": labels}, "spec": spec}
        }
    }));
}

/// Returns the specification of pods that run on all nodes of the cluster, and not on those of single tests.
pub(crate) fn on_linux() -> Value {
    json!({
        "schedulerName": "yunikorn",
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.7"}]
    })
}

#[test]
#[doc(alias = "kubernetes W21")]
fn a_pod_of_a_daemon_set_runs_on_the_node_that_it_names() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    daemon_set(&lab, &on_linux());
    let has = |count: u64| {
        let set = lab.get(&["daemonset", "agent"])?;
        let status = &set["status"];
        let wanted = status["desiredNumberScheduled"].as_u64()?;
        let ready = status["currentNumberScheduled"].as_u64()?;
        let pods = lab.get(&["pods"])?;
        let bound =
            pods["items"].as_array()?.iter().filter(|pod| pod["spec"]["nodeName"].is_string());
        (wanted >= count && ready == wanted && bound.count() as u64 == wanted).then_some(())
    };
    lab.eventually("the controller has counted the nodes", || {
        lab.get(&["daemonset", "agent"])?["status"]["observedGeneration"].as_u64()
    });
    lab.eventually("each pod has its node", || has(3));
    lab.kubectl(&["delete", "daemonset", "agent"]);
}

#[test]
fn a_pod_that_can_run_on_one_node_only_does_not_request_more_nodes() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-h", json!({}));
    let mut spec = tolerates("own-h");
    spec["containers"] = json!([{"name": "main", "image": "registry.k8s.io/pause:3.7",
        "resources": {"requests": {"cpu": "3"}}}]);
    spec["terminationGracePeriodSeconds"] = json!(0);
    // The pod of another scheduler fills the node, and cannot be preempted.
    let mut other = spec.clone();
    (other["schedulerName"], other["nodeName"]) = (json!("another"), json!("own-h"));
    world.apply(&json!({"apiVersion": "v1", "kind": "Pod", "spec": other,
        "metadata": {"name": "other", "namespace": lab.name}}));
    lab.runs("other");
    spec["schedulerName"] = json!("yunikorn");
    daemon_set(&lab, &spec);
    let agent = lab.eventually("the controller creates a pod", || {
        let pods = lab.get(&["pods"])?;
        let mut names = pods["items"].as_array()?.iter().map(|pod| &pod["metadata"]["name"]);
        Some(names.find(|name| *name != "other")?.as_str()?.to_owned())
    });
    let (reason, message) = lab.waits(&agent);
    assert_eq!(reason, "SchedulingSkipped", "{message}");
    lab.kubectl(&["delete", "pod", "other"]);
    assert_eq!(lab.runs(&agent), "own-h");
    lab.kubectl(&["delete", "daemonset", "agent"]);
    world.kubectl(&["delete", "node", "own-h"]);
}

#[test]
fn metrics_and_the_state_dump_tell_about_pods() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let sample = |name: &str| {
        let metrics = World::text_at(&world.address(), "/metrics").unwrap();
        let of = |line: &&str| line.starts_with(name);
        let sum = metrics.lines().filter(of).map(|line| line.rsplit(' ').next().unwrap());
        sum.map(|value| value.parse::<u64>().unwrap()).sum::<u64>()
    };
    let names = [
        "headroom_kubernetes_events_total{result=\"written\"}",
        "headroom_kubernetes_bind_seconds_count ",
        "headroom_kubernetes_requests_total{method=\"POST\",code=\"201\"}",
    ];
    let before = names.map(sample);
    lab.pod("p", json!({"labels": {"applicationId": "told"}}), json!({}));
    let node = lab.runs("p");
    lab.eventually("higher counts", || {
        let now = names.map(sample);
        now.iter().zip(&before).all(|(now, before)| now > before).then_some(())
    });
    let dump = world.rest("/debug/fullstatedump").unwrap();
    let pod = &dump["rmDiagnostics"]["cache"]["pods"][format!("{}/p", lab.name)];
    assert_eq!(
        (pod["node"].as_str(), pod["state"].as_str()),
        (Some(&*node), Some("Bound")),
        "{pod}"
    );
    assert_eq!(pod["applicationId"], "told");
}
