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
#[doc(alias = "kubernetes W9")]
#[doc(alias = "kubernetes W10")]
#[doc(alias = "kubernetes W11")]
#[doc(alias = "kubernetes W12")]
#[doc(alias = "kubernetes W13")]
#[doc(alias = "kubernetes W14")]
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
#[doc(alias = "kubernetes W15")]
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

#[test]
fn an_init_container_meets_the_sidecars_before_it() {
    let init = |name: &str| container(name, &json!({ "cpu": "900m" }));
    let main = json!([container("c", &json!({ "cpu": "200m" }))]);
    let [s, t] =
        [("s", "600m"), ("t", "100m")].map(|(name, cpu)| sidecar(name, &json!({ "cpu": cpu })));
    for (order, vcore) in [
        (vec![init("i"), s.clone()], 900),
        (vec![s.clone(), init("i")], 1500),
        (vec![init("i"), s.clone(), t.clone()], 900),
        (vec![s.clone(), init("i"), t.clone()], 1500),
        (vec![s.clone(), t.clone(), init("i")], 1600),
        (vec![init("i"), s.clone(), init("j"), t.clone(), init("k")], 1600),
        (vec![s.clone(), t.clone()], 900),
        (vec![init("i")], 900),
    ] {
        let spec = json!({ "containers": main, "initContainers": order });
        let pod = pod(json!({}), spec.clone(), json!({}));
        assert_eq!(pod_amounts(&pod).get("vcore"), Some(vcore), "{spec}");
    }
}

#[test]
fn devices_count_wherever_they_are_requested() {
    let gpu = |count: &str| json!({ "nvidia.com/gpu": count });
    for (main, init, expected) in [
        (gpu("1"), json!([]), "nvidia.com/gpu 1, pods 1"),
        (json!({}), json!([container("i", &gpu("2"))]), "nvidia.com/gpu 2, pods 1"),
        (json!({}), json!([sidecar("i", &gpu("2"))]), "nvidia.com/gpu 2, pods 1"),
        (gpu("1"), json!([container("i", &gpu("1"))]), "nvidia.com/gpu 1, pods 1"),
        (gpu("1"), json!([sidecar("i", &gpu("1"))]), "nvidia.com/gpu 2, pods 1"),
    ] {
        let spec = json!({ "containers": [container("c", &main)], "initContainers": init });
        assert_eq!(
            text(&pod_amounts(&pod(json!({}), spec.clone(), json!({})))),
            expected,
            "{spec}"
        );
    }
}

#[test]
#[doc(alias = "SD-26")]
fn huge_pages_are_amounts_of_their_own() {
    let requests = json!({ "cpu": "250m", "memory": "1Gi", "hugepages-1Gi": "1" });
    let spec = json!({ "containers": [container("c", &requests)] });
    assert_eq!(
        text(&pod_amounts(&pod(json!({}), spec, json!({})))),
        "hugepages-1Gi 1, memory 1073741824, pods 1, vcore 250"
    );
}

#[test]
fn amounts_of_the_pod_replace_those_of_its_containers() {
    let containers = json!({ "cpu": "1", "nvidia.com/gpu": "1" });
    for (own, expected) in [
        (json!({ "cpu": "3" }), "nvidia.com/gpu 1, pods 1, vcore 3000"),
        // The amount of the pod counts, although it is smaller.
        (json!({ "cpu": "500m" }), "nvidia.com/gpu 1, pods 1, vcore 500"),
        // No container has these.
        (json!({ "memory": "1Gi" }), "memory 1073741824, nvidia.com/gpu 1, pods 1, vcore 1000"),
        (
            json!({ "hugepages-2Mi": "2Mi" }),
            "hugepages-2Mi 2097152, nvidia.com/gpu 1, pods 1, vcore 1000",
        ),
        // These are not amounts of a pod.
        (
            json!({ "nvidia.com/gpu": "4", "ephemeral-storage": "1G" }),
            "nvidia.com/gpu 1, pods 1, vcore 1000",
        ),
        (json!({}), "nvidia.com/gpu 1, pods 1, vcore 1000"),
    ] {
        let spec = json!({
            "containers": [container("c", &containers)], "resources": { "requests": own },
        });
        assert_eq!(
            text(&pod_amounts(&pod(json!({}), spec.clone(), json!({})))),
            expected,
            "{spec}"
        );
    }
}

#[test]
fn absent_and_empty_requests_are_equal_and_a_zero_is_not() {
    let amounts = |resources: Value| {
        let spec = json!({ "containers": [{ "name": "c", "resources": resources }] });
        pod_amounts(&pod(json!({}), spec, json!({})))
    };
    let nothing = amounts(json!(null));
    for same in [json!({}), json!({ "requests": null }), json!({ "requests": {} })] {
        assert_eq!(amounts(same.clone()), nothing, "{same}");
    }
    assert_ne!(amounts(json!({ "requests": { "cpu": "0" } })), nothing);
}
