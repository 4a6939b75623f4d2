//! Recognition, users, and amounts: examples 1, 2, 4 to 15, 22, and 23 of the specification.

use serde_json::{Value, json};

use crate::lab;
use crate::nodes::{node, tolerates};
use crate::world::Lab;

/// Returns a specification with one container that requests these amounts.
pub(crate) fn requests(amounts: Value) -> Value {
    json!({"containers": [{
        "name": "main",
        "image": "registry.k8s.io/pause:3.7",
        "resources": {"requests": amounts}
    }]})
}

fn labels(labels: Value) -> Value {
    json!({"labels": labels})
}

#[test]
#[doc(alias = "kubernetes W1")]
fn labels_name_the_application_and_the_queue() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let (a1, more) = ("e1-a1", json!({"applicationId": "e1-a1", "queue": "root.x"}));
    lab.pod("p", labels(more), requests(json!({"cpu": "100m", "memory": "50M"})));
    lab.runs("p");
    let application = lab.application(a1);
    assert_eq!(application["queueName"], "root.x");
    assert_eq!(application["user"], "nobody");
    let uid = lab.get(&["pod", "p"]).unwrap()["metadata"]["uid"].clone();
    assert_eq!(application["allocations"][0]["allocationKey"], uid);
    let listed = world.headroom(&["apps", a1]);
    assert!(listed.contains(&format!("{}/p ", lab.name)), "{listed}");
    assert_eq!(lab.amounts(a1), json!({"pods": 1, "vcore": 100, "memory": 50_000_000}));
}

#[test]
#[doc(alias = "SD-25")]
#[doc(alias = "kubernetes W2")]
fn a_pod_without_labels_has_the_application_and_the_queue_of_its_namespace() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    lab.pod("p", json!({}), json!({}));
    lab.runs("p");
    let id = format!("yunikorn-{}-autogen", lab.name);
    assert_eq!(lab.application(&id)["queueName"], format!("root.{}", lab.name));
    assert_eq!(lab.amounts(&id), json!({"pods": 1}));
}

#[test]
#[doc(alias = "kubernetes W5")]
fn values_that_differ_are_named_in_a_warning() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let more = json!({
        "labels": {"yunikorn.apache.org/app-id": "e5-c1", "applicationId": "e5-o1"},
        "annotations": {"yunikorn.apache.org/app-id": "e5-n1"}
    });
    lab.pod("p", more, json!({}));
    lab.runs("p");
    assert_eq!(lab.application("e5-c1")["applicationState"], "Running");
    let events = lab.get(&["events"]).unwrap();
    let all = events["items"].as_array().unwrap();
    let warnings: Vec<&Value> = all.iter().filter(|event| event["type"] == "Warning").collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let text = warnings[0]["message"].as_str().unwrap();
    assert!(text.contains("e5-n1") && text.contains("e5-o1"), "{text}");
}

#[test]
#[doc(alias = "kubernetes W4")]
fn a_marked_application_is_one_of_the_pod() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let marked = json!({"yunikorn.apache.org/app-id": format!("{}-uniqueautogen", lab.name)});
    lab.pod("p", labels(marked), json!({}));
    lab.runs("p");
    let uid = lab.get(&["pod", "p"]).unwrap()["metadata"]["uid"].clone();
    let id = format!("{}-{}", lab.name, uid.as_str().unwrap());
    assert_eq!(lab.application(&id)["allocations"][0]["allocationKey"], uid);
}

#[test]
#[doc(alias = "kubernetes W6")]
fn the_label_of_spark_names_the_application_and_the_annotation_the_queue() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let more = json!({
        "labels": {"spark-app-selector": "e6-spark", "queue": "root.small"},
        "annotations": {"yunikorn.apache.org/queue": "root.x"}
    });
    lab.pod("p", more, json!({}));
    lab.runs("p");
    assert_eq!(lab.application("e6-spark")["queueName"], "root.x");
    let events = lab.get(&["events"]).unwrap();
    let mut all = events["items"].as_array().unwrap().iter();
    let warns = |event: &Value| {
        let text = event["message"].as_str().unwrap_or_default();
        event["type"] == "Warning" && text.contains("root.small")
    };
    assert!(all.any(warns), "{events}");
}

