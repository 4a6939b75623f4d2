//! Nodes: registration, changes, and removal.

use std::sync::Arc;

use crate::convert::amounts::Amounts;
use crate::convert::event::{EventKind, EventObject};
use crate::convert::node::{NodeChange, NodeSubmission, capacity};
use crate::object::{Node, Text};

use super::Shim;
use super::message::{CoreMessage, SnapshotChange};
use super::state::{AcceptedNode, BindProgress, Confirmed, NodeEntry, Place, PodKind, TaskState};

impl Shim {
    pub(super) fn is_accepted(&self, node: &str) -> bool {
        match self.nodes.get(node) {
            Some(NodeEntry::Accepted(_)) => true,
            Some(NodeEntry::Registering { .. }) | None => false,
        }
    }

    pub(super) fn node_applied(&mut self, node: &Arc<Node>) {
        let name = &node.metadata.name;
        match self.nodes.get_mut(name) {
            None => self.register(node),
            Some(NodeEntry::Registering { node: latest, .. }) => *latest = Some(node.clone()),
            Some(NodeEntry::Accepted(accepted)) => {
                accepted.node = node.clone();
                self.snapshot(SnapshotChange::SetNode(node.clone()));
                self.update_node(name);
            }
        }
    }

    pub(super) fn register(&mut self, node: &Arc<Node>) {
        let name = node.metadata.name.clone();
        let sent = capacity(node, None);
        let change = NodeChange::CreateDrained { capacity: sent.clone() };
        let entry = NodeEntry::Registering { sent, node: Some(node.clone()) };
        self.nodes.insert(name.clone(), entry);
        self.tell_node(name, change);
    }

    /// Sends the core what differs between the node and what the core knows.
    fn update_node(&mut self, name: &Text) {
        let is_ready = self.is_ready();
        let Some(NodeEntry::Accepted(accepted)) = self.nodes.get_mut(name) else { return };
        let capacity = capacity(&accepted.node, self.devices.get(name));
        let enabled = is_ready && !accepted.node.spec.unschedulable;
        let is_changed = accepted.sent != capacity;
        let was_enabled = std::mem::replace(&mut accepted.enabled, enabled);
        if is_changed {
            accepted.sent = capacity.clone();
            self.tell_node(name.clone(), NodeChange::Update { capacity });
        }
        match (was_enabled, enabled) {
            (false, true) => self.tell_node(name.clone(), NodeChange::Resume),
            (true, false) => self.tell_node(name.clone(), NodeChange::Drain),
            (false, false) | (true, true) => {}
        }
    }

    pub(super) fn node_accepted(&mut self, name: &Text) {
        let (sent, node) = match self.nodes.remove(name) {
            Some(NodeEntry::Registering { sent, node }) => (sent, node),
            Some(entry @ NodeEntry::Accepted(_)) => {
                self.nodes.insert(name.clone(), entry);
                return self.log(format!("node {name} was accepted before"));
            }
            None => return self.log(format!("node {name} is unknown, but was accepted")),
        };
        if let Some(node) = node {
            let about = EventObject::from(&*node);
            let note = format!("node {name} was accepted by the scheduler");
            self.event(about, EventKind::NodeAccepted, note);
            self.snapshot(SnapshotChange::SetNode(node.clone()));
            let pods = std::collections::BTreeSet::new();
            let accepted = AcceptedNode { node, sent, enabled: false, pods };
            self.nodes.insert(name.clone(), NodeEntry::Accepted(accepted));
            self.adopt_orphans(name);
            self.update_node(name);
        } else {
            self.tell_node(name.clone(), NodeChange::Decommission);
        }
        self.node_answered(name);
    }

    pub(super) fn node_rejected(&mut self, name: &Text, reason: &str) {
        match self.nodes.remove(name) {
            Some(NodeEntry::Registering { node, .. }) => {
                if let Some(node) = node {
                    let note = format!("node {name} was rejected by the scheduler: {reason}");
                    self.event(EventObject::from(&*node), EventKind::NodeRejected, note);
                }
            }
            Some(entry @ NodeEntry::Accepted(_)) => {
                self.nodes.insert(name.clone(), entry);
                self.log(format!("node {name} was rejected after it was accepted: {reason}"));
            }
            None => self.log(format!("node {name} is unknown, but was rejected: {reason}")),
        }
        self.node_answered(name);
    }

