//! Messages to the core.

use std::collections::BTreeMap;

use headroom_api::si::headroom::rm_message::Content;
use headroom_api::si::headroom::{Capabilities, Register};
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, AllocationRelease, AllocationReleasesRequest,
    AllocationRequest, ApplicationRequest, NodeInfo, NodeRequest, PreemptionPolicy, Quantity,
    RegisterResourceManagerRequest, RemoveApplicationRequest, Resource, TerminationType,
    UpdateConfigurationRequest, UserGroupInformation,
};
use headroom_pods::convert::amounts::Amounts;
use headroom_pods::convert::application::{ApplicationSubmission, Tags};
use headroom_pods::convert::ask::{Ask, ForeignAllocation};
use headroom_pods::convert::gang::GangStyle;
use headroom_pods::convert::node::{NodeChange, NodeSubmission, RACK};
use headroom_pods::shim::{Configuration, CoreMessage, Termination};

/// Version of the scheduler interface.
const VERSION: &str = "1";
/// The only partition.
const PARTITION: &str = "default";

/// Attribute of a node: its host name.
const HOST_NAME: &str = "si.io/hostname";
/// Attribute of a node: its rack.
const RACK_NAME: &str = "si.io/rackname";

/// Returns the first message of the session, with the queue file.
pub(crate) fn register(configuration: &Configuration) -> Content {
    let settings = configuration.settings();
    let extra = configuration.extra();
    let extra = extra.iter().map(|(key, value)| (key.to_string(), value.to_string()));
    let manager = RegisterResourceManagerRequest {
        rm_id: settings.cluster.to_string(),
        version: VERSION.to_owned(),
        policy_group: settings.policy_group.to_string(),
        config: configuration.queue_file().map(|file| file.to_string()).unwrap_or_default(),
        extra_config: extra.collect(),
        ..RegisterResourceManagerRequest::default()
    };
    let capabilities = Capabilities {
        predicates: true,
        preemption_predicates: true,
        predicates_cacheable: true,
        container_state: true,
        state_dump: true,
        // A round trip in the process is short, and each verdict counts the placements before it.
        questions_at_once: 1,
        ..Capabilities::default()
    };
    Content::Register(Register {
        manager: Some(manager),
        capabilities: Some(capabilities),
        ..Register::default()
    })
}

/// Returns the messages of the scheduler interface for a message of the state machine. `rm` is the ID of this resource
/// manager. `ask` returns the ask of a pod, for a bind that failed: the core drops the allocation, and then takes the ask
/// again.
pub(crate) fn requests(
    rm: &str,
    message: CoreMessage,
    ask: impl FnOnce(&str) -> Option<Ask>,
) -> Vec<Content> {
    match message {
        CoreMessage::Configuration { queue_file, extra } => {
            let extra = extra.iter().map(|(key, value)| (key.to_string(), value.to_string()));
            vec![Content::Configuration(UpdateConfigurationRequest {
                rm_id: rm.to_owned(),
                config: queue_file.map(|file| file.to_string()).unwrap_or_default(),
                extra_config: extra.collect(),
                ..UpdateConfigurationRequest::default()
            })]
        }
        CoreMessage::Application(application) => vec![Content::Application(ApplicationRequest {
            new: vec![new_application(*application)],
            rm_id: rm.to_owned(),
            ..ApplicationRequest::default()
        })],
        CoreMessage::RemoveApplication { id } => {
            let remove = RemoveApplicationRequest {
                application_id: id.to_string(),
                partition_name: PARTITION.to_owned(),
            };
            vec![Content::Application(ApplicationRequest {
                remove: vec![remove],
                rm_id: rm.to_owned(),
                ..ApplicationRequest::default()
            })]
        }
        CoreMessage::Ask(ask) => vec![allocation(rm, ask_of(*ask))],
        CoreMessage::Foreign(foreign) => vec![allocation(rm, foreign_of(*foreign))],
        CoreMessage::Release { application, key, termination } => {
            let again = (termination == Termination::SchedulingFailed).then(|| ask(&key)).flatten();
            let release = AllocationRelease {
                partition_name: PARTITION.to_owned(),
                application_id: application.map(|id| id.to_string()).unwrap_or_default(),
                termination_type: termination_type(termination).into(),
                allocation_key: key.to_string(),
                ..AllocationRelease::default()
            };
            let releases = AllocationReleasesRequest { allocations_to_release: vec![release] };
            let release = Content::Allocation(AllocationRequest {
                releases: Some(releases),
                rm_id: rm.to_owned(),
                ..AllocationRequest::default()
            });
            let again = again.map(|ask| allocation(rm, ask_of(ask)));
            std::iter::once(release).chain(again).collect()
        }
        CoreMessage::Node(node) => {
            vec![Content::Node(NodeRequest { nodes: vec![node_info(node)], rm_id: rm.to_owned() })]
        }
    }
}

