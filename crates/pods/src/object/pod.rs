//! Pods.

use serde::{Deserialize, Deserializer};

use crate::quantity::Quantity;

use super::affinity::{Affinity, Toleration};
use super::metadata::{Metadata, or_default};
use super::selector::LabelSelector;
use super::text::{Labels, List, Map, Text};
use super::volume::{Volume, volumes};
use super::word::words;

/// Amounts by the name of their resource.
pub type ResourceList = Map<Quantity>;

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Raw")]
pub struct Pod {
    /// Names, labels, and annotations.
    pub metadata: Metadata,
    /// What the pod asks for.
    pub spec: PodSpec,
    /// How far the pod is.
    pub status: PodStatus,
}

/// A pod as JSON has it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    metadata: Metadata,
    spec: PodSpec,
    status: PodStatus,
}

impl From<Raw> for Pod {
    fn from(raw: Raw) -> Self {
        let Raw { metadata, spec, mut status } = raw;
        status.container_statuses = resized(status.container_statuses, &spec.containers);
        status.init_container_statuses =
            resized(status.init_container_statuses, &spec.init_containers);
        Self { metadata, spec, status }
    }
}

/// Returns the statuses that tell more than the containers: those with other amounts than requested.
fn resized(statuses: List<ContainerStatus>, containers: &[Container]) -> List<ContainerStatus> {
    let tells_more = |status: &ContainerStatus| {
        let container = containers.iter().find(|container| container.name == status.name);
        let requested = container.and_then(|container| container.resources.as_ref());
        let is_equal = |amounts: &ResourceList| match requested {
            None => amounts.is_empty(),
            Some(requested) => *amounts == requested.requests,
        };
        let allocated = &status.allocated_resources;
        let running = status.resources.as_ref();
        container.is_some()
            && !((allocated.is_empty() || is_equal(allocated))
                && running.is_none_or(|running| is_equal(&running.requests)))
    };
    if !statuses.iter().any(|status| !tells_more(status)) {
        return statuses;
    }
    statuses.iter().filter(|status| tells_more(status)).cloned().collect()
}

impl Pod {
    /// Returns whether all containers have ended for good.
    pub fn is_terminated(&self) -> bool {
        match self.status.phase {
            Phase::Succeeded | Phase::Failed => true,
            Phase::Pending | Phase::Running | Phase::Unknown => false,
        }
    }
}

/// What a pod asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodSpec {
    /// Name of the scheduler that places the pod.
    pub scheduler_name: Text,
    /// Node that runs the pod. Empty until the pod is bound.
    pub node_name: Text,
    /// Containers that run at the same time.
    pub containers: List<Container>,
    /// Containers that run before, and sidecars.
    pub init_containers: List<Container>,
    /// Amounts that the runtime needs in addition to the containers.
    pub overhead: ResourceList,
    /// Amounts for the whole pod.
    pub resources: Option<Box<ContainerResources>>,
    /// Gates that must be removed before the pod is scheduled.
    pub scheduling_gates: List<Named>,
    /// Priority. The API server copies it from the class.
    pub priority: Option<i32>,
    /// Whether the pod preempts others.
    pub preemption_policy: PreemptionPolicy,
    /// Name of the priority class.
    pub priority_class_name: Text,
    /// Labels that the node must have.
    pub node_selector: Labels,
    /// Affinity to nodes and pods.
    pub affinity: Option<Box<Affinity>>,
    /// Taints that the pod tolerates.
    pub tolerations: List<Toleration>,
    /// Limits for the difference between domains.
    pub topology_spread_constraints: List<TopologySpreadConstraint>,
    /// Whether the pod uses the network of the node.
    pub host_network: bool,
    /// Whether the pod uses the users of the node. Absent means yes.
    pub host_users: Option<bool>,
    /// Volumes that a predicate reads.
    #[serde(deserialize_with = "volumes")]
    pub volumes: List<Volume>,
    /// Claims of devices.
    pub resource_claims: List<PodResourceClaim>,
    /// Secrets with which images are read.
    pub image_pull_secrets: List<Named>,
}

/// A reference that is only a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Named {
    /// The name.
    pub name: Text,
}

