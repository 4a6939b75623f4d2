//! Changes that depend on time alone: a node that is reserved for an ask for two hours is used by a more urgent one.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::{Format, ReadOptions, read_from};
use headroom_sim::world::{Checks, Setup, Shape, run};

const QUEUES: &str = "
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: low
    - name: high
      resources: {guaranteed: {vcore: 4}}
    - name: z
";

/// Job `z` fills the node of 4 for 100 hours. `low` has a reservation of that node from 3 s on, and `high` can
/// preempt `z` as soon as it has not.
const Z: &str = r#"{"id":"z","submit_ms":0,"run_ms":360000000,"user":"z","groups":["g"],"queue":"root.z","tasks":4,"resources":{"vcore":1}}"#;
const LOW: &str = r#"{"id":"low","submit_ms":1000,"run_ms":60000,"user":"l","groups":["g"],"queue":"root.low","tasks":1,"priority":-5,"resources":{"vcore":2}}"#;

/// When the job `high` starts that is submitted then.
fn starts(submit_ms: u64) -> u64 {
    let high = format!(
        r#"{{"id":"high","submit_ms":{submit_ms},"run_ms":60000,"user":"h","groups":["g"],"queue":"root.high","tasks":1,"priority":10,"resources":{{"vcore":2}}}}"#
    );
    let text = format!("{Z}\n{LOW}\n{high}\n");
    let nodes = ["1*{vcore: 4}", "2*{vcore: 1}"].map(str::to_owned);
    let setup = Setup {
        configuration: headroom_config::read(QUEUES).unwrap().configuration,
        nodes: nodes::read(&nodes, NodeOptions::default()).unwrap(),
        workload: read_from(text.as_bytes(), "t", Format::Jsonl, &ReadOptions::default()).unwrap(),
        source: "t".to_owned(),
        shape: Shape::Fitting,
        until_ms: None,
        checks: Checks::NowAndThen,
        seed: 1,
        faults: None,
        reject_misfits: false,
    };
    let outcome = run(&setup, &mut ()).unwrap();
    let job = outcome.jobs.iter().find(|job| job.name == "high").unwrap();
    job.start_ms.unwrap()
}

/// It waits for two hours and two seconds from the reservation for `low`, and no event occurs then.
#[test]
fn a_more_urgent_job_starts_when_the_reservation_before_it_falls_due() {
    for submit_ms in [10_000, 7_100_000] {
        let start_ms = starts(submit_ms);
        assert!((7_205_000..7_208_000).contains(&start_ms), "{submit_ms}: {start_ms}");
    }
    // Its own preemption delay of 30 s is over later than that.
    assert!((7_233_000..7_236_000).contains(&starts(7_203_000)));
}
