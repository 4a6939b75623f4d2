//! Messages of the core.

use headroom_api::si::headroom::scheduler_message::Content;
use headroom_api::si::headroom::{CallbackRequest, SchedulerMessage};
use headroom_api::si::v1::update_container_scheduling_state_request::SchedulingState;
use headroom_api::si::v1::{
    AllocationRelease, AllocationResponse, ApplicationResponse, NodeResponse, TerminationType,
    UpdatedApplication,
};
use headroom_pods::object::Text;
use headroom_pods::shim::{CoreAnswer, CoreState, Termination};

/// One message of the core, taken apart.
#[derive(Debug)]
pub(crate) enum Received {
    /// Something for the state machine.
    Answer(CoreAnswer),
    /// An ask waits for another reason than before. The key of the ask.
    Waits(Text),
    /// A question about nodes, to be answered.
    Question(CallbackRequest),
    /// The core took over the session.
    Registered,
    /// The core could not use a request. A line for the log.
    Fault(String),
}

/// Takes a message of the core apart.
pub(crate) fn received(message: SchedulerMessage) -> Vec<Received> {
    match message.content {
        Some(Content::Application(one)) => applications(one),
        Some(Content::Allocation(one)) => allocations(one),
        Some(Content::Node(one)) => nodes(one),
        Some(Content::CallbackRequest(question)) => vec![Received::Question(question)],
        Some(Content::Registered(_)) => vec![Received::Registered],
        Some(Content::ContainerState(state)) => match state.state() {
            SchedulingState::Failed | SchedulingState::Skipped => {
                vec![Received::Waits(Text::from(&*state.allocation_key))]
            }
            SchedulingState::Scheduled
            | SchedulingState::Reserved
            | SchedulingState::UnknownSchedulingState => Vec::new(),
        },
        Some(Content::RequestError(error)) => {
            vec![Received::Fault(format!("{}: {}", error.code, error.message))]
        }
        Some(Content::ConfigurationResult(result)) if !result.error.is_empty() => {
            vec![Received::Answer(CoreAnswer::ConfigurationRefused { reason: result.error })]
        }
        Some(Content::ConfigurationResult(_) | Content::Events(_) | Content::Pong(_)) | None => {
            Vec::new()
        }
    }
}

fn applications(response: ApplicationResponse) -> Vec<Received> {
    let accepted = response
        .accepted
        .into_iter()
        .map(|one| CoreAnswer::ApplicationAccepted { id: Text::from(&*one.application_id) });
    let rejected = response.rejected.into_iter().map(|one| CoreAnswer::ApplicationRejected {
        id: Text::from(&*one.application_id),
        reason: one.reason,
    });
    let updated = response.updated.into_iter().filter_map(updated);
    accepted.chain(rejected).chain(updated).map(Received::Answer).collect()
}

/// Returns the change of state, if it matters here.
fn updated(one: UpdatedApplication) -> Option<CoreAnswer> {
    let state = match &*one.state {
        "Resuming" => CoreState::Resuming,
        "Failing" => CoreState::Failing,
        "Failed" => CoreState::Failed,
        "Completed" => CoreState::Completed,
        _ => return None,
    };
    let id = Text::from(&*one.application_id);
    Some(CoreAnswer::ApplicationUpdated { id, state, message: one.message })
}

fn allocations(response: AllocationResponse) -> Vec<Received> {
    let placed = response.new.into_iter().map(|one| CoreAnswer::Allocated {
        key: Text::from(&*one.allocation_key),
        node: Text::from(&*one.node_id),
    });
    let released = response.released.iter().filter_map(released);
    let rejected = response.rejected_allocations.into_iter().map(|one| CoreAnswer::AskRejected {
        key: Text::from(&*one.allocation_key),
        reason: one.reason,
    });
    released.chain(placed).chain(rejected).map(Received::Answer).collect()
}

fn released(one: &AllocationRelease) -> Option<CoreAnswer> {
    let termination = match one.termination_type() {
        TerminationType::StoppedByRm => Termination::StoppedByRm,
        TerminationType::Timeout => Termination::Timeout,
        TerminationType::PreemptedByScheduler => Termination::Preempted,
        TerminationType::PlaceholderReplaced => Termination::PlaceholderReplaced,
        TerminationType::UnknownTerminationType => return None,
    };
    Some(CoreAnswer::Released { key: Text::from(&*one.allocation_key), termination })
}

fn nodes(response: NodeResponse) -> Vec<Received> {
    let accepted = response
        .accepted
        .into_iter()
        .map(|one| CoreAnswer::NodeAccepted { name: Text::from(&*one.node_id) });
    let rejected = response.rejected.into_iter().map(|one| CoreAnswer::NodeRejected {
        name: Text::from(&*one.node_id),
        reason: one.reason,
    });
    accepted.chain(rejected).map(Received::Answer).collect()
}
