//! Remedies: the smallest changes that start an ask. They are computed from the failed checks, and the scheduler
//! verifies them on a copy of the books.
//!
//! A remedy is a list of edits. It is reported only if the ask starts with it, and if each edit is necessary: the ask
//! does not start if any number is one unit closer to its current value, or if any edit is omitted. Source: decision
//! page 33.

mod add;
mod edit;
mod make;
mod raise;
mod release;
mod resume;
mod shift;
mod shrink;
mod trial;
mod wait;

pub use edit::{Edit, Setting};

use alloc::vec::Vec;

use crate::books::Books;
use crate::id::AllocationId;
use crate::time::Timestamp;
use crate::wait::{CountedAs, Kind};

use super::Explanation;
use trial::Trial;

/// Default number of trials for one ask.
pub const TRIALS: u32 = 400;

/// Kind of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemedyKind {
    /// Wait for the end of other applications.
    Wait,
    /// Resume a suspended tenant.
    Resume,
    /// Raise limits.
    Raise,
    /// Release other allocations.
    Release,
    /// Lower the request.
    Shrink,
    /// Add or enlarge nodes.
    Add,
    /// Submit to another leaf.
    Move,
}

impl RemedyKind {
    /// All kinds, those with the smallest effect on the cluster first.
    pub const ALL: [Self; 7] =
        [Self::Wait, Self::Resume, Self::Raise, Self::Shrink, Self::Move, Self::Release, Self::Add];

    /// Returns a short, stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Resume => "resume",
            Self::Raise => "raise",
            Self::Release => "release",
            Self::Shrink => "shrink",
            Self::Add => "add",
            Self::Move => "move",
        }
    }
}

/// Edits that start an ask that is next in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Kind of the remedy.
    pub kind: RemedyKind,
    /// All edits of the remedy.
    pub edits: Vec<Edit>,
    /// Whether no smaller remedy of this kind exists. Otherwise, only each edit is necessary.
    pub exact: bool,
    /// Outcome with earlier asks before it. `None` if it was not computed.
    pub in_turn: Option<InTurnOutcome>,
}

/// Outcome of an ask if all earlier asks precede it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InTurnOutcome {
    /// The ask starts.
    Starts,
    /// The ask still waits.
    Waits,
    /// The number of steps was not sufficient.
    Unknown,
}

/// Default number of scheduler steps for one such outcome.
pub const IN_TURN_STEPS: usize = 10_000;

/// Condition for an ask that needs no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StartsAfter {
    /// Other asks precede it.
    Others,
    /// The RM must accept a node: it has not answered, or it rejected the nodes with enough free capacity.
    RmAccepts,
}

/// Remedies for an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies {
    /// Condition under which the ask starts without changes when it is next. `None` if it needs changes.
    pub starts_after: Option<StartsAfter>,
    /// Outcome of the unchanged ask with earlier asks before it. `None` if it was not computed.
    pub in_turn: Option<InTurnOutcome>,
    /// Remedies, at most a few of each kind.
    pub found: Vec<Remedy>,
    /// Whether the budget ended before the search was complete.
    pub ran_out: bool,
}

/// Returns the remedies for an explained ask that the given number of trials finds.
///
/// The ask is tried as the next in order: other waiting asks are ignored, except those with a reserved node. If the RM
/// answers questions about nodes, the trials assume that it accepts them, and no remedy is exact.
pub fn remedies(
    books: &Books,
    now: Timestamp,
    explanation: &Explanation,
    wanted: &[RemedyKind],
    trials: u32,
) -> Remedies {
    let trial = Trial::of(books, now, explanation.ask, trials);
    let Some(mut trial) = trial else { return Remedies::default() };
    if trial.starts(&[]) {
        let first = explanation.blocked_by().next().map(|check| check.blocker);
        let waits_for_rm = first.is_some_and(|blocker| {
            blocker.row().kind == Kind::Rm || blocker.row().counted_as == CountedAs::OtherNodes
        });
        let after = if waits_for_rm { StartsAfter::RmAccepts } else { StartsAfter::Others };
        return Remedies { starts_after: Some(after), ..Remedies::default() };
    }
    let resumed = resume::find(&mut trial);
    let enough = resumed.is_some();
    let mut found = Vec::new();
    for one in RemedyKind::ALL.into_iter().filter(|one| wanted.contains(one)) {
        match one {
            RemedyKind::Wait => found.extend(wait::find(&mut trial)),
            RemedyKind::Resume => found.extend(resumed.clone()),
            // If resuming the tenant is sufficient, no other remedy is smaller.
            RemedyKind::Raise | RemedyKind::Release | RemedyKind::Shrink | RemedyKind::Add
                if enough => {}
            RemedyKind::Raise => found.extend(raise::find(&mut trial)),
            RemedyKind::Release => found.extend(release::find(&mut trial)),
            RemedyKind::Shrink => found.extend(shrink::find(&mut trial)),
            RemedyKind::Add => found.extend(add::find(&mut trial)),
            RemedyKind::Move => found.extend(shift::find(&mut trial)),
        }
    }
    if trial.supposes() {
        for remedy in &mut found {
            remedy.exact = false;
        }
    }
    Remedies { found, ran_out: trial.ran_out(), ..Remedies::default() }
}

impl Remedies {
    /// Computes the outcome of the ask, unchanged and with each remedy, if earlier asks precede it. The scheduler
    /// performs at most `steps` steps for each.
    pub fn look_in_turn(&mut self, books: &Books, now: Timestamp, ask: AllocationId, steps: usize) {
        self.in_turn = Some(trial::in_turn(books, now, ask, &[], steps));
        for remedy in &mut self.found {
            remedy.in_turn = Some(trial::in_turn(books, now, ask, &remedy.edits, steps));
        }
    }
}

/// Returns whether the ask starts with these edits when it is next in order.
pub fn starts(books: &Books, now: Timestamp, ask: AllocationId, edits: &[Edit]) -> bool {
    Trial::of(books, now, ask, 1).is_some_and(|mut trial| trial.starts(edits))
}

impl Remedy {
    const fn of(kind: RemedyKind, edits: Vec<Edit>, exact: bool) -> Self {
        Self { kind, edits, exact, in_turn: None }
    }

    /// Returns the lesser variants of the remedy: each has one number moved by one unit, or one edit omitted. The ask
    /// starts with none of them.
    pub fn lessened(&self) -> Vec<Vec<Edit>> {
        let places = 0..self.edits.len();
        let each = places.flat_map(|place| {
            let smaller = self.edits[place].smaller();
            let smaller = if smaller.is_empty() { alloc::vec![None] } else { smaller };
            smaller.into_iter().map(move |one| (place, one))
        });
        let lessened = each.map(|(place, one)| {
            let mut edits = self.edits.clone();
            match one {
                Some(smaller) => edits[place] = smaller,
                None => drop(edits.remove(place)),
            }
            edits
        });
        lessened.collect()
    }
}
