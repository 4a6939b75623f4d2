//! The start: nodes are registered, then existing allocations are confirmed, then nodes take asks.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::convert::identity::is_ours;
use crate::object::{Node, Pod, Text};

use super::Shim;
use super::pod::age;
use super::state::{Place, TaskState};

/// How far the start is.
#[derive(Debug)]
pub(super) enum Phase {
    /// The core answers about the listed nodes.
    Nodes {
        /// Nodes without answer.
        unanswered: BTreeSet<Text>,
        /// Listed pods.
        pods: Vec<Arc<Pod>>,
        /// Changes of pods since the list.
        later: Vec<PodChange>,
    },
    /// The core confirms the allocations of existing pods.
    Allocations {
        /// UIDs of pods whose allocation is not confirmed.
        unconfirmed: HashSet<Text>,
    },
    /// The start is over.
    Live,
}

/// Change of a pod.
#[derive(Debug)]
pub(super) enum PodChange {
    /// The pod was created or changed.
    Applied(Arc<Pod>),
    /// The pod was deleted.
    Gone(Arc<Pod>),
}

impl Shim {
    pub(super) fn listed(&mut self, nodes: &[Arc<Node>], pods: Vec<Arc<Pod>>) {
        let unanswered = nodes.iter().map(|node| node.metadata.name.clone()).collect();
        self.phase = Phase::Nodes { unanswered, pods, later: Vec::new() };
        for node in nodes {
            self.node_applied(node);
        }
        self.check_nodes();
    }

    pub(super) fn node_answered(&mut self, name: &Text) {
        if let Phase::Nodes { unanswered, .. } = &mut self.phase {
            unanswered.remove(name);
        }
        self.check_nodes();
    }

    /// Takes the listed pods as soon as the core has answered about all listed nodes.
    fn check_nodes(&mut self) {
        match &self.phase {
            Phase::Nodes { unanswered, .. } if unanswered.is_empty() => {}
            Phase::Nodes { .. } | Phase::Allocations { .. } | Phase::Live => return,
        }
        let allocations = Phase::Allocations { unconfirmed: HashSet::new() };
        let Phase::Nodes { mut pods, later, .. } = std::mem::replace(&mut self.phase, allocations)
        else {
            return;
        };
        // The oldest pod of an application determines it.
        pods.sort_by_key(|pod| age(pod));
        let later_pods = later.iter().map(|change| match change {
            PodChange::Applied(pod) | PodChange::Gone(pod) => pod,
        });
        let is_existing = |pod: &&Arc<Pod>| is_ours(pod) && !pod.spec.node_name.is_empty();
        let existing = pods.iter().chain(later_pods).filter(is_existing);
        let mut existing: HashSet<Text> = existing.map(|pod| pod.metadata.uid.clone()).collect();
        for pod in &pods {
            self.pod_applied(pod);
        }
        for change in later {
            match change {
                PodChange::Applied(pod) => self.pod_applied(&pod),
                PodChange::Gone(pod) => self.pod_gone(&pod),
            }
        }
        existing.retain(|uid| self.is_unconfirmed(uid));
        self.phase = Phase::Allocations { unconfirmed: existing };
        self.check_recovered();
    }

    /// Returns whether the core has to confirm the allocation of a pod on a known node.
    fn is_unconfirmed(&self, uid: &Text) -> bool {
        let Some(entry) = self.pods.get(uid) else { return false };
        let is_placed = match &entry.place {
            Place::Node(_) => true,
            Place::Nowhere | Place::Orphan(_) => false,
        };
        is_placed
            && entry.task().is_none_or(|task| match &task.state {
                TaskState::New | TaskState::Scheduling { .. } => true,
                TaskState::Allocated(_) | TaskState::Bound(_) | TaskState::Failed => false,
            })
    }

    /// Notes that a pod no longer waits for the confirmation of its allocation.
    pub(super) fn confirmed(&mut self, uid: &Text) {
        if let Phase::Allocations { unconfirmed } = &mut self.phase
            && unconfirmed.remove(uid)
        {
            self.check_recovered();
        }
    }

    pub(super) fn check_recovered(&mut self) {
        match &self.phase {
            Phase::Allocations { unconfirmed } if unconfirmed.is_empty() => {
                self.phase = Phase::Live;
                self.enable_nodes();
            }
            Phase::Allocations { .. } | Phase::Nodes { .. } | Phase::Live => {}
        }
    }

    /// Takes a notice about a pod, or keeps it until the listed pods are taken.
    pub(super) fn pod_noticed(&mut self, pod: Arc<Pod>) {
        match &mut self.phase {
            Phase::Nodes { later, .. } => later.push(PodChange::Applied(pod)),
            Phase::Allocations { .. } | Phase::Live => self.pod_applied(&pod),
        }
    }

    pub(super) fn pod_gone_noticed(&mut self, pod: &Arc<Pod>) {
        match &mut self.phase {
            Phase::Nodes { later, .. } => later.push(PodChange::Gone(pod.clone())),
            Phase::Allocations { .. } | Phase::Live => self.pod_gone(pod),
        }
    }
}
