//! Tasks: creation, submission, and end.

use crate::convert::amounts::pod_amounts;
use crate::convert::application::created;
use crate::convert::ask::{Ask, TaskFacts, ask};
use crate::convert::event::EventKind;
use crate::convert::identity::{
    Conflict, Subject, application_id, conflicts, is_placeholder, task_group_name,
};
use crate::convert::key::Place as KeyPlace;
use crate::object::Text;

use super::message::{ApiWrite, CoreMessage, DeletePurpose, PodIdentity, Termination};
use super::pod::age;
use super::state::{ApplicationState, Confirmed, Place, PodKind, Task, TaskState};
use super::verdict::written_condition;
use super::{NamespaceLookup, Shim};

impl Shim {
    /// Creates the task of a pod, and its application if it is the first pod of it. An existing task is brought up to
    /// date.
    pub(super) fn ensure_task(&mut self, uid: &Text, lookup: NamespaceLookup) {
        let Some(entry) = self.pods.get(uid) else { return };
        match &entry.kind {
            PodKind::Foreign { .. } => return,
            PodKind::Own(Some(_)) => return self.update_task(uid),
            PodKind::Own(None) => {}
        }
        if matches!(entry.place, Place::Orphan(_)) {
            // The pod lost its node while it waited for its namespace.
            return;
        }
        let pod = entry.pod.clone();
        let id = application_id(&pod, self.configuration.settings().generated_ids);
        match self.applications.get_mut(&id) {
            None => {
                if !self.create_application(&pod, lookup) {
                    return;
                }
            }
            Some(application) => match application.state {
                ApplicationState::Failing | ApplicationState::Failed => {
                    application.heirs.insert(age(&pod));
                    return;
                }
                ApplicationState::Submitted
                | ApplicationState::Reserving
                | ApplicationState::Resuming
                | ApplicationState::Running => {}
            },
        }
        let order = (created(&pod).unwrap_or(0), self.next_number());
        let task = Task {
            application: id.clone(),
            state: TaskState::New,
            placeholder: is_placeholder(&pod),
            group: task_group_name(&pod),
            amounts: pod_amounts(&pod),
            termination: None,
            written: written_condition(&pod),
            claim_fault: None,
            order,
        };
        let (is_placeholder, group) = (task.placeholder, task.group.clone());
        if let Some(entry) = self.pods.get_mut(uid) {
            entry.kind = PodKind::Own(Some(Box::new(task)));
        }
        if let Some(application) = self.applications.get_mut(&id) {
            application.tasks.insert(uid.clone());
            application.fresh.insert(order, uid.clone());
            if is_placeholder && let Some(gang) = &mut application.gang {
                gang.add(uid.clone(), &group);
            }
        }
        self.offer_task(uid);
    }

    /// Submits a new task if the state of its application allows it.
    pub(super) fn offer_task(&mut self, uid: &Text) {
        let Some(entry) = self.pods.get(uid) else { return };
        let Some(task) = entry.task() else { return };
        let Some(application) = self.applications.get(&task.application) else { return };
        let has_node = match &entry.place {
            Place::Nowhere => false,
            Place::Node(_) => true,
            // The core does not know the node.
            Place::Orphan(_) => return,
        };
        let is_abandoned = application.gang.as_ref().is_none_or(|gang| gang.abandoned);
        let must_wait = match application.state {
            ApplicationState::Submitted | ApplicationState::Failing | ApplicationState::Failed => {
                return;
            }
            ApplicationState::Reserving => !task.placeholder || is_abandoned,
            ApplicationState::Resuming => true,
            ApplicationState::Running => task.placeholder,
        };
        // An existing allocation counts in every state.
        if has_node || !must_wait {
            self.submit_task(uid);
        } else if task.placeholder {
            // Nothing waits for a placeholder that comes now.
            self.delete_pod(uid, DeletePurpose::Cleanup);
        }
    }