#[test]
#[doc(alias = "kubernetes W22")]
fn the_priority_is_that_of_the_class() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let class = format!("{}-high", lab.name);
    world.apply(&json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": class, "annotations": {"yunikorn.apache.org/allow-preemption": "false"}},
        "value": 100}));
    let mut spec = requests(json!({"cpu": "100m"}));
    spec["priorityClassName"] = json!(class);
    lab.pod("p", labels(json!({"applicationId": "e22"})), spec);
    lab.runs("p");
    assert_eq!(lab.application("e22")["allocations"][0]["priority"], "100");
}

#[test]
#[doc(alias = "kubernetes W7")]
fn a_pod_of_another_scheduler_uses_capacity_of_its_node_and_no_quota() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let mut spec = requests(json!({"cpu": "250m"}));
    spec["schedulerName"] = json!("default-scheduler");
    spec["nodeName"] = json!("node-0001");
    lab.pod("p", labels(json!({"applicationId": "e7-a1"})), spec.clone());
    // As for a pod that the kubelet runs without the API server.
    let node = world.get(&["node", "node-0001"]).unwrap();
    let owner = json!([{"apiVersion": "v1", "kind": "Node", "name": "node-0001",
        "uid": node["metadata"]["uid"]}]);
    lab.pod("static", json!({"ownerReferences": owner}), spec.clone());
    for (name, kind) in [("p", "default"), ("static", "static")] {
        let uid = lab.get(&["pod", name]).unwrap()["metadata"]["uid"].clone();
        let foreign = lab.eventually("the foreign pod is known", || {
            let nodes = world.rest("/ws/v1/partition/default/nodes")?;
            let node = nodes.as_array()?.iter().find(|node| node["nodeID"] == "node-0001")?;
            let mut all = node["foreignAllocations"].as_array()?.iter();
            all.find(|one| one["allocationKey"] == uid).cloned()
        });
        assert_eq!(foreign["resource"], json!({"pods": 1, "vcore": 250}));
        assert_eq!(foreign["allocationTags"]["foreign"], kind, "{foreign}");
    }
    assert!(world.rest("/ws/v1/partition/default/application/e7-a1").is_none());
}

