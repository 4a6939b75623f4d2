//! Making durable what has happened, and letting others see it.

use std::sync::Arc;
use std::time::Instant;

use headroom_core::Millis;

use crate::error::EngineError;
use crate::image::Image;
use crate::trace;
use crate::view::View;

use super::{Batch, Writer};

/// How often the files of the journal are looked at while nothing is written.
pub(crate) const FILES_CHECKED_EVERY: Millis = Millis::from_secs(1);

impl Writer {
    /// Make durable what has happened since the last call, and let others see it.
    ///
    /// # Errors
    /// When the journal fails. Nothing of it is shown then, and the writer is not to be used
    /// again: memory is ahead of the disk.
    pub fn flush(&mut self, is_idle: bool) -> Result<(), EngineError> {
        let committed = self.commit()?;
        self.trail.write(self.last);
        self.trail.retain(self.last, &self.books);
        self.take_snapshots();
        self.views.note_committed(committed);
        self.publish_view(is_idle);
        self.watched.publish(&mut self.records);
        self.feed.publish(self.entries.drain(..));
        Ok(())
    }

    /// Make everything durable, and take a last snapshot, so that the next start is quick.
    ///
    /// # Errors
    /// As [`Writer::flush`].
    pub fn finish(&mut self) -> Result<(), EngineError> {
        self.flush(true)?;
        // Without a snapshot the next start makes of the records what the audit lacks.
        let image = self.trail.sync(self.last).then(|| self.image());
        self.keeper.finish(self.last, self.journal.store_mut(), image.as_ref());
        self.vitals.set_snapshot_failure(self.keeper.failure().cloned());
        self.publish_view(true);
        Ok(())
    }

    /// Make the batch durable; the last record that is.
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

    /// While nothing is written: finds out now and then whether the files of the journal are still in place. A write
    /// finds out by itself.
    fn look_after_files(&mut self) -> Result<(), EngineError> {
        if self.last >= self.looked_after + FILES_CHECKED_EVERY {
            self.looked_after = self.last;
            self.journal.check()?;
        }
        Ok(())
    }

    /// See how the snapshot under way is, and begin one if it is time to.
    fn take_snapshots(&mut self) {
        let now = self.last;
        self.keeper.look(now, self.journal.store_mut());
        // The journal may drop what is in a snapshot, so the audit has it first.
        if self.keeper.is_due(now) && self.trail.sync(now) {
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

    /// Publish the books if somebody reads them or nothing else is to be done, and what is
    /// counted in any case.
    fn publish_view(&mut self, is_idle: bool) {
        let sequence = self.journal.next() - 1;
        let newest = self.views.latest();
        let books = if newest.sequence == sequence {
            let is_worked = newest.work == self.work && newest.counters == self.counters;
            if self.is_counted && is_worked && Arc::ptr_eq(&newest.history, &self.history) {
                return; // Nothing is newer.
            }
            Arc::clone(&newest.books)
        } else if self.views.take_wanted() || is_idle {
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
