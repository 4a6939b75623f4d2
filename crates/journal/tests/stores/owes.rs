//! What every store owes.

use headroom_journal::disk::Folder;
use headroom_journal::disk::faulty::FaultyDisk;
use headroom_journal::{FileStore, JournalError, Lease, MemoryJournal, SnapshotHead, Store};

use super::kit::{append, batch, begin_snapshot, open, read, recover, snapshot};

/// A store of each kind, and how to open it again.
fn each(check: impl Fn(&mut dyn FnMut() -> Box<dyn Store>)) {
    let journal = MemoryJournal::default();
    check(&mut || Box::new(journal.open()));
    let disk = FaultyDisk::default();
    check(&mut || Box::new(open(&disk).unwrap()));
}

#[test]
fn what_was_appended_is_there_in_order_after_opening_again() {
    each(|open| {
        let mut store = open();
        assert_eq!((store.next(), read(&*store, 1).unwrap()), (1, 0));
        append(&mut *store, 1).unwrap();
        append(&mut *store, 0).unwrap();
        append(&mut *store, 1_500).unwrap();
        drop(store);
        let mut store = open();
        append(&mut *store, 9).unwrap();
        assert_eq!(store.next(), 1_511);
        for from in [1, 2, 600, 1_510, 1_511, 2_000] {
            assert_eq!(read(&*store, from).unwrap(), 1_510.max(from - 1), "from {from}");
        }
    });
}

#[test]
fn a_batch_that_is_not_the_next_is_refused() {
    each(|open| {
        let mut store = open();
        append(&mut *store, 3).unwrap();
        for next in [0, 3, 5] {
            let refused = store.append(store.lease(), next, &batch(next, 1)).unwrap_err();
            let expected = format!(
                "the batch begins with record {next}, but the journal continues with record 4"
            );
            assert_eq!(refused.to_string(), expected);
        }
        append(&mut *store, 1).unwrap();
    });
}

#[test]
fn snapshots_are_kept_by_twos_and_records_since_the_older() {
    each(|open| {
        let mut store = open();
        let mut first = Vec::new();
        for _ in 0..4 {
            append(&mut *store, 10).unwrap();
            snapshot(&mut *store).unwrap();
            append(&mut *store, 5).unwrap();
            assert_eq!(recover(&*store).unwrap(), store.next() - 1);
            first.push(store.truncate(store.lease()).unwrap());
        }
        assert_eq!(first, [1, 11, 26, 41], "each since the snapshot before the last");
        drop(store);
        let mut store = open();
        assert_eq!(store.snapshots().unwrap(), [55, 40]);
        assert_eq!((recover(&*store).unwrap(), store.next()), (60, 61));
        let early = store.read(40).err().unwrap().to_string();
        let expected = "record 40 is no longer stored, and the journal begins with record 41. Start with a snapshot";
        assert_eq!(early, expected);
        let none = store.snapshot(25).err().unwrap().to_string();
        assert_eq!(none, "no snapshot exists for record 25");
        // Twice the same is one.
        snapshot(&mut *store).unwrap();
        snapshot(&mut *store).unwrap();
        assert_eq!(store.snapshots().unwrap(), [60, 55]);
        assert_eq!(recover(&*store).unwrap(), 60);
    });
}

#[test]
fn who_reads_beside_reads_what_there_was_while_more_is_written() {
    each(|open| {
        let mut store = open();
        append(&mut *store, 700).unwrap();
        let early = store.reader();
        append(&mut *store, 50).unwrap();
        assert_eq!(read(&*early, 1).unwrap(), 700);
        snapshot(&mut *store).unwrap();
        append(&mut *store, 1_000).unwrap();
        assert_eq!(
            (read(&*early, 1).unwrap(), early.next()),
            (700, 701),
            "another file is written"
        );
        let late = store.reader();
        std::thread::scope(|scope| {
            let reads = scope.spawn(move || read(&*late, 1).unwrap());
            for _ in 0..20 {
                append(&mut *store, 10).unwrap();
            }
            assert_eq!(reads.join().unwrap(), 1_750);
        });
        // A removed record is an error for a reader that reaches it, not the end.
        let before = store.reader();
        for _ in 0..2 {
            snapshot(&mut *store).unwrap();
            append(&mut *store, 10).unwrap();
        }
        assert!(store.first() > 1);
        let gone = read(&*before, 1).unwrap_err();
        let is_right = matches!(
            gone,
            JournalError::Truncated { wanted: 1, .. } | JournalError::Access { deed: "open", .. }
        );
        assert!(is_right, "{gone}");
        drop((early, before));
        drop(store);
        assert_eq!(recover(&*open()).unwrap(), 1_970);
    });
}

