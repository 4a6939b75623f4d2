//! A run ends when nothing can happen any more, and not before.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod world;

use headroom_core::resource::Amounts;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::{JobState, Outcome};
use headroom_sim::workload::Job;
use headroom_sim::world::{Setup, Shape};

use world::{count, job, play, setup};

/// These jobs under this queue file, on one node.
fn on(queues: &str, node: &str, shape: Shape, jobs: Vec<Job>) -> Setup {
    Setup {
        configuration: headroom_config::read(queues).unwrap().configuration,
        nodes: nodes::read(&[node.to_owned()], NodeOptions::default()).unwrap(),
        ..setup(shape, jobs)
    }
}

fn times(outcome: &Outcome) -> Vec<(&str, Option<u64>, Option<u64>)> {
    outcome.jobs.iter().map(|job| (job.name.as_str(), job.start_ms, job.end_ms)).collect()
}

/// Drivers may have a tenth of 8 GiB, less than one of them needs, so one application runs at a time.
#[test]
fn the_place_of_a_driver_is_free_when_the_last_task_ends() {
    const QUEUES: &str = "\
partitions:
- name: default
  userlimits: {formula: yarn3, enforcement: overshoot, calculator: memory, minimumallocation: {memory: 1Gi}}
  applicationlimits: {maximumapplications: 10000, maximumdriverresourcepercent: 0.1}
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: a
      capacity: {mode: percent, value: 100}
";
    let size = Amounts::from([("vcore", 1_000), ("memory", 1 << 30)]);
    let with_master = |name, submit_ms| Job {
        per_processor: size.clone(),
        master: Some(size.clone()),
        ..job(name, "root.a", submit_ms, 60_000, 1)
    };
    let jobs = vec![with_master("j1", 0), with_master("j2", 1_000)];
    let outcome = play(&on(QUEUES, "1*{vcore: 8, memory: 8Gi}", Shape::Fitting, jobs));
    let expected = [("j1", Some(0), Some(60_000)), ("j2", Some(60_000), Some(120_000))];
    assert_eq!(times(&outcome), expected);
    assert_eq!(outcome.end_ms, 120_000);
    assert_eq!(count(&outcome, JobState::Finished), 2);
}

/// Three applications of the leaf, two of a user and one of eve may have started at once.
#[test]
fn the_places_of_parallel_applications_are_free_when_their_last_tasks_end() {
    const QUEUES: &str = "\
partitions:
- name: default
  applicationlimits: {maxparallelappsperuser: 2, maxparallelappsbyuser: {eve: 1}}
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: dev
      applicationlimits: {maxparallelapps: 3}
";
    let of = |name: &str, submit_ms| Job {
        user: name[..3].into(),
        ..job(name, "root.dev", submit_ms, 10_000, 1)
    };
    let names = ["eve1", "eve2", "mia1", "mia2", "mia3", "zoe1"];
    let jobs = names.iter().zip((0..).step_by(100)).map(|(name, at)| of(name, at)).collect();
    let outcome = play(&on(QUEUES, "1*{vcore: 100}", Shape::Fitting, jobs));
    let expected = [
        ("eve1", Some(0), Some(10_000)),
        ("eve2", Some(10_000), Some(20_000)),
        ("mia1", Some(200), Some(10_200)),
        ("mia2", Some(300), Some(10_300)),
        ("mia3", Some(10_200), Some(20_200)),
        ("zoe1", Some(10_300), Some(20_300)),
    ];
    assert_eq!(times(&outcome), expected);
}

/// Nothing is planned from the start on, and only the lifetime of the first, five hours, lets the second go on.
#[test]
fn a_timer_of_the_core_goes_on_with_a_run_that_has_nothing_planned() {
    const QUEUES: &str = "\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: a
      maximumapplicationlifetime: 18000
      maxapplications: 1
";
    let first = Job {
        // It holds the place of the one application of its leaf, with a master that waits for its task.
        master: Some(Amounts::from([("vcore", 1_000)])),
        per_processor: Amounts::from([("vcore", 9_000)]),
        ..job("first", "root.a", 0, 60_000, 1)
    };
    let jobs = vec![first, job("second", "root.a", 100_000, 60_000, 1)];
    let outcome = play(&on(QUEUES, "1*{vcore: 8}", Shape::Fitting, jobs));
    assert_eq!(outcome.jobs[0].state, JobState::Expired, "{:?}", outcome.jobs);
    assert_eq!(outcome.jobs[1].state, JobState::Finished, "{:?}", outcome.jobs);
    let five_hours_ms = 5 * 3_600_000;
    let start_ms = outcome.jobs[1].start_ms.unwrap();
    assert!((five_hours_ms..five_hours_ms + 5_000).contains(&start_ms), "{:?}", outcome.jobs);
}

/// The second application backs off for five hours; the node is free after a minute, and nothing is planned
/// from then on.
#[test]
fn a_delay_that_a_queue_has_goes_on_with_a_run_that_has_nothing_planned() {
    const QUEUES: &str = "\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: a
      properties: {application.unschedasks.backoff: '1', application.unschedasks.backoff.delay: 5h}
";
    let of = |name, cores, tasks| Job {
        per_processor: Amounts::from([("vcore", cores)]),
        ..job(name, "root.a", 0, 60_000, tasks)
    };
    let jobs = vec![of("first", 4_000, 1), of("second", 3_000, 2)];
    let mut setup = on(QUEUES, "1*{vcore: 6}", Shape::Tasks, jobs);
    setup.nodes.extend(nodes::read(&["2*{vcore: 2}".to_owned()], NodeOptions::default()).unwrap());
    setup.nodes[1].name = "small-1".into();
    setup.nodes[2].name = "small-2".into();
    let outcome = play(&setup);
    let start_ms = outcome.jobs.iter().find(|job| job.name == *"second").unwrap().start_ms;
    let five_hours_ms = 5 * 3_600_000;
    assert_eq!(start_ms, Some(five_hours_ms), "{:?}", outcome.jobs);
}

/// A job that can never run is reported, and does not prevent the end of a run.
#[test]
fn a_run_with_an_impossible_job_ends() {
    let jobs = vec![job("large", "root.a", 0, 1_000, 9), job("small", "root.a", 0, 1_000, 1)];
    let outcome = play(&on(world::QUEUES, "1*{vcore: 8}", Shape::Single, jobs));
    assert_eq!(outcome.jobs[0].state, JobState::Impossible);
    assert_eq!(outcome.jobs[1].state, JobState::Finished);
    assert!(outcome.end_ms <= 4 * 3_600_000, "{}", outcome.end_ms);
}
