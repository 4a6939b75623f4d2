//! The independent check finds what it is for: each rule broken in files that were right.

#![allow(clippy::needless_raw_string_hashes, reason = "`expect!` writes them")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::fmt::Write;

use expect_test::expect;
use support::Folder;
use support::checker::{Files, check};

const QUEUES: &str = "\
partitions:
  - name: default
    queues:
      - name: root
        limits:
          - {users: [ann], maxresources: {vcore: 3}}
          - {users: ['*'], maxresources: {vcore: 2}, maxapplications: 2}
        queues:
          - name: a
            resources: {max: {vcore: 7, memory: 4Gi}}
            limits:
              - {groups: [ops], maxresources: {vcore: 2500m}}
              - {groups: ['*'], maxresources: {vcore: 4}}
            queues:
              - {name: x, maxapplications: 3}
              - {name: y, resources: {max: {vcore: 0}}}
          - name: b
";
const NODES: &str = "\
node,from_ms,to_ms,resources
n1,0,,gpu=1;memory=8589934592;vcore=8000
n2,100,500,vcore=4000
";
/// Job, user, group, queue, node, start, end, vcores: all of it allowed.
const RUNS: &str = "\
j1 ann dev root.a.x n1 10 200 3000
j2 bob ops root.a.y n1 20 100 2000
j3 cat ops root.a.x n2 100 300 2000
j4 cat - root.b n1 300 400 2000
j5 dan - root.b n1 400 400 2000
";

/// The files that say these runs, each a job of one task.
fn files(runs: &str) -> Files {
    let mut jobs =
        "job,user,group,queue,submit_ms,start_ms,end_ms,wait_ms,state,asks,resources,reason\n"
            .to_owned();
    let mut allocations =
        "allocation,job,user,group,queue,node,start_ms,end_ms,resources,placeholder,ended_by\n"
            .to_owned();
    for run in runs.lines() {
        let fields: Vec<&str> = run.split(' ').collect();
        let [job, user, group, queue, node, start, end, amount] = fields[..] else {
            panic!("{run}")
        };
        let group = if group == "-" { "" } else { group };
        let amount =
            if amount.contains('=') { amount.to_owned() } else { format!("vcore={amount}") };
        writeln!(jobs, "{job},{user},{group},{queue},{start},{start},{end},0,finished,1,{amount},")
            .unwrap();
        writeln!(
            allocations,
            "{job},{job},{user},{group},{queue},{node},{start},{end},{amount},false,finished"
        )
        .unwrap();
    }
    Files { queues: QUEUES.to_owned(), jobs, allocations, nodes: NODES.to_owned() }
}

