//! Kill a process that writes through the engine, again and again, at any moment: every answer
//! that it gave is there, nothing is there twice, the books balance, and what was decided is decided
//! again.
//!
//! `HEADROOM_CRASHES` says how often; 20 if it is not set.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::Arc;
use std::time::Duration;

use headroom_core::config::QueueConfig;
use headroom_core::testkit::{amounts, leaf, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};
use headroom_engine::{Engine, Handle, Settings, Submission, SystemClock, audit};
use headroom_journal::{FileStore, Origin, ReadStore as _, Record};

/// Folder of the journal, and number of the round. A process with these variables is to be killed.
const FOLDER: &str = "HEADROOM_CRASH_FOLDER";
const ROUND: &str = "HEADROOM_CRASH_ROUND";

/// How many send commands at the same time.
const CLIENTS: u64 = 8;

/// How many allocations each of them has at most.
const HELD: u64 = 6;

fn default() -> Name {
    Name::new("default")
}

fn application(round: u64) -> Name {
    Name::from(format!("app-{round}"))
}

/// Returns a command with an id that identifies its sender, and its number.
fn from(client: u64, id: &str, command: Command) -> Submission {
    let (identity, command_id) = (format!("client-{client}"), id.into());
    let origin = Origin { identity, command_id, ..Origin::default() };
    Submission { origin: Some(Arc::new(origin)), command }
}

fn id(round: u64, number: u64) -> String {
    format!("{round}.{number}")
}

fn key(round: u64, client: u64, number: u64) -> Name {
    Name::from(format!("{round}.{client}.{number}"))
}

/// What a client sends as this number: asks, and each is given back some commands later.
fn command(round: u64, client: u64, number: u64) -> Command {
    let application = application(round);
    if number % 2 == 1 && number > 2 * HELD {
        let key = Some(key(round, client, number - 2 * HELD - 1));
        let termination = Termination::StoppedByRm;
        return Command::Release { partition: default(), application, key, termination };
    }
    Command::Ask(Ask {
        partition: default(),
        application,
        key: key(round, client, number),
        resources: amounts([("vcore", 1_000 + i64::try_from(number % 3).unwrap())]),
        ..Ask::default()
    })
}

