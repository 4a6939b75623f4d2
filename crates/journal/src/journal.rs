//! The writer's side of a store: collects the records of a batch, and makes these records durable together.

use std::fmt;

use crate::store::Store;
use crate::{JournalError, Record, Unwritable};

/// Writer of a journal. Records are added one by one, and stored with one flush.
///
/// ```
/// use headroom_core::Timestamp;
/// use headroom_journal::{Journal, MemoryJournal, ReadStore, Record};
///
/// let memory = MemoryJournal::default();
/// let mut journal = Journal::new(Box::new(memory.open()));
/// let (time, origin, command, events) = (Timestamp::ZERO, None, None, Vec::new());
/// let record = Record { sequence: journal.next(), time, origin, command, events };
/// let bytes = journal.encode(&record)?;
/// journal.add(&record, bytes);
/// assert_eq!(journal.sync()?, 1);
///
/// let first = journal.store().read(1)?.next().expect("one was stored")?;
/// assert_eq!(Record::decode(&first.bytes)?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Journal {
    store: Box<dyn Store>,
    batch: Vec<Vec<u8>>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Journal").field("next", &self.next()).finish_non_exhaustive()
    }
}

impl Journal {
    /// Returns a journal that continues the records of this store.
    pub fn new(store: Box<dyn Store>) -> Self {
        Self { store, batch: Vec::new() }
    }

    /// Returns the bytes of a record for [`Journal::add`]. Changes nothing, so a record that cannot be written is
    /// detected before its events are applied. Returns no bytes for a store that stores nothing.
    ///
    /// # Errors
    /// If the record cannot be encoded, or is longer than a store accepts.
    pub fn encode(&self, record: &Record) -> Result<Vec<u8>, Unwritable> {
        if self.store.stores() { record.encode() } else { Ok(Vec::new()) }
    }

    /// Adds the next record to the batch, with its bytes from [`Journal::encode`]. Returns the number of the record.
    /// Readers do not see the record before [`Journal::sync`].
    ///
    /// # Panics
    /// If the number is not [`Journal::next`].
    pub fn add(&mut self, record: &Record, bytes: Vec<u8>) -> u64 {
        assert_eq!(record.sequence, self.next(), "records are numbered without gaps");
        let length = bytes.len() as u64;
        self.batch.push(bytes);
        length
    }

    /// Returns the number of the next record that is added.
    pub fn next(&self) -> u64 {
        self.store.next() + self.batch.len() as u64
    }

    /// Makes the batch durable. Returns the number of the last durable record.
    ///
    /// # Errors
    /// Every error is fatal, because the state in memory is then ahead of the disk. The writer must stop and recover by
    /// replay.
    pub fn sync(&mut self) -> Result<u64, JournalError> {
        if !self.batch.is_empty() {
            self.store.append(self.store.lease(), self.store.next(), &self.batch)?;
            self.batch.clear();
        }
        Ok(self.store.next() - 1)
    }

    /// Checks that the files of the journal were not removed or replaced.
    ///
    /// # Errors
    /// The same as [`Store::check`]. These errors are as fatal as errors of [`Journal::sync`].
    pub fn check(&mut self) -> Result<(), JournalError> {
        self.store.check()
    }

    /// Returns the store, for reading.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the store, for snapshots. Do not append to the store directly.
    pub fn store_mut(&mut self) -> &mut dyn Store {
        &mut *self.store
    }
}
