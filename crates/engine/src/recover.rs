//! From the journal back to the books: the newest snapshot, and the records after it. Facts are
//! applied, not judged again: a newer rule cannot rewrite the past.

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_journal::{ReadStore, Record};

use crate::answers::Answers;
use crate::error::{EngineError, chain};
use crate::image::Image;

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
    /// How many records were replayed.
    pub replayed: u64,
    /// What is to be told: snapshots that could not be read.
    pub warnings: Vec<String>,
}

/// Read a journal back. A snapshot that is damaged is told of, and the one before is taken, with the
/// records since then.
///
/// # Errors
/// When it cannot be read, is damaged, or was written by a later version; and when its snapshots
/// are damaged and the first records are gone.
pub fn recover(store: &dyn ReadStore) -> Result<Recovered, EngineError> {
    let mut recovered = newest_image(store)?;
    for stored in store.read(recovered.sequence + 1)? {
        let stored = stored?;
        let sequence = stored.sequence;
        let record = Record::decode(&stored.bytes)
            .map_err(|source| EngineError::Unreadable { sequence, source })?;
        recovered.replay(&record)?;
    }
    Ok(recovered)
}

/// The newest snapshot that can be read; nothing if there is none.
fn newest_image(store: &dyn ReadStore) -> Result<Recovered, EngineError> {
    let mut warnings = Vec::new();
    for sequence in store.snapshots()? {
        let image = store.snapshot(sequence).map_err(Into::into).and_then(Image::of);
        match image {
            Ok(Image { books, answers, sequence, time }) => {
                return Ok(Recovered { books, answers, sequence, time, replayed: 0, warnings });
            }
            Err(error) => {
                let why = chain(&error);
                warnings.push(format!("the snapshot of record {sequence} is not used: {why}"));
            }
        }
    }
    Ok(Recovered { warnings, ..Recovered::default() })
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
        self.replayed += 1;
        Ok(())
    }
}
