//! Random histories: the machine never panics, and binds a pod only after the outcome of the last bind.

use proptest::prelude::*;

use crate::story::play;

const GROUPS: &str = r#"groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]"#;

fn line() -> impl Strategy<Value = String> {
    let pod = prop::sample::select(vec!["p1", "p2", "p3", "p4", "f1"]);
    let node = prop::sample::select(vec!["n1", "n2"]);
    let id = prop::sample::select(vec!["a1", "a2"]);
    let about_pods = prop::sample::select(vec![
        "pod",
        "pod cpu=2",
        "pod cpu=1",
        "ends",
        "gone",
        "bind-ok",
        "bind-gone",
        "volumes-bound",
        "bind-retry why",
        "bind-final why",
        "ask-rejected why",
        "waits quota",
        "waits no-node",
        "released rm",
        "released preempted",
        "released replaced",
        "released timeout",
    ]);
    let about_pods = (about_pods, pod.clone()).prop_map(|(line, pod)| {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        format!("{verb} {pod} {rest}").trim().to_owned()
    });
    let places = prop::sample::select(vec!["pod P node=N", "allocated P N", "bind-elsewhere P N"]);
    let places = (places, pod, node.clone())
        .prop_map(|(line, pod, node)| line.replace('P', pod).replace('N', node));
    let nodes = prop::sample::select(vec![
        "node N",
        "silent-node N",
        "node-accepted N",
        "node-rejected N why",
        "node-gone N",
        "change-node N cordoned",
        "change-node N cpu=8",
    ]);
    let nodes = (nodes, node).prop_map(|(line, node)| line.replace('N', node));
    let applications = prop::sample::select(vec![
        "accepted A",
        "accepted A",
        "accepted A",
        "rejected A why",
        "resuming A",
        "failing A why",
        "failed A ResourceReservationTimeout",
    ]);
    let applications = (applications, id).prop_map(|(line, id)| line.replace('A', id));
    let others = prop::sample::select(vec![
        "created",
        "refused why",
        "seconds 1",
        "seconds 40",
        "claim c1",
        "claim-deleting c1",
    ]);
    prop_oneof![
        4 => about_pods,
        3 => places,
        2 => nodes,
        2 => applications,
        1 => others.prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_history_ends(lines in prop::collection::vec(line(), 0..60)) {
        let pods = [
            format!("pod p1 app=a1 group=w {GROUPS}"),
            "pod p2 app=a1 claim=c1".to_owned(),
            "pod p3 app=a1 placeholder group=w owner=p1".to_owned(),
            "pod p4 app=a2".to_owned(),
            "pod f1 foreign".to_owned(),
        ];
        let story = [&pods[..], &lines].concat().join("\n");
        play(&story);
    }
}
