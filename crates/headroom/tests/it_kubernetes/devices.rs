//! Devices of `resource.k8s.io`: claims have their devices before the pod is bound.

use serde_json::{Value, json};

use crate::lab;
use crate::nodes::{node, tolerates};
use crate::world::Lab;

const API: &str = "resource.k8s.io/v1";

/// Creates a node with two devices, and a class and a template for one of them. Returns the name of the class.
fn devices(lab: &Lab, on: &str) -> String {
    node(lab.world, on, json!({}));
    let name = format!("{}-gpu", lab.name);
    lab.world.apply(&json!({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name},
        "spec": {
            "selectors": [{"cel": {"expression": format!("device.driver == '{name}.example'")}}],
            "config": [{"opaque": {"driver": format!("{name}.example"), "parameters": {"mode": "fast"}}}]
        }}));
    lab.world.apply(
        &json!({"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name},
        "spec": {
            "driver": format!("{name}.example"),
            "pool": {"name": on, "generation": 1, "resourceSliceCount": 1},
            "nodeName": on,
            "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}]
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
