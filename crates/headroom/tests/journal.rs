//! `headroom journal` on a journal of a few records.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

use std::sync::Arc;

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use expect_test::{Expect, expect};
use headroom_core::books::Books;
use headroom_core::config::{ApplicationLimitsConfig, Configuration, PartitionConfig, QueueConfig};
use headroom_core::resource::Amounts;
use headroom_core::userlimit::Decimal;
use headroom_core::{
    AddNode, ApplicationEvent, Ask, Command, Event, Name, NodeEvent, Scheduler, Step, Submit,
    Timestamp, decide,
};
use headroom_journal::{FileStore, Journal, Origin, Record};

/// One queue, one node, one application with two asks for which there is room.
fn commands() -> Vec<Command> {
    let partition = Name::new("default");
    let leaf = QueueConfig { name: Name::new("a"), ..QueueConfig::default() };
    let root = QueueConfig {
        name: Name::new("root"),
        submit_acl: "*".into(),
        children: vec![leaf],
        ..QueueConfig::default()
    };
    let partitions = vec![PartitionConfig::new("default", root)];
    let configuration = Configuration { partitions, ..Configuration::default() };
    let ask = |key: &str| {
        Command::Ask(Ask {
            partition: partition.clone(),
            application: Name::new("app"),
            key: Name::new(key),
            resources: Amounts::from([("vcore", 2_000)]),
            ..Ask::default()
        })
    };
    vec![
        Command::Configure(Box::new(configuration)),
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
            queue: Name::new("root.a"),
            user: Name::new("ann"),
            ..Submit::default()
        }),
        ask("first"),
        ask("second"),
    ]
}

/// A folder with a journal of these commands, each in a record, and of what the scheduler did; of
/// the events of a command, those are written that `lie` makes of them.
fn journal(name: &str, lie: impl Fn(&mut Vec<Event>)) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("headroom-{name}-{}", std::process::id()));
    let mut journal = Journal::new(Box::new(FileStore::open_folder(&folder).unwrap()));
    let (mut books, mut scheduler) = (Books::default(), Scheduler::default());
    let now = Timestamp::from_millis(1_700_000_000_000);
    let origin = Origin { identity: "ann".into(), ..Origin::default() };
    for command in commands() {
        let mut events = decide(&books, now, &command).unwrap();
        for event in &events {
            scheduler.apply(&mut books, now, event);
        }
        lie(&mut events);
        add(&mut journal, now, Some((origin.clone(), command)), events);
    }
    let mut events = Vec::new();
    while scheduler.next(&books, now, &mut events) == Step::Moved {
        for event in &events {
            scheduler.apply(&mut books, now, event);
        }
        add(&mut journal, now, None, std::mem::take(&mut events));
    }
    journal.sync().unwrap();
    folder
}

/// Add the next record.
fn add(
    journal: &mut Journal,
    time: Timestamp,
    cause: Option<(Origin, Command)>,
    events: Vec<Event>,
) {
    let (origin, command) = cause.unzip();
    let record =
        Record { sequence: journal.next(), time, origin: origin.map(Arc::new), command, events };
    let bytes = journal.encode(&record).unwrap();
    journal.add(&record, bytes);
}

/// Checks the standard output and error of the program. The folder is named `data`.
fn run(folder: &Path, arguments: &[&str], expected: &Expect) {
    let mut words = vec!["journal", arguments[0]];
    let shown = folder.display().to_string();
    words.push(&shown);
    words.extend(&arguments[1..]);
    let output = Process::new(env!("CARGO_BIN_EXE_headroom")).args(words).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let code = output.status.code().unwrap();
    let text = text.replace(&shown, "data").replace(&std::process::id().to_string(), "PID");
    expected.assert_eq(&format!("{text}{code}\n"));
}

