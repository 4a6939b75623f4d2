//! What follows: messages to the core, writes to the API server, events, and changes of the snapshot.

use std::sync::Arc;

use crate::convert::application::ApplicationSubmission;
use crate::convert::ask::{Ask, ForeignAllocation};
use crate::convert::event::Event;
use crate::convert::gang::Placeholder;
use crate::convert::node::NodeSubmission;
use crate::convert::settings::Entries;
use crate::object::{Node, Pod, Text};

use super::answer::{Termination, WaitReason};
use super::notice::{Moment, PodIdentity};
#[cfg(doc)]
use super::notice::{Notice, Outcome};

/// What the caller must do, in order.
#[derive(Clone, Debug)]
pub enum Action {
    /// Send a message to the core.
    Tell(CoreMessage),
    /// Write to the API server. The caller reports the outcome.
    Write(ApiWrite),
    /// Write an event, best effort.
    Event(Event),
    /// Change the snapshot that predicates read.
    Snapshot(SnapshotChange),
    /// Write a line to the log.
    Log(String),
    /// Send [`Notice::Tick`] at this moment. Replaces an earlier request.
    WakeAt(Moment),
}

/// Message to the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreMessage {
    /// New configuration.
    Configuration {
        /// Queue file, or nothing for the default of the core.
        queue_file: Option<Text>,
        /// Other entries.
        extra: Entries,
    },
    /// New application.
    Application(Box<ApplicationSubmission>),
    /// An application without tasks.
    RemoveApplication {
        /// Application ID.
        id: Text,
    },
    /// New or changed ask, or an existing allocation.
    Ask(Box<Ask>),
    /// New or changed allocation of a foreign pod.
    Foreign(Box<ForeignAllocation>),
    /// End of an ask or allocation.
    Release {
        /// Application ID, or nothing for a foreign pod.
        application: Option<Text>,
        /// UID of the pod.
        key: Text,
        /// Why the allocation ends.
        termination: Termination,
    },
    /// New, changed, or deleted node.
    Node(NodeSubmission),
}

/// Write to the API server. Each happens outside the scheduling loop, and can be slow or fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiWrite {
    /// One step of a bind. Answered by [`Outcome::Bind`].
    Bind(BindRequest),
    /// Drops assumed volumes after a rollback.
    UndoVolumes {
        /// The pod.
        pod: PodIdentity,
    },
    /// Takes back the devices of a pod after a rollback.
    UndoDevices {
        /// The pod.
        pod: PodIdentity,
    },
    /// Creates a placeholder. Answered by [`Outcome::PlaceholderCreated`] or [`Outcome::PlaceholderRefused`].
    CreatePlaceholder {
        /// Application ID.
        application: Text,
        /// The pod.
        placeholder: Box<Placeholder>,
    },
    /// Deletes a pod with its own grace period. A missing pod is a success.
    DeletePod {
        /// The pod.
        pod: PodIdentity,
        /// Why the pod is deleted.
        purpose: DeletePurpose,
    },
    /// Writes the condition `PodScheduled` with status `False`. Errors are only logged.
    Condition {
        /// The pod.
        pod: PodIdentity,
        /// Reason of the condition.
        reason: WaitReason,
        /// Message of the condition.
        message: String,
    },
    /// Sets the phase `Failed`. Errors are only logged.
    FailPod {
        /// The pod.
        pod: PodIdentity,
        /// Reason of the status.
        reason: &'static str,
        /// Message of the status.
        message: String,
    },
    /// Reads a namespace. Answered by [`Notice::NamespaceRead`].
    ReadNamespace {
        /// Name of the namespace.
        name: Text,
    },
}

/// Why a pod is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletePurpose {
    /// The core released the allocation, and asks again if the deletion fails.
    Released,
    /// The placeholder is of no use. A failed deletion is repeated.
    Cleanup,
}

/// One step of a bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindRequest {
    /// The pod.
    pub pod: PodIdentity,
    /// Node that takes the pod.
    pub node: Text,
    /// What to do.
    pub step: BindStep,
    /// Names the request in its outcome.
    pub ticket: u64,
}

/// Steps of a bind, in order. A pod without claims has only the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindStep {
    /// Selects volumes for the claims, in memory.
    AssumeVolumes,
    /// Binds the claims, and waits for them.
    BindVolumes,
    /// Gives devices to the claims for devices, reserves the claims for the pod, and waits for the devices. A pod that
    /// needs no devices on the node passes at once.
    AllocateDevices,
    /// Binds the pod.
    BindPod,
}

/// Change of the snapshot that predicates read.
#[derive(Clone, Debug)]
pub enum SnapshotChange {
    /// A node is new or changed.
    SetNode(Arc<Node>),
    /// A node is gone.
    RemoveNode {
        /// Name of the node.
        name: Text,
    },
    /// A pod is on a node, or changed there.
    Place {
        /// The pod.
        pod: Arc<Pod>,
        /// Name of the node.
        node: Text,
    },
    /// A pod left its node.
    Remove {
        /// UID of the pod.
        uid: Text,
        /// Name of the node.
        node: Text,
    },
}
