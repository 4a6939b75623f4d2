//! What a pod takes on a node, by Kubernetes' own rule.
//!
//! This sum decides whether a pod fits. The sum that decides quotas treats a resize and init containers differently.

use std::collections::BTreeMap;

use crate::object::{
    Container, ContainerRestartPolicy, ContainerStatus, List, Pod, ResourceList, Text,
};
use crate::quantity::Quantity;

use super::snapshot::BY_CLASS;

const CPU: &str = "cpu";
const MEMORY: &str = "memory";
const EPHEMERAL_STORAGE: &str = "ephemeral-storage";
const PODS: &str = "pods";
const HUGE_PAGES: &str = "hugepages-";
const ATTACHABLE_VOLUMES: &str = "attachable-volumes-";
const NATIVE_DOMAIN: &str = "kubernetes.io/";

/// A resource that nodes offer and pods request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Processor time, in thousandths of a core.
    Cpu,
    /// Memory, in bytes.
    Memory,
    /// Storage that ends with the pod, in bytes.
    EphemeralStorage,
    /// Any other resource that Kubernetes counts, in its own unit.
    Other(Text),
}

impl Resource {
    /// Returns the resource of this name, or nothing if Kubernetes does not count it.
    fn from_name(name: &Text) -> Option<Self> {
        match name.as_str() {
            CPU => Some(Self::Cpu),
            MEMORY => Some(Self::Memory),
            EPHEMERAL_STORAGE => Some(Self::EphemeralStorage),
            other => is_counted(other).then(|| Self::Other(name.clone())),
        }
    }

    /// Returns the name of the resource in Kubernetes.
    pub fn name(&self) -> &str {
        match self {
            Self::Cpu => CPU,
            Self::Memory => MEMORY,
            Self::EphemeralStorage => EPHEMERAL_STORAGE,
            Self::Other(name) => name,
        }
    }

    fn amount(&self, quantity: Quantity) -> i64 {
        match self {
            Self::Cpu => quantity.milli(),
            Self::Memory | Self::EphemeralStorage | Self::Other(_) => quantity.value(),
        }
    }
}

/// Returns whether Kubernetes counts a resource besides processor, memory, and storage.
fn is_counted(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
        || name.starts_with(ATTACHABLE_VOLUMES)
        || name.contains(NATIVE_DOMAIN)
        || is_extended(name)
}

/// Returns whether a resource is extended, which means that a vendor defines it.
fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !name.contains(NATIVE_DOMAIN)
        && !name.starts_with("requests.")
        && super::label::is_label_key(name)
}

/// Returns whether a class of devices can back a resource.
pub fn can_be_devices(name: &str) -> bool {
    is_extended(name) || name.starts_with(BY_CLASS)
}

/// Amounts of resources, sorted by resource. Sums saturate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(Vec<(Resource, i64)>);

impl Amounts {
    /// Returns the amount of a resource, which is zero if it is absent.
    pub fn get(&self, resource: &Resource) -> i64 {
        self.position(resource).map_or(0, |position| self.0[position].1)
    }

    /// Returns the resources and their amounts.
    pub fn iter(&self) -> impl Iterator<Item = (&Resource, i64)> {
        self.0.iter().map(|(resource, amount)| (resource, *amount))
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.combine(other, i64::saturating_add);
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        self.combine(other, i64::saturating_sub);
    }

    fn combine(&mut self, other: &Self, combined: fn(i64, i64) -> i64) {
        for (resource, amount) in &other.0 {
            match self.position(resource) {
                Ok(position) => {
                    let sum = &mut self.0[position].1;
                    *sum = combined(*sum, *amount);
                }
                Err(position) => self.0.insert(position, (resource.clone(), combined(0, *amount))),
            }
        }
    }

    fn position(&self, resource: &Resource) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.cmp(resource))
    }

    fn from_quantities<'a>(quantities: impl Iterator<Item = (&'a Text, Quantity)>) -> Self {
        let mut amounts: Vec<_> = quantities
            .filter_map(|(name, quantity)| {
                let resource = Resource::from_name(name)?;
                let amount = resource.amount(quantity);
                Some((resource, amount))
            })
            .collect();
        amounts.sort();
        amounts.shrink_to_fit();
        Self(amounts)
    }
}

/// Returns what a node offers, and the number of pods that it takes.
pub(super) fn offered(allocatable: &ResourceList) -> (Amounts, i64) {
    let quantities = allocatable.iter().map(|(name, quantity)| (name, *quantity));
    let pods = allocatable.get(PODS).map_or(0, |quantity| quantity.value());
    (Amounts::from_quantities(quantities), pods)
}

type Sum<'a> = BTreeMap<&'a Text, Quantity>;

fn add<'a>(sum: &mut Sum<'a>, name: &'a Text, quantity: Quantity) {
    let entry = sum.entry(name).or_default();
    *entry = entry.saturating_add(quantity);
}

fn raise<'a>(sum: &mut Sum<'a>, name: &'a Text, quantity: Quantity) {
    sum.entry(name).and_modify(|entry| *entry = quantity.max(*entry)).or_insert(quantity);
}

/// Returns what the pod takes on a node.
pub(super) fn requested(pod: &Pod) -> Amounts {
    let spec = &pod.spec;
    let mut total = Sum::new();
    for container in &spec.containers {
        for (name, quantity) in effective(pod, container, &pod.status.container_statuses) {
            add(&mut total, name, quantity);
        }
    }
    let (mut sidecars, mut peak) = (Sum::new(), Sum::new());
    for container in &spec.init_containers {
        if container.restart_policy == ContainerRestartPolicy::Always {
            for (name, quantity) in effective(pod, container, &pod.status.init_container_statuses) {
                add(&mut total, name, quantity);
                add(&mut sidecars, name, quantity);
            }
            for (name, quantity) in &sidecars {
                raise(&mut peak, name, *quantity);
            }
        } else {
            let mut running = sidecars.clone();
            for (name, quantity) in container.requests() {
                add(&mut running, name, *quantity);
            }
            for (name, quantity) in running {
                raise(&mut peak, name, quantity);
            }
        }
    }
    for (name, quantity) in peak {
        raise(&mut total, name, quantity);
    }
    if let Some(resources) = &spec.resources {
        for (name, quantity) in resources.requests.iter().filter(|(name, _)| is_pod_level(name)) {
            total.insert(name, *quantity);
        }
    }
    for (name, quantity) in spec.overhead.iter() {
        add(&mut total, name, *quantity);
    }
    Amounts::from_quantities(total.into_iter())
}

/// Returns whether a pod can request the resource for all its containers together.
fn is_pod_level(name: &str) -> bool {
    name == CPU || name == MEMORY || name.starts_with(HUGE_PAGES)
}

/// Returns the requests of a container, or what a resize makes of them.
///
/// The status counts only if it has the amounts that the container runs with.
fn effective<'a>(
    pod: &'a Pod,
    container: &'a Container,
    statuses: &'a List<ContainerStatus>,
) -> Sum<'a> {
    let mut sum = Sum::new();
    let status = statuses.iter().find(|status| status.name == container.name);
    let running = status.and_then(|status| Some((status, status.resources.as_ref()?)));
    if running.is_none() || !pod.status.is_resize_infeasible() {
        for (name, quantity) in container.requests() {
            add(&mut sum, name, *quantity);
        }
    }
    if let Some((status, resources)) = running {
        for (name, quantity) in resources.requests.iter().chain(status.allocated_resources.iter()) {
            raise(&mut sum, name, *quantity);
        }
    }
    sum
}
