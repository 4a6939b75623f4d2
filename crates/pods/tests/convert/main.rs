//! Worked examples of conversions.

#![allow(clippy::needless_pass_by_value, reason = "helpers take literals")]

mod amounts;
mod gang;
mod identity;
mod namespace;
mod settings;

use headroom_pods::convert::amounts::Amounts;
use headroom_pods::object::Pod;
use serde_json::{Value, json};

/// Builds one of our pods from its metadata, specification, and status. The namespace is `lab`, and the UID `u1`.
fn pod(metadata: Value, spec: Value, status: Value) -> Pod {
    let mut pod = json!({
        "metadata": { "name": "p1", "namespace": "lab", "uid": "u1" },
        "spec": { "schedulerName": "yunikorn" },
        "status": status,
    });
    for (part, fields) in [("metadata", metadata), ("spec", spec)] {
        let Value::Object(fields) = fields else { continue };
        for (field, value) in fields {
            pod[part][field] = value;
        }
    }
    serde_json::from_value(pod).expect("a pod")
}

fn labelled(labels: Value, annotations: Value) -> Pod {
    pod(json!({ "labels": labels, "annotations": annotations }), json!({}), json!({}))
}

/// Renders amounts as `memory 50000000, pods 1, vcore 100`.
fn text(amounts: &Amounts) -> String {
    let parts: Vec<String> =
        amounts.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
    parts.join(", ")
}
