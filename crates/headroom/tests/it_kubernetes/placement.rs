//! What no suite of the reference covers: spread, volumes, guarantees, binds that fail, and two schedulers.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::nodes::{node, tolerates, zones};
use crate::world::{Lab, World};

#[test]
fn pods_spread_over_zones() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let names = ["own-s1", "own-s2"];
    zones(&lab, &names);
    let id = format!("{}-spread", lab.name);
    let more = json!({"labels": {"applicationId": id, "app": id}});
    let mut spec = tolerates("none");
    spec["nodeSelector"] = json!({"spread": lab.name});
    spec["topologySpreadConstraints"] = json!([{
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": id}}
    }]);
    let mut found = ["p0", "p1", "p2", "p3"].map(|name| {
        lab.pod(name, more.clone(), spec.clone());
        lab.runs(name)
    });
    found.sort();
    assert_eq!(found, ["own-s1", "own-s1", "own-s2", "own-s2"]);
    // With one zone cordoned, one more pod fits the other zone, and the second one does not.
    world.kubectl(&["cordon", "own-s2"]);
    lab.pod("p4", more.clone(), spec.clone());
    assert_eq!(lab.runs("p4"), "own-s1");
    lab.pod("p5", more, spec);
    let (reason, message) = lab.waits("p5");
    assert_eq!(reason, "Unschedulable", "{message}");
    let explained = world.headroom(&["explain", "pod", &format!("{}/p5", lab.name)]);
    assert!(explained.contains("PodTopologySpread refuses"), "{explained}");
    world.kubectl(&["uncordon", "own-s2"]);
    assert_eq!(lab.runs("p5"), "own-s2");
    lab.kubectl(&["delete", "pod", "--all"]);
    world.kubectl(&["delete", "node", "own-s1", "own-s2"]);
}

#[test]
fn a_claim_gets_its_volume_before_the_pod_gets_its_node() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    node(world, "own-v", json!({}));
    let class = format!("{}-local", lab.name);
    world.apply(&json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": class}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer"}));
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": lab.name},
        "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}});
    world.apply(&claim);
    let mut spec = tolerates("none");
    spec["nodeSelector"] = Value::Null;
    spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    lab.pod("p", json!({"labels": {"applicationId": format!("{}-v", lab.name)}}), spec);
    let (reason, message) = lab.waits("p");
    assert_eq!(reason, "Unschedulable", "{message}");
    // Only the node of the volume can take the pod, although other nodes are free.
    world.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": class},
        "spec": {"storageClassName": class, "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "local": {"path": "/none"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["own-v"]}]}]}}}}),
    );
    assert_eq!(lab.runs("p"), "own-v");
    let bound = lab.get(&["persistentvolumeclaim", "data"]).unwrap();
    assert_eq!(bound["spec"]["volumeName"], class);
    lab.kubectl(&["delete", "pod", "p"]);
    world.kubectl(&["delete", "node", "own-v"]);
}

#[test]
fn a_volume_lets_a_pod_start_that_has_reserved_another_node() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let names = ["own-r1", "own-r2"];
    zones(&lab, &names);
    let class = format!("{}-local", lab.name);
    world.apply(&json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": class}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer"}));
    world.apply(&json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": lab.name},
        "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}));
    let on = |node: &str, cpu: &str| {
        let mut spec = tolerates(node);
        spec["containers"] = requests(json!({"cpu": cpu}))["containers"].clone();
        spec
    };
    lab.pod(
        "filler",
        json!({"labels": {"applicationId": format!("{}-f", lab.name)}}),
        on("own-r1", "3"),
    );
    lab.runs("filler");
    let mut spec = on("none", "2");
    spec["nodeSelector"] = json!({"spread": lab.name});
    spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    lab.pod("p", json!({"labels": {"applicationId": format!("{}-p", lab.name)}}), spec);
    // The volume is missing on one node, and the capacity on the other one, which is reserved after two seconds.
    lab.eventually("the full node is reserved", || {
        let nodes = world.rest("/ws/v1/partition/default/nodes")?;
        let full = nodes.as_array()?.iter().find(|node| node["nodeID"] == "own-r1")?.clone();
        full["reservations"].as_array().filter(|all| !all.is_empty()).map(|_| ())
    });
    world.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": class},
        "spec": {"storageClassName": class, "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "local": {"path": "/none"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["own-r2"]}]}]}}}}),
    );
    assert_eq!(lab.runs("p"), "own-r2");
    lab.kubectl(&["delete", "pod", "--all"]);
    world.kubectl(&["delete", "node", "own-r1", "own-r2"]);
}

