//! The real traces, where `HEADROOM_TRACES` names the folder that holds them: played with every
//! figure recomputed again and again, and checked by a program that knows nothing of ours.
//!
//! A recount costs the size of the books. The more events a trace has, and the larger its books,
//! the more events there are between two; smaller worlds are recounted after every one.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod support;

use std::time::Instant;

use serde_json::Value;
use support::{EXAMPLES, Folder, fair, jobs_that_waited_for, trace};

/// A trace, and how it is played.
struct Case<'a> {
    folder: &'a Folder,
    queues: String,
    arguments: Vec<String>,
}

impl Case<'_> {
    /// Play it under this queue file; its report, once the independent check agrees.
    fn play(&self, name: &str, queues: &str, more: &[&str]) -> Value {
        self.folder.write("queues.yaml", queues);
        let start = Instant::now();
        let fixed = ["simulate", "--queues", "queues.yaml", "--json", "report.json"];
        let outputs = ["--report", "report.html", "--csv", "csv"];
        let own = self.arguments.iter().map(String::as_str);
        let arguments: Vec<&str> =
            fixed.into_iter().chain(outputs).chain(own).chain(more.iter().copied()).collect();
        self.folder.succeed(&arguments);
        println!("{name}: played in {:.1} s", start.elapsed().as_secs_f64());
        let none: [String; 0] = [];
        assert_eq!(self.folder.check("csv", queues), none, "{name}");
        let report = self.folder.json("report.json");
        assert_eq!(jobs_that_waited_for(&report, "NOT_EXPLAINED"), 0, "{name}");
        report
    }

    /// Play it with these checks; maxima and limits make somebody wait, and the order within queues
    /// changes decisions. The report of the first run, and how many of all its jobs waited.
    fn play_both(&self, name: &str, check: &str, more: &[&str]) -> (Value, (usize, usize)) {
        let checked: Vec<&str> = more.iter().copied().chain([check]).collect();
        let fifo = self.play(name, &self.queues, &checked);
        let waited = waited(self.folder);
        for code in ["QUEUE_MAX", "ABS_USER_LIMIT"] {
            let jobs = jobs_that_waited_for(&fifo, code);
            println!("{name}: {jobs} jobs waited for {code}");
            assert!(jobs > 0, "{name}: nobody waited for {code}");
        }
        let fair = self.play(&format!("{name}, fair"), &fair(&self.queues), more);
        let digest = |report: &Value| report["summary"]["digest"].as_str().unwrap().to_owned();
        println!("{name}: digests {} (fifo) and {} (fair)", digest(&fifo), digest(&fair));
        assert_ne!(digest(&fifo), digest(&fair), "{name}: the order changes nothing");
        (fifo, waited)
    }
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

/// Queues by this example, users and limits among them.
fn queues(name: &str) -> String {
    let text = std::fs::read_to_string(format!("{EXAMPLES}/{name}")).unwrap();
    assert!(text.matches("- name:").count() > 10 && text.contains("users:"));
    text
}

/// How many jobs had to wait, by `jobs.csv`.
fn waited(folder: &Folder) -> (usize, usize) {
    let text = folder.read("csv/jobs.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let column = reader.headers().unwrap().iter().position(|name| name == "wait_ms").unwrap();
    let waits: Vec<bool> =
        reader.records().map(|record| !["", "0"].contains(&&record.unwrap()[column])).collect();
    (waits.iter().filter(|one| **one).count(), waits.len())
}

#[test]
fn hpc2n_task_by_task() {
    let Some(workload) = trace("hpc2n/hpc2n.swf") else { return };
    let folder = Folder::new("hpc2n");
    let case = Case {
        folder: &folder,
        queues: queues("hpc2n.yaml"),
        arguments: owned(&[
            "--nodes",
            "120*{vcore: 2}",
            "--workload",
            &workload,
            "--queue-of",
            "root.division{row%3}.project{row%12}",
            "--shape",
            "tasks",
        ]),
    };
    let (report, _) = case.play_both("hpc2n", "--check=97", &[]);
    assert_eq!(report["summary"]["run"]["jobs"]["finished"], 3_145);
}

fn openb(folder: &Folder) -> Option<Case<'_>> {
    let workload = trace("openb/openb_pod_list_default.csv")?;
    let nodes = trace("openb/openb_node_list_all_node.csv")?;
    let arguments = owned(&[
        "--nodes",
        &nodes,
        "--workload",
        &workload,
        "--users",
        "u{row%40}",
        "--queue-of",
        "root.dept{row%5}.team{row%20}",
    ]);
    Some(Case { folder, queues: queues("openb.yaml"), arguments })
}

#[test]
fn openb_as_it_is() {
    let folder = Folder::new("openb");
    let Some(case) = openb(&folder) else { return };
    let report = case.play("openb", &case.queues, &["--check=7"]);
    assert_eq!(report["summary"]["run"]["jobs"]["finished"], 8_152);
}

