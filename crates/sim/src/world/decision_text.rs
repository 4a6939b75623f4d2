//! Texts of decisions for `decisions.csv`.

use headroom_core::books::Books;
use headroom_core::event_text::{kind_of, named, subjects, text_of};
use headroom_core::{Event, Timestamp};

use crate::outcome::Decision;

/// Returns an event as text. `books` is the state before the event.
pub(super) fn describe(books: &Books, sequence: u64, at: Timestamp, event: &Event) -> Decision {
    let names = named(books, None, event);
    Decision {
        sequence,
        time_ms: at.as_millis(),
        kind: kind_of(event),
        subject: subjects(&names).next().map(ToString::to_string).unwrap_or_default(),
        detail: text_of(event, &names),
    }
}
