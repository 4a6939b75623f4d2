//! A journal judged again: what this version decides where another, or this one, decided before.
//!
//! The books begin with nothing, or with the oldest snapshot where the records before it are gone.
//! Each command is decided again and each step of the scheduler taken again; what happened is
//! applied either way. Wherever there is a later snapshot, it must be what the records make.

use headroom_core::{Scheduler, Step, decide};
use headroom_journal::{JournalError, ReadStore, Record, Seen, Verified, verify};

use crate::error::{Impossible, carry_out};
use crate::handle::WriterState;
use crate::image::{Image, ImageError};
use crate::recover::Recovered;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// What there is; all of it is whole.
    pub found: Verified,
    /// After which record the books were taken from a snapshot; none if they began with nothing.
    pub base: Option<u64>,
    /// How many records were judged again: all behind the base.
    pub judged: u64,
    /// How many of them would be others today.
    pub others: u64,
    /// The first of those.
    pub first_other: Option<u64>,
    /// Snapshots that are what the records before them make.
    pub compared: Vec<u64>,
}

/// Why a journal is not in order.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read, or is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A snapshot is whole, and means nothing to this version.
    #[error("the snapshot after record {sequence} cannot be read")]
    Snapshot {
        /// The last record that is in it.
        sequence: u64,
        /// Why.
        #[source]
        source: ImageError,
    },
    /// A snapshot is not what the records before it make.
    #[error(
        "the snapshot after record {sequence} differs from the state that the records produce. \
         Move this snapshot to another folder, so that a start uses the previous snapshot"
    )]
    Differs {
        /// The last record that is in it.
        sequence: u64,
    },
    /// A record cannot have happened.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The books do not balance.
    #[error("the scheduler state after record {sequence} is inconsistent: {reason}")]
    Unbalanced {
        /// After which record.
        sequence: u64,
        /// Which figures differ.
        reason: String,
    },
}

/// Read all of a journal, check it, and judge it again.
///
/// # Errors
/// The first fault, with its place. That this version decides otherwise is none.
pub fn audit(store: &dyn ReadStore) -> Result<ReplayReport, ReplayError> {
    let mut auditor = Auditor::begin(store)?;
    let found = verify(store, |seen| match seen {
        Seen::Record(record) => auditor.judge(record),
        Seen::Snapshot(head) => auditor.compare(head.sequence),
    })?;
    auditor.balance()?;
    Ok(ReplayReport { found, ..auditor.audited })
}

/// Read all of a journal with a scheduler that goes along, and look at each moment: right behind each record, when the
/// scheduler has looked at what that led to. The last moment is what is there now.
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
    /// What the records make.
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

/// What there is behind a record, when the scheduler has looked at what that led to.
pub(crate) fn looked_at<'a>(made: &'a Recovered, scheduler: &'a mut Scheduler) -> WriterState<'a> {
    // What it would do next is in the next record; here it puts aside what cannot run.
    scheduler.next(&made.books, made.time, &mut Vec::new());
    let Recovered { books, sequence, time, copies, .. } = made;
    WriterState { books, scheduler, sequence: *sequence, time: *time, copies }
}

/// Whether this version does what was done.
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
