//! Why predicates refuse pods and nodes.
//!
//! [`text`] has the words of Kubernetes for it.

mod change;
mod text;

use crate::object::{Taint, Text};

use super::amounts::Resource;
use super::plugin::Plugin;

/// Whether evictions can cure a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Evictions can make the node fit.
    Unschedulable,
    /// Evictions cannot make the node fit.
    UnschedulableAndUnresolvable,
    /// The question has no answer, because the objects are faulty.
    Error,
}

impl Code {
    /// Returns the name of the code in Kubernetes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unschedulable => "Unschedulable",
            Self::UnschedulableAndUnresolvable => "UnschedulableAndUnresolvable",
            Self::Error => "Error",
        }
    }
}

/// Why a plugin refuses a pod or a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The node is cordoned.
    NodeUnschedulable,
    /// The pod names another node.
    NodeName,
    /// The node has a taint that the pod does not tolerate.
    Taint(Taint),
    /// The labels of the node do not match.
    NodeAffinity,
    /// The terms of the pod name no node that all of them allow.
    AffinityConflict,
    /// The node is not among those that the pod names.
    NodeNotEligible,
    /// A port that the pod needs is in use.
    NodePorts,
    /// Resources are short.
    Fit(Vec<Shortage>),
    /// A volume has another user.
    Restriction(RestrictionRefusal),
    /// The node attaches no more volumes.
    Limit(LimitRefusal),
    /// A volume cannot be bound.
    Binding(BindingRefusal),
    /// A volume is in another zone.
    Zone(ZoneRefusal),
    /// The pods would be spread unevenly.
    Spread(SpreadRefusal),
    /// Other pods are missing or in the way.
    InterPod(InterPodRefusal),
    /// Devices are missing.
    Device(DeviceRefusal),
    /// The node does not declare a feature that the pod needs.
    DeclaredFeature(&'static str),
}

/// A resource that a node is short of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// The node takes no more pods.
    Pods {
        /// Number of pods that the node takes.
        limit: i64,
    },
    /// Not enough of a resource is free.
    Resource {
        /// The resource.
        resource: Resource,
        /// Amount that the pod requests.
        requested: i64,
        /// Amount that the pods on the node use.
        used: i64,
        /// Amount that the node offers.
        offered: i64,
    },
}

impl Shortage {
    /// Returns whether the request exceeds the whole node, which evictions cannot cure.
    pub fn is_unresolvable(&self) -> bool {
        match self {
            Self::Pods { .. } => false,
            Self::Resource { requested, offered, .. } => requested > offered,
        }
    }
}

/// A fault of a claim that several plugins find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimFault {
    /// The claim does not exist.
    Missing {
        /// Name of the claim.
        claim: Text,
    },
    /// The claim of an ephemeral volume does not exist yet.
    NotCreated {
        /// Name of the claim.
        claim: Text,
    },
    /// The claim of an ephemeral volume belongs to another pod.
    NotOwned {
        /// Namespace of claim and pod.
        namespace: Text,
        /// Name of the claim.
        claim: Text,
        /// Name of the pod.
        pod: Text,
    },
}

/// Why a volume has another user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestrictionRefusal {
    /// A claim is faulty.
    Claim(ClaimFault),
    /// A pod on the node uses the disk.
    DiskInUse,
    /// A pod uses the claim, which is for a single pod.
    ClaimInUse,
}

/// Why a node attaches no more volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitRefusal {
    /// A claim is faulty.
    Claim {
        /// Namespace of the claim.
        namespace: Text,
        /// The fault.
        fault: ClaimFault,
    },
    /// A disk of the pod has an ID that its driver cannot read.
    DiskId {
        /// Name of the volume.
        volume: Text,
        /// ID of the disk.
        id: Text,
    },
    /// The driver attaches no more volumes to the node.
    Full {
        /// Number of volumes that the node attaches.
        limit: i64,
    },
}

/// Why a volume cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingRefusal {
    /// A claim is faulty.
    Claim(ClaimFault),
    /// The volume of the claim is gone.
    Lost {
        /// Name of the claim.
        claim: Text,
        /// Name of the volume.
        volume: Text,
    },
    /// The claim is being deleted.
    Deleting {
        /// Name of the claim.
        claim: Text,
    },
    /// A class does not tell when its claims are bound.
    NoBindingMode {
        /// Name of the class.
        class: Text,
    },
    /// A claim that Kubernetes binds by itself is not bound yet.
    UnboundImmediate,
    /// The class of a claim does not exist.
    NoClass {
        /// Name of the class.
        class: Text,
    },
    /// The node cannot serve all claims. At least one field is true.
    Node {
        /// The node cannot reach a bound volume.
        unreachable: bool,
        /// No volume fits a claim, and none can be created.
        no_volume: bool,
        /// Not enough storage is left.
        no_storage: bool,
        /// A bound volume does not exist.
        missing_volume: bool,
    },
}

/// Why a volume is in another zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZoneRefusal {
    /// A claim is faulty.
    Claim(ClaimFault),
    /// A claim has neither volume nor class.
    NoVolumeNorClass,
    /// The class of a claim does not exist.
    NoClass {
        /// Name of the class.
        class: Text,
    },
    /// A class does not tell when its claims are bound.
    NoBindingMode {
        /// Name of the class.
        class: Text,
    },
    /// A claim that Kubernetes binds by itself is not bound yet.
    Unbound,
    /// The volume of a claim does not exist.
    NoVolume {
        /// Name of the volume.
        volume: Text,
    },
    /// The node is in another zone than the volume.
    OtherZone,
}

