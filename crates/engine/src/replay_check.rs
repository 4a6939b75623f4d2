//! Replays a journal, and compares its decisions with the decisions of this version.
//!
//! The books begin empty, or with the oldest snapshot if the earlier records were removed. Each command and each step
//! of the scheduler is decided again. The recorded events are applied in any case. Every later snapshot must match the
//! books at its record.

use headroom_core::{Scheduler, Step, decide};
use headroom_journal::{JournalError, ReadStore, Record, Seen, Verified, verify};

use crate::error::{Impossible, carry_out};
use crate::handle::WriterState;
use crate::image::{Image, ImageError};
use crate::recover::Recovered;

/// Result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Content of the journal, all of which is valid.
    pub found: Verified,
    /// Record of the snapshot with which the books began. `None` if the books began empty.
    pub base: Option<u64>,
    /// Number of records that were decided again: all after the base.
    pub judged: u64,
    /// Number of records that this version would decide differently.
    pub others: u64,
    /// First record with a different decision.
    pub first_other: Option<u64>,
    /// Snapshots that match the previous records.
    pub compared: Vec<u64>,
}

/// Reason why a journal is not valid.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The journal cannot be read, or is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A snapshot is undamaged, but this version cannot decode it.
    #[error("the snapshot after record {sequence} cannot be read")]
    Snapshot {
        /// Last record in the snapshot.
        sequence: u64,
        /// Reason why the snapshot cannot be decoded.
        #[source]
        source: ImageError,
    },
    /// A snapshot does not match the previous records.
    #[error(
        "the snapshot after record {sequence} differs from the state that the records produce. \
         Move this snapshot to another folder, so that a start uses the previous snapshot"
    )]
    Differs {
        /// Last record in the snapshot.
        sequence: u64,
    },
    /// A record does not fit the books.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The books are inconsistent.
    #[error("the scheduler state after record {sequence} is inconsistent: {reason}")]
    Unbalanced {
        /// Last record of the books.
        sequence: u64,
        /// Figures that differ.
        reason: String,
    },
}

/// Reads and checks a whole journal, and decides each record again.
///
/// # Errors
/// The first fault, with its place. A different decision of this version is not an error.
pub fn audit(store: &dyn ReadStore) -> Result<ReplayReport, ReplayError> {
    let mut auditor = Auditor::begin(store)?;
    let found = verify(store, |seen| match seen {
        Seen::Record(record) => auditor.judge(record),
        Seen::Snapshot(head) => auditor.compare(head.sequence),
    })?;
    auditor.balance()?;
    Ok(ReplayReport { found, ..auditor.audited })
}

/// Reads a whole journal with a scheduler, and calls `look` with the state after each record. At each call, the
/// scheduler has processed the changes of the record. Returns the final state.
///
/// # Errors
/// The first fault, with its place.
pub fn follow(
    store: &dyn ReadStore,
    mut look: impl FnMut(&WriterState<'_>),
) -> Result<(Recovered, Scheduler), ReplayError> {
    let mut auditor = Auditor::begin(store)?;
    verify(store, |seen| match seen {
        Seen::Record(record) => {
            auditor.judge(record)?;
            auditor.look(&mut look);
            Ok::<_, ReplayError>(())
        }
        Seen::Snapshot(_) => Ok(()),
    })?;
    auditor.look(&mut look); // Where all records are in a snapshot, none was looked at.
    Ok((auditor.made, auditor.scheduler))
}

struct Auditor<'store> {
    store: &'store dyn ReadStore,
    /// State that the records produce.
    made: Recovered,
    scheduler: Scheduler,
    audited: ReplayReport,
}

impl<'store> Auditor<'store> {
    fn begin(store: &'store dyn ReadStore) -> Result<Self, ReplayError> {
        let scheduler = Scheduler::default();
        let (made, audited) = (Recovered::default(), ReplayReport::default());
        let mut auditor = Self { store, made, scheduler, audited };
        let first = store.first();
        if first == 1 {
            return Ok(auditor);
        }
        let oldest = store.snapshots()?.pop();
        let oldest = oldest.ok_or(JournalError::Truncated { wanted: 1, first })?;
        auditor.made = Recovered::of(auditor.image(oldest)?);
        auditor.scheduler = Scheduler::new(&auditor.made.books);
        auditor.audited.base = Some(oldest);
        auditor.balance()?;
        Ok(auditor)
    }

    fn look(&mut self, look: &mut impl FnMut(&WriterState<'_>)) {
        look(&looked_at(&self.made, &mut self.scheduler));
    }

    fn image(&self, sequence: u64) -> Result<Image, ReplayError> {
        let image = self.store.snapshot(sequence).map_err(Into::into).and_then(Image::of);
        image.map_err(|source| ReplayError::Snapshot { sequence, source })
    }

    fn judge(&mut self, record: &Record) -> Result<(), ReplayError> {
        if record.sequence <= self.made.sequence {
            return Ok(()); // Its outcome is in the snapshot.
        }
        let Self { made, scheduler, audited, .. } = self;
        carry_out(record.sequence, || {
            if !is_decided_again(made, scheduler, record) {
                audited.others += 1;
                audited.first_other.get_or_insert(record.sequence);
            }
            scheduler.count_records(record.sequence);
            for event in &record.events {
                scheduler.apply(&mut made.books, record.time, event);
            }
        })?;
        made.note(record);
        audited.judged += 1;
        Ok(())
    }

    fn compare(&mut self, sequence: u64) -> Result<(), ReplayError> {
        if self.audited.base == Some(sequence) {
            return Ok(()); // It is where the books come from.
        }
        let Image { books, answers, .. } = self.image(sequence)?;
        if (&books, &answers) != (&self.made.books, &self.made.answers) {
            return Err(ReplayError::Differs { sequence });
        }
        self.audited.compared.push(sequence);
        Ok(())
    }

    fn balance(&self) -> Result<(), ReplayError> {
        let unbalanced = |violation: headroom_core::Violation| {
            let (sequence, reason) = (self.made.sequence, violation.to_string());
            ReplayError::Unbalanced { sequence, reason }
        };
        self.made.books.check().map_err(unbalanced)
    }
}

/// Returns the state after a record, when the scheduler has processed its changes.
pub(crate) fn looked_at<'a>(made: &'a Recovered, scheduler: &'a mut Scheduler) -> WriterState<'a> {
    // The result of this step is in the next record. Here, the step only moves asks that cannot run to the waiting
    // ones.
    scheduler.next(&made.books, made.time, &mut Vec::new());
    let Recovered { books, sequence, time, copies, .. } = made;
    WriterState { books, scheduler, sequence: *sequence, time: *time, copies }
}

/// Returns whether this version makes the recorded decision.
fn is_decided_again(made: &Recovered, scheduler: &mut Scheduler, record: &Record) -> bool {
    if let Some(command) = &record.command {
        let decided = decide(&made.books, record.time, command);
        return decided.is_ok_and(|events| events == record.events);
    }
    if Scheduler::allows_hold(&made.books, record.time, &record.events) {
        return true;
    }
    let mut events = Vec::new();
    let step = scheduler.next(&made.books, record.time, &mut events);
    step == Step::Moved && events == record.events
}
