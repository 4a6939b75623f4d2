//! A store that logs its progress while the journal is read.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use headroom_engine::Recovering;
use headroom_journal::{
    JournalError, Lease, ReadStore, Records, Snapshot, SnapshotHead, Store, WriteSnapshot,
};

/// Interval between log lines about the progress.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Returns a function that logs the progress of the replay at this interval.
pub(super) fn progress() -> impl FnMut(Recovering) {
    let mut told_at = Instant::now();
    move |Recovering { replayed, records }| {
        if told_at.elapsed() >= TELL_EVERY {
            told_at = Instant::now();
            tracing::info!(records = replayed, of = records, "reading the journal");
        }
    }
}

/// A store that logs its reads, and its writes except records.
pub(super) struct Told<S>(pub(super) S);

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
        self.0.read(from)
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

    fn stores(&self) -> bool {
        self.0.stores()
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

    fn check(&mut self) -> Result<(), JournalError> {
        self.0.check()
    }

    fn reader(&self) -> Box<dyn ReadStore + Send> {
        self.0.reader()
    }
}
