//! Applications: submission, acceptance, failure, and end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::convert::application::{ApplicationPlan, plan_application};
use crate::convert::event::{EventKind, EventObject};
use crate::object::{Pod, Text};

use super::message::{ApiWrite, CoreMessage, CoreState, DeletePurpose, PodIdentity, Termination};
use super::pod::age;
use super::state::{Application, ApplicationState, Gang, PodKind, TaskState};
use super::{NamespaceLookup, Shim};

/// Reason in the status of pods whose application was rejected.
const REJECTED: &str = "ApplicationRejected";
/// Reason in the status of pods whose gang had no nodes in time, and word in the message of the core.
const TIMED_OUT: &str = "ResourceReservationTimeout";
/// Message in the status of pods whose gang had no nodes in time.
const TIMED_OUT_MESSAGE: &str = "Scheduling has timed out due to insufficient resources";

/// Why an application fails.
pub(super) enum Failure<'a> {
    /// The core rejected it.
    Rejected(&'a str),
    /// Its gang had no nodes in time.
    TimedOut,
    /// Any other message of the core.
    Other(&'a str),
}

impl<'a> Failure<'a> {
    fn of(message: &'a str) -> Self {
        if message.contains(TIMED_OUT) { Self::TimedOut } else { Self::Other(message) }
    }

    /// Returns the reason and message of the status of unbound pods, unless their status stays.
    fn pod_status(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Rejected(reason) => Some((REJECTED, reason.trim().to_owned())),
            Self::TimedOut => Some((TIMED_OUT, TIMED_OUT_MESSAGE.to_owned())),
            Self::Other(_) => None,
        }
    }

    fn note(&self, id: &Text) -> String {
        match self {
            Self::Rejected(reason) => format!("application {id} was rejected: {}", reason.trim()),
            Self::TimedOut => format!("application {id} failed: {TIMED_OUT_MESSAGE}"),
            Self::Other(message) => format!("application {id} failed: {message}"),
        }
    }
}

impl Shim {
    /// Creates the application of a pod. Returns whether it exists now. If its namespace is unknown, it is read first.
    pub(super) fn create_application(&mut self, pod: &Arc<Pod>, lookup: NamespaceLookup) -> bool {
        let namespace = &pod.metadata.namespace;
        if lookup == NamespaceLookup::Open && !self.namespaces.contains_key(namespace) {
            let waiting = self.awaited_namespaces.entry(namespace.clone()).or_default();
            let is_first = waiting.is_empty();
            waiting.insert(age(pod));
            if is_first {
                self.write(ApiWrite::ReadNamespace { name: namespace.clone() });
            }
            return false;
        }
        let rules = self.configuration.settings().application_rules();
        let limits = self.namespaces.get(namespace).map(|(limits, _)| limits);
        let plan = plan_application(pod, limits, rules);
        let ApplicationPlan { submission, created, gang, originator, .. } = plan;
        let id = submission.id.clone();
        if let Some(fault) = plan.group_fault {
            let note = format!("the task groups are ignored: {fault}");
            self.event(EventObject::from(&**pod), EventKind::TaskGroupsError, note);
        }
        for parameter in plan.ignored_parameters {
            self.log(format!("application {id}: {parameter}"));
        }
        let application = Application {
            state: ApplicationState::Submitted,
            created,
            originator,
            gang: gang.map(|plan| Box::new(Gang::new(*plan))),
            tasks: BTreeSet::new(),
            fresh: BTreeMap::new(),
            deferred: BTreeSet::new(),
            asked: false,
            heirs: BTreeSet::new(),
        };
        self.applications.insert(id, application);
        self.tell(CoreMessage::Application(Box::new(submission)));
        true
    }

    pub(super) fn application_accepted(&mut self, id: &Text) {
        let Some(application) = self.applications.get_mut(id) else {
            return self.log(format!("application {id} is unknown, but was accepted"));
        };
        if application.state != ApplicationState::Submitted {
            return self.log(format!("application {id} was accepted before"));
        }
        let deferred = std::mem::take(&mut application.deferred);
        if application.tasks.is_empty() {
            return self.remove_application(id);
        }
        for key in deferred {
            let (application, termination) = (Some(id.clone()), Termination::StoppedByRm);
            self.tell(CoreMessage::Release { application, key, termination });
        }
        if self.must_reserve(id) {
            self.reserve(id);
        } else {
            self.run_application(id);
        }
    }

    /// Moves an application to `Running`, and submits its tasks.
    pub(super) fn run_application(&mut self, id: &Text) {
        self.set_application_state(id, ApplicationState::Running);
        self.offer_fresh(id);
    }

    pub(super) fn set_application_state(&mut self, id: &Text, state: ApplicationState) {
        if let Some(application) = self.applications.get_mut(id) {
            application.state = state;
        }
    }

    /// Offers the new tasks of an application, in their order.
    pub(super) fn offer_fresh(&mut self, id: &Text) {
        let Some(application) = self.applications.get(id) else { return };
        let fresh: Vec<Text> = application.fresh.values().cloned().collect();
        for uid in fresh {
            self.offer_task(&uid);
        }
    }

    pub(super) fn application_rejected(&mut self, id: &Text, reason: &str) {
        match self.applications.get(id).map(|application| application.state) {
            Some(ApplicationState::Submitted) => {
                self.fail_application(id, &Failure::Rejected(reason), ApplicationState::Failed);
            }
            Some(state) => {
                let state = state.name();
                self.log(format!("application {id} is {state}, but was rejected: {reason}"));
            }
            None => self.log(format!("application {id} is unknown, but was rejected: {reason}")),
        }
    }