#[test]
fn each_bound_that_is_exceeded_is_found() {
    assert_eq!(check(&files(RUNS)), [] as [String; 0]);
    let mut out = String::new();
    for more in [
        "k eve - root.b n1 350 390 gpu=2",
        "k eve - root.b n2 150 200 memory=1",
        "k ann - root.b n1 250 300 3001",
        "k eve - root.b n1 350 390 2001",
        "k eve ops root.a.x n1 250 290 501",
        "k eve qa root.a.x n1 150 160 1001",
        "k eve dev root.a.y n1 150 160 memory=4294967297",
        "k1 eve - root.a.x n1 150 160 1500\nk2 fay - root.a.x n1 155 160 501",
        "k1 eve - root.b n1 50 60 1\nk2 eve - root.b n1 55 60 1\nk3 eve - root.b n1 59 60 1",
        "k1 e - root.a.x n1 50 60 1\nk2 f - root.a.x n1 55 60 1\nk3 g - root.a.x n1 59 60 1",
        "k eve - root.b n2 90 200 1",
        "k eve - root.b n2 200 501 1",
        "k eve - root.b n2 300 200 1",
        "k eve - root.b n3 200 300 1",
        "k eve - root.b n1 400 400 2001",
    ] {
        let found = check(&files(&format!("{RUNS}{more}\n")));
        writeln!(out, "{}", found.join("; ")).unwrap();
    }
    expect![[r#"
        at 350 ms, k: node n1 has gpu 2 of 1
        at 150 ms, k: node n2 has memory 1 of 0
        at 250 ms, k: user ann at root has vcore 3001 of 3000
        at 350 ms, k: user eve at root has vcore 2001 of 2000
        at 250 ms, k: group ops at root.a has vcore 2501 of 2500
        at 150 ms, k: group * at root.a has vcore 4001 of 4000
        at 150 ms, k: queue root.a has memory 4294967297 of 4294967296
        at 155 ms, k2: queue root.a.x has 4 of 3 applications
        at 59 ms, k3: user eve at root has 3 of 2 applications
        at 59 ms, k3: queue root.a.x has 4 of 3 applications
        allocation k is on n2 while it is away
        allocation k is on n2 while it is away
        allocation k ends before it starts
        allocation k is on node n3, which is unknown; job k: is finished with 0 of 1 tasks
        k by itself: user eve at root has vcore 2001 of 2000
    "#]]
    .assert_eq(&out);
}

#[test]
fn stories_that_do_not_agree_are_found() {
    let right = files(RUNS);
    let mut out = String::new();
    let jobs =
        |from: &str, to: &str| Files { jobs: right.jobs.replacen(from, to, 1), ..right.clone() };
    let allocations = |from: &str, to: &str| Files {
        allocations: right.allocations.replacen(from, to, 1),
        ..right.clone()
    };
    for tampered in [
        jobs("j1,ann,dev,root.a.x,10,10,200,0", "j1,ann,dev,root.a.x,11,11,200,0"),
        jobs("j1,ann,dev,root.a.x,10,10,200,0", "j1,ann,dev,root.a.x,5,10,200,0"),
        jobs("j1,ann,dev,root.a.x,10,10,200,0", "j1,ann,dev,root.a.x,10,10,150,0"),
        jobs("0,finished,1,vcore=3000", "0,finished,2,vcore=3000"),
        jobs("0,finished,1,vcore=3000", "0,finished,1,vcore=3001"),
        jobs("0,finished,1,vcore=3000", "0,waiting,1,vcore=3000"),
        allocations("j1,j1,ann", "j1,j1,bob"),
        allocations("j1,j1,ann", "j1,j9,ann"),
        allocations("j2,j2,bob", "j1,j2,bob"),
        allocations("vcore=3000,false,finished", "vcore=3000,false,"),
    ] {
        writeln!(out, "{}", check(&tampered).join("; ")).unwrap();
    }
    expect![[r#"
        allocation j1 is outside the life of job j1; job j1: does not start with its last task
        job j1: its wait is not from submission to start
        allocation j1 is outside the life of job j1; job j1: does not end with its last task
        job j1: is finished with 1 of 2 tasks
        job j1: its tasks are not what it asked for
        job j1: is waiting with 1 of 1 tasks
        allocation j1 belongs to others than its job
        allocation j1 is of job j9, which is unknown; job j1: is finished with 0 of 1 tasks
        allocation j1 stands twice
        allocation j1 ends without reason, or has one too early
    "#]]
    .assert_eq(&out);
}

#[test]
fn a_run_checked_against_stricter_rules_breaks_them() {
    let folder = Folder::new("stricter").with_examples();
    folder.succeed(&["simulate", "--csv", "csv"]);
    let queues = folder.read("examples/campus.yaml");
    for (from, to, what) in [
        (
            "users: [u1]\n            maxresources: {vcore: 32}",
            "users: [u1]\n            maxresources: {vcore: 31}",
            "user u1 at root ",
        ),
        ("maxresources: {vcore: 36}", "maxresources: {vcore: 35}", "user u"),
        (
            "groups: [g1]\n                maxresources: {vcore: 48}",
            "groups: [g1]\n                maxresources: {vcore: 40}",
            "group g1 at root.science ",
        ),
        ("max: {vcore: 32}", "max: {vcore: 31}", "queue root.engineering.fluids "),
        (
            "guaranteed: {vcore: 32}\n              max: {vcore: 56",
            "max: {vcore: 40",
            "queue root.science ",
        ),
        (
            "- name: trials\n",
            "- name: trials\n                maxapplications: 1\n",
            "queue root.medicine.trials has 2 of 1 app",
        ),
    ] {
        assert!(queues.contains(from), "{from}");
        let found = folder.check("csv", &queues.replacen(from, to, 1));
        assert!(found.iter().any(|one| one.contains(what)), "{what}: {found:?}");
    }
    let nodes = folder.read("csv/nodes.csv");
    folder.write("csv/nodes.csv", nodes.replace("vcore=16000", "vcore=15000"));
    let found = folder.check("csv", &queues);
    assert!(found[0].contains("node fat01 has vcore 16000 of 15000"), "{found:?}");
}
