//! Makes changes durable, and publishes them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headroom_core::Millis;

use crate::error::EngineError;
use crate::image::Image;
use crate::trace;
use crate::view::View;

use super::{Batch, Writer};

/// Interval of checks of the journal files while nothing is written.
pub(crate) const FILES_CHECKED_EVERY: Millis = Millis::from_secs(1);

/// Time between two copies of the books that no reader needs.
const SHOWN_EVERY: Duration = Duration::from_millis(20);

/// When the books are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// At once.
    Now,
    /// If a reader needs them, or if the last copy is some time ago. For a writer without a journal that has nothing
    /// else to do.
    Due,
    /// Only if a reader needs them. For a writer with more work.
    OnRequest,
}

impl Writer {
    /// Makes all changes since the last call durable, and publishes these changes.
    ///
    /// # Errors
    /// If the journal fails. Nothing is published then, and the writer must not be used again, because the state in
    /// memory is ahead of the disk.
    pub fn flush(&mut self, publication: Publication) -> Result<(), EngineError> {
        let committed = self.commit()?;
        self.trail.write(self.last);
        self.trail.retain(self.last, &self.books);
        self.take_snapshots();
        self.views.note_committed(committed);
        self.publish_view(publication);
        self.watched.publish(&mut self.records);
        self.feed.publish(self.entries.drain(..));
        Ok(())
    }

    /// Makes all changes durable, and takes a last snapshot, so that the next start is fast.
    ///
    /// # Errors
    /// The same as [`Writer::flush`].
    pub fn finish(&mut self) -> Result<(), EngineError> {
        self.flush(Publication::Now)?;
        // If the audit log is not durable, no snapshot is taken, so that the next start restores it from the records.
        let is_stored = self.trail.sync(self.last) && self.stores();
        let image = is_stored.then(|| self.image());
        self.keeper.finish(self.last, self.journal.store_mut(), image.as_ref());
        self.vitals.set_snapshot_failure(self.keeper.failure().cloned());
        self.publish_view(Publication::Now);
        Ok(())
    }

    /// Makes the batch durable. Returns the number of the last durable record.
    fn commit(&mut self) -> Result<u64, EngineError> {
        let Batch { records, bytes, steps } = std::mem::take(&mut self.batch);
        if records == 0 {
            self.look_after_files()?;
            return Ok(self.journal.next() - 1);
        }
        self.vitals.flush_begins(self.last);
        let begun = Instant::now();
        let span = trace::flush(self.journal.next(), records, bytes, steps);
        let committed = span.in_scope(|| self.journal.sync())?;
        drop(span);
        let took = begun.elapsed();
        self.vitals.flushed(self.last, took, steps);
        self.keeper.note(records, bytes);
        self.work.records += records;
        self.work.bytes += bytes;
        self.work.flushes.note(took);
        Ok(committed)
    }

    /// Checks at intervals that the files of the journal are still in place, while nothing is written. A write performs
    /// this check itself.
    fn look_after_files(&mut self) -> Result<(), EngineError> {
        if self.last >= self.looked_after + FILES_CHECKED_EVERY {
            self.looked_after = self.last;
            self.journal.check()?;
        }
        Ok(())
    }

    /// Checks the current snapshot, and begins a snapshot if one is due.
    fn take_snapshots(&mut self) {
        let now = self.last;
        self.keeper.look(now, self.journal.store_mut());
        // The journal can remove records that a snapshot covers, so the audit log must be durable first.
        if self.keeper.is_due(now) && self.stores() && self.trail.sync(now) {
            let image = self.image();
            self.keeper.begin(now, self.journal.store_mut(), image);
        }
        let done = self.keeper.done();
        if done != self.work.snapshots {
            self.work.snapshots = done;
            self.vitals.set_snapshot_failure(self.keeper.failure().cloned());
        }
    }

    fn image(&self) -> Image {
        Image {
            books: self.books.clone(),
            answers: self.answers.clone(),
            sequence: self.journal.next() - 1,
            time: self.last,
            audit: self.trail.head().clone(),
        }
    }

    /// Returns when the books must be published at the latest. `None` if they are published.
    pub(crate) fn publishes_at(&self) -> Option<Instant> {
        let is_published = self.views.latest().sequence == self.journal.next() - 1;
        (!is_published).then(|| self.shown + SHOWN_EVERY)
    }

    /// Publishes the books if they are due, after a wait for more work.
    pub(crate) fn publish(&mut self) {
        self.publish_view(Publication::Due);
    }

    /// Publishes the books if they are due. Publishes the counters whenever this needs no copy of the books.
    fn publish_view(&mut self, publication: Publication) {
        let sequence = self.journal.next() - 1;
        let newest = self.views.latest();
        let is_due = || match publication {
            Publication::Now => true,
            Publication::Due => self.shown.elapsed() >= SHOWN_EVERY,
            Publication::OnRequest => false,
        };
        let books = if newest.sequence == sequence {
            let is_worked = newest.work == self.work && newest.counters == self.counters;
            if self.is_counted && is_worked && Arc::ptr_eq(&newest.history, &self.history) {
                return; // Nothing is newer.
            }
            Arc::clone(&newest.books)
        } else if self.views.take_wanted() || is_due() {
            self.shown = Instant::now();
            self.copies.of(&self.books, sequence)
        } else {
            return; // Readers now wait for newer books.
        };
        self.is_counted = true;
        self.views.publish(View {
            sequence,
            time: self.last,
            books,
            history: Arc::clone(&self.history),
            counters: self.counters,
            tally: self.tally.clone(),
            step_times: self.step_times,
            work: self.work,
        });
    }
}
