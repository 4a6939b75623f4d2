//! Read-only copies of the books, published between batches.
//!
//! A reader never blocks the writer. A reader gets the newest copy with everything that was answered before its
//! request, so each client sees its own changes. The books are copied at most once for each batch. While the writer is
//! busy, the books are copied only if a reader has used the last copy. Without a journal, this also holds for small
//! batches at short intervals, because each copy makes the next changes more expensive.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_core::view::{Counters, History, Tally};
use tokio::sync::Notify;

use crate::progress::Progress;
use crate::writer_stats::{Durations, OfSteps, WriterStats};

/// The state after one record.
#[derive(Debug, Default)]
pub struct View {
    /// Last record in the books. 0 without records.
    pub sequence: u64,
    /// Time of that record.
    pub time: Timestamp,
    /// The books.
    pub books: Arc<Books>,
    /// Numbers of applications and allocations, by minute.
    pub history: Arc<History>,
    /// Numbers of errors since the start.
    pub counters: Counters,
    /// Counts of events since the start.
    pub tally: Tally,
    /// Durations of the steps of the scheduler since the start.
    pub step_times: Durations<OfSteps>,
    /// Load of the writer since the start. The load and the counters include every command that was answered before the
    /// view was published, even if the command caused no record.
    pub work: WriterStats,
}

/// Publishes the newest view. Clones share it.
#[derive(Clone, Debug)]
pub struct Views(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    newest: Mutex<Arc<View>>,
    published: Progress,
    /// Number of the last durable record.
    committed: AtomicU64,
    /// Whether a reader has requested a view since the flag was last read.
    wanted: AtomicBool,
    /// Wakes a writer that has nothing to do, for a reader that waits for a view.
    asked: Notify,
}

impl Views {
    pub(crate) fn new(view: View) -> Self {
        let committed = AtomicU64::new(view.sequence);
        let published = Progress::new(view.sequence);
        let newest = Mutex::new(Arc::new(view));
        let (wanted, asked) = (AtomicBool::new(false), Notify::new());
        Self(Arc::new(Shared { newest, published, committed, wanted, asked }))
    }

    /// Returns the newest published view, which can lack newer records.
    pub fn latest(&self) -> Arc<View> {
        Arc::clone(&self.newest())
    }

    /// Returns a view that has all durable records, including this record. Waits until the end of the batch at most.
    /// For a future record, waits until the record exists.
    pub async fn at_least(&self, sequence: u64) -> Arc<View> {
        let wanted = sequence.max(self.0.committed.load(Ordering::SeqCst));
        // Set even if the published view is new enough for this reader: more readers probably follow, and need not
        // wait for the next batch then.
        self.0.wanted.store(true, Ordering::SeqCst);
        let view = self.latest();
        if view.sequence >= wanted {
            return view;
        }
        self.0.asked.notify_one();
        // After the engine has ended, the newest view is the last one.
        self.0.published.watch().beyond(wanted - 1).await;
        self.latest()
    }

    /// Stores that all records up to this one are durable.
    pub(crate) fn note_committed(&self, sequence: u64) {
        self.0.committed.store(sequence, Ordering::SeqCst);
    }

    /// Returns and clears the flag that a reader has requested a view.
    pub(crate) fn take_wanted(&self) -> bool {
        self.0.wanted.swap(false, Ordering::SeqCst)
    }

    /// Waits until a reader waits for a view. A reader in the past counts once.
    pub(crate) async fn asked(&self) {
        self.0.asked.notified().await;
    }

    pub(crate) fn publish(&self, view: View) {
        let sequence = view.sequence;
        *self.newest() = Arc::new(view);
        self.0.published.reach(sequence);
    }

    /// Ends the publication of views.
    pub(crate) fn end(&self) {
        self.0.published.end();
    }

    fn newest(&self) -> MutexGuard<'_, Arc<View>> {
        self.0.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_reads_makes_the_next_batch_show_its_books() {
        let views = Views::new(View::default());
        assert!(!views.take_wanted());
        views.at_least(0).await;
        assert!(views.take_wanted() && !views.take_wanted());
    }
}
