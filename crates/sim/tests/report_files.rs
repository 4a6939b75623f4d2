//! The written reports, of a synthetic run: same bytes twice, harmless names, checkable CSV.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::fs;
use std::path::PathBuf;

use headroom_sim::metric::summarise;
use headroom_sim::outcome::{Decision, JobState, Outcome};
use headroom_sim::report::csv::{self as sheets, DecisionsCsv};
use headroom_sim::report::json::{self, Document};
use headroom_sim::report::{Input, compare, html, table};

fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

fn document() -> Document {
    Document::new(support::header(), summarise(&support::synthetic()), Vec::new())
}

#[test]
fn the_same_run_gives_the_same_bytes_twice() {
    let (first, second) = (document(), document());
    assert_eq!(json::render(&first), json::render(&second));
    assert_eq!(html::page(&first), html::page(&second));
    let text = |one: &Document| table::render(&one.header, &one.summary, None);
    assert_eq!(text(&first), text(&second));
    // Stored for people who want to view them.
    let kept = directory("report-files");
    fs::write(kept.join("report.html"), html::page(&first)).unwrap();
    fs::write(kept.join("report.json"), json::render(&first)).unwrap();
    fs::write(kept.join("report.txt"), text(&first)).unwrap();
}

#[test]
fn the_json_is_read_back_as_it_was() {
    let document = document();
    let text = json::render(&document);
    assert_eq!(json::read(&text).unwrap(), document);
    assert_eq!(json::render(&json::read(&text).unwrap()), text);
}

#[test]
fn the_page_needs_no_network_and_names_do_no_harm() {
    let page = html::page(&document());
    for outside in ["src=", "@import", "url(", "fetch(", "href=\"http"] {
        assert!(!page.contains(outside), "the page uses {outside}");
    }
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn the_terminal_table_is_at_most_100_columns_wide() {
    let document = document();
    let text = table::render(&document.header, &document.summary, None);
    let command = format!("  {}", document.header.command);
    for line in text.lines().filter(|line| *line != command) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(text.starts_with("Of 2 000 jobs"), "{text}");
    assert!(text.contains(&command));
}

#[test]
fn a_run_without_jobs_or_duration_has_a_report() {
    for end_ms in [0, 1, 5_000] {
        let outcome = Outcome { end_ms, ..Outcome::default() };
        let document = Document::new(support::header(), summarise(&outcome), Vec::new());
        assert!(html::page(&document).contains("No job waited."));
        let text = table::render(&document.header, &document.summary, None);
        assert!(text.starts_with("None of the 0 jobs started."), "{text}");
        assert_eq!(json::read(&json::render(&document)).unwrap(), document);
    }
}

#[test]
fn names_cannot_steer_the_terminal() {
    let mut outcome = Outcome {
        queues: vec![support::queue("root", None, true)],
        end_ms: 10,
        ..Outcome::default()
    };
    outcome.jobs.push(support::job("a", "ann\u{1b}[2J\nbob", 0, 0, 1));
    let text = table::render(&support::header(), &summarise(&outcome), None);
    assert!(text.contains("ann?[2J?bob"), "{text}");
}

/// Rows of a CSV file without its header.
fn rows(text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text);
    let records = reader.records().map(|record| record.unwrap());
    records.map(|record| record.iter().map(str::to_owned).collect()).collect()
}

#[test]
fn the_csv_files_hold_the_run() {
    let outcome = support::synthetic();
    let directory = directory("report-csv");
    sheets::write_all(&directory, &outcome).unwrap();
    let [jobs, allocations, nodes] = ["jobs.csv", "allocations.csv", "nodes.csv"]
        .map(|file| rows(&fs::read(directory.join(file)).unwrap()));
    assert_eq!(
        (jobs.len(), allocations.len(), nodes.len()),
        (outcome.jobs.len(), outcome.allocations.len(), outcome.nodes.len()),
    );

    // From the files alone: waits, states and core-hours as in the summary.
    let summary = summarise(&outcome);
    let wait_ms: u64 = jobs.iter().filter_map(|row| row[7].parse::<u64>().ok()).sum();
    assert_eq!(wait_ms, summary.run.waits.total_ms);
    let rejected = jobs.iter().filter(|row| row[8] == "rejected" && row[3].is_empty()).count();
    assert_eq!(rejected as u64, summary.run.jobs.rejected);
    let vcore_ms: i64 = allocations
        .iter()
        .map(|row| {
            let vcore = row[8].split(';').find_map(|part| part.strip_prefix("vcore="));
            let start_ms: i64 = row[6].parse().unwrap();
            let end_ms = row[7].parse().unwrap_or(outcome.end_ms.cast_signed());
            vcore.unwrap().parse::<i64>().unwrap() * (end_ms - start_ms)
        })
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    let core_hours = vcore_ms as f64 / 1_000.0 / 3_600_000.0;
    assert!((core_hours - summary.run.resource_hours["vcore"]).abs() < 1e-5);
}

