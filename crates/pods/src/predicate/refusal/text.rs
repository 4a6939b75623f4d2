//! The texts of Kubernetes for refusals. Clients match some of their words.

use std::fmt;

use super::{
    BindingRefusal, ClaimFault, DeviceRefusal, InterPodRefusal, LimitRefusal, Refusal,
    RestrictionRefusal, Shortage, SpreadRefusal, ZoneRefusal,
};

impl Refusal {
    /// Returns the reasons as Kubernetes words them.
    pub fn reasons(&self) -> Vec<String> {
        let one = |reason: &str| vec![reason.to_owned()];
        match self {
            Self::NodeUnschedulable => one("node(s) were unschedulable"),
            Self::NodeName => one("node(s) didn't match the requested node name"),
            Self::Taint(_) => one("node(s) had untolerated taint(s)"),
            Self::NodeAffinity => one("node(s) didn't match Pod's node affinity/selector"),
            Self::AffinityConflict => one("pod affinity terms conflict"),
            Self::NodeNotEligible => one("node not eligible"),
            Self::NodePorts => one("node(s) didn't have free ports for the requested pod ports"),
            Self::Fit(shortages) => shortages.iter().map(ToString::to_string).collect(),
            Self::Restriction(refusal) => vec![refusal.to_string()],
            Self::Limit(refusal) => vec![refusal.to_string()],
            Self::Binding(refusal) => refusal.reasons(),
            Self::Zone(refusal) => vec![refusal.to_string()],
            Self::Spread(refusal) => vec![refusal.to_string()],
            Self::InterPod(refusal) => vec![refusal.to_string()],
            Self::Device(refusal) => vec![refusal.to_string()],
            Self::DeclaredFeature(_) => one("node(s) didn't match Pod's required features"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed plugin: '{}'\n{}", self.plugin(), self.reasons().join(", "))
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pods { .. } => f.write_str("Too many pods"),
            Self::Resource { resource, .. } => write!(f, "Insufficient {}", resource.name()),
        }
    }
}

impl fmt::Display for ClaimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { claim } => write!(f, "persistentvolumeclaim \"{claim}\" not found"),
            Self::NotCreated { claim } => write!(
                f,
                "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{claim}\""
            ),
            Self::NotOwned { namespace, claim, pod } => write!(
                f,
                "PVC {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)"
            ),
        }
    }
}

impl fmt::Display for RestrictionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(fault) => fault.fmt(f),
            Self::DiskInUse => f.write_str("node(s) had no available disk"),
            Self::ClaimInUse => f.write_str(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
            ),
        }
    }
}

impl fmt::Display for LimitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim { namespace, fault } => match fault {
                ClaimFault::Missing { claim } | ClaimFault::NotCreated { claim } => {
                    let missing = ClaimFault::Missing { claim: claim.clone() };
                    write!(f, "looking up PVC {namespace}/{claim}: {missing}")
                }
                ClaimFault::NotOwned { .. } => fault.fmt(f),
            },
            Self::DiskId { volume, id } => write!(
                f,
                "converting volume({volume}) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({id})"
            ),
            Self::Full { .. } => f.write_str("node(s) exceed max volume count"),
        }
    }
}

impl BindingRefusal {
    fn reasons(&self) -> Vec<String> {
        match self {
            Self::Claim(fault) => vec![fault.to_string()],
            Self::Lost { claim, volume } => vec![format!(
                "persistentvolumeclaim \"{claim}\" bound to non-existent persistentvolume \"{volume}\""
            )],
            Self::Deleting { claim } => {
                vec![format!("persistentvolumeclaim \"{claim}\" is being deleted")]
            }
            Self::NoBindingMode { class } => vec![no_binding_mode(class)],
            Self::UnboundImmediate => {
                vec!["pod has unbound immediate PersistentVolumeClaims".to_owned()]
            }
            Self::NoClass { class } => vec![no_class(class)],
            Self::Node { unreachable, no_volume, no_storage, missing_volume } => [
                (unreachable, "node(s) didn't match PersistentVolume's node affinity"),
                (no_volume, "node(s) didn't find available persistent volumes to bind"),
                (no_storage, "node(s) did not have enough free storage"),
                (
                    missing_volume,
                    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
                ),
            ]
            .into_iter()
            .filter(|(holds, _)| **holds)
            .map(|(_, reason)| reason.to_owned())
            .collect(),
        }
    }
}

fn no_binding_mode(class: &str) -> String {
    format!("VolumeBindingMode not set for StorageClass \"{class}\"")
}

fn no_class(class: &str) -> String {
    format!("storageclass.storage.k8s.io \"{class}\" not found")
}

impl fmt::Display for ZoneRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(fault) => fault.fmt(f),
            Self::NoVolumeNorClass => {
                f.write_str("PersistentVolumeClaim had no pv name and storageClass name")
            }
            Self::NoClass { class } => f.write_str(&no_class(class)),
            Self::NoBindingMode { class } => f.write_str(&no_binding_mode(class)),
            Self::Unbound => f.write_str("PersistentVolume had no name"),
            Self::NoVolume { volume } => write!(f, "persistentvolume \"{volume}\" not found"),
            Self::OtherZone => f.write_str("node(s) had no available volume zone"),
        }
    }
}

impl fmt::Display for SpreadRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("node(s) didn't match pod topology spread constraints")?;
        match self {
            Self::NoDomain { .. } => f.write_str(" (missing required label)"),
            Self::Skew { .. } => Ok(()),
        }
    }
}

impl fmt::Display for InterPodRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Affinity => "node(s) didn't match pod affinity rules",
            Self::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
            Self::ExistingAntiAffinity => {
                "node(s) didn't satisfy existing pods anti-affinity rules"
            }
        })
    }
}

impl fmt::Display for DeviceRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCreated { namespace, pod } => {
                write!(f, "pod \"{namespace}/{pod}\": ResourceClaim not created yet")
            }
            Self::Missing { namespace, claim } => {
                write!(f, "could not find ResourceClaim \"{namespace}/{claim}\"")
            }
            Self::NotOwned { namespace, claim, pod } => write!(
                f,
                "ResourceClaim {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)"
            ),
            Self::Deleting { claim } => write!(f, "resourceclaim \"{claim}\" is being deleted"),
            Self::InUse { claim } => write!(f, "resourceclaim \"{claim}\" is in use"),
            Self::NoClass { request, class } => {
                write!(f, "request {request}: device class {class} does not exist")
            }
            Self::UnknownRequest { request } => {
                write!(f, "request {request}: unknown form of the request")
            }
            Self::Selector { expression, fault } => {
                write!(f, "selector {:?}: {fault}", expression.as_str())
            }
            Self::LeftOver { .. } => f.write_str("cannot schedule extended resource claim"),
            Self::OtherNode => f.write_str("resourceclaim not available on the node"),
            Self::NoDevices => f.write_str("cannot allocate all claims"),
        }
    }
}
