//! `headroom plan` as people and programs meet it.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::path::Path;

use expect_test::expect;
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit, Timestamp};
use support::Folder;
use support::moves::{moves, write_journal};

/// A queue file with a queue of so many cores.
fn file(cores: u32) -> String {
    format!(
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n        \
         queues:\n          - name: sales\n            resources:\n              max: {{vcore: {cores}}}\n"
    )
}

/// A journal of a cluster with this file, where one ask of 2 cores runs and one waits.
fn journal(folder: &Path) {
    let now = Timestamp::from_millis(1_700_000_000_000);
    let partition = Name::new("default");
    let ask = |key: &str| Ask {
        partition: partition.clone(),
        application: Name::new("app"),
        key: Name::new(key),
        resources: Amounts::from([("vcore", 2_000)]),
        ..Ask::default()
    };
    let commands = [
        Command::Configure(Box::new(headroom_config::read(&file(3)).unwrap().configuration)),
        Command::AddNode(AddNode {
            partition: partition.clone(),
            node: Name::new("n1"),
            capacity: Amounts::from([("vcore", 8_000)]),
            schedulable: true,
            ..AddNode::default()
        }),
        Command::Submit(Submit {
            partition: partition.clone(),
            application: Name::new("app"),
            queue: Name::new("root.sales"),
            user: Name::new("ann"),
            ..Submit::default()
        }),
        Command::Ask(ask("first")),
        Command::Ask(ask("second")),
    ];
    write_journal(folder, moves(commands.map(|command| (now, command))));
}