    /// Sends the ask of a new task. A task whose claims are not ready stays new.
    fn submit_task(&mut self, uid: &Text) {
        let Some(entry) = self.pods.get(uid) else { return };
        let Some(task) = entry.task() else { return };
        match task.state {
            TaskState::New => {}
            TaskState::Scheduling { .. }
            | TaskState::Allocated(_)
            | TaskState::Bound(_)
            | TaskState::Failed => return,
        }
        let pod = entry.pod.clone();
        let has_node = !pod.spec.node_name.is_empty();
        // A pod that runs counts, whatever becomes of its claims.
        if !has_node && !self.claims_are_ready(uid) {
            return;
        }
        let Some(task) = self.task_mut(uid) else { return };
        task.state = TaskState::Scheduling { node: Text::default() };
        let (id, order) = (task.application.clone(), task.order);
        let is_member = !task.placeholder && !task.group.is_empty();
        let group = task.group.clone();
        if let Some(application) = self.applications.get_mut(&id) {
            application.fresh.remove(&order);
            application.asked = true;
        }
        for conflict in conflicts(&pod) {
            self.task_event(uid, EventKind::Conflict, conflict_note(&conflict));
        }
        self.tell_ask(uid);
        if has_node {
            return;
        }
        let name = &pod.metadata.name;
        let note = format!("pod {name} is queued and waits for a node");
        self.task_event(uid, EventKind::Queued, note);
        if is_member {
            let note = format!("pod {name} belongs to task group {group}");
            self.task_event(uid, EventKind::TaskGroupMatch, note);
        }
    }

    /// Sends the ask or the allocation of a task as its pod has it now.
    pub(super) fn tell_ask(&mut self, uid: &Text) {
        let Some(ask) = self.ask(uid) else { return };
        if let Some(task) = self.task_mut(uid) {
            task.amounts = ask.amounts.clone();
            if let TaskState::Scheduling { node } = &mut task.state {
                *node = ask.node.clone();
            }
        }
        self.tell(CoreMessage::Ask(Box::new(ask)));
    }

    /// Returns the ask or the allocation of a task as its pod has it now.
    pub fn ask(&self, uid: &str) -> Option<Ask> {
        let entry = self.pods.get(uid)?;
        let task = entry.task()?;
        let empty = Text::default();
        let application = self.applications.get(&task.application);
        let facts = TaskFacts {
            application: &task.application,
            originator: application.map_or(&empty, |application| &application.originator),
            class: self.class_of(&entry.pod),
        };
        let mut ask = ask(&entry.pod, facts);
        if let Place::Node(node) = &entry.place {
            ask.node = node.clone();
        }
        Some(ask)
    }

    /// Drops an allocation on a node that cannot take the pod. The core takes the ask again.
    pub(super) fn unsuited(&mut self, uid: &Text) {
        let Some(task) = self.task_mut(uid) else { return };
        match task.state {
            TaskState::Scheduling { .. } => self.release(uid, Termination::SchedulingFailed),
            TaskState::New | TaskState::Allocated(_) | TaskState::Bound(_) | TaskState::Failed => {}
        }
    }

    /// Follows a change of the pod of a task.
    fn update_task(&mut self, uid: &Text) {
        let Some(entry) = self.pods.get(uid) else { return };
        let Some(task) = entry.task() else { return };
        let node = entry.pod.spec.node_name.clone();
        let is_changed = task.amounts != pod_amounts(&entry.pod);
        match &task.state {
            TaskState::Failed => {}
            TaskState::New => {
                if is_changed {
                    self.tell_ask(uid);
                }
                if !node.is_empty() {
                    self.offer_task(uid);
                }
            }
            TaskState::Scheduling { node: sent } if !node.is_empty() && *sent != node => {
                self.record_elsewhere(uid);
            }
            TaskState::Allocated(binding) if !node.is_empty() && binding.node != node => {
                self.record_elsewhere(uid);
            }
            TaskState::Bound(Confirmed::No) => self.confirm_again(uid),
            TaskState::Scheduling { .. }
            | TaskState::Allocated(_)
            | TaskState::Bound(Confirmed::Yes) => {
                if is_changed {
                    self.tell_ask(uid);
                }
            }
        }
    }

    /// Sends the allocation of a bound pod again, after its node was gone for some time.
    fn confirm_again(&mut self, uid: &Text) {
        self.set_task_state(uid, TaskState::Scheduling { node: Text::default() });
        self.tell_ask(uid);
    }

    /// Withdraws the ask of a pod that appeared on an unknown node. The allocation is sent when the node appears.
    pub(super) fn orphan_task(&mut self, uid: &Text) {
        let Some(task) = self.task_mut(uid) else { return };
        match task.state {
            TaskState::Scheduling { .. } | TaskState::Allocated(_) => {
                self.undo_claims(uid);
                self.release(uid, Termination::StoppedByRm);
                self.set_task_state(uid, TaskState::Bound(Confirmed::No));
            }
            TaskState::New | TaskState::Bound(_) | TaskState::Failed => {}
        }
    }

    /// Changes the state of a task, and counts bound placeholders.
    pub(super) fn set_task_state(&mut self, uid: &Text, state: TaskState) {
        let Some(task) = self.pods.get_mut(uid).and_then(|entry| entry.task_mut()) else { return };
        let is_bound = state.is_bound();
        let was_bound = std::mem::replace(&mut task.state, state).is_bound();
        if task.placeholder
            && was_bound != is_bound
            && let Some(application) = self.applications.get_mut(&task.application)
            && let Some(gang) = &mut application.gang
        {
            gang.set_bound(uid, &task.group, is_bound);
        }
    }

