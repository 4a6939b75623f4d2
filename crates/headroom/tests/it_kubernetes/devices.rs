//! Devices of `resource.k8s.io`: claims have their devices before the pod is bound.

use serde_json::{Value, json};

use crate::lab;
use crate::nodes::{node, tolerates};
use crate::world::Lab;

const API: &str = "resource.k8s.io/v1";

/// Creates a node with two devices, and a class and a template for one of them. Returns the name of the class.
fn devices(lab: &Lab, on: &str) -> String {
    devices_with(lab, on, &json!([{"name": "gpu-0"}, {"name": "gpu-1"}]))
}

/// The same with these devices. The class backs an extended resource, named after the driver.
fn devices_with(lab: &Lab, on: &str, devices: &Value) -> String {
    node(lab.world, on, json!({}));
    let name = format!("{}-gpu", lab.name);
    lab.world.apply(&json!({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name},
        "spec": {
            "extendedResourceName": format!("{name}.example/gpu"),
            "selectors": [{"cel": {"expression": format!("device.driver == '{name}.example'")}}],
            "config": [{"opaque": {"driver": format!("{name}.example"), "parameters": {"mode": "fast"}}}]
        }}));
    lab.world.apply(
        &json!({"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name},
        "spec": {
            "driver": format!("{name}.example"),
            "pool": {"name": on, "generation": 1, "resourceSliceCount": 1},
            "nodeName": on,
            "devices": devices
        }}),
    );
    lab.world.apply(&json!({"apiVersion": API, "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one-gpu", "namespace": lab.name},
        "spec": {"spec": {"devices": {"requests": [
            {"name": "gpu", "exactly": {"deviceClassName": name}}]}}}}));
    name
}

/// Creates a pod that asks for a device.
fn pod(lab: &Lab, name: &str, claim: Value) {
    let mut spec = tolerates("none");
    spec["nodeSelector"] = Value::Null;
    spec["resourceClaims"] = json!([claim]);
    spec["containers"] = json!([{"name": "main", "image": "registry.k8s.io/pause:3.7",
        "resources": {"claims": [{"name": "gpu"}]}}]);
    lab.pod(name, json!({"labels": {"applicationId": format!("{}-{name}", lab.name)}}), spec);
}

/// Returns the claim that was created for a pod.
fn claim_of(lab: &Lab, pod: &str) -> Value {
    let pod = lab.get(&["pod", pod]).unwrap();
    let name = pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].as_str().unwrap();
    lab.get(&["resourceclaim", name]).unwrap()
}

#[test]
fn a_claim_has_its_device_before_the_pod_has_its_node() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let class = devices(&lab, "own-g");
    let own = json!({"name": "gpu", "resourceClaimTemplateName": "one-gpu"});
    for name in ["p0", "p1"] {
        pod(&lab, name, own.clone());
        assert_eq!(lab.runs(name), "own-g");
    }
    let mut found = Vec::new();
    for name in ["p0", "p1"] {
        let claim = claim_of(&lab, name);
        let (allocation, users) = (&claim["status"]["allocation"], &claim["status"]["reservedFor"]);
        let result = &allocation["devices"]["results"][0];
        assert_eq!((&result["request"], &result["pool"]), (&json!("gpu"), &json!("own-g")));
        let config = &allocation["devices"]["config"][0];
        assert_eq!(
            (&config["source"], &config["requests"]),
            (&json!("FromClass"), &json!(["gpu"]))
        );
        let term = &allocation["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0];
        assert_eq!(term["values"], json!(["own-g"]));
        assert_eq!((&users[0]["name"], &users[0]["resource"]), (&json!(name), &json!("pods")));
        found.push(result["device"].as_str().unwrap().to_owned());
    }
    found.sort();
    assert_eq!(found, ["gpu-0", "gpu-1"]);
    // No device is left. The end of a pod gives its device to the next one.
    pod(&lab, "p2", own);
    let (reason, _) = lab.waits("p2");
    assert_eq!(reason, "Unschedulable");
    lab.stays_pending("p2");
    lab.kubectl(&["delete", "pod", "p0"]);
    assert_eq!(lab.runs("p2"), "own-g");
    lab.kubectl(&["delete", "pod", "p1", "p2"]);
    world.kubectl(&["delete", "node", "own-g"]);
    world.kubectl(&["delete", "resourceslice,deviceclass", &class]);
}

