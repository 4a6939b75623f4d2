//! Devices for pods, selected when a pod is bound.
//!
//! The selection is assumed in the snapshot at once, so that no other pod gets the same devices while the claims are
//! written. After it is written, the bind waits until the drivers report that the devices are ready.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use headroom_pods::object::{
    AllocatedDevices, Allocation, AllocationResult, Claim, ClaimDevices, ClaimSpec, ClaimStatus,
    Consumer, List, Metadata, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement,
    NodeSelectorTerm, OwnerReference, Pod, Text,
};
use headroom_pods::predicate::{
    DeviceChoice, DeviceNodes, DeviceReadiness, DeviceTarget, EXTENDED_CLAIM, ExtendedClaim, Mode,
    Options, PodFacts, Prepared, Snapshot, readiness,
};
use headroom_pods::shim::{BindDone, BindError};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::queue::{ClaimWrite, WhichClaim};

/// Name of the field of a node by which devices of one node select it.
const NODE_NAME: &str = "metadata.name";
/// Time within which devices must be ready, as for kube-scheduler.
const READY_TIME: Duration = Duration::from_mins(10);
/// Time until the same claim is freed again.
const FREE_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// Most bytes of the name of a claim.
const NAME_MAX: usize = 253;

/// Devices selected for pods that are being bound, by UID of the pod.
#[derive(Debug, Default)]
pub(crate) struct AssumedDevices {
    selections: HashMap<Text, Selection>,
    /// Binds that wait for devices, in the order of their ends. Some are over, because the selection is gone.
    waits: VecDeque<Wait>,
    /// When claims were freed, by UID of the claim. Only those that cannot be freed again yet.
    freed: HashMap<Text, Instant>,
    /// Number of the last assumption.
    last: u64,
}

#[derive(Debug)]
struct Selection {
    node: Text,
    claims: Vec<ClaimWrite>,
    /// Ticket of the bind that waits for the devices, after the claims have them.
    waits: Option<u64>,
}

#[derive(Debug)]
struct Wait {
    pod: Text,
    ticket: u64,
    until: Instant,
}

/// A bind that does not wait for devices any more.
#[derive(Debug)]
pub(crate) struct Settled {
    /// UID of the pod.
    pub(crate) pod: Text,
    /// Ticket of the request.
    pub(crate) ticket: u64,
    /// Result of the step.
    pub(crate) result: Result<BindDone, BindError>,
}

impl AssumedDevices {
    /// Selects devices for all claims of a pod on a node. Returns what the claims get. Empty if the pod needs no devices
    /// there.
    ///
    /// A later try for the same node gets the same devices, because an earlier one can have written some of them.
    ///
    /// # Errors
    /// If the node is gone, or has not enough free devices now.
    pub(crate) fn assume(
        &mut self,
        snapshot: &mut Snapshot,
        options: Options,
        pod: Arc<Pod>,
        node: &Text,
    ) -> Result<Vec<ClaimWrite>, String> {
        let uid = pod.metadata.uid.clone();
        if let Some(known) = self.selections.get(&uid).filter(|known| known.node == *node) {
            return Ok(known.claims.clone());
        }
        let number = self.last + 1;
        let planned = plan(snapshot, options, pod, node, number)?;
        if planned.is_empty() {
            return Ok(Vec::new());
        }
        self.last = number;
        let mut claims = Vec::with_capacity(planned.len());
        for (claim, write) in planned {
            if let Some(claim) = claim {
                snapshot.devices_mut().assume(claim, uid.clone(), number);
            }
            claims.push(write);
        }
        let selection = Selection { node: node.clone(), claims: claims.clone(), waits: None };
        self.selections.insert(uid, selection);
        Ok(claims)
    }

