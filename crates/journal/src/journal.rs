//! The writer's end of a store: collects the records of a batch, and makes them durable at once.

use std::fmt;

use crate::store::Store;
use crate::{JournalError, Record, Unwritable};

/// Records are added one by one, and stored with one flush.
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
    /// Write to this store, behind what is there.
    pub fn new(store: Box<dyn Store>) -> Self {
        Self { store, batch: Vec::new() }
    }

    /// Returns the bytes of a record that may be added: nothing has to be applied to find out that it may not.
    ///
    /// # Errors
    /// When it cannot be written, or is longer than a store takes.
    pub fn encode(&self, record: &Record) -> Result<Vec<u8>, Unwritable> {
        record.encode()
    }

    /// Adds the next record to the batch, with the bytes that [`Journal::encode`] made of it. Returns their number.
    /// Nobody else knows of the record before [`Journal::sync`].
    ///
    /// # Panics
    /// When its number is not [`Journal::next`].
    pub fn add(&mut self, record: &Record, bytes: Vec<u8>) -> u64 {
        assert_eq!(record.sequence, self.next(), "records are numbered without gaps");
        let length = bytes.len() as u64;
        self.batch.push(bytes);
        length
    }

    /// The number of the next record that is added.
    pub fn next(&self) -> u64 {
        self.store.next() + self.batch.len() as u64
    }

    /// Make the batch durable, if there is one; the number of the last record that is.
    ///
    /// # Errors
    /// Any error is fatal: memory is ahead of the disk then, so the writer must stop and
    /// recover by replay.
    pub fn sync(&mut self) -> Result<u64, JournalError> {
        if !self.batch.is_empty() {
            self.store.append(self.store.lease(), self.store.next(), &self.batch)?;
            self.batch.clear();
        }
        Ok(self.store.next() - 1)
    }

    /// Finds out whether the journal is still where others would look for it.
    ///
    /// # Errors
    /// As [`Store::check`]; as fatal as those of [`Journal::sync`].
    pub fn check(&mut self) -> Result<(), JournalError> {
        self.store.check()
    }

    /// The store, for reading.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The store, for snapshots. Nothing may be appended to it by another way.
    pub fn store_mut(&mut self) -> &mut dyn Store {
        &mut *self.store
    }
}