words! {
    /// Whether a pod preempts pods of a lower priority.
    PreemptionPolicy {
        /// The pod preempts others.
        PreemptLowerPriority = "PreemptLowerPriority",
        /// The pod never preempts others.
        Never = "Never",
    } default PreemptLowerPriority else
    /// No policy that Kubernetes defines.
    Unknown
}

/// A container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    /// Name of the container, unique in its pod.
    pub name: Text,
    /// Amounts and devices.
    pub resources: Option<Box<ContainerResources>>,
    /// Restart policy. An init container with `Always` is a sidecar.
    pub restart_policy: ContainerRestartPolicy,
    /// Rules for restarts after an exit.
    pub restart_policy_rules: List<RestartRule>,
    /// Ports. Only those with a port of the node are stored.
    #[serde(deserialize_with = "host_ports")]
    pub ports: List<ContainerPort>,
}

impl Container {
    /// Returns the requested amounts.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = (&Text, &Quantity)> + Clone {
        static NONE: std::sync::LazyLock<ResourceList> =
            std::sync::LazyLock::new(ResourceList::default);
        self.resources.as_ref().map_or(&*NONE, |resources| &resources.requests).iter()
    }
}

/// Requested amounts. Limits are not stored: the API server copies them to absent requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerResources {
    /// Requested amounts.
    pub requests: ResourceList,
    /// Claims of the pod whose devices the container uses.
    pub claims: List<Named>,
}

words! {
    /// Restart policy of a container.
    ContainerRestartPolicy {
        /// Restarts after every exit.
        Always = "Always",
        /// Restarts after a failure.
        OnFailure = "OnFailure",
        /// Never restarts.
        Never = "Never",
    } default Unset else
    /// The policy of the pod applies.
    Unset
}

/// What happens after an exit of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RestartRule {
    /// The action, such as `Restart`.
    pub action: Text,
}

/// A port of the node that a container uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ContainerPort {
    /// Number of the port on the node. Zero means none.
    #[serde(rename = "hostPort")]
    pub host_port: i32,
    /// Address of the node. Empty means all.
    #[serde(rename = "hostIP")]
    pub host_ip: Text,
    /// Protocol of the port.
    pub protocol: Protocol,
}

fn host_ports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<ContainerPort>, D::Error> {
    let ports = Option::<Vec<ContainerPort>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(ports.into_iter().filter(|port| port.host_port > 0).collect())
}

words! {
    /// Protocol of a port.
    Protocol {
        /// TCP.
        Tcp = "TCP",
        /// UDP.
        Udp = "UDP",
        /// SCTP.
        Sctp = "SCTP",
    } default Tcp else
    /// No protocol that Kubernetes defines.
    Unknown
}

/// Limit for the difference between domains in the number of matching pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopologySpreadConstraint {
    /// Greatest difference to the domain with the fewest pods.
    pub max_skew: i32,
    /// Label of nodes that divides the cluster into domains.
    pub topology_key: Text,
    /// Whether the constraint must hold.
    pub when_unsatisfiable: UnsatisfiableAction,
    /// Pods that count. An absent selector selects none.
    pub label_selector: Option<LabelSelector>,
    /// With fewer domains, the domain with the fewest pods counts as empty. Absent means 1.
    pub min_domains: Option<i32>,
    /// Whether nodes outside the node affinity of the pod are left out.
    #[serde(deserialize_with = "or_default")]
    pub node_affinity_policy: Option<InclusionPolicy>,
    /// Whether nodes with taints that the pod does not tolerate are left out.
    #[serde(deserialize_with = "or_default")]
    pub node_taints_policy: Option<InclusionPolicy>,
    /// Labels of the pod that counted pods must have with the same values.
    pub match_label_keys: List<Text>,
}

words! {
    /// What happens if a spread constraint cannot hold.
    UnsatisfiableAction {
        /// The pod is not placed.
        DoNotSchedule = "DoNotSchedule",
        /// The constraint is only a preference.
        ScheduleAnyway = "ScheduleAnyway",
    } default DoNotSchedule else
    /// No action that Kubernetes defines.
    Unknown
}

