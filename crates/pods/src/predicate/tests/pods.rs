//! Spread and affinity between pods.

use crate::predicate::{Code, InterPodRefusal, SpreadRefusal};

use super::*;

/// Returns a specification with a required term on pods in the same zone.
fn with_term(kind: &str, term: &str) -> String {
    format!(
        r#"{{"affinity":{{"{kind}":{{"requiredDuringSchedulingIgnoredDuringExecution":
            [{{"topologyKey":"zone",{term}}}]}}}}}}"#
    )
}

const WEB: &str = r#""labelSelector":{"matchLabels":{"app":"web"}}"#;

fn zones() -> Cluster {
    Cluster::default().node("a", "zone=a", "").node("b", "zone=b", "").node("out", "", "")
}

#[test]
fn anti_affinity_holds_in_both_directions() {
    let avoiding = with_term("podAntiAffinity", WEB);
    let web_there = zones().pod("a", "e", "app=web", "");
    let newcomer = pod("p", "", &avoiding);
    let refusals = web_there.refusals(&newcomer, "a");
    assert_eq!(refusals, [Refusal::InterPod(InterPodRefusal::AntiAffinity)]);
    assert_eq!(refusals[0].code(), Code::Unschedulable);
    assert!(web_there.fits(&newcomer, "b") && web_there.fits(&newcomer, "out"));
    let avoiding_there = zones().pod("a", "e", "", &avoiding);
    let web = pod("p", "app=web", "");
    let refusals = avoiding_there.refusals(&web, "a");
    assert_eq!(refusals, [Refusal::InterPod(InterPodRefusal::ExistingAntiAffinity)]);
    assert!(avoiding_there.fits(&web, "b") && avoiding_there.fits(&web, "out"));
    assert!(avoiding_there.fits(&pod("other/p", "app=web", ""), "a"), "another namespace");
}

#[test]
fn affinity_needs_a_pod_in_the_domain_unless_the_pod_is_the_first() {
    let wanting = with_term("podAffinity", WEB);
    let stranger = pod("p", "", &wanting);
    let first = pod("p", "app=web", &wanting);
    let cluster = zones();
    assert!(!cluster.fits(&stranger, "a"));
    assert!(cluster.fits(&first, "a") && cluster.fits(&first, "b"));
    assert!(!cluster.fits(&first, "out"), "the first pod needs a domain too");
    // A pod outside all domains counts for nothing.
    let cluster = zones().pod("out", "e", "app=web", "");
    assert!(cluster.fits(&first, "a"));
    let cluster = zones().pod("b", "e", "app=web", "");
    assert!(!cluster.fits(&first, "a") && cluster.fits(&first, "b"));
    assert!(cluster.fits(&stranger, "b"));
}

#[test]
fn one_pod_must_match_all_terms_of_affinity() {
    let spec = r#"{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}},
        {"topologyKey":"zone","labelSelector":{"matchLabels":{"tier":"front"}}}]}}}"#;
    let wanting = pod("p", "", spec);
    let apart = zones().pod("a", "e1", "app=web", "").pod("a", "e2", "tier=front", "");
    assert!(!apart.fits(&wanting, "a"));
    assert!(apart.pod("a", "e3", "app=web tier=front", "").fits(&wanting, "a"));
}

#[test]
fn namespaces_of_a_term() {
    let cluster = zones()
        .namespace("lab", "team=red")
        .namespace("other", "team=blue")
        .namespace("bare", "")
        .pod("a", "other/e", "app=web", "");
    for (namespaces, expected) in [
        ("", false),
        (r#","namespaces":["other"]"#, true),
        (r#","namespaces":["lab"]"#, false),
        (r#","namespaceSelector":{}"#, true),
        (r#","namespaceSelector":{"matchLabels":{"team":"blue"}}"#, true),
        (r#","namespaceSelector":{"matchLabels":{"team":"red"}}"#, false),
        // Selects the bare namespace, and not every namespace.
        (
            r#","namespaceSelector":{"matchExpressions":[{"key":"team","operator":"DoesNotExist"}]}"#,
            false,
        ),
    ] {
        let wanting = pod("p", "", &with_term("podAffinity", &format!("{WEB}{namespaces}")));
        assert_eq!(cluster.fits(&wanting, "a"), expected, "{namespaces}");
    }
}

fn spread(more: &str) -> PodFacts {
    let spec = format!(
        r#"{{"topologySpreadConstraints":[{{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"{more}}}]}}"#
    );
    pod("p", "app=web rev=2", &spec)
}

#[test]
fn spread_counts_matching_pods_of_each_domain() {
    let web = format!(",{WEB}");
    let cluster = zones().pod("a", "e1", "app=web rev=1", "").pod("a", "other/e2", "app=web", "");
    let pod = spread(&web);
    let skew = SpreadRefusal::Skew { key: "zone".into(), skew: 2, limit: 1 };
    assert_eq!(cluster.refusals(&pod, "a"), [Refusal::Spread(skew)]);
    assert!(cluster.fits(&pod, "b"));
    let outside = cluster.refusals(&pod, "out");
    assert_eq!(outside, [Refusal::Spread(SpreadRefusal::NoDomain { key: "zone".into() })]);
    assert_eq!(outside[0].code(), Code::UnschedulableAndUnresolvable);
    for more in [
        format!(r#"{web},"matchLabelKeys":["rev"]"#),
        r#","labelSelector":{}"#.to_owned(),
        String::new(),
    ] {
        assert!(cluster.fits(&spread(&more), "a"), "{more} counts nothing in the zone");
    }
}

#[test]
fn with_too_few_domains_the_smallest_counts_as_empty() {
    let cluster = zones().pod("a", "e1", "app=web", "").pod("b", "e2", "app=web", "");
    assert!(cluster.fits(&spread(&format!(",{WEB}")), "a"));
    assert!(!cluster.fits(&spread(&format!(r#",{WEB},"minDomains":3"#)), "a"));
}

#[test]
fn policies_leave_out_nodes_that_the_pod_cannot_use() {
    let taint = r#""spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}"#;
    let cluster = Cluster::default()
        .node("a", "zone=a", "")
        .node("b", "zone=b", taint)
        .pod("a", "e1", "app=web", "");
    // The empty zone behind the taint is the smallest.
    assert!(!cluster.fits(&spread(&format!(",{WEB}")), "a"));
    assert!(cluster.fits(&spread(&format!(r#",{WEB},"nodeTaintsPolicy":"Honor""#)), "a"));
}

#[test]
fn a_reservation_ignores_resources_and_keeps_affinity() {
    let full = r#"{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}"#;
    let cluster = zones().pod("a", "e1", "", full).pod("b", "e2", "app=web", full);
    let wanting = r#"{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],
        "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}}]}}}"#;
    let wanting = pod("p", "", wanting);
    assert!(!cluster.fits(&wanting, "b"));
    assert!(cluster.fits_in(&wanting, "b", Mode::Reserve));
    assert!(!cluster.fits_in(&wanting, "a", Mode::Reserve));
}

#[test]
fn unused_classes_of_pods_are_removed() {
    let mut cluster = zones().pod("a", "kept", "app=web", "");
    for number in 0..5000 {
        cluster = cluster.pod("b", "changing", &format!("number=n{number}"), "");
    }
    let classes = cluster.0.for_classes(|_| ());
    assert!(classes.len() < 3000, "{} classes", classes.len());
    let avoiding = pod("p", "", &with_term("podAntiAffinity", WEB));
    assert!(!cluster.fits(&avoiding, "a") && cluster.fits(&avoiding, "b"));
}
