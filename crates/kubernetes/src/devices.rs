//! Devices for the claims of pods, selected when a pod is bound.
//!
//! The selection is assumed in the snapshot at once, so that no other pod gets the same devices while the claims are
//! written.

use std::collections::HashMap;
use std::sync::Arc;

use crate::queue::ClaimWrite;
use headroom_pods::object::{
    AllocatedDevices, Allocation, AllocationResult, Claim, Consumer, List, NodeSelector,
    NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm, Pod, Text,
};
use headroom_pods::predicate::{
    DeviceChoice, DeviceNodes, DeviceTarget, Mode, Options, PodFacts, Prepared, Snapshot,
};

/// Name of the field of a node by which devices of one node select it.
const NODE_NAME: &str = "metadata.name";

/// Devices selected for pods that are being bound, by UID of the pod.
#[derive(Debug, Default)]
pub(crate) struct AssumedDevices(HashMap<Text, Selection>);

#[derive(Debug)]
struct Selection {
    node: Text,
    claims: Vec<ClaimWrite>,
}

impl AssumedDevices {
    /// Selects devices for all claims of a pod on a node. Returns what the claims get.
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
        if let Some(known) = self.0.get(&uid).filter(|known| known.node == *node) {
            return Ok(known.claims.clone());
        }
        let consumer = Consumer {
            resource: "pods".into(),
            name: pod.metadata.name.clone(),
            uid: uid.clone(),
            ..Consumer::default()
        };
        let planned = plan(snapshot, options, pod, node, &consumer)?;
        let mut claims = Vec::with_capacity(planned.len());
        for (claim, write) in planned {
            snapshot.devices_mut().assume(claim, uid.clone());
            claims.push(write);
        }
        self.0.insert(uid, Selection { node: node.clone(), claims: claims.clone() });
        Ok(claims)
    }

    /// Forgets the selection for a pod, and returns it. What is assumed stays until the claims are written, or written
    /// back.
    pub(crate) fn take(&mut self, uid: &Text) -> Vec<ClaimWrite> {
        self.0.remove(uid).map(|selection| selection.claims).unwrap_or_default()
    }
}

/// Returns the claims of a pod as they will be, with what must be written for that.
fn plan(
    snapshot: &Snapshot,
    options: Options,
    pod: Arc<Pod>,
    node: &Text,
    consumer: &Consumer,
) -> Result<Vec<(Claim, ClaimWrite)>, String> {
    let facts = PodFacts::new(pod);
    let prepared = Prepared::new(snapshot, &facts, Mode::Allocate, options);
    let facts = snapshot.node(node).ok_or("the node is gone")?;
    let choices = prepared.device_choices(facts).map_err(|refusal| refusal.reasons().join(", "))?;
    let planned = prepared.device_claims().iter().map(|claim| {
        let of_claim = |choice: &&DeviceChoice<'_>| match choice.target {
            DeviceTarget::Claim(target) => std::ptr::eq(target, *claim),
            DeviceTarget::Extended(_) => false,
        };
        let own: Vec<_> = choices.iter().filter(of_claim).collect();
        let allocation = claim.status.allocation.is_none().then(|| Allocation {
            devices: AllocatedDevices { results: own.iter().map(|one| result(one)).collect() },
            node_selector: nodes_of(&own, node),
        });
        let mut after = (*claim).clone();
        if let Some(allocation) = &allocation {
            after.status.allocation = Some(Box::new(allocation.clone()));
        }
        let users = after.status.reserved_for.iter().filter(|user| user.uid != consumer.uid);
        after.status.reserved_for = users.chain([consumer]).cloned().collect();
        let write = ClaimWrite {
            namespace: claim.metadata.namespace.clone(),
            name: claim.metadata.name.clone(),
            uid: claim.metadata.uid.clone(),
            allocation,
        };
        (after, write)
    });
    Ok(planned.collect())
}

fn result(choice: &DeviceChoice<'_>) -> AllocationResult {
    AllocationResult {
        request: choice.request.as_str().into(),
        driver: choice.driver.clone(),
        pool: choice.pool.clone(),
        device: choice.device.clone(),
        admin_access: choice.admin_access.then_some(true),
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
