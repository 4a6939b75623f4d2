//! Amounts of resources in the units of the core, and the sum that a pod asks for.

use std::borrow::Cow;

use crate::object::{Container, ContainerRestartPolicy, ContainerStatus, Pod, ResourceList};
use crate::quantity::Quantity;

/// Name of a resource. Frequent names allocate nothing.
pub type ResourceName = Cow<'static, str>;

/// CPU in thousandths of a core.
pub const VCORE: &str = "vcore";
/// Number of pods.
pub const PODS: &str = "pods";

/// CPU as Kubernetes spells it.
const CPU: &str = "cpu";
const MEMORY: &str = "memory";
const HUGE_PAGES: &str = "hugepages-";

/// Resources that most pods and nodes name.
const FREQUENT: [&str; 5] = [VCORE, MEMORY, PODS, "ephemeral-storage", "nvidia.com/gpu"];

/// Amounts by resource, sorted by name: thousandths for `vcore`, bytes, or numbers.
///
/// A present zero differs from an absent resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(Vec<(ResourceName, i64)>);

/// How two amounts of one resource become one.
type Join = fn(i64, i64) -> i64;

impl Amounts {
    /// Returns the amount of a resource.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.position(name).ok().map(|position| self.0[position].1)
    }

    /// Sets the amount of a resource.
    pub fn set(&mut self, name: &str, amount: i64) {
        self.join(name, amount, |_, new| new);
    }

    /// Adds an amount. Saturates.
    pub fn add(&mut self, name: &str, amount: i64) {
        self.join(name, amount, i64::saturating_add);
    }

    /// Returns the resources and amounts, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, amount)| (name.as_ref(), *amount))
    }

    /// Returns whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_ref().cmp(name))
    }

    fn join(&mut self, name: &str, amount: i64, join: Join) {
        match self.position(name) {
            Ok(position) => {
                let held = &mut self.0[position].1;
                *held = join(*held, amount);
            }
            Err(position) => self.0.insert(position, (resource_name(name), amount)),
        }
    }

    fn join_all(&mut self, other: &Self, join: Join) {
        for (name, amount) in other.iter() {
            self.join(name, amount, join);
        }
    }
}

impl<'a> FromIterator<(&'a str, Quantity)> for Amounts {
    /// Converts quantities by their Kubernetes names. Of two names for one resource, the later one wins.
    fn from_iter<I: IntoIterator<Item = (&'a str, Quantity)>>(quantities: I) -> Self {
        let mut amounts = Self::default();
        for (name, quantity) in quantities {
            let (name, amount) = convert(name, quantity);
            amounts.set(name, amount);
        }
        amounts
    }
}

impl From<&ResourceList> for Amounts {
    fn from(list: &ResourceList) -> Self {
        list.iter().map(|(name, quantity)| (name.as_str(), *quantity)).collect()
    }
}

fn resource_name(name: &str) -> ResourceName {
    match FREQUENT.iter().find(|frequent| **frequent == name) {
        Some(frequent) => Cow::Borrowed(frequent),
        None => Cow::Owned(name.to_owned()),
    }
}

/// Returns the name and the amount of the core for a quantity.
pub fn convert(name: &str, quantity: Quantity) -> (&str, i64) {
    match core_name(name) {
        VCORE if name == CPU => (VCORE, quantity.milli()),
        name => (name, quantity.value()),
    }
}

/// Returns the name of the core for a resource of Kubernetes.
pub fn core_name(name: &str) -> &str {
    if name == CPU { VCORE } else { name }
}

/// Returns what a pod asks for, which also decides quotas.
///
/// Limits do not count. Init containers count by their peak, and sidecars add to the containers.
pub fn pod_amounts(pod: &Pod) -> Amounts {
    let mut total = Amounts::default();
    total.set(PODS, 1);
    for container in &pod.spec.containers {
        total.join_all(&effective(pod, container), i64::saturating_add);
    }
    let (sidecars, peak) = init_amounts(pod);
    total.join_all(&sidecars, i64::saturating_add);
    total.join_all(&peak, i64::max);
    if let Some(resources) = &pod.spec.resources {
        for (name, quantity) in resources.requests.iter() {
            if matches!(name.as_str(), CPU | MEMORY) || name.starts_with(HUGE_PAGES) {
                let (name, amount) = convert(name, *quantity);
                total.set(name, amount);
            }
        }
    }
    total.join_all(&Amounts::from(&pod.spec.overhead), i64::saturating_add);
    total
}

/// Returns the sum of the sidecars, and the peak while the init containers run.
fn init_amounts(pod: &Pod) -> (Amounts, Amounts) {
    let (mut sidecars, mut peak) = (Amounts::default(), Amounts::default());
    for container in &pod.spec.init_containers {
        let mut now = effective(pod, container);
        let own = (container.restart_policy == ContainerRestartPolicy::Always).then(|| now.clone());
        now.join_all(&sidecars, i64::saturating_add);
        if let Some(own) = own {
            sidecars.join_all(&own, i64::saturating_add);
        }
        peak.join_all(&now, i64::max);
    }
    (sidecars, peak)
}

/// Returns the greatest of the requested, granted, and actual amounts of a container.
///
/// If the node refused a resize for good, only the actual amounts count.
fn effective(pod: &Pod, container: &Container) -> Amounts {
    let status = status_of(pod, container);
    let actual = status.and_then(|status| status.resources.as_ref());
    if let Some(actual) = actual
        && pod.status.is_resize_infeasible()
    {
        return Amounts::from(&actual.requests);
    }
    let requests = container.resources.as_ref().map(|resources| Amounts::from(&resources.requests));
    let mut amounts = requests.unwrap_or_default();
    if let Some(status) = status {
        amounts.join_all(&Amounts::from(&status.allocated_resources), i64::max);
    }
    if let Some(actual) = actual {
        amounts.join_all(&Amounts::from(&actual.requests), i64::max);
    }
    amounts
}

fn status_of<'a>(pod: &'a Pod, container: &Container) -> Option<&'a ContainerStatus> {
    let statuses = pod.status.init_container_statuses.iter();
    let mut statuses = pod.status.container_statuses.iter().chain(statuses);
    statuses.find(|status| status.name == container.name)
}
