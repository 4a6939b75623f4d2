//! A store that stores nothing, for a scheduler whose state is somewhere else.
//!
//! On Kubernetes, the API server has everything that is needed after a restart. Records only get their numbers here.

use std::path::PathBuf;

use crate::error::JournalError;
use crate::store::{Lease, ReadStore, Records, Snapshot, SnapshotHead, Store, WriteSnapshot};

/// A store that counts records and stores none of them.
///
/// ```
/// use headroom_journal::{NoStore, ReadStore as _, Store as _};
///
/// let mut store = NoStore::default();
/// store.append(store.lease(), 1, &[Vec::new(), Vec::new()])?;
/// assert_eq!(store.next(), 3);
/// assert!(store.read(1).is_err());
/// assert_eq!(store.read(3)?.count(), 0);
/// # Ok::<(), headroom_journal::JournalError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore {
    records: u64,
}

impl ReadStore for NoStore {
    fn first(&self) -> u64 {
        self.next()
    }

    fn next(&self) -> u64 {
        self.records + 1
    }

    fn place(&self, _sequence: u64) -> PathBuf {
        PathBuf::from("nowhere")
    }

    fn read(&self, from: u64) -> Result<Records<'_>, JournalError> {
        let first = self.first();
        if from < first {
            return Err(JournalError::Truncated { wanted: from, first });
        }
        Ok(Box::new(std::iter::empty()))
    }

    fn snapshots(&self) -> Result<Vec<u64>, JournalError> {
        Ok(Vec::new())
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        Err(JournalError::NoSnapshot { sequence })
    }
}

impl Store for NoStore {
    fn lease(&self) -> Lease {
        Lease::new(0)
    }

    fn stores(&self) -> bool {
        false
    }

    fn append(&mut self, _: Lease, next: u64, batch: &[Vec<u8>]) -> Result<(), JournalError> {
        let expected = self.next();
        if next != expected {
            return Err(JournalError::OutOfOrder { expected, found: next });
        }
        self.records += batch.len() as u64;
        Ok(())
    }

    fn begin_snapshot(
        &mut self,
        _: Lease,
        _: SnapshotHead,
    ) -> Result<Box<dyn WriteSnapshot>, JournalError> {
        Ok(Box::new(Discard))
    }

    fn truncate(&mut self, _: Lease) -> Result<u64, JournalError> {
        Ok(self.first())
    }

    fn check(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn reader(&self) -> Box<dyn ReadStore + Send> {
        Box::new(*self)
    }
}

/// A snapshot that nobody can read.
struct Discard;

impl WriteSnapshot for Discard {
    fn chunk(&mut self, _: &[u8]) -> Result<(), JournalError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), JournalError> {
        Ok(())
    }
}
