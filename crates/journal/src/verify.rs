//! Verification of a whole journal: checksums, completeness, content, snapshots.

use headroom_core::Timestamp;

use crate::error::{Damage, Place};
use crate::store::{ReadStore, SnapshotHead};
use crate::{JournalError, Record};

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// First stored record.
    pub first: u64,
    /// Last stored record. Less than the first record if the journal is empty.
    pub last: u64,
    /// Size of all records in bytes.
    pub record_bytes: u64,
    /// Number of commands.
    pub commands: u64,
    /// Number of events.
    pub events: u64,
    /// Snapshots, the oldest first, each with its size in bytes.
    pub snapshots: Vec<(SnapshotHead, u64)>,
}

/// An item of a verification, in order of record numbers. A record precedes its snapshot.
#[derive(Debug)]
pub enum Seen<'walk> {
    /// A record.
    Record(&'walk Record),
    /// A snapshot. Its digest must equal the digest of the books after the record.
    Snapshot(&'walk SnapshotHead),
}

/// Reads and checks everything, and passes each item to `see`, which can evaluate commands again and compare digests.
///
/// # Errors
/// Returns the first fault, with its place, or the error of `see`.
pub fn verify<E: From<JournalError>>(
    store: &dyn ReadStore,
    mut see: impl FnMut(Seen<'_>) -> Result<(), E>,
) -> Result<Verified, E> {
    let mut found = Verified::default();
    let mut sequences = store.snapshots()?;
    sequences.reverse();
    for sequence in sequences {
        let snapshot = store.snapshot(sequence)?;
        let mut bytes = 0;
        for chunk in snapshot.chunks {
            bytes += chunk?.len() as u64;
        }
        found.snapshots.push((snapshot.head, bytes));
    }
    let heads: Vec<SnapshotHead> = found.snapshots.iter().map(|(head, _)| *head).collect();
    let mut heads = heads.iter().peekable();
    found.first = store.first();
    found.last = found.first - 1;
    let mut time = Timestamp::ZERO;
    for stored in store.read(found.first)? {
        while let Some(head) = heads.next_if(|head| head.sequence <= found.last) {
            see(Seen::Snapshot(head))?;
        }
        let stored = stored?;
        let record = store.decode(&stored)?;
        if record.time < time {
            let damage =
                Damage::Shape("the time of the record is before the time of the previous record");
            let (path, place) = (store.place(stored.sequence), Place::record(stored.sequence));
            return Err(JournalError::damaged(path, place, damage).into());
        }
        time = record.time;
        found.last = stored.sequence;
        found.record_bytes += stored.bytes.len() as u64;
        found.commands += u64::from(record.command.is_some());
        found.events += record.events.len() as u64;
        see(Seen::Record(&record))?;
    }
    for head in heads {
        see(Seen::Snapshot(head))?;
    }
    Ok(found)
}
