//! `DynamicResources`: the devices that the claims of a pod ask for are on the node and free.
//!
//! Extended resources that a class of devices backs are served like claims, on nodes that do not offer them otherwise.
//! Not read: the amounts of devices that several claims share. Such a device counts as used with its first claim.

mod cel;
mod extended;
mod offer;
mod pool;
mod ready;
mod request;
mod search;

use crate::object::{Claim, Consumer, List, NodeSelector, PodResourceClaim, Text};

use super::label::selects_node;
use super::{Context, DeviceRefusal, NodeFacts, Predicate, Preparation, Refusal};

use extended::Extended;
use pool::Pools;
use request::{Request, Wanted};
use search::Asked;

pub use extended::{EXTENDED_CLAIM, ExtendedClaim};
pub use offer::{DeviceOffers, is_by_class};
pub use ready::{DeviceReadiness, readiness};

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
    /// Conditions that must hold before the pod is bound.
    pub binding_conditions: &'a List<Text>,
    /// Conditions of which none may hold before the pod is bound.
    pub binding_failure_conditions: &'a List<Text>,
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
    /// The claim that a bind creates for extended resources of the pod.
    Extended,
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
    /// A claim with devices whose driver reports a failure.
    failed: bool,
    /// Extended resources that classes back, and the devices that they stand for.
    extended: Vec<Extended<'a>>,
    /// The claim that an earlier bind created for them.
    left_over: Option<&'a Claim>,
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
        failed: false,
        extended: Vec::new(),
        left_over: None,
        pools: Pools::default(),
    };
    for reference in &context.pod.pod().spec.resource_claims {
        let Some(claim) = find(context, reference)? else { continue };
        state.claims.push(claim);
        match &claim.status.allocation {
            Some(allocation) => {
                check_consumers(context, claim)?;
                state.allocated.extend(allocation.node_selector.as_ref());
                state.failed |= matches!(readiness(claim), DeviceReadiness::Failed { .. });
            }
            None => state.wanted.push(Wanted::of_claim(context, claim)?),
        }
    }
    let requested = context.pod.requested().iter().filter(|(_, amount)| *amount > 0);
    for (resource, _) in requested {
        if let Some(class) = devices.backing_class(resource.name()) {
            state.extended.push(Extended::new(context.pod.pod(), resource, class)?);
        }
    }
    if !state.extended.is_empty() {
        state.left_over = extended::left_over(devices, context.pod.pod());
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

    /// Returns what the claim for extended resources asks for on the node. `None` if the node needs no such claim.
    pub(super) fn extended_claim(&self, node: &NodeFacts) -> Option<ExtendedClaim> {
        let backed = self.backed(node);
        (!backed.is_empty()).then(|| extended::claim_for(&backed))
    }

    /// Returns a claim whose devices keep the pod from some nodes, and that no other pod uses.
    pub(super) fn idle_claim(&self, context: Context<'a>) -> Option<&'a Claim> {
        let uid = &context.pod.pod().metadata.uid;
        let is_idle = |claim: &&&Claim| {
            let allocation = claim.status.allocation.as_ref();
            let is_bound_to_nodes = allocation.is_some_and(|one| one.node_selector.is_some());
            let is_failed = || matches!(readiness(claim), DeviceReadiness::Failed { .. });
            claim.status.reserved_for.iter().all(|user| user.uid == *uid)
                && (is_bound_to_nodes || is_failed())
        };
        self.left_over.or_else(|| self.claims.iter().find(is_idle).copied())
    }

    /// Returns the extended resources that devices back on the node. What the node offers as a number is not served by
    /// devices.
    fn backed(&self, node: &NodeFacts) -> Vec<&Extended<'a>> {
        self.extended.iter().filter(|one| node.offered().get(one.resource) == 0).collect()
    }

    fn find(&self, node: &NodeFacts) -> Result<Vec<DeviceChoice<'a>>, DeviceRefusal> {
        if let Some(claim) = self.left_over {
            return Err(DeviceRefusal::LeftOver { claim: claim.metadata.name.clone() });
        }
        if self.failed || !self.allocated.iter().all(|selector| selects_node(selector, node.node()))
        {
            return Err(DeviceRefusal::OtherNode);
        }
        let of_claims = self.wanted.iter().map(|wanted| Asked {
            target: DeviceTarget::Claim(wanted.claim),
            requests: wanted.requests.iter().collect(),
            constraints: wanted.constraints,
        });
        let mut asked: Vec<_> = of_claims.collect();
        let mut requests: Vec<&Request<'a>> =
            self.backed(node).into_iter().flat_map(|one| &one.requests).collect();
        if !requests.is_empty() {
            requests.sort_by(|one, other| one.name.cmp(&other.name));
            asked.push(Asked { target: DeviceTarget::Extended, requests, constraints: &[] });
        }
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        search::search(&self.pools.on_node(node), &asked)?.ok_or(DeviceRefusal::NoDevices)
    }
}
