//! Complete wait history of an ask, read from the journal. The scheduler stores only the last changes since its
//! start.

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

/// Maximum number of reported changes. Only the last changes are reported.
pub const CHANGES_MOST: usize = 1_000;

/// Wait history of one ask.
#[derive(Clone, Debug, Default)]
pub struct WaitHistory {
    ask: Option<AllocationId>,
    marks: VecDeque<WaitChange>,
}

impl WaitHistory {
    /// Adds the current wait reason of an ask. A different ask starts a new history.
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

    /// Returns all changes, the oldest first. Empty for another ask.
    pub fn of(self, ask: AllocationId) -> Vec<WaitChange> {
        if self.ask == Some(ask) { self.marks.into() } else { Vec::new() }
    }
}

/// Returns the wait history of an ask up to record `until`, the oldest change first, with at most [`CHANGES_MOST`]
/// changes. The history begins with the ask, or with the oldest stored snapshot. `None` if the ask does not exist, or
/// `goes_on` returns `false`.
///
/// Replays the records after the last snapshot without the ask, with a scheduler.
///
/// # Errors
/// If the journal cannot be read or was truncated meanwhile, or if a record does not fit the books.
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

/// Returns the newest stored state without the ask. If every state has the ask, returns the oldest state.
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
