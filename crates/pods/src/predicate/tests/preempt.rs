//! Evictions.

use crate::object::Text;
use crate::predicate::fits_after_evictions;

use super::*;

const ONE_CPU: &str = r#"{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}"#;

fn index(cluster: &Cluster, pod: &PodFacts, victims: &[&str], start: usize) -> Option<usize> {
    let victims: Vec<Text> = victims.iter().map(|uid| (*uid).into()).collect();
    let prepared = Prepared::new(&cluster.0, pod, Mode::Allocate, Options::default());
    fits_after_evictions(&prepared, cluster.0.node("n").expect("a node"), &victims, start)
}

fn full() -> Cluster {
    let cluster = Cluster::default().node("n", "zone=a", "").node("m", "zone=b", "");
    ["v1", "v2", "v3", "v4"].iter().fold(cluster, |cluster, uid| cluster.pod("n", uid, "", ONE_CPU))
}

#[test]
fn the_index_is_that_of_the_last_victim_needed() {
    let cluster = full().pod("m", "elsewhere", "", "");
    let two = pod("p", "", r#"{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}"#);
    for (victims, start, expected) in [
        (&["v1", "v2", "v3"][..], 0, Some(1)),
        (&["v1", "v2", "v3"], 2, Some(2)),
        (&["v1", "v2", "v3"], 3, None),
        (&["v1", "v2", "v3"], usize::MAX, None),
        (&["v1"], 0, None),
        (&[], 0, None),
        (&["gone", "elsewhere", "", "v1", "v2"], 0, Some(4)),
        (&["v1", "v1", "v2"], 0, Some(2)),
    ] {
        assert_eq!(index(&cluster, &two, victims, start), expected, "{victims:?} from {start}");
    }
}

#[test]
fn at_least_one_removal_is_tried() {
    let cluster = full();
    let small = pod("p", "", "");
    assert!(cluster.fits(&small, "n"));
    assert_eq!(index(&cluster, &small, &[], 0), None);
    assert_eq!(index(&cluster, &small, &["gone"], 0), Some(0));
}

#[test]
fn evictions_change_what_predicates_about_other_pods_count() {
    let term = r#"[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}}]"#;
    let with = |kind: &str| {
        format!(
            r#"{{"affinity":{{"{kind}":{{"requiredDuringSchedulingIgnoredDuringExecution":{term}}}}}}}"#
        )
    };
    let cluster = full().pod("n", "web", "app=web", ONE_CPU);
    let avoiding = pod("p", "", &with("podAntiAffinity"));
    assert_eq!(index(&cluster, &avoiding, &["v1", "web", "v2"], 0), Some(1));
    // The pod needs the victim.
    let wanting = pod("p", "", &with("podAffinity"));
    assert_eq!(index(&cluster, &wanting, &["web", "v1"], 0), None);
    assert_eq!(index(&cluster, &wanting, &["v1", "web"], 0), Some(0));
    let cluster = full().pod("n", "avoiding", "", &with("podAntiAffinity"));
    let web = pod("p", "app=web", "");
    assert_eq!(index(&cluster, &web, &["v1", "avoiding"], 0), Some(1));
    let spread = r#"{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
        "whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}]}"#;
    let cluster = full().pod("n", "web", "app=web", "");
    assert_eq!(index(&cluster, &pod("p", "app=web", spread), &["v1", "web"], 0), Some(1));
}