    /// Returns what must be written so that a claim has no devices any more.
    ///
    /// The claim is assumed to have lost its devices, unless it is to be deleted: then its end must be seen first.
    ///
    /// # Errors
    /// If this was requested a moment ago. Returns when to request it again.
    pub(crate) fn free(
        &mut self,
        snapshot: &mut Snapshot,
        pod: &Text,
        claim: &Claim,
    ) -> Result<ClaimWrite, Instant> {
        let (now, metadata) = (Instant::now(), &claim.metadata);
        self.freed.retain(|_, at| now < *at + FREE_AGAIN_AFTER);
        if let Some(at) = self.freed.get(&metadata.uid) {
            return Err(*at + FREE_AGAIN_AFTER);
        }
        self.freed.insert(metadata.uid.clone(), now);
        self.last += 1;
        let which = if metadata.annotations.contains(EXTENDED_CLAIM) {
            WhichClaim::Extended(ExtendedClaim::default())
        } else {
            let after = Claim { status: ClaimStatus::default(), ..claim.clone() };
            snapshot.devices_mut().assume(after, pod.clone(), self.last);
            WhichClaim::Existing(metadata.uid.clone())
        };
        Ok(ClaimWrite {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            which,
            allocation: None,
            class_config: Vec::new(),
            assumption: self.last,
        })
    }

    /// Returns whether devices are selected for a pod.
    pub(crate) fn has(&self, uid: &Text) -> bool {
        self.selections.contains_key(uid)
    }

    /// Forgets the selection for a pod, and returns it. What is assumed stays until the claims are written, or written
    /// back.
    pub(crate) fn take(&mut self, uid: &Text) -> Vec<ClaimWrite> {
        self.selections.remove(uid).map(|selection| selection.claims).unwrap_or_default()
    }

    /// Lets a bind wait until its devices are ready. Returns whether it has devices to wait for.
    pub(crate) fn wait(&mut self, uid: &Text, ticket: u64) -> bool {
        let Some(selection) = self.selections.get_mut(uid) else { return false };
        selection.waits = Some(ticket);
        let until = Instant::now() + READY_TIME;
        self.waits.push_back(Wait { pod: uid.clone(), ticket, until });
        true
    }

    /// Returns when the next wait is over at the latest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.waits.front().map(|wait| wait.until)
    }

    /// Returns the binds that need not wait any longer.
    pub(crate) fn settled(&mut self, snapshot: &Snapshot) -> Vec<Settled> {
        let now = Instant::now();
        let mut settled = Vec::new();
        self.waits.retain(|Wait { pod, ticket, until }| {
            let selection = self.selections.get_mut(pod);
            let Some(selection) = selection.filter(|one| one.waits == Some(*ticket)) else {
                return false;
            };
            let Some(result) = outcome(snapshot, selection, *until <= now) else { return true };
            selection.waits = None;
            settled.push(Settled { pod: pod.clone(), ticket: *ticket, result });
            false
        });
        settled
    }
}

/// Returns how the wait for devices ends, or nothing if it goes on.
fn outcome(
    snapshot: &Snapshot,
    selection: &Selection,
    is_late: bool,
) -> Option<Result<BindDone, BindError>> {
    if snapshot.node(&selection.node).is_none() {
        return Some(Err(BindError::Retry("devices: the node is gone".to_owned())));
    }
    let mut waits = None;
    for ClaimWrite { namespace, name, .. } in &selection.claims {
        let Some(claim) = snapshot.devices().claim(namespace, name) else {
            return Some(Err(BindError::Final(format!("devices: claim {name} is gone"))));
        };
        match readiness(claim) {
            DeviceReadiness::Ready => {}
            DeviceReadiness::Waits { device, condition } => {
                waits = Some(format!("device {device} of claim {name} is not {condition}"));
            }
            DeviceReadiness::Failed { device, reason } => {
                let error = format!("devices: device {device} of claim {name} failed: {reason}");
                return Some(Err(BindError::Final(error)));
            }
        }
    }
    match waits {
        None => Some(Ok(BindDone::DevicesAllocated)),
        Some(what) if is_late => {
            let error = format!("devices: {what} after {} s", READY_TIME.as_secs());
            Some(Err(BindError::Final(error)))
        }
        Some(_) => None,
    }
}

