//! Task groups, policies, and placeholders.

use headroom_pods::convert::application::{ApplicationRules, plan_application};
use headroom_pods::convert::gang::{
    GangPolicy, GangStyle, Placeholder, PlaceholderSettings, parse_groups, parse_policy,
    placeholder_ask,
};
use headroom_pods::convert::identity::GeneratedIds;
use headroom_pods::convert::key;
use serde_json::json;

use crate::{pod, text};

const RULES: ApplicationRules =
    ApplicationRules { generated_ids: GeneratedIds::PerNamespace, gangs: true };

#[test]
#[doc(alias = "kubernetes W18")]
fn placeholders_ask_for_all_members() {
    for (groups, expected) in [
        (
            r#"[{"name":"w","minMember":3,"minResource":{"cpu":"500m","memory":"1Gi"}}]"#,
            "memory 3221225472, pods 3, vcore 1500",
        ),
        (r#"[{"Name":"w","MINMEMBER":1,"minresource":{}}]"#, "pods 1"),
        (
            r#"[{"name":"w","minMember":2,"minResource":{"cpu":2,"memory":null}}]"#,
            "memory 0, pods 2, vcore 4000",
        ),
        (
            r#"[{"name":"w","minMember":2,"minResource":{"cpu":" 1 "},"other":1}]"#,
            "pods 2, vcore 2000",
        ),
        (
            r#"[{"name":"w","minMember":2147483647,"minResource":{"vcore":"2"}}]"#,
            "pods 2147483647, vcore 4294967294",
        ),
        ("null", ""),
        ("[]", ""),
    ] {
        let groups = parse_groups(groups).expect("valid groups");
        assert_eq!(text(&placeholder_ask(&groups).expect("no overflow")), expected);
    }
}

#[test]
#[doc(alias = "kubernetes W19")]
fn one_fault_voids_all_groups() {
    let group = |fields: &str| format!(r#"[{{"name":"w","minMember":2,{fields}}}]"#);
    let named = |name: &str| format!(r#"[{{"name":"{name}","minMember":2,"minResource":{{}}}}]"#);
    let pair = |one: &str, two: &str| {
        format!(
            r#"[{{"name":"a","minMember":1,"minResource":{{"memory":"{one}"}}}},{{"name":"b","minMember":1,"minResource":{{"memory":"{two}"}}}}]"#
        )
    };
    for text in [
        "not json".to_owned(),
        "{}".to_owned(),
        "[1]".to_owned(),
        "[null]".to_owned(),
        "[{}]".to_owned(),
        named(""),
        named("a_b"),
        named("W"),
        r#"[{"name":"w","minMember":2}]"#.to_owned(),
        r#"[{"name":"w","minMember":0,"minResource":{}}]"#.to_owned(),
        r#"[{"name":"w","minMember":-1,"minResource":{}}]"#.to_owned(),
        r#"[{"name":"w","minMember":1.5,"minResource":{}}]"#.to_owned(),
        r#"[{"name":"w","minMember":"2","minResource":{}}]"#.to_owned(),
        r#"[{"name":"w","minMember":2147483648,"minResource":{}}]"#.to_owned(),
        group(r#""minResource":{"cpu":"abc"}"#),
        group(r#""minResource":{"cpu":"-1"}"#),
        group(r#""minResource":{"":"1"}"#),
        group(r#""minResource":{"cpu":"1","vcore":"1"}"#),
        group(r#""minResource":{"pods":"1"}"#),
        group(r#""minResource":{"memory":"9223372036854775807"}"#),
        group(r#""minResource":{"cpu":"9223372036854775807"}"#),
        group(r#""minResource":{},"labels":{"a":1}"#),
        group(r#""minResource":{},"tolerations":{}"#),
        group(r#""minResource":{},"affinity":[]"#),
        pair("9000000000000000000", "9000000000000000000"),
        format!("[{0},{0}]", r#"{"name":"w","minMember":1,"minResource":{}}"#),
        "[".repeat(100_000),
    ] {
        assert!(parse_groups(&text).is_err(), "{text:.80}");
    }
}

#[test]
#[doc(alias = "kubernetes W18")]
#[doc(alias = "kubernetes W20")]
fn policy_parameters_have_defaults() {
    for (text, timeout_seconds, style, ignored) in [
        ("placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard", 60, GangStyle::Hard, 0),
        ("gangSchedulingStyle=hard placeholderTimeoutInSeconds=abc junk", 0, GangStyle::Soft, 3),
        ("placeholderTimeoutInSeconds=-5", 0, GangStyle::Soft, 1),
        ("placeholderTimeoutInSeconds=9223372036854775807", 0, GangStyle::Soft, 1),
        ("placeholderTimeoutInSeconds=+7", 7, GangStyle::Soft, 0),
        ("placeholderTimeoutInSeconds=1=2 other=3", 0, GangStyle::Soft, 1),
        ("", 0, GangStyle::Soft, 0),
    ] {
        let (policy, faults) = parse_policy(text);
        assert_eq!(policy, GangPolicy { timeout_seconds, style }, "{text}");
        assert_eq!(faults.len(), ignored, "{text}");
    }
}

#[test]
fn a_placeholder_is_a_complete_pod() {
    let groups = r#"[{"name":"a-task-group-name-longer-than-twenty","minMember":1,
        "minResource":{"cpu":"1"},"labels":{"l":"v","yunikorn.apache.org/queue":"other"},
        "nodeSelector":{"disk":"ssd"},"tolerations":[{"operator":"Exists"}]}]"#;
    let metadata = json!({
        "labels": { key::APPLICATION: "an-application-id-longer-than-28", key::QUEUE: "root.a" },
        "annotations": { key::TASK_GROUPS: groups, key::USER_INFO: r#"{"user":"ann"}"# },
    });
    let spec = json!({
        "priorityClassName": "hi",
        "imagePullSecrets": [{ "name": "s1" }, { "name": "s2" }],
    });
    let plan = plan_application(&pod(metadata, spec, json!({})), None, RULES);
    let gang = plan.gang.expect("a gang");
    let settings = PlaceholderSettings { run_as_user: 1000, ..PlaceholderSettings::default() };
    let placeholder = Placeholder::new(&gang.source, &gang.groups[0], &settings, "0123456789");
    assert_eq!(placeholder.name, "tg-an-application-id-longer-tha-a-task-group-name-lo-0123456789");
    assert!(placeholder.name.len() <= 63);
    let body = placeholder.body;
    assert_eq!(body["metadata"]["namespace"], "lab");
    assert_eq!(body["metadata"]["labels"]["l"], "v");
    assert_eq!(body["metadata"]["labels"][key::QUEUE], "root.a");
    assert_eq!(body["metadata"]["annotations"][key::PLACEHOLDER], "true");
    assert_eq!(body["metadata"]["annotations"][key::TASK_GROUPS], groups);
    assert_eq!(body["metadata"]["annotations"][key::USER_INFO], r#"{"user":"ann"}"#);
    let owner = &body["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["uid"]), (&json!("Pod"), &json!("u1")));
    assert_eq!(owner["blockOwnerDeletion"], true);
    let spec = &body["spec"];
    assert_eq!(spec["schedulerName"], key::SCHEDULER);
    assert_eq!(spec["priorityClassName"], "hi");
    assert_eq!(spec["imagePullSecrets"], json!([{ "name": "s1" }, { "name": "s2" }]));
    assert_eq!(spec["nodeSelector"], json!({ "disk": "ssd" }));
    assert_eq!(spec["tolerations"], json!([{ "operator": "Exists" }]));
    assert_eq!(spec["securityContext"]["runAsUser"], 1000);
    assert_eq!(spec["securityContext"].get("runAsGroup"), None);
    let amounts = json!({ "cpu": "1" });
    assert_eq!(
        spec["containers"][0]["resources"],
        json!({ "requests": amounts, "limits": amounts })
    );
}

#[test]
fn a_placeholder_has_everything_that_decides_about_its_node() {
    let fields = json!({
        "tolerations": [{ "key": "dedicated", "operator": "Exists" }],
        "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{ "matchExpressions": [
                { "key": "disk", "operator": "In", "values": ["ssd"] }] }] } } },
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": { "matchLabels": { "app": "web" } } }],
    });
    let amounts = json!({ "cpu": "1", "hugepages-2Mi": "4Mi", "nvidia.com/gpu": "2" });
    let mut group = fields.clone();
    for (field, value) in
        [("name", json!("w")), ("minMember", json!(1)), ("minResource", amounts.clone())]
    {
        group[field] = value;
    }
    let metadata = json!({ "annotations": { key::TASK_GROUPS: json!([group]).to_string() } });
    let plan = plan_application(&pod(metadata, json!({}), json!({})), None, RULES);
    let gang = plan.gang.expect("a gang");
    let settings = PlaceholderSettings {
        image: "own/pause:1".into(),
        run_as_user: 1000,
        run_as_group: 2000,
        fs_group: 3000,
    };
    let placeholder = Placeholder::new(&gang.source, &gang.groups[0], &settings, "0123456789");
    let spec = &placeholder.body["spec"];
    for (field, value) in fields.as_object().expect("fields") {
        assert_eq!(spec[field], *value, "{field}");
    }
    let container = &spec["containers"][0];
    assert_eq!(container["resources"], json!({ "requests": amounts, "limits": amounts }));
    assert_eq!(container["image"], "own/pause:1");
    let ids = ["runAsUser", "runAsGroup", "fsGroup"].map(|field| &spec["securityContext"][field]);
    assert_eq!(ids, [&json!(1000), &json!(2000), &json!(3000)]);
}

#[test]
fn a_placeholder_that_comes_first_keeps_the_owner_of_all_placeholders() {
    let metadata = json!({
        "uid": "ph1",
        "annotations": {
            key::PLACEHOLDER: "true",
            key::TASK_GROUPS: r#"[{"name":"w","minMember":1,"minResource":{}}]"#,
        },
        "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": "u1" }],
    });
    let plan = plan_application(&pod(metadata, json!({}), json!({})), None, RULES);
    assert_eq!(plan.originator, "u1");
    assert_eq!(plan.gang.expect("a gang").source.owners[0].uid, "u1");
}

#[test]
fn disabled_gangs_leave_no_task_groups() {
    let groups = r#"[{"name":"w","minMember":1,"minResource":{}}]"#;
    let pod = pod(json!({ "annotations": { key::TASK_GROUPS: groups } }), json!({}), json!({}));
    let plan = plan_application(&pod, None, ApplicationRules { gangs: false, ..RULES });
    assert!(plan.gang.is_none() && plan.group_fault.is_none());
    assert!(!plan.submission.tags.contains_key(key::TASK_GROUPS));
}
