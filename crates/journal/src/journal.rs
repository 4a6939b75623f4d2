//! The writer's end of a store: collects the records of a batch, and makes them durable at once.

use headroom_core::{Command, Event, Timestamp};

use crate::store::Store;
use crate::{JournalError, Origin, Record, TooDeep};

/// Records are added one by one, and kept with one flush.
///
/// ```
/// use headroom_core::Timestamp;
/// use headroom_journal::{Journal, MemoryJournal, ReadStore, Record};
///
/// let kept = MemoryJournal::default();
/// let mut journal = Journal::new(kept.open());
/// journal.add(Timestamp::ZERO, None, None, Vec::new())?;
/// assert_eq!(journal.sync()?, 1);
///
/// let first = journal.store().read(1)?.next().expect("one was kept")?;
/// assert_eq!(Record::decode(&first.bytes)?.sequence, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal<S> {
    store: S,
    batch: Vec<Vec<u8>>,
}

impl<S: Store> Journal<S> {
    /// Write to this store, behind what is there.
    pub const fn new(store: S) -> Self {
        Self { store, batch: Vec::new() }
    }

    /// Add a record to the batch; its number. Nobody else knows of it before [`Journal::sync`].
    ///
    /// # Errors
    /// When it cannot be written down; the batch is as it was.
    pub fn add(
        &mut self,
        time: Timestamp,
        origin: Option<Origin>,
        command: Option<Command>,
        events: Vec<Event>,
    ) -> Result<u64, TooDeep> {
        let sequence = self.next();
        let record = Record { sequence, time, origin, command, events };
        self.batch.push(record.encode()?);
        Ok(sequence)
    }

    /// The number of the next record that is added.
    pub fn next(&self) -> u64 {
        self.store.next() + self.batch.len() as u64
    }

    /// Make the batch durable; the number of the last record that is.
    ///
    /// # Errors
    /// Any error is fatal: memory is ahead of the disk then, so whoever writes must stop and
    /// recover by replay.
    pub fn sync(&mut self) -> Result<u64, JournalError> {
        let batch = std::mem::take(&mut self.batch);
        self.store.append(self.store.lease(), self.store.next(), &batch)?;
        Ok(self.store.next() - 1)
    }

    /// The store, for reading.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// The store, for snapshots. Nothing may be appended to it by another way.
    pub const fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }
}
