//! Commands and scheduler steps of a story, in the form in which a journal has them.

use alloc::vec::Vec;

use crate::command::Command;
use crate::event::Event;
use crate::time::Timestamp;

use super::story::Story;

/// A command or a step of the scheduler, and its events.
#[derive(Clone, Debug)]
pub struct Move {
    /// Time of the command or step.
    pub at: Timestamp,
    /// Command. `None` for a step of the scheduler.
    pub command: Option<Command>,
    /// Events, in order.
    pub events: Vec<Event>,
}

impl Move {
    pub(super) const fn of(at: Timestamp, command: Option<Command>, events: Vec<Event>) -> Self {
        Self { at, command, events }
    }
}

/// Plays a story like [`tell`](super::tell), which begins at this time. Returns its commands and steps in order,
/// without the rejected commands.
///
/// # Panics
/// Panics if a line is not valid, or if an invariant is broken.
pub fn tell_moves(script: &str, begin: Timestamp) -> Vec<Move> {
    let mut story = Story::default();
    story.world.now = begin;
    story.play(script);
    story.moves
}
