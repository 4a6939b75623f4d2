//! Generated workloads.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod common;

use std::fmt::Write;

use common::{read, shown};
use expect_test::expect;
use headroom_core::resource::Amounts;
use headroom_sim::workload::generate::kueue::Kueue;
use headroom_sim::workload::generate::lublin::Lublin;
use headroom_sim::workload::generate::uniform::Uniform;
use headroom_sim::workload::generate::{GenerateError, GenerateOptions, kueue, lublin, uniform};
use headroom_sim::workload::{Format, ReadOptions, Workload, write_jsonl};

fn options(seed: u64) -> GenerateOptions {
    GenerateOptions {
        jobs: 5_000,
        users: 12,
        groups: 3,
        queues: vec!["root.a".into(), "root.b".into()],
        seed,
        load: 1.0,
        per_processor: Amounts::from([("vcore", 1_000), ("memory", 3 << 29)]),
    }
}

fn all(options: &GenerateOptions) -> Result<[Workload; 3], GenerateError> {
    Ok([
        lublin(options, Lublin::default())?,
        uniform(options, &Uniform::default())?,
        kueue(options, Kueue::default())?,
    ])
}

fn text(workload: &Workload) -> String {
    let mut text = Vec::new();
    write_jsonl(workload, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_every_release() {
    let mut found = String::new();
    for (workload, again) in all(&options(7)).unwrap().iter().zip(all(&options(7)).unwrap()) {
        let text = text(workload);
        assert_eq!(text, self::text(&again));
        let digest = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        let second = text.lines().nth(1).unwrap();
        writeln!(found, "{digest:016x} {second}").unwrap();
    }
    expect![[r#"
        2b8d91bd612000a7 {"id":"j0002","submit_ms":76000,"run_ms":5000,"user":"u10","groups":["g1"],"queue":"root.b","tasks":11,"resources":{"memory":"1536Mi","vcore":"1"}}
        cd679c67b99ea1c4 {"id":"j1518","submit_ms":6432,"run_ms":548272,"user":"u1","groups":["g1"],"queue":"root.a","tasks":8,"resources":{"memory":"1536Mi","vcore":"1"}}
        7a1ac2602e786129 {"id":"c0-q0-medium-0","submit_ms":0,"run_ms":500,"user":"u2","groups":["g2"],"queue":"root.cohort0.queue0","priority":100,"resources":{"vcore":"5"}}
    "#]].assert_eq(&found);
}

#[test]
fn another_seed_gives_other_jobs() {
    let (one, other) = (all(&options(7)).unwrap(), all(&options(8)).unwrap());
    for (one, other) in one.iter().zip(&other) {
        assert_ne!(one, other);
        assert_eq!(one.jobs.len(), other.jobs.len());
    }
}

#[test]
fn what_is_written_reads_back_the_same() {
    for workload in all(&options(3)).unwrap() {
        let text = text(&workload);
        let mut back = read(Format::Jsonl, text.as_bytes(), &ReadOptions::default()).unwrap();
        // What was made stands in no file.
        back.jobs.iter_mut().for_each(|job| job.line = 0);
        assert_eq!(back, workload);
    }
}

/// Means and shares, rounded, so that a person can compare them with the paper.
fn summary(workload: &Workload) -> String {
    let jobs = &workload.jobs;
    let count = jobs.len() as u64;
    let mean = |value: &dyn Fn(&headroom_sim::workload::Job) -> u64| {
        jobs.iter().map(value).sum::<u64>() / count
    };
    let share = |which: &dyn Fn(&headroom_sim::workload::Job) -> bool| {
        jobs.iter().filter(|job| which(job)).count() as u64 * 100 / count
    };
    format!(
        "gap {} s, run {} s, size {}, serial {} %, powers of two {} %, first user {} %, \
         8:30 to 20:30 {} %",
        jobs.last().unwrap().submit_ms / 1_000 / count,
        mean(&|job| job.run_ms) / 1_000,
        mean(&|job| job.processors),
        share(&|job| job.processors == 1),
        share(&|job| job.processors > 1 && job.processors.is_power_of_two()),
        share(&|job| job.user == *"u1"),
        share(&|job| (3..15).contains(&(job.submit_ms / 3_600_000 % 24))),
    )
}

#[test]
fn the_models_have_the_moments_they_should() {
    let found: Vec<String> = all(&options(1)).unwrap().iter().map(summary).collect();
    expect![[r#"
        gap 1113 s, run 4384 s, size 12, serial 24 %, powers of two 51 %, first user 31 %, 8:30 to 20:30 80 %
        gap 17 s, run 1821 s, size 4, serial 12 %, powers of two 38 %, first user 32 %, 8:30 to 20:30 50 %
        gap 0 s, run 0 s, size 1, serial 100 %, powers of two 0 %, first user 32 %, 8:30 to 20:30 0 %"#]].assert_eq(&found.join("\n"));
}

#[test]
fn the_baseline_of_kueue_has_its_numbers() {
    let workload = kueue(&options(1), Kueue::default()).unwrap();
    assert_eq!(workload.jobs.len(), 15_000);
    for (priority, run_ms, vcore, jobs, last_ms) in [
        (50, 200, 1_000, 10_500, 34_900),
        (100, 500, 5_000, 3_000, 49_500),
        (200, 1_000, 20_000, 1_500, 58_800),
    ] {
        let class = || workload.jobs.iter().filter(|job| job.priority == priority);
        let amounts = Amounts::from([("vcore", vcore)]);
        assert!(class().all(|job| job.run_ms == run_ms && job.per_processor == amounts));
        assert_eq!(class().count(), jobs);
        assert_eq!(class().map(|job| job.submit_ms).max(), Some(last_ms));
    }
}

#[test]
fn a_load_of_two_halves_the_time_between_arrivals() {
    let double = GenerateOptions { load: 2.0, ..options(1) };
    for (one, two) in all(&options(1)).unwrap().iter().zip(all(&double).unwrap()) {
        let end = |workload: &Workload| workload.jobs.last().unwrap().submit_ms / 1_000;
        let ratio = end(one) * 100 / end(&two);
        assert!((190..=210).contains(&ratio), "{} {}", end(one), end(&two));
    }
}

#[test]
fn a_machine_of_one_processor_runs_serial_jobs() {
    let workload = lublin(&options(1), Lublin { processors: 1 }).unwrap();
    assert!(workload.jobs.iter().all(|job| job.processors == 1));
}

#[test]
fn a_few_jobs_look_like_this() {
    let few = GenerateOptions { jobs: 3, ..options(5) };
    let workloads =
        [lublin(&few, Lublin::default()).unwrap(), uniform(&few, &Uniform::default()).unwrap()];
    let found: String = workloads.map(|workload| shown(Ok(workload))).concat();
    expect![[r#"
        j1 at 0 for 12964000 by u11 of ["g2"] in Some("root.a"), 4 of {memory: 1610612736 B, vcore: 1000 m}, priority 0
        j2 at 114000 for 37000 by u9 of ["g3"] in Some("root.a"), 4 of {memory: 1610612736 B, vcore: 1000 m}, priority 0
        j3 at 631000 for 7157000 by u2 of ["g2"] in Some("root.b"), 30 of {memory: 1610612736 B, vcore: 1000 m}, priority 0
        j3 at 0 for 1658490 by u7 of ["g1"] in Some("root.a"), 3 of {memory: 1610612736 B, vcore: 1000 m}, priority 0
        j1 at 7683895 for 1166644 by u11 of ["g2"] in Some("root.a"), 3 of {memory: 1610612736 B, vcore: 1000 m}, priority 0
        j2 at 20753868 for 1521087 by u5 of ["g2"] in Some("root.a"), 8 of {memory: 1610612736 B, vcore: 1000 m}, priority 0
    "#]].assert_eq(&found);
}

#[test]
fn a_parameter_out_of_bounds_is_an_error() {
    let base = GenerateOptions::default;
    let mut found: Vec<String> = [
        GenerateOptions { jobs: 0, ..base() },
        GenerateOptions { users: 0, ..base() },
        GenerateOptions { groups: u64::MAX, ..base() },
        GenerateOptions { load: 0.0, ..base() },
        GenerateOptions { load: f64::NAN, ..base() },
        GenerateOptions { per_processor: Amounts::from([("vcore", -1)]), ..base() },
    ]
    .iter()
    .map(|options| all(options).unwrap_err().to_string())
    .collect();
    let machine = lublin(&base(), Lublin { processors: 0 });
    found.push(machine.unwrap_err().to_string());
    let bounds = Uniform { processors: (3, 2), ..Uniform::default() };
    found.push(uniform(&base(), &bounds).unwrap_err().to_string());
    let bounds = Uniform { run_ms: (0, u64::MAX), ..Uniform::default() };
    found.push(uniform(&base(), &bounds).unwrap_err().to_string());
    let sets = Kueue { cohorts: 5, queues: 0 };
    found.push(kueue(&base(), sets).unwrap_err().to_string());
    expect![[r#"
        jobs is 0, expected a whole number from 1 to 10000000
        users is 0, expected a whole number from 1 to 10000000
        groups is 18446744073709551615, expected a whole number from 0 to 10000000
        load is 0, expected a number from 0.001 to 1000
        load is NaN, expected a number from 0.001 to 1000
        per_processor is {vcore: -1 m}, expected no amount below zero
        processors is 0, expected a whole number from 1 to 1000000
        least processors is 3, expected a whole number from 1 to 2
        longest run_ms is 18446744073709551615, expected a whole number from 0 to 1000000000000000
        queues is 0, expected a whole number from 1 to 10"#]]
    .assert_eq(&found.join("\n"));
}