words! {
    /// Whether a spread constraint leaves out nodes that the pod cannot use.
    InclusionPolicy {
        /// Leaves them out.
        Honor = "Honor",
        /// Counts them.
        Ignore = "Ignore",
    } default Unknown else
    /// No policy that Kubernetes defines.
    Unknown
}

/// A claim of devices that the pod uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodResourceClaim {
    /// Name in the pod.
    pub name: Text,
    /// Name of an existing claim.
    pub resource_claim_name: Text,
    /// Name of a template, from which Kubernetes creates a claim.
    pub resource_claim_template_name: Text,
}

/// How far a pod is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodStatus {
    /// Phase of the pod.
    pub phase: Phase,
    /// Conditions that Headroom reads. Others are not stored.
    #[serde(deserialize_with = "conditions")]
    pub conditions: List<PodCondition>,
    /// Status of the containers whose amounts differ from their requests. Others are not stored.
    pub container_statuses: List<ContainerStatus>,
    /// Status of the init containers whose amounts differ from their requests. Others are not stored.
    pub init_container_statuses: List<ContainerStatus>,
    /// Old form of the resize status.
    pub resize: Resize,
    /// Node on which pods were preempted for this pod.
    pub nominated_node_name: Text,
    /// Claims that were created from templates.
    pub resource_claim_statuses: List<ResourceClaimStatus>,
    /// Claim that was created for extended resources.
    pub extended_resource_claim_status: Option<Box<ExtendedResourceClaimStatus>>,
}

impl PodStatus {
    /// Returns whether the node refused a resize that was asked for.
    pub fn is_resize_infeasible(&self) -> bool {
        self.resize == Resize::Infeasible
            || self.conditions.iter().any(|condition| {
                condition.kind == PodConditionType::PodResizePending
                    && condition.reason == "Infeasible"
            })
    }
}

words! {
    /// Phase of a pod.
    Phase {
        /// Not all containers have started.
        Pending = "Pending",
        /// The containers run.
        Running = "Running",
        /// All containers ended without failure.
        Succeeded = "Succeeded",
        /// All containers ended, and one failed.
        Failed = "Failed",
    } default Pending else
    /// The node does not answer.
    Unknown
}

words! {
    /// Status of a resize, as older servers report it.
    Resize {
        /// The node will never grant it.
        Infeasible = "Infeasible",
    } default None else
    /// Any other status.
    None
}

/// A condition of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodCondition {
    /// What the condition is about.
    #[serde(rename = "type")]
    pub kind: PodConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Reason in one word.
    pub reason: Text,
}

words! {
    /// What a condition of a pod is about.
    PodConditionType {
        /// Whether the pod has a node.
        PodScheduled = "PodScheduled",
        /// Whether a resize waits.
        PodResizePending = "PodResizePending",
    } default Other else
    /// A condition that Headroom does not read.
    Other
}

words! {
    /// Whether a condition holds.
    ConditionStatus {
        /// It holds.
        True = "True",
        /// It does not hold.
        False = "False",
    } default Unknown else
    /// Nobody knows.
    Unknown
}

fn conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<PodCondition>, D::Error> {
    let conditions = Option::<Vec<PodCondition>>::deserialize(deserializer)?.unwrap_or_default();
    let is_read = |condition: &PodCondition| condition.kind != PodConditionType::Other;
    Ok(conditions.into_iter().filter(is_read).collect())
}

/// Status of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerStatus {
    /// Name of the container.
    pub name: Text,
    /// Amounts that the node granted.
    pub allocated_resources: ResourceList,
    /// Amounts that the container runs with.
    pub resources: Option<Box<ContainerResources>>,
}

/// A claim that was created from a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceClaimStatus {
    /// Name in the pod.
    pub name: Text,
    /// Name of the claim. Empty if none is needed.
    pub resource_claim_name: Text,
}

/// Claim that was created for extended resources that a device class backs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExtendedResourceClaimStatus {
    /// Name of the claim.
    pub resource_claim_name: Text,
    /// Requests of the claim for each container and resource.
    pub request_mappings: List<RequestMapping>,
}

/// Request that backs an extended resource of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RequestMapping {
    /// Name of the container.
    pub container_name: Text,
    /// Name of the extended resource.
    pub resource_name: Text,
    /// Name of the request.
    pub request_name: Text,
}