    pub(super) fn application_updated(&mut self, id: &Text, state: CoreState, message: &str) {
        let Some(application) = self.applications.get(id) else { return };
        match state {
            CoreState::Completed => self.application_completed(id),
            CoreState::Resuming => {
                if application.state == ApplicationState::Reserving {
                    self.resume(id);
                }
            }
            CoreState::Failing => {
                let failure = Failure::of(message);
                self.fail_application(id, &failure, ApplicationState::Failing);
            }
            CoreState::Failed => {
                self.fail_application(id, &Failure::of(message), ApplicationState::Failed);
            }
        }
    }

    /// Drops an application that the core forgot. Tasks that the core does not have get a new application.
    fn application_completed(&mut self, id: &Text) {
        self.delete_placeholders(id);
        let Some(application) = self.applications.remove(id) else { return };
        let mut pods = application.heirs;
        for uid in &application.tasks {
            self.unblock(uid);
            let Some(entry) = self.pods.get_mut(uid) else { continue };
            let age = age(&entry.pod);
            let Some(task) = entry.task_mut() else { continue };
            if task.placeholder {
                // The placeholder is being deleted, and must not start an application.
                task.state = TaskState::Failed;
                self.confirmed(uid);
            } else {
                entry.kind = PodKind::Own(None);
                pods.insert(age);
            }
        }
        for (_, _, uid) in pods {
            if let Some(entry) = self.pods.get(&uid) {
                let pod = entry.pod.clone();
                self.pod_applied(&pod);
            }
        }
    }

    /// Fails an application, and follows it to the state `Failed`.
    pub(super) fn fail_application(
        &mut self,
        id: &Text,
        failure: &Failure<'_>,
        state: ApplicationState,
    ) {
        let Some(application) = self.applications.get_mut(id) else { return };
        let is_first = match application.state {
            ApplicationState::Submitted
            | ApplicationState::Reserving
            | ApplicationState::Resuming
            | ApplicationState::Running => true,
            ApplicationState::Failing => false,
            ApplicationState::Failed => return,
        };
        application.state = state;
        application.deferred.clear();
        if is_first {
            self.delete_placeholders(id);
            self.fail_unbound(id, failure);
        }
        self.check_failed(id);
    }

    /// Fails the tasks without nodes.
    fn fail_unbound(&mut self, id: &Text, failure: &Failure<'_>) {
        let Some(application) = self.applications.get(id) else { return };
        let tasks: Vec<Text> = application.tasks.iter().cloned().collect();
        for uid in tasks {
            let Some(entry) = self.pods.get(&uid) else { continue };
            let Some(task) = entry.task() else { continue };
            let is_asked = match task.state {
                TaskState::New => false,
                TaskState::Scheduling { .. } => true,
                TaskState::Allocated(_) | TaskState::Bound(_) | TaskState::Failed => continue,
            };
            if !entry.pod.spec.node_name.is_empty() {
                // The start must not wait for the core to confirm this allocation.
                self.confirmed(&uid);
                continue;
            }
            // Placeholders are deleted, so their status tells nobody anything.
            if !task.placeholder {
                let pod = PodIdentity::from(&*entry.pod);
                if let Some((reason, message)) = failure.pod_status() {
                    self.write(ApiWrite::FailPod { pod, reason, message });
                }
                self.task_event(&uid, EventKind::ApplicationFailed, failure.note(id));
            }
            if is_asked {
                self.release(&uid, Termination::StoppedByRm);
            }
            self.end_as_failed(&uid);
        }
    }

    /// Drops a failed application whose tasks have ended. Later pods get a new application of the same ID.
    fn check_failed(&mut self, id: &Text) {
        let Some(application) = self.applications.get(id) else { return };
        if application.state != ApplicationState::Failed || !application.tasks.is_empty() {
            return;
        }
        let heirs = self.applications.remove(id).map(|application| application.heirs);
        for (_, _, uid) in heirs.unwrap_or_default() {
            self.ensure_task(&uid, NamespaceLookup::Open);
        }
    }

    /// Follows the end of a task.
    pub(super) fn application_lost_task(&mut self, id: &Text) {
        let Some(application) = self.applications.get(id) else { return };
        match application.state {
            ApplicationState::Submitted => {}
            ApplicationState::Resuming => {
                self.check_resumed(id);
                self.check_unasked(id);
            }
            ApplicationState::Reserving | ApplicationState::Running => self.check_unasked(id),
            ApplicationState::Failing | ApplicationState::Failed => self.check_failed(id),
        }
    }

    /// Removes an application whose tasks have ended before any ask. The core would wait for an ask forever.
    fn check_unasked(&mut self, id: &Text) {
        let Some(application) = self.applications.get(id) else { return };
        if application.tasks.is_empty() && !application.asked {
            self.remove_application(id);
        }
    }

    fn remove_application(&mut self, id: &Text) {
        self.delete_placeholders(id);
        self.applications.remove(id);
        self.tell(CoreMessage::RemoveApplication { id: id.clone() });
    }

    /// Deletes the placeholders of an application. Those that still appear are deleted too.
    pub(super) fn delete_placeholders(&mut self, id: &Text) {
        let Some(application) = self.applications.get_mut(id) else { return };
        let Some(gang) = &mut application.gang else { return };
        gang.abandoned = true;
        let placeholders: Vec<Text> = gang.placeholders.iter().cloned().collect();
        for uid in placeholders {
            self.delete_pod(&uid, DeletePurpose::Cleanup);
        }
    }
}
