//! Tasks of tenants: applications with additional data. Source: tenants §1, decision page 30.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::event::TaskStep;
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::gang::StopRequest;
use super::{Application, Books, Measured, Tasks, Timer};

/// Settings of a task at submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskSettings {
    /// Tenant of the task.
    pub tenant: Name,
    /// Number of members, which start together.
    pub members: u32,
    /// Whether it waits again after an eviction.
    pub requeue: bool,
    /// Number of times that it waits again after a failure.
    pub restarts: u32,
    /// Time that it can wait before it expires. `None` is unlimited.
    pub max_wait: Option<Millis>,
    /// Request that submitted it.
    pub request: TaskRequest,
}

/// Identity of a request, to recognize a repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskRequest {
    /// Idempotency key of the sender. Empty if there is none.
    pub key: Name,
    /// Digest of the body. It distinguishes a repetition from a different request with the same key.
    pub digest: Name,
}

/// Outcome of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TaskOutcome {
    /// The task succeeded.
    Succeeded,
    /// The task failed, or its node was lost.
    Failed,
    /// The task was canceled.
    Cancelled,
    /// The task was evicted and does not wait again.
    Evicted,
    /// The task waited for the allowed time without a start.
    Expired,
}

impl TaskOutcome {
    /// All outcomes in order.
    pub const ALL: [Self; 5] =
        [Self::Succeeded, Self::Failed, Self::Cancelled, Self::Evicted, Self::Expired];
}

/// State of a task. Source: tenants §1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskState {
    /// At least one member has no node.
    Waiting,
    /// All members have nodes, and the client has not confirmed that the task runs.
    Starting,
    /// The task runs.
    Running,
    /// The task was canceled and must stop.
    Cancelling,
    /// The task was evicted and must stop.
    Evicting,
    /// The task has ended.
    Ended(TaskOutcome),
}

impl TaskState {
    /// Returns the name of the state in the specification.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Starting => "STARTING",
            Self::Running => "RUNNING",
            Self::Cancelling => "CANCELLING",
            Self::Evicting => "EVICTING",
            Self::Ended(TaskOutcome::Succeeded) => "SUCCEEDED",
            Self::Ended(TaskOutcome::Failed) => "FAILED",
            Self::Ended(TaskOutcome::Cancelled) => "CANCELLED",
            Self::Ended(TaskOutcome::Evicted) => "EVICTED",
            Self::Ended(TaskOutcome::Expired) => "EXPIRED",
        }
    }
}

/// End of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskEnd {
    /// Outcome of the task.
    pub outcome: TaskOutcome,
    /// Time of the end.
    pub at: Timestamp,
    /// Sequence number of the end in the partition.
    pub number: u64,
}

/// Data of a task in addition to its application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Task {
    /// Settings at submission.
    pub settings: TaskSettings,
    /// End of the waiting time. `None` if no limit is ahead.
    pub waits_until: Option<Timestamp>,
    /// Whether the client confirmed that it runs.
    pub confirmed: bool,
    /// Whether it was canceled and must stop.
    pub cancelled: bool,
    /// Time at which all members last had nodes.
    pub started: Option<Timestamp>,
    /// Number of restarts after failures.
    pub restarted: u32,
    /// Number of restarts after evictions.
    pub evicted: u32,
    /// Time of the first report that the task waits, and the code of the last report. Both refer to the current wait.
    pub throttled: Option<(Timestamp, Name)>,
    /// Whether the task was ever reported as waiting.
    pub waited: bool,
    /// Last request with a key that reported its stop. Empty if there is none.
    pub released: TaskRequest,
    /// End of the task. `None` before.
    pub end: Option<TaskEnd>,
    /// Last measured usage, while it has its nodes.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub measured: Option<Measured>,
    /// Current request of all members, or the last one before the end.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub size: Resources,
    /// Last nodes of its members in their order, at most [`Task::NODES_REMEMBERED`].
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub nodes: Vec<Name>,
}

impl Task {
    /// Largest number of stored nodes.
    pub const NODES_REMEMBERED: usize = 100;
}

impl Books {
    /// Returns the number of asks of an application that start together: the members of a task, otherwise 1.
    #[inline]
    pub fn members_of(&self, application: ApplicationId) -> u32 {
        let task = self.applications[application].task.as_deref();
        task.map_or(1, |task| task.settings.members.max(1))
    }