#[test]
fn csv_fields_are_quoted_by_the_rules() {
    let mut job = support::job("a,b", "ann \"x\"", 0, 5, 1);
    job.reason = String::from("two\nlines");
    job.state = JobState::Impossible;
    let outcome = Outcome {
        jobs: vec![job],
        queues: vec![support::queue("root", None, true)],
        ..Outcome::default()
    };
    let mut text = Vec::new();
    sheets::write_jobs(&mut text, &outcome).unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "job,user,group,queue,submit_ms,start_ms,end_ms,wait_ms,state,asks,resources,reason\r\n\
         \"a,b\",\"ann \"\"x\"\"\",,root,5,,,,impossible,1,vcore=1000,\"two\nlines\"\r\n",
    );

    let mut text = Vec::new();
    let mut decisions = DecisionsCsv::new(&mut text).unwrap();
    let decision = Decision {
        sequence: 1,
        time_ms: 20,
        kind: "placed",
        subject: "ask a".to_owned(),
        detail: "on n1, first that fits".to_owned(),
    };
    decisions.write(&decision).unwrap();
    decisions.finish().unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "sequence,time_ms,kind,subject,detail\r\n1,20,placed,ask a,\"on n1, first that fits\"\r\n",
    );
}

#[test]
fn compare_says_identical_or_what_changed() {
    let before = document();
    let same = compare::documents(&before, &before);
    assert!(same.starts_with("Both runs made the same decisions."), "{same}");
    assert!(!same.contains('+'), "{same}");

    let mut after = before.clone();
    after.summary.digest = "0".repeat(32);
    after.summary.run.waits.mean_ms = before.summary.run.waits.mean_ms / 2;
    after.summary.users[0].waits.mean_ms *= 3;
    let text = compare::documents(&before, &after);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(text.starts_with("The runs made different decisions."), "{text}");
    assert!(!text.contains(&after.summary.digest), "words in place of digests: {text}");
    let name = &before.summary.users[0].name;
    let verdict = text.split("\nrun ").next().unwrap().replace('\n', " ");
    assert!(verdict.contains(&format!("Waits are longer for 1 user: {name} (mean ")), "{verdict}");
    assert!(row("mean wait").ends_with("-50.0"), "{text}");
    assert!(text.lines().any(|line| line.ends_with("+200.0")), "{text}");
    assert!(row("p95 wait").trim_end().ends_with('='), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn compare_says_first_what_differs_beside_the_queue_file() {
    let input = |name: &str, what: &str, fingerprint: &str| Input {
        name: name.to_owned(),
        what: what.to_owned(),
        fingerprint: fingerprint.to_owned(),
    };
    let mut before = document();
    before.header.inputs = vec![
        input("workload", "2000 jobs", "a"),
        input("nodes", "40 nodes", "b"),
        input("queue file", "checksum 1", "c"),
    ];
    let mut after = before.clone();
    after.summary.digest = "0".repeat(32);
    after.header.inputs[2] = input("queue file", "checksum 2", "d");
    let first = |before: &Document, after: &Document| {
        let text = compare::documents(before, after);
        text.split("\n\n").next().unwrap().replace('\n', " ")
    };
    let fair = first(&before, &after);
    assert!(fair.contains("Only the queue files differ"), "{fair}");
    after.header.inputs[0] = input("workload", "1000 jobs", "e");
    after.header.inputs[1] = input("nodes", "40 nodes", "f");
    after.header.seed = 8;
    let unfair = first(&before, &after);
    for part in [
        "The runs differ in more than the queue file",
        "different workload: 2000 jobs before, 1000 jobs after",
        "different nodes: both runs have 40 nodes, but with other content",
        "different seed: 7 before, 8 after",
    ] {
        assert!(unfair.contains(part), "{part}: {unfair}");
    }
    let page = html::compare::page(&before, &after);
    assert!(page.contains("The runs differ in more than the queue file"));
    for title in ["Waiting tasks", "Usage of vcore", "user: p50 wait", "queue: p95 wait"] {
        assert!(page.contains(title), "{title}");
    }
    assert!(!page.contains("http"), "it needs no network");
}

#[test]
fn compare_refuses_what_is_not_a_report() {
    let directory = directory("report-compare");
    let good = directory.join("good.json");
    let whole = json::render(&document());
    fs::write(&good, &whole).unwrap();
    let cut = whole.replacen("\"makespan_ms\"", "\"makespan\"", 1);
    for (name, text, expected) in [
        ("no-json", "{", "the file is not JSON"),
        ("list", "[]", "`format` is absent"),
        ("other", "{\"format\":3}", "`format` is 3"),
        ("cut", cut.as_str(), "a field is missing or malformed"),
    ] {
        let bad = directory.join(name);
        fs::write(&bad, text).unwrap();
        let error = compare::files(&good, &bad).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains(expected), "{name}: {cause}");
    }
    let missing = compare::files(&directory.join("absent"), &good).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read "), "{missing}");
}