#[test]
fn a_snapshot_is_seen_when_it_is_finished_while_records_go_on() {
    each(|open| {
        let mut store = open();
        append(&mut *store, 10).unwrap();
        let writer = begin_snapshot(&mut *store).unwrap();
        append(&mut *store, 10).unwrap();
        assert_eq!(store.snapshots().unwrap(), [0_u64; 0]);
        assert_eq!(recover(&*store).unwrap(), 20);
        drop(begin_snapshot(&mut *store).unwrap());
        writer.finish().unwrap();
        append(&mut *store, 1).unwrap();
        assert_eq!(store.snapshots().unwrap(), [10]);
        assert_eq!(recover(&*store).unwrap(), 21);
        let head = SnapshotHead { sequence: 20, format: 1, digest: 0 };
        let refused = store.begin_snapshot(store.lease(), head).err().unwrap();
        let is_right = matches!(refused, JournalError::OutOfOrder { expected: 21, found: 20 });
        assert!(is_right, "it is not the last record: {refused}");
        drop(store);
        assert_eq!(recover(&*open()).unwrap(), 21);
    });
}

#[test]
fn who_was_replaced_cannot_write() {
    let journal = MemoryJournal::default();
    let mut old = journal.open();
    append(&mut old, 1).unwrap();
    let mut new = journal.open();
    assert!(new.lease() > old.lease());
    let refused = append(&mut old, 1).unwrap_err().to_string();
    assert_eq!(
        refused,
        "lease 1 has ended, because lease 2 was granted later. Stop this server, and restart it to \
         replay the journal"
    );
    for refused in [begin_snapshot(&mut old).err(), old.truncate(old.lease()).err()] {
        assert!(matches!(refused, Some(JournalError::Deposed { presented: 1, current: 2 })));
    }
    append(&mut new, 1).unwrap();
    assert_eq!(read(&new, 1).unwrap(), 2);

    let disk = FaultyDisk::default();
    let first = open(&disk).unwrap().lease();
    let mut store = open(&disk).unwrap();
    assert!(store.lease() > first, "a lease is never given twice");
    assert!(matches!(store.append(first, 1, &batch(1, 1)), Err(JournalError::Deposed { .. })));
    assert!(matches!(store.truncate(Lease::new(99)), Err(JournalError::Deposed { .. })));
}

#[test]
fn after_a_failure_nothing_is_taken() {
    let journal = MemoryJournal::default();
    let mut store = journal.open();
    append(&mut store, 1).unwrap();
    journal.set_failing(true);
    assert!(matches!(append(&mut store, 1), Err(JournalError::Append { sequence: 2, .. })));
    journal.set_failing(false);
    assert!(matches!(append(&mut store, 1), Err(JournalError::Stopped { .. })));
    append(&mut journal.open(), 1).unwrap();
}

#[test]
fn one_process_at_a_time_and_the_other_is_named() {
    let path = std::env::temp_dir().join(format!("headroom-journal-{}", std::process::id()));
    let store = FileStore::open_folder(&path).unwrap();
    let held = FileStore::open_folder(&path).unwrap_err().to_string();
    let lock = path.join("lock");
    let expected = format!(
        "{} is in use by process {}. Only one process at a time can write to the journal. Stop \
         that process first",
        lock.display(),
        std::process::id()
    );
    assert_eq!(held, expected);
    drop(store);
    let mut store = FileStore::open_folder(&path).unwrap();
    append(&mut store, 20).unwrap();
    snapshot(&mut store).unwrap();
    append(&mut store, 5).unwrap();
    drop(store);
    let store = FileStore::open(std::sync::Arc::new(Folder::new(&path).unwrap())).unwrap();
    assert_eq!(recover(&store).unwrap(), 25);
    drop(store);
    std::fs::remove_dir_all(&path).unwrap();
}

/// The lock file was removed by hand: the log itself is locked, so that two never acknowledge.
#[test]
fn whoever_removes_the_lock_file_lets_nobody_else_in() {
    let path = std::env::temp_dir().join(format!("headroom-journal-lock-{}", std::process::id()));
    let mut store = FileStore::open_folder(&path).unwrap();
    append(&mut store, 3).unwrap();
    std::fs::remove_file(path.join("lock")).unwrap();
    let refused = FileStore::open_folder(&path).unwrap_err();
    assert!(
        matches!(&refused, JournalError::Held { path, .. } if path.extension().is_some_and(|end| end == "redb")),
        "{refused}"
    );
    let noticed = append(&mut store, 1).unwrap_err();
    let is_right = matches!(&noticed, JournalError::Replaced { path } if path.ends_with("lock"));
    assert!(is_right, "the first one notices, too: {noticed}");
    drop(store);
    assert_eq!(recover(&FileStore::open_folder(&path).unwrap()).unwrap(), 3);
    std::fs::remove_dir_all(&path).unwrap();
}