#[test]
fn pods_share_a_claim_by_name() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let class = devices(&lab, "own-h");
    world.apply(&json!({"apiVersion": API, "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": lab.name},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": class}}]}}}));
    let named = json!({"name": "gpu", "resourceClaimName": "shared"});
    for name in ["p0", "p1"] {
        pod(&lab, name, named.clone());
    }
    for name in ["p0", "p1"] {
        assert_eq!(lab.runs(name), "own-h");
    }
    let claim = lab.get(&["resourceclaim", "shared"]).unwrap();
    assert_eq!(claim["status"]["reservedFor"].as_array().unwrap().len(), 2, "{claim}");
    assert_eq!(claim["status"]["allocation"]["devices"]["results"].as_array().unwrap().len(), 1);
    lab.kubectl(&["delete", "pod", "p0", "p1"]);
    world.kubectl(&["delete", "node", "own-h"]);
    world.kubectl(&["delete", "resourceslice,deviceclass", &class]);
}

/// Creates a pod that asks for devices as an extended resource.
fn pod_with_resource(lab: &Lab, name: &str, class: &str, count: u32) {
    pod_with_gates(lab, name, class, count, &json!([]));
}

fn pod_with_gates(lab: &Lab, name: &str, class: &str, count: u32, gates: &Value) {
    let mut spec = tolerates("none");
    spec["nodeSelector"] = Value::Null;
    spec["schedulingGates"] = gates.clone();
    let amounts = json!({format!("{class}.example/gpu"): count.to_string()});
    spec["containers"] = json!([{"name": "main", "image": "registry.k8s.io/pause:3.7",
        "resources": {"requests": amounts, "limits": amounts}}]);
    lab.pod(name, json!({"labels": {"applicationId": format!("{}-{name}", lab.name)}}), spec);
}

/// Returns the claims of the namespace.
fn claims(lab: &Lab) -> Vec<Value> {
    let all = lab.get(&["resourceclaims"]).unwrap();
    all["items"].as_array().cloned().unwrap_or_default()
}

#[test]
fn an_extended_resource_is_served_by_devices() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let class = devices(&lab, "own-i");
    pod_with_resource(&lab, "p0", &class, 2);
    assert_eq!(lab.runs("p0"), "own-i");
    let status = &lab.get(&["pod", "p0"]).unwrap()["status"]["extendedResourceClaimStatus"];
    let mapping = &status["requestMappings"][0];
    assert_eq!(
        (&mapping["containerName"], &mapping["requestName"]),
        (&json!("main"), &json!("container-0-request-0"))
    );
    let claim = lab.get(&["resourceclaim", status["resourceClaimName"].as_str().unwrap()]).unwrap();
    assert_eq!(claim["metadata"]["ownerReferences"][0]["name"], "p0");
    assert_eq!(claim["status"]["reservedFor"][0]["name"], "p0");
    let given = &claim["status"]["allocation"]["devices"];
    assert_eq!(given["results"].as_array().unwrap().len(), 2, "{claim}");
    assert_eq!(given["config"][0]["requests"], json!(["container-0-request-0"]));
    // No device is left in the whole cluster, so more nodes would help. The end of a pod gives its devices to the next one.
    pod_with_resource(&lab, "p1", &class, 1);
    let (reason, message) = lab.waits("p1");
    assert_eq!(reason, "Unschedulable", "{message}");
    assert!(message.contains("0/"), "{message}");
    lab.stays_pending("p1");
    lab.kubectl(&["delete", "pod", "p0"]);
    assert_eq!(lab.runs("p1"), "own-i");
    lab.kubectl(&["delete", "pod", "p1"]);
    world.kubectl(&["delete", "node", "own-i"]);
    world.kubectl(&["delete", "resourceslice,deviceclass", &class]);
}

