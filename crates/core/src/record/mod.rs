//! Records: what happened, for people and programs that watch. The reference calls them
//! events.
//!
//! [`records`] says which records one event leads to, from the books just before it; so a
//! replay of a history gives the same records. [`RecordSequencer`] puts them in the order of the
//! reference where one event alone cannot know it, [`Edges`] adds those about what waits, and
//! [`Ring`] keeps the newest.
//!
//! Kinds, changes, details, objects and numbers are the reference's, the texts are ours.
//! Source: scheduling §17.

mod application;
mod builder;
mod detail;
mod edge;
mod node;
mod queue;
mod ring;
mod sequencer;
mod user;

pub use builder::{records, records_of_refusal};
pub use detail::{Change, Detail, Kind};
pub use edge::Edges;
pub use ring::{Found, Ring};
pub use sequencer::RecordSequencer;

use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// One thing that happened to one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What kind of object.
    pub kind: Kind,
    /// Whether something came, went, or was set.
    pub change: Change,
    /// What of the object.
    pub detail: Detail,
    /// The object: an application id, an allocation key, a node id, a path, a user or a group.
    pub object: Name,
    /// What else took part; none if nothing did.
    pub reference: Option<Name>,
    /// What to say of it; none if the rest says all.
    pub message: Option<Name>,
    /// When.
    pub at: Timestamp,
    /// How much; names no type where nothing is counted.
    pub resources: Amounts,
}

impl Record {
    /// The most bytes that a message has.
    pub const MESSAGE_BYTES_MAX: usize = 1_024;

    fn new(at: Timestamp, kind: Kind, change: Change, detail: Detail, object: &Name) -> Self {
        Self {
            kind,
            change,
            detail,
            object: object.clone(),
            reference: None,
            message: None,
            at,
            resources: Amounts::EMPTY,
        }
    }

    fn with(self, reference: &Name) -> Self {
        Self { reference: Some(reference.clone()), ..self }
    }

    fn of(self, resources: Amounts) -> Self {
        Self { resources, ..self }
    }

    /// Say this, cut to [`Record::MESSAGE_BYTES_MAX`] if it is longer; the last three bytes are
    /// dots then.
    fn saying(self, message: &str) -> Self {
        Self { message: Some(cut(message)), ..self }
    }
}

fn cut(message: &str) -> Name {
    if message.len() <= Record::MESSAGE_BYTES_MAX {
        return Name::new(message);
    }
    let mut end = Record::MESSAGE_BYTES_MAX - 3;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    alloc::format!("{}...", &message[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_between_letters_and_ends_in_dots() {
        assert_eq!(cut(&"x".repeat(1_024)).len(), 1_024);
        let long = cut(&"x".repeat(1_025));
        assert_eq!((long.len(), &long[1_020..]), (1_024, "x..."));
        // Three bytes each: 340 of them, and the dots.
        let wide = cut(&"€".repeat(400));
        assert_eq!((wide.len(), wide.ends_with("€...")), (1_023, true));
    }
}
