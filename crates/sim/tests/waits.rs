//! Reasons account for every wait, to the millisecond, job by job.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::path::Path;

use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::{JobState, NOT_EXPLAINED, Outcome};
use headroom_sim::workload::{ReadOptions, read};
use headroom_sim::world::{Checks, Setup, Shape, run};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

fn campus(shape: Shape, until_ms: Option<u64>) -> Outcome {
    let file = |name: &str| format!("{FOLDER}/{name}");
    let setup = Setup {
        configuration: headroom_config::read_file(file("campus.yaml")).unwrap().configuration,
        nodes: nodes::read(&[file("campus-nodes.yaml")], NodeOptions::default()).unwrap(),
        workload: read(Path::new(&file("campus.jsonl")), None, &ReadOptions::default()).unwrap(),
        source: "campus.jsonl".to_owned(),
        shape,
        until_ms,
        checks: Checks::NowAndThen,
        seed: 1,
        faults: None,
        reject_misfits: false,
    };
    run(&setup, &mut ()).unwrap()
}

#[test]
fn what_each_job_waited_for_adds_up_to_its_wait() {
    for (shape, until_ms) in [
        (Shape::Fitting, None),
        (Shape::Tasks, None),
        (Shape::Single, Some(300_000_000)),
        (Shape::Tasks, Some(700_000_000)),
    ] {
        let outcome = campus(shape, until_ms);
        let mut waited = 0;
        for job in &outcome.jobs {
            let blamed: u64 = job.waits.iter().map(|(_, ms)| ms).sum();
            let until = match job.state {
                JobState::Impossible | JobState::Rejected => continue,
                JobState::Waiting => outcome.end_ms,
                JobState::Finished | JobState::Running => job.start_ms.unwrap(),
                JobState::Expired => unreachable!("no lifetime is set"),
            };
            assert_eq!(blamed, until - job.submit_ms, "{} of {shape:?}: {job:?}", job.name);
            assert!(job.waits.iter().all(|(blocker, _)| *blocker < outcome.blockers.len()));
            waited += u64::from(blamed > 0);
        }
        let codes: Vec<&str> = outcome.blockers.iter().map(|blocker| blocker.code).collect();
        assert!(!codes.contains(&NOT_EXPLAINED), "{shape:?}: {codes:?}");
        assert!(waited > 50, "only {waited} jobs waited with {shape:?}");
    }
}