#[test]
fn a_guarantee_is_recovered_from_pods_of_another_namespace() {
    lab!(world, shared);
    let parent = "yunikorn.apache.org/parentqueue";
    let rich = Lab::new(world, json!({parent: "root.fought"}));
    let entitled = Lab::new(
        world,
        json!({parent: "root.fought", "yunikorn.apache.org/namespace.guaranteed": r#"{"cpu":"2"}"#}),
    );
    let pod = |lab: &Lab, name: &str| {
        let id = format!("{}-{name}", lab.name);
        lab.pod(name, json!({"labels": {"applicationId": id}}), requests(json!({"cpu": "1"})));
    };
    for name in ["r0", "r1", "r2", "r3"] {
        pod(&rich, name);
        rich.runs(name);
    }
    for name in ["e0", "e1"] {
        pod(&entitled, name);
        entitled.runs(name);
    }
    let left = || rich.get(&["pods"]).unwrap()["items"].as_array().unwrap().len();
    rich.eventually("two pods are stopped", || (left() == 2).then_some(()));
    // The guarantee is full, so the third pod stops nobody.
    pod(&entitled, "e2");
    entitled.waits("e2");
    entitled.stays_pending("e2");
    assert_eq!(left(), 2);
}

#[test]
fn a_pod_whose_bind_fails_is_bound_later() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let name = format!("{}-no-binds", lab.name);
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["pods/binding"]});
    world.apply(&json!({"apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
    "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "message": "no binds for now"}]
    }}));
    world.apply(&json!({"apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
    "spec": {
        "policyName": name,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchLabels":
            {"kubernetes.io/metadata.name": lab.name}}}
    }}));
    // The policy is in force when a pod that names its scheduler itself cannot be bound by hand.
    lab.pod("other", json!({}), json!({"schedulerName": "nobody"}));
    let binding = json!({"apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": "other", "namespace": lab.name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "node-0001"}});
    lab.eventually("the policy is in force", || {
        let path = format!("/api/v1/namespaces/{}/pods/other/binding?dryRun=All", lab.name);
        world.post(&path, &binding).err().filter(|error| error.contains("no binds for now"))
    });
    let id = format!("{}-b", lab.name);
    lab.pod("p", json!({"labels": {"applicationId": id}}), requests(json!({"cpu": "1"})));
    let note = lab.event("p", "PodBindDelayed");
    assert!(note.contains("no binds for now"), "{note}");
    lab.stays_pending("p");
    world.kubectl(&["delete", "validatingadmissionpolicybinding", &name]);
    lab.runs("p");
    assert_eq!(lab.amounts(&id)["vcore"], 1_000);
    assert_eq!(lab.application(&id)["usedResource"]["vcore"], 1_000);
}

#[test]
fn two_schedulers_at_once_place_each_pod_once() {
    lab!(world, alone);
    let quota = json!({"yunikorn.apache.org/namespace.quota": r#"{"cpu":"4"}"#});
    let lab = Lab::new(world, quota);
    let second = world.start_second();
    let id = format!("{}-two", lab.name);
    let names: Vec<String> = (0..12).map(|number| format!("p{number}")).collect();
    for name in &names {
        let more = json!({"labels": {"applicationId": id}});
        lab.pod(name, more, requests(json!({"cpu": "500m"})));
    }
    let bound = || {
        let pods = lab.get(&["pods"])?;
        let all = pods["items"].as_array()?.clone();
        Some(all.iter().filter(|pod| pod["spec"]["nodeName"].is_string()).count())
    };
    lab.eventually("eight pods run", || bound().filter(|count| *count >= 8));
    let used = |address: &str| {
        let path = format!("/ws/v1/partition/default/application/{id}");
        World::rest_at(address, &path)?["usedResource"]["vcore"].as_i64()
    };
    for address in [world.address(), second.address.clone()] {
        lab.eventually("both have the same books", || {
            (used(&address) == Some(4_000)).then_some(())
        });
    }
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(bound(), Some(8), "the quota holds");
    drop(second);
}