#[test]
fn a_whole_journal_is_verified_printed_and_cut_off() {
    let folder = journal("journal", |_| {});
    run(
        &folder,
        &["verify"],
        &expect![[r"
            records 1 to 8, all valid: 5 commands, 11 events, 575 bytes
            replayed from the first record: 8 records, of which 0 differ
            0
        "]],
    );
    run(
        &folder,
        &["dump", "--from", "4", "--to", "6"],
        &expect![[r#"
            {"command":{"ask":{"application":"app","blockedNodes":[],"key":"first","mayPreempt":false,"nodeLabel":"","originator":false,"partition":"default","placeholder":false,"preemptable":false,"priority":0,"requiredNode":"","resources":[{"quantity":2000,"resource":"vcore"}],"taskGroup":""}},"events":[{"askAdded":{"application":{"generation":0,"slot":0},"created":1700000000000,"key":"first","priority":0,"resources":[{"quantity":2000,"resource":"vcore"}],"traits":{"blockedNodes":[],"mayPreempt":false,"originator":false,"placeholder":false,"preemptable":false}}},{"applicationMoved":{"application":{"generation":0,"slot":0},"state":"APPLICATION_STATE_ACCEPTED"}}],"format":10,"origin":{"anyVersion":false,"commandId":"","identity":"ann","requestId":""},"sequence":4,"time":1700000000000}
            {"command":{"ask":{"application":"app","blockedNodes":[],"key":"second","mayPreempt":false,"nodeLabel":"","originator":false,"partition":"default","placeholder":false,"preemptable":false,"priority":0,"requiredNode":"","resources":[{"quantity":2000,"resource":"vcore"}],"taskGroup":""}},"events":[{"askAdded":{"application":{"generation":0,"slot":0},"created":1700000000000,"key":"second","priority":0,"resources":[{"quantity":2000,"resource":"vcore"}],"traits":{"blockedNodes":[],"mayPreempt":false,"originator":false,"placeholder":false,"preemptable":false}}}],"format":10,"origin":{"anyVersion":false,"commandId":"","identity":"ann","requestId":""},"sequence":5,"time":1700000000000}
            {"events":[{"applicationLinked":{"application":{"generation":0,"slot":0}}}],"format":10,"sequence":6,"time":1700000000000}
            0
        "#]],
    );
    run(
        &folder,
        &["dump", "--from", "4", "--to", "3"],
        &expect![[r"
        error: --to 3 is before record 4, the first record to print. Set --to to 4 or more
        1
    "]],
    );
    run(
        &folder,
        &["repair", "--to", "9"],
        &expect![[r"
        error: cannot keep records up to 9: record 9 is incomplete. Set `--to 8` to keep all records before the incomplete record
        1
    "]],
    );
    run(
        &folder,
        &["repair", "--to", "5"],
        &expect![[r"
        the records up to 5 remain. Copies of the original files: data/before-repair-1.*
        0
    "]],
    );
    run(
        &folder,
        &["verify"],
        &expect![[r"
            records 1 to 5, all valid: 5 commands, 7 events, 506 bytes
            replayed from the first record: 5 records, of which 0 differ
            0
        "]],
    );
    let held = FileStore::open_folder(&folder).unwrap();
    run(
        &folder,
        &["verify"],
        &expect![[r"
        error: data/lock is in use by process PID. Only one process at a time can write to the journal. Stop that process first
        1
    "]],
    );
    drop(held);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_today_would_be_decided_otherwise_is_told() {
    let folder = journal("journal-otherwise", |events| {
        if let Some(Event::Node(NodeEvent::Added { schedulable, .. })) = events.first_mut() {
            *schedulable = false;
        }
    });
    run(
        &folder,
        &["verify"],
        &expect![[r"
            records 1 to 8, all valid: 5 commands, 11 events, 573 bytes
            replayed from the first record: 8 records, of which 3 differ
            warning: this version decides differently, first at record 2. The recorded events stay valid.
            0
        "]],
    );
    std::fs::remove_dir_all(&folder).unwrap();
    run(
        &folder,
        &["verify"],
        &expect![[r"
        error: the folder data does not exist
        1
    "]],
    );
    assert!(!folder.exists(), "no folder is made for a wrong name");
}

#[test]
fn a_record_that_cannot_have_happened_is_told() {
    let folder = journal("journal-impossible", |events| {
        events.retain(|event| !matches!(event, Event::Application(ApplicationEvent::Added { .. })));
    });
    run(
        &folder,
        &["verify"],
        &expect![[r"
            error: record 4 does not follow from the previous records (app0 is not in its table: its holder outlived the row). To keep the previous records, run `headroom journal repair --to 3`
            1
        "]],
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_damaged_record_is_told_with_its_place() {
    let folder = journal("journal-damaged", |_| {});
    let file = folder.join("log-00000000000000000001.redb");
    let mut bytes = std::fs::read(&file).unwrap();
    for start in 0..bytes.len() - 6 {
        if bytes[start..].starts_with(b"second") {
            bytes[start] = b'S';
        }
    }
    std::fs::write(&file, bytes).unwrap();
    run(
        &folder,
        &["verify"],
        &expect![[r"
            error: data/log-00000000000000000001.redb is damaged at byte 33426, record 5: checksum 0xcbd60c81636cd0d3, expected 0x482553e94f1d0cff
            1
        "]],
    );
    run(
        &folder,
        &["repair", "--to", "4"],
        &expect![[r"
        the records up to 4 remain. Copies of the original files: data/before-repair-1.*
        0
    "]],
    );
    run(
        &folder,
        &["verify"],
        &expect![[r"
            records 1 to 4, all valid: 4 commands, 6 events, 414 bytes
            replayed from the first record: 4 records, of which 0 differ
            0
        "]],
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn limits_of_applications_are_printed_where_they_are_said() {
    let folder = std::env::temp_dir().join(format!("headroom-limits-{}", std::process::id()));
    let mut journal = Journal::new(Box::new(FileStore::open_folder(&folder).unwrap()));
    let root = QueueConfig { name: Name::new("root"), ..QueueConfig::default() };
    let mut partition = PartitionConfig::new("default", root);
    partition.application_limits = Some(ApplicationLimitsConfig {
        max: Some(4_000),
        max_parallel_by_user: vec![(Name::new("ann"), 5)],
        driver: Some(Decimal::TENTH),
        ..ApplicationLimitsConfig::default()
    });
    let file = Configuration { partitions: vec![partition], ..Configuration::default() };
    let now = Timestamp::from_millis(1_700_000_000_000);
    let command = Command::Configure(Box::new(file));
    let events = decide(&Books::default(), now, &command).unwrap();
    add(&mut journal, now, Some((Origin::default(), command)), events);
    journal.sync().unwrap();
    drop(journal);
    let shown = Process::new(env!("CARGO_BIN_EXE_headroom"))
        .args(["journal", "dump", &folder.display().to_string()])
        .output()
        .unwrap();
    let record: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let expected = serde_json::json!({
        "max": 4000,
        "maxParallelByUser": [{"user": "ann", "applications": 5}],
        "driver": "0.1",
    });
    let asked = &record["command"]["configure"]["partitions"][0]["applicationLimits"];
    // The root has in force what its partition says.
    let root = &record["events"][0]["partitionAdded"]["root"]["applicationLimits"];
    assert_eq!((asked, root), (&expected, &expected), "{record}");
    std::fs::remove_dir_all(folder).unwrap();
}
