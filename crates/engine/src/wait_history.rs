//! What an ask waited for since it came, read from the journal: the scheduler keeps the last changes only, and none from
//! before its start.

use std::collections::VecDeque;

use headroom_core::books::Books;
use headroom_core::id::AllocationId;
use headroom_core::{Scheduler, WaitChange};
use headroom_journal::ReadStore;

use crate::error::carry_out;
use crate::handle::WriterState;
use crate::image::Image;
use crate::recover::Recovered;
use crate::replay_check::{ReplayError, looked_at};

/// The maximum number of reported changes: the last ones.
pub const CHANGES_MOST: usize = 1_000;

/// What one ask waited for so far.
#[derive(Clone, Debug, Default)]
pub struct WaitHistory {
    ask: Option<AllocationId>,
    marks: VecDeque<WaitChange>,
}

impl WaitHistory {
    /// Record what it waits for at a moment. Another ask starts a new history.
    pub fn look(&mut self, moment: &WriterState<'_>, ask: AllocationId) {
        if self.ask != Some(ask) {
            *self = Self { ask: Some(ask), marks: VecDeque::new() };
        }
        let WriterState { books, scheduler, sequence, time, .. } = *moment;
        let wait = books.allocation(ask).is_pending().then(|| scheduler.wait_of(books, ask));
        let Some(code) = wait.flatten().map(|wait| wait.code(books, ask)) else { return };
        if self.marks.back().is_none_or(|last| last.code != code) {
            if self.marks.len() == CHANGES_MOST {
                self.marks.pop_front();
            }
            self.marks.push_back(WaitChange { at: time, sequence, code });
        }
    }

    /// All changes, the oldest first, if they are of this ask.
    pub fn of(self, ask: AllocationId) -> Vec<WaitChange> {
        if self.ask == Some(ask) { self.marks.into() } else { Vec::new() }
    }
}

/// What an ask waited for since it came, or since the oldest stored snapshot, up to a record, the oldest first: at
/// most [`CHANGES_MOST`]. None where there is no such ask then, or `goes_on` says that it is not wanted any more.
///
/// Reads the records from the last snapshot in which the ask is not there yet, with a scheduler that goes along.
///
/// # Errors
/// When the journal cannot be read, or was truncated meanwhile, and when a record cannot have happened.
pub fn changes_of(
    store: &dyn ReadStore,
    until: u64,
    find: impl Fn(&Books) -> Option<AllocationId>,
    goes_on: impl Fn() -> bool,
) -> Result<Option<Vec<WaitChange>>, ReplayError> {
    let mut made = before(store, &find)?;
    let (mut scheduler, mut changes) = (Scheduler::new(&made.books), WaitHistory::default());
    let look = |made: &Recovered, scheduler: &mut Scheduler, changes: &mut WaitHistory| {
        if let Some(ask) = find(&made.books) {
            changes.look(&looked_at(made, scheduler), ask);
        }
    };
    look(&made, &mut scheduler, &mut changes);
    for stored in store.read(made.sequence + 1)? {
        if !goes_on() {
            return Ok(None);
        }
        let record = store.decode(&stored?)?;
        if record.sequence > until {
            break;
        }
        carry_out(record.sequence, || {
            for event in &record.events {
                scheduler.apply(&mut made.books, record.time, event);
            }
        })?;
        made.note(&record);
        look(&made, &mut scheduler, &mut changes);
    }
    Ok(find(&made.books).map(|ask| changes.of(ask)))
}

/// The newest stored state in which an ask is not there yet; if it is in all, the oldest.
fn before(
    store: &dyn ReadStore,
    find: &impl Fn(&Books) -> Option<AllocationId>,
) -> Result<Recovered, ReplayError> {
    let mut oldest = None;
    for sequence in store.snapshots()?.into_iter().filter(|sequence| *sequence < store.next()) {
        let image = store.snapshot(sequence).map_err(Into::into).and_then(Image::of);
        let image = image.map_err(|source| ReplayError::Snapshot { sequence, source })?;
        if find(&image.books).is_none() {
            return Ok(Recovered::of(image));
        }
        oldest = Some(image);
    }
    let base = oldest.filter(|_| store.first() > 1);
    Ok(base.map_or_else(Recovered::default, Recovered::of))
}
