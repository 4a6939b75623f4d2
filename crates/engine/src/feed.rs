//! What has happened, numbered, for followers: streams, the RM's side, metrics.
//!
//! An entry is a record of the journal with what it means to the RM, in names. It is published once it is durable. A follower asks for the entries behind a number; the newest
//! stay in memory, so one who was away for a while goes on where it was. One who was away for
//! too long gets an error, and starts from a view.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::Name;
use headroom_core::books::TaskState;
use headroom_journal::Record;

use crate::notice::Notice;
use crate::progress::{Progress, Waiter};
use headroom_core::event_text::EventNames;

/// How many entries stay in memory.
pub const ENTRIES_KEPT: usize = 65_536;

/// A record and what it means to the RM.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// As it is in the journal.
    pub record: Record,
    /// Notices to the RM, in order.
    pub notices: Vec<Notice>,
    /// Whom each event of the record is about, in the same order.
    pub named: Vec<EventNames>,
    /// Where the tasks of tenants stand behind it that it is about.
    pub tasks: Vec<(Name, TaskState)>,
}

/// The entries that a follower wants are no longer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "record {wanted} is no longer in memory, and the oldest record is {oldest}. Start again from the current state."
)]
pub struct TooOld {
    /// The first record that was wanted.
    pub wanted: u64,
    /// The oldest in memory.
    pub oldest: u64,
}

/// The newest entries. Clones are one feed.
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
    /// The number of the entry that comes next.
    next: u64,
    capacity: usize,
}

impl Feed {
    /// An empty feed, whose first entry will have the number `next`.
    pub fn new(next: u64, capacity: usize) -> Self {
        let retained = Retained { entries: VecDeque::new(), next, capacity: capacity.max(1) };
        let newest = Progress::new(next.saturating_sub(1));
        Self(Arc::new(Shared { retained: Mutex::new(retained), newest }))
    }

    /// Publish entries, whose numbers follow those before.
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

    /// The number of the newest entry; 0 if nothing ever happened.
    pub fn newest(&self) -> u64 {
        self.0.newest.reached()
    }

    /// Follow from the entry of this number on, the newest of which may be yet to come.
    pub fn follow(&self, from: u64) -> Follower {
        Follower { feed: self.clone(), next: from.max(1), newest: self.0.newest.watch() }
    }

    /// At most `count` entries from this number on, without waiting; none if it is yet to come.
    ///
    /// # Errors
    /// When it is no longer in memory.
    pub fn read(&self, from: u64, count: usize) -> Result<Vec<Arc<Entry>>, TooOld> {
        let retained = self.retained();
        let oldest = retained.next - retained.entries.len() as u64;
        if from < oldest {
            return Err(TooOld { wanted: from, oldest });
        }
        let skipped = usize::try_from(from - oldest).unwrap_or(usize::MAX);
        Ok(retained.entries.iter().skip(skipped).take(count).cloned().collect())
    }

    /// Nothing more happens.
    pub(crate) fn end(&self) {
        self.0.newest.end();
    }

    fn retained(&self) -> MutexGuard<'_, Retained> {
        self.0.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes through a feed, entry by entry. However slow it is, it holds up nobody.
#[derive(Debug)]
pub struct Follower {
    feed: Feed,
    next: u64,
    newest: Waiter,
}

impl Follower {
    /// How many entries come at once at most.
    const AT_ONCE: usize = 1_024;

    /// The next entries, at least one; waits for it. None once the engine has ended.
    ///
    /// # Errors
    /// When the follower was too slow, or began too far back.
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

    /// The number of the entry that comes next.
    pub const fn position(&self) -> u64 {
        self.next
    }
}
