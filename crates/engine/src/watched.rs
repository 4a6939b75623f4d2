//! The newest events of objects, for the event endpoints of the reference. Their ids begin again with each start,
//! with another instance id of the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::record::{Record, Ring};

use crate::progress::{Progress, Waiter};

/// The newest records. Clones share them.
#[derive(Clone, Debug)]
pub struct Watched(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    /// Id of the next record.
    next: Progress,
}

/// Result of a query: the range of stored ids, and records in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Lowest stored ID. 0 without records.
    pub lowest: u64,
    /// Highest stored ID. 0 without records.
    pub highest: u64,
    /// Records from the requested id on. Empty if no record has this id.
    pub records: Vec<Record>,
}

impl Watched {
    pub(crate) fn new(capacity: usize) -> Self {
        let ring = Mutex::new(Ring::new(capacity));
        Self(Arc::new(Shared { ring, next: Progress::new(0) }))
    }

    pub(crate) fn publish(&self, records: &mut Vec<Record>) {
        if records.is_empty() {
            return;
        }
        let mut ring = self.ring();
        for record in records.drain(..) {
            ring.push(record);
        }
        let next = ring.next_id();
        drop(ring);
        self.0.next.reach(next);
    }

    /// Returns the number of records since the start.
    pub fn made(&self) -> u64 {
        self.0.next.reached()
    }

    /// Sets the number of stored records. The newest records stay, with their IDs.
    pub fn resize(&self, capacity: usize) {
        self.ring().resize(capacity);
    }

    /// Returns at most `count` records from the id `start` on.
    pub fn query(&self, start: u64, count: usize) -> Batch {
        let ring = self.ring();
        let found = ring.query(start, count);
        let (lowest, highest) = (found.lowest, found.highest);
        Batch { lowest, highest, records: found.records.cloned().collect() }
    }

    /// Returns a watcher that begins with the newest `count` records.
    pub fn follow(&self, count: usize) -> Watcher {
        let ring = self.ring();
        let replayed = u64::try_from(count.min(ring.len())).unwrap_or(0);
        Watcher {
            watched: self.clone(),
            next: ring.next_id() - replayed,
            newest: self.0.next.watch(),
        }
    }

    /// Ends the publication of records.
    pub(crate) fn end(&self) {
        self.0.next.end();
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads records as they are published.
#[derive(Debug)]
pub struct Watcher {
    watched: Watched,
    next: u64,
    newest: Waiter,
}

/// A watcher was too slow, so records that it has not read are no longer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "record {wanted} is no longer in memory, and the oldest record is {oldest}. Read the records \
     faster, or start again from the current state."
)]
pub struct Missed {
    /// Next id of the watcher.
    pub wanted: u64,
    /// Lowest stored id.
    pub oldest: u64,
}

impl Watcher {
    /// Maximum number of records that are returned at once.
    const AT_ONCE: usize = 128;

    /// Waits for the next records, and returns at least one. `None` after the engine has ended.
    ///
    /// # Errors
    /// If the watcher was too slow.
    pub async fn next(&mut self) -> Result<Option<Vec<Record>>, Missed> {
        loop {
            if self.next < self.watched.0.next.reached() {
                let batch = self.watched.query(self.next, Self::AT_ONCE);
                if batch.records.is_empty() {
                    return Err(Missed { wanted: self.next, oldest: batch.lowest });
                }
                self.next += batch.records.len() as u64;
                return Ok(Some(batch.records));
            }
            if !self.newest.beyond(self.next).await {
                return Ok(None);
            }
        }
    }
}
