//! Annotations of namespaces.

use headroom_pods::convert::application::{ApplicationRules, plan_application};
use headroom_pods::convert::identity::GeneratedIds;
use headroom_pods::convert::key;
use headroom_pods::convert::namespace::{NamespaceLimits, encode_amounts, namespace_limits};
use headroom_pods::object::Namespace;
use serde_json::{Value, json};

use crate::pod;

fn read(annotations: Value) -> (NamespaceLimits, Vec<String>) {
    let namespace = json!({ "metadata": { "name": "lab", "annotations": annotations } });
    let namespace: Namespace = serde_json::from_value(namespace).expect("a namespace");
    let (limits, ignored) = namespace_limits(&namespace);
    (limits, ignored.iter().map(ToString::to_string).collect())
}

fn quota(annotations: Value) -> Option<String> {
    read(annotations).0.quota.as_ref().map(encode_amounts)
}

#[test]
fn a_quota_is_encoded_for_the_core() {
    let text = |text: &str| quota(json!({ key::NAMESPACE_QUOTA: text }));
    assert_eq!(
        text(r#"{"cpu":"4","memory":"8Gi"}"#).as_deref(),
        Some(r#"{"resources":{"memory":{"value":8589934592},"vcore":{"value":4000}}}"#)
    );
    assert_eq!(
        text(r#"{"cpu":"0","memory":"1"}"#).as_deref(),
        Some(r#"{"resources":{"memory":{"value":1},"vcore":{}}}"#)
    );
    assert_eq!(
        text(r#"{"cpu":"1","cpu":"2"}"#).as_deref(),
        Some(r#"{"resources":{"vcore":{"value":2000}}}"#)
    );
    for nothing in ["{}", "null", r#"{"cpu":"0"}"#] {
        assert_eq!(text(nothing), None, "{nothing}");
    }
}

#[test]
#[doc(alias = "kubernetes W17")]
fn one_bad_value_voids_an_annotation() {
    for bad in [
        r#"{"cpu":"4","memory":"oops"}"#,
        r#"{"cpu":4}"#,
        r#"{"cpu":"-1"}"#,
        r#"{"cpu":null}"#,
        r#"{"memory":" 1Gi"}"#,
        r#"{"cpu":"4"#,
        "not json",
        "[]",
    ] {
        for key in [key::NAMESPACE_QUOTA, key::NAMESPACE_GUARANTEED] {
            let (limits, ignored) = read(json!({ key: bad }));
            assert_eq!((limits.quota, limits.guaranteed), (None, None), "{bad}");
            assert_eq!(ignored.len(), 1, "{bad}");
        }
    }
}

#[test]
#[doc(alias = "kubernetes W17")]
fn the_old_form_counts_without_the_new_one() {
    let both = json!({ key::NAMESPACE_CPU_OLD: "2", key::NAMESPACE_MEMORY_OLD: "1Gi" });
    assert_eq!(
        quota(both).as_deref(),
        Some(r#"{"resources":{"memory":{"value":1073741824},"vcore":{"value":2000}}}"#)
    );
    let cpu = r#"{"resources":{"vcore":{"value":2000}}}"#;
    assert_eq!(quota(json!({ key::NAMESPACE_CPU_OLD: "2" })).as_deref(), Some(cpu));
    let empty = json!({ key::NAMESPACE_CPU_OLD: "2", key::NAMESPACE_QUOTA: "" });
    assert_eq!(quota(empty).as_deref(), Some(cpu));
    let half = json!({ key::NAMESPACE_CPU_OLD: "2", key::NAMESPACE_MEMORY_OLD: "x" });
    assert_eq!(quota(half), None);
    let new = json!({ key::NAMESPACE_CPU_OLD: "9", key::NAMESPACE_QUOTA: r#"{"cpu":"2"}"# });
    assert_eq!(quota(new.clone()).as_deref(), Some(cpu));
    assert_eq!(read(new).1.len(), 1);
    let bad = json!({ key::NAMESPACE_CPU_OLD: "9", key::NAMESPACE_QUOTA: "x" });
    assert_eq!(quota(bad), None);
}

#[test]
fn the_number_of_applications_passes_as_written() {
    for (text, expected) in [
        ("5", Some("5")),
        ("+5", Some("+5")),
        ("007", Some("007")),
        ("0", Some("0")),
        ("-1", None),
        ("x", None),
        ("9223372036854775808", None),
        ("", None),
    ] {
        let (limits, _) = read(json!({ key::NAMESPACE_MAX_APPS: text }));
        assert_eq!(limits.max_applications.as_deref(), expected, "{text}");
    }
}

#[test]
#[doc(alias = "kubernetes W16")]
fn limits_of_the_namespace_are_tags_of_its_applications() {
    let rules = ApplicationRules { generated_ids: GeneratedIds::PerNamespace, gangs: true };
    let tags = |limits: Option<&NamespaceLimits>| {
        let plan = plan_application(&pod(json!({}), json!({}), json!({})), limits, rules);
        let tags = plan.submission.tags.into_iter();
        let tags = tags.map(|(key, value)| format!("{key}={value}"));
        tags.filter(|tag| tag.starts_with("namespace")).collect::<Vec<_>>()
    };
    let (limits, ignored) = read(json!({
        key::NAMESPACE_QUOTA: r#"{"cpu":"4","memory":"8Gi"}"#,
        key::NAMESPACE_GUARANTEED: r#"{"cpu":"1"}"#,
        key::NAMESPACE_MAX_APPS: "7",
        key::NAMESPACE_PARENT: "root.prod",
    }));
    assert!(ignored.is_empty());
    assert_eq!(
        tags(Some(&limits)),
        [
            "namespace=lab",
            "namespace.parentqueue=root.prod",
            r#"namespace.resourceguaranteed={"resources":{"vcore":{"value":1000}}}"#,
            "namespace.resourcemaxapps=7",
            r#"namespace.resourcequota={"resources":{"memory":{"value":8589934592},"vcore":{"value":4000}}}"#,
        ]
    );
    // An unknown namespace limits nothing.
    assert_eq!(tags(None), ["namespace=lab"]);
}