/// Returns what must be written for the claims of a pod, with the claims as they will be. `None` for a claim that is so
/// already: nothing is written, so no event would end an assumption.
fn plan(
    snapshot: &Snapshot,
    options: Options,
    pod: Arc<Pod>,
    node: &Text,
    number: u64,
) -> Result<Vec<(Option<Claim>, ClaimWrite)>, String> {
    let facts = PodFacts::new(pod);
    let prepared = Prepared::new(snapshot, &facts, Mode::Allocate, options);
    let on_node = snapshot.node(node).ok_or("the node is gone")?;
    let choices =
        prepared.device_choices(on_node).map_err(|refusal| refusal.reasons().join(", "))?;
    let pod = &facts.pod().metadata;
    let consumer = Consumer {
        resource: "pods".into(),
        name: pod.name.clone(),
        uid: pod.uid.clone(),
        ..Consumer::default()
    };
    let planned = |claim: Claim, which: WhichClaim, own: &[&DeviceChoice<'_>]| {
        let is_new = claim.status.allocation.is_none();
        let allocation = is_new.then(|| Allocation {
            devices: AllocatedDevices { results: own.iter().map(|one| result(one)).collect() },
            node_selector: nodes_of(own, node),
        });
        let class_config = if is_new { config(snapshot, &claim, own) } else { Vec::new() };
        let mut after = claim;
        if let Some(allocation) = &allocation {
            after.status.allocation = Some(Box::new(allocation.clone()));
        }
        let is_own = |user: &Consumer| user.uid == consumer.uid;
        let is_changed = is_new || !after.status.reserved_for.iter().any(is_own);
        let users = after.status.reserved_for.iter().filter(|user| !is_own(user));
        after.status.reserved_for = users.chain([&consumer]).cloned().collect();
        let write = ClaimWrite {
            namespace: after.metadata.namespace.clone(),
            name: after.metadata.name.clone(),
            which,
            allocation,
            class_config,
            assumption: number,
        };
        (is_changed.then_some(after), write)
    };
    let of_claims = prepared.device_claims().iter().map(|claim| {
        let of_claim = |choice: &&DeviceChoice<'_>| match choice.target {
            DeviceTarget::Claim(target) => std::ptr::eq(target, *claim),
            DeviceTarget::Extended => false,
        };
        let own: Vec<_> = choices.iter().filter(of_claim).collect();
        planned((*claim).clone(), WhichClaim::Existing(claim.metadata.uid.clone()), &own)
    });
    let extended = prepared.extended_claim(on_node).map(|extended| {
        let is_extended =
            |choice: &&DeviceChoice<'_>| matches!(choice.target, DeviceTarget::Extended);
        let own: Vec<_> = choices.iter().filter(is_extended).collect();
        planned(new_claim(pod, &extended), WhichClaim::Extended(extended), &own)
    });
    Ok(of_claims.chain(extended).collect())
}

/// Returns the claim that a bind creates for extended resources of a pod.
fn new_claim(pod: &Metadata, extended: &ExtendedClaim) -> Claim {
    let owner = OwnerReference {
        kind: "Pod".into(),
        name: pod.name.clone(),
        uid: pod.uid.clone(),
        controller: true,
        api_version: "v1".into(),
        block_owner_deletion: false,
    };
    let requests = extended.requests.iter().cloned().collect();
    Claim {
        metadata: Metadata {
            name: name_of_extended(pod),
            namespace: pod.namespace.clone(),
            annotations: [(Text::from(EXTENDED_CLAIM), Text::from("true"))].into_iter().collect(),
            owner_references: [owner].into_iter().collect(),
            ..Metadata::default()
        },
        spec: ClaimSpec { devices: ClaimDevices { requests, ..ClaimDevices::default() } },
        status: ClaimStatus::default(),
    }
}

/// Returns the name of the claim for extended resources of a pod. The UID makes it another one for each pod.
fn name_of_extended(pod: &Metadata) -> Text {
    let end = format!("-extended-resources-{}", pod.uid);
    let room = NAME_MAX.saturating_sub(end.len());
    let start = pod.name.get(..room).unwrap_or(&pod.name).trim_end_matches(['-', '.']);
    format!("{start}{end}").into()
}

/// Returns the parameters of the classes for the devices of a claim.
fn config(snapshot: &Snapshot, claim: &Claim, choices: &[&DeviceChoice<'_>]) -> Vec<Value> {
    let mut config = Vec::new();
    let mut seen = Vec::new();
    for choice in choices {
        let request = choice.request.as_str();
        if seen.contains(&request) {
            continue;
        }
        seen.push(request);
        let class = class_of(claim, request).and_then(|name| snapshot.devices().class(name));
        for one in class.into_iter().flat_map(|class| &class.spec.config) {
            let mut one = one.clone();
            one["source"] = json!("FromClass");
            one["requests"] = json!([request]);
            config.push(one);
        }
    }
    config
}

/// Returns the class of a request, which is named with its alternative after a slash.
fn class_of<'a>(claim: &'a Claim, request: &str) -> Option<&'a str> {
    let (name, alternative) = request.split_once('/').unwrap_or((request, ""));
    let request = claim.spec.devices.requests.iter().find(|one| one.name == *name)?;
    let exact = match &request.exactly {
        Some(exact) => exact,
        None => &request.first_available.iter().find(|one| one.name == *alternative)?.request,
    };
    Some(&exact.device_class_name)
}

