//! Changes that would let a node take a refused pod, one sentence for each refusal.

use crate::object::{Effect, Pod, Taint, Text};
use crate::predicate::amounts::Resource;
use crate::predicate::snapshot::NodeFacts;

use super::{
    BindingRefusal, ClaimFault, DeviceRefusal, InterPodRefusal, LimitRefusal, Refusal,
    RestrictionRefusal, Shortage, SpreadRefusal, ZoneRefusal,
};

impl Refusal {
    /// Returns what would let the node take the pod, as a sentence without an end. `None` if nothing on this node
    /// would.
    pub fn change(&self, pod: &Pod, node: &NodeFacts) -> Option<String> {
        let name = node.name();
        Some(match self {
            Self::NodeUnschedulable => format!("uncordon {name}"),
            Self::NodeName | Self::NodeNotEligible => return None,
            Self::Taint(taint) => {
                let taint = taint_text(taint);
                format!(
                    "add a toleration for the taint {taint} to the pod, or remove it from {name}"
                )
            }
            Self::NodeAffinity => labels(pod, node),
            Self::AffinityConflict => {
                "correct the node affinity of the pod: its terms have no node in common".to_owned()
            }
            Self::NodePorts => {
                format!("use another host port, or wait until the port is free on {name}")
            }
            Self::Fit(shortages) => fit(shortages, name),
            Self::Restriction(refusal) => restriction(refusal),
            Self::Limit(refusal) => limit(refusal, name),
            Self::Binding(refusal) => binding(refusal, name),
            Self::Zone(refusal) => zone(refusal),
            Self::Spread(refusal) => spread(refusal, name),
            Self::InterPod(refusal) => interpod(*refusal).to_owned(),
            Self::Device(refusal) => device(refusal),
            Self::DeclaredFeature(feature) => {
                format!("upgrade {name} to a kubelet that declares the feature {feature}")
            }
        })
    }
}

fn taint_text(taint: &Taint) -> String {
    let Taint { key, value, effect } = taint;
    let effect = match effect {
        Effect::NoSchedule => "NoSchedule",
        Effect::PreferNoSchedule => "PreferNoSchedule",
        Effect::NoExecute => "NoExecute",
        Effect::Unknown => "",
    };
    if value.is_empty() { format!("{key}:{effect}") } else { format!("{key}={value}:{effect}") }
}

/// The labels of the node selector that the node lacks. Other terms of an affinity can hold in several ways.
fn labels(pod: &Pod, node: &NodeFacts) -> String {
    let name = node.name();
    let selector = &pod.spec.node_selector;
    let is_missing = |(key, value): &(&Text, &Text)| node.labels().get(key) != Some(*value);
    let missing: Vec<String> =
        selector.iter().filter(is_missing).map(|(key, value)| format!("{key}={value}")).collect();
    if missing.is_empty() {
        format!("change the required node affinity of the pod, or the labels of {name}")
    } else {
        format!("add the label {} to {name}, or change the node selector", missing.join(","))
    }
}

fn fit(shortages: &[Shortage], node: &Text) -> String {
    let changes: Vec<String> = shortages
        .iter()
        .map(|shortage| match shortage {
            Shortage::Pods { limit } => {
                format!("wait until one of the {limit} pods on {node} ends")
            }
            Shortage::Resource { resource, requested, offered, .. } if requested > offered => {
                format!(
                    "request at most {} {}, the size of {node}",
                    resource.text(*offered),
                    resource.name()
                )
            }
            Shortage::Resource { resource, requested, used, offered } => {
                let missing = requested.saturating_sub(offered.saturating_sub(*used));
                format!(
                    "request {} less {}, or wait until so much is free on {node}",
                    resource.text(missing),
                    resource.name()
                )
            }
        })
        .collect();
    changes.join(", and ")
}

fn claim(fault: &ClaimFault) -> String {
    match fault {
        ClaimFault::Missing { claim } => format!("create the claim {claim}"),
        ClaimFault::NotCreated { claim } => {
            format!("wait until Kubernetes creates the claim {claim}")
        }
        ClaimFault::NotOwned { claim, .. } => {
            format!("delete the claim {claim}, which belongs to another pod")
        }
    }
}

fn restriction(refusal: &RestrictionRefusal) -> String {
    match refusal {
        RestrictionRefusal::Claim(fault) => claim(fault),
        RestrictionRefusal::DiskInUse | RestrictionRefusal::ClaimInUse => {
            "wait until the other pod with the volume ends".to_owned()
        }
    }
}

fn limit(refusal: &LimitRefusal, node: &Text) -> String {
    match refusal {
        LimitRefusal::Claim { fault, .. } => claim(fault),
        LimitRefusal::DiskId { volume, .. } => format!("correct the disk ID of volume {volume}"),
        LimitRefusal::Full { limit } => {
            format!("wait until one of the {limit} volumes is detached from {node}")
        }
    }
}