#[test]
fn a_bind_waits_until_the_driver_says_that_the_device_is_ready() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let conditions = json!([{"name": "gpu-0", "bindsToNode": true,
        "bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}]);
    let class = devices_with(&lab, "own-j", &conditions);
    let own = json!({"name": "gpu", "resourceClaimTemplateName": "one-gpu"});
    pod(&lab, "p0", own);
    let allocated = |lab: &Lab| {
        lab.eventually("the claim has its device", || {
            let claim = claims(lab).pop()?;
            claim["status"]["allocation"].is_object().then_some(claim)
        })
    };
    let report = |claim: &Value, kind: &str| {
        let result = &claim["status"]["allocation"]["devices"]["results"][0];
        assert_eq!(result["bindingConditions"], json!(["attached"]), "{claim}");
        let condition = json!({"type": kind, "status": "True", "reason": "Driver", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let device = json!({"driver": result["driver"], "pool": result["pool"],
            "device": result["device"], "conditions": [condition]});
        let patch = json!({"status": {"devices": [device]}}).to_string();
        let name = claim["metadata"]["name"].as_str().unwrap();
        lab.kubectl(&[
            "patch",
            "resourceclaim",
            name,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ]);
    };
    let first = allocated(&lab);
    lab.stays_pending("p0");
    // The driver reports a failure: the device is taken back, and the pod is tried again.
    report(&first, "broken");
    let event = lab.event("p0", "PodDevicesBindFailure");
    assert!(event.contains("device gpu-0") && event.contains("broken: Driver"), "{event}");
    let before = &first["status"]["allocation"];
    let second = lab.eventually("the claim has its device again", || {
        let claim = claims(&lab).pop()?;
        let has_new = claim["status"]["devices"].is_null()
            && claim["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
            && claim["status"]["allocation"].is_object();
        has_new.then_some(claim)
    });
    assert_eq!(before["devices"], second["status"]["allocation"]["devices"]);
    report(&second, "attached");
    assert_eq!(lab.runs("p0"), "own-j");
    lab.kubectl(&["delete", "pod", "p0"]);
    world.kubectl(&["delete", "node", "own-j"]);
    world.kubectl(&["delete", "resourceslice,deviceclass", &class]);
}

#[test]
fn devices_of_a_bind_that_did_not_end_do_not_pin_their_pod() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let class = devices(&lab, "own-k");
    // As a scheduler leaves it that ends before the bind, on a node that is gone since.
    world.apply(&json!({"apiVersion": API, "kind": "ResourceClaim",
        "metadata": {"name": "mine", "namespace": lab.name},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": class}}]}}}));
    let result =
        json!({"request": "gpu", "driver": "d.example", "pool": "gone", "device": "gpu-0"});
    let selector = json!({"nodeSelectorTerms": [{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]});
    let patch = json!({"status": {"allocation": {
        "devices": {"results": [result]}, "nodeSelector": selector}}});
    let patch = patch.to_string();
    lab.kubectl(&[
        "patch",
        "resourceclaim",
        "mine",
        "--subresource=status",
        "--type=merge",
        "-p",
        &patch,
    ]);
    pod(&lab, "p0", json!({"name": "gpu", "resourceClaimName": "mine"}));
    assert_eq!(lab.runs("p0"), "own-k");
    let claim = lab.get(&["resourceclaim", "mine"]).unwrap();
    let result = &claim["status"]["allocation"]["devices"]["results"][0];
    assert_eq!(result["pool"], "own-k", "{claim}");
    // The same with a claim that was created for an extended resource.
    pod_with_gates(&lab, "p1", &class, 1, &json!([{"name": "example.com/later"}]));
    let uid = lab.get(&["pod", "p1"]).unwrap()["metadata"]["uid"].clone();
    world.apply(&json!({"apiVersion": API, "kind": "ResourceClaim",
        "metadata": {"name": "left-over", "namespace": lab.name,
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
            "finalizers": ["resource.kubernetes.io/delete-protection"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": uid, "controller": true}]},
        "spec": {"devices": {"requests": [
            {"name": "container-0-request-0", "exactly": {"deviceClassName": class}}]}}}));
    lab.kubectl(&[
        "patch",
        "pod",
        "p1",
        "--type=merge",
        "-p",
        r#"{"spec":{"schedulingGates":[]}}"#,
    ]);
    assert_eq!(lab.runs("p1"), "own-k");
    assert_eq!(lab.get(&["resourceclaim", "left-over"]), None);
    lab.kubectl(&["delete", "pod", "p0", "p1"]);
    world.kubectl(&["delete", "node", "own-k"]);
    world.kubectl(&["delete", "resourceslice,deviceclass", &class]);
}
