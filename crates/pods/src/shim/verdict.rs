//! Messages of the core about a task: rejections, releases, and waits.

use crate::convert::event::EventKind;
use crate::object::{ConditionStatus, Pod, PodCondition, PodConditionType, Text};

use super::Shim;
use super::message::{ApiWrite, DeletePurpose, PodIdentity, Termination, WaitReason};
use super::state::{ApplicationState, BindProgress, Place, TaskState};

impl Shim {
    pub(super) fn ask_rejected(&mut self, uid: &Text, reason: &str) {
        let Some(task) = self.task_mut(uid) else {
            return self.log(format!("ask {uid} is unknown, but was rejected: {reason}"));
        };
        match task.state {
            TaskState::Scheduling { .. } => {
                let note = format!("the core rejected the ask: {reason}");
                self.task_event(uid, EventKind::TaskRejected, note.clone());
                self.fail_task(uid, note);
            }
            // The ask of a changed pod can precede its application. It is sent again.
            TaskState::New => {}
            TaskState::Allocated(_) | TaskState::Bound(_) | TaskState::Failed => {
                self.log_state(uid, "a rejection");
            }
        }
    }

    /// Takes the release of an allocation by the core.
    pub(super) fn released(&mut self, uid: &Text, termination: Termination) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let is_assumed = entry.pod.spec.node_name.is_empty();
        let Some(task) = entry.task_mut() else { return };
        let id = task.application.clone();
        match termination {
            Termination::StoppedByRm | Termination::SchedulingFailed => {
                let is_allocated = match &task.state {
                    TaskState::Allocated(binding) => binding.progress != BindProgress::NodeLost,
                    TaskState::New
                    | TaskState::Scheduling { .. }
                    | TaskState::Bound(_)
                    | TaskState::Failed => false,
                };
                if is_allocated && is_assumed {
                    self.set_place(uid, Place::Nowhere);
                }
                return;
            }
            Termination::Timeout | Termination::Preempted | Termination::PlaceholderReplaced => {}
        }
        if !task.state.is_live() {
            return self.log_state(uid, "a release");
        }
        task.termination = Some(termination);
        let is_placeholder = task.placeholder;
        if is_assumed {
            self.set_place(uid, Place::Nowhere);
        }
        if is_placeholder && termination == Termination::Timeout {
            let note = format!("a placeholder of application {id} was not used in time");
            self.originator_event(&id, EventKind::PlaceholderTimedOut, note);
        }
        self.delete_pod(uid, DeletePurpose::Released);
        let state = self.applications.get(&id).map(|application| application.state);
        if state == Some(ApplicationState::Reserving) {
            self.run_application(&id);
        }
    }

    /// Returns the reason that was written last into the condition of a waiting pod.
    pub fn written_reason(&self, uid: &str) -> Option<WaitReason> {
        self.pods.get(uid)?.task()?.written
    }

    /// Writes why a pod waits, if the reason changed.
    pub(super) fn waits(&mut self, uid: &Text, reason: WaitReason, message: String) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let pod = PodIdentity::from(&*entry.pod);
        let has_node = !entry.pod.spec.node_name.is_empty();
        let Some(task) = entry.task_mut() else { return };
        match task.state {
            TaskState::Scheduling { .. } if !has_node && task.written != Some(reason) => {
                task.written = Some(reason);
            }
            TaskState::New
            | TaskState::Scheduling { .. }
            | TaskState::Allocated(_)
            | TaskState::Bound(_)
            | TaskState::Failed => return,
        }
        self.task_event(uid, EventKind::Unschedulable, message.clone());
        self.write(ApiWrite::Condition { pod, reason, message });
    }
}

/// Returns the condition that an earlier run of the scheduler wrote.
pub(super) fn written_condition(pod: &Pod) -> Option<WaitReason> {
    let is_written = |condition: &&PodCondition| {
        condition.kind == PodConditionType::PodScheduled
            && condition.status == ConditionStatus::False
    };
    let condition = pod.status.conditions.iter().find(is_written)?;
    let mut reasons = [WaitReason::Quota, WaitReason::NoNode].into_iter();
    reasons.find(|reason| condition.reason == *reason.condition())
}