    /// Replaces the ask of a pod that another scheduler bound by an allocation on its node.
    pub(super) fn record_elsewhere(&mut self, uid: &Text) {
        self.undo_claims(uid);
        self.release(uid, Termination::StoppedByRm);
        self.confirm_again(uid);
    }

    /// Ends a task whose pod turned terminal or is gone.
    pub(super) fn complete_task(&mut self, uid: &Text) {
        let Some(task) = self.task_mut(uid) else { return };
        if !task.state.is_live() {
            return;
        }
        let termination = task.termination.unwrap_or(Termination::StoppedByRm);
        let id = task.application.clone();
        self.undo_claims(uid);
        let is_deferred =
            self.applications.get_mut(&id).is_some_and(|application| match application.state {
                ApplicationState::Submitted => {
                    application.deferred.insert(uid.clone());
                    true
                }
                ApplicationState::Reserving
                | ApplicationState::Resuming
                | ApplicationState::Running
                | ApplicationState::Failing
                | ApplicationState::Failed => false,
            });
        if !is_deferred {
            self.release(uid, termination);
            let note = format!("pod {} of application {id} ended", self.pod_name(uid));
            self.task_event(uid, EventKind::TaskCompleted, note);
        }
        self.detach_task(uid);
        if let Some(entry) = self.pods.get_mut(uid) {
            entry.kind = PodKind::Own(None);
        }
        self.application_lost_task(&id);
    }

    /// Fails a task whose pod still exists. The task stays, so that updates of the pod do not create another one.
    pub(super) fn fail_task(&mut self, uid: &Text, note: String) {
        let Some(task) = self.task_mut(uid) else { return };
        let id = task.application.clone();
        self.release(uid, Termination::StoppedByRm);
        self.task_event(uid, EventKind::TaskFailed, note);
        self.end_as_failed(uid);
        self.application_lost_task(&id);
    }

    /// Marks a task as failed, without messages.
    pub(super) fn end_as_failed(&mut self, uid: &Text) {
        self.detach_task(uid);
        if let Some(task) = self.task_mut(uid) {
            task.state = TaskState::Failed;
        }
        self.confirmed(uid);
    }

    /// Removes a task from the indexes of its application.
    fn detach_task(&mut self, uid: &Text) {
        self.unblock(uid);
        let Some(task) = self.pods.get(uid).and_then(|entry| entry.task()) else { return };
        let Some(application) = self.applications.get_mut(&task.application) else { return };
        application.tasks.remove(uid);
        application.fresh.remove(&task.order);
        if let Some(gang) = &mut application.gang {
            gang.remove(uid, &task.group, task.state.is_bound());
        }
    }

    /// Sends the release of a task.
    pub(super) fn release(&mut self, uid: &Text, termination: Termination) {
        let application = self.pods.get(uid).and_then(|entry| entry.task());
        let application = application.map(|task| task.application.clone());
        self.tell(CoreMessage::Release { application, key: uid.clone(), termination });
    }

    pub(super) fn delete_pod(&mut self, uid: &Text, purpose: DeletePurpose) {
        let Some(entry) = self.pods.get(uid) else { return };
        let pod = PodIdentity::from(&*entry.pod);
        self.write(ApiWrite::DeletePod { pod, purpose });
    }

    pub(super) fn task_mut(&mut self, uid: &Text) -> Option<&mut Task> {
        self.pods.get_mut(uid)?.task_mut()
    }

    /// Logs that something does not fit the state of a task.
    pub(super) fn log_state(&mut self, uid: &Text, what: &str) {
        let state = self.task_state(uid).unwrap_or("unknown");
        self.log(format!("{what} for task {uid} is dropped, because the task is {state}"));
    }
}

fn conflict_note(conflict: &Conflict) -> String {
    let subject = match conflict.subject {
        Subject::Application => "application IDs",
        Subject::Queue => "queue names",
    };
    let ignored: Vec<String> = conflict
        .ignored
        .iter()
        .map(|(key, value)| {
            let place = match key.place {
                KeyPlace::PodLabel => "label",
                KeyPlace::PodAnnotation
                | KeyPlace::NamespaceAnnotation
                | KeyPlace::PodOrClassAnnotation => "annotation",
            };
            format!("{place} {}: {value}", key.name)
        })
        .collect();
    format!(
        "the pod has several {subject}: {} counts, ignored are {}",
        conflict.chosen,
        ignored.join(", ")
    )
}
