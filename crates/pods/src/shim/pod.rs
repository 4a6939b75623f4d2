//! Pods: where they are, and which of them have tasks.

use std::sync::Arc;

use crate::convert::application::created;
use crate::convert::ask::foreign_allocation;
use crate::convert::event::{EventKind, EventObject};
use crate::convert::identity::is_ours;
use crate::object::{Pod, Text};

use super::message::{CoreMessage, SnapshotChange, Termination};
use super::state::{Age, NodeEntry, Place, PodEntry, PodKind};
use super::{NamespaceLookup, Shim};

/// Returns the position of a pod among others.
pub(super) fn age(pod: &Pod) -> Age {
    let metadata = &pod.metadata;
    (created(pod).unwrap_or(0), metadata.name.clone(), metadata.uid.clone())
}

/// Returns the namespace and the name of a pod.
fn name_of(pod: &Pod) -> (Text, Text) {
    (pod.metadata.namespace.clone(), pod.metadata.name.clone())
}

impl Shim {
    pub(super) fn pod_applied(&mut self, pod: &Arc<Pod>) {
        if is_ours(pod) { self.own_applied(pod) } else { self.foreign_applied(pod) }
    }

    pub(super) fn pod_gone(&mut self, pod: &Pod) {
        let uid = &pod.metadata.uid;
        if is_ours(pod) {
            self.own_ended(uid);
        } else {
            self.forget_pod(uid);
            self.release_foreign(uid);
        }
    }

    fn foreign_applied(&mut self, pod: &Arc<Pod>) {
        let uid = pod.metadata.uid.clone();
        if pod.is_terminated() {
            // The core knows only pods on known nodes.
            match self.pods.get(&uid).map(|entry| &entry.place) {
                Some(Place::Node(_)) => self.release_foreign(&uid),
                Some(Place::Nowhere | Place::Orphan(_)) | None => {}
            }
            return self.forget_pod(&uid);
        }
        let node = pod.spec.node_name.clone();
        if node.is_empty() {
            // A foreign pod counts from its assignment on.
            return;
        }
        let entry = PodEntry {
            pod: pod.clone(),
            place: Place::Nowhere,
            kind: PodKind::Foreign { sent: None },
        };
        self.pods.entry(uid.clone()).or_insert(entry).pod = pod.clone();
        let place = self.place_on(&node);
        self.set_place(&uid, place);
        self.tell_foreign(&uid, pod);
    }

    /// Sends a foreign pod on a known node, if the core does not know its amounts.
    fn tell_foreign(&mut self, uid: &Text, pod: &Pod) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let (Place::Node(_), PodKind::Foreign { sent }) = (&entry.place, &mut entry.kind) else {
            return;
        };
        let allocation = foreign_allocation(pod);
        if sent.as_ref() != Some(&allocation.amounts) {
            *sent = Some(allocation.amounts.clone());
            self.tell(CoreMessage::Foreign(Box::new(allocation)));
        }
    }

    fn release_foreign(&mut self, uid: &Text) {
        let (key, termination) = (uid.clone(), Termination::StoppedByRm);
        self.tell(CoreMessage::Release { application: None, key, termination });
    }

    fn own_applied(&mut self, pod: &Arc<Pod>) {
        let uid = pod.metadata.uid.clone();
        if pod.is_terminated() {
            return self.own_ended(&uid);
        }
        let is_new = !self.pods.contains_key(&uid);
        let place = self.own_place(pod);
        if is_new {
            let kind = PodKind::Own(None);
            let entry = PodEntry { pod: pod.clone(), place: Place::Nowhere, kind };
            self.pods.insert(uid.clone(), entry);
            self.names.insert(name_of(pod), uid.clone());
        } else if let Some(entry) = self.pods.get_mut(&uid) {
            entry.pod = pod.clone();
        }
        self.set_place(&uid, place.clone());
        match place {
            Place::Orphan(_) => return self.orphan_task(&uid),
            Place::Node(_) => {}
            Place::Nowhere => {
                if !pod.spec.scheduling_gates.is_empty() {
                    if is_new {
                        self.report_gates(pod);
                    }
                    return;
                }
            }
        }
        self.ensure_task(&uid, NamespaceLookup::Open);
    }

    /// Returns the place of one of our pods. The watch can be behind our own bind.
    fn own_place(&self, pod: &Pod) -> Place {
        if !pod.spec.node_name.is_empty() {
            return self.place_on(&pod.spec.node_name);
        }
        let entry = self.pods.get(&pod.metadata.uid);
        entry.map_or(Place::Nowhere, |entry| entry.place.clone())
    }

    fn place_on(&self, node: &Text) -> Place {
        if node.is_empty() {
            Place::Nowhere
        } else if self.is_accepted(node) {
            Place::Node(node.clone())
        } else {
            Place::Orphan(node.clone())
        }
    }

    fn report_gates(&mut self, pod: &Pod) {
        let gates: Vec<&str> = pod.spec.scheduling_gates.iter().map(|gate| &*gate.name).collect();
        let note = format!("the pod waits for scheduling gates: {}", gates.join(","));
        self.event(EventObject::from(pod), EventKind::Gated, note);
    }

    /// Ends one of our pods that turned terminal or is gone.
    fn own_ended(&mut self, uid: &Text) {
        if self.pods.contains_key(uid) {
            self.complete_task(uid);
            self.forget_pod(uid);
            self.confirmed(uid);
        }
    }

    fn forget_pod(&mut self, uid: &Text) {
        self.set_place(uid, Place::Nowhere);
        let Some(entry) = self.pods.remove(uid) else { return };
        // A newer pod can have the name already.
        let name = name_of(&entry.pod);
        if self.names.get(&name) == Some(uid) {
            self.names.remove(&name);
        }
    }

    /// Moves a pod, and updates the indexes and the snapshot.
    pub(super) fn set_place(&mut self, uid: &Text, place: Place) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let pod = entry.pod.clone();
        let old = std::mem::replace(&mut entry.place, place.clone());
        if old != place {
            match old {
                Place::Nowhere => {}
                Place::Node(node) => {
                    if let Some(NodeEntry::Accepted(accepted)) = self.nodes.get_mut(&node) {
                        accepted.pods.remove(uid);
                    }
                    self.snapshot(SnapshotChange::Remove { uid: uid.clone(), node });
                }
                Place::Orphan(node) => {
                    if let Some(orphans) = self.orphans.get_mut(&node) {
                        orphans.remove(uid);
                        if orphans.is_empty() {
                            self.orphans.remove(&node);
                        }
                    }
                }
            }
        }
        match place {
            Place::Nowhere => {}
            Place::Node(node) => {
                if let Some(NodeEntry::Accepted(accepted)) = self.nodes.get_mut(&node) {
                    accepted.pods.insert(uid.clone());
                }
                self.snapshot(SnapshotChange::Place { pod, node });
            }
            Place::Orphan(node) => {
                self.orphans.entry(node).or_default().insert(uid.clone());
            }
        }
    }
}
