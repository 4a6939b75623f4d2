//! `DynamicResources`: the devices that the claims of a pod ask for are on the node and free.
//!
//! Extended resources that a class of devices backs are served like claims, on nodes that do not offer them otherwise.
//! Not read: the amounts of devices that several claims share. Such a device counts as used with its first claim.

mod cel;
mod pool;
mod request;
mod search;

use crate::object::{Claim, Consumer, NodeSelector, PodResourceClaim, Text};

use super::amounts::Resource;
use super::label::selects_node;
use super::{Context, DeviceRefusal, NodeFacts, Predicate, Preparation, Refusal};

use pool::Pools;
use request::Wanted;

/// Most objects that can use the devices of a claim.
const MAX_CONSUMERS: usize = 256;

/// A device that the pod gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceChoice<'a> {
    /// For what the device is.
    pub target: DeviceTarget<'a>,
    /// Name of the request, with the alternative after a slash if it has some.
    pub request: String,
    /// Name of the driver.
    pub driver: &'a Text,
    /// Name of the pool.
    pub pool: &'a Text,
    /// Name of the device.
    pub device: &'a Text,
    /// Whether the device is only monitored.
    pub admin_access: bool,
    /// Nodes that can use the device.
    pub nodes: DeviceNodes<'a>,
}

/// Nodes that can use a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceNodes<'a> {
    /// The node that has the device.
    One,
    /// The nodes that a selector selects.
    Selected(&'a NodeSelector),
    /// All nodes.
    All,
}

/// For what a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceTarget<'a> {
    /// A claim of the pod.
    Claim(&'a Claim),
    /// An extended resource that the pod requests.
    Extended(&'a Resource),
}

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct DynamicResources<'a> {
    /// All claims of the pod.
    claims: Vec<&'a Claim>,
    /// Nodes that can use the devices of claims that have some.
    allocated: Vec<&'a NodeSelector>,
    /// Devices for claims that have none.
    wanted: Vec<Wanted<'a>>,
    /// Extended resources that classes back, and the devices that they stand for.
    extended: Vec<Wanted<'a>>,
    /// All devices, if any are wanted.
    pools: Pools<'a>,
}

impl<'a> Predicate<'a> for DynamicResources<'a> {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        match prepare(context) {
            Ok(None) => Preparation::Skip,
            Ok(Some(state)) => Preparation::check(state),
            Err(refusal) => Preparation::Refuse(Refusal::Device(refusal)),
        }
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        self.choices(node).map(drop)
    }
}

fn prepare(context: Context<'_>) -> Result<Option<DynamicResources<'_>>, DeviceRefusal> {
    let devices = context.snapshot.devices();
    let mut state = DynamicResources {
        claims: Vec::new(),
        allocated: Vec::new(),
        wanted: Vec::new(),
        extended: Vec::new(),
        pools: Pools::default(),
    };
    for reference in &context.pod.pod().spec.resource_claims {
        let Some(claim) = find(context, reference)? else { continue };
        state.claims.push(claim);
        match &claim.status.allocation {
            Some(allocation) => {
                check_consumers(context, claim)?;
                state.allocated.extend(allocation.node_selector.as_ref());
            }
            None => state.wanted.push(Wanted::of_claim(context, claim)?),
        }
    }
    for (resource, amount) in context.pod.requested().iter().filter(|(_, amount)| *amount > 0) {
        if let Some(class) = devices.backing_class(resource.name()) {
            state.extended.push(Wanted::of_class(resource, class, amount)?);
        }
    }
    if !state.wanted.is_empty() || !state.extended.is_empty() {
        state.pools = Pools::new(devices);
    } else if state.claims.is_empty() {
        return Ok(None);
    }
    Ok(Some(state))
}

/// Returns the claim, or nothing if the pod needs none.
fn find<'a>(
    context: Context<'a>,
    reference: &'a PodResourceClaim,
) -> Result<Option<&'a Claim>, DeviceRefusal> {
    let pod = context.pod.pod();
    let namespace = &pod.metadata.namespace;
    let is_generated = reference.resource_claim_name.is_empty();
    let name: &Text = if is_generated {
        let mut statuses = pod.status.resource_claim_statuses.iter();
        let Some(status) = statuses.find(|status| status.name == reference.name) else {
            return Err(DeviceRefusal::NotCreated {
                namespace: namespace.clone(),
                pod: pod.metadata.name.clone(),
            });
        };
        if status.resource_claim_name.is_empty() {
            return Ok(None);
        }
        &status.resource_claim_name
    } else {
        &reference.resource_claim_name
    };
    let claim = context.snapshot.devices().claim(namespace, name).ok_or_else(|| {
        DeviceRefusal::Missing { namespace: namespace.clone(), claim: name.clone() }
    })?;
    if claim.metadata.is_deleting() {
        return Err(DeviceRefusal::Deleting { claim: name.clone() });
    }
    let owner = claim.metadata.controller();
    if is_generated && owner.is_none_or(|owner| owner.uid != pod.metadata.uid) {
        return Err(DeviceRefusal::NotOwned {
            namespace: namespace.clone(),
            claim: name.clone(),
            pod: pod.metadata.name.clone(),
        });
    }
    Ok(Some(claim))
}

/// Checks that the pod uses the claim, or can use it too.
fn check_consumers(context: Context<'_>, claim: &Claim) -> Result<(), DeviceRefusal> {
    let consumers = &claim.status.reserved_for;
    let uid = &context.pod.pod().metadata.uid;
    let is_pod = |consumer: &Consumer| consumer.uid == *uid;
    if consumers.len() < MAX_CONSUMERS || consumers.iter().any(is_pod) {
        return Ok(());
    }
    Err(DeviceRefusal::InUse { claim: claim.metadata.name.clone() })
}

impl<'a> DynamicResources<'a> {
    /// Returns all claims of the pod.
    pub(super) fn claims(&self) -> &[&'a Claim] {
        &self.claims
    }

    /// Returns the devices that the pod gets on the node.
    pub(super) fn choices(&self, node: &NodeFacts) -> Result<Vec<DeviceChoice<'a>>, Refusal> {
        self.find(node).map_err(Refusal::Device)
    }

    fn find(&self, node: &NodeFacts) -> Result<Vec<DeviceChoice<'a>>, DeviceRefusal> {
        if !self.allocated.iter().all(|selector| selects_node(selector, node.node())) {
            return Err(DeviceRefusal::OtherNode);
        }
        // What the node offers as a number is not served by devices.
        let is_offered = |wanted: &Wanted<'_>| match wanted.target {
            DeviceTarget::Claim(_) => false,
            DeviceTarget::Extended(resource) => node.offered().get(resource) != 0,
        };
        let wanted = self.wanted.iter().chain(&self.extended);
        let wanted: Vec<_> = wanted.filter(|wanted| !is_offered(wanted)).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        search::search(&self.pools.on_node(node), &wanted)?.ok_or(DeviceRefusal::NoDevices)
    }
}
