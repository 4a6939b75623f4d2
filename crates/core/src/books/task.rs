//! Tasks of tenants: applications with a mark that says what an application does not. Source: tenants §1,
//! decision page 30.

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

/// The settings of a task at submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskSettings {
    /// Whose task it is.
    pub tenant: Name,
    /// How many instances it has, which start together.
    pub members: u32,
    /// Whether it waits again after it was evicted.
    pub requeue: bool,
    /// How often it waits again after it failed.
    pub restarts: u32,
    /// How long it may wait before it expires; for ever if none.
    pub max_wait: Option<Millis>,
    /// The request that submitted it.
    pub request: TaskRequest,
}

/// What a repeat of a request is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskRequest {
    /// The key that the sender chose; empty if there is none.
    pub key: Name,
    /// The digest of its body, which distinguishes another body under the same key from a repeat.
    pub digest: Name,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TaskOutcome {
    /// Well.
    Succeeded,
    /// Badly, or what it ran on was lost.
    Failed,
    /// Somebody did not want it any more.
    Cancelled,
    /// It was stopped for the sake of others, and does not wait again.
    Evicted,
    /// It has waited for as long as it may.
    Expired,
}

impl TaskOutcome {
    /// All of them, in their order.
    pub const ALL: [Self; 5] =
        [Self::Succeeded, Self::Failed, Self::Cancelled, Self::Evicted, Self::Expired];
}

/// Where a task stands. Source: tenants §1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskState {
    /// Some of it has no node.
    Waiting,
    /// All of it has a node; the client that runs it has not confirmed yet that it runs.
    Starting,
    /// It runs.
    Running,
    /// It is to stop, since somebody does not want it any more.
    Cancelling,
    /// It is to stop for the sake of others.
    Evicting,
    /// It has ended.
    Ended(TaskOutcome),
}

impl TaskState {
    /// Its name, as in the specification.
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

/// The end of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskEnd {
    /// How.
    pub outcome: TaskOutcome,
    /// When.
    pub at: Timestamp,
    /// Counts ends in the partition.
    pub number: u64,
}

/// What of a task an application does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Task {
    /// Its settings.
    pub settings: TaskSettings,
    /// Until when it may wait, if that is still ahead.
    pub waits_until: Option<Timestamp>,
    /// Whether the client that runs it has confirmed that it runs.
    pub confirmed: bool,
    /// Whether it is to stop, since somebody does not want it any more.
    pub cancelled: bool,
    /// When all of it was given a node last.
    pub started: Option<Timestamp>,
    /// How often it waited again after it had failed.
    pub restarted: u32,
    /// How often it waited again after it had been evicted.
    pub evicted: u32,
    /// When the task was first reported as waiting, and the code of the last such report. Both
    /// count from when it last began to wait.
    pub throttled: Option<(Timestamp, Name)>,
    /// Whether the task was ever reported as waiting.
    pub waited: bool,
    /// The last request that reported its stop; empty where no request with a key reported it.
    pub released: TaskRequest,
    /// How it ended.
    pub end: Option<TaskEnd>,
    /// What was measured of it last, while it has its nodes.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub measured: Option<Measured>,
    /// What all of it needs, or needed before it ended.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub size: Resources,
    /// Where its members started last, in their order: [`Task::NODES_REMEMBERED`] at most.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub nodes: Vec<Name>,
}

impl Task {
    /// Of how many members it is remembered where they started.
    pub const NODES_REMEMBERED: usize = 100;
}

impl Books {
    /// How many asks of an application start together: the members of a task, otherwise one.
    #[inline]
    pub fn members_of(&self, application: ApplicationId) -> u32 {
        let task = self.applications[application].task.as_deref();
        task.map_or(1, |task| task.settings.members.max(1))
    }

    /// Where a task stands; none if the application is no task.
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

    /// The task of this id in a partition: one that has not ended, or else the one that ended last.
    pub fn task_named(&self, partition: PartitionId, name: &Name) -> Option<ApplicationId> {
        let row = self.partition(partition);
        let is_task = |id: &ApplicationId| self.applications[*id].task.is_some();
        let lives = row.applications.get(name).copied().filter(is_task);
        lives.or_else(|| row.tasks.ended(name))
    }

    /// An application that was just added is a task.
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

    /// An older task that was submitted under the same key, and is known by it no more, has it no more.
    fn free_key(&mut self, partition: PartitionId, settings: &TaskSettings) {
        let TaskSettings { tenant, request, .. } = settings;
        let older = self.partition(partition).tasks.submitted(tenant, &request.key);
        let older = older.filter(|_| !request.key.is_empty());
        if let Some(task) = older.and_then(|one| self.applications[one].task.as_deref_mut()) {
            task.settings.request.key = Name::default();
        }
    }

    /// Record that a task was reported as waiting, and for which reason.
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

    /// A task takes a step.
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

    /// The application of a task has ended, and nobody reported the outcome.
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

    /// A task that was given all its nodes has started. Costs its members then.
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

    /// A task needs something else than before, if the application is one.
    pub(super) fn note_size(&mut self, application: ApplicationId) {
        let row = &mut self.applications[application];
        if let Some(task) = row.task.as_deref_mut() {
            task.size = row.pending.plus(&row.allocated).pruned();
        }
    }

    /// Nothing ends the waiting of a task by time any more.
    pub(super) fn forget_wait(&mut self, application: ApplicationId) {
        let task = self.applications[application].task.as_deref_mut();
        if let Some(at) = task.and_then(|task| task.waits_until.take()) {
            self.timers.remove(&(at, Timer::Wait(application)));
        }
    }

    /// A task leaves the books.
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

    /// What is known of the tasks of each partition that has any, recomputed from the applications.
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

    /// The applications of each partition that have ended, recomputed.
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
    /// The outcome of a task that ended without a reported outcome.
    fn lost_task(&self) -> TaskOutcome {
        let cancelled = self.task.as_ref().is_some_and(|task| task.cancelled);
        if cancelled { TaskOutcome::Cancelled } else { TaskOutcome::Failed }
    }
}
