//! Quotas of namespaces, and limits of users: examples 14, 16 and 17, and scenes SD-23, SD-27, and SD-28.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::world::{Lab, QUEUES};

const QUOTA: &str = "yunikorn.apache.org/namespace.quota";

#[test]
#[doc(alias = "SD-23")]
#[doc(alias = "kubernetes W16")]
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
    assert_eq!(lab.event("p4", "PodUnschedulable"), message);
    let info = lab.queue(&path);
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
        let info = lab.queue(&format!("root.{}", lab.name));
        assert_eq!(info["maxResource"], max);
        assert_eq!(info["guaranteedResource"], guaranteed);
    }
}

/// Waits for a warning at the namespace. Returns its note.
fn warning(lab: &Lab) -> String {
    lab.eventually("a warning at the namespace", || {
        let events = lab.world.get(&["events", "-A"])?;
        let of = |event: &&Value| {
            event["reason"] == "NamespaceConfiguration"
                && event["involvedObject"]["name"] == lab.name.as_str()
        };
        let found = events["items"].as_array()?.iter().find(of)?.clone();
        Some(found["message"].as_str()?.to_owned())
    })
}

#[test]
#[doc(alias = "kubernetes W17")]
fn an_unreadable_quota_is_ignored_with_a_warning() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({QUOTA: r#"{"cpu":"4","memory":"oops"}"#}));
    lab.pod("p", json!({}), json!({}));
    lab.runs("p");
    assert_eq!(lab.queue(&format!("root.{}", lab.name))["maxResource"], Value::Null);
    let note = warning(&lab);
    assert!(note.contains("memory") || note.contains("oops"), "{note}");
}

#[test]
fn a_wrong_annotation_of_an_existing_namespace_has_a_warning() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    lab.pod("p", json!({}), json!({}));
    lab.runs("p");
    // Neither the former nor the new annotations give a limit.
    world.kubectl(&["annotate", "namespace", &lab.name, &format!(r#"{QUOTA}={{"cpu":"six"}}"#)]);
    let note = warning(&lab);
    assert!(note.contains("namespace.quota") && note.contains("cpu"), "{note}");
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

#[test]
#[doc(alias = "kubernetes W17")]
fn an_old_annotation_counts_alone_and_not_beside_the_new_one() {
    lab!(world, shared);
    let old = "yunikorn.apache.org/namespace.max.cpu";
    let lab = Lab::new(world, json!({old: "2"}));
    lab.pod("p", json!({}), json!({}));
    lab.runs("p");
    let own = format!("root.{}", lab.name);
    assert_eq!(lab.queue(&own)["maxResource"], json!({"vcore": 2_000}));
    let lab = Lab::new(world, json!({QUOTA: r#"{"cpu":"1"}"#, old: "2"}));
    lab.pod("p", json!({}), json!({}));
    lab.runs("p");
    let own = format!("root.{}", lab.name);
    assert_eq!(lab.queue(&own)["maxResource"], json!({"vcore": 1_000}));
    let note = warning(&lab);
    assert!(note.contains(old), "{note}");
}

#[test]
#[doc(alias = "kubernetes W14")]
fn pods_without_requests_count_against_a_maximum_of_pods() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({QUOTA: r#"{"pods":"1"}"#}));
    lab.pod("p0", json!({}), json!({}));
    lab.runs("p0");
    lab.pod("p1", json!({}), json!({}));
    let (reason, message) = lab.waits("p1");
    assert_eq!(reason, "SchedulingSkipped", "{message}");
    assert_eq!(lab.queue(&format!("root.{}", lab.name))["maxResource"], json!({"pods": 1}));
    lab.stays_pending("p1");
    lab.kubectl(&["delete", "pod", "p0"]);
    lab.runs("p1");
}

/// Creates a pod with one core, of an application of its own.
fn one_core(lab: &Lab, name: &str) {
    let id = format!("{}-{name}", lab.name);
    lab.pod(name, json!({"labels": {"applicationId": id}}), requests(json!({"cpu": "1"})));
}

/// Lowers the quota of a namespace to one core. It applies with a new application.
fn lower(lab: &Lab) {
    let queue = format!("root.{}", lab.name);
    let quota = format!(r#"{QUOTA}={{"cpu":"1"}}"#);
    lab.world.kubectl(&["annotate", "--overwrite", "namespace", &lab.name, &quota]);
    let mut number = 0;
    lab.eventually("the new maximum", || {
        number += 1;
        let name = format!("new-{number}");
        let id = format!("{}-{name}", lab.name);
        lab.pod(&name, json!({"labels": {"applicationId": id}}), json!({}));
        (lab.queue(&queue)["maxResource"]["vcore"] == 1_000).then_some(())
    });
}

#[test]
fn a_lowered_quota_stops_nothing_and_lets_nothing_start_above_it() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({QUOTA: r#"{"cpu":"2"}"#}));
    for name in ["p0", "p1"] {
        one_core(&lab, name);
        lab.runs(name);
    }
    lower(&lab);
    one_core(&lab, "p2");
    assert_eq!(lab.waits("p2").0, "SchedulingSkipped");
    assert_eq!(lab.used(), 2_000);
    lab.kubectl(&["delete", "pod", "p0"]);
    lab.stays_pending("p2");
    lab.kubectl(&["delete", "pod", "p1"]);
    lab.runs("p2");
}

#[test]
fn a_lowered_maximum_with_a_delay_stops_pods_after_it() {
    lab!(world, alone);
    let lab = Lab::new(world, json!({}));
    for name in ["p0", "p1"] {
        let labels = json!({"applicationId": format!("{}-{name}", lab.name),
            "queue": "root.shrinking"});
        lab.pod(name, json!({"labels": labels}), requests(json!({"cpu": "1"})));
        lab.runs(name);
    }
    let max = "shrinking\n            resources: {max: {vcore: ";
    world.configure(&QUEUES.replace(&format!("{max}2}}}}"), &format!("{max}1}}}}")));
    lab.eventually("one pod is stopped", || {
        let queue = lab.queue("root.shrinking");
        (queue["maxResource"]["vcore"] == 1_000 && queue["allocatedResource"]["vcore"] == 1_000)
            .then_some(())
    });
    let left = ["p0", "p1"].iter().filter(|name| lab.get(&["pod", name]).is_some()).count();
    assert_eq!(left, 1, "the victim is deleted");
    world.configure(QUEUES);
    lab.eventually("the former maximum", || {
        (lab.queue("root.shrinking")["maxResource"]["vcore"] == 2_000).then_some(())
    });
}

#[test]
fn users_and_groups_have_limits_in_a_queue() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let pod = |name: &str, user: &str, group: &str, cpu: &str| {
        let info = json!({"user": user, "groups": [group]}).to_string();
        let more = json!({
            "labels": {"applicationId": format!("{}-{name}", lab.name), "queue": "root.limited"},
            "annotations": {"yunikorn.apache.org/user.info": info}
        });
        lab.pod(name, more, requests(json!({"cpu": cpu})));
    };
    // For each limit, what runs, and what waits until this ends: a named user, any other user, and a group.
    for (name, first, second) in [
        ("named", ("ann", "none", "1"), ("ann", "none", "100m")),
        ("wildcard", ("bob", "none", "2"), ("bob", "none", "100m")),
        ("group", ("carl", "crew", "100m"), ("dora", "crew", "100m")),
    ] {
        let (running, waiting) = (format!("{name}-0"), format!("{name}-1"));
        pod(&running, first.0, first.1, first.2);
        lab.runs(&running);
        pod(&waiting, second.0, second.1, second.2);
        let (reason, message) = lab.waits(&waiting);
        assert_eq!(reason, "SchedulingSkipped", "{message}");
        let who = if name == "group" { "crew" } else { second.0 };
        assert!(message.contains(who), "{message}");
        lab.stays_pending(&waiting);
        lab.kubectl(&["delete", "pod", &running]);
        lab.runs(&waiting);
    }
}

#[test]
fn a_plan_and_an_explanation_name_pods() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let labels = json!({"labels": {"applicationId": lab.name, "queue": "root.planned"}});
    for name in ["p0", "p1"] {
        lab.pod(name, labels.clone(), requests(json!({"cpu": "600m"})));
    }
    let (runs, waits) = lab.eventually("one pod runs", || {
        let is_bound =
            |name: &str| lab.get(&["pod", name]).unwrap()["spec"]["nodeName"].is_string();
        match (is_bound("p0"), is_bound("p1")) {
            (true, false) => Some(("p0", "p1")),
            (false, true) => Some(("p1", "p0")),
            (true, true) | (false, false) => None,
        }
    });
    let before = "planned\n            resources: {max: {vcore: 1}}";
    assert!(QUEUES.contains(before));
    let file = world
        .file("planned.yaml", &QUEUES.replace(before, &before.replace("vcore: 1", "vcore: 2")));
    let plan = world.plan(&file);
    let start = plan.lines().find(|line| line.contains(&lab.name)).unwrap_or_default();
    assert!(start.contains(&format!("{}/{waits} ", lab.name)), "{plan}");
    let explained = world.headroom(&["explain", "pod", &format!("{}/{waits}", lab.name)]);
    assert!(explained.contains(&format!("release {}/{runs} of", lab.name)), "{explained}");
    lab.kubectl(&["delete", "pod", runs]);
    lab.runs(waits);
}
