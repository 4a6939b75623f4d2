//! A process that is killed while it writes: everything that it reported as stored is there after a restart. Uses a
//! folder of the real disk, and separate processes.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use headroom_core::{Command as Deed, Timestamp};
use headroom_journal::{FileStore, Journal, ReadStore, Record, Seen, SnapshotHead, verify};

const FOLDER: &str = "HEADROOM_JOURNAL_CHILD";

/// How often the process is killed.
const KILLS: u32 = 25;

/// Written by nobody but the child: appends, takes snapshots, and says how far it got.
fn write_for_ever(folder: &Path) {
    let mut journal = Journal::new(Box::new(FileStore::open_folder(folder).unwrap()));
    let mut out = std::io::stdout();
    for round in 1.. {
        for _ in 0..=round % 40 {
            let time = Timestamp::from_millis(journal.next());
            let (sequence, command) = (journal.next(), Some(Deed::Tick));
            let record = Record { sequence, time, origin: None, command, events: Vec::new() };
            let bytes = journal.encode(&record).unwrap();
            journal.add(&record, bytes);
        }
        let kept = journal.sync().unwrap();
        writeln!(out, "kept {kept}").unwrap();
        out.flush().unwrap();
        if round % 9 == 0 {
            let store = journal.store_mut();
            let head = SnapshotHead { sequence: kept, format: 1, digest: 0 };
            let mut writer = store.begin_snapshot(store.lease(), head).unwrap();
            writer.chunk(&[1; 10_000]).unwrap();
            writer.finish().unwrap();
            store.truncate(store.lease()).unwrap();
        }
    }
}

fn spawn(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_a_killed_process_kept_is_there", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a process write for a while and kills it. Returns the last record that it reported as stored.
fn kill_after(folder: &Path, millis: u64) -> u64 {
    let mut child = spawn(folder);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let number = |line: &str| line.strip_prefix("kept ").and_then(|text| text.parse().ok());
    let mut kept = 0;
    // It has begun when it says something.
    while kept == 0 {
        let line = lines.next().expect("it writes for ever").unwrap();
        kept = number(&line).unwrap_or(0);
    }
    std::thread::sleep(Duration::from_millis(millis));
    child.kill().unwrap();
    child.wait().unwrap();
    for line in lines.map_while(Result::ok) {
        kept = number(&line).unwrap_or(kept);
    }
    kept
}

#[test]
fn what_a_killed_process_kept_is_there() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return write_for_ever(&PathBuf::from(folder));
    }
    let folder = std::env::temp_dir().join(format!("headroom-killed-{}", std::process::id()));
    let mut chance = 7_u64;
    let mut before = 0;
    for round in 0..KILLS {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let kept = kill_after(&folder, (chance >> 33) % 60);
        let store = FileStore::open_folder(&folder).unwrap();
        let last = store.next() - 1;
        assert!(last >= kept && kept > before, "round {round}: {last} of {kept}, before {before}");
        let mut next = store.first();
        let found = verify::<headroom_journal::JournalError>(&store, |seen| {
            if let Seen::Record(Record { sequence, time, .. }) = seen {
                assert_eq!((*sequence, time.as_millis()), (next, next));
                next += 1;
            }
            Ok(())
        });
        let found = found.unwrap();
        assert_eq!((found.last, found.commands), (last, last + 1 - found.first));
        before = last;
    }
    println!("{before} records kept by {KILLS} processes");
    std::fs::remove_dir_all(&folder).unwrap();
}