#[test]
#[doc(alias = "kubernetes W8")]
fn the_user_is_that_of_the_annotation() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    // Without groups, the groups are those that the user had before, as in YuniKorn.
    for (id, info, user, groups) in [
        ("e8-a", r#"{"user":"ann","groups":["ml"]}"#, "ann", Some(json!(["ml"]))),
        ("e8-b", r#"{"groups":["ml"]}"#, "nobody", Some(json!(["ml"]))),
        ("e8-c", r"{user: ann}", "nobody", None),
    ] {
        let more = json!({
            "labels": {"applicationId": id},
            "annotations": {"yunikorn.apache.org/user.info": info}
        });
        lab.pod(id, more, json!({}));
        lab.runs(id);
        let application = lab.application(id);
        assert_eq!(application["user"], user, "{id}");
        assert!(groups.is_none_or(|groups| application["groups"] == groups), "{application}");
    }
}

#[test]
#[doc(alias = "kubernetes W9")]
#[doc(alias = "kubernetes W10")]
#[doc(alias = "kubernetes W11")]
#[doc(alias = "kubernetes W14")]
fn amounts_are_those_of_kubernetes() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let container = |name: &str, amounts: Value| json!({"name": name, "image": "registry.k8s.io/pause:3.7", "resources": {"requests": amounts}});
    let sidecar = |name: &str, amounts: Value| {
        let mut one = container(name, amounts);
        one["restartPolicy"] = json!("Always");
        one
    };
    let with_init =
        |main: Vec<Value>, init: Vec<Value>| json!({"containers": main, "initContainers": init});
    let gib = 1_073_741_824_i64;
    let cases = [
        (
            "e9",
            with_init(
                vec![
                    container("a", json!({"cpu": "500m", "memory": "1Gi"})),
                    container("b", json!({"cpu": "250m", "memory": "512Mi"})),
                ],
                vec![container("i", json!({"cpu": "2", "memory": "1Gi"}))],
            ),
            json!({"pods": 1, "vcore": 2_000, "memory": gib + gib / 2}),
        ),
        (
            "e10",
            with_init(
                vec![container("a", json!({"cpu": "1", "memory": "512M"}))],
                vec![
                    container("i", json!({"cpu": "1", "memory": "1024M"})),
                    sidecar("s", json!({"cpu": "1", "memory": "1024M"})),
                ],
            ),
            json!({"pods": 1, "vcore": 2_000, "memory": 1_536_000_000}),
        ),
        (
            "e11",
            with_init(
                vec![container("a", json!({"cpu": "1"}))],
                vec![
                    sidecar("s1", json!({"cpu": "200m"})),
                    container("i2", json!({"cpu": "1500m"})),
                    sidecar("s3", json!({"cpu": "300m"})),
                ],
            ),
            json!({"pods": 1, "vcore": 1_700}),
        ),
        (
            "e13",
            requests(json!({"cpu": "1m", "memory": "1.5Gi"})),
            json!({"pods": 1, "vcore": 1, "memory": gib + gib / 2}),
        ),
        ("e14", json!({}), json!({"pods": 1})),
        (
            "e12",
            json!({
                "resources": {"requests": {"cpu": "3", "memory": "4Gi"}},
                "containers": [container("a", json!({"cpu": "1", "memory": "1Gi"}))],
            }),
            json!({"pods": 1, "vcore": 3_000, "memory": 4 * gib}),
        ),
    ];
    for (id, spec, amounts) in cases {
        lab.pod(id, labels(json!({"applicationId": id})), spec);
        lab.runs(id);
        assert_eq!(lab.amounts(id), amounts, "{id}");
    }
}

#[test]
#[doc(alias = "SD-26")]
#[doc(alias = "kubernetes W12")]
#[doc(alias = "kubernetes W13")]
fn devices_huge_pages_and_overhead_are_amounts() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-k", json!({}));
    let more = json!({"nvidia.com/gpu": "1", "hugepages-1Gi": "2Gi", "hugepages-2Mi": "8Mi",
        "ephemeral-storage": "4G"});
    let status = json!({"status": {"capacity": more, "allocatable": more}}).to_string();
    world.kubectl(&[
        "patch",
        "node",
        "own-k",
        "--subresource=status",
        "--type=merge",
        "-p",
        &status,
    ]);
    let class = format!("{}-boxed", lab.name);
    world.apply(&json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
        "metadata": {"name": class}, "handler": "boxed",
        "overhead": {"podFixed": {"cpu": "250m"}}}));
    let gib = 1_073_741_824_i64;
    for (id, amounts, more, expected) in [
        (
            "e12-gpu",
            json!({"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}),
            json!({"resources": {"requests": {"cpu": "3", "memory": "4Gi"}},
                "runtimeClassName": class}),
            json!({"pods": 1, "vcore": 3_250, "memory": 4 * gib, "nvidia.com/gpu": 1}),
        ),
        (
            "e13-small",
            json!({"cpu": "0.0001", "memory": "100m"}),
            json!({}),
            json!({"pods": 1, "vcore": 1, "memory": 1}),
        ),
        (
            "e13-pages",
            json!({"memory": "1.5Gi", "ephemeral-storage": "2G", "hugepages-2Mi": "4Mi"}),
            json!({}),
            json!({"pods": 1, "memory": gib + gib / 2, "ephemeral-storage": 2_000_000_000_i64,
                "hugepages-2Mi": 4_194_304}),
        ),
        (
            "sd-26",
            json!({"cpu": "250m", "memory": "1Gi", "hugepages-1Gi": "1Gi"}),
            json!({}),
            json!({"pods": 1, "vcore": 250, "memory": gib, "hugepages-1Gi": gib}),
        ),
    ] {
        let mut spec = tolerates("own-k");
        spec["containers"] = requests(amounts.clone())["containers"].clone();
        // Devices and huge pages need equal limits.
        spec["containers"][0]["resources"]["limits"] = amounts;
        for (field, value) in more.as_object().unwrap() {
            spec[field] = value.clone();
        }
        lab.pod(id, labels(json!({"applicationId": id})), spec);
        assert_eq!(lab.runs(id), "own-k");
        assert_eq!(lab.amounts(id), expected, "{id}");
        lab.kubectl(&["delete", "pod", id]);
    }
    world.kubectl(&["delete", "node", "own-k"]);
}

#[test]
#[doc(alias = "kubernetes W23")]
fn a_gated_pod_is_no_ask_until_its_gates_are_removed() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let gates = json!({"schedulingGates": [{"name": "example.com/ready"}]});
    lab.pod("p", labels(json!({"applicationId": "e23"})), gates);
    let note = lab.event("p", "Scheduling");
    assert!(note.contains("example.com/ready"), "{note}");
    let pod = format!("{}/p", lab.name);
    let explained = world.headroom(&["explain", "pod", &pod]);
    assert!(explained.contains("scheduling gates: example.com/ready"), "{explained}");
    lab.stays_pending("p");
    assert!(world.rest("/ws/v1/partition/default/application/e23").is_none());
    let patch = r#"[{"op": "remove", "path": "/spec/schedulingGates"}]"#;
    lab.kubectl(&["patch", "pod", "p", "--type=json", "-p", patch]);
    lab.runs("p");
}

