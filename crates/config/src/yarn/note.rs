//! Notes on properties that are missing or changed in the queue file.

use std::fmt;

use super::tree::Tree;
use super::xml::{shown, shown_up_to};

/// Maximum number of characters of the name of a property that are shown.
const NAME: usize = 300;

/// Result for a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The property is in the queue file, with a partly different meaning.
    Adjusted,
    /// Headroom has no equivalent.
    NoEquivalent,
    /// The property has no effect in YARN either, at its place.
    NoEffect,
    /// No property of the scheduler has this name.
    Unknown,
}

impl Kind {
    /// Returns the words of the result.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Adjusted => "changed",
            Self::NoEquivalent => "not converted",
            Self::NoEffect => "without effect",
            Self::Unknown => "unknown",
        }
    }
}

/// Place of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// Number of its first line, from 1.
    pub line: usize,
}

/// A note on one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Result for the property.
    pub kind: Kind,
    /// Place of the property. `None` if no file contains the property.
    pub place: Option<Place>,
    /// Full name of the property.
    pub property: String,
    /// Value of the property, shortened if necessary. Empty if no file contains the property.
    pub value: String,
    /// Reason of the result.
    pub why: String,
    /// Alternative. Can be empty.
    pub help: String,
    /// Path of the queue in YARN. `None` for the whole cluster.
    pub queue: Option<String>,
}

impl fmt::Display for Note {
    /// Writes one line: the result, the reason, and the alternative.
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

/// Returns a sentence with external names on one line, without trailing white space.
fn shown_whole(text: &str) -> String {
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    text.trim_end_matches(|one: char| one.is_control() || one.is_whitespace())
        .chars()
        .map(plain)
        .collect()
}

/// Sorts notes in the order of the queue file: first the notes on the cluster, and then the notes on the queues, by
/// name.
pub(super) fn sort(notes: &mut [Note], tree: &Tree) {
    notes.sort_by_cached_key(|note| {
        let rank = note.queue.as_ref().map(|path| tree.rank(path));
        (rank, note.property.clone(), note.kind, note.why.clone())
    });
}
