//! The books as readers see them: a copy that does not change, published between batches.
//!
//! A reader never touches the writer. It gets the newest copy that holds all that was answered
//! before it asked, so each client sees its own writes. Books are copied at most once for a batch, and
//! while the writer is busy only if somebody has read since the last.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_core::view::{Counters, History, Tally};

use crate::progress::Progress;
use crate::writer_stats::{Durations, OfSteps, WriterStats};

/// What there is at one point of the one order.
#[derive(Debug, Default)]
pub struct View {
    /// The books after this record; 0 before the first.
    pub sequence: u64,
    /// When that was.
    pub time: Timestamp,
    /// The books.
    pub books: Arc<Books>,
    /// How many applications and allocations there were, minute by minute.
    pub history: Arc<History>,
    /// What went wrong since the start.
    pub counters: Counters,
    /// What has happened since the start.
    pub tally: Tally,
    /// How long the steps of the scheduler took since the start.
    pub step_times: Durations<OfSteps>,
    /// How busy the writer was since the start. It and the counters are never older than the last
    /// answer, whether a record followed or not.
    pub work: WriterStats,
}

/// Where the newest view is. Clones are one place.
#[derive(Clone, Debug)]
pub struct Views(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    newest: Mutex<Arc<View>>,
    published: Progress,
    /// The last record that is durable.
    committed: AtomicU64,
    /// Whether somebody has read since this was asked.
    wanted: AtomicBool,
}

impl Views {
    pub(crate) fn new(view: View) -> Self {
        let committed = AtomicU64::new(view.sequence);
        let published = Progress::new(view.sequence);
        let newest = Mutex::new(Arc::new(view));
        Self(Arc::new(Shared { newest, published, committed, wanted: AtomicBool::new(false) }))
    }

    /// The newest view that is published, whatever has happened since.
    pub fn latest(&self) -> Arc<View> {
        Arc::clone(&self.newest())
    }

    /// A view of all that is durable by now, and of this record at least. It waits for the end of
    /// the batch at most; for a record that is yet to come, until it has.
    pub async fn at_least(&self, sequence: u64) -> Arc<View> {
        let wanted = sequence.max(self.0.committed.load(Ordering::SeqCst));
        // Even if what is published is new enough for this one: where somebody reads, somebody
        // reads again, and need not wait for the batch that goes on by then.
        self.0.wanted.store(true, Ordering::SeqCst);
        let view = self.latest();
        if view.sequence >= wanted {
            return view;
        }
        // Once the engine has ended, what is there is all there is.
        self.0.published.watch().beyond(wanted - 1).await;
        self.latest()
    }

    /// All up to this record is durable.
    pub(crate) fn note_committed(&self, sequence: u64) {
        self.0.committed.store(sequence, Ordering::SeqCst);
    }

    /// Whether somebody has read, or waits to, since this was asked.
    pub(crate) fn take_wanted(&self) -> bool {
        self.0.wanted.swap(false, Ordering::SeqCst)
    }

    pub(crate) fn publish(&self, view: View) {
        let sequence = view.sequence;
        *self.newest() = Arc::new(view);
        self.0.published.reach(sequence);
    }

    /// No view is published any more.
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
