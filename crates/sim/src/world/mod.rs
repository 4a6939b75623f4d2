//! The simulated environment of the real core: virtual time, and the RM.
//!
//! Time advances from event to event. At each point in time, the core receives all events in a fixed order: nodes join,
//! tasks finish, nodes are lost, jobs are submitted, and timers fire. Then the scheduler decides until it is idle.

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

/// Reason why a run was aborted.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The parts of the setup do not match.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The core refused a command of the simulator, which is a bug of the simulator.
    #[error("at {at_ms} ms, the scheduler rejected a command of the simulator: {rejection}")]
    Refused {
        /// Virtual time, ms.
        at_ms: u64,
        /// Reason of the refusal.
        rejection: Rejection,
    },
    /// The books are inconsistent, which is a bug of the core.
    #[error("at {at_ms} ms, after {after}, the scheduler state is inconsistent: {violation}")]
    Unbalanced {
        /// Virtual time, ms.
        at_ms: u64,
        /// The last event.
        after: String,
        /// The figure that is wrong.
        violation: Violation,
    },
    /// Something is lost or counted twice, which is a bug of the core.
    #[error("at {at_ms} ms: {what}")]
    Unaccounted {
        /// Virtual time, ms.
        at_ms: u64,
        /// The difference, with both sides.
        what: String,
    },
    /// A decision could not be written.
    #[error("cannot write a decision")]
    Write(#[source] io::Error),
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time, ms.
    pub now_ms: u64,
    /// Number of ended jobs.
    pub done: u64,
    /// Number of running tasks.
    pub running: u64,
    /// Number of waiting tasks.
    pub waiting: u64,
}

/// An observer of a run.
pub trait Watcher {
    /// Reports the progress after each point in time.
    fn progress(&mut self, _progress: Progress) {}

    /// Returns whether to call [`Watcher::decision`]. Creating the texts takes time.
    fn wants_decisions(&self) -> bool {
        false
    }

    /// Reports a decision.
    ///
    /// # Errors
    /// If the decision could not be stored. The run is then aborted.
    fn decision(&mut self, _decision: &Decision) -> io::Result<()> {
        Ok(())
    }
}

/// An observer that ignores everything.
impl Watcher for () {}

/// Simulates a workload to its end.
///
/// # Errors
/// A [`RunError`]: the parts of the setup do not match, a decision could not be written, or the core broke one of its
/// rules.
pub fn run(setup: &Setup, watcher: &mut dyn Watcher) -> Result<Outcome, RunError> {
    play::Play::new(setup, watcher)?.run()
}