/// Why pods would be spread unevenly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpreadRefusal {
    /// The node is in no domain.
    NoDomain {
        /// Label that divides the cluster into domains.
        key: Text,
    },
    /// The domain of the node would have too many pods.
    Skew {
        /// Label that divides the cluster into domains.
        key: Text,
        /// Difference to the smallest domain with the pod.
        skew: i64,
        /// Greatest difference.
        limit: i64,
    },
}

/// Why other pods are missing or in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterPodRefusal {
    /// The pods that the pod needs are missing.
    Affinity,
    /// Pods that the pod avoids are in the way.
    AntiAffinity,
    /// Pods that avoid the pod are in the way.
    ExistingAntiAffinity,
}

/// Why devices are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceRefusal {
    /// A claim that Kubernetes creates from a template does not exist yet.
    NotCreated {
        /// Namespace of the pod.
        namespace: Text,
        /// Name of the pod.
        pod: Text,
    },
    /// The claim does not exist.
    Missing {
        /// Namespace of the claim.
        namespace: Text,
        /// Name of the claim.
        claim: Text,
    },
    /// The claim was created for another pod.
    NotOwned {
        /// Namespace of claim and pod.
        namespace: Text,
        /// Name of the claim.
        claim: Text,
        /// Name of the pod.
        pod: Text,
    },
    /// The claim is being deleted.
    Deleting {
        /// Name of the claim.
        claim: Text,
    },
    /// Other users have reserved the claim, and no more can.
    InUse {
        /// Name of the claim.
        claim: Text,
    },
    /// The class of a request does not exist.
    NoClass {
        /// Name of the request.
        request: Text,
        /// Name of the class.
        class: Text,
    },
    /// A request has a form that Headroom does not know.
    UnknownRequest {
        /// Name of the request.
        request: Text,
    },
    /// A condition on devices cannot be evaluated.
    Selector {
        /// Text of the condition.
        expression: Text,
        /// What is wrong.
        fault: Text,
    },
    /// An earlier bind left a claim for extended resources, which must be deleted first.
    LeftOver {
        /// Name of the claim.
        claim: Text,
    },
    /// The devices of a claim are on other nodes, or their driver reports a failure.
    OtherNode,
    /// The node has not enough free devices.
    NoDevices,
}

impl Refusal {
    /// Returns the plugin that refuses.
    pub const fn plugin(&self) -> Plugin {
        match self {
            Self::NodeUnschedulable => Plugin::NodeUnschedulable,
            Self::NodeName => Plugin::NodeName,
            Self::Taint(_) => Plugin::TaintToleration,
            Self::NodeAffinity | Self::AffinityConflict | Self::NodeNotEligible => {
                Plugin::NodeAffinity
            }
            Self::NodePorts => Plugin::NodePorts,
            Self::Fit(_) => Plugin::NodeResourcesFit,
            Self::Restriction(_) => Plugin::VolumeRestrictions,
            Self::Limit(_) => Plugin::NodeVolumeLimits,
            Self::Binding(_) => Plugin::VolumeBinding,
            Self::Zone(_) => Plugin::VolumeZone,
            Self::Spread(_) => Plugin::PodTopologySpread,
            Self::InterPod(_) => Plugin::InterPodAffinity,
            Self::Device(_) => Plugin::DynamicResources,
            Self::DeclaredFeature(_) => Plugin::NodeDeclaredFeatures,
        }
    }

    /// Returns whether evictions can cure the refusal.
    pub fn code(&self) -> Code {
        match self {
            Self::NodePorts
            | Self::Restriction(RestrictionRefusal::DiskInUse | RestrictionRefusal::ClaimInUse)
            | Self::Limit(LimitRefusal::Full { .. })
            | Self::Spread(SpreadRefusal::Skew { .. })
            | Self::Device(DeviceRefusal::InUse { .. })
            | Self::InterPod(
                InterPodRefusal::AntiAffinity | InterPodRefusal::ExistingAntiAffinity,
            ) => Code::Unschedulable,
            Self::Fit(shortages) => {
                if shortages.iter().any(Shortage::is_unresolvable) {
                    Code::UnschedulableAndUnresolvable
                } else {
                    Code::Unschedulable
                }
            }
            Self::Limit(
                LimitRefusal::Claim { fault: ClaimFault::NotOwned { .. }, .. }
                | LimitRefusal::DiskId { .. },
            )
            | Self::Binding(
                BindingRefusal::NoBindingMode { .. } | BindingRefusal::NoClass { .. },
            )
            | Self::Device(DeviceRefusal::Selector { .. } | DeviceRefusal::UnknownRequest { .. }) => {
                Code::Error
            }
            Self::NodeUnschedulable
            | Self::NodeName
            | Self::Taint(_)
            | Self::NodeAffinity
            | Self::AffinityConflict
            | Self::NodeNotEligible
            | Self::Restriction(RestrictionRefusal::Claim(_))
            | Self::Limit(LimitRefusal::Claim { .. })
            | Self::Binding(_)
            | Self::Zone(_)
            | Self::Spread(SpreadRefusal::NoDomain { .. })
            | Self::InterPod(InterPodRefusal::Affinity)
            | Self::Device(_)
            | Self::DeclaredFeature(_) => Code::UnschedulableAndUnresolvable,
        }
    }
}
