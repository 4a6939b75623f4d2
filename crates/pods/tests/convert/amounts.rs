//! What a pod asks for.

use headroom_pods::convert::amounts::pod_amounts;
use serde_json::{Value, json};

use crate::{pod, text};

fn container(name: &str, requests: &Value) -> Value {
    json!({ "name": name, "resources": { "requests": requests } })
}

fn sidecar(name: &str, requests: &Value) -> Value {
    let mut container = container(name, requests);
    container["restartPolicy"] = "Always".into();
    container
}

#[test]
fn amounts_are_the_sum_of_containers_or_the_peak_of_init_containers() {
    let one = |requests: Value| json!({ "containers": [container("c", &requests)] });
    let resources = json!({ "requests": { "cpu": "3", "memory": "4Gi" } });
    let gpu = json!({ "cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1" });
    for (spec, expected) in [
        (one(json!({ "cpu": "100m", "memory": "50M" })), "memory 50000000, pods 1, vcore 100"),
        (
            json!({
                "containers": [
                    container("a", &json!({ "cpu": "500m", "memory": "1Gi" })),
                    container("b", &json!({ "cpu": "250m", "memory": "512Mi" })),
                ],
                "initContainers": [container("i", &json!({ "cpu": "2", "memory": "1Gi" }))],
            }),
            "memory 1610612736, pods 1, vcore 2000",
        ),
        (
            json!({
                "containers": [container("c", &json!({ "cpu": "1", "memory": "512M" }))],
                "initContainers": [
                    container("a", &json!({ "cpu": "1", "memory": "1024M" })),
                    sidecar("b", &json!({ "cpu": "1", "memory": "1024M" })),
                ],
            }),
            "memory 1536000000, pods 1, vcore 2000",
        ),
        (
            json!({
                "containers": [container("c", &json!({ "cpu": "1" }))],
                "initContainers": [
                    sidecar("s1", &json!({ "cpu": "200m" })),
                    container("i2", &json!({ "cpu": "1500m" })),
                    sidecar("s3", &json!({ "cpu": "300m" })),
                ],
            }),
            "pods 1, vcore 1700",
        ),
        (
            json!({
                "containers": [container("c", &gpu)],
                "resources": resources,
                "overhead": { "cpu": "250m" },
            }),
            "memory 4294967296, nvidia.com/gpu 1, pods 1, vcore 3250",
        ),
        (one(json!({ "cpu": "0.0001", "memory": "100m" })), "memory 1, pods 1, vcore 1"),
        (
            one(json!({ "memory": "1.5Gi", "ephemeral-storage": "2G", "hugepages-2Mi": "4Mi" })),
            "ephemeral-storage 2000000000, hugepages-2Mi 4194304, memory 1610612736, pods 1",
        ),
        (one(json!({})), "pods 1"),
        (one(json!({ "cpu": "0" })), "pods 1, vcore 0"),
        (
            one(json!({ "cpu": "9E", "memory": "9E" })),
            "memory 9000000000000000000, pods 1, vcore 9223372036854775807",
        ),
        (
            json!({
                "containers": [container("c", &json!({ "cpu": "1" }))],
                "initContainers": [container("i", &json!({ "nvidia.com/gpu": "2" }))],
            }),
            "nvidia.com/gpu 2, pods 1, vcore 1000",
        ),
    ] {
        let pod = pod(json!({}), spec.clone(), json!({}));
        assert_eq!(text(&pod_amounts(&pod)), expected, "{spec}");
    }
}

#[test]
fn a_resize_counts_the_greatest_amount_until_it_is_refused() {
    let status = |conditions: Value, actual: &str| {
        json!({
            "conditions": conditions,
            "containerStatuses": [{
                "name": "c",
                "allocatedResources": { "cpu": actual },
                "resources": { "requests": { "cpu": actual } },
            }],
        })
    };
    let infeasible = json!([{ "type": "PodResizePending", "reason": "Infeasible" }]);
    for (cpu, status, vcore) in [
        ("2", status(json!([]), "1"), 2000),
        ("2", status(infeasible, "1"), 1000),
        ("500m", status(json!([]), "1"), 1000),
        ("500m", status(json!([]), "500m"), 500),
        ("2", json!({ "resize": "Infeasible" }), 2000),
    ] {
        let spec = json!({ "containers": [container("c", &json!({ "cpu": cpu }))] });
        let pod = pod(json!({}), spec, status.clone());
        assert_eq!(pod_amounts(&pod).get("vcore"), Some(vcore), "{cpu} {status}");
    }
}

#[test]
fn the_status_of_an_init_container_counts() {
    let spec = json!({
        "containers": [container("c", &json!({ "cpu": "1" }))],
        "initContainers": [sidecar("i", &json!({ "cpu": "200m" }))],
    });
    let status = json!({ "initContainerStatuses": [{ "name": "i", "allocatedResources": { "cpu": "800m" } }] });
    assert_eq!(pod_amounts(&pod(json!({}), spec, status)).get("vcore"), Some(1800));
}
