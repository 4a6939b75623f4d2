//! Who a pod belongs to, and how it takes part in preemption.

use headroom_pods::convert::ask::{
    ClassPreemption, Preemption, TaskFacts, ask, foreign_allocation, required_node,
};
use headroom_pods::convert::identity::{
    GeneratedIds, Subject, application_id, conflicts, is_placeholder, queue_name, user_of,
};
use headroom_pods::convert::key;
use headroom_pods::object::{Pod, PriorityClass, Text};
use serde_json::{Value, json};

use crate::{labelled, pod, text};

#[test]
#[doc(alias = "kubernetes W1")]
#[doc(alias = "kubernetes W2")]
#[doc(alias = "kubernetes W4")]
#[doc(alias = "kubernetes W5")]
#[doc(alias = "kubernetes W6")]
fn the_first_application_id_and_queue_win() {
    for (labels, annotations, id, queue) in [
        (json!({ "applicationId": "a1", "queue": "root.x" }), json!({}), "a1", "root.x"),
        (json!({}), json!({}), "yunikorn-lab-autogen", ""),
        (json!({ "yunikorn.apache.org/app-id": "lab-uniqueautogen" }), json!({}), "lab-u1", ""),
        (json!({ "yunikorn.apache.org/app-id": "", "applicationId": "a1" }), json!({}), "a1", ""),
        (
            json!({ "applicationId": "o1", "yunikorn.apache.org/app-id": "c1" }),
            json!({ "yunikorn.apache.org/app-id": "n1" }),
            "c1",
            "",
        ),
        (
            json!({ "spark-app-selector": "spark-9", "queue": "root.old" }),
            json!({ "yunikorn.apache.org/queue": "root.sp" }),
            "spark-9",
            "root.sp",
        ),
    ] {
        let pod = labelled(labels, annotations);
        assert_eq!(application_id(&pod, GeneratedIds::PerNamespace), id);
        assert_eq!(queue_name(&pod), queue);
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Label,
    Annotation,
}

#[test]
fn each_key_counts_before_the_next_one_and_an_empty_value_is_absent() {
    let ids = [
        ("yunikorn.apache.org/app-id", Kind::Label),
        ("yunikorn.apache.org/app-id", Kind::Annotation),
        ("applicationId", Kind::Label),
        ("spark-app-selector", Kind::Label),
    ];
    let queues = [
        ("yunikorn.apache.org/queue", Kind::Label),
        ("yunikorn.apache.org/queue", Kind::Annotation),
        ("queue", Kind::Label),
    ];
    let id = |pod: &Pod| application_id(pod, GeneratedIds::PerNamespace).to_string();
    let queue = |pod: &Pod| queue_name(pod).to_string();
    let check = |keys: &[(&str, Kind)], read: &dyn Fn(&Pod) -> String| {
        for first in 0..keys.len() {
            let (mut labels, mut annotations) = (json!({}), json!({}));
            for (rank, (key, kind)) in keys.iter().enumerate() {
                let map = match kind {
                    Kind::Label => &mut labels,
                    Kind::Annotation => &mut annotations,
                };
                map[*key] = if rank < first { "".into() } else { format!("v{rank}").into() };
            }
            assert_eq!(read(&labelled(labels, annotations)), format!("v{first}"));
        }
    };
    check(&ids, &id);
    check(&queues, &queue);
}

#[test]
fn given_ids_are_not_cut() {
    let long = "n".repeat(80);
    let given = |text: &str| {
        let pod = labelled(json!({}), json!({ "yunikorn.apache.org/app-id": text }));
        application_id(&pod, GeneratedIds::PerPod).to_string()
    };
    assert_eq!(given(&long), long);
    assert_eq!(given(&format!("{long}-uniqueautogen")), format!("{long}-u1"));
}

#[test]
#[doc(alias = "kubernetes W3")]
fn generated_ids_are_cut() {
    let id = |namespace: &str, uid: &str, ids| {
        let pod = pod(json!({ "namespace": namespace, "uid": uid }), json!({}), json!({}));
        application_id(&pod, ids).to_string()
    };
    assert_eq!(id("lab", "u1", GeneratedIds::PerPod), "lab-u1");
    let long = "a-very-long-namespace-name-here";
    assert_eq!(id(long, "u1", GeneratedIds::PerPod), "a-very-long-namespace-name-u1");
    assert_eq!(id("", "u1", GeneratedIds::PerNamespace), "yunikorn-default-autogen");
    assert_eq!(id(&"n".repeat(63), "u1", GeneratedIds::PerNamespace).len(), 63);
    assert_eq!(id(&"n".repeat(63), &"u".repeat(63), GeneratedIds::PerPod).len(), 63);
}

#[test]
#[doc(alias = "kubernetes W5")]
#[doc(alias = "kubernetes W6")]
fn conflicts_name_what_is_ignored_once_for_each_property() {
    let found = |labels: Value, annotations: Value| -> Vec<(Subject, Vec<String>)> {
        let conflicts = conflicts(&labelled(labels, annotations));
        let ignored = |ignored: Vec<(_, Text)>| {
            ignored.into_iter().map(|(_, value)| value.to_string()).collect()
        };
        conflicts.into_iter().map(|one| (one.subject, ignored(one.ignored))).collect()
    };
    let label = "yunikorn.apache.org/app-id";
    assert_eq!(
        found(json!({ label: "c1", "applicationId": "o1" }), json!({ label: "n1" })),
        [(Subject::Application, vec!["n1".to_owned(), "o1".to_owned()])]
    );
    assert_eq!(
        found(json!({ "queue": "root.old" }), json!({ "yunikorn.apache.org/queue": "root.sp" })),
        [(Subject::Queue, vec!["root.old".to_owned()])]
    );
    let both = json!({ label: "c1", "spark-app-selector": "s1", "applicationId": "c1",
        "yunikorn.apache.org/queue": "root.a", "queue": "root.b" });
    assert_eq!(
        found(both, json!({ label: "n1", "yunikorn.apache.org/queue": "root.c" })),
        [
            (Subject::Application, vec!["n1".to_owned(), "s1".to_owned()]),
            (Subject::Queue, vec!["root.c".to_owned(), "root.b".to_owned()]),
        ]
    );
    let marker = "lab-uniqueautogen";
    assert_eq!(found(json!({ label: marker, "applicationId": marker }), json!({})), []);
    assert_eq!(found(json!({ label: marker, "applicationId": "lab-u1" }), json!({})), []);
}

#[test]
#[doc(alias = "kubernetes W8")]
fn the_user_is_nobody_unless_the_information_is_readable() {
    let user = |text: &str| {
        let user = user_of(&labelled(json!({}), json!({ key::USER_INFO: text })));
        let groups: Vec<&str> = user.groups.iter().map(Text::as_str).collect();
        format!("{} {}", user.name, groups.join(","))
    };
    for (text, expected) in [
        (r#"{"user":"ann","groups":["ml"]}"#, "ann ml"),
        (r#"{"groups":["ml"]}"#, "nobody ml"),
        (r#"{"user":"","groups":["ml"]}"#, "nobody ml"),
        (r#"{"USER":"ann"}"#, "ann "),
        (r#"{"user":"ann","groups":null}"#, "ann "),
        (r#"{"user":"ann","groups":"ml"}"#, "nobody "),
        ("{user: ann}", "nobody "),
        ("[]", "nobody "),
        ("null", "nobody "),
        ("", "nobody "),
    ] {
        assert_eq!(user(text), expected, "{text}");
    }
}

#[test]
fn a_placeholder_has_a_truth_value() {
    for (text, expected) in
        [("true", true), ("1", true), ("T", true), ("yes", false), ("", false), ("false", false)]
    {
        let pod = labelled(json!({}), json!({ key::PLACEHOLDER: text }));
        assert_eq!(is_placeholder(&pod), expected, "{text}");
    }
}

#[test]
#[doc(alias = "kubernetes W7")]
fn a_foreign_allocation_tells_whether_the_pod_is_static() {
    let foreign = |owners: Value| {
        let spec = json!({
            "nodeName": "n1",
            "containers": [{ "name": "c", "resources": { "requests": { "cpu": "2" } } }],
        });
        foreign_allocation(&pod(json!({ "ownerReferences": owners }), spec, json!({})))
    };
    let ordinary = foreign(json!([{ "kind": "ReplicaSet" }]));
    assert_eq!((ordinary.key.as_str(), ordinary.node.as_str()), ("u1", "n1"));
    assert_eq!(text(&ordinary.amounts), "pods 1, vcore 2000");
    assert_eq!(ordinary.tags.get("foreign").map(Text::as_str), Some("default"));
    let mirror = foreign(json!([{ "kind": "Node" }]));
    assert_eq!(mirror.tags.get("foreign").map(Text::as_str), Some("static"));
}

fn daemon_pod(kind: &str, terms: &Value) -> Pod {
    let required =
        json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } });
    let metadata = json!({ "ownerReferences": [{ "kind": kind, "apiVersion": "x/v9" }] });
    pod(metadata, json!({ "affinity": { "nodeAffinity": required } }), json!({}))
}

#[test]
#[doc(alias = "kubernetes W21")]
fn a_pod_of_a_daemon_set_requires_the_node_of_the_last_term() {
    let term = |operator: &str, values: Value| json!({ "matchFields": [{ "key": "metadata.name", "operator": operator, "values": values }] });
    let node = |kind: &str, terms: Value| {
        required_node(&daemon_pod(kind, &terms)).map(ToString::to_string)
    };
    let n3 = Some("n3".to_owned());
    assert_eq!(node("DaemonSet", json!([term("In", json!(["n3"]))])), n3);
    let two = json!([term("In", json!(["n2"])), term("In", json!(["n3"]))]);
    assert_eq!(node("DaemonSet", two.clone()), n3);
    assert_eq!(node("ReplicaSet", two), None);
    assert_eq!(node("DaemonSet", json!([term("NotIn", json!(["n3"]))])), None);
    assert_eq!(node("DaemonSet", json!([term("In", json!([]))])), None);
    assert_eq!(node("DaemonSet", json!([term("In", json!(["n1", "n2"]))])), None);
    let other = json!([{ "matchFields": [{ "key": "x", "operator": "In", "values": ["n3"] }] }]);
    assert_eq!(node("DaemonSet", other), None);
}

#[test]
#[doc(alias = "kubernetes W22")]
fn the_pod_decides_on_preemption_before_its_class() {
    let class = |text: &str| {
        let class = json!({ "metadata": { "annotations": { key::ALLOW_PREEMPTION: text } } });
        ClassPreemption::from(&serde_json::from_value::<PriorityClass>(class).expect("a class"))
    };
    let (forbids, other) = (class("false"), class("x"));
    let preemption = |annotations: Value, policy: &str, class| {
        let metadata = json!({ "annotations": annotations });
        let pod = pod(metadata, json!({ "preemptionPolicy": policy, "priority": 100 }), json!({}));
        let none = Text::default();
        let ask = ask(&pod, TaskFacts { application: &none, originator: &none, class });
        assert_eq!(ask.priority, 100);
        ask.preemption
    };
    let allow = |allow_self, allow_other| Preemption { allow_self, allow_other };
    let given = |text: &str| json!({ key::ALLOW_PREEMPTION: text });
    assert_eq!(preemption(json!({}), "", forbids), allow(false, true));
    assert_eq!(preemption(json!({}), "", other), allow(true, true));
    assert_eq!(preemption(json!({}), "", ClassPreemption::default()), allow(true, true));
    assert_eq!(preemption(given("true"), "", forbids), allow(true, true));
    assert_eq!(preemption(given("false"), "", other), allow(false, true));
    assert_eq!(preemption(given("maybe"), "", forbids), allow(false, true));
    assert_eq!(preemption(json!({}), "Never", other), allow(true, false));
}
