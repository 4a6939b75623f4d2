//! Names, taints, labels, ports, and resources of nodes.

use crate::predicate::Code;

use super::*;

#[test]
fn a_pod_with_a_node_name_runs_there_only() {
    let cluster = Cluster::default().node("n1", "", "").node("n2", "", "");
    let bound = pod("p", "", r#"{"nodeName":"n2"}"#);
    assert_eq!(cluster.refusing(&bound, "n1"), [Plugin::NodeName]);
    assert!(cluster.fits(&bound, "n2"));
}

#[test]
fn a_cordoned_node_takes_who_tolerates_its_taint() {
    let cluster = Cluster::default().node("n", "", r#""spec":{"unschedulable":true}"#);
    assert_eq!(cluster.refusing(&pod("p", "", ""), "n"), [Plugin::NodeUnschedulable]);
    let key = "node.kubernetes.io/unschedulable";
    for (toleration, expected) in [
        (r#""operator":"Exists""#.to_owned(), true),
        (format!(r#""key":"{key}","operator":"Exists","effect":"NoSchedule""#), true),
        (format!(r#""key":"{key}""#), true),
        (format!(r#""key":"{key}","value":"x""#), false),
        (format!(r#""key":"{key}","operator":"Exists","effect":"NoExecute""#), false),
    ] {
        let spec = format!(r#"{{"tolerations":[{{{toleration}}}]}}"#);
        assert_eq!(cluster.fits(&pod("p", "", &spec), "n"), expected, "{toleration}");
    }
}

#[test]
fn integers_are_compared_only_if_the_option_is_on() {
    let taint = r#""spec":{"taints":[{"key":"gen","value":"7","effect":"NoSchedule"}]}"#;
    let cluster = Cluster::default().node("n", "", taint);
    for (operator, value, expected) in [
        ("Gt", "6", true),
        ("Gt", "7", false),
        ("Lt", "8", true),
        ("Lt", "08", false),
        ("Gt", "x", false),
    ] {
        let spec = format!(
            r#"{{"tolerations":[{{"key":"gen","operator":"{operator}","value":"{value}"}}]}}"#
        );
        let pod = pod("p", "", &spec);
        let options = Options { compares_taints: true };
        let prepared = Prepared::new(&cluster.0, &pod, Mode::Allocate, options);
        let result = prepared.check(cluster.0.node("n").expect("a node"));
        assert_eq!(result.is_ok(), expected, "{operator} {value}");
        assert!(!cluster.fits(&pod, "n"), "{operator} {value} without the option");
    }
}

#[test]
fn requirements_on_labels_of_nodes() {
    let cluster = Cluster::default().node("n1", "disk=ssd gen=7", "");
    for (requirement, expected) in [
        (r#""key":"disk","operator":"In","values":["hdd","ssd"]"#, true),
        (r#""key":"disk","operator":"NotIn","values":["ssd"]"#, false),
        (r#""key":"gone","operator":"NotIn","values":["ssd"]"#, true),
        (r#""key":"disk","operator":"Exists""#, true),
        (r#""key":"disk","operator":"Exists","values":["ssd"]"#, false),
        (r#""key":"gone","operator":"DoesNotExist""#, true),
        (r#""key":"gen","operator":"Gt","values":["6"]"#, true),
        (r#""key":"gen","operator":"Lt","values":["7"]"#, false),
        (r#""key":"gen","operator":"Gt","values":["x"]"#, false),
        (r#""key":"disk","operator":"Gt","values":["1"]"#, false),
        (r#""key":"gen","operator":"Gt","values":["1","2"]"#, false),
        (r#""key":"disk","operator":"In","values":[]"#, false),
        (r#""key":"disk","operator":"Like","values":["ssd"]"#, false),
        (r#""key":"not a key","operator":"DoesNotExist""#, false),
        (r#""key":"disk","operator":"NotIn","values":["not a value"]"#, false),
    ] {
        let terms = format!(r#"[{{"matchExpressions":[{{{requirement}}}]}}]"#);
        assert_eq!(cluster.fits(&with_terms(&terms), "n1"), expected, "{requirement}");
    }
}

#[test]
fn terms_are_alternatives_and_an_empty_term_selects_nothing() {
    let cluster = Cluster::default().node("n1", "disk=ssd", "").node("n2", "", "");
    let ssd = r#"{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]}]}"#;
    let name = |operator: &str, values: &str| {
        format!(
            r#"{{"matchFields":[{{"key":"metadata.name","operator":"{operator}","values":[{values}]}}]}}"#
        )
    };
    for (terms, on_first, on_second) in [
        (String::new(), false, false),
        ("{}".to_owned(), false, false),
        (format!("{{}},{ssd}"), true, false),
        (name("In", r#""n2""#), false, true),
        (name("NotIn", r#""n2""#), true, false),
        (format!("{},{ssd}", name("In", r#""n2""#)), true, true),
        (name("In", r#""n1","n2""#), false, false),
        (name("In", ""), false, false),
    ] {
        let pod = with_terms(&format!("[{terms}]"));
        assert_eq!(
            (cluster.fits(&pod, "n1"), cluster.fits(&pod, "n2")),
            (on_first, on_second),
            "{terms}"
        );
    }
}

fn with_terms(terms: &str) -> PodFacts {
    let spec = format!(
        r#"{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":
            {{"nodeSelectorTerms":{terms}}}}}}}}}"#
    );
    pod("p", "", &spec)
}

#[test]
fn fields_that_allow_no_common_node_conflict() {
    let field =
        |name: &str| format!(r#"{{"key":"metadata.name","operator":"In","values":["{name}"]}}"#);
    let pod = with_terms(&format!(r#"[{{"matchFields":[{},{}]}}]"#, field("n1"), field("n2")));
    let cluster = Cluster::default().node("n1", "", "");
    let prepared = Prepared::new(&cluster.0, &pod, Mode::Allocate, Options::default());
    assert_eq!(prepared.refusal(), Some(&Refusal::AffinityConflict));
}

#[test]
fn ports_conflict_by_number_protocol_and_address() {
    let with_port = |name: &str, list: &str, port: &str| {
        let policy = if list == "sidecars" { r#","restartPolicy":"Always""# } else { "" };
        let list = if list == "containers" { list } else { "initContainers" };
        pod(name, "", &format!(r#"{{"{list}":[{{"name":"c","ports":[{{{port}}}]{policy}}}]}}"#))
    };
    let port = |ip: &str, rest: &str| format!(r#""hostPort":80,"hostIP":"{ip}"{rest}"#);
    for (one, two, fits) in [
        (port("", ""), port("", ""), false),
        (port("", ""), port("", r#","protocol":"UDP""#), true),
        (port("", ""), port("10.0.0.1", ""), false),
        (port("0.0.0.0", ""), port("::1", ""), false),
        (port("10.0.0.2", ""), port("10.0.0.1", ""), true),
        (port("::", ""), port("::1", ""), true),
        (port("::", ""), port("::", ""), false),
        (port("::", ""), port("10.0.0.1", ""), true),
        (port("", ""), r#""containerPort":80"#.to_owned(), true),
        (port("", ""), r#""hostPort":81"#.to_owned(), true),
    ] {
        let mut cluster = Cluster::default().node("n", "", "");
        cluster.0.put_pod("n", Arc::new(with_port("e", "containers", &one)));
        for (list, expected) in [("containers", fits), ("sidecars", fits), ("initContainers", true)]
        {
            let result = cluster.fits(&with_port("p", list, &two), "n");
            assert_eq!(result, expected, "{one} and {two} in {list}");
        }
    }
}

#[test]
fn a_shortage_is_unresolvable_if_the_whole_node_is_too_small() {
    let container = |cpu: &str| {
        format!(r#"{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}}"#)
    };
    let cluster = Cluster::default().node("n", "", "").pod("n", "e", "", &container("3"));
    for (cpu, code) in [
        ("1", None),
        ("1001m", Some(Code::Unschedulable)),
        ("4", Some(Code::Unschedulable)),
        ("4.0001", Some(Code::UnschedulableAndUnresolvable)),
    ] {
        let refusals = cluster.refusals(&pod("p", "", &container(cpu)), "n");
        assert_eq!(refusals.first().map(Refusal::code), code, "{cpu}");
    }
}

#[test]
fn a_node_without_pods_takes_nobody_and_an_overcommitted_one_takes_who_asks_for_nothing() {
    let big = r#"{"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]}"#;
    let cluster = Cluster::default()
        .node("none", "", r#""status":{"allocatable":{"cpu":"4"}}"#)
        .node("over", "", "")
        .pod("over", "e", "", big);
    let best_effort = pod("p", "", r#"{"containers":[{"name":"c"}]}"#);
    let full = cluster.refusals(&best_effort, "none");
    assert_eq!(full[0].reasons(), ["Too many pods"]);
    assert_eq!(full[0].code(), Code::Unschedulable);
    assert!(cluster.fits(&best_effort, "over"));
}

#[test]
fn a_resize_takes_the_greatest_of_what_counts() {
    let status = |amounts: &str, conditions: &str| -> PodFacts {
        let json = format!(
            r#"{{"metadata":{{"name":"p","uid":"p"}},
            "spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"3"}}}}}}]}},
            "status":{{"containerStatuses":[{{"name":"c",{amounts}}}],"conditions":[{conditions}]}}}}"#
        );
        PodFacts::new(Arc::new(read(&json)))
    };
    let running = r#""resources":{"requests":{"cpu":"1"}}"#;
    let allocated = r#""allocatedResources":{"cpu":"2"}"#;
    let infeasible = r#"{"type":"PodResizePending","reason":"Infeasible"}"#;
    for (amounts, conditions, expected) in [
        (format!("{running},{allocated}"), "", 3000),
        (format!("{running},{allocated}"), infeasible, 2000),
        (running.to_owned(), infeasible, 1000),
        (allocated.to_owned(), infeasible, 3000),
        (r#""resources":{"requests":{"cpu":"5"}}"#.to_owned(), "", 5000),
    ] {
        let pod = status(&amounts, conditions);
        assert_eq!(
            pod.requested().get(&crate::predicate::Resource::Cpu),
            expected,
            "{amounts} {conditions}"
        );
    }
}

#[test]
fn a_removed_pod_frees_what_it_took() {
    let spec = r#"{"containers":[{"name":"c","resources":{"requests":{"cpu":"1","x.org/y":"2"}},
        "ports":[{"hostPort":80}]}]}"#;
    let mut cluster =
        Cluster::default().node("n", "", "").pod("n", "a", "", spec).pod("n", "b", "", spec);
    let before = cluster.0.clone();
    assert!(cluster.0.remove_pod("n", "b"));
    assert!(!cluster.0.remove_pod("n", "b"), "the pod is gone");
    let once = Cluster::default().node("n", "", "").pod("n", "a", "", spec);
    let node = |snapshot: &Snapshot| {
        let node = snapshot.node("n").expect("a node");
        (node.used().clone(), node.ports().to_vec(), node.pods().len())
    };
    assert_eq!(node(&cluster.0), node(&once.0));
    assert_eq!(node(&before).2, 2, "an earlier snapshot does not change");
}
