//! Records: changes for people and programs that watch. YuniKorn calls them events.
//!
//! [`records`] returns the records of one event, from the books just before it, so a replay of a history gives the same
//! records. [`RecordSequencer`] restores the order of YuniKorn where a single event does not determine it, [`Edges`]
//! adds records of waits, and [`Ring`] stores the newest records.
//!
//! Kinds, changes, details, objects, and numbers are those of YuniKorn. The texts are not. Source: scheduling §17.

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

/// One change of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Kind of the object.
    pub kind: Kind,
    /// Whether something was added, removed, or set.
    pub change: Change,
    /// Detail of the change.
    pub detail: Detail,
    /// The object: an application ID, an allocation key, a node ID, a path, a user, or a group.
    pub object: Name,
    /// Other object that takes part. `None` if there is none.
    pub reference: Option<Name>,
    /// Message. `None` if the other fields are sufficient.
    pub message: Option<Name>,
    /// Time of the change.
    pub at: Timestamp,
    /// Amounts. Empty if nothing is counted.
    pub resources: Amounts,
}

impl Record {
    /// Largest length of a message in bytes.
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

    /// Sets the message, truncated to [`Record::MESSAGE_BYTES_MAX`]. A truncated message ends with three dots.
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
        // 340 characters of three bytes each, and the dots.
        let wide = cut(&"€".repeat(400));
        assert_eq!((wide.len(), wide.ends_with("€...")), (1_023, true));
    }
}
