//! What the tests of stores share.

use std::sync::Arc;

use headroom_journal::disk::Disk;
use headroom_journal::disk::faulty::FaultyDisk;
use headroom_journal::{FileStore, JournalError, ReadStore, SnapshotHead, Store};

/// The bytes of a record: its number says all of them, and some are longer than a page.
pub(crate) fn bytes(sequence: u64) -> Vec<u8> {
    let length = match sequence % 7 {
        3 => 5_000,
        other => usize::try_from(40 * other).unwrap(),
    };
    let text = format!("record {sequence} ");
    text.bytes().cycle().take(text.len() + length).collect()
}

/// The next records.
pub(crate) fn batch(next: u64, count: u64) -> Vec<Vec<u8>> {
    (next..next + count).map(bytes).collect()
}

/// Append so many records.
pub(crate) fn append(store: &mut dyn Store, count: u64) -> Result<(), JournalError> {
    let (lease, next) = (store.lease(), store.next());
    store.append(lease, next, &batch(next, count))
}

/// The chunks of the snapshot after a record.
pub(crate) fn chunks(sequence: u64) -> Vec<Vec<u8>> {
    vec![bytes(sequence), Vec::new(), vec![7; 3_000]]
}

/// Write a snapshot of all there is, and truncate.
pub(crate) fn snapshot(store: &mut dyn Store) -> Result<(), JournalError> {
    begin_snapshot(store)?.finish()?;
    let lease = store.lease();
    store.truncate(lease).map(drop)
}

pub(crate) fn begin_snapshot(
    store: &mut dyn Store,
) -> Result<Box<dyn headroom_journal::WriteSnapshot>, JournalError> {
    let sequence = store.next() - 1;
    let head = SnapshotHead { sequence, format: 3, digest: u128::from(sequence) << 70 };
    let mut writer = store.begin_snapshot(store.lease(), head)?;
    for chunk in chunks(sequence) {
        writer.chunk(&chunk)?;
    }
    Ok(writer)
}

/// Read from a record on; each must be what was written under its number. The last number.
pub(crate) fn read(store: &dyn ReadStore, from: u64) -> Result<u64, JournalError> {
    let mut next = from;
    for stored in store.read(from)? {
        let stored = stored?;
        assert_eq!(stored.sequence, next, "in order and without gaps");
        assert!(stored.bytes == bytes(next), "record {next} is another");
        next += 1;
    }
    Ok(next - 1)
}

/// Read all that recovery may need: each snapshot, and the records from there on, or from the
/// beginning; the last record.
pub(crate) fn recover(store: &dyn Store) -> Result<u64, JournalError> {
    let snapshots = store.snapshots()?;
    for sequence in &snapshots {
        let snapshot = store.snapshot(*sequence)?;
        assert_eq!(snapshot.head.sequence, *sequence);
        assert_eq!((snapshot.head.format, snapshot.head.digest), (3, u128::from(*sequence) << 70));
        let found = snapshot.chunks.collect::<Result<Vec<_>, _>>()?;
        assert!(found == chunks(*sequence), "the snapshot of {sequence} is another");
    }
    let from = snapshots.last().map_or(1, |oldest| oldest + 1);
    let last = read(store, from)?;
    assert_eq!(last, store.next() - 1, "all that it says it has");
    Ok(last)
}

pub(crate) fn open(disk: &FaultyDisk) -> Result<FileStore, JournalError> {
    FileStore::open(Arc::new(disk.clone()) as Arc<dyn Disk>)
}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// In the quick loop, which says how many histories it wants, every fifth of many like cases.
pub(crate) fn stride() -> usize {
    if std::env::var_os("HEADROOM_HISTORIES").is_some() { 5 } else { 1 }
}
