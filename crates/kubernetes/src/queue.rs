//! Values that go between the API server and the loop of the scheduler.

use std::fmt;

use headroom_pods::convert::event::Event;
use headroom_pods::predicate::Snapshot;
use headroom_pods::shim::{ApiWrite, Notice};

/// Something that the watches or the writes report.
#[derive(Debug)]
pub enum Observed {
    /// For the state machine.
    Notice(Notice),
    /// For the predicates.
    Change(ClusterChange),
}

/// A change of what the predicates read, except nodes and pods.
pub struct ClusterChange(pub Box<dyn FnOnce(&mut Snapshot) + Send>);

impl ClusterChange {
    /// Returns a change as it is observed.
    pub fn observed(change: impl FnOnce(&mut Snapshot) + Send + 'static) -> Observed {
        Observed::Change(Self(Box::new(change)))
    }
}

impl fmt::Debug for ClusterChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterChange")
    }
}

/// Something to write to the API server.
#[derive(Debug)]
pub enum ToServer {
    /// A write with an outcome.
    Write(ApiWrite),
    /// An event, best effort.
    Event(Event),
}
