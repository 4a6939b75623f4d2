//! Gangs: examples 18 to 20.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::world::Lab;

/// Returns the placeholders of a namespace.
pub(crate) fn placeholders(lab: &Lab) -> Vec<Value> {
    let pods = lab.get(&["pods"]).unwrap();
    let all = pods["items"].as_array().unwrap().iter();
    let is_one =
        |pod: &&Value| pod["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("tg-"));
    all.filter(is_one).cloned().collect()
}

/// Creates the first member of a gang that can never be complete, and waits for its other placeholders. Returns the ID of
/// the application.
pub(crate) fn never_complete(lab: &Lab, name: &str) -> String {
    let id = format!("{}-{name}", lab.name);
    let groups = r#"[
        {"name":"w","minMember":2,"minResource":{"cpu":"100m"}},
        {"name":"never","minMember":1,"minResource":{"cpu":"100m"},"nodeSelector":{"no":"node"}}
    ]"#;
    let more = json!({
        "labels": {"applicationId": id},
        "annotations": {
            "yunikorn.apache.org/task-group-name": "w",
            "yunikorn.apache.org/task-groups": groups
        }
    });
    lab.pod(name, more, requests(json!({"cpu": "100m"})));
    let count = |runs: bool| {
        let is_one = |pod: &&Value| {
            pod["metadata"]["labels"]["yunikorn.apache.org/app-id"] == id.as_str()
                && (pod["status"]["phase"] == "Running") == runs
        };
        placeholders(lab).iter().filter(is_one).count()
    };
    lab.eventually("two placeholders run, and one waits", || {
        (count(true) == 2 && count(false) == 1).then_some(())
    });
    id
}

#[test]
#[doc(alias = "kubernetes W18")]
fn members_replace_the_placeholders_of_their_gang() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let id = format!("{}-gang", lab.name);
    let groups = r#"[{"name":"w","minMember":3,"minResource":{"cpu":"500m","memory":"1Gi"}}]"#;
    let more = json!({
        "labels": {"applicationId": id},
        "annotations": {
            "yunikorn.apache.org/task-group-name": "w",
            "yunikorn.apache.org/task-groups": groups,
            "yunikorn.apache.org/schedulingPolicyParameters":
                "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard"
        }
    });
    let size = requests(json!({"cpu": "500m", "memory": "1Gi"}));
    lab.pod("m0", more.clone(), size.clone());
    lab.runs("m0");
    assert!(placeholders(&lab).len() <= 3);
    lab.event("m0", "GangScheduling");
    for name in ["m1", "m2"] {
        lab.pod(name, more.clone(), size.clone());
        lab.runs(name);
    }
    lab.eventually("no placeholder is left", || placeholders(&lab).is_empty().then_some(()));
    let application = lab.application(&id);
    assert_eq!(application["placeholderData"][0]["replaced"], 3, "{application}");
    assert_eq!(application["usedResource"]["vcore"], 1_500);
}

#[test]
#[doc(alias = "kubernetes W19")]
fn an_invalid_task_group_is_reported_and_the_pod_runs_alone() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let groups = r#"[{"name":"w","minMember":0,"minResource":{}}]"#;
    let more = json!({
        "labels": {"applicationId": format!("{}-bad", lab.name)},
        "annotations": {"yunikorn.apache.org/task-groups": groups}
    });
    lab.pod("p", more, json!({}));
    lab.runs("p");
    lab.eventually("a warning", || {
        let events = lab.get(&["events"])?;
        let mut all = events["items"].as_array()?.iter();
        all.find(|event| event["type"] == "Warning" && event["reason"] == "GangScheduling")
            .map(|_| ())
    });
}

#[test]
#[doc(alias = "kubernetes W20")]
fn unreadable_gang_parameters_have_their_defaults() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let id = format!("{}-defaults", lab.name);
    let groups = r#"[{"name":"w","minMember":1,"minResource":{"cpu":"100m"}}]"#;
    let more = json!({
        "labels": {"applicationId": id},
        "annotations": {
            "yunikorn.apache.org/task-group-name": "w",
            "yunikorn.apache.org/task-groups": groups,
            "yunikorn.apache.org/schedulingPolicyParameters":
                "gangSchedulingStyle=hard placeholderTimeoutInSeconds=abc junk"
        }
    });
    lab.pod("p", more, requests(json!({"cpu": "100m"})));
    lab.runs("p");
    assert_eq!(lab.application(&id)["placeholderData"][0]["replaced"], 1);
}

#[test]
fn a_hard_gang_that_never_fits_fails_after_its_timeout() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let groups = r#"[
        {"name":"w","minMember":1,"minResource":{"cpu":"100m"}},
        {"name":"never","minMember":1,"minResource":{"cpu":"100m"},"nodeSelector":{"no":"node"}}
    ]"#;
    let more = json!({
        "labels": {"applicationId": format!("{}-hard", lab.name)},
        "annotations": {
            "yunikorn.apache.org/task-group-name": "w",
            "yunikorn.apache.org/task-groups": groups,
            "yunikorn.apache.org/schedulingPolicyParameters":
                "placeholderTimeoutInSeconds=3 gangSchedulingStyle=Hard"
        }
    });
    lab.pod("p", more, requests(json!({"cpu": "100m"})));
    let pod = lab.eventually("the pod fails", || {
        let pod = lab.get(&["pod", "p"])?;
        (pod["status"]["phase"] == "Failed").then_some(pod)
    });
    assert_eq!(pod["status"]["reason"], "ResourceReservationTimeout", "{}", pod["status"]);
}

#[test]
fn the_deletion_of_the_originator_deletes_the_placeholders() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    never_complete(&lab, "p");
    assert_eq!(lab.used(), 200);
    lab.kubectl(&["delete", "pod", "p"]);
    lab.eventually("no placeholder is left", || placeholders(&lab).is_empty().then_some(()));
    lab.eventually("nothing is used", || (lab.used() == 0).then_some(()));
}

#[test]
fn deleted_placeholders_of_a_gang_that_never_fits_use_nothing() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let id = never_complete(&lab, "p");
    for pod in placeholders(&lab) {
        lab.kubectl(&["delete", "pod", pod["metadata"]["name"].as_str().unwrap()]);
    }
    lab.eventually("nothing is used", || (lab.used() == 0).then_some(()));
    lab.stays_pending("p");
    assert_eq!(placeholders(&lab).len(), 0);
    let application = lab.application(&id);
    assert_eq!(application["usedResource"]["vcore"].as_i64().unwrap_or(0), 0, "{application}");
}
