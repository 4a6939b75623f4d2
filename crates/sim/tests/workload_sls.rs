//! Reading and playing job lists of Hadoop's Scheduler Load Simulator.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

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

/// Two jobs of maps and reduces, and three equal ones in one object.
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
    expect![[r#"
        job_clean_0001: master Some("{memory: 1073741824 B, vcore: 1000 m}"), 1 of {memory: 1073741824 B, vcore: 1000 m} for 25000, 2 of {memory: 4294967296 B, vcore: 2000 m} for 45000
        1: master Some("{memory: 2147483648 B, vcore: 2000 m}")
        tick.0: master Some("{memory: 1073741824 B, vcore: 1000 m}")
        tick.1: master Some("{memory: 1073741824 B, vcore: 1000 m}")
        tick.2: master Some("{memory: 1073741824 B, vcore: 1000 m}")
    "#]].assert_eq(&tasks(&workload));
    expect![[r#"
        job_clean_0001 at 0 for 20000 by ada of [] in Some("etl"), 2 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        1 at 60000 for 12000 by bob "the { builder" of [] in Some("etl"), 6 of {memory: 1073741824 B, vcore: 1000 m}, priority 0, label ssd
        tick.0 at 61000 for 30000 by default of [] in Some("stream"), 1 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        tick.1 at 61000 for 30000 by default of [] in Some("stream"), 1 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        tick.2 at 61000 for 30000 by default of [] in Some("stream"), 1 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        remark: 1 job: delays of requests are ignored, so everything is requested at the start
        remark: 1 job: hosts are ignored, so a task can run on any node
        remark: 4 jobs: the master has no size; assumed 1024 MB and 1 core
    "#]].assert_eq(&shown(Ok(workload)));
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
    expect![[r#"
        t:1: object 1: job.tasks is empty, expected a list of tasks
        t:1: object 1: job.tasks is "{}", expected a list of tasks
        t:1: object 1: job.tasks is "[]", expected at least one task
        t:1: object 1: job.tasks[0] is "7", expected an object, {…}
        t:1: object 1: job.tasks[0].container.duration.ms is empty, expected a run time in ms; or duration.ms; or container.start.ms and container.end.ms
        t:1: object 1: job.tasks[0].duration.ms is "0", expected a time of 1 ms at least
        t:1: object 1: job.tasks[0].duration.ms is "1.5", expected a whole number from 0 to 1000000000000000 ms
        t:1: object 1: job.tasks[0].container.end.ms is "9", expected a time after the start, 9 ms
        t:1: object 1: job.tasks[1].count is "0", expected a whole number from 1 to 1000000
        t:1: object 1: job.tasks[0].container.vcores is "-1", expected a whole number from 0 to 9223372036854775
        t:1: object 1: job.tasks[0].container.memory-mb is "much", expected a whole number from 0 to 8796093022207
        t:1: object 1: job.start.ms is "-1", expected a whole number from 0 to 1000000000000000 ms
        t:1: object 1: job.count is "0", expected a whole number from 1 to 1000000
        t:1: object 1: job.id is "[]", expected a name
        t:1: the text between objects is "[{\"job.tasks\":[{\"duration.ms\":5}]}]", expected nothing, or {
        t:1: object 1 begins here and does not end: 2 of its { and [ are open
    "#]].assert_eq(&errors(Format::YarnSls, &sources));
    // The third object begins in line 2, and is wrong in line 4.
    let source = b"{\"num.nodes\":3}\n{\"job.tasks\":[{\"duration.ms\":5}]} {\"job.id\":\"b\",\n\"job.tasks\":[{\n\"count\":,}]}\n";
    expect![[r#"
        t:2: object 3, line 4, column 9: expected value
    "#]]
    .assert_eq(&errors(Format::YarnSls, &[source]));
    // What is bad is left out whole, and what comes behind it is read.
    let source = b"{\"job.id\":\"a\",\"job.tasks\":[{\"count\":0}]} {\"job.id\":\"b\",\"job.tasks\":[{\"duration.ms\":5}]}\nx {\n{\"job.id\":\"c\",\"job.tasks\":[{\"duration.ms\":5}]}";
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    expect![[r#"
        b at 0 for 5 by default of [] in None, 1 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        c at 0 for 5 by default of [] in None, 1 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        skipped 2: bad line
        remark: 2 jobs: the master has no size; assumed 1024 MB and 1 core
        remark: skipped: t:1: object 1: job.tasks[0].count is "0", expected a whole number from 1 to 1000000
        remark: skipped: t:2: the text between objects is "x {", expected nothing, or {
    "#]].assert_eq(&shown(read(Format::YarnSls, source, &options)));
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

/// Plays the job list `source` on nodes with room for all. Returns start and end of each task but the master, in ms.
fn times(format: Format, source: &str, shape: Shape) -> Vec<(u64, u64)> {
    let mut workload = read(format, source.as_bytes(), &ReadOptions::default()).unwrap();
    let has_master = workload.jobs[0].master.is_some();
    for job in &mut workload.jobs {
        job.queue = Some("root.a".into());
    }
    let mut setup = setup(shape, Vec::new());
    for node in &mut setup.nodes {
        node.resources = Amounts::from([("memory", 64 << 30), ("vcore", 64_000)]);
    }
    setup.workload = workload;
    let outcome = play(&setup);
    assert_eq!(outcome.jobs[0].state, JobState::Finished, "{:?}", outcome.jobs[0]);
    let rows = outcome.allocations.iter().filter(|one| !one.placeholder);
    let mut times: Vec<_> = rows.map(|one| (one.start_ms, one.end_ms.unwrap())).collect();
    times.sort_unstable();
    if has_master {
        let master = times.iter().max_by_key(|(start, end)| end - start).copied().unwrap();
        times.remove(times.iter().position(|one| *one == master).unwrap());
    }
    times
}

/// Two short maps, a long one, and two reduces, which have the number that is asked for first.
fn maps_and_reduces(master: &str) -> String {
    format!(
        r#"{{{master}"job.tasks":[
            {{"count":2,"duration.ms":5000,"container.priority":10,"container.type":"reduce"}},
            {{"count":2,"duration.ms":10000,"container.priority":20,"container.type":"map"}},
            {{"duration.ms":25000,"container.priority":20,"container.type":"map"}}]}}"#
    )
}

#[test]
fn reduces_start_when_all_maps_of_their_job_have_ended() {
    let staged = [(0, 10_000), (0, 10_000), (0, 25_000), (25_000, 30_000), (25_000, 30_000)];
    let at_once = [(0, 5_000), (0, 5_000), (0, 10_000), (0, 10_000), (0, 25_000)];
    for master in ["", r#""am.type":"mapreduce","#] {
        let source = maps_and_reduces(master);
        assert_eq!(times(Format::YarnSls, &source, Shape::Tasks), staged);
        assert_eq!(times(Format::YarnSls, &source, Shape::Fitting), staged);
    }
    // All of a gang start together, and other masters know no reduces.
    assert_eq!(
        times(Format::YarnSls, &maps_and_reduces(r#""am.type":"stream","#), Shape::Tasks),
        at_once
    );
    let gang = times(Format::YarnSls, &maps_and_reduces(""), Shape::Gang);
    assert!(gang.iter().all(|(start, _)| *start == gang[0].0), "{gang:?}");
}

#[test]
fn reduces_without_maps_start_at_once() {
    let source = r#"{"job.tasks":[{"count":2,"duration.ms":5000,"container.type":"reduce"}]}"#;
    assert_eq!(times(Format::YarnSls, source, Shape::Tasks), [(0, 5_000), (0, 5_000)]);
}

#[test]
fn a_second_stage_of_a_job_without_a_master_starts_behind_the_first() {
    let resources = r#""resources":{"vcore":1}"#;
    let source = format!(
        r#"{{"id":"a","submit_ms":0,"run_ms":7000,"user":"u","tasks":2,{resources},"more":[{{"run_ms":3000,{resources},"second_stage":true}},{{"run_ms":9000,{resources}}}]}}"#
    );
    let expected = [(0, 7_000), (0, 7_000), (0, 9_000), (9_000, 12_000)];
    assert_eq!(times(Format::Jsonl, &source, Shape::Tasks), expected);
}
