//! Quotas of namespaces: examples 16 and 17, and scenes SD-23, SD-25, SD-27, and SD-28.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::world::Lab;

const QUOTA: &str = "yunikorn.apache.org/namespace.quota";

fn queue(lab: &Lab, path: &str) -> Value {
    let url = format!("/ws/v1/partition/default/queue/{path}");
    lab.eventually(path, || lab.world.rest(&url))
}

#[test]
#[doc(alias = "SD-23")]
fn a_pod_over_the_quota_waits_and_starts_with_a_release() {
    lab!(world, shared);
    let quota = r#"{"cpu":"4","memory":"8Gi"}"#;
    let lab =
        Lab::new(world, json!({QUOTA: quota, "yunikorn.apache.org/parentqueue": "root.prod"}));
    for number in 0..5 {
        let name = format!("p{number}");
        lab.pod(&name, json!({"labels": {"applicationId": "e16"}}), requests(json!({"cpu": "1"})));
        if number < 4 {
            lab.runs(&name);
        }
    }
    let (reason, message) = lab.waits("p4");
    assert_eq!(reason, "SchedulingSkipped");
    let path = format!("root.prod.{}", lab.name);
    assert!(message.contains(&path) && message.contains("QUEUE_MAX"), "{message}");
    let explained = world.headroom(&["explain", "pod", &format!("{}/p4", lab.name)]);
    assert!(explained.starts_with(&message), "{explained}\n{message}");
    let info = queue(&lab, &path);
    assert_eq!(info["maxResource"], json!({"memory": 8_589_934_592_i64, "vcore": 4_000}));
    assert_eq!(info["allocatedResource"]["vcore"], 4_000);
    lab.stays_pending("p4");
    lab.kubectl(&["delete", "pod", "p0"]);
    lab.runs("p4");
}

#[test]
#[doc(alias = "SD-27")]
fn annotations_become_the_maximum_and_the_guarantee_of_the_queue() {
    lab!(world, shared);
    for (annotations, max, guaranteed) in [
        (
            json!({QUOTA: r#"{"cpu":"64","memory":"100G","nvidia.com/gpu":"1"}"#,
                "yunikorn.apache.org/namespace.guaranteed": r#"{"cpu":"2"}"#}),
            json!({"vcore": 64_000, "memory": 100_000_000_000_i64, "nvidia.com/gpu": 1}),
            json!({"vcore": 2_000}),
        ),
        (
            json!({"yunikorn.apache.org/namespace.max.cpu": "64",
                "yunikorn.apache.org/namespace.max.memory": "100Gi"}),
            json!({"vcore": 64_000, "memory": 107_374_182_400_i64}),
            Value::Null,
        ),
    ] {
        let lab = Lab::new(world, annotations);
        lab.pod("p", json!({}), json!({}));
        lab.runs("p");
        let info = queue(&lab, &format!("root.{}", lab.name));
        assert_eq!(info["maxResource"], max);
        assert_eq!(info["guaranteedResource"], guaranteed);
    }
}

#[test]
fn an_unreadable_quota_is_ignored_with_a_warning() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({QUOTA: r#"{"cpu":"4","memory":"oops"}"#}));
    lab.pod("p", json!({}), json!({}));
    lab.runs("p");
    assert_eq!(queue(&lab, &format!("root.{}", lab.name))["maxResource"], Value::Null);
    let note = lab.eventually("a warning at the namespace", || {
        let events = world.get(&["events", "-A"])?;
        let of = |event: &&Value| {
            event["reason"] == "NamespaceConfiguration"
                && event["involvedObject"]["name"] == lab.name.as_str()
        };
        let found = events["items"].as_array()?.iter().find(of)?.clone();
        Some(found["message"].as_str()?.to_owned())
    });
    assert!(note.contains("memory") || note.contains("oops"), "{note}");
}

#[test]
fn the_number_of_running_applications_is_limited() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({"yunikorn.apache.org/namespace.maxApps": "1"}));
    for id in ["m1", "m2"] {
        let id = format!("{}-{id}", lab.name);
        lab.pod(&id, json!({"labels": {"applicationId": id}}), json!({}));
        if id.ends_with("m1") {
            lab.runs(&id);
        }
    }
    let second = format!("{}-m2", lab.name);
    let (reason, message) = lab.waits(&second);
    assert_eq!(reason, "SchedulingSkipped", "{message}");
    lab.kubectl(&["delete", "pod", &format!("{}-m1", lab.name)]);
    lab.runs(&second);
}

#[test]
#[doc(alias = "SD-28")]
fn a_resource_quota_of_kubernetes_counts_too() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({QUOTA: r#"{"cpu":"2"}"#}));
    let name = lab.name.clone();
    let hard = |cpu: &str| {
        world.apply(&json!({"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "quota", "namespace": name},
            "spec": {"hard": {"requests.cpu": cpu}}}));
    };
    // Higher: the use is limited by ours, and the third pod waits.
    hard("4");
    for number in 0..3 {
        lab.pod(&format!("p{number}"), json!({}), requests(json!({"cpu": "1"})));
    }
    lab.runs("p0");
    lab.runs("p1");
    assert_eq!(lab.waits("p2").0, "SchedulingSkipped");
    lab.kubectl(&["delete", "pod", "p0", "p1", "p2"]);
    // Equal, and lower: Kubernetes refuses the pod, and nothing waits.
    for (cpu, allowed) in [("2", 2), ("1", 1)] {
        hard(cpu);
        lab.eventually("the quota is in force", || {
            let quota = lab.get(&["resourcequota", "quota"])?;
            let status = &quota["status"];
            (status["hard"]["requests.cpu"] == cpu && status["used"]["requests.cpu"] == "0")
                .then_some(())
        });
        let mut created = Vec::new();
        for number in 0..3 {
            let pod = format!("q{cpu}-{number}");
            let mut spec = requests(json!({"cpu": "1"}));
            spec["schedulerName"] = json!("yunikorn");
            let body = json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": pod, "namespace": lab.name}, "spec": spec});
            if world.try_apply(&body) {
                created.push(pod);
            }
        }
        assert_eq!(created.len(), allowed, "{created:?}");
        for pod in &created {
            lab.runs(pod);
        }
        let names: Vec<&str> = created.iter().map(String::as_str).collect();
        lab.kubectl(&[&["delete", "pod"], &*names].concat());
    }
}
