//! A journal that tells how far reading it has come.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use headroom_journal::{
    JournalError, Lease, ReadStore, Records, Snapshot, SnapshotHead, Store, WriteSnapshot,
};

/// How often it is told.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// A store that logs how far each reading of records has come.
pub(super) struct Told<S>(pub(super) S);

/// Counts records as they are read.
struct Counted<'store> {
    records: Records<'store>,
    /// How many there are.
    all: u64,
    read: u64,
    told_at: Instant,
}

impl Iterator for Counted<'_> {
    type Item = <Records<'static> as Iterator>::Item;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.records.next()?;
        self.read += 1;
        if self.told_at.elapsed() >= TELL_EVERY {
            self.told_at = Instant::now();
            tracing::info!(records = self.read, of = self.all, "reading the journal");
        }
        Some(next)
    }
}

impl<S: ReadStore> ReadStore for Told<S> {
    fn first(&self) -> u64 {
        self.0.first()
    }

    fn next(&self) -> u64 {
        self.0.next()
    }

    fn place(&self, sequence: u64) -> PathBuf {
        self.0.place(sequence)
    }

    fn read(&self, from: u64) -> Result<Records<'_>, JournalError> {
        let all = self.0.next().saturating_sub(from);
        if all > 0 {
            tracing::info!(records = all, from, "reading the journal");
        }
        let (records, told_at) = (self.0.read(from)?, Instant::now());
        Ok(Box::new(Counted { records, all, read: 0, told_at }))
    }

    fn snapshots(&self) -> Result<Vec<u64>, JournalError> {
        self.0.snapshots()
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        tracing::info!(sequence, "reading a snapshot");
        self.0.snapshot(sequence)
    }
}

impl<S: Store> Store for Told<S> {
    fn lease(&self) -> Lease {
        self.0.lease()
    }

    fn append(&mut self, lease: Lease, next: u64, batch: &[Vec<u8>]) -> Result<(), JournalError> {
        self.0.append(lease, next, batch)
    }

    fn begin_snapshot(
        &mut self,
        lease: Lease,
        head: SnapshotHead,
    ) -> Result<Box<dyn WriteSnapshot>, JournalError> {
        tracing::info!(sequence = head.sequence, "writing a snapshot");
        self.0.begin_snapshot(lease, head)
    }

    fn truncate(&mut self, lease: Lease) -> Result<u64, JournalError> {
        self.0.truncate(lease)
    }
}
