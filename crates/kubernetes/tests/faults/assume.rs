//! What keeps the volumes of a pod from being assumed.

use std::sync::Arc;

use headroom_kubernetes::volumes::Volumes;
use headroom_pods::object::{Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass};
use headroom_pods::shim::ClaimName;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(object: Value) -> Arc<T> {
    Arc::new(serde_json::from_value(object).unwrap())
}

/// Returns a node selector that only the node of this name has.
fn only(node: &str) -> Value {
    json!({ "nodeSelectorTerms": [{ "matchExpressions": [
        { "key": "host", "operator": "In", "values": [node] }] }] })
}

/// Returns nodes `a` and `b`, and a class whose claims wait for their pod.
fn cluster() -> Arc<Volumes> {
    let volumes = Arc::new(Volumes::default());
    for name in ["a", "b"] {
        let metadata = json!({ "name": name, "labels": { "host": name } });
        volumes.put_node(read::<Node>(json!({ "metadata": metadata })));
    }
    let class = json!({
        "metadata": { "name": "late" },
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    });
    volumes.put_class(&"late".into(), Some(read::<StorageClass>(class)));
    volumes
}

/// Adds a volume on node `a`.
fn put_volume(volumes: &Arc<Volumes>, name: &str) {
    let volume = json!({
        "metadata": { "name": name },
        "spec": {
            "storageClassName": "late", "capacity": { "storage": "1Gi" },
            "accessModes": ["ReadWriteOnce"], "nodeAffinity": { "required": only("a") },
        },
        "status": { "phase": "Available" },
    });
    drop(volumes.put_volume(&name.into(), Some(read::<PersistentVolume>(volume))));
}

/// Adds a claim, which can have a volume already.
fn put_claim(volumes: &Arc<Volumes>, name: &str, volume: &str) {
    let done = json!({ "pv.kubernetes.io/bind-completed": "yes" });
    let annotations = if volume.is_empty() { json!({}) } else { done };
    let claim = json!({
        "metadata": {
            "name": name, "namespace": "lab", "uid": name, "annotations": annotations,
        },
        "spec": {
            "storageClassName": "late", "volumeName": volume, "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },
    });
    let name = ClaimName { namespace: "lab".into(), name: name.into() };
    drop(volumes.put_claim(&name, Some(read::<PersistentVolumeClaim>(claim))));
}

/// Assumes the volumes of a pod with this claim. Returns the number of changes, or the error.
fn assume(volumes: &Arc<Volumes>, claim: &str, node: &str) -> Result<usize, String> {
    let pod = json!({
        "metadata": { "name": claim, "namespace": "lab", "uid": claim },
        "spec": { "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": claim } }] },
    });
    let assumed = volumes.assume(read::<Pod>(pod), &node.into());
    assumed.map(|changes| changes.len()).map_err(|fault| fault.to_string())
}

#[test]
fn a_missing_claim_or_node_assumes_nothing() {
    let volumes = cluster();
    assert_eq!(
        assume(&volumes, "gone", "a"),
        Err("persistentvolumeclaim \"gone\" not found".to_owned())
    );
    put_claim(&volumes, "one", "");
    assert_eq!(assume(&volumes, "one", "c"), Err("node c is unknown".to_owned()));
}

#[test]
fn a_claim_without_a_fitting_volume_assumes_nothing() {
    let volumes = cluster();
    put_claim(&volumes, "one", "");
    let none = Err("node(s) didn't find available persistent volumes to bind".to_owned());
    assert_eq!(assume(&volumes, "one", "a"), none);
    put_volume(&volumes, "v");
    assert_eq!(assume(&volumes, "one", "b"), none);
    assert_eq!(assume(&volumes, "one", "a"), Ok(1));
}

#[test]
fn a_volume_of_another_node_is_a_conflict() {
    let volumes = cluster();
    put_volume(&volumes, "v");
    put_claim(&volumes, "one", "v");
    assert_eq!(
        assume(&volumes, "one", "b"),
        Err("node(s) didn't match PersistentVolume's node affinity".to_owned())
    );
    assert_eq!(assume(&volumes, "one", "a"), Ok(0));
}

#[test]
fn a_volume_is_assumed_for_one_pod_at_a_time() {
    let volumes = cluster();
    put_volume(&volumes, "v");
    put_claim(&volumes, "one", "");
    put_claim(&volumes, "two", "");
    let none = Err("node(s) didn't find available persistent volumes to bind".to_owned());
    assert_eq!(assume(&volumes, "one", "a"), Ok(1));
    assert_eq!(assume(&volumes, "two", "a"), none);
    // The watch still shows the volume without claim.
    put_volume(&volumes, "v");
    assert_eq!(assume(&volumes, "two", "a"), none);
    assert_eq!(volumes.undo("one").len(), 1);
    assert_eq!(assume(&volumes, "two", "a"), Ok(1));
}
