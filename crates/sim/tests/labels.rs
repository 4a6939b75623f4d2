//! Jobs run on nodes with the label that they wish for, where nodes have labels.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::Name;
use headroom_core::resource::Amounts;
use headroom_sim::nodes::{self, NodeOptions, NodeSpec};
use headroom_sim::outcome::JobState;
use headroom_sim::workload::{Job, Workload};
use headroom_sim::world::{Checks, Setup, Shape, run};

const QUEUES: &str = "
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    nodelabels: {exclusive: [gpu]}
    queues:
    - name: a
      capacity: {mode: percent, value: 100}
      nodelabels: {gpu: {value: 50, maximum: 50}}
    - name: b
      capacity: {mode: percent, value: 0}
      nodelabels: {gpu: {value: 50}}
";

fn job(name: &str, label: Option<&str>, cores: i64) -> Job {
    Job {
        name: name.into(),
        user: "ann".into(),
        queue: Some("root.a".into()),
        run_ms: 1_000,
        processors: 1,
        per_processor: Amounts::from([("vcore", cores * 1_000)]),
        node_label: label.map(Name::new),
        ..Job::default()
    }
}

/// What becomes of jobs on two nodes, of which the second may have a label: where each ran, and when.
fn played(label: Option<&str>, jobs: Vec<Job>) -> Vec<(JobState, Vec<(usize, u64)>)> {
    let mut nodes = nodes::read(&["2*{vcore: 4}".to_owned()], NodeOptions::default()).unwrap();
    nodes[1] = NodeSpec { label: label.map(Name::new), ..nodes[1].clone() };
    let setup = Setup {
        configuration: headroom_config::read(QUEUES).unwrap().configuration,
        nodes,
        workload: Workload { jobs, ..Workload::default() },
        source: "made".to_owned(),
        shape: Shape::Tasks,
        until_ms: None,
        checks: Checks::ALWAYS,
        seed: 1,
        faults: None,
        reject_misfits: false,
    };
    let outcome = run(&setup, &mut ()).unwrap();
    let of = |job: usize| {
        let all = outcome.allocations.iter().filter(move |one| one.job == job);
        all.map(|one| (one.node, one.start_ms)).collect()
    };
    outcome.jobs.iter().enumerate().map(|(number, job)| (job.state, of(number))).collect()
}

#[test]
fn a_wish_and_a_part_of_a_label_hold() {
    let jobs = || {
        vec![
            job("first", Some("gpu"), 2),
            job("second", Some("gpu"), 2),
            job("third", None, 4),
            job("large", Some("gpu"), 5),
        ]
    };
    // The queue may use half of the nodes with the label, and nobody else's jobs run there.
    let found = played(Some("gpu"), jobs());
    assert_eq!(found[0], (JobState::Finished, vec![(1, 0)]));
    assert_eq!(found[1], (JobState::Finished, vec![(1, 1_000)]));
    assert_eq!(found[2], (JobState::Finished, vec![(0, 0)]));
    assert_eq!(found[3], (JobState::Impossible, vec![]));
    // Without labels nobody wishes for one.
    let found = played(None, jobs());
    let starts: Vec<u64> = found.iter().flat_map(|(_, ran)| ran).map(|(_, start)| *start).collect();
    assert_eq!(starts, [0, 0, 1_000], "one of the small ones is on each node");
    assert_eq!(found[3].0, JobState::Impossible, "it is larger than any node");
}
