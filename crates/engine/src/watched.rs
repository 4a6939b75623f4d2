//! Records for watchers: the newest records of what happened to objects, as the reference's
//! event endpoints have them. They begin again with each start, under another name of this server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::record::{Record, Ring};

use crate::progress::{Progress, Waiter};

/// The newest records. Clones are one.
#[derive(Clone, Debug)]
pub struct Watched(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    /// The id that the next record gets.
    next: Progress,
}

/// What a query found: the range of stored ids, and records in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The lowest stored id; 0 if none is.
    pub lowest: u64,
    /// The highest stored id; 0 if none is.
    pub highest: u64,
    /// The records from the wanted id on; none if there is none of this id.
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

    /// How many records there were since the start.
    pub fn made(&self) -> u64 {
        self.0.next.reached()
    }

    /// Keep so many from now on; the newest stay, with their ids.
    pub fn resize(&self, capacity: usize) {
        self.ring().resize(capacity);
    }

    /// At most `count` records from the id `start` on.
    pub fn query(&self, start: u64, count: usize) -> Batch {
        let ring = self.ring();
        let found = ring.query(start, count);
        let (lowest, highest) = (found.lowest, found.highest);
        Batch { lowest, highest, records: found.records.cloned().collect() }
    }

    /// Follow from the newest `count` records on.
    pub fn follow(&self, count: usize) -> Watcher {
        let ring = self.ring();
        let replayed = u64::try_from(count.min(ring.len())).unwrap_or(0);
        Watcher {
            watched: self.clone(),
            next: ring.next_id() - replayed,
            newest: self.0.next.watch(),
        }
    }

    /// Send nothing more.
    pub(crate) fn end(&self) {
        self.0.next.end();
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes through the records as they come.
#[derive(Debug)]
pub struct Watcher {
    watched: Watched,
    next: u64,
    newest: Waiter,
}

/// A watcher was so slow that records which it has not seen are no longer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "record {wanted} is no longer in memory, and the oldest record is {oldest}. Read the records \
     faster, or start again from the current state."
)]
pub struct Missed {
    /// The id that comes next for it.
    pub wanted: u64,
    /// The lowest stored id.
    pub oldest: u64,
}

impl Watcher {
    /// How many records come at once at most.
    const AT_ONCE: usize = 128;

    /// The next records, at least one; waits for it. None once the engine has ended.
    ///
    /// # Errors
    /// When it was too slow.
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
