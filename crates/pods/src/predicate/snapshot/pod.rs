//! Facts about a pod that predicates compute once.

use std::sync::Arc;

use crate::object::{ContainerRestartPolicy, Pod, PodAffinityTerm, Protocol, Text, VolumeSource};
use crate::predicate::amounts::{Amounts, requested};

/// A pod and what predicates derive from it.
#[derive(Clone, Debug)]
pub struct PodFacts {
    pod: Arc<Pod>,
    requested: Amounts,
    ports: Box<[HostPort]>,
    uses_claims: bool,
}

impl PodFacts {
    /// Derives the facts of a pod.
    pub fn new(pod: Arc<Pod>) -> Self {
        let requested = requested(&pod);
        let ports = host_ports(&pod);
        let is_claim = |source: &VolumeSource| matches!(source, VolumeSource::Claim(_));
        let uses_claims = pod.spec.volumes.iter().any(|volume| is_claim(&volume.source));
        Self { pod, requested, ports, uses_claims }
    }

    /// Returns the pod.
    pub fn pod(&self) -> &Pod {
        &self.pod
    }

    /// Returns what the pod takes on a node, by Kubernetes' own rule.
    pub fn requested(&self) -> &Amounts {
        &self.requested
    }

    /// Returns the ports of the node that the pod uses.
    pub fn ports(&self) -> &[HostPort] {
        &self.ports
    }

    /// Returns the names of the claims that the pod uses, without those of ephemeral volumes.
    pub fn claim_names(&self) -> impl Iterator<Item = &Text> {
        let volumes = if self.uses_claims { &*self.pod.spec.volumes } else { &[] };
        volumes.iter().filter_map(|volume| match &volume.source {
            VolumeSource::Claim(claim) => Some(&claim.claim_name),
            VolumeSource::Ephemeral
            | VolumeSource::GcePersistentDisk(_)
            | VolumeSource::AwsElasticBlockStore(_)
            | VolumeSource::Rbd(_)
            | VolumeSource::Iscsi(_)
            | VolumeSource::AzureDisk(_)
            | VolumeSource::AzureFile(_)
            | VolumeSource::Cinder(_)
            | VolumeSource::Vsphere(_)
            | VolumeSource::Portworx(_)
            | VolumeSource::Csi(_) => None,
        })
    }

    /// Returns the terms of required affinity to other pods.
    pub fn affinity_terms(&self) -> &[PodAffinityTerm] {
        let affinity = self.pod.spec.affinity.as_ref();
        affinity.and_then(|affinity| affinity.pod_affinity.as_ref()).map_or(&[], |it| &it.required)
    }

    /// Returns the terms of required anti-affinity to other pods.
    pub fn anti_affinity_terms(&self) -> &[PodAffinityTerm] {
        let affinity = self.pod.spec.affinity.as_ref();
        let anti = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
        anti.map_or(&[], |it| &it.required)
    }
}

/// A port of a node that a pod uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// Number of the port.
    pub number: i32,
    /// Protocol of the port.
    pub protocol: Protocol,
    /// Address of the node, or nothing for all addresses.
    pub address: Option<Text>,
}

impl HostPort {
    /// Address that stands for all addresses, of IPv6 too.
    const ALL: &str = "0.0.0.0";

    /// Returns whether two pods of one node cannot use both ports.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let overlap = match (&self.address, &other.address) {
            (Some(one), Some(two)) => one == two,
            (None, _) | (_, None) => true,
        };
        overlap && self.number == other.number && self.protocol == other.protocol
    }
}

fn host_ports(pod: &Pod) -> Box<[HostPort]> {
    // Ordinary init containers have ended when the ports of the containers are opened.
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|container| container.restart_policy == ContainerRestartPolicy::Always);
    let containers = pod.spec.containers.iter().chain(sidecars);
    containers
        .flat_map(|container| &container.ports)
        .filter(|port| port.host_port > 0)
        .map(|port| HostPort {
            number: port.host_port,
            protocol: port.protocol,
            address: Some(&port.host_ip)
                .filter(|ip| !ip.is_empty() && **ip != HostPort::ALL)
                .cloned(),
        })
        .collect()
}