fn furniture(round: u64) -> Vec<Command> {
    let root = QueueConfig { children: vec![leaf("a")], ..leaf("root") };
    let node = AddNode {
        partition: default(),
        node: Name::new("n1"),
        // Some always wait.
        capacity: amounts([("vcore", 40_000)]),
        schedulable: true,
        ..AddNode::default()
    };
    let submit = Submit {
        partition: default(),
        application: application(round),
        queue: Name::new("root.a"),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let mut commands = vec![Command::Submit(submit)];
    if round == 0 {
        let first = [Command::Configure(Box::new(partition(root))), Command::AddNode(node)];
        commands.splice(0..0, first);
    }
    commands
}

fn start(folder: &Path) -> Engine {
    let mut settings = Settings::with(SystemClock);
    settings.retention.snapshot_every = 150;
    Engine::start(Box::new(FileStore::open_folder(folder).unwrap()), settings).unwrap()
}

/// A record as a number, to compare what was answered with what is there.
fn fingerprint(record: &Record) -> u64 {
    // FNV-1a, as <http://www.isthe.com/chongo/tech/comp/fnv/> has it.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    record.encode().unwrap().into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The part of the killed process: sends commands, and prints what was answered.
async fn serve_for_ever(folder: &Path, round: u64) {
    let handle = start(folder).handle();
    for (number, command) in (0..).zip(furniture(round)) {
        let id = format!("{round}.first.{number}");
        handle.submit(from(0, &id, command)).await.unwrap().unwrap();
    }
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| tokio::spawn(send_for_ever(handle.clone(), round, client)))
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

async fn send_for_ever(handle: Handle, round: u64, client: u64) {
    for number in 0.. {
        let submission = from(client, &id(round, number), command(round, client, number));
        let accepted = handle.submit(submission).await.unwrap().unwrap();
        let print = accepted.entry.map_or(0, |entry| fingerprint(&entry.record));
        // One write for one line, so that a line is there as a whole or not at all.
        let line = format!("answered {client} {number} {} {print}\n", accepted.sequence);
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    }
}

/// What was answered to a command: the number of its record, and its fingerprint.
type Answers = BTreeMap<(u64, u64), (u64, u64)>;

fn spawn(folder: &Path, round: u64) -> Child {
    Process::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_was_answered_survives_every_crash", "--nocapture"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Let a process serve for a while and kill it; what it answered.
fn answers_until_killed(folder: &Path, round: u64, millis: u64) -> Answers {
    let mut child = spawn(folder, round);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let parse = |line: &str| {
        let numbers = line.strip_prefix("answered ")?.split(' ').map(|number| number.parse().ok());
        let [client, number, sequence, print] = numbers.collect::<Option<Vec<u64>>>()?[..] else {
            return None;
        };
        Some(((client, number), (sequence, print)))
    };
    let mut answers = Answers::new();
    while answers.is_empty() {
        let line = lines.next().expect("it serves for ever").unwrap();
        answers.extend(parse(&line));
    }
    std::thread::sleep(Duration::from_millis(millis));
    child.kill().unwrap();
    child.wait().unwrap();
    answers.extend(lines.map_while(Result::ok).filter_map(|line| parse(&line)));
    answers
}

/// Read the journal of a process that was killed.
fn check(folder: &Path, round: u64, answers: &Answers) {
    let store = FileStore::open_folder(folder).unwrap();
    let audited = audit(&store).unwrap_or_else(|error| panic!("round {round}: {error}"));
    assert_eq!(audited.others, 0, "round {round}: {audited:?}");
    let (mut ids, mut found) = (BTreeSet::new(), BTreeMap::new());
    for stored in store.read(store.first()).unwrap() {
        let record = store.decode(&stored.unwrap()).unwrap();
        found.insert(record.sequence, fingerprint(&record));
        if let Some(origin) = record.origin {
            let id = (origin.identity.clone(), origin.command_id.clone());
            assert!(!ids.contains(&id), "round {round}: {id:?} is there twice");
            ids.insert(id);
        }
    }
    for ((client, number), (sequence, print)) in answers {
        // What was dropped is in a snapshot, and is asked for below.
        if *sequence >= store.first() {
            let there = found.get(sequence);
            assert_eq!(there, Some(print), "round {round}: {client} {number}, record {sequence}");
        }
    }
}

/// Go on with it as a client does who does not know what arrived: send all again.
async fn repeat(folder: &Path, round: u64, answers: &Answers) {
    let engine = start(folder);
    let handle = engine.handle();
    for client in 0..CLIENTS {
        let mine = |number: u64| answers.get(&(client, number));
        let mut numbers = 0..=answers.len() as u64;
        let last = numbers.find(|number| mine(*number).is_none()).unwrap();
        // One more than was answered may have arrived.
        for number in 0..=last {
            let again = from(client, &id(round, number), command(round, client, number));
            let again = handle.submit(again).await.unwrap().unwrap();
            let Some((sequence, _)) = mine(number) else { continue };
            assert_eq!((again.sequence, again.repeated), (*sequence, true), "{client} {number}");
        }
    }
    let view = handle.views().at_least(0).await;
    view.books.check().unwrap();
    let keys: Vec<&Name> = view.books.allocations().iter().map(|(_, row)| &row.key).collect();
    let distinct: BTreeSet<&&Name> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len(), "round {round}: an ask is there twice");
    let gone = Command::RemoveApplication { partition: default(), application: application(round) };
    handle.submit(gone).await.unwrap().unwrap();
    engine.stop().await.unwrap();
}

#[test]
fn what_was_answered_survives_every_crash() {
    let several = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let (Some(folder), Ok(round)) = (std::env::var_os(FOLDER), std::env::var(ROUND)) {
        let folder = PathBuf::from(folder);
        return several().block_on(serve_for_ever(&folder, round.parse().unwrap()));
    }
    let crashes = std::env::var("HEADROOM_CRASHES").map_or(20, |number| number.parse().unwrap());
    let folder = std::env::temp_dir().join(format!("headroom-crash-{}", std::process::id()));
    let (mut chance, mut answered) = (std::process::id().into(), 0);
    for round in 0..crashes {
        chance = u64::wrapping_mul(chance, 6_364_136_223_846_793_005).wrapping_add(1);
        let answers = answers_until_killed(&folder, round, (chance >> 33) % 80);
        answered += answers.len();
        check(&folder, round, &answers);
        // Now and then the next process begins with what the killed one left.
        if round % 3 != 1 {
            several().block_on(repeat(&folder, round, &answers));
        }
    }
    println!("{answered} answers of {crashes} processes, all there");
    std::fs::remove_dir_all(&folder).unwrap();
}
