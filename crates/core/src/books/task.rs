//! Tasks of tenants: applications with a mark that says what an application does not. Source: tenants §1,
//! decision page 30.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::event::{Event, TaskStep};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::time::{Millis, Timestamp};

use super::gang::Mark;
use super::{Application, Books, Measured, MeasuredSum, Timer};

/// What is said of a task when it is submitted.
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
    /// The key that its sender chose; empty if he chose none.
    pub key: Name,
    /// What its body comes to, so that another body under the same key is told from a repeat.
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
    /// All of it has a node; whoever runs it has not said yet that it runs.
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
    /// What was said of it.
    pub settings: TaskSettings,
    /// Until when it may wait, if that is still ahead.
    pub waits_until: Option<Timestamp>,
    /// Whether whoever runs it has said that it runs.
    pub confirmed: bool,
    /// Whether it is to stop, since somebody does not want it any more.
    pub cancelled: bool,
    /// When all of it was given a node last.
    pub started: Option<Timestamp>,
    /// How often it waited again after it had failed.
    pub restarted: u32,
    /// How often it waited again after it had been evicted.
    pub evicted: u32,
    /// When it was first told that it has to wait, and the code that it was told last; since it last began to
    /// wait.
    pub throttled: Option<(Timestamp, Name)>,
    /// Whether it was ever told that it has to wait.
    pub waited: bool,
    /// The last request that said that it has stopped; empty where nobody said so by a request with a key.
    pub released: TaskRequest,
    /// How it ended.
    pub end: Option<TaskEnd>,
    /// What was measured of it last, while it has its nodes.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub measured: Option<Measured>,
}

/// What a partition knows of its tasks beside the applications themselves. All of it follows from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// Those that have ended, by their ids.
    ended: OrderedMap<Name, ApplicationId>,
    /// The numbers of their ends.
    numbers: OrderedMap<u64, ()>,
    /// The same by tenant and the number of their end.
    ends: OrderedMap<(Name, u64), ApplicationId>,
    /// How many of each tenant are among them, and the tenants in the order of that.
    ended_of: OrderedMap<Name, u64>,
    by_ended: OrderedMap<(u64, Name), ()>,
    /// Those that were submitted with a key, by tenant and key; of several the newest, which alone has it.
    keys: OrderedMap<(Name, Name), ApplicationId>,
    /// All that are remembered, by tenant and the number of their submission.
    all: OrderedMap<(Name, u64), ApplicationId>,
    /// What was measured of those of each tenant, of tenants with any that was.
    measured: OrderedMap<Name, MeasuredSum>,
}

impl Tasks {
    /// How many tasks that have ended are remembered.
    pub const REMEMBERED: usize = 65_536;

    /// The task of this id, if it has ended and is remembered.
    pub fn ended(&self, task: &Name) -> Option<ApplicationId> {
        self.ended.get(task).copied()
    }

    /// The task that was submitted for a tenant under this key last.
    pub fn submitted(&self, tenant: &Name, key: &Name) -> Option<ApplicationId> {
        self.keys.get(&(tenant.clone(), key.clone())).copied()
    }

    /// Those to forget when `more` have ended: the first that ended of the tenant that has most. So a tenant whose
    /// tasks come and go quickly pushes out its own, and nobody else's.
    pub(crate) fn beyond(&self, more: usize) -> Vec<ApplicationId> {
        let surplus = (self.ends.len() + more).saturating_sub(Self::REMEMBERED);
        let Some(((_, tenant), ())) = self.by_ended.last() else { return Vec::new() };
        let first = (tenant.clone(), 0);
        let own = self.ends.iter_from(&first).take_while(|((of, _), _)| of == tenant);
        own.take(surplus).map(|(_, task)| *task).collect()
    }

    /// A task of a tenant has ended.
    fn add_end(&mut self, id: ApplicationId, (name, tenant): (&Name, &Name), number: u64) {
        self.ended.insert(name.clone(), id);
        self.numbers.insert(number, ());
        self.ends.insert((tenant.clone(), number), id);
        self.count_ended(tenant, |count| count + 1);
    }

    /// A task that has ended is forgotten.
    fn remove_end(&mut self, (name, tenant): (&Name, &Name), number: u64) {
        self.ended.remove(name);
        self.numbers.remove(&number);
        self.ends.remove(&(tenant.clone(), number));
        self.count_ended(tenant, |count| count - 1);
    }

    fn count_ended(&mut self, tenant: &Name, change: impl FnOnce(u64) -> u64) {
        let before = self.ended_of.remove(tenant).unwrap_or_default();
        self.by_ended.remove(&(before, tenant.clone()));
        let after = change(before);
        if after > 0 {
            self.ended_of.insert(tenant.clone(), after);
            self.by_ended.insert((after, tenant.clone()), ());
        }
    }

