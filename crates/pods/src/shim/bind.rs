//! Binds: an allocation of the core becomes a binding at the API server, or is rolled back.

use crate::convert::event::EventKind;
use crate::object::{Pod, Text};

use super::Shim;
use super::claim::{can_need_devices, has_claims};
use super::message::{
    ApiWrite, BindDone, BindError, BindRequest, BindStep, PodIdentity, Termination,
};
use super::state::{BindProgress, Binding, Confirmed, Place, TaskState};
use super::timer::Timer;

/// Tries to assume the volumes of a pod, one second apart.
const ASSUME_TRIES: usize = 30;

/// Seconds between the tries of the other steps: two minutes in all.
const DELAYS: [i64; 8] = [1, 2, 4, 8, 16, 30, 30, 30];

/// Failed tries before the user gets an event. One failure often is a conflict or a short overload, and then an event
/// for each pod would add to the overload.
const TRIES_BEFORE_EVENT: usize = 2;

impl Shim {
    /// Takes a node that the core selected, or the confirmation of an existing allocation.
    pub(super) fn allocated(&mut self, uid: &Text, node: &Text) {
        let Some(entry) = self.pods.get(uid) else {
            return self.release(uid, Termination::StoppedByRm);
        };
        let own_node = entry.pod.spec.node_name.clone();
        let first = if has_claims(&entry.pod) {
            BindStep::AssumeVolumes
        } else {
            after_volumes(&entry.pod)
        };
        let Some(task) = entry.task() else { return self.release(uid, Termination::StoppedByRm) };
        match &task.state {
            TaskState::Scheduling { node: sent } if !sent.is_empty() => {
                // The core can have selected another node before it knew about this one.
                if sent == node {
                    self.bound(uid);
                }
            }
            TaskState::Scheduling { .. } if !own_node.is_empty() => {}
            TaskState::Scheduling { .. } => self.assume(uid, node, first),
            TaskState::Failed => self.release(uid, Termination::StoppedByRm),
            TaskState::New | TaskState::Allocated(_) | TaskState::Bound(_) => {
                self.log_state(uid, "an allocation");
            }
        }
    }

    fn assume(&mut self, uid: &Text, node: &Text, step: BindStep) {
        // The core does not know yet that the node is gone. It drops the allocation when it does.
        if !self.is_accepted(node) {
            return self.tell_ask(uid);
        }
        let binding = Binding {
            node: node.clone(),
            step,
            tries: 0,
            ticket: 0,
            progress: BindProgress::Requested,
        };
        self.set_task_state(uid, TaskState::Allocated(Box::new(binding)));
        self.set_place(uid, Place::Node(node.clone()));
        self.request_bind(uid);
    }

    /// Requests the present step of a bind.
    fn request_bind(&mut self, uid: &Text) {
        let ticket = self.next_number();
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let pod = PodIdentity::from(&*entry.pod);
        let Some(binding) = entry.task_mut().and_then(|task| match &mut task.state {
            TaskState::Allocated(binding) => Some(binding),
            TaskState::New
            | TaskState::Scheduling { .. }
            | TaskState::Bound(_)
            | TaskState::Failed => None,
        }) else {
            return;
        };
        binding.ticket = ticket;
        binding.progress = BindProgress::Requested;
        let request = BindRequest { pod, node: binding.node.clone(), step: binding.step, ticket };
        self.write(ApiWrite::Bind(request));
    }

    /// Returns the bind that a ticket belongs to.
    fn binding(&mut self, uid: &Text, ticket: u64) -> Option<&mut Binding> {
        match &mut self.task_mut(uid)?.state {
            TaskState::Allocated(binding) => (binding.ticket == ticket).then_some(&mut **binding),
            TaskState::New
            | TaskState::Scheduling { .. }
            | TaskState::Bound(_)
            | TaskState::Failed => None,
        }
    }

    pub(super) fn bind_again(&mut self, uid: &Text, ticket: u64) {
        if self
            .binding(uid, ticket)
            .is_some_and(|binding| binding.progress == BindProgress::Delayed)
        {
            self.request_bind(uid);
        }
    }

