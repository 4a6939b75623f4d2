//! Tags of jobs, and the waits that a trace records.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod common;
mod world;

use common::read;
use headroom_core::Name;
use headroom_sim::metric::{RecordedWaits, recorded};
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::JobState;
use headroom_sim::workload::{Format, ReadOptions, Workload, write_jsonl};
use headroom_sim::world::{Setup, Shape, run};

use world::{play, setup};

const LINE: &str = r#"{"id":"j1","submit_ms":0,"run_ms":1000,"user":"ann","groups":["Lab"],"resources":{"vcore":1},"tags":{"namespace":"one","team":"x"}}"#;

fn pair(key: &str, value: &str) -> (Name, Name) {
    (key.into(), value.into())
}

#[test]
fn tags_come_from_the_workload_and_from_options_that_go_before_them() {
    let plain = read(Format::Jsonl, LINE.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(plain.jobs[0].tags, [pair("namespace", "one"), pair("team", "x")]);
    let mut text = Vec::new();
    write_jsonl(&plain, &mut text).unwrap();
    let again = read(Format::Jsonl, &text, &ReadOptions::default()).unwrap();
    assert_eq!(again.jobs[0].tags, plain.jobs[0].tags);

    let options = ReadOptions {
        tags: vec!["NameSpace=ns-{group}".parse().unwrap(), "none={qos}".parse().unwrap()],
        ..ReadOptions::default()
    };
    let told = read(Format::Jsonl, LINE.as_bytes(), &options).unwrap();
    assert_eq!(told.jobs[0].tags, [pair("NameSpace", "ns-Lab"), pair("team", "x")]);
    for wrong in ["namespace", "=x", "namespace="] {
        let error = wrong.parse::<headroom_sim::workload::TagTemplate>().unwrap_err().to_string();
        assert!(error.contains("KEY=TEMPLATE") || error.contains("empty"), "{wrong}: {error}");
    }
}

#[test]
fn a_rule_by_namespace_places_jobs_by_their_tag() {
    const QUEUES: &str = "\
partitions:
- name: default
  placementrules:
  - {name: tag, value: namespace, create: true}
  queues:
  - {name: root, submitacl: '*'}
";
    let of = |workload: Workload| Setup {
        configuration: headroom_config::read(QUEUES).unwrap().configuration,
        workload,
        ..setup(Shape::Fitting, Vec::new())
    };
    let with = |text: &str| read(Format::Jsonl, text.as_bytes(), &ReadOptions::default()).unwrap();
    let outcome = play(&of(with(LINE)));
    let queue = outcome.jobs[0].queue.unwrap();
    assert_eq!(outcome.queues[queue].path, *"root.one");
    assert_eq!(outcome.jobs[0].state, JobState::Finished);
    let without = LINE.replace(r#","tags":{"namespace":"one","team":"x"}"#, "");
    let outcome = play(&of(with(&without)));
    assert_eq!(outcome.jobs[0].state, JobState::Rejected);
    assert!(outcome.jobs[0].reason.contains("has no tag namespace"), "{:?}", outcome.jobs);
}

const SACCT: &str = "\
JobID|User|Account|Submit|Start|ElapsedRaw|ReqCPUS|ReqMem
1|ada|phys|2025-03-01T10:00:00+01:00|2025-03-01T10:01:00+01:00|7200|8|64G
2|bob|math|2025-03-01T09:00:10Z|2025-03-01T09:01:00Z|7200|8|64G
";

fn sacct(nodes: &str, options: &ReadOptions) -> Option<RecordedWaits> {
    let mut workload = read(Format::Sacct, SACCT.as_bytes(), options).unwrap();
    let nodes = nodes::read(&[nodes.to_owned()], NodeOptions::default()).unwrap();
    let known: Vec<Name> =
        nodes.iter().flat_map(|node| node.resources.iter().map(|(name, _)| name.clone())).collect();
    workload.drop_missing_types(&known);
    for job in &mut workload.jobs {
        job.queue = Some("root.a".into());
    }
    let setup = Setup { nodes, workload, ..setup(Shape::Tasks, Vec::new()) };
    let outcome = run(&setup, &mut ()).unwrap();
    recorded(&setup.workload, &setup.nodes, &outcome)
}

#[test]
fn recorded_waits_stand_beside_simulated_ones() {
    let found = sacct("2*{vcore: 8, memory: 64Gi}", &ReadOptions::default()).unwrap();
    assert_eq!((found.recorded.jobs, found.recorded.mean_ms), (2, 55_000));
    assert_eq!((found.simulated.jobs, found.simulated.mean_ms), (2, 0));
    assert_eq!(found.remarks, Vec::<String>::new(), "a minute is not wild");
    let stretched =
        ReadOptions { stretch: "arrivals=0.5".parse().unwrap(), ..ReadOptions::default() };
    assert_eq!(sacct("2*{vcore: 8, memory: 64Gi}", &stretched), None);
}

#[test]
fn a_wild_difference_is_told_with_its_cause() {
    let found = sacct("1*{vcore: 8, memory: 64Gi}", &ReadOptions::default()).unwrap();
    // The second waits for the first, two hours.
    assert_eq!(found.simulated.max_ms, 7_190_000);
    let remarks = found.remarks.join("\n").replace('\u{a0}', " ");
    assert!(remarks.contains("far longer than the recorded ones"), "{remarks}");
    assert!(remarks.contains("cluster is too small"), "{remarks}");
    assert!(remarks.contains("up to 16 cores at once, but the nodes have 8 cores"), "{remarks}");
    assert!(remarks.contains("up to 128 GiB at once, but the nodes have 64 GiB"), "{remarks}");
}

#[test]
fn accounts_are_a_field_of_templates() {
    let options = ReadOptions {
        groups: Some("{account}".parse().unwrap()),
        queue_of: Some("root.{Account}".parse().unwrap()),
        ..ReadOptions::default()
    };
    let workload = read(Format::Sacct, SACCT.as_bytes(), &options).unwrap();
    assert_eq!(workload.jobs[0].groups, [Name::new("phys")]);
    assert_eq!(workload.jobs[1].queue.as_deref(), Some("root.math"));
    assert_eq!(workload.jobs[1].submit_ms, 10_000, "the offsets count");
}