#[test]
fn a_rejected_application_fails_its_pods_with_the_reason() {
    lab!(world, shared);
    // The parent of the namespace is a leaf, so the rule makes no queue below it.
    let lab = Lab::new(world, json!({"yunikorn.apache.org/parentqueue": "root.small"}));
    lab.pod("p", labels(json!({"applicationId": "rejected"})), json!({}));
    let pod = lab.eventually("the pod fails", || {
        let pod = lab.get(&["pod", "p"])?;
        (pod["status"]["phase"] == "Failed").then_some(pod)
    });
    assert_eq!(pod["status"]["reason"], "ApplicationRejected", "{pod}");
    let message = pod["status"]["message"].as_str().unwrap();
    assert!(message.contains("root.small"), "{message}");
}

#[test]
#[doc(alias = "kubernetes W15")]
fn a_resize_in_place_changes_the_allocation() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    lab.pod("p", labels(json!({"applicationId": "e15"})), requests(json!({"cpu": "1"})));
    lab.runs("p");
    // The pretended kubelet does not report amounts, without which the API server resizes nothing.
    let statuses = lab.eventually("the container has a status", || {
        let statuses = lab.get(&["pod", "p"])?["status"]["containerStatuses"].clone();
        statuses.is_array().then_some(statuses)
    });
    let patch = |subresource: &str, kind: &str, patch: Value| {
        let arguments = ["patch", "pod", "p", "--subresource", subresource, "--type", kind, "-p"];
        lab.kubectl(&[&arguments[..], &[&*patch.to_string()]].concat());
    };
    let reports = |cpu: &str| {
        let mut statuses = statuses.clone();
        statuses[0]["resources"] = json!({"requests": {"cpu": cpu}});
        statuses[0]["allocatedResources"] = json!({"cpu": cpu});
        patch("status", "merge", json!({"status": {"containerStatuses": statuses}}));
    };
    let resize = |cpu: &str| {
        let container = json!({"name": "main", "resources": {"requests": {"cpu": cpu}}});
        patch("resize", "strategic", json!({"spec": {"containers": [container]}}));
    };
    let infeasible =
        json!([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]);
    let has = |vcore: i64| {
        lab.eventually(&format!("the allocation has {vcore}"), || {
            (lab.amounts("e15")["vcore"] == vcore).then_some(())
        });
    };
    reports("1");
    resize("2");
    has(2_000);
    patch("status", "strategic", json!({"status": {"conditions": infeasible}}));
    has(1_000);
    patch("status", "json", json!([{"op": "remove", "path": "/status/conditions"}]));
    has(2_000);
    // The kubelet still has more than what is requested now.
    resize("500m");
    has(1_000);
    reports("500m");
    has(500);
}
