//! Values that go between the API server and the loop of the scheduler.

use std::fmt;

use headroom_pods::convert::event::Event;
use headroom_pods::object::{Allocation, Text};
use headroom_pods::predicate::{ExtendedClaim, Snapshot};
use headroom_pods::shim::{ApiWrite, BindRequest, Notice, PodIdentity};
use serde_json::Value;

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

/// What claims for devices get or lose.
#[derive(Clone, Debug)]
pub enum DeviceWrite {
    /// The step of a bind before the pod is bound. Answered as the step of the request.
    Allocate(BindRequest, Vec<ClaimWrite>),
    /// Takes back what an earlier step gave. Errors are only logged.
    Undo(PodIdentity, Vec<ClaimWrite>),
    /// Takes the devices from a claim that no other pod uses, so that this pod can run on other nodes.
    Free(PodIdentity, ClaimWrite),
}

/// What a claim for devices gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimWrite {
    /// Namespace of the claim.
    pub namespace: Text,
    /// Name of the claim.
    pub name: Text,
    /// Which claim of this name is meant.
    pub which: WhichClaim,
    /// The devices, and the nodes that can use them, unless the claim has devices already.
    pub allocation: Option<Allocation>,
    /// Parameters of the classes for the devices.
    pub class_config: Vec<Value>,
    /// Number of what is assumed for the claim until the write ends.
    pub assumption: u64,
}

/// Which claim of a name is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichClaim {
    /// The claim with this UID.
    Existing(Text),
    /// The claim that the scheduler creates for extended resources, and that the pod owns.
    Extended(ExtendedClaim),
}

/// Something to write to the API server.
#[derive(Debug)]
pub enum ToServer {
    /// A write with an outcome.
    Write(ApiWrite),
    /// Gives devices to claims, or takes them back.
    Devices(DeviceWrite),
    /// An event, best effort.
    Event(Event),
}
