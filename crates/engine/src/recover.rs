//! From the journal back to the books. Facts are applied, not judged again: a newer rule cannot
//! rewrite the past.

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_journal::{Record, Store};

use crate::answers::Answers;
use crate::error::EngineError;

/// What a journal holds, as of its last record.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The books.
    pub books: Books,
    /// What was answered to commands with an id.
    pub(crate) answers: Answers,
    /// The number of the last record; 0 if there is none.
    pub sequence: u64,
    /// When the last record was made.
    pub time: Timestamp,
}

/// Replay a journal.
///
/// # Errors
/// When it cannot be read, is damaged, or was written by a later version.
pub fn recover(store: &dyn Store) -> Result<Recovered, EngineError> {
    let mut recovered = Recovered::default();
    for stored in store.read(1)? {
        let stored = stored?;
        let sequence = stored.sequence;
        let record = Record::decode(&stored.bytes)
            .map_err(|source| EngineError::Unreadable { sequence, source })?;
        recovered.replay(&record)?;
    }
    Ok(recovered)
}

impl Recovered {
    fn replay(&mut self, record: &Record) -> Result<(), EngineError> {
        let expected = self.sequence + 1;
        if record.sequence != expected {
            return Err(EngineError::Misplaced { expected, found: record.sequence });
        }
        for event in &record.events {
            self.books.apply(record.time, event);
        }
        self.answers.note(record);
        self.sequence = record.sequence;
        self.time = self.time.max(record.time);
        Ok(())
    }
}
