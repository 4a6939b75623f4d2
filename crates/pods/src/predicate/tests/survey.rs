//! How many nodes refuse a pod, and what would help.

use super::super::{Code, Mode, Options, Plugin, PodFacts, Prepared, RefusedNodes, Survey};
use super::{Cluster, pod};

fn survey(cluster: &Cluster, pod: &PodFacts) -> Survey {
    Survey::of(&Prepared::new(&cluster.0, pod, Mode::Allocate, Options::default()))
}

#[test]
fn refusals_are_grouped_and_name_the_closest_node() {
    let cluster = Cluster::default()
        .node("n1", "", r#""status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}"#)
        .node("n2", "", r#""status":{"allocatable":{"cpu":"3","memory":"8Gi","pods":"10"}}"#)
        .node("n3", "", r#""spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]}"#)
        .node("n4", "", r#""spec":{"unschedulable":true}"#)
        .node("n5", "", r#""status":{"allocatable":{"cpu":"9","memory":"8Gi","pods":"10"}}"#);
    let busy = r#"{"containers":[{"resources":{"requests":{"cpu":"2500m"}}}]}"#;
    let cluster = cluster.pod("n1", "busy", "", busy);
    let wanted =
        pod("wanted", "", r#"{"containers":[{"resources":{"requests":{"cpu":"3500m"}}}]}"#);
    let survey = survey(&cluster, &wanted);
    assert_eq!((survey.nodes, survey.fitting), (5, 1));
    assert_eq!(
        survey.line(),
        "1/5 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable, 1 node(s) had untolerated taint(s)."
    );
    let group = |plugin, nodes, example: &str, change: &str| {
        let found = survey.refused.iter().find(|one| one.plugin == plugin).expect("a group");
        let RefusedNodes { nodes: count, example: node, change: what, .. } = found;
        assert_eq!((*count, &**node, what.as_deref()), (nodes, example, Some(change)));
        found.code
    };
    let closest = "request at most 3 cpu, the size of n2";
    assert_eq!(
        group(Plugin::NodeResourcesFit, 2, "n2", closest),
        Code::UnschedulableAndUnresolvable
    );
    let taint =
        "add a toleration for the taint gpu=yes:NoSchedule to the pod, or remove it from n3";
    group(Plugin::TaintToleration, 1, "n3", taint);
    group(Plugin::NodeUnschedulable, 1, "n4", "uncordon n4");
}

#[test]
fn the_missing_labels_of_a_node_selector_are_named() {
    let cluster = Cluster::default().node("n1", "zone=a", "");
    let wanted = pod("wanted", "", r#"{"nodeSelector":{"gpu":"yes","zone":"a"}}"#);
    let change = survey(&cluster, &wanted).refused.remove(0).change;
    assert_eq!(change.as_deref(), Some("add the label gpu=yes to n1, or change the node selector"));
}

#[test]
fn a_refusal_without_a_cure_counts_for_every_node() {
    let cluster = Cluster::default().node("n1", "", "").node("n2", "", "");
    let spec = r#"{"volumes":[{"persistentVolumeClaim":{"claimName":"data"}}]}"#;
    let survey = survey(&cluster, &pod("wanted", "", spec));
    assert_eq!((survey.nodes, survey.fitting, survey.refused.len()), (2, 0, 1));
    assert_eq!(survey.refused[0].change.as_deref(), Some("create the claim data"));
}

#[test]
fn free_capacity_is_asked_for_in_units_that_people_write() {
    let cluster = Cluster::default().node("n1", "", "");
    let busy = r#"{"containers":[{"resources":{"requests":{"memory":"6Gi"}}}]}"#;
    let cluster = cluster.pod("n1", "busy", "", busy);
    let wanted =
        pod("wanted", "", r#"{"containers":[{"resources":{"requests":{"memory":"3Gi"}}}]}"#);
    let survey = survey(&cluster, &wanted);
    assert_eq!(
        survey.refused[0].change.as_deref(),
        Some("request 1Gi less memory, or wait until so much is free on n1")
    );
    assert_eq!(survey.refused[0].code, Code::Unschedulable);
}
