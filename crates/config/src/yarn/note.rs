//! Notes on properties that are not, or not literally, in the queue file.

use std::fmt;

use super::tree::Tree;
use super::xml::{shown, shown_up_to};

/// How much of the name of a property is shown.
const NAME: usize = 300;

/// What became of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is in the queue file, and means something else in part.
    Adjusted,
    /// Headroom has nothing like it.
    NoEquivalent,
    /// It has no effect in YARN either, where it stands.
    NoEffect,
    /// No property of the scheduler has this name.
    Unknown,
}

impl Kind {
    /// The words of it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Adjusted => "changed",
            Self::NoEquivalent => "not converted",
            Self::NoEffect => "without effect",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a property stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line on which it begins, from 1.
    pub line: usize,
}

/// A note on one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What became of it.
    pub kind: Kind,
    /// Where it stands; none where no file says it.
    pub place: Option<Place>,
    /// Its full name.
    pub property: String,
    /// What it says, the beginning of it where that is long; empty where no file says it.
    pub value: String,
    /// Why.
    pub why: String,
    /// What to do; may be empty.
    pub help: String,
    /// The queue that it is for, by its path in YARN; none where it is for all.
    pub queue: Option<String>,
}

impl fmt::Display for Note {
    /// One line: what, why, and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, property, value, why, help, .. } = self;
        write!(f, "{}: {}", kind.words(), shown_up_to(property, NAME))?;
        if !value.is_empty() {
            write!(f, " = {}", shown(value))?;
        }
        write!(f, ": {}", shown_whole(why))?;
        if help.is_empty() { Ok(()) } else { write!(f, "; {}", shown_whole(help)) }
    }
}

/// A sentence of ours, in which a name of theirs may have anything; it ends with no blank.
fn shown_whole(text: &str) -> String {
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    text.trim_end_matches(|one: char| one.is_control() || one.is_whitespace())
        .chars()
        .map(plain)
        .collect()
}

/// In the order of the queue file: the cluster first, then the queues; by name within.
pub(super) fn sort(notes: &mut [Note], tree: &Tree) {
    notes.sort_by_cached_key(|note| {
        let rank = note.queue.as_ref().map(|path| tree.rank(path));
        (rank, note.property.clone(), note.kind, note.why.clone())
    });
}