fn result(choice: &DeviceChoice<'_>) -> AllocationResult {
    AllocationResult {
        request: choice.request.as_str().into(),
        driver: choice.driver.clone(),
        pool: choice.pool.clone(),
        device: choice.device.clone(),
        admin_access: choice.admin_access.then_some(true),
        binding_conditions: choice.binding_conditions.clone(),
        binding_failure_conditions: choice.binding_failure_conditions.clone(),
        ..AllocationResult::default()
    }
}

/// Returns which nodes can use all these devices. `None` for all nodes.
fn nodes_of(choices: &[&DeviceChoice<'_>], node: &Text) -> Option<NodeSelector> {
    let mut term = NodeSelectorTerm::default();
    for choice in choices {
        match choice.nodes {
            DeviceNodes::One => return Some(selector(only(node))),
            // Selectors of devices have one term each, and all must hold.
            DeviceNodes::Selected(selector) => {
                for one in &selector.node_selector_terms {
                    term.match_expressions =
                        joined(&term.match_expressions, &one.match_expressions);
                    term.match_fields = joined(&term.match_fields, &one.match_fields);
                }
            }
            DeviceNodes::All => {}
        }
    }
    (term != NodeSelectorTerm::default()).then(|| selector(term))
}

fn selector(term: NodeSelectorTerm) -> NodeSelector {
    NodeSelector { node_selector_terms: [term].into_iter().collect() }
}

/// Returns the term that selects one node.
fn only(node: &Text) -> NodeSelectorTerm {
    let name = NodeSelectorRequirement {
        key: NODE_NAME.into(),
        operator: NodeSelectorOperator::In,
        values: [node.clone()].into_iter().collect(),
    };
    NodeSelectorTerm { match_fields: [name].into_iter().collect(), ..NodeSelectorTerm::default() }
}

/// Returns the conditions of both lists, each once.
fn joined(
    left: &[NodeSelectorRequirement],
    right: &[NodeSelectorRequirement],
) -> List<NodeSelectorRequirement> {
    let more = right.iter().filter(|one| !left.contains(one));
    left.iter().chain(more).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    fn read<T: DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    /// Returns a cluster with a node that has a slow device, and a pod that claims one.
    fn cluster() -> (Snapshot, Arc<Pod>) {
        let mut snapshot = Snapshot::default();
        let node = json!({"metadata": {"name": "n"}, "status": {"allocatable": {"pods": "10"}}});
        snapshot.put_node(Arc::new(read(node)));
        let class = json!({"metadata": {"name": "gpu"},
            "spec": {"config": [{"opaque": {"driver": "d", "parameters": {}}}]}});
        snapshot.set_device_class(&"gpu".into(), Some(Arc::new(read(class))));
        let slice = json!({"spec": {"driver": "d", "nodeName": "n",
            "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d0", "bindingConditions": ["attached"],
                "bindingFailureConditions": ["broken"]}]}});
        snapshot.set_slice(&"n".into(), Some(Arc::new(read(slice))));
        snapshot.devices_mut().put_claim(Arc::new(claim(&json!({}))));
        let pod = json!({"metadata": {"name": "p", "namespace": "lab", "uid": "u"},
            "spec": {"resourceClaims": [{"name": "r", "resourceClaimName": "mine"}]}});
        (snapshot, Arc::new(read(pod)))
    }

    fn claim(status: &Value) -> Claim {
        read(json!({"metadata": {"name": "mine", "namespace": "lab", "uid": "c"},
            "spec": {"devices": {"requests": [{"name": "q", "exactly": {"deviceClassName": "gpu"}}]}},
            "status": status}))
    }

    /// Returns the status of the claim after the write, with a condition of the device.
    fn status(condition: &str) -> Value {
        json!({"allocation": {"devices": {"results": [{"request": "q", "driver": "d", "pool": "n",
                "device": "d0", "bindingConditions": ["attached"],
                "bindingFailureConditions": ["broken"]}]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
            "devices": [{"driver": "d", "pool": "n", "device": "d0",
                "conditions": [{"type": condition, "status": "True"}]}]})
    }

    fn assume(
        devices: &mut AssumedDevices,
        snapshot: &mut Snapshot,
        pod: &Arc<Pod>,
    ) -> Vec<ClaimWrite> {
        devices.assume(snapshot, Options::default(), Arc::clone(pod), &"n".into()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_bind_waits_for_its_devices_and_not_for_ever() {
        let (mut snapshot, pod) = cluster();
        let mut devices = AssumedDevices::default();
        let writes = assume(&mut devices, &mut snapshot, &pod);
        assert_eq!(writes[0].class_config[0]["source"], "FromClass");
        assert_eq!(assume(&mut devices, &mut snapshot, &pod), writes, "a second try");
        assert!(devices.wait(&"u".into(), 7) && !devices.wait(&"other".into(), 8));
        assert!(devices.settled(&snapshot).is_empty());
        // The device is attached.
        snapshot.devices_mut().put_claim(Arc::new(claim(&status("attached"))));
        let settled = devices.settled(&snapshot).pop().unwrap();
        assert_eq!((settled.ticket, settled.result), (7, Ok(BindDone::DevicesAllocated)));
        assert!(devices.settled(&snapshot).is_empty(), "it is over");
        // The driver reports a failure.
        assert!(devices.wait(&"u".into(), 8));
        snapshot.devices_mut().put_claim(Arc::new(claim(&status("broken"))));
        let settled = devices.settled(&snapshot).pop().unwrap();
        let error = settled.result.unwrap_err();
        assert!(matches!(&error, BindError::Final(text) if text.contains("broken")), "{error:?}");
        // The driver reports nothing.
        assert!(devices.wait(&"u".into(), 9));
        snapshot.devices_mut().put_claim(Arc::new(claim(&status("other"))));
        assert!(devices.settled(&snapshot).is_empty());
        assert_eq!(devices.deadline(), Some(Instant::now() + READY_TIME));
        tokio::time::advance(READY_TIME).await;
        let settled = devices.settled(&snapshot).pop().unwrap();
        let error = settled.result.unwrap_err();
        assert!(matches!(&error, BindError::Final(text) if text.contains("600 s")), "{error:?}");
        // The node is gone.
        assert!(devices.wait(&"u".into(), 10));
        snapshot.remove_node("n");
        let settled = devices.settled(&snapshot).pop().unwrap();
        assert!(matches!(settled.result, Err(BindError::Retry(_))));
        assert_eq!(devices.deadline(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_that_is_written_already_is_not_assumed() {
        let (mut snapshot, pod) = cluster();
        let mut devices = AssumedDevices::default();
        snapshot.devices_mut().put_claim(Arc::new(claim(&status("attached"))));
        let writes = assume(&mut devices, &mut snapshot, &pod);
        assert_eq!((writes.len(), &writes[0].allocation), (1, &None));
        assert!(!snapshot.devices().is_assumed_for("u"), "no event would end the assumption");
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_is_not_freed_all_the_time() {
        let (mut snapshot, _) = cluster();
        let mut devices = AssumedDevices::default();
        let held = claim(&status("attached"));
        snapshot.devices_mut().put_claim(Arc::new(held.clone()));
        assert!(devices.free(&mut snapshot, &"u".into(), &held).is_ok());
        let free = snapshot.devices().claim("lab", "mine").unwrap();
        assert_eq!(free.status.allocation, None, "it is assumed to be free");
        let again = Instant::now() + FREE_AGAIN_AFTER;
        assert_eq!(devices.free(&mut snapshot, &"u".into(), &held), Err(again));
        // Another claim of the pod does not wait for this one.
        let mut other = held.clone();
        other.metadata.uid = "other".into();
        assert!(devices.free(&mut snapshot, &"u".into(), &other).is_ok());
        tokio::time::advance(FREE_AGAIN_AFTER).await;
        assert!(devices.free(&mut snapshot, &"u".into(), &held).is_ok());
    }
}
