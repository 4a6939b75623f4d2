//! Responses to the RM about its own request.

use headroom_api::si::v1::{
    AllocationResponse, ApplicationResponse, NodeResponse, RejectedAllocation, RejectedNode,
};
use headroom_core::Command;
use headroom_engine::{Accepted, Outcome};

use super::outbound::{rejected, rm_update};
use super::{Refusal, RmUpdate, Step};

/// Returns the responses to the commands of a request, in order. `outcomes` has one outcome for each command.
///
/// Acceptances and rejections of a list are sent in one message, after the other effects of this list, and before
/// removals or releases. Source: scheduler interface §6.
pub fn answers(rm_id: &str, steps: &[Step], outcomes: &[Outcome]) -> Vec<RmUpdate> {
    let mut answers = Answers::default();
    let mut removes = false;
    for (step, outcome) in steps.iter().zip(outcomes) {
        if takes_away(&step.command) && !removes {
            removes = true;
            answers.close_list();
        }
        match outcome {
            Ok(accepted) => answers.accept(rm_id, accepted),
            Err(rejection) => answers.refuse(&step.if_refused, rejection.to_string()),
        }
    }
    answers.close_list();
    answers.updates
}

/// Returns whether a command is from the second list of a request, which removes or releases objects.
const fn takes_away(command: &Command) -> bool {
    matches!(
        command,
        Command::RemoveApplication { .. }
            | Command::Release { .. }
            | Command::ReleaseForeign { .. }
    )
}

#[derive(Default)]
struct Answers {
    updates: Vec<RmUpdate>,
    node: NodeResponse,
    application: ApplicationResponse,
    rejected: Vec<RejectedAllocation>,
}

impl Answers {
    fn accept(&mut self, rm_id: &str, accepted: &Accepted) {
        let Some(entry) = &accepted.entry else { return };
        for notice in &entry.notices {
            match rm_update(rm_id, entry.record.time, notice) {
                RmUpdate::Node(node) => self.node.accepted.extend(node.accepted),
                RmUpdate::Application(one) if one.updated.is_empty() => {
                    self.application.accepted.extend(one.accepted);
                    self.application.rejected.extend(one.rejected);
                }
                other => self.updates.push(other),
            }
        }
    }

    fn refuse(&mut self, refusal: &Refusal, reason: String) {
        match refusal {
            Refusal::Silent => {}
            Refusal::Node(id) => {
                self.node.rejected.push(RejectedNode { node_id: id.clone(), reason });
            }
            Refusal::Application(id) => {
                self.application.rejected.extend(rejected(id.clone(), reason).rejected);
            }
            Refusal::Allocation { key, application } => self.rejected.push(RejectedAllocation {
                allocation_key: key.clone(),
                application_id: application.clone(),
                reason,
            }),
        }
    }

    fn close_list(&mut self) {
        let node = std::mem::take(&mut self.node);
        if node != NodeResponse::default() {
            self.updates.push(RmUpdate::Node(node));
        }
        let application = std::mem::take(&mut self.application);
        if application != ApplicationResponse::default() {
            self.updates.push(RmUpdate::Application(application));
        }
        let rejected_allocations = std::mem::take(&mut self.rejected);
        if !rejected_allocations.is_empty() {
            let all = AllocationResponse { rejected_allocations, ..AllocationResponse::default() };
            self.updates.push(RmUpdate::Allocation(all));
        }
    }
}
