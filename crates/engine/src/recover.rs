//! Restores the books from the newest snapshot and the later records of the journal. Applies events, and does not
//! evaluate commands again, so a newer rule cannot change the past.

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_journal::{ReadStore, Record};

use crate::audit_log::{AuditLog, Head, facts};
use crate::error::{EngineError, carry_out, chain};
use crate::idempotency::IdempotencyCache;
use crate::image::Image;
use crate::shared_copy::SharedCopy;

/// State of a journal after its last record.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The books.
    pub books: Books,
    /// Results of commands with an id.
    pub(crate) answers: IdempotencyCache,
    /// Number of the last record. 0 without records.
    pub sequence: u64,
    /// Time of the last record.
    pub time: Timestamp,
    /// Number of replayed records.
    pub replayed: u64,
    /// The audit log, with all records of the journal.
    pub(crate) trail: AuditLog,
    /// Copies of the books for readers during a replay.
    pub(crate) copies: SharedCopy,
    /// Warnings: snapshots that could not be read.
    pub warnings: Vec<String>,
}

/// Progress of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovering {
    /// Number of records that were replayed so far, after the snapshot if one exists.
    pub replayed: u64,
    /// Number of records to replay.
    pub records: u64,
}

/// Records between two reports of the progress of a recovery.
const TOLD_EVERY: u64 = 4_096;

/// Restores the state of a journal. If a snapshot is damaged, adds a warning, and uses the previous snapshot with the
/// later records.
///
/// # Errors
/// If the journal cannot be read, is damaged, or was written by a later version. Also if its snapshots are damaged and
/// the first records were removed, or if a record does not fit the books.
pub fn recover(store: &dyn ReadStore) -> Result<Recovered, EngineError> {
    recover_telling(store, &mut |_| {})
}

/// Does the same as [`recover()`], and reports the progress: after the snapshot is read, at intervals, and at the end.
///
/// # Errors
/// The same as [`recover()`].
pub fn recover_telling(
    store: &dyn ReadStore,
    tell: &mut dyn FnMut(Recovering),
) -> Result<Recovered, EngineError> {
    recover_with(store, AuditLog::default(), tell)
}

/// Does the same as [`recover_telling`]. Also adds records that are missing in the audit log.
///
/// # Errors
/// The same as [`recover()`]. Also if the audit log cannot be continued.
pub(crate) fn recover_with(
    store: &dyn ReadStore,
    trail: AuditLog,
    tell: &mut dyn FnMut(Recovering),
) -> Result<Recovered, EngineError> {
    let Base { mut recovered, durable, was_durable } = newest_image(store, trail.reach())?;
    recovered.trail = trail;
    recovered.trail.go_on(&durable, was_durable).map_err(EngineError::Audit)?;
    let records = (store.next() - 1).saturating_sub(recovered.sequence);
    tell(Recovering { replayed: 0, records });
    for stored in store.read(recovered.sequence + 1)? {
        recovered.replay(&store.decode(&stored?)?)?;
        let replayed = recovered.replayed;
        if replayed.is_multiple_of(TOLD_EVERY) || replayed == records {
            recovered.trail.write(recovered.time);
            tell(Recovering { replayed, records });
        }
    }
    recovered.trail.caught_up(recovered.sequence, recovered.time);
    recovered.warnings.extend(recovered.trail.take_warnings());
    Ok(recovered)
}

/// Start of a replay.
struct Base {
    recovered: Recovered,
    /// End of the audit log at that point.
    durable: Head,
    /// Last record of the audit log that was durable at the newest snapshot.
    was_durable: u64,
}

/// Returns the newest readable snapshot. Without one, returns an empty state.
///
/// If the audit log exists only up to `reach`, returns an older snapshot from before that point. The later records of
/// the journal then restore the audit log.
fn newest_image(store: &dyn ReadStore, reach: Option<u64>) -> Result<Base, EngineError> {
    let (mut warnings, mut beyond, mut was_durable) = (Vec::new(), None, 0);
    let of = |image: Image, warnings, was_durable| {
        let durable = image.audit.clone();
        let recovered = Recovered { warnings, ..Recovered::of(image) };
        Base { recovered, durable, was_durable }
    };
    for sequence in store.snapshots()? {
        let image = store.snapshot(sequence).map_err(Into::into).and_then(Image::of);
        match image {
            Ok(image) if reach.is_none_or(|reach| image.audit.seq <= reach) => {
                let was_durable = was_durable.max(image.audit.seq);
                return Ok(of(image, warnings, was_durable));
            }
            Ok(image) => {
                was_durable = was_durable.max(image.audit.seq);
                beyond = beyond.or(Some(image));
            }
            Err(error) => {
                let why = chain(&error);
                warnings.push(format!("the snapshot after record {sequence} was skipped: {why}"));
            }
        }
    }
    // An incomplete audit log is no reason to lose the books.
    if let Some(image) = beyond.filter(|_| store.first() > 1) {
        return Ok(of(image, warnings, was_durable));
    }
    let recovered = Recovered { warnings, ..Recovered::default() };
    Ok(Base { recovered, durable: Head::default(), was_durable })
}

impl Recovered {
    fn replay(&mut self, record: &Record) -> Result<(), EngineError> {
        let Self { books, trail, .. } = self;
        let mut audited = Vec::new();
        carry_out(record.sequence, || {
            for event in &record.events {
                facts(books, record.command.as_ref(), event, &mut audited);
                books.apply(record.time, event);
            }
        })?;
        trail.add(record, &audited);
        self.note(record);
        self.replayed += 1;
        Ok(())
    }

    /// Returns the content of a snapshot.
    pub(crate) fn of(image: Image) -> Self {
        let Image { books, answers, sequence, time, audit: _ } = image;
        Self { books, answers, sequence, time, ..Self::default() }
    }

    /// Stores the result of a record in the list of answers, and the number and time of the record.
    pub(crate) fn note(&mut self, record: &Record) {
        self.answers.note(record);
        self.sequence = record.sequence;
        self.time = self.time.max(record.time);
    }
}
