//! The main job end to end: the example that the program brings along, its outputs, and the
//! commands that the pages show.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::process::Stdio;

use serde_json::Value;
use support::{EXAMPLES, Folder, fair};

const OUTPUTS: [&str; 6] = [
    "out/campus.json",
    "out/campus.html",
    "out/csv/jobs.csv",
    "out/csv/allocations.csv",
    "out/csv/nodes.csv",
    "out/csv/decisions.csv",
];
const CAMPUS: [&str; 8] = [
    "simulate",
    "--check",
    "--json",
    "out/campus.json",
    "--report",
    "out/campus.html",
    "--csv",
    "out/csv",
];

#[test]
fn the_example_gives_the_same_bytes_in_every_folder_and_environment() {
    let (one, other) = (Folder::new("same-bytes"), Folder::new("same-bytes-elsewhere"));
    one.succeed(&CAMPUS);
    let mut command = other.command(&CAMPUS);
    command.env_clear().env("TZ", "Asia/Tokyo").env("LC_ALL", "tr_TR.UTF-8").env("COLUMNS", "40");
    let output = command.output().unwrap();
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, "report: out/campus.html\nJSON: out/campus.json\nCSV files: out/csv\n");
    for file in OUTPUTS {
        assert!(one.read(file) == other.read(file), "{file} differs");
    }
    for file in &OUTPUTS[..2] {
        assert!(!one.read(file).contains("same-bytes"), "{file} names the folder it lies in");
    }
}

#[test]
fn the_example_is_played_within_its_limits_and_its_sums_agree() {
    let folder = Folder::new("campus").with_examples();
    folder.succeed(&CAMPUS);
    let none: [String; 0] = [];
    assert_eq!(folder.check("out/csv", &folder.read("examples/campus.yaml")), none);
    let report = folder.json("out/campus.json");
    check_sums(&report["summary"]);
    assert_eq!(report["summary"]["run"]["jobs"]["finished"], 2_500);
    for code in ["QUEUE_MAX", "ABS_USER_LIMIT", "ABS_GROUP_LIMIT"] {
        assert!(support::jobs_that_waited_for(&report, code) > 0, "nobody waited for {code}");
    }
}

/// States add up to all jobs, and reasons to all waits, in the whole and in each part.
fn check_sums(summary: &Value) {
    let scopes = |list: &str| summary[list].as_array().unwrap().clone();
    let queues = scopes("queues").into_iter().map(|mut queue| queue["scope"].take());
    let all = [summary["run"].clone()].into_iter().chain(queues);
    for scope in all.chain(scopes("users")).chain(scopes("groups")) {
        let number = |path: &str| scope.pointer(path).unwrap().as_u64().unwrap();
        let states = ["finished", "running", "waiting", "impossible", "rejected"];
        let sum: u64 = states.iter().map(|state| number(&format!("/jobs/{state}"))).sum();
        assert_eq!(sum, number("/jobs/total"), "{}", scope["name"]);
        let waited = scope["waited_for"].as_array().unwrap();
        let blamed: u64 = waited.iter().map(|one| one["wait_ms"].as_u64().unwrap()).sum();
        let total = number("/waits/total_ms") + number("/still_waiting/total_ms");
        assert_eq!(blamed, total, "{}: reasons do not add up to waits", scope["name"]);
    }
    let total = &summary["run"]["jobs"]["total"];
    for list in ["users", "groups"] {
        let jobs = scopes(list).into_iter().map(|one| one["jobs"]["total"].as_u64().unwrap());
        let sum: u64 = jobs.sum();
        // Jobs without a group are in none.
        assert!(&Value::from(sum) == total || (list, sum) == ("groups", 0), "{list}: {sum}");
    }
}

#[test]
fn the_order_within_queues_changes_decisions() {
    let folder = Folder::new("fair").with_examples();
    let queues = folder.read("examples/campus.yaml");
    folder.write("fair.yaml", fair(&queues));
    let digest = |name: &str| {
        let json = format!("{name}.json");
        folder.succeed(&["simulate", "--queues", name, "--json", &json, "--csv", "csv"]);
        let none: [String; 0] = [];
        assert_eq!(folder.check("csv", &queues), none, "{name}");
        folder.json(&json)["summary"]["digest"].as_str().unwrap().to_owned()
    };
    assert_ne!(digest("examples/campus.yaml"), digest("fair.yaml"));
    let compared =
        folder.succeed(&["simulate", "compare", "examples/campus.yaml.json", "fair.yaml.json"]);
    assert!(
        compared
            .stdout
            .starts_with("The runs made different decisions. Only the queue files differ"),
        "{}",
        compared.stdout
    );
    let same = folder.succeed(&["simulate", "compare", "fair.yaml.json", "fair.yaml.json"]);
    assert!(same.stdout.starts_with("Both runs made the same decisions."), "{}", same.stdout);
}

