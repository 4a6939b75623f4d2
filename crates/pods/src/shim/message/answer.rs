//! What the core says.

use crate::object::Text;

/// Message of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreAnswer {
    /// The core accepted a node.
    NodeAccepted {
        /// Name of the node.
        name: Text,
    },
    /// The core rejected a node.
    NodeRejected {
        /// Name of the node.
        name: Text,
        /// Reason of the core.
        reason: String,
    },
    /// The core accepted an application.
    ApplicationAccepted {
        /// Application ID.
        id: Text,
    },
    /// The core rejected an application.
    ApplicationRejected {
        /// Application ID.
        id: Text,
        /// Reason of the core.
        reason: String,
    },
    /// The state of an application changed.
    ApplicationUpdated {
        /// Application ID.
        id: Text,
        /// New state in the core.
        state: CoreState,
        /// Message of the core.
        message: String,
    },
    /// An ask has a node, or the core took over an existing allocation.
    Allocated {
        /// UID of the pod.
        key: Text,
        /// Name of the node.
        node: Text,
    },
    /// An ask has a node that cannot take the pod, as the caller found by the predicates. Not a message of the core:
    /// the caller replaces [`CoreAnswer::Allocated`] by it.
    Unsuited {
        /// UID of the pod.
        key: Text,
    },
    /// The core rejected an ask.
    AskRejected {
        /// UID of the pod.
        key: Text,
        /// Reason of the core.
        reason: String,
    },
    /// The core released an allocation, or confirms a release.
    Released {
        /// UID of the pod.
        key: Text,
        /// Why the allocation ends.
        termination: Termination,
    },
    /// An ask waits.
    Waits {
        /// UID of the pod.
        key: Text,
        /// What the ask waits for.
        reason: WaitReason,
        /// Sentence for people.
        message: String,
    },
    /// The core refused the queue file or the settings of a changed config map. The former ones stay in effect.
    ConfigurationRefused {
        /// Reason of the core.
        reason: String,
    },
}

/// State of an application in the core, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreState {
    /// The gang runs without placeholders.
    Resuming,
    /// The application is about to fail.
    Failing,
    /// The application failed.
    Failed,
    /// The application ended, and the core forgot it.
    Completed,
}

/// What an ask waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// A quota or a limit. More nodes do not help.
    Quota,
    /// The ask fits all quotas, but no node. More nodes can help.
    NoNode,
}

impl WaitReason {
    /// Returns the reason in the condition of the pod. The cluster autoscaler reads only `Unschedulable`.
    pub fn condition(self) -> &'static str {
        match self {
            Self::Quota => "SchedulingSkipped",
            Self::NoNode => "Unschedulable",
        }
    }
}

/// Why an allocation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// The pod ended or is gone.
    StoppedByRm,
    /// A placeholder was not used in time.
    Timeout,
    /// The core preempted the pod.
    Preempted,
    /// A gang member takes over the placeholder.
    PlaceholderReplaced,
    /// The bind failed. The core makes the allocation an ask again.
    SchedulingFailed,
}

impl Termination {
    /// Returns the spelling in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::StoppedByRm => "STOPPED_BY_RM",
            Self::Timeout => "TIMEOUT",
            Self::Preempted => "PREEMPTED_BY_SCHEDULER",
            Self::PlaceholderReplaced => "PLACEHOLDER_REPLACED",
            Self::SchedulingFailed => "SCHEDULING_FAILED_ON_RM",
        }
    }
}
