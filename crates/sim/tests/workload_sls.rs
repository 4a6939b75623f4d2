//! Reading and playing job lists of Hadoop's Scheduler Load Simulator.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.

mod common;
mod world;

use std::fmt::Write as _;

use common::{errors, read, shown};
use expect_test::expect;
use headroom_core::resource::Amounts;
use headroom_sim::outcome::{JobState, Outcome};
use headroom_sim::workload::{Format, ReadOptions, Workload, write_jsonl};
use headroom_sim::world::Shape;
use world::{play, setup};

/// Two jobs of maps and reduces, and three equal ones that are told of once.
const EVENING: &[u8] = include_bytes!("data/evening.sls.json");

fn evening() -> Workload {
    read(Format::YarnSls, EVENING, &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Masters and further tasks, which lines of jobs do not show.
fn tasks(workload: &Workload) -> String {
    let mut out = String::new();
    for job in &workload.jobs {
        write!(out, "{}: master {:?}", job.name, job.master.as_ref().map(Amounts::to_string))
            .unwrap();
        for one in &job.more {
            write!(out, ", {} of {} for {}", one.count, one.resources, one.run_ms).unwrap();
        }
        out.push('\n');
    }
    out
}

#[test]
fn jobs_are_read_with_their_groups_of_tasks() {
    let workload = evening();
    expect![[""]].assert_eq(&tasks(&workload));
    expect![[""]].assert_eq(&shown(Ok(workload)));
}

#[test]
fn a_time_is_the_duration_or_else_the_end_less_the_start() {
    let of = |fields: &str| {
        let source = format!("{{\"job.tasks\":[{{{fields}}}]}}");
        let read = read(Format::YarnSls, source.as_bytes(), &ReadOptions::default());
        read.unwrap_or_else(|error| panic!("{fields}: {error}")).jobs[0].run_ms
    };
    let times = r#""container.start.ms":100,"container.end.ms":350"#;
    assert_eq!(of(times), 250);
    assert_eq!(of(&format!(r#""duration.ms":"70",{times}"#)), 70);
    assert_eq!(of(&format!(r#""container.duration.ms":30,"duration.ms":70,{times}"#)), 30);
}

/// Ends of a good job, and what stands there instead.
const TASKS: [&str; 16] = [
    r#"{"job.id":"a"}"#,
    r#"{"job.tasks":{}}"#,
    r#"{"job.tasks":[]}"#,
    r#"{"job.tasks":[7]}"#,
    r#"{"job.tasks":[{}]}"#,
    r#"{"job.tasks":[{"duration.ms":0}]}"#,
    r#"{"job.tasks":[{"duration.ms":1.5}]}"#,
    r#"{"job.tasks":[{"container.start.ms":9,"container.end.ms":9}]}"#,
    r#"{"job.tasks":[{"duration.ms":5},{"duration.ms":5,"count":0}]}"#,
    r#"{"job.tasks":[{"duration.ms":5,"container.vcores":-1}]}"#,
    r#"{"job.tasks":[{"duration.ms":5,"container.memory-mb":"much"}]}"#,
    r#"{"job.start.ms":-1,"job.tasks":[{"duration.ms":5}]}"#,
    r#"{"job.count":0,"job.tasks":[{"duration.ms":5}]}"#,
    r#"{"job.id":[],"job.tasks":[{"duration.ms":5}]}"#,
    r#"[{"job.tasks":[{"duration.ms":5}]}]"#,
    r#"{"job.id":"x}","job.tasks":[{"duration.ms":5}"#,
];

#[test]
fn what_is_wrong_is_told_with_line_object_and_field() {
    let sources: Vec<&[u8]> = TASKS.iter().map(|text| text.as_bytes()).collect();
    expect![[""]].assert_eq(&errors(Format::YarnSls, &sources));
    // The third object begins in line 2, and is wrong in line 4.
    let source = b"{\"num.nodes\":3}\n{\"job.tasks\":[{\"duration.ms\":5}]} {\"job.id\":\"b\",\n\"job.tasks\":[{\n\"count\":,}]}\n";
    expect![[""]].assert_eq(&errors(Format::YarnSls, &[source]));
    // What is bad is left out whole, and what comes behind it is read.
    let source = b"{\"job.id\":\"a\",\"job.tasks\":[{\"count\":0}]} {\"job.id\":\"b\",\"job.tasks\":[{\"duration.ms\":5}]}\nx {\n{\"job.id\":\"c\",\"job.tasks\":[{\"duration.ms\":5}]}";
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    expect![[""]].assert_eq(&shown(read(Format::YarnSls, source, &options)));
}

#[test]
fn what_is_written_as_lines_reads_back_the_same() {
    let first = evening();
    let mut text = Vec::new();
    write_jsonl(&first, &mut text).unwrap();
    let mut back = read(Format::Jsonl, &text, &ReadOptions::default()).unwrap();
    for (job, before) in back.jobs.iter_mut().zip(&first.jobs) {
        job.line = before.line;
    }
    assert_eq!(back.jobs, first.jobs);
}

fn played(shape: Shape) -> Outcome {
    let mut workload = evening();
    for job in &mut workload.jobs {
        job.queue = Some("root.a".into());
    }
    let mut setup = setup(shape, Vec::new());
    for node in &mut setup.nodes {
        node.resources = Amounts::from([("memory", 16 << 30), ("vcore", 8_000)]);
    }
    setup.configuration.partitions[0].preemption.enabled = false;
    setup.workload = workload;
    play(&setup)
}

#[test]
fn every_task_runs_its_own_time_and_a_master_as_long_as_its_job() {
    for shape in [Shape::Fitting, Shape::Tasks, Shape::Gang] {
        let (outcome, workload) = (played(shape), evening());
        for (position, record) in outcome.jobs.iter().enumerate() {
            let job = &workload.jobs[position];
            assert_eq!(record.state, JobState::Finished, "{shape:?}: {}", record.name);
            let all = 1 + job.processors + job.more.iter().map(|one| one.count).sum::<u64>();
            assert_eq!(record.asks, all, "{}", record.name);
            let rows = outcome.allocations.iter();
            let rows = rows.filter(|one| one.job == position && !one.placeholder);
            let mut lengths: Vec<u64> =
                rows.map(|one| one.end_ms.unwrap() - one.start_ms).collect();
            lengths.sort_unstable();
            let longest = lengths.pop().unwrap();
            let mut expected: Vec<u64> = std::iter::repeat_n(job.run_ms, tasks_of(job.processors))
                .chain(
                    job.more
                        .iter()
                        .flat_map(|one| std::iter::repeat_n(one.run_ms, tasks_of(one.count))),
                )
                .collect();
            expected.sort_unstable();
            assert_eq!(lengths, expected, "{shape:?}: {}", record.name);
            assert!(longest >= job.longest_ms(), "{shape:?}: {}", record.name);
        }
    }
}

fn tasks_of(count: u64) -> usize {
    usize::try_from(count).unwrap()
}
