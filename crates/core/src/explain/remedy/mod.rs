//! What would start an ask: the smallest changes, each found by arithmetic from the checks that it fails,
//! and tried out by the scheduler itself on a copy of the books.
//!
//! A change is a list of edits. It is reported only if the ask starts with it, and if each edit is
//! needed. The ask does not start with any number one unit nearer to what it is now, or with any
//! edit left out. Decision page 33.

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

/// How many trials are made for one ask unless somebody says otherwise.
pub const TRIALS: u32 = 400;

/// What kind of change a remedy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemedyKind {
    /// Something ends by itself.
    Wait,
    /// A tenant that is suspended is resumed.
    Resume,
    /// Limits are raised.
    Raise,
    /// Others give something back.
    Release,
    /// It asks for less.
    Shrink,
    /// There are more nodes, or larger ones.
    Add,
    /// It is submitted to another leaf.
    Move,
}

impl RemedyKind {
    /// All kinds, the cheapest for the cluster first.
    pub const ALL: [Self; 7] =
        [Self::Wait, Self::Resume, Self::Raise, Self::Shrink, Self::Move, Self::Release, Self::Add];

    /// A short word that does not change.
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

/// Edits that start an ask, when it is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Of which kind.
    pub kind: RemedyKind,
    /// What is changed, all of it.
    pub edits: Vec<Edit>,
    /// Whether nothing smaller of its kind does; if not, only that each edit is needed.
    pub exact: bool,
    /// What becomes of it when those before it go first, where that was looked at.
    pub in_turn: Option<InTurnOutcome>,
}

/// What becomes of an ask when those before it go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InTurnOutcome {
    /// It starts.
    Starts,
    /// It goes on waiting.
    Waits,
    /// The steps were not enough to see.
    Unknown,
}

/// How many steps the scheduler takes for one look at what becomes of an ask in its turn, unless somebody says
/// otherwise.
pub const IN_TURN_STEPS: usize = 10_000;

/// What goes before an ask that starts as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StartsAfter {
    /// Others that are looked at first.
    Others,
    /// The RM accepts a node for it: it has not answered yet, or refused those with room.
    RmAccepts,
}

/// What would start an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies {
    /// Whether, and after what, it starts as it is when it is next: then nothing need be changed.
    pub starts_after: Option<StartsAfter>,
    /// What becomes of it as it is when those before it go first, where that was looked at.
    pub in_turn: Option<InTurnOutcome>,
    /// Changes, at most a few of each kind.
    pub found: Vec<Remedy>,
    /// Whether there was no time to look for more.
    pub ran_out: bool,
}

/// What would start an ask that waits as this explains, as far as so many trials find it.
///
/// It is tried as if it were next: other waiting asks are not looked at, unless a node is reserved
/// for them. Where the RM answers questions about nodes, it is taken to accept them, and nothing is
/// exact.
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
            // Where its tenant is to be resumed, and no more, nothing else is smaller.
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
    /// Look what becomes of the ask as it is, and with each of these, when those before it go first: the scheduler
    /// goes on with all that waits, for so many steps each.
    pub fn look_in_turn(&mut self, books: &Books, now: Timestamp, ask: AllocationId, steps: usize) {
        self.in_turn = Some(trial::in_turn(books, now, ask, &[], steps));
        for remedy in &mut self.found {
            remedy.in_turn = Some(trial::in_turn(books, now, ask, &remedy.edits, steps));
        }
    }
}

/// Try a remedy out: whether the ask starts with these edits, when it is next.
pub fn starts(books: &Books, now: Timestamp, ask: AllocationId, edits: &[Edit]) -> bool {
    Trial::of(books, now, ask, 1).is_some_and(|mut trial| trial.starts(edits))
}

impl Remedy {
    const fn of(kind: RemedyKind, edits: Vec<Edit>, exact: bool) -> Self {
        Self { kind, edits, exact, in_turn: None }
    }

    /// The same changes, each smaller by one unit where it has a number, or left out where it has none; one
    /// of these at a time. With none of them the ask starts.
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
