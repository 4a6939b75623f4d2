//! Facts that the state machine holds about pods, tasks, applications, and nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::convert::amounts::Amounts;
use crate::convert::application::GangPlan;
use crate::object::{Node, Pod, Text};

use super::message::{BindStep, ClaimName, Termination, WaitReason};

/// A pod that exists.
#[derive(Debug)]
pub(super) struct PodEntry {
    pub(super) pod: Arc<Pod>,
    pub(super) place: Place,
    pub(super) kind: PodKind,
}

impl PodEntry {
    pub(super) fn task(&self) -> Option<&Task> {
        match &self.kind {
            PodKind::Own(task) => task.as_deref(),
            PodKind::Foreign { .. } => None,
        }
    }

    pub(super) fn task_mut(&mut self) -> Option<&mut Task> {
        match &mut self.kind {
            PodKind::Own(task) => task.as_deref_mut(),
            PodKind::Foreign { .. } => None,
        }
    }
}

/// Node of a pod. A pod that is assumed on a node is there before the API server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The pod has no node.
    Nowhere,
    /// The pod is on a node that the core accepted.
    Node(Text),
    /// The pod is on a node that is unknown or not accepted yet.
    Orphan(Text),
}

/// Who places a pod.
#[derive(Debug)]
pub(super) enum PodKind {
    /// Headroom does. A pod with gates, or of an unknown namespace or node, has no task.
    Own(Option<Box<Task>>),
    /// Another scheduler does.
    Foreign {
        /// Amounts that the core knows, or nothing if it does not know the pod.
        sent: Option<Amounts>,
    },
}

/// Task of one of our pods.
///
/// A task in an end state other than failed is not stored, and a failed one only until its pod is gone. The states of
/// the reference between which nothing can happen here (`Pending`) and that nothing reaches (`Killing`, `Killed`) are
/// left out.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) application: Text,
    pub(super) state: TaskState,
    pub(super) placeholder: bool,
    pub(super) group: Text,
    /// Amounts in the last ask.
    pub(super) amounts: Amounts,
    /// Why the core took the allocation back.
    pub(super) termination: Option<Termination>,
    /// Last condition of the pod. The watch can be behind, so the pod does not tell.
    pub(super) written: Option<WaitReason>,
    /// Claim that was reported as missing.
    pub(super) claim_fault: Option<(ClaimName, ClaimFault)>,
    /// Position in the order of submission.
    pub(super) order: Order,
}

/// Order of pods: by creation time, then by name, because many pods can come in one second. The UID is last.
pub(super) type Age = (i64, Text, Text);

/// Order in which the tasks of an application are submitted: by creation time, then by first sight.
pub(super) type Order = (i64, u64);

/// State of a task.
#[derive(Debug)]
pub(super) enum TaskState {
    /// The ask is not sent.
    New,
    /// The ask is sent. With a node, it is an allocation that the core has not confirmed.
    Scheduling {
        /// Node in the ask. Empty if the core selects one.
        node: Text,
    },
    /// The core selected a node, and the bind runs.
    Allocated(Box<Binding>),
    /// The pod has its node.
    Bound(Confirmed),
    /// The core refused the ask, or the bind failed for good.
    Failed,
}

impl TaskState {
    /// Returns whether the task can still change.
    pub(super) fn is_live(&self) -> bool {
        match self {
            Self::New | Self::Scheduling { .. } | Self::Allocated(_) | Self::Bound(_) => true,
            Self::Failed => false,
        }
    }

    /// Returns whether the pod has its node.
    pub(super) fn is_bound(&self) -> bool {
        match self {
            Self::Bound(_) => true,
            Self::New | Self::Scheduling { .. } | Self::Allocated(_) | Self::Failed => false,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::New => "New",
            Self::Scheduling { .. } => "Scheduling",
            Self::Allocated(_) => "Allocated",
            Self::Bound(_) => "Bound",
            Self::Failed => "Failed",
        }
    }
}

/// Whether the core has the allocation of a bound task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmed {
    /// The core has it.
    Yes,
    /// The core dropped it with the node.
    No,
}

/// Progress of a bind.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) node: Text,
    pub(super) step: BindStep,
    /// Failed tries of the step.
    pub(super) tries: usize,
    /// Ticket of the request whose outcome is expected.
    pub(super) ticket: u64,
    pub(super) progress: BindProgress,
}

/// What a bind waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindProgress {
    /// The outcome of a request.
    Requested,
    /// The time of the next try.
    Delayed,
    /// The deletion of the pod, which is gone at the API server.
    PodGone,
    /// The outcome of a request for a node that is gone. The core dropped the allocation.
    NodeLost,
}

/// What is wrong with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimFault {
    Missing,
    Deleting,
}

/// State of an application.
///
/// The states of the reference that an application leaves at once are left out: `New`, `Accepted`, and `Rejected`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplicationState {
    /// The core has not answered.
    Submitted,
    /// Placeholders are placed.
    Reserving,
    /// Placeholders are removed after a timeout.
    Resuming,
    /// Tasks are placed.
    Running,
    /// The application fails.
    Failing,
    /// The application failed. It stays until its tasks end.
    Failed,
}

