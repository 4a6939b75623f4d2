//! `headroom plan` as people and programs meet it.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::path::Path;

use expect_test::expect;
use headroom_core::books::Books;
use headroom_core::resource::Amounts;
use headroom_core::{
    AddNode, Ask, Command, Event, Name, Scheduler, Step, Submit, Timestamp, decide,
};
use headroom_journal::{FileStore, Journal, Origin, Record};
use support::Folder;

/// A queue file with a queue of so many cores.
fn file(cores: u32) -> String {
    format!(
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n        \
         queues:\n          - name: sales\n            resources:\n              max: {{vcore: {cores}}}\n"
    )
}

/// A journal of a cluster with this file, where one ask of 2 cores runs and one waits.
fn journal(folder: &Path) {
    let mut journal = Journal::new(Box::new(FileStore::open_folder(folder).unwrap()));
    let (mut books, mut scheduler) = (Books::default(), Scheduler::default());
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
    let mut add = |command: Option<Command>, events: Vec<Event>| {
        let sequence = journal.next();
        let origin = command.as_ref().map(|_| Origin::default());
        journal.add(&Record { sequence, time: now, origin, command, events }).unwrap();
    };
    for command in commands {
        let events = decide(&books, now, &command).unwrap();
        for event in &events {
            scheduler.apply(&mut books, now, event);
        }
        add(Some(command), events);
    }
    let mut events = Vec::new();
    while scheduler.next(&books, now, &mut events) == Step::Moved {
        for event in &events {
            scheduler.apply(&mut books, now, event);
        }
        add(None, std::mem::take(&mut events));
    }
    journal.sync().unwrap();
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
        1 settings change:
          default root.sales resources.max.vcore: vcore 3 -> vcore 6
        at once:
          starts: app/second of ann in root.sales (vcore 2)
        after settling:
          root uses vcore 2 -> vcore 4, waits for vcore 2 -> nothing
          root.sales uses vcore 2 -> vcore 4, waits for vcore 2 -> nothing
          user ann uses vcore 2 -> vcore 4
          evenness among users 1.000 -> 1.000
    "#]]
    .assert_eq(&more.stdout);
    let less = plan("less.yaml");
    assert_eq!(less.code, Some(2), "{}", less.stderr);
    expect![[r#"
        1 settings change:
          default root.sales resources.max.vcore: vcore 3 -> vcore 1
        at once:
          queue root.sales is above its limit: uses vcore 2, may have vcore 1, vcore 1 too much
          can never start: app/second of ann in root.sales (vcore 2): QUEUE_MAX, queue root.sales has -1000 m vcore left of its maximum of 1000 m, the ask needs 2000 m; wait for a release, or raise the maximum
        after settling:
          root uses vcore 2 -> vcore 2, waits for vcore 2 -> vcore 2
          evenness among users 1.000 -> 1.000
    "#]].assert_eq(&less.stdout);
    assert_eq!(plan("more.yaml").stdout, more.stdout, "the journal is as it was");
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
    assert!(ran.stdout.ends_with("bad.yaml would be refused\n"), "{}", ran.stdout);
    let ran = folder.run(&["plan", "bad.yaml", "--journal", "nowhere"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(1), "error: there is no folder nowhere\n"));
}
