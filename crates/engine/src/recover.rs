//! From the journal back to the books: the newest snapshot, and the records after it. Facts are
//! applied, not judged again: a newer rule cannot rewrite the past.

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_journal::{ReadStore, Record};

use crate::audit_log::{AuditLog, Head, facts};
use crate::error::{EngineError, carry_out, chain};
use crate::idempotency::IdempotencyCache;
use crate::image::Image;
use crate::shared_copy::SharedCopy;

/// What a journal holds, as of its last record.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The books.
    pub books: Books,
    /// What was answered to commands with an id.
    pub(crate) answers: IdempotencyCache,
    /// The number of the last record; 0 if there is none.
    pub sequence: u64,
    /// When the last record was made.
    pub time: Timestamp,
    /// How many records were replayed.
    pub replayed: u64,
    /// The audit, all of the journal in it.
    pub(crate) trail: AuditLog,
    /// For those who look at the books while they are replayed.
    pub(crate) copies: SharedCopy,
    /// Warnings: snapshots that could not be read.
    pub warnings: Vec<String>,
}

/// How far a recovery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovering {
    /// Records that were replayed so far, behind the snapshot if there is one.
    pub replayed: u64,
    /// How many there are to be replayed.
    pub records: u64,
}

/// Records between two reports of the progress of a recovery.
const TOLD_EVERY: u64 = 4_096;

/// Read a journal back. A damaged snapshot is reported, and the one before is taken, with the
/// records since then.
///
/// # Errors
/// When it cannot be read, is damaged, or was written by a later version; when its snapshots are
/// damaged and the first records are gone; and when a record cannot have happened.
pub fn recover(store: &dyn ReadStore) -> Result<Recovered, EngineError> {
    recover_telling(store, &mut |_| {})
}

/// As [`recover()`], and tell how far it is: when the snapshot is read, now and then, and when all
/// is done.
///
/// # Errors
/// As there.
pub fn recover_telling(
    store: &dyn ReadStore,
    tell: &mut dyn FnMut(Recovering),
) -> Result<Recovered, EngineError> {
    recover_with(store, AuditLog::default(), tell)
}

/// As [`recover_telling`], and bring the audit to where the journal is: what it lacks is made again.
///
/// # Errors
/// As there; and when the audit cannot be gone on with.
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

/// Where a replay begins.
struct Base {
    recovered: Recovered,
    /// How far the audit was then.
    durable: Head,
    /// Up to which record it was durable when the newest snapshot was taken.
    was_durable: u64,
}

/// The newest snapshot that can be read, nothing if there is none.
///
/// Where the audit is there up to `reach` alone, an older one is taken if that has less of it: the records
/// since then make it again.
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
    // What an audit lacks is no reason to go without the books.
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

    /// What a snapshot holds.
    pub(crate) fn of(image: Image) -> Self {
        let Image { books, answers, sequence, time, audit: _ } = image;
        Self { books, answers, sequence, time, ..Self::default() }
    }

    /// The books are those after this record.
    pub(crate) fn note(&mut self, record: &Record) {
        self.answers.note(record);
        self.sequence = record.sequence;
        self.time = self.time.max(record.time);
    }
}
