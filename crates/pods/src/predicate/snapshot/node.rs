//! Facts about a node and its pods.

use std::sync::Arc;

use crate::object::{Labels, Node, Text};
use crate::predicate::amounts::{Amounts, offered};

use super::class::ClassId;
use super::pod::{HostPort, PodFacts};

/// A node with its pods, and the sums over them.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    node: Arc<Node>,
    offered: Amounts,
    max_pods: i64,
    pods: Vec<(Arc<PodFacts>, ClassId)>,
    /// Classes of the pods, and the number of pods of each.
    classes: Vec<(ClassId, u32)>,
    used: Amounts,
    ports: Vec<HostPort>,
}

impl NodeFacts {
    pub(super) fn new(node: Arc<Node>) -> Self {
        let (offered, max_pods) = offered(&node.status.allocatable);
        Self {
            node,
            offered,
            max_pods,
            pods: Vec::new(),
            classes: Vec::new(),
            used: Amounts::default(),
            ports: Vec::new(),
        }
    }

    pub(super) fn set_node(&mut self, node: Arc<Node>) {
        (self.offered, self.max_pods) = offered(&node.status.allocatable);
        self.node = node;
    }

    pub(super) fn add_pod(&mut self, pod: Arc<PodFacts>, class: ClassId) {
        self.used.add(pod.requested());
        self.ports.extend(pod.ports().iter().cloned());
        match self.classes.iter_mut().find(|(other, _)| *other == class) {
            Some((_, count)) => *count += 1,
            None => self.classes.push((class, 1)),
        }
        self.pods.push((pod, class));
    }

    /// Removes a pod and returns it.
    pub(super) fn remove_pod(&mut self, uid: &str) -> Option<Arc<PodFacts>> {
        let pod = self.evict(uid)?;
        if !pod.ports().is_empty() {
            self.ports = self.pods.iter().flat_map(|(pod, _)| pod.ports()).cloned().collect();
        }
        Some(pod)
    }

    /// Removes a pod as kube-scheduler's dry run of a preemption does, and returns it.
    ///
    /// If several pods use the same port, the dry run frees it with the first of them.
    pub(in crate::predicate) fn evict(&mut self, uid: &str) -> Option<Arc<PodFacts>> {
        let position = self.pods.iter().position(|(pod, _)| pod.pod().metadata.uid == *uid)?;
        let (pod, class) = self.pods.swap_remove(position);
        if let Some(position) = self.classes.iter().position(|(other, _)| *other == class) {
            self.classes[position].1 -= 1;
            if self.classes[position].1 == 0 {
                self.classes.swap_remove(position);
            }
        }
        self.used.subtract(pod.requested());
        self.ports.retain(|port| !pod.ports().contains(port));
        Some(pod)
    }

    /// Returns the node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the name of the node.
    pub fn name(&self) -> &Text {
        &self.node.metadata.name
    }

    /// Returns the labels of the node.
    pub fn labels(&self) -> &Labels {
        &self.node.metadata.labels
    }

    /// Returns the pods on the node.
    pub fn pods(&self) -> impl ExactSizeIterator<Item = &PodFacts> {
        self.pods.iter().map(|(pod, _)| &**pod)
    }

    /// Returns the classes of the pods on the node, and the number of pods of each.
    pub fn classes(&self) -> impl Iterator<Item = (ClassId, u32)> {
        self.classes.iter().copied()
    }

    /// Returns the pod of this UID.
    pub fn pod(&self, uid: &str) -> Option<&PodFacts> {
        self.pods().find(|pod| pod.pod().metadata.uid == *uid)
    }

    /// Returns what the node offers to pods.
    pub fn offered(&self) -> &Amounts {
        &self.offered
    }

    /// Returns the number of pods that the node takes.
    pub fn max_pods(&self) -> i64 {
        self.max_pods
    }

    /// Returns the sum over the pods on the node.
    pub fn used(&self) -> &Amounts {
        &self.used
    }

    /// Returns the ports that the pods on the node use.
    pub fn ports(&self) -> &[HostPort] {
        &self.ports
    }
}
