//! Every wait has the reason that held the job back: none is blamed on a cluster without nodes while there
//! are nodes, and none is left without a reason.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod world;

use std::collections::BTreeMap;

use headroom_core::resource::Amounts;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::{NOT_EXPLAINED, Outcome};
use headroom_sim::workload::{Job, Tasks};
use headroom_sim::world::{Setup, Shape};

use world::{job, jobs, play, setup};

fn on(queues: &str, node: &str, shape: Shape, jobs: Vec<Job>) -> Setup {
    Setup {
        configuration: headroom_config::read(queues).unwrap().configuration,
        nodes: nodes::read(&[node.to_owned()], NodeOptions::default()).unwrap(),
        ..setup(shape, jobs)
    }
}

/// What a job waited for, by code, ms.
fn waits(outcome: &Outcome, name: &str) -> BTreeMap<&'static str, u64> {
    let job = outcome.jobs.iter().find(|job| job.name == *name).unwrap();
    let mut all = BTreeMap::new();
    for (blocker, ms) in &job.waits {
        *all.entry(outcome.blockers[*blocker].code).or_default() += ms;
    }
    let until = job.start_ms.unwrap_or(outcome.end_ms);
    assert_eq!(all.values().sum::<u64>(), until - job.submit_ms, "{job:?}");
    all
}

fn all_codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.blockers.iter().map(|blocker| blocker.code).collect()
}

#[test]
fn a_user_above_their_share_waits_for_it_whatever_the_formula() {
    for formula in ["yarn27", "yarn3", "smooth"] {
        for enforcement in ["overshoot", "strict", "progress"] {
            let queues = format!(
                "partitions:\n- name: default\n  userlimits: {{formula: {formula}, enforcement: {enforcement}, \
                 calculator: memory, minimumallocation: {{memory: 1Gi}}}}\n  queues:\n  - name: root\n    submitacl: \
                 '*'\n    queues:\n    - name: a\n      capacity: {{mode: percent, value: 25}}\n    - name: b\n      \
                 capacity: {{mode: percent, value: 75}}\n"
            );
            let one = Job {
                per_processor: Amounts::from([("vcore", 1_000), ("memory", 1 << 30)]),
                ..job("j1", "root.a", 0, 60_000, 6)
            };
            let setup = on(&queues, "1*{vcore: 8, memory: 8Gi}", Shape::Tasks, vec![one]);
            let outcome = play(&setup);
            let known = waits(&outcome, "j1");
            let is_share = |code: &&str| matches!(*code, "USER_SHARE" | "USER_HARD_CAP");
            assert!(known.keys().all(is_share), "{formula} {enforcement}: {known:?}");
            assert!(known.values().sum::<u64>() >= 60_000, "{formula} {enforcement}: {known:?}");
        }
    }
}

/// The second application of the queue is old when it may start, so that the first look at its ask stops
/// another.
#[test]
fn the_seconds_until_a_victim_is_confirmed_have_their_name() {
    const QUEUES: &str = "\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: a
      resources: {guaranteed: {vcore: 8}}
      applicationlimits: {maxparallelapps: 1}
      properties: {preemption.delay: 1s}
    - name: b
";
    let jobs = vec![
        job("first", "root.a", 0, 50_000, 1),
        job("other", "root.b", 1_000, 1_000_000, 7),
        Job {
            per_processor: Amounts::from([("vcore", 8_000)]),
            ..job("late", "root.a", 2_000, 60_000, 1)
        },
    ];
    let outcome = play(&on(QUEUES, "1*{vcore: 8}", Shape::Tasks, jobs));
    let known = waits(&outcome, "late");
    // What the victims hold until they are confirmed is missing in the cluster.
    let expected = BTreeMap::from([("PARALLEL_LIMIT", 48_000), ("ROOT_CAPACITY", 1_000)]);
    assert_eq!(known, expected);
}

/// Small tasks start at once, large ones of the same job wait.
#[test]
fn a_job_of_two_sizes_waits_for_what_holds_back_the_larger() {
    let mut both = job("both", "root.a", 1_000, 1_000, 1);
    both.per_processor = Amounts::from([("vcore", 8_000)]);
    both.more = vec![Tasks {
        count: 1,
        run_ms: 1_000,
        resources: Amounts::from([("vcore", 1_000)]),
        is_second_stage: false,
    }];
    let first = job("first", "root.a", 0, 60_000, 4);
    let outcome = play(&on(world::QUEUES, "1*{vcore: 8}", Shape::Single, vec![first, both]));
    assert_eq!(waits(&outcome, "both"), BTreeMap::from([("ROOT_CAPACITY", 59_000)]));
}

#[test]
fn a_cluster_without_nodes_is_named_as_long_as_there_are_none() {
    let mut setup =
        on(world::QUEUES, "1*{vcore: 8}", Shape::Single, vec![job("one", "root.a", 0, 1_000, 1)]);
    setup.nodes[0].from_ms = 5_000;
    let outcome = play(&setup);
    assert_eq!(waits(&outcome, "one"), BTreeMap::from([("NO_NODES", 5_000)]));
}

#[test]
fn no_wait_is_left_without_a_reason() {
    let limits = "- name: default\n    userlimits: {formula: smooth, enforcement: progress}";
    let shared = world::QUEUES.replace("- name: default", limits);
    assert_ne!(shared, world::QUEUES);
    for queues in [world::QUEUES, &shared] {
        for (shape, seed) in [(Shape::Fitting, 1), (Shape::Tasks, 2), (Shape::Gang, 3)] {
            let outcome = play(&on(queues, "10*{vcore: 8}", shape, jobs(300, 12, seed)));
            let codes = all_codes(&outcome);
            assert!(!codes.contains(&NOT_EXPLAINED), "{shape:?}: {codes:?}");
            assert!(!codes.contains(&"NO_NODES"), "{shape:?}: {codes:?}");
            for job in &outcome.jobs {
                waits(&outcome, &job.name);
            }
        }
    }
}
