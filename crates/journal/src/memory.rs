//! A journal in memory, for tests, simulations, and as the reference implementation of a store. Several handles can
//! be open, and the last one leads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::JournalError;
use crate::store::{
    CHUNK_BYTES_MAX, Lease, RECORD_BYTES_MAX, ReadStore, Records, SNAPSHOTS_KEPT, Snapshot,
    SnapshotHead, Store, Stored, WriteSnapshot,
};

/// State that all handles share.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    lease: u64,
    records: BTreeMap<u64, Vec<u8>>,
    /// Number of records that were truncated.
    gone: u64,
    snapshots: BTreeMap<u64, (SnapshotHead, Vec<Vec<u8>>)>,
    failing: bool,
    snapshots_failing: bool,
}

impl State {
    fn next(&self) -> u64 {
        self.records.keys().next_back().map_or(self.gone, |last| *last) + 1
    }
}

impl MemoryJournal {
    /// Opens the journal for writing. Earlier handles can no longer write.
    pub fn open(&self) -> MemoryStore {
        let mut state = self.state();
        state.lease += 1;
        MemoryStore { journal: self.clone(), lease: Lease::new(state.lease), stopped: false }
    }

    /// Sets whether appending fails, as if the disk failed.
    pub fn set_failing(&self, failing: bool) {
        self.state().failing = failing;
    }

    /// Sets whether beginning a snapshot fails, as if the disk were full.
    pub fn set_snapshots_failing(&self, failing: bool) {
        self.state().snapshots_failing = failing;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One handle of a journal in memory.
#[derive(Debug)]
pub struct MemoryStore {
    journal: MemoryJournal,
    lease: Lease,
    stopped: bool,
}

/// A reader of the records that existed when the reader was created.
struct Beside {
    journal: MemoryJournal,
    next: u64,
}

fn path() -> PathBuf {
    PathBuf::from("memory")
}

impl MemoryStore {
    fn may_write(&self, lease: Lease) -> Result<MutexGuard<'_, State>, JournalError> {
        let state = self.journal.state();
        if lease.token() != state.lease {
            let (presented, current) = (lease.token(), state.lease);
            return Err(JournalError::Deposed { presented, current });
        }
        if self.stopped {
            return Err(JournalError::Stopped { path: path() });
        }
        Ok(state)
    }
}

impl MemoryJournal {
    fn read(&self, from: u64, next: u64) -> Result<Records<'static>, JournalError> {
        let state = self.state();
        let first = state.gone + 1;
        if from < first {
            return Err(JournalError::Truncated { wanted: from, first });
        }
        let stored = |(sequence, bytes): (&u64, &Vec<u8>)| {
            Ok(Stored { sequence: *sequence, bytes: bytes.clone() })
        };
        let records: Vec<_> = state.records.range(from..next.max(from)).map(stored).collect();
        Ok(Box::new(records.into_iter()))
    }

    fn snapshots(&self) -> Vec<u64> {
        self.state().snapshots.keys().rev().copied().collect()
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        let found = self.state().snapshots.get(&sequence).cloned();
        let (head, chunks) = found.ok_or(JournalError::NoSnapshot { sequence })?;
        Ok(Snapshot { head, chunks: Box::new(chunks.into_iter().map(Ok)) })
    }
}

impl ReadStore for MemoryStore {
    fn first(&self) -> u64 {
        self.journal.state().gone + 1
    }

    fn next(&self) -> u64 {
        self.journal.state().next()
    }

    fn place(&self, _sequence: u64) -> PathBuf {
        path()
    }

    fn read(&self, from: u64) -> Result<Records<'_>, JournalError> {
        self.journal.read(from, u64::MAX)
    }

    fn snapshots(&self) -> Result<Vec<u64>, JournalError> {
        Ok(self.journal.snapshots())
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        self.journal.snapshot(sequence)
    }
}

impl ReadStore for Beside {
    fn first(&self) -> u64 {
        self.journal.state().gone + 1
    }

    fn next(&self) -> u64 {
        self.next
    }

    fn place(&self, _sequence: u64) -> PathBuf {
        path()
    }

    fn read(&self, from: u64) -> Result<Records<'_>, JournalError> {
        self.journal.read(from, self.next)
    }

    fn snapshots(&self) -> Result<Vec<u64>, JournalError> {
        let all = self.journal.snapshots().into_iter();
        Ok(all.filter(|sequence| *sequence < self.next).collect())
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        self.journal.snapshot(sequence)
    }
}

impl Store for MemoryStore {
    fn lease(&self) -> Lease {
        self.lease
    }

    fn stores(&self) -> bool {
        true
    }

    fn append(&mut self, lease: Lease, next: u64, batch: &[Vec<u8>]) -> Result<(), JournalError> {
        let mut state = self.may_write(lease)?;
        let expected = state.next();
        if next != expected {
            return Err(JournalError::OutOfOrder { expected, found: next });
        }
        let most = RECORD_BYTES_MAX;
        if let Some(large) = batch.iter().map(Vec::len).find(|length| *length > most) {
            return Err(JournalError::TooLarge { bytes: large, most });
        }
        if state.failing {
            drop(state);
            self.stopped = true;
            let source = std::io::Error::other("a test made the store fail");
            return Err(JournalError::Append { sequence: next, path: path(), source });
        }
        state.records.extend((next..).zip(batch.iter().cloned()));
        Ok(())
    }

    fn begin_snapshot(
        &mut self,
        lease: Lease,
        head: SnapshotHead,
    ) -> Result<Box<dyn WriteSnapshot>, JournalError> {
        let state = self.may_write(lease)?;
        let last = state.next() - 1;
        if head.sequence != last {
            return Err(JournalError::OutOfOrder { expected: last, found: head.sequence });
        }
        if state.snapshots_failing {
            let source = std::io::Error::other("a test made the store fail");
            return Err(JournalError::Access { deed: "make", path: path(), source });
        }
        drop(state);
        let journal = self.journal.clone();
        Ok(Box::new(Writer { journal, head, chunks: Vec::new() }))
    }

    fn truncate(&mut self, lease: Lease) -> Result<u64, JournalError> {
        let mut state = self.may_write(lease)?;
        while state.snapshots.len() > SNAPSHOTS_KEPT {
            state.snapshots.pop_first();
        }
        if state.snapshots.len() == SNAPSHOTS_KEPT
            && let Some((oldest, _)) = state.snapshots.first_key_value()
        {
            let oldest = *oldest;
            state.records.retain(|sequence, _| *sequence > oldest);
            state.gone = oldest;
        }
        Ok(state.gone + 1)
    }

    fn check(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn reader(&self) -> Box<dyn ReadStore + Send> {
        Box::new(Beside { journal: self.journal.clone(), next: self.next() })
    }
}

#[derive(Debug)]
struct Writer {
    journal: MemoryJournal,
    head: SnapshotHead,
    chunks: Vec<Vec<u8>>,
}

impl WriteSnapshot for Writer {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let most = CHUNK_BYTES_MAX;
        if bytes.len() > most {
            return Err(JournalError::TooLarge { bytes: bytes.len(), most });
        }
        self.chunks.push(bytes.to_vec());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), JournalError> {
        let Self { journal, head, chunks } = *self;
        journal.state().snapshots.insert(head.sequence, (head, chunks));
        Ok(())
    }
}
