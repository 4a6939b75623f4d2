//! Events on Kubernetes objects. [`EventKind`] is the table of their reasons, actions, and types.

use crate::object::{Node, Pod, Text};

/// An event that is to be written, best effort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Object that the event is about.
    pub about: EventObject,
    /// What happened.
    pub kind: EventKind,
    /// Sentence for people.
    pub note: String,
}

/// Object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EventObject {
    /// A pod.
    Pod {
        /// Namespace of the pod.
        namespace: Text,
        /// Name of the pod.
        name: Text,
        /// UID of the pod.
        uid: Text,
    },
    /// A node.
    Node {
        /// Name of the node.
        name: Text,
        /// UID of the node.
        uid: Text,
    },
    /// A namespace.
    Namespace {
        /// Name of the namespace.
        name: Text,
    },
    /// A config map of the scheduler's namespace.
    ConfigMap {
        /// Name of the config map.
        name: Text,
    },
}

impl From<&Pod> for EventObject {
    fn from(pod: &Pod) -> Self {
        Self::Pod {
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
        }
    }
}

impl From<&Node> for EventObject {
    fn from(node: &Node) -> Self {
        Self::Node { name: node.metadata.name.clone(), uid: node.metadata.uid.clone() }
    }
}

/// Type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing is wrong.
    Normal,
    /// Somebody should look.
    Warning,
}

impl Severity {
    /// Returns the spelling in the event.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// How often an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Each event is written on its object.
    Each,
    /// Events of one application are written as one series on the originator, because a bound pod costs at most two
    /// event writes.
    Series,
}

/// Defines the kinds of events with reason, action, type, and frequency. The documentation is also the meaning.
macro_rules! kinds {
    ($($(#[doc = $meaning:literal])* $kind:ident = $reason:literal, $action:literal, $severity:ident, $frequency:ident;)*) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind {
            $($(#[doc = $meaning])* $kind,)*
        }

        impl EventKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the reason in one word.
            pub fn reason(self) -> &'static str {
                match self { $(Self::$kind => $reason,)* }
            }

            /// Returns the action in one word.
            pub fn action(self) -> &'static str {
                match self { $(Self::$kind => $action,)* }
            }

            /// Returns the type.
            pub fn severity(self) -> Severity {
                match self { $(Self::$kind => Severity::$severity,)* }
            }

            /// Returns what happened, as a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$kind => concat!($($meaning),*).trim_ascii(),)* }
            }

            /// Returns how often the event is written.
            pub fn frequency(self) -> Frequency {
                match self { $(Self::$kind => Frequency::$frequency,)* }
            }
        }
    };
}

kinds! {
    /// The ask was sent.
    Queued = "Scheduling", "Scheduling", Normal, Each;
    /// The pod has scheduling gates.
    Gated = "Scheduling", "Scheduling", Normal, Each;
    /// The metadata of the pod has different values for one property.
    Conflict = "Scheduling", "Scheduling", Warning, Each;
    /// A pod with a task group was submitted.
    TaskGroupMatch = "GangScheduling", "TaskGroupMatch", Normal, Series;
    /// The task groups are ignored.
    TaskGroupsError = "GangScheduling", "TaskGroupsError", Warning, Each;
    /// Placeholders are created.
    CreatingPlaceholders = "GangScheduling", "CreatingPlaceholders", Normal, Each;
    /// A placeholder has a node.
    PlaceholderAllocated = "GangScheduling", "PlaceholderAllocated", Normal, Series;
    /// All placeholders have nodes.
    ReservationComplete = "GangScheduling", "GangReservationComplete", Normal, Each;
    /// A placeholder was not created.
    PlaceholderCreateFailed = "GangScheduling", "PlaceholderCreateFailed", Warning, Each;
    /// The time for placeholders was over before any was created.
    PlaceholderTimeout = "GangScheduling", "PlaceholderTimeout", Warning, Each;
    /// The core took back a placeholder after the timeout.
    PlaceholderTimedOut = "GangScheduling", "PlaceholderTimeOut", Warning, Series;
    /// The gang runs without placeholders.
    GangSchedulingFailed = "GangScheduling", "GangSchedulingFailed", Warning, Each;
    /// A claim of the pod is missing or being deleted.
    FailedScheduling = "FailedScheduling", "FailedScheduling", Warning, Each;
    /// The pod waits. The message is that of its condition.
    Unschedulable = "PodUnschedulable", "PodUnschedulable", Normal, Each;
    /// The pod has a node.
    Scheduled = "Scheduled", "Scheduled", Normal, Each;
    /// The API server took the binding.
    Bound = "PodBindSuccessful", "PodBindSuccessful", Normal, Series;
    /// A placeholder was not assumed on its node.
    AssumeError = "AssumePodError", "AssumePodError", Warning, Each;
    /// A pod was not assumed on its node, and waits again.
    AssumeFailed = "AssumePodFailed", "AssumePodFailed", Warning, Each;
    /// The volumes of a pod were not bound, and the pod waits again.
    VolumesFailed = "PodVolumesBindFailure", "PodVolumesBindFailure", Warning, Each;
    /// The claims of a pod did not get their devices, and the pod waits again.
    DevicesFailed = "PodDevicesBindFailure", "PodDevicesBindFailure", Warning, Each;
    /// Binding the pod, its volumes, or its devices failed repeatedly, and is tried again.
    BindDelayed = "PodBindDelayed", "PodBindDelayed", Warning, Each;
    /// A pod was not bound, and waits again.
    BindFailed = "PodBindFailure", "PodBindFailure", Warning, Each;
    /// The core rejected the ask.
    TaskRejected = "TaskRejected", "TaskRejected", Warning, Each;
    /// The task ended without success.
    TaskFailed = "TaskFailed", "TaskFailed", Normal, Series;
    /// The task ended.
    TaskCompleted = "TaskCompleted", "TaskCompleted", Normal, Series;
    /// The application failed.
    ApplicationFailed = "ApplicationFailed", "ApplicationFailed", Warning, Each;
    /// The core accepted the node.
    NodeAccepted = "NodeAccepted", "NodeAccepted", Normal, Each;
    /// The core rejected the node.
    NodeRejected = "NodeRejected", "NodeRejected", Warning, Each;
    /// The node was deleted.
    NodeDeleted = "NodeDeleted", "NodeDeleted", Normal, Each;
    /// An annotation of a namespace is ignored.
    NamespaceIgnored = "NamespaceConfiguration", "AnnotationIgnored", Warning, Each;
    /// A changed config map has no effect, and its former content stays in effect.
    ConfigurationRefused = "Configuration", "ChangeRefused", Warning, Each;
    /// An entry of a config map is ignored.
    ConfigurationIgnored = "Configuration", "EntryIgnored", Warning, Each;
}