    /// Takes the outcome of a step.
    pub(super) fn bind_ended(
        &mut self,
        uid: &Text,
        ticket: u64,
        result: Result<BindDone, BindError>,
    ) {
        let Some(binding) = self.binding(uid, ticket) else { return };
        let is_lost = binding.progress == BindProgress::NodeLost;
        match result {
            Ok(BindDone::PodBound) => self.bound(uid),
            Ok(BindDone::VolumesAssumed | BindDone::VolumesBound | BindDone::DevicesAllocated)
            | Err(BindError::Final(_) | BindError::Retry(_))
                if is_lost =>
            {
                self.ask_again(uid);
            }
            Ok(BindDone::VolumesAssumed) => self.next_step(uid, ticket, BindStep::BindVolumes),
            Ok(BindDone::VolumesBound) => {
                let step =
                    self.pods.get(uid).map_or(BindStep::BindPod, |one| after_volumes(&one.pod));
                self.next_step(uid, ticket, step);
            }
            Ok(BindDone::DevicesAllocated) => self.next_step(uid, ticket, BindStep::BindPod),
            // The deletion of the pod follows, and ends the task.
            Err(BindError::Gone) => binding.progress = BindProgress::PodGone,
            // The pod is recorded on that node as soon as the watch shows it there.
            Err(BindError::BoundElsewhere { node }) => self.bound_elsewhere(uid, &node),
            Err(BindError::Final(error)) => self.bind_failed(uid, &error),
            Err(BindError::Retry(error)) => self.retry_bind(uid, ticket, &error),
        }
    }

    fn next_step(&mut self, uid: &Text, ticket: u64, step: BindStep) {
        if let Some(binding) = self.binding(uid, ticket) {
            binding.step = step;
            binding.tries = 0;
            self.request_bind(uid);
        }
    }

    fn retry_bind(&mut self, uid: &Text, ticket: u64, error: &str) {
        let is_ending = self.task_mut(uid).is_some_and(|task| task.termination.is_some());
        let Some(binding) = self.binding(uid, ticket) else { return };
        if is_ending {
            // The core took the allocation back, and the pod is being deleted.
            binding.progress = BindProgress::PodGone;
            return;
        }
        binding.tries += 1;
        let (tries, delay) = match binding.step {
            BindStep::AssumeVolumes => (ASSUME_TRIES, Some(&1)),
            BindStep::BindVolumes | BindStep::AllocateDevices | BindStep::BindPod => {
                (DELAYS.len() + 1, DELAYS.get(binding.tries - 1))
            }
        };
        match delay {
            Some(delay) if binding.tries < tries => {
                binding.progress = BindProgress::Delayed;
                let (is_reported, node) =
                    (binding.tries == TRIES_BEFORE_EVENT, binding.node.clone());
                self.start_timer(*delay, Timer::Bind { uid: uid.clone(), ticket });
                if is_reported {
                    let note = format!("the bind to node {node} is tried again: {error}");
                    self.task_event(uid, EventKind::BindDelayed, note);
                }
            }
            Some(_) | None => self.bind_failed(uid, error),
        }
    }

    /// Takes a success: the pod has its node.
    fn bound(&mut self, uid: &Text) {
        let Some(entry) = self.pods.get(uid) else { return };
        let pod = entry.pod.clone();
        let Some(task) = entry.task() else { return };
        let (id, is_placeholder) = (task.application.clone(), task.placeholder);
        let binding = match &task.state {
            TaskState::Allocated(binding) => Some((binding.node.clone(), binding.progress)),
            TaskState::New
            | TaskState::Scheduling { .. }
            | TaskState::Bound(_)
            | TaskState::Failed => None,
        };
        let is_lost = matches!(binding, Some((_, BindProgress::NodeLost)));
        let confirmed = if is_lost { Confirmed::No } else { Confirmed::Yes };
        self.set_task_state(uid, TaskState::Bound(confirmed));
        if let Some((node, _)) = binding {
            let name = &pod.metadata.name;
            let note = format!("pod {name} was assigned to node {node}");
            self.task_event(uid, EventKind::Scheduled, note);
            let note = format!("pod {name} was bound to node {node}");
            self.task_event(uid, EventKind::Bound, note);
            if is_lost {
                self.set_place(uid, Place::Orphan(node));
            }
        }
        self.confirmed(uid);
        if is_placeholder {
            self.placeholder_bound(&id, uid);
        }
    }