    /// Returns the state of a task. `None` if the application is no task.
    ///
    /// Costs the members of the task.
    pub fn task_state(&self, application: ApplicationId) -> Option<TaskState> {
        let row = &self.applications[application];
        let task = row.task.as_deref()?;
        if let Some(end) = &task.end {
            return Some(TaskState::Ended(end.outcome));
        }
        let gives_up = |(_, one): (_, &super::Allocation)| one.mark != StopRequest::None;
        Some(if row.allocation_count == 0 && row.ask_count == 0 {
            TaskState::Ended(row.lost_task()) // What it had is lost, and its application about to end.
        } else if row.ask_count > 0 {
            TaskState::Waiting
        } else if task.cancelled {
            TaskState::Cancelling
        } else if self.allocations_of(application).any(gives_up) {
            TaskState::Evicting
        } else if task.confirmed {
            TaskState::Running
        } else {
            TaskState::Starting
        })
    }

    /// Returns the task with this ID in a partition: the unfinished one, or else the one that ended last.
    pub fn task_named(&self, partition: PartitionId, name: &Name) -> Option<ApplicationId> {
        let row = self.partition(partition);
        let is_task = |id: &ApplicationId| self.applications[*id].task.is_some();
        let lives = row.applications.get(name).copied().filter(is_task);
        lives.or_else(|| row.tasks.ended(name))
    }

    /// Makes an application that was just added a task.
    pub(super) fn add_task(&mut self, application: ApplicationId, settings: &TaskSettings) {
        let row = &mut self.applications[application];
        let until = settings.max_wait.map(|wait| row.submitted + wait);
        let task = Task { settings: settings.clone(), waits_until: until, ..Task::default() };
        let (partition, name, number) = (row.partition, row.name.clone(), row.number);
        let submitted = row.submitted;
        row.task = Some(task.clone().into());
        self.begin_meter(application, &settings.tenant);
        self.free_key(partition, settings);
        let row = self.partition_mut(partition);
        row.spent_keys.remove(&settings.tenant, &settings.request.key);
        if let Some(tenants) = &row.settings.tenants {
            row.spent_keys.expire(submitted, tenants.idempotency_ttl);
        }
        if let Some(until) = until {
            self.timers.insert((until, Timer::Wait(application)), ());
        }
        self.partition_mut(partition).tasks.add(application, (&name, number), &task);
    }

    /// Removes the key from an older task, because a new task uses the same key.
    fn free_key(&mut self, partition: PartitionId, settings: &TaskSettings) {
        let TaskSettings { tenant, request, .. } = settings;
        let older = self.partition(partition).tasks.submitted(tenant, &request.key);
        let older = older.filter(|_| !request.key.is_empty());
        if let Some(task) = older.and_then(|one| self.applications[one].task.as_deref_mut()) {
            task.settings.request.key = Name::default();
        }
    }

    /// Records that a task was reported as waiting, and the reason.
    pub(super) fn note_throttled(
        &mut self,
        now: Timestamp,
        application: ApplicationId,
        code: &Name,
    ) {
        if let Some(task) = self.applications[application].task.as_deref_mut() {
            let first = task.throttled.as_ref().map_or(now, |(first, _)| *first);
            task.throttled = Some((first, code.clone()));
            task.waited = true;
        }
    }

    /// Applies a step of a task.
    pub(super) fn step_task(
        &mut self,
        now: Timestamp,
        application: ApplicationId,
        step: &TaskStep,
    ) {
        let Some(task) = self.applications[application].task.as_deref_mut() else { return };
        match step {
            TaskStep::Confirmed => task.confirmed = true,
            TaskStep::Cancelling => task.cancelled = true,
            TaskStep::Waited => self.forget_wait(application),
            TaskStep::Restarted { request } | TaskStep::Requeued { request } => {
                task.confirmed = false;
                task.throttled = None;
                task.released = request.clone();
                match step {
                    TaskStep::Requeued { .. } => task.evicted += 1,
                    TaskStep::Confirmed
                    | TaskStep::Cancelling
                    | TaskStep::Restarted { .. }
                    | TaskStep::Waited
                    | TaskStep::Measured { .. }
                    | TaskStep::Ended { .. } => task.restarted += 1,
                }
                self.set_measured(application, None);
            }
            TaskStep::Measured { resources } => {
                let resources = self.types.intern_all(resources);
                self.set_measured(application, Some(Measured { at: now, resources }));
            }
            TaskStep::Ended { outcome, request } => {
                task.released = request.clone();
                self.end_task(now, application, *outcome);
            }
        }
    }

