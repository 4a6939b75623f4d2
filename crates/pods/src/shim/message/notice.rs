//! What happened outside.

use std::sync::Arc;

use crate::convert::amounts::Amounts;
use crate::object::{ConfigMap, Namespace, Node, Pod, PriorityClass, Text};

use super::action::DeletePurpose;
#[cfg(doc)]
use super::action::{Action, ApiWrite};

/// A point in time, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i64);

impl Moment {
    /// Returns the moment this many seconds later.
    #[must_use]
    pub fn after_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}

/// One of the two config maps with settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsMap {
    /// Settings of the chart.
    Defaults,
    /// Settings of the user.
    Configs,
}

/// Something that happened outside.
#[derive(Clone, Debug)]
pub enum Notice {
    /// All nodes and pods at the start. Precedes every other notice about them.
    Listed {
        /// Existing nodes.
        nodes: Vec<Arc<Node>>,
        /// Existing pods.
        pods: Vec<Arc<Pod>>,
    },
    /// A config map was created, changed, or deleted.
    ConfigMap {
        /// Which one.
        which: SettingsMap,
        /// Its content, or nothing after the deletion.
        map: Option<Box<ConfigMap>>,
    },
    /// A namespace was created or changed.
    Namespace(Box<Namespace>),
    /// A namespace was deleted.
    NamespaceGone {
        /// Name of the namespace.
        name: Text,
    },
    /// Response to [`ApiWrite::ReadNamespace`].
    NamespaceRead {
        /// Name of the namespace.
        name: Text,
        /// The namespace, or nothing if it does not exist.
        namespace: Option<Box<Namespace>>,
    },
    /// A priority class was created or changed.
    PriorityClass(Box<PriorityClass>),
    /// A priority class was deleted.
    PriorityClassGone {
        /// Name of the class.
        name: Text,
    },
    /// A volume claim was created or changed.
    Claim {
        /// Namespace and name of the claim.
        claim: ClaimName,
        /// Whether the deletion of the claim was requested.
        deleting: bool,
    },
    /// A volume claim was deleted.
    ClaimGone {
        /// Namespace and name of the claim.
        claim: ClaimName,
    },
    /// A node was created or changed.
    Node(Arc<Node>),
    /// A node has these numbers of devices, by the extended resources that classes back with them.
    NodeDevices {
        /// Name of the node.
        name: Text,
        /// The numbers. They count for resources that the node does not offer itself.
        amounts: Amounts,
    },
    /// A node was deleted.
    NodeGone {
        /// Name of the node.
        name: Text,
    },
    /// A pod was created or changed.
    Pod(Arc<Pod>),
    /// A pod was deleted.
    PodGone(Arc<Pod>),
    /// Result of a write.
    Written(Outcome),
    /// Time has passed, as [`Action::WakeAt`] requested.
    Tick,
}

/// Namespace and name of a volume claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimName {
    /// Namespace of the claim.
    pub namespace: Text,
    /// Name of the claim.
    pub name: Text,
}

/// Result of a write to the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A step of a bind ended.
    Bind {
        /// UID of the pod.
        uid: Text,
        /// Ticket of the request.
        ticket: u64,
        /// Result of the step.
        result: Result<BindDone, BindError>,
    },
    /// A placeholder was created.
    PlaceholderCreated {
        /// Application ID.
        application: Text,
        /// The new pod.
        pod: PodIdentity,
    },
    /// A placeholder was not created.
    PlaceholderRefused {
        /// Application ID.
        application: Text,
        /// Name of the pod.
        name: Text,
        /// Error of the API server.
        error: String,
    },
    /// A pod was not deleted, for another reason than that it is gone.
    DeleteFailed {
        /// The pod.
        pod: PodIdentity,
        /// As in the request.
        purpose: DeletePurpose,
        /// Error of the API server.
        error: String,
    },
}

/// Success of a step of a bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindDone {
    /// The volumes are assumed, and some of them are not bound yet.
    VolumesAssumed,
    /// All volumes are bound.
    VolumesBound,
    /// All claims for devices have their devices, and are reserved for the pod.
    DevicesAllocated,
    /// The pod is bound to the requested node, by this request or before.
    PodBound,
}

/// Failure of a step of a bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The pod is gone, or another pod has its name.
    Gone,
    /// Another scheduler bound the pod to this node.
    BoundElsewhere {
        /// Name of the node.
        node: Text,
    },
    /// The step cannot succeed.
    Final(String),
    /// The step can succeed later.
    Retry(String),
}

/// Names one pod, so that a later pod of the same name is not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodIdentity {
    /// Namespace of the pod.
    pub namespace: Text,
    /// Name of the pod.
    pub name: Text,
    /// UID of the pod.
    pub uid: Text,
}

impl From<&Pod> for PodIdentity {
    fn from(pod: &Pod) -> Self {
        Self {
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
        }
    }
}