    pub(super) fn node_devices(&mut self, name: &Text, amounts: Amounts) {
        if amounts.is_empty() {
            self.devices.remove(name);
        } else {
            self.devices.insert(name.clone(), amounts);
        }
        self.update_node(name);
    }

    pub(super) fn node_gone(&mut self, name: &Text) {
        self.devices.remove(name);
        match self.nodes.remove(name) {
            None => {}
            Some(NodeEntry::Registering { sent, .. }) => {
                let entry = NodeEntry::Registering { sent, node: None };
                self.nodes.insert(name.clone(), entry);
            }
            Some(NodeEntry::Accepted(accepted)) => {
                for uid in &accepted.pods {
                    self.lose_node(uid, name);
                }
                self.snapshot(SnapshotChange::RemoveNode { name: name.clone() });
                let note = format!("node {name} was deleted from the scheduler");
                self.event(EventObject::from(&*accepted.node), EventKind::NodeDeleted, note);
                self.tell_node(name.clone(), NodeChange::Decommission);
                // The asks follow the node, so that the core has dropped the allocations.
                for uid in &accepted.pods {
                    self.ask_after_loss(uid);
                }
            }
        }
    }

    /// Moves a pod from a deleted node: an assumed pod has no node, and a bound one is an orphan.
    fn lose_node(&mut self, uid: &Text, name: &Text) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.place = Place::Nowhere;
        let is_bound = match &mut entry.kind {
            PodKind::Foreign { sent } => {
                *sent = None;
                true
            }
            PodKind::Own(None) => true,
            PodKind::Own(Some(task)) => match &mut task.state {
                TaskState::Allocated(binding) if entry.pod.spec.node_name.is_empty() => {
                    match binding.progress {
                        BindProgress::Requested => binding.progress = BindProgress::NodeLost,
                        BindProgress::Delayed | BindProgress::PodGone | BindProgress::NodeLost => {}
                    }
                    false
                }
                TaskState::Bound(confirmed) => {
                    *confirmed = Confirmed::No;
                    true
                }
                TaskState::New
                | TaskState::Scheduling { .. }
                | TaskState::Allocated(_)
                | TaskState::Failed => true,
            },
        };
        self.snapshot(SnapshotChange::Remove { uid: uid.clone(), node: name.clone() });
        if is_bound {
            self.set_place(uid, Place::Orphan(name.clone()));
        }
        self.confirmed(uid);
    }

    fn adopt_orphans(&mut self, name: &Text) {
        let orphans = self.orphans.remove(name).unwrap_or_default();
        let mut pods: Vec<_> = orphans.iter().filter_map(|uid| self.pods.get(uid)).collect();
        pods.sort_by_key(|entry| super::pod::age(&entry.pod));
        let pods: Vec<_> = pods.into_iter().map(|entry| entry.pod.clone()).collect();
        for pod in &pods {
            self.pod_applied(pod);
        }
    }

    /// Returns the message after which the core asks about a node again, because verdicts on it have changed.
    pub fn ask_again_about(&self, node: &str) -> Option<CoreMessage> {
        match self.nodes.get(node)? {
            NodeEntry::Registering { .. } => None,
            NodeEntry::Accepted(accepted) => Some(CoreMessage::Node(NodeSubmission {
                name: accepted.node.metadata.name.clone(),
                change: NodeChange::Update { capacity: accepted.sent.clone() },
            })),
        }
    }

    /// Enables every node that is not cordoned.
    pub(super) fn enable_nodes(&mut self) {
        let mut names: Vec<Text> = self.nodes.keys().cloned().collect();
        names.sort();
        for name in names {
            self.update_node(&name);
        }
    }

    fn tell_node(&mut self, name: Text, change: NodeChange) {
        self.tell(CoreMessage::Node(NodeSubmission { name, change }));
    }
}
