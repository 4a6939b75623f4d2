//! Notes of the scheduler about waiting asks.

use headroom_core::{Note, Timestamp};

use super::Writer;

impl Writer {
    /// Passes the notes to watchers, and counts them.
    pub(super) fn hear_notes(&mut self, now: Timestamp) {
        let Self { books, scheduler, edges, records, work, .. } = self;
        let notes = scheduler.take_notes();
        for note in &notes {
            if let Note::Parked { code, .. } = note {
                work.waits.note(*code);
            }
        }
        edges.take(books, scheduler, now, &notes, &mut |record| records.push(record));
    }
}