    /// Ends a task whose application ended without a reported outcome.
    pub(super) fn task_is_over(&mut self, now: Timestamp, application: ApplicationId) {
        let row = &self.applications[application];
        if row.task.as_ref().is_some_and(|task| task.end.is_none()) {
            self.end_task(now, application, row.lost_task());
        }
    }

    fn end_task(&mut self, now: Timestamp, application: ApplicationId, outcome: TaskOutcome) {
        self.forget_wait(application);
        self.set_measured(application, None);
        let partition = self.applications[application].partition;
        let number = self.partition(partition).tasks.next_number();
        let row = &mut self.applications[application];
        let name = row.name.clone();
        let Some(task) = row.task.as_deref_mut() else { return };
        task.end = Some(TaskEnd { outcome, at: now, number });
        let tenant = task.settings.tenant.clone();
        let tasks = &mut self.partition_mut(partition).tasks;
        tasks.add_end(application, (&name, &tenant), number);
    }

    /// Records the start of a task after its last member was placed. Costs its members then.
    pub(super) fn note_started(&mut self, now: Timestamp, application: ApplicationId) {
        let row = &self.applications[application];
        if row.ask_count > 0 || row.task.is_none() {
            return;
        }
        let nodes = self.allocations_of(application).filter_map(|(_, one)| one.node);
        let mut nodes: Vec<Name> = nodes.map(|node| self.nodes[node].name.clone()).collect();
        nodes.reverse(); // The first that it asked for comes first.
        nodes.truncate(Task::NODES_REMEMBERED);
        nodes.shrink_to_fit();
        if let Some(task) = self.applications[application].task.as_deref_mut() {
            task.started = Some(now);
            task.nodes = nodes;
        }
    }

    /// Updates the size of a task. Ignores other applications.
    pub(super) fn note_size(&mut self, application: ApplicationId) {
        let row = &mut self.applications[application];
        if let Some(task) = row.task.as_deref_mut() {
            task.size = row.pending.plus(&row.allocated).pruned();
        }
    }

    /// Clears the timer of the waiting time of a task.
    pub(super) fn forget_wait(&mut self, application: ApplicationId) {
        let task = self.applications[application].task.as_deref_mut();
        if let Some(at) = task.and_then(|task| task.waits_until.take()) {
            self.timers.remove(&(at, Timer::Wait(application)));
        }
    }

    /// Removes the data of a task that is removed from the books.
    pub(super) fn forget_task(&mut self, application: ApplicationId) {
        self.forget_wait(application);
        let row = &self.applications[application];
        let Some(task) = row.task.clone() else { return };
        let (partition, name, number) = (row.partition, row.name.clone(), row.number);
        let submitted = row.submitted;
        let TaskSettings { tenant, request, .. } = &task.settings;
        let partition = self.partition_mut(partition);
        if !request.key.is_empty()
            && partition.tasks.submitted(tenant, &request.key) == Some(application)
        {
            partition.spent_keys.add(tenant, &request.key, submitted);
        }
        partition.tasks.forget(application, (&name, number), &task);
    }

    /// Recomputes the task indexes of each partition that has tasks.
    pub(crate) fn tasks_rebuilt(&self) -> BTreeMap<PartitionId, Tasks> {
        let marked =
            self.applications.iter().filter_map(|(id, row)| Some((id, row, row.task.as_deref()?)));
        let mut marked: Vec<_> = marked.collect();
        marked.sort_by_key(|(_, row, _)| row.number); // Of equal keys the newest counts.
        let mut rebuilt: BTreeMap<PartitionId, Tasks> = BTreeMap::new();
        for (id, row, task) in marked {
            rebuilt.entry(row.partition).or_default().add(id, (&row.name, row.number), task);
        }
        rebuilt
    }

    /// Recomputes the ended applications of each partition.
    pub(crate) fn ended_rebuilt(
        &self,
    ) -> BTreeMap<PartitionId, OrderedMap<(Name, u64), ApplicationId>> {
        let ended = self.applications.iter().filter(|(_, row)| !row.state.is_active());
        let mut rebuilt: BTreeMap<PartitionId, OrderedMap<_, _>> = BTreeMap::new();
        for (id, row) in ended {
            let of_partition = rebuilt.entry(row.partition).or_default();
            of_partition.insert((row.name.clone(), row.number), id);
        }
        rebuilt
    }
}

impl Application {
    /// Returns the outcome of a task that ended without a reported outcome.
    fn lost_task(&self) -> TaskOutcome {
        let cancelled = self.task.as_ref().is_some_and(|task| task.cancelled);
        if cancelled { TaskOutcome::Cancelled } else { TaskOutcome::Failed }
    }
}
