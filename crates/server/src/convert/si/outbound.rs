//! Converts notices of the engine to messages for the RM.

use headroom_api::si::v1::update_container_scheduling_state_request::SchedulingState;
use headroom_api::si::v1::{
    AcceptedApplication, AcceptedNode, Allocation, AllocationRelease, AllocationResponse,
    ApplicationResponse, NodeResponse, PreemptionPolicy, RejectedApplication, TerminationType,
    UpdateContainerSchedulingStateRequest, UpdatedApplication,
};
use headroom_core::books::ApplicationState;
use headroom_core::{Name, Termination, Timestamp};
use headroom_engine::{Allocated, Notice, NoticeKind, Released, RmQuestion};

use super::{normalised, resource};

/// Name of the state transition when a gang exceeds its timeout.
const GANG_TIMEOUT: &str = "ResourceReservationTimeout";

/// One message to the RM.
#[derive(Clone, Debug, PartialEq)]
pub enum RmUpdate {
    /// A message on the stream of applications.
    Application(ApplicationResponse),
    /// A message on the stream of allocations.
    Allocation(AllocationResponse),
    /// A message on the stream of nodes.
    Node(NodeResponse),
    /// More nodes would help an ask.
    ContainerState(UpdateContainerSchedulingStateRequest),
    /// A question to the RM about this partition.
    Asked(Name, Box<RmQuestion>),
}

/// Returns the message about an event at this time.
pub fn rm_update(rm_id: &str, at: Timestamp, notice: &Notice) -> RmUpdate {
    match &notice.news {
        NoticeKind::ApplicationAccepted { application } => {
            RmUpdate::Application(ApplicationResponse {
                accepted: vec![AcceptedApplication { application_id: application.to_string() }],
                ..ApplicationResponse::default()
            })
        }
        NoticeKind::ApplicationRejected { application, reason } => {
            RmUpdate::Application(rejected(application.to_string(), reason.to_string()))
        }
        NoticeKind::ApplicationMoved { application, state, .. } => {
            RmUpdate::Application(updated(application, at, state.to_string(), transition(*state)))
        }
        NoticeKind::ApplicationExpired { application } => RmUpdate::Application(updated(
            application,
            at,
            "Expired".to_owned(),
            "expireApplication",
        )),
        NoticeKind::NodeAccepted { node } => RmUpdate::Node(NodeResponse {
            accepted: vec![AcceptedNode { node_id: node.to_string() }],
            ..NodeResponse::default()
        }),
        NoticeKind::Allocated(one) => RmUpdate::Allocation(AllocationResponse {
            new: vec![allocation(one)],
            ..AllocationResponse::default()
        }),
        NoticeKind::Released(one) => RmUpdate::Allocation(AllocationResponse {
            released: vec![release(&normalised(rm_id, &notice.partition), one)],
            ..AllocationResponse::default()
        }),
        NoticeKind::ScaleUp { application, key } => {
            RmUpdate::ContainerState(UpdateContainerSchedulingStateRequest {
                application_id: application.to_string(),
                allocation_key: key.to_string(),
                state: SchedulingState::Failed.into(),
                reason:
                    "the ask fits the headroom of the queue, but no node has enough free capacity"
                        .to_owned(),
            })
        }
        NoticeKind::Asked(asked) => RmUpdate::Asked(notice.partition.clone(), asked.clone()),
    }
}

/// Returns the message that an application has entered a state, with the transition.
fn updated(
    application: &Name,
    at: Timestamp,
    state: String,
    transition: &str,
) -> ApplicationResponse {
    let updated = UpdatedApplication {
        application_id: application.to_string(),
        state,
        state_transition_timestamp: nanoseconds(at),
        message: transition.to_owned(),
    };
    ApplicationResponse { updated: vec![updated], ..ApplicationResponse::default() }
}

/// Returns the message that an application was rejected.
pub(super) fn rejected(application_id: String, reason: String) -> ApplicationResponse {
    ApplicationResponse {
        rejected: vec![RejectedApplication { application_id, reason }],
        ..ApplicationResponse::default()
    }
}

/// Returns an allocation. Tags, priority, and partition are not sent. Source: scheduler interface §7.1.
fn allocation(one: &Allocated) -> Allocation {
    Allocation {
        allocation_key: one.key.to_string(),
        resource_per_alloc: Some(resource(&one.resources)),
        node_id: one.node.to_string(),
        application_id: one.application.to_string(),
        task_group_name: one.task_group.to_string(),
        placeholder: one.placeholder,
        originator: one.originator,
        preemption_policy: Some(PreemptionPolicy {
            allow_preempt_self: one.preemptable,
            allow_preempt_other: one.may_preempt,
        }),
        ..Allocation::default()
    }
}

fn release(partition: &str, one: &Released) -> AllocationRelease {
    AllocationRelease {
        partition_name: partition.to_owned(),
        application_id: one.application.to_string(),
        termination_type: termination(one.termination).into(),
        message: sentence(one),
        allocation_key: one.key.to_string(),
    }
}

const fn termination(why: Termination) -> TerminationType {
    match why {
        Termination::StoppedByRm | Termination::NodeRemoved | Termination::PartitionRemoved => {
            TerminationType::StoppedByRm
        }
        // The interface has no separate value for a lifetime.
        Termination::Timeout | Termination::LifetimeOver => TerminationType::Timeout,
        Termination::Preempted => TerminationType::PreemptedByScheduler,
        Termination::PlaceholderReplaced => TerminationType::PlaceholderReplaced,
    }
}

/// Returns why an allocation was or will be released, for people.
fn sentence(one: &Released) -> String {
    let cause = &one.cause;
    match one.termination {
        Termination::StoppedByRm => "removed at the request of the resource manager".to_owned(),
        Termination::NodeRemoved => "its node was removed".to_owned(),
        Termination::PartitionRemoved => "its partition was removed".to_owned(),
        Termination::Timeout => {
            "the placeholder was released, because its gang is not complete, or no member fits the \
             placeholder"
                .to_owned()
        }
        Termination::Preempted => format!("preempted for {cause}"),
        Termination::PlaceholderReplaced => format!("{cause} replaces the placeholder"),
        Termination::LifetimeOver => "the lifetime of the application ended".to_owned(),
    }
}

/// Returns the reference's name of the transition into a state of an application. Source: scheduler interface §8.
const fn transition(state: ApplicationState) -> &'static str {
    match state {
        ApplicationState::Accepted | ApplicationState::Running => "runApplication",
        ApplicationState::Completing | ApplicationState::Completed => "completeApplication",
        ApplicationState::Resuming | ApplicationState::Failing => GANG_TIMEOUT,
        ApplicationState::Failed => "failApplication",
        // No transition leads to this state.
        ApplicationState::New => "",
    }
}

/// Returns nanoseconds since the epoch. A time that is too late becomes the latest representable time.
pub(super) fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis()).unwrap_or(i64::MAX).saturating_mul(1_000_000)
}
