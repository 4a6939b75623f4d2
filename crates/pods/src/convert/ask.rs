//! Asks and allocations: what the core is sent about one pod.

use crate::object::{NodeSelectorOperator, Pod, PreemptionPolicy, PriorityClass, Text};

use super::amounts::{Amounts, pod_amounts};
use super::application::{Tags, created};
use super::identity::{is_placeholder, task_group_name};
use super::key::{self, tag};

/// Ask of one of our pods. With a node, an allocation that already exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// UID of the pod.
    pub key: Text,
    /// Application ID.
    pub application: Text,
    /// Requested amounts.
    pub amounts: Amounts,
    /// Node that already runs the pod. Empty for an ask.
    pub node: Text,
    /// Whether the pod is a placeholder.
    pub placeholder: bool,
    /// Name of the task group. Empty for an ordinary ask.
    pub task_group: Text,
    /// Whether the pod started the application. At most one ask of an application has this mark.
    pub originator: bool,
    /// Priority of the pod.
    pub priority: i32,
    /// How the ask takes part in preemption.
    pub preemption: Preemption,
    /// Tags of the pod.
    pub tags: Tags,
}

/// How an ask takes part in preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// Whether the pod can be a victim.
    pub allow_self: bool,
    /// Whether the pod can preempt others.
    pub allow_other: bool,
}

/// Facts about a task that its pod does not tell.
#[derive(Clone, Copy, Debug)]
pub struct TaskFacts<'a> {
    /// Application ID.
    pub application: &'a Text,
    /// UID of the pod that owns the placeholders of the application.
    pub originator: &'a Text,
    /// What the priority class of the pod tells about preemption.
    pub class: ClassPreemption,
}

/// Builds the ask of a pod.
pub fn ask(pod: &Pod, facts: TaskFacts<'_>) -> Ask {
    let placeholder = is_placeholder(pod);
    Ask {
        key: pod.metadata.uid.clone(),
        application: facts.application.clone(),
        amounts: pod_amounts(pod),
        node: pod.spec.node_name.clone(),
        placeholder,
        task_group: task_group_name(pod),
        originator: !placeholder && pod.metadata.uid == *facts.originator,
        priority: priority(pod),
        preemption: preemption(pod, facts.class),
        tags: pod_tags(pod),
    }
}

/// Allocation of a pod that another scheduler placed. It uses the node, but no queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignAllocation {
    /// UID of the pod.
    pub key: Text,
    /// Node that runs the pod.
    pub node: Text,
    /// Amounts that the pod takes.
    pub amounts: Amounts,
    /// Priority of the pod.
    pub priority: i32,
    /// Tags of the pod, among them whether it is static.
    pub tags: Tags,
}

/// Builds the allocation of a foreign pod that has a node.
pub fn foreign_allocation(pod: &Pod) -> ForeignAllocation {
    let is_static = pod.metadata.owner_references.iter().any(|owner| owner.kind == "Node");
    let mut tags = pod_tags(pod);
    tags.insert(tag::FOREIGN.into(), if is_static { "static" } else { "default" }.into());
    ForeignAllocation {
        key: pod.metadata.uid.clone(),
        node: pod.spec.node_name.clone(),
        amounts: pod_amounts(pod),
        priority: priority(pod),
        tags,
    }
}

fn priority(pod: &Pod) -> i32 {
    pod.spec.priority.unwrap_or(0)
}

/// What a priority class tells about the preemption of its pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassPreemption {
    /// The class allows it, tells nothing, or is unknown.
    #[default]
    Allowed,
    /// The class forbids it.
    Forbidden,
}

impl From<&PriorityClass> for ClassPreemption {
    fn from(class: &PriorityClass) -> Self {
        match class.metadata.annotations.get(key::ALLOW_PREEMPTION) {
            Some(text) if *text == "false" => Self::Forbidden,
            Some(_) | None => Self::Allowed,
        }
    }
}

fn preemption(pod: &Pod, class: ClassPreemption) -> Preemption {
    let text = pod.metadata.annotations.get(key::ALLOW_PREEMPTION).map(Text::as_str);
    let allow_self = match text {
        Some("true") => true,
        Some("false") => false,
        Some(_) | None => class == ClassPreemption::Allowed,
    };
    let allow_other = match pod.spec.preemption_policy {
        PreemptionPolicy::Never => false,
        PreemptionPolicy::PreemptLowerPriority | PreemptionPolicy::Unknown => true,
    };
    Preemption { allow_self, allow_other }
}

fn pod_tags(pod: &Pod) -> Tags {
    let mut tags = Tags::new();
    let metadata = &pod.metadata;
    tags.insert(tag::POD_NAMESPACE.into(), metadata.namespace.clone());
    tags.insert(tag::POD_NAME.into(), metadata.name.clone());
    for (label, value) in metadata.labels.iter() {
        tags.insert(format!("{}{label}", tag::LABEL_PREFIX).into(), value.clone());
    }
    if let Some(seconds) = created(pod) {
        tags.insert(tag::CREATED.into(), seconds.to_string().into());
    }
    if let Some(node) = required_node(pod) {
        tags.insert(tag::REQUIRED_NODE.into(), node.clone());
    }
    tags
}

/// Name of the field that daemon sets require.
const NODE_NAME_FIELD: &str = "metadata.name";

/// Returns the only node that can take a pod of a daemon set. The last matching field of all terms counts.
pub fn required_node(pod: &Pod) -> Option<&Text> {
    let owners = &pod.metadata.owner_references;
    if !owners.iter().any(|owner| owner.kind == "DaemonSet") {
        return None;
    }
    let affinity = pod.spec.affinity.as_ref()?.node_affinity.as_ref()?;
    let terms = affinity.required.as_ref()?.node_selector_terms.iter();
    let mut fields = terms.flat_map(|term| &term.match_fields).rev();
    fields.find_map(|field| match &*field.values {
        [node] if field.key == NODE_NAME_FIELD && field.operator == NodeSelectorOperator::In => {
            Some(node)
        }
        _ => None,
    })
}