#[test]
fn a_run_can_end_early() {
    let folder = Folder::new("until").with_examples();
    let arguments =
        ["simulate", "--until", "60h", "--json", "report.json", "--csv", "csv", "--check"];
    folder.succeed(&arguments);
    let none: [String; 0] = [];
    assert_eq!(folder.check("csv", &folder.read("examples/campus.yaml")), none);
    let summary = &folder.json("report.json")["summary"];
    check_sums(summary);
    assert_eq!(summary["end_ms"], 60 * 3_600_000);
    let jobs = &summary["run"]["jobs"];
    assert!(jobs["running"].as_u64().unwrap() > 0, "{jobs}");
    assert!(jobs["total"].as_u64().unwrap() < 2_500, "{jobs}");
}

#[test]
fn decisions_are_numbered_and_in_order_of_time() {
    let folder = Folder::new("decisions");
    folder.succeed(&["simulate", "--csv", "csv", "--json", "report.json"]);
    let text = folder.read("csv/decisions.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(
        reader.headers().unwrap(),
        ["sequence", "time_ms", "kind", "subject", "detail"].as_slice()
    );
    let (mut count, mut last, mut placed) = (0_u64, 0_u64, 0_usize);
    for record in reader.records() {
        let record = record.unwrap();
        count += 1;
        let time: u64 = record[1].parse().unwrap();
        assert_eq!(record[0], count.to_string());
        assert!(time >= last, "decision {count} goes back in time");
        last = time;
        placed += usize::from(&record[2] == "allocationGranted");
    }
    assert_eq!(folder.json("report.json")["summary"]["decisions"], count);
    assert_eq!(placed, folder.read("csv/allocations.csv").lines().count() - 1);
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    let folder = Folder::new("pipe");
    for arguments in [&["simulate"][..], &["simulate", "generate", "uniform", "--jobs", "5000"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = folder.command(arguments);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(output.stderr, b"", "{arguments:?}");
    }
}

#[test]
fn what_is_generated_can_be_played() {
    let folder = Folder::new("generated");
    for model in ["lublin", "uniform", "kueue"] {
        let mut arguments = vec!["simulate", "generate", model, "--seed", "3"];
        if model != "kueue" {
            arguments.extend(["--jobs", "300", "--processors", "16", "--groups", "3"]);
            arguments.extend(["--queues", "root.a,root.b"]);
        }
        let jobs = folder.succeed(&arguments).stdout;
        assert_eq!(jobs, folder.succeed(&arguments).stdout, "{model} is not repeatable");
        folder.write("jobs.jsonl", &jobs);
        let nodes = "40*{vcore: 16, memory: 64Gi, nvidia.com/gpu: 8}";
        folder.succeed(&[
            "simulate",
            "--workload",
            "jobs.jsonl",
            "--nodes",
            nodes,
            "--json",
            "report.json",
            "--until",
            "2h",
        ]);
        let summary = &folder.json("report.json")["summary"];
        check_sums(summary);
        assert!(summary["run"]["waits"]["jobs"].as_u64().unwrap() > 0, "{model}: nothing started");
    }
}

#[test]
fn the_commands_of_the_page_on_examples_run() {
    let folder = Folder::new("page").with_examples();
    let page = std::fs::read_to_string(format!("{EXAMPLES}/README.md")).unwrap();
    let mut ran = 0;
    for command in support::commands(&page) {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let needs_trace =
            arguments.iter().any(|one| *one == "hpc2n.swf" || one.starts_with("openb_"));
        if !needs_trace {
            folder.succeed(&arguments);
            ran += 1;
        }
    }
    assert!(ran > 0, "the page shows no command that needs no trace");
    assert!(folder.read("campus.html").to_lowercase().starts_with("<!doctype html>"));
}
