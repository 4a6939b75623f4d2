//! Small worlds to play.

#![allow(dead_code, reason = "every test uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::resource::Amounts;
use headroom_sim::fault::FaultSource;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::{JobState, Outcome};
use headroom_sim::workload::generate::GenerateOptions;
use headroom_sim::workload::generate::uniform::{Uniform, uniform};
use headroom_sim::workload::{Job, Workload};
use headroom_sim::world::{Checks, Setup, Shape, run};

/// Two queues that may use everything, one with a guarantee of half of it.
pub(crate) const QUEUES: &str = "\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - {name: a, resources: {guaranteed: {vcore: 40}}}
          - {name: b}
";

/// A run of these jobs on ten nodes of eight cores, checked after every event.
pub(crate) fn setup(shape: Shape, jobs: Vec<Job>) -> Setup {
    Setup {
        configuration: headroom_config::read(QUEUES).unwrap().configuration,
        nodes: nodes::read(&["10*{vcore: 8}".to_owned()], NodeOptions::default()).unwrap(),
        workload: Workload { jobs, ..Workload::default() },
        source: "made".to_owned(),
        shape,
        until_ms: None,
        checks: Checks::ALWAYS,
        seed: 1,
        faults: None,
        reject_misfits: false,
    }
}

/// So many jobs of up to so many tasks, three times as much as the nodes can take at once.
pub(crate) fn jobs(count: u64, most_tasks: u64, seed: u64) -> Vec<Job> {
    let options = GenerateOptions {
        jobs: count,
        users: 5,
        queues: vec!["root.a".into(), "root.b".into()],
        seed,
        ..GenerateOptions::default()
    };
    let bounds = Uniform {
        period_ms: count * most_tasks * 1_000,
        processors: (1, most_tasks),
        run_ms: (1_000, 300_000),
    };
    let mut jobs = uniform(&options, &bounds).unwrap().jobs;
    for (number, job) in jobs.iter_mut().enumerate() {
        job.priority = i32::try_from(number % 3).unwrap();
    }
    jobs
}

/// A job of so many tasks of one core.
pub(crate) fn job(name: &str, queue: &str, submit_ms: u64, run_ms: u64, tasks: u64) -> Job {
    Job {
        name: name.into(),
        submit_ms,
        run_ms,
        user: "ann".into(),
        queue: Some(queue.into()),
        processors: tasks,
        per_processor: Amounts::from([("vcore", 1_000)]),
        ..Job::default()
    }
}

/// Play it twice, which gives the same; every job is accounted for.
pub(crate) fn play(setup: &Setup) -> Outcome {
    let outcome = run(setup, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome, run(setup, &mut ()).unwrap(), "another run went differently");
    assert_eq!(outcome.counts.submitted, setup.workload.jobs.len() as u64);
    outcome
}

pub(crate) fn count(outcome: &Outcome, state: JobState) -> usize {
    outcome.jobs.iter().filter(|job| job.state == state).count()
}

/// Faults as a file of this text lists them.
pub(crate) fn faults(name: &str, text: &str) -> FaultSource {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    FaultSource::read(path.to_str().unwrap()).unwrap()
}