    fn bound_elsewhere(&mut self, uid: &Text, node: &Text) {
        self.undo_claims(uid);
        self.release(uid, Termination::StoppedByRm);
        let place = if self.is_accepted(node) {
            Place::Node(node.clone())
        } else {
            Place::Orphan(node.clone())
        };
        let is_known = place == Place::Node(node.clone());
        self.set_place(uid, place);
        if is_known {
            self.set_task_state(uid, TaskState::Scheduling { node: Text::default() });
            self.tell_ask(uid);
        } else {
            self.set_task_state(uid, TaskState::Bound(Confirmed::No));
        }
    }

    /// Rolls back a bind that cannot succeed, or fails the task of a placeholder without volumes.
    fn bind_failed(&mut self, uid: &Text, error: &str) {
        let Some(entry) = self.pods.get(uid) else { return };
        let pod = entry.pod.clone();
        let Some(task) = entry.task() else { return };
        let is_placeholder = task.placeholder;
        let TaskState::Allocated(binding) = &task.state else { return };
        let (node, step) = (binding.node.clone(), binding.step);
        let name = &pod.metadata.name;
        let note = format!("pod {name} was not bound to node {node}: {error}");
        let kind = match step {
            BindStep::AssumeVolumes if is_placeholder => {
                self.set_place(uid, Place::Nowhere);
                self.task_event(uid, EventKind::AssumeError, note.clone());
                return self.fail_task(uid, note);
            }
            BindStep::AssumeVolumes => EventKind::AssumeFailed,
            BindStep::BindVolumes => EventKind::VolumesFailed,
            BindStep::AllocateDevices => EventKind::DevicesFailed,
            BindStep::BindPod => EventKind::BindFailed,
        };
        self.undo_claims(uid);
        // The state changes before the release, because the next allocation can follow at once.
        self.set_task_state(uid, TaskState::Scheduling { node: Text::default() });
        self.task_event(uid, kind, note);
        self.set_place(uid, Place::Nowhere);
        self.release(uid, Termination::SchedulingFailed);
    }

    /// Sends the ask of a pod again whose node was deleted before the bind, unless the outcome of a request is open.
    pub(super) fn ask_after_loss(&mut self, uid: &Text) {
        let Some(task) = self.task_mut(uid) else { return };
        match &task.state {
            TaskState::Allocated(binding) if binding.progress == BindProgress::Delayed => {
                self.ask_again(uid);
            }
            TaskState::New
            | TaskState::Scheduling { .. }
            | TaskState::Allocated(_)
            | TaskState::Bound(_)
            | TaskState::Failed => {}
        }
    }

    /// Drops the assumed volumes of a bind that ends without success, and takes back its devices.
    pub(super) fn undo_claims(&mut self, uid: &Text) {
        let Some(entry) = self.pods.get(uid) else { return };
        let is_allocated =
            entry.task().is_some_and(|task| matches!(task.state, TaskState::Allocated(_)));
        if !is_allocated {
            return;
        }
        let pod = PodIdentity::from(&*entry.pod);
        let (volumes, devices) = (has_claims(&entry.pod), can_need_devices(&entry.pod));
        if volumes {
            self.write(ApiWrite::UndoVolumes { pod: pod.clone() });
        }
        if devices {
            self.write(ApiWrite::UndoDevices { pod });
        }
    }

    fn ask_again(&mut self, uid: &Text) {
        self.undo_claims(uid);
        self.set_task_state(uid, TaskState::Scheduling { node: Text::default() });
        self.tell_ask(uid);
    }
}

/// Returns the first step of a bind after those of volumes.
fn after_volumes(pod: &Pod) -> BindStep {
    if can_need_devices(pod) { BindStep::AllocateDevices } else { BindStep::BindPod }
}
