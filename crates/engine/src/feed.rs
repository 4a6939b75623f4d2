//! The numbered events for followers: streams, the interface to the RM, and metrics.
//!
//! An entry is a record of the journal with its notices to the RM, with names instead of IDs. An entry is published
//! after it is durable. A follower requests the entries from a number on. The newest entries stay in memory, so a
//! follower can resume after a short interruption. After a long interruption, the follower gets an error, and must
//! start from a view.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::Name;
use headroom_core::books::TaskState;
use headroom_journal::Record;

use crate::notice::Notice;
use crate::progress::{Progress, Waiter};
use headroom_core::event_text::EventNames;

/// Number of entries that stay in memory.
pub const ENTRIES_KEPT: usize = 65_536;

/// A record with its notices to the RM.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The record in the journal.
    pub record: Record,
    /// Notices to the RM, in order.
    pub notices: Vec<Notice>,
    /// Names of the objects of each event, in the same order.
    pub named: Vec<EventNames>,
    /// States of the affected tenant tasks after the record.
    pub tasks: Vec<(Name, TaskState)>,
}

/// The requested entries are no longer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "record {wanted} is no longer in memory, and the oldest record is {oldest}. Start again from the current state."
)]
pub struct TooOld {
    /// Number of the first requested record.
    pub wanted: u64,
    /// Number of the oldest record in memory.
    pub oldest: u64,
}

/// The newest entries. Clones share them.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    retained: Mutex<Retained>,
    newest: Progress,
}

#[derive(Debug)]
struct Retained {
    entries: VecDeque<Arc<Entry>>,
    /// Number of the next entry.
    next: u64,
    capacity: usize,
}

impl Feed {
    /// Returns an empty feed whose first entry has the number `next`.
    pub fn new(next: u64, capacity: usize) -> Self {
        let retained = Retained { entries: VecDeque::new(), next, capacity: capacity.max(1) };
        let newest = Progress::new(next.saturating_sub(1));
        Self(Arc::new(Shared { retained: Mutex::new(retained), newest }))
    }

    /// Publishes entries. Their numbers continue the numbers of the previous entries.
    pub(crate) fn publish(&self, entries: impl Iterator<Item = Arc<Entry>>) {
        let mut retained = self.retained();
        for entry in entries {
            if retained.entries.len() == retained.capacity {
                retained.entries.pop_front();
            }
            retained.next = entry.record.sequence + 1;
            retained.entries.push_back(entry);
        }
        let newest = retained.next - 1;
        drop(retained);
        self.0.newest.reach(newest);
    }

    /// Returns the number of the newest entry. 0 without entries.
    pub fn newest(&self) -> u64 {
        self.0.newest.reached()
    }

    /// Returns a follower that begins with the entry of this number. The entry can be in the future.
    pub fn follow(&self, from: u64) -> Follower {
        Follower { feed: self.clone(), next: from.max(1), newest: self.0.newest.watch() }
    }

    /// Returns at most `count` entries from this number on, without waiting. Empty if the entry does not exist yet.
    ///
    /// # Errors
    /// If the entry is no longer in memory.
    pub fn read(&self, from: u64, count: usize) -> Result<Vec<Arc<Entry>>, TooOld> {
        let retained = self.retained();
        let oldest = retained.next - retained.entries.len() as u64;
        if from < oldest {
            return Err(TooOld { wanted: from, oldest });
        }
        let skipped = usize::try_from(from - oldest).unwrap_or(usize::MAX);
        Ok(retained.entries.iter().skip(skipped).take(count).cloned().collect())
    }

    /// Ends the feed.
    pub(crate) fn end(&self) {
        self.0.newest.end();
    }

    fn retained(&self) -> MutexGuard<'_, Retained> {
        self.0.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a feed entry by entry. A slow follower blocks nothing.
#[derive(Debug)]
pub struct Follower {
    feed: Feed,
    next: u64,
    newest: Waiter,
}

impl Follower {
    /// Maximum number of entries that are returned at once.
    const AT_ONCE: usize = 1_024;

    /// Waits for the next entries, and returns at least one. `None` after the engine has ended.
    ///
    /// # Errors
    /// If the follower was too slow, or began with an entry that is no longer in memory.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Entry>>>, TooOld> {
        loop {
            let entries = self.feed.read(self.next, Self::AT_ONCE)?;
            if !entries.is_empty() {
                self.next += entries.len() as u64;
                return Ok(Some(entries));
            }
            if !self.newest.beyond(self.next - 1).await {
                return Ok(None);
            }
        }
    }

    /// Returns the number of the next entry.
    pub const fn position(&self) -> u64 {
        self.next
    }
}
