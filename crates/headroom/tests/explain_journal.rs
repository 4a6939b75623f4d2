//! `headroom explain` with what a journal knows: without a server, and by a server that has it.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::path::Path;

use support::server::Server;

use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Millis, Name, Submit, Timestamp};
use serde_json::Value;
use support::Folder;
use support::moves::{moves, write_journal};

fn file(cores: u32) -> Command {
    let text = format!(
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n        \
         queues:\n          - name: sales\n            resources:\n              max: {{vcore: {cores}}}\n"
    );
    Command::Configure(Box::new(headroom_config::read(&text).unwrap().configuration))
}

/// A queue of 3 cores in which one ask of 2 runs and one waits; ten seconds later it has 30, and the node 3.
fn commands() -> Vec<(u64, Command)> {
    let partition = Name::new("default");
    let node = Name::new("n1");
    let capacity = |cores: i64| Amounts::from([("vcore", cores * 1_000)]);
    let ask = |key: &str| {
        Command::Ask(Ask {
            partition: partition.clone(),
            application: Name::new("app"),
            key: Name::new(key),
            resources: capacity(2),
            ..Ask::default()
        })
    };
    let add = AddNode {
        partition: partition.clone(),
        node: node.clone(),
        capacity: capacity(8),
        schedulable: true,
        ..AddNode::default()
    };
    let submit = Submit {
        partition: partition.clone(),
        application: Name::new("app"),
        queue: Name::new("root.sales"),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let resize = Command::ResizeNode { partition: partition.clone(), node, capacity: capacity(3) };
    vec![
        (0, file(3)),
        (0, Command::AddNode(add)),
        (0, Command::Submit(submit)),
        (0, ask("first")),
        (0, ask("second")),
        (10, resize),
        (20, file(30)),
    ]
}

fn journal(folder: &Path) {
    let begin = Timestamp::from_millis(1_700_000_000_000);
    let at = |seconds| begin + Millis::from_secs(seconds);
    write_journal(folder, moves(commands().into_iter().map(|(seconds, one)| (at(seconds), one))));
}

#[test]
fn a_journal_says_why_something_waits_and_all_that_it_waited_for() {
    let folder = Folder::new("explain_journal");
    journal(&folder.path("data"));
    let explain =
        |words: &[&str]| folder.run(&[&["explain"], words, &["--journal", "data"]].concat());
    for subject in ["app", "app/second"] {
        let found = explain(&[subject, "--json"]);
        assert_eq!((found.code, &*found.stderr), (Some(0), ""));
        let told: Value = serde_json::from_str(&found.stdout).unwrap();
        assert_eq!(told["line"], "waiting: ROOT_CAPACITY cluster: 2 of 3 vcore used, needs 2");
        let history: Vec<_> = told["history"].as_array().unwrap().iter().collect();
        let codes: Vec<_> = history.iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(codes, ["QUEUE_MAX", "ROOT_CAPACITY"], "{told}");
        assert_eq!(history[1]["at"], "2023-11-14T22:13:40Z");
        let remedies = told["remedies"]["items"].as_array().unwrap();
        assert!(remedies.iter().any(|one| one["kind"] == "add"), "{told}");
    }
    let json = explain(&["app", "--json"]).stdout;
    assert_eq!(explain(&["app", "-o", "json"]).stdout, json, "`-o` means the same everywhere");
    let yaml = explain(&["app", "-o", "yaml"]).stdout;
    assert!(
        yaml.contains("line: \"waiting: ROOT_CAPACITY")
            || yaml.contains("line: 'waiting: ROOT_CAPACITY"),
        "{yaml}"
    );
    let csv = explain(&["app", "-o", "csv"]).stdout;
    assert!(csv.starts_with("check,verdict,letter,scope,type,limit,used,asked,short\n"), "{csv}");
    assert!(csv.contains("\nROOT_CAPACITY,failed,c,root,vcore,3,2,2,1\n"), "{csv}");
    let placed = explain(&["app/first"]);
    assert!(placed.stdout.starts_with("allocated on node n1"), "{}", placed.stdout);
    let missing = explain(&["app/third"]);
    assert_eq!(missing.code, Some(1));
    let expected = "partition default has no ask or allocation of \"app/third\" at record ";
    assert!(missing.stderr.contains(expected), "{}", missing.stderr);
    let nowhere = folder.run(&["explain", "app", "--journal", "nowhere"]);
    assert!(nowhere.stderr.contains("the folder nowhere does not exist"), "{}", nowhere.stderr);
}

#[test]
fn a_server_tells_what_its_journal_knows_of_the_time_before_its_start() {
    let folder = Folder::new("explain_history");
    journal(&folder.path("data"));
    let server = Server::start(&folder, &["--journal-path", "data"]);
    let address = format!("http://{}", server.address);
    let explain = |words: &[&str]| {
        let words = [&["explain", "app/second", "--server", &address, "--json"], words].concat();
        let found = folder.run(&words);
        assert_eq!((found.code, &*found.stderr), (Some(0), ""));
        let told: Value = serde_json::from_str(&found.stdout).unwrap();
        let history = told["history"].as_array().unwrap().clone();
        if words.contains(&"--history") {
            assert_eq!(told["since"], history.last().unwrap()["at"], "and not since the start");
        }
        let told = history.iter().map(|one| {
            (one["id"].as_str().unwrap().to_owned(), one["at"].as_str().unwrap().to_owned())
        });
        told.collect::<Vec<_>>()
    };
    let shown = folder.run(&["explain", "app/first", "--server", &address, "--history"]);
    let none = "\nwait history\n  no wait reasons in the stored journal\n";
    assert!(shown.stdout.contains(none), "{}", shown.stdout);
    let known = explain(&[]);
    assert_eq!(known.len(), 1, "since its start it waits for one thing: {known:?}");
    let all = explain(&["--history"]);
    let codes: Vec<&str> = all.iter().map(|(code, _)| &**code).collect();
    assert_eq!(codes, ["QUEUE_MAX", "ROOT_CAPACITY"]);
    assert_eq!(all[1].1, "2023-11-14T22:13:40Z", "as long ago as it was");
}
