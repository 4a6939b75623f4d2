//! What happens when time has passed.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::Event;
use crate::time::Timestamp;

use super::COMPLETED_FOR;

/// The steps of all applications whose timer has fired, the earliest first.
pub(super) fn fire(books: &Books, now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    for application in books.timers_due(now) {
        match books.application(application).state {
            ApplicationState::Completing => events.push(Event::ApplicationMoved {
                application,
                state: ApplicationState::Completed,
                timer: Some(now + COMPLETED_FOR),
            }),
            // Remembered long enough: nobody asks for it any more.
            ApplicationState::Completed => events.push(Event::ApplicationRemoved { application }),
            // These have no timer.
            ApplicationState::New | ApplicationState::Accepted | ApplicationState::Running => {}
        }
    }
    events
}