fn binding(refusal: &BindingRefusal, node: &Text) -> String {
    match refusal {
        BindingRefusal::Claim(fault) => claim(fault),
        BindingRefusal::Lost { claim, .. } => {
            format!("create the claim {claim} again, because its volume is gone")
        }
        BindingRefusal::Deleting { claim } => {
            format!("create the claim {claim} again after it is deleted")
        }
        BindingRefusal::NoBindingMode { class } => {
            format!("set `volumeBindingMode` of the storage class {class}")
        }
        BindingRefusal::UnboundImmediate => {
            "wait until Kubernetes binds the claims of the pod".to_owned()
        }
        BindingRefusal::NoClass { class } => format!("create the storage class {class}"),
        BindingRefusal::Node { no_storage: true, .. } => {
            format!("add storage that {node} can reach, or request less storage")
        }
        BindingRefusal::Node { .. } => {
            format!("create a volume that {node} can reach and that fits the claim")
        }
    }
}

fn zone(refusal: &ZoneRefusal) -> String {
    match refusal {
        ZoneRefusal::Claim(fault) => claim(fault),
        ZoneRefusal::NoVolumeNorClass => "give the claim a volume or a storage class".to_owned(),
        ZoneRefusal::NoClass { class } => format!("create the storage class {class}"),
        ZoneRefusal::NoBindingMode { class } => {
            format!("set `volumeBindingMode` of the storage class {class}")
        }
        ZoneRefusal::Unbound => "wait until Kubernetes binds the claims of the pod".to_owned(),
        ZoneRefusal::NoVolume { volume } => format!("create the volume {volume} again"),
        ZoneRefusal::OtherZone => "add nodes in the zone of the volume".to_owned(),
    }
}

fn spread(refusal: &SpreadRefusal, node: &Text) -> String {
    match refusal {
        SpreadRefusal::NoDomain { key } => format!("add the label {key} to {node}"),
        SpreadRefusal::Skew { key, skew, .. } => {
            format!("raise `maxSkew` of the constraint on {key} to {skew}")
        }
    }
}

const fn interpod(refusal: InterPodRefusal) -> &'static str {
    match refusal {
        InterPodRefusal::Affinity => "start a pod that the affinity selects in the same domain",
        InterPodRefusal::AntiAffinity => "wait until the pods end that the pod avoids",
        InterPodRefusal::ExistingAntiAffinity => "wait until the pods end that avoid the pod",
    }
}

fn device(refusal: &DeviceRefusal) -> String {
    match refusal {
        DeviceRefusal::NotCreated { .. } => {
            "wait until Kubernetes creates the device claims of the pod".to_owned()
        }
        DeviceRefusal::Missing { claim, .. } => format!("create the device claim {claim}"),
        DeviceRefusal::NotOwned { claim, .. } => {
            format!("delete the device claim {claim}, which belongs to another pod")
        }
        DeviceRefusal::Deleting { claim } => {
            format!("create the device claim {claim} again after it is deleted")
        }
        DeviceRefusal::InUse { claim } => {
            format!("wait until another user of the device claim {claim} ends")
        }
        DeviceRefusal::NoClass { class, .. } => format!("create the device class {class}"),
        DeviceRefusal::UnknownRequest { request } => {
            format!("correct the device request {request}")
        }
        DeviceRefusal::Selector { fault, .. } => {
            format!("correct the condition on devices: {fault}")
        }
        DeviceRefusal::LeftOver { claim } => {
            format!("wait until Headroom deletes the claim {claim} of an earlier bind")
        }
        DeviceRefusal::OtherNode => {
            "wait until the pod fits on the node with its devices".to_owned()
        }
        DeviceRefusal::NoDevices => "request fewer devices, or wait until some are free".to_owned(),
    }
}

impl Resource {
    /// Returns an amount as people write it: `500m`, `2Gi`.
    fn text(&self, amount: i64) -> String {
        match self {
            Self::Cpu if amount % 1_000 == 0 => (amount / 1_000).to_string(),
            Self::Cpu => format!("{amount}m"),
            Self::Memory | Self::EphemeralStorage => bytes(amount),
            Self::Other(_) => amount.to_string(),
        }
    }
}

fn bytes(amount: i64) -> String {
    const SUFFIXES: [(i64, &str); 4] =
        [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let exact = SUFFIXES.iter().find(|(unit, _)| amount != 0 && amount % unit == 0);
    exact.map_or_else(|| amount.to_string(), |(unit, suffix)| format!("{}{suffix}", amount / unit))
}
