//! What moved a story: its commands and the steps of the scheduler, as a journal would have them.

use alloc::vec::Vec;

use crate::command::Command;
use crate::event::Event;
use crate::time::Timestamp;

use super::story::Story;

/// A command, or a step of the scheduler, and what it led to.
#[derive(Clone, Debug)]
pub struct Move {
    /// When.
    pub at: Timestamp,
    /// None where the scheduler moved by itself.
    pub command: Option<Command>,
    /// What happened, in order.
    pub events: Vec<Event>,
}

impl Move {
    pub(super) const fn of(at: Timestamp, command: Option<Command>, events: Vec<Event>) -> Self {
        Self { at, command, events }
    }
}

/// Play a story like [`tell`](super::tell), which begins at this time; what moved it, in order. Commands that were refused
/// are not among it.
///
/// # Panics
/// When a line is not understood, or an invariant broken.
pub fn tell_moves(script: &str, begin: Timestamp) -> Vec<Move> {
    let mut story = Story::default();
    story.world.now = begin;
    story.play(script);
    story.moves
}