fn allocation(rm: &str, allocation: Allocation) -> Content {
    Content::Allocation(AllocationRequest {
        allocations: vec![allocation],
        rm_id: rm.to_owned(),
        ..AllocationRequest::default()
    })
}

fn new_application(application: ApplicationSubmission) -> AddApplicationRequest {
    let ApplicationSubmission { id, queue, user, tags, placeholder_ask, timeout_millis, style } =
        application;
    let ugi = UserGroupInformation {
        user: user.name.to_string(),
        groups: user.groups.iter().map(ToString::to_string).collect(),
    };
    let style = match style {
        GangStyle::Soft => "Soft",
        GangStyle::Hard => "Hard",
    };
    AddApplicationRequest {
        application_id: id.to_string(),
        queue_name: queue.to_string(),
        partition_name: PARTITION.to_owned(),
        ugi: Some(ugi),
        tags: texts(tags),
        execution_timeout_milli_seconds: timeout_millis,
        placeholder_ask: (!placeholder_ask.is_empty()).then(|| resource(&placeholder_ask)),
        gang_scheduling_style: style.to_owned(),
    }
}

fn ask_of(ask: Ask) -> Allocation {
    let policy = PreemptionPolicy {
        allow_preempt_self: ask.preemption.allow_self,
        allow_preempt_other: ask.preemption.allow_other,
    };
    Allocation {
        allocation_key: ask.key.to_string(),
        allocation_tags: texts(ask.tags),
        resource_per_alloc: Some(resource(&ask.amounts)),
        priority: ask.priority,
        node_id: ask.node.to_string(),
        application_id: ask.application.to_string(),
        partition_name: PARTITION.to_owned(),
        task_group_name: ask.task_group.to_string(),
        placeholder: ask.placeholder,
        originator: ask.originator,
        preemption_policy: Some(policy),
    }
}

fn foreign_of(foreign: ForeignAllocation) -> Allocation {
    Allocation {
        allocation_key: foreign.key.to_string(),
        allocation_tags: texts(foreign.tags),
        resource_per_alloc: Some(resource(&foreign.amounts)),
        priority: foreign.priority,
        node_id: foreign.node.to_string(),
        partition_name: PARTITION.to_owned(),
        ..Allocation::default()
    }
}

fn node_info(node: NodeSubmission) -> NodeInfo {
    let (action, capacity) = match node.change {
        NodeChange::CreateDrained { capacity } => (ActionFromRm::CreateDrain, Some(capacity)),
        NodeChange::Update { capacity } => (ActionFromRm::Update, Some(capacity)),
        NodeChange::Drain => (ActionFromRm::DrainNode, None),
        NodeChange::Resume => (ActionFromRm::DrainToSchedulable, None),
        NodeChange::Decommission => (ActionFromRm::Decomission, None),
    };
    let attributes = [(HOST_NAME, node.name.to_string()), (RACK_NAME, RACK.to_owned())];
    NodeInfo {
        node_id: node.name.to_string(),
        action: action.into(),
        attributes: attributes.map(|(key, value)| (key.to_owned(), value)).into(),
        schedulable_resource: capacity.as_ref().map(resource),
    }
}

fn termination_type(termination: Termination) -> TerminationType {
    match termination {
        // The interface has no type for a bind that failed. The ask follows.
        Termination::StoppedByRm | Termination::SchedulingFailed => TerminationType::StoppedByRm,
        Termination::Timeout => TerminationType::Timeout,
        Termination::Preempted => TerminationType::PreemptedByScheduler,
        Termination::PlaceholderReplaced => TerminationType::PlaceholderReplaced,
    }
}

fn resource(amounts: &Amounts) -> Resource {
    let amounts = amounts.iter().map(|(name, value)| (name.to_owned(), Quantity { value }));
    Resource { resources: amounts.collect() }
}

fn texts(tags: Tags) -> BTreeMap<String, String> {
    tags.into_iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}