    /// The tasks of a tenant that were submitted behind this number, in order of submission.
    pub fn of_tenant(
        &self,
        tenant: &Name,
        behind: u64,
    ) -> impl Iterator<Item = (u64, ApplicationId)> {
        let from = (tenant.clone(), behind.saturating_add(1));
        let all = self.all.iter_from(&from).map(|(key, task)| (key, *task));
        all.take_while(move |((of, _), _)| *of == from.0).map(|((_, number), task)| (*number, task))
    }

    /// What was measured of the tasks of a tenant, those of tenants below it not included; none if nothing was.
    pub fn measured_of(&self, tenant: &str) -> Option<&MeasuredSum> {
        self.measured.get(tenant)
    }

    /// Of a task of a tenant something else is measured than before.
    pub(super) fn measure(
        &mut self,
        tenant: &Name,
        before: Option<&Measured>,
        after: Option<&Measured>,
    ) {
        let mut sum = self.measured.get(&**tenant).cloned().unwrap_or_default();
        if let Some(before) = before {
            sum.subtract(before);
        }
        if let Some(after) = after {
            sum.add(after);
        }
        if sum.tasks() == 0 {
            self.measured.remove(&**tenant);
        } else {
            self.measured.insert(tenant.clone(), sum);
        }
    }

    fn next_number(&self) -> u64 {
        self.numbers.last().map_or(0, |(number, ())| *number) + 1
    }

    fn add(&mut self, id: ApplicationId, (name, number): (&Name, u64), task: &Task) {
        self.all.insert((task.settings.tenant.clone(), number), id);
        let TaskSettings { tenant, request, .. } = &task.settings;
        if !request.key.is_empty() {
            self.keys.insert((tenant.clone(), request.key.clone()), id);
        }
        if let Some(end) = &task.end {
            self.add_end(id, (name, tenant), end.number);
        }
        if task.measured.is_some() {
            self.measure(&task.settings.tenant, None, task.measured.as_ref());
        }
    }

    fn forget(&mut self, id: ApplicationId, (name, number): (&Name, u64), task: &Task) {
        self.all.remove(&(task.settings.tenant.clone(), number));
        let TaskSettings { tenant, request, .. } = &task.settings;
        if self.submitted(tenant, &request.key) == Some(id) {
            self.keys.remove(&(tenant.clone(), request.key.clone()));
        }
        if let Some(end) = &task.end {
            self.remove_end((name, tenant), end.number);
        }
        if task.measured.is_some() {
            self.measure(&task.settings.tenant, task.measured.as_ref(), None);
        }
    }
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
        let gives_up = |(_, one): (_, &super::Allocation)| one.mark != Mark::None;
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

    /// The events of tasks.
    pub(super) fn apply_task(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::TaskAdded { application, settings } => self.add_task(*application, settings),
            Event::TaskThrottled { application, reason } => {
                self.note_throttled(now, *application, &reason.code);
            }
            Event::TaskMoved { application, step } => self.step_task(now, *application, step),
            _ => unreachable!("every other event is applied elsewhere"),
        }
    }

    /// An application that was just added is a task.
    fn add_task(&mut self, application: ApplicationId, settings: &TaskSettings) {
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

    /// A task was told why it waits.
    fn note_throttled(&mut self, now: Timestamp, application: ApplicationId, code: &Name) {
        if let Some(task) = self.applications[application].task.as_deref_mut() {
            let first = task.throttled.as_ref().map_or(now, |(first, _)| *first);
            task.throttled = Some((first, code.clone()));
            task.waited = true;
        }
    }

    /// A task takes a step.
    fn step_task(&mut self, now: Timestamp, application: ApplicationId, step: &TaskStep) {
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
                    _ => task.restarted += 1,
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

    /// The application of a task has ended, and nobody said how.
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

    /// A task that was given all its nodes has started.
    pub(super) fn note_started(&mut self, now: Timestamp, application: ApplicationId) {
        let row = &mut self.applications[application];
        if row.ask_count == 0
            && let Some(task) = row.task.as_deref_mut()
        {
            task.started = Some(now);
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

    /// What is known of the tasks of each partition that has any, made anew from the applications.
    pub(crate) fn tasks_anew(&self) -> BTreeMap<PartitionId, Tasks> {
        let marked =
            self.applications.iter().filter_map(|(id, row)| Some((id, row, row.task.as_deref()?)));
        let mut marked: Vec<_> = marked.collect();
        marked.sort_by_key(|(_, row, _)| row.number); // Of equal keys the newest counts.
        let mut anew: BTreeMap<PartitionId, Tasks> = BTreeMap::new();
        for (id, row, task) in marked {
            anew.entry(row.partition).or_default().add(id, (&row.name, row.number), task);
        }
        anew
    }
}

impl Application {
    /// How a task ended of which nobody said how.
    fn lost_task(&self) -> TaskOutcome {
        let cancelled = self.task.as_ref().is_some_and(|task| task.cancelled);
        if cancelled { TaskOutcome::Cancelled } else { TaskOutcome::Failed }
    }
}
