//! The world in which a workload is played: virtual time, the RM, and the real core.
//!
//! Time jumps from event to event. At each point in time everything that happens then is
//! sent to the core in a fixed order (nodes join, work ends, nodes leave, jobs are
//! submitted, timers fire), and then the scheduler decides until it is idle.

mod audit;
mod calendar;
mod close;
mod decision_text;
mod digest;
mod fault_injector;
mod fit;
mod play;
mod record;
mod rm;
mod scan;
mod setup;
mod submit;
mod wait_attribution;

pub use digest::Digest;
pub use setup::{Checks, Setup, SetupError, Shape, queues_of_groups};

use std::io;

use headroom_core::{Rejection, Violation};

use crate::outcome::{Decision, Outcome};

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The parts do not fit together.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The core refused what the world asked for: a mistake of the world.
    #[error("at {at_ms} ms, the scheduler rejected a command of the simulator: {rejection}")]
    Refused {
        /// Virtual time, ms.
        at_ms: u64,
        /// Why.
        rejection: Rejection,
    },
    /// The books do not balance: a mistake of the core.
    #[error("at {at_ms} ms, after {after}, the scheduler state is inconsistent: {violation}")]
    Unbalanced {
        /// Virtual time, ms.
        at_ms: u64,
        /// The last event.
        after: String,
        /// The figure that is wrong.
        violation: Violation,
    },
    /// Something is lost, or counted twice: a mistake of the core.
    #[error("at {at_ms} ms: {what}")]
    Unaccounted {
        /// Virtual time, ms.
        at_ms: u64,
        /// What, with both sides.
        what: String,
    },
    /// A decision could not be written.
    #[error("cannot write a decision")]
    Write(#[source] io::Error),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time, ms.
    pub now_ms: u64,
    /// Jobs that have ended.
    pub done: u64,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that wait.
    pub waiting: u64,
}

/// Who follows a run as it goes.
pub trait Watcher {
    /// Called after each point in time.
    fn progress(&mut self, _progress: Progress) {}

    /// Whether [`Watcher::decision`] is to be called; making its texts costs time.
    fn wants_decisions(&self) -> bool {
        false
    }

    /// Called for each decision.
    ///
    /// # Errors
    /// When it could not be stored; the run ends.
    fn decision(&mut self, _decision: &Decision) -> io::Result<()> {
        Ok(())
    }
}

/// Nobody follows.
impl Watcher for () {}

/// Play a workload to its end.
///
/// # Errors
/// [`RunError`]: the parts do not fit together, a decision could not be written, or the core
/// broke one of its own rules.
pub fn run(setup: &Setup, watcher: &mut dyn Watcher) -> Result<Outcome, RunError> {
    play::Play::new(setup, watcher)?.run()
}