impl ApplicationState {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Submitted => "Submitted",
            Self::Reserving => "Reserving",
            Self::Resuming => "Resuming",
            Self::Running => "Running",
            Self::Failing => "Failing",
            Self::Failed => "Failed",
        }
    }
}

/// An application.
#[derive(Debug)]
pub(super) struct Application {
    pub(super) state: ApplicationState,
    pub(super) created: Option<i64>,
    /// UID of the pod whose task is the originator.
    pub(super) originator: Text,
    pub(super) gang: Option<Box<Gang>>,
    /// UIDs of the live tasks.
    pub(super) tasks: BTreeSet<Text>,
    /// New tasks, in the order of submission.
    pub(super) fresh: BTreeMap<Order, Text>,
    /// Tasks that ended before the core accepted the application.
    pub(super) deferred: BTreeSet<Text>,
    /// Whether the core knows an ask of the application.
    pub(super) asked: bool,
    /// Pods that came after the application failed. They get a new application.
    pub(super) heirs: BTreeSet<Age>,
}

/// Gang of an application.
#[derive(Debug)]
pub(super) struct Gang {
    pub(super) plan: GangPlan,
    /// Progress of each group of the plan.
    pub(super) groups: Vec<GroupProgress>,
    /// UIDs of the live placeholder tasks.
    pub(super) placeholders: BTreeSet<Text>,
    /// Names of placeholders whose creation has no outcome.
    pub(super) creating: BTreeSet<Text>,
    /// Whether placeholders are unwanted. Those that still appear are deleted.
    pub(super) abandoned: bool,
}

/// Progress of a task group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupProgress {
    /// Placeholders that exist.
    pub(super) existing: u32,
    /// Placeholders that have a node.
    pub(super) bound: u32,
    /// Placeholders that are still to be created.
    pub(super) missing: u32,
}

/// Creations of placeholders without outcome, at most, of one application.
const CREATIONS_MAX: usize = 32;

impl Gang {
    pub(super) fn new(plan: GangPlan) -> Self {
        let groups = vec![GroupProgress::default(); plan.groups.len()];
        Self {
            plan,
            groups,
            placeholders: BTreeSet::new(),
            creating: BTreeSet::new(),
            abandoned: false,
        }
    }

    fn progress(&mut self, group: &Text) -> Option<&mut GroupProgress> {
        let position = self.plan.groups.iter().position(|other| other.name == *group)?;
        self.groups.get_mut(position)
    }

    /// Adds a placeholder task.
    pub(super) fn add(&mut self, uid: Text, group: &Text) {
        self.placeholders.insert(uid);
        if let Some(progress) = self.progress(group) {
            progress.existing += 1;
        }
    }

    /// Removes a placeholder task.
    pub(super) fn remove(&mut self, uid: &Text, group: &Text, was_bound: bool) {
        if self.placeholders.remove(uid)
            && let Some(progress) = self.progress(group)
        {
            progress.existing -= 1;
            progress.bound -= u32::from(was_bound);
        }
    }

    /// Notes that a placeholder task got a node or lost it.
    pub(super) fn set_bound(&mut self, uid: &Text, group: &Text, is_bound: bool) {
        if self.placeholders.contains(uid)
            && let Some(progress) = self.progress(group)
        {
            progress.bound = if is_bound { progress.bound + 1 } else { progress.bound - 1 };
        }
    }

    /// Notes which placeholders are missing.
    pub(super) fn count_missing(&mut self) {
        for (group, progress) in self.plan.groups.iter().zip(&mut self.groups) {
            progress.missing = group.min_member.saturating_sub(progress.existing);
        }
    }

    /// Returns the position of the group whose placeholder is created next, unless enough creations run.
    pub(super) fn next_missing(&mut self) -> Option<usize> {
        if self.abandoned || self.creating.len() >= CREATIONS_MAX {
            return None;
        }
        let position = self.groups.iter().position(|progress| progress.missing > 0)?;
        self.groups[position].missing -= 1;
        Some(position)
    }

    /// Returns whether every group has its placeholders on nodes.
    pub(super) fn is_complete(&self) -> bool {
        let mut groups = self.plan.groups.iter().zip(&self.groups);
        groups.all(|(group, progress)| progress.bound >= group.min_member)
    }
}

/// A node that exists, or that the core still has to answer about.
#[derive(Debug)]
pub(super) enum NodeEntry {
    /// The core has not answered.
    Registering {
        /// Amounts in the message to the core.
        sent: Amounts,
        /// Latest version, or nothing after the deletion.
        node: Option<Arc<Node>>,
    },
    /// The core accepted the node.
    Accepted(AcceptedNode),
}

/// A node that the core accepted.
#[derive(Debug)]
pub(super) struct AcceptedNode {
    pub(super) node: Arc<Node>,
    /// Amounts that the core knows.
    pub(super) sent: Amounts,
    /// Whether the node takes asks in the core.
    pub(super) enabled: bool,
    /// UIDs of the pods on the node.
    pub(super) pods: BTreeSet<Text>,
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;

    #[test]
    fn a_pod_costs_little_beside_its_object() {
        assert!(size_of::<PodEntry>() <= 96, "{} bytes", size_of::<PodEntry>());
        assert!(size_of::<Task>() <= 256, "{} bytes", size_of::<Task>());
        assert!(size_of::<Binding>() <= 64, "{} bytes", size_of::<Binding>());
    }
}