#[test]
fn openb_compressed_until_a_tenth_waits() {
    let folder = Folder::new("openb-compressed");
    let Some(case) = openb(&folder) else { return };
    let compressed = ["--stretch", "arrivals=0.005"];
    let (_, (waiting, all)) = case.play_both("openb compressed", "--check=61", &compressed);
    println!("openb compressed: {waiting} of {all} tasks waited");
    assert!(10 * waiting >= all, "only {waiting} of {all} tasks waited");
}

impl Case<'_> {
    /// Play it as gangs with priorities, while everything goes wrong that can, twice.
    fn play_through_faults(&self, name: &str, queues: &str, more: &[&str]) {
        let common = ["--shape", "gang", "--priority-of", "{row%3}", "--faults", "random:7"];
        let arguments: Vec<&str> = common.iter().chain(more).copied().collect();
        let report = self.play(name, queues, &arguments);
        let again = self.play(&format!("{name}, again"), queues, &arguments);
        assert_eq!(report, again, "{name}: another run went differently");
        let summary = &report["summary"];
        println!("{name}: {}", summary["run"]["jobs"]);
        println!("{name}: {} {}", summary["gangs"], summary["faults"]);
        let number = |path: &str| summary.pointer(path).and_then(Value::as_u64).unwrap();
        println!("{name}: {} preemptions", number("/run/preemptions"));
        for path in ["/gangs/counts/complete", "/gangs/counts/swaps", "/run/preemptions"] {
            assert!(number(path) > 0, "{name}: {path} is 0");
        }
        for (fault, count) in summary["faults"].as_object().unwrap() {
            assert!(count.as_u64().unwrap() > 0, "{name}: {fault} is 0");
        }
        let states = ["finished", "running", "waiting", "impossible", "rejected"];
        let sum: u64 = states.iter().map(|one| number(&format!("/run/jobs/{one}"))).sum();
        assert_eq!(sum, number("/run/jobs/total"), "{name}");
    }
}

#[test]
fn hpc2n_as_gangs_through_faults() {
    let Some(workload) = trace("hpc2n/hpc2n.swf") else { return };
    let folder = Folder::new("hpc2n-gangs");
    let case = Case {
        folder: &folder,
        // The largest jobs want 128 processors at once. Under the law of guarantees no gang of this trace could be
        // completed by preemption, so nobody is stopped; faults are to meet victims.
        queues: queues("hpc2n.yaml").replace("max: {vcore: 96}", "max: {vcore: 128}").replacen(
            "  - name: default\n",
            "  - name: default\n    preemption: {strictguarantee: false}\n",
            1,
        ),
        arguments: owned(&[
            "--nodes",
            "120*{vcore: 2}",
            "--workload",
            &workload,
            "--queue-of",
            "root.division{row%3}.project{row%12}",
        ]),
    };
    // The first 500 hours, 190,000 decisions: the next 200 take three million, in which gangs stop
    // each other and try to.
    let part = ["--until", "500h", "--check=7"];
    case.play_through_faults("hpc2n as gangs", &case.queues, &part);
}

#[test]
fn openb_as_gangs_through_faults() {
    let folder = Folder::new("openb-gangs");
    let Some(case) = openb(&folder) else { return };
    // A department of 240 cards is never so full that a team misses any of its 40: the three
    // others may have 64 each. With 160 a team that was late has to get back what is its own.
    let queues = case.queues.replace("nvidia.com/gpu: 240}", "nvidia.com/gpu: 160}");
    assert_eq!(queues.matches("nvidia.com/gpu: 160}").count(), 10);
    let compressed = ["--stretch", "arrivals=0.01", "--check=61"];
    case.play_through_faults("openb as gangs", &queues, &compressed);
}

#[test]
fn the_commands_of_the_page_that_need_a_trace_run() {
    let (Some(swf), Some(pods), Some(nodes)) = (
        trace("hpc2n/hpc2n.swf"),
        trace("openb/openb_pod_list_default.csv"),
        trace("openb/openb_node_list_all_node.csv"),
    ) else {
        return;
    };
    let folder = Folder::new("page-traces").with_examples();
    let page = folder.read("examples/README.md");
    for command in support::commands(&page) {
        let arguments: Vec<&str> = command
            .iter()
            .map(|word| match word.as_str() {
                "hpc2n.swf" => swf.as_str(),
                "openb_pod_list_default.csv" => pods.as_str(),
                "openb_node_list_all_node.csv" => nodes.as_str(),
                word => word,
            })
            .collect();
        folder.succeed(&arguments);
    }
    for report in ["campus.html", "hpc2n.html", "openb.html"] {
        assert!(folder.path(report).is_file(), "{report}");
    }
}