#[test]
fn a_change_is_shown_on_the_state_of_a_journal_which_stays_as_it_is() {
    let folder = Folder::new("plan_journal");
    journal(&folder.path("data"));
    folder.write("same.yaml", format!("# The same in other words.\n{}", file(3)));
    folder.write("more.yaml", file(6));
    folder.write("less.yaml", file(1));
    let plan = |file: &str| folder.run(&["plan", file, "--journal", "data"]);
    let same = plan("same.yaml");
    assert_eq!((same.code, &*same.stdout, &*same.stderr), (Some(0), "nothing changes\n", ""));
    let more = plan("more.yaml");
    assert_eq!(more.code, Some(2), "{}", more.stderr);
    expect![[r#"
        1 setting changes:
          default root.sales resources.max.vcore: 3 -> 6
        immediately:
          starts: app/second of ann in root.sales (vcore 2)
        after settling:
          root uses vcore 2 -> vcore 4, waits for vcore 2 -> nothing
          root.sales uses vcore 2 -> vcore 4, waits for vcore 2 -> nothing
          user ann uses vcore 2 -> vcore 4
          fairness between users 1.000 -> 1.000
    "#]]
    .assert_eq(&more.stdout);
    let less = plan("less.yaml");
    assert_eq!(less.code, Some(2), "{}", less.stderr);
    expect![[r#"
        1 setting changes:
          default root.sales resources.max.vcore: 3 -> 1
        immediately:
          queue root.sales is above its limit: uses vcore 2, can have vcore 1, excess vcore 1
          waits for another reason: app/second of ann in root.sales (vcore 2): IMPOSSIBLE, no release can start the ask: the ask needs 2 vcore, but the maximum of queue root.sales is 1. Raise the maximum, or request less.
          can never start: app/second of ann in root.sales (vcore 2): IMPOSSIBLE, no release can start the ask: the ask needs 2 vcore, but the maximum of queue root.sales is 1. Raise the maximum, or request less.
        after settling:
          root uses vcore 2 -> vcore 2, waits for vcore 2 -> vcore 2
          fairness between users 1.000 -> 1.000
    "#]].assert_eq(&less.stdout);
    assert_eq!(plan("more.yaml").stdout, more.stdout, "the journal is as it was");
    let template = "          - name: teams\n            parent: true\n            childtemplate: {resources: {max: {vcore: 1}}}\n";
    folder.write("template.yaml", format!("{}{template}", file(3)));
    let template = plan("template.yaml").stdout;
    expect![[r#"
        2 settings change:
          default root.teams childtemplate.resources.max.vcore: - -> 1
          default root.teams parent: - -> true (new queue)
          A changed `childtemplate` applies only to queues that are created later.
        immediately:
          nothing starts, waits or stops because of the file
        after settling:
          root uses vcore 2 -> vcore 2, waits for vcore 2 -> vcore 2
          root.teams uses nothing -> nothing, waits for nothing -> nothing
          fairness between users 1.000 -> 1.000
    "#]]
    .assert_eq(&template);
}

#[test]
fn programs_get_the_number_of_the_record_and_every_difference() {
    let folder = Folder::new("plan_json");
    journal(&folder.path("data"));
    folder.write("more.yaml", file(6));
    let ran = folder.run(&["plan", "more.yaml", "--journal", "data", "--json"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    // Five commands and two steps: the group of the application, and a node for its first ask.
    assert_eq!(plan["sequence"], 7);
    assert_eq!(plan["changes"], true);
    let difference = serde_json::json!([{
        "partition": "default", "queue": "root.sales", "key": "resources.max.vcore",
        "before": {"resource": "vcore", "amount": 3000},
        "after": {"resource": "vcore", "amount": 6000},
    }]);
    assert_eq!(plan["differences"], difference);
    assert_eq!(plan["starts"]["total"], 1);
    assert_eq!(plan["starts"]["first"][0]["key"], "second");
}

#[test]
fn a_file_that_is_refused_ends_with_one() {
    let folder = Folder::new("plan_refused");
    folder.write("bad.yaml", file(3).replace("submitacl: '*'", "submitacl: a b c"));
    let ran = folder.run(&["plan", "bad.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.ends_with("bad.yaml would be rejected\n"), "{}", ran.stdout);
    let ran = folder.run(&["plan", "bad.yaml", "--journal", "nowhere"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(1), "error: the folder nowhere does not exist\n"));
}

/// Three jobs of two cores and an hour each, all at once.
const JOBS: &str = "\
    {\"id\": \"1\", \"submit_ms\": 0, \"queue\": \"root.sales\", \"user\": \"ann\", \"resources\": {\"vcore\": \"2\"}, \"run_ms\": 3600000}\n\
    {\"id\": \"2\", \"submit_ms\": 0, \"queue\": \"root.sales\", \"user\": \"bob\", \"resources\": {\"vcore\": \"2\"}, \"run_ms\": 3600000}\n\
    {\"id\": \"3\", \"submit_ms\": 0, \"queue\": \"root.sales\", \"user\": \"eve\", \"resources\": {\"vcore\": \"2\"}, \"run_ms\": 3600000}\n";

#[test]
fn nodes_beside_those_of_the_journal_are_there_for_the_plan() {
    let folder = Folder::new("plan_nodes");
    journal(&folder.path("data"));
    // An ask of 2 cores waits for the queue; there are 8 cores.
    folder.write(
        "large.yaml",
        file(20).replace("max: {", "guaranteed: {vcore: 12}\n              max: {"),
    );
    let plan = |more: &[&str]| {
        let line = ["plan", "large.yaml", "--journal", "data", "--json"];
        let ran = folder.run(&[&line[..], more].concat());
        assert_eq!(ran.code, Some(2), "{}{}", ran.stderr, ran.stdout);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    let few = plan(&[]);
    assert_eq!(few["diagnostics"][0]["code"], "Q-G>NODES", "{few}");
    let message = few["diagnostics"][0]["message"].as_str().unwrap();
    let expected = "has a guarantee of 12 vcore, but all nodes together have 8 vcore";
    assert!(message.contains(expected), "{message}");
    let more = plan(&["--nodes", "2*{vcore: 4}"]);
    assert_eq!(more["warnings"], 0, "{more}");
    let named_alike = "nodes:\n  - name: n1\n    resources: {vcore: 4}\n";
    folder.write("nodes.yaml", named_alike);
    let ran = folder.run(&["plan", "large.yaml", "--journal", "data", "--nodes", "nodes.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error: --nodes: node n1 was rejected: "), "{}", ran.stderr);
    // On a cluster with nothing they count for the warnings.
    let ran = folder.run(&["plan", "large.yaml", "--nodes", "nodes.yaml"]);
    assert!(ran.stdout.contains("all nodes together have 4 vcore"), "{}", ran.stdout);
    let ran = folder.run(&["validate", "large.yaml", "--nodes", "nodes.yaml"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("Q-G>NODES"), "{}", ran.stdout);
}

#[test]
fn both_files_are_played_over_time() {
    let folder = Folder::new("plan_hours");
    journal(&folder.path("data"));
    folder.write("old.yaml", file(2));
    folder.write("new.yaml", file(6));
    folder.write("jobs.jsonl", JOBS);
    let line =
        ["plan", "new.yaml", "--journal", "data", "--hours", "4", "--workload", "jobs.jsonl"];
    let unknown = folder.run(&line);
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown.stderr.contains("Specify the file to compare with as --before"),
        "{}",
        unknown.stderr
    );
    let ran = folder.run(&[&line[..], &["--before", "old.yaml"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let (_, over) = ran.stdout.split_once("over time: ").unwrap();
    let row = |name: &str| over.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // One after the other, or all at once.
    assert!(row("longest wait").contains("2 h"), "{over}");
    assert_eq!(words(&row("finished jobs"))[2..4], ["3", "3"], "{over}");
    // A server stores the file in force next to the journal.
    let text = file(3);
    let checksum = headroom_config::checksum(&text);
    folder.write(&format!("data/queues-{checksum}.yaml"), &text);
    let ran = folder.run(&[&line[..], &["--json"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let over = &plan["overTime"];
    assert_eq!((&over["hours"], &over["nodes"]), (&4.into(), &1.into()));
    assert_eq!(over["before"]["run"]["waits"]["max_ms"], 7_200_000, "{over}");
    assert_eq!(over["after"]["run"]["waits"]["max_ms"], 0);
    assert_eq!(folder.run(&["plan", "new.yaml", "--hours", "4"]).code, Some(2), "no workload");
    let lost = folder.run(&["plan", "new.yaml", "--workload", "jobs.jsonl"]);
    assert!(
        lost.stderr.contains("--workload requires --hours. Set the number of hours"),
        "{}",
        lost.stderr
    );
}

#[test]
fn the_page_has_all_of_the_plan_and_needs_nothing_else() {
    let folder = Folder::new("plan_html");
    journal(&folder.path("data"));
    folder.write("old.yaml", file(2));
    folder.write("new.yaml", file(6));
    folder.write("jobs.jsonl", JOBS);
    let line = ["plan", "new.yaml", "--journal", "data", "--html", "out/plan.html"];
    let over = ["--hours", "4", "--workload", "jobs.jsonl", "--before", "old.yaml"];
    let ran = folder.run(&[&line[..], &over].concat());
    assert_eq!((ran.code, &*ran.stderr), (Some(2), "report: out/plan.html\n"));
    let page = folder.read("out/plan.html");
    for part in [
        "<title>What new.yaml would change – Headroom plan</title>",
        "1 setting changes.",
        "<td data-label=\"new file\">6</td>",
        "<th scope=\"row\">app/second</th>",
        "record 7 of 2023-11-14T22:13:20Z",
        "longest wait",
        "vcore in use",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    for outside in ["href=\"http", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    folder.write("bad.yaml", file(3).replace("submitacl: '*'", "submitacl: a b c"));
    let ran = folder.run(&["plan", "bad.yaml", "--html", "bad.html"]);
    assert_eq!(ran.code, Some(1));
    assert!(folder.read("bad.html").contains("The file would be rejected."));
}
