//! Tasks of tenants: submit, confirm, end, cancel, resize, and rank. Source: tenants §1 to §3, decision page 30.

mod resize;
mod submit;

pub(super) use submit::submit;

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Allocation, ApplicationState, Books, TaskOutcome, TaskRequest, TaskState};
use crate::command::TaskChange;
use crate::event::{
    ApplicationEvent, AskEvent, AskTraits, Event, TaskEvent, TaskStep, Termination,
};
use crate::id::{AllocationId, ApplicationId, PartitionId};
use crate::name::Name;
use crate::rejection::{Rejection, TaskRejection};
use crate::resource::{Amounts, Quantity};
use crate::time::Timestamp;

use super::lifecycle::Lifecycle;
use super::{Naming, allocation, partition_named, short, tenant, types_fit};

/// Changes a task.
pub(super) fn change(
    books: &Books,
    now: Timestamp,
    partition: &Name,
    task: &Name,
    change: &TaskChange,
) -> Result<Vec<Event>, Rejection> {
    let id = partition_named(books, partition)?;
    short("task ID", task)?;
    let Some(application) = books.task_named(id, task) else {
        let (task, partition) = (task.clone(), partition.clone());
        return Err(TaskRejection::Unknown { task, partition }.into());
    };
    let one = OneTask { books, now, partition: id, application };
    match change {
        TaskChange::Confirm => one.confirm(),
        TaskChange::End { succeeded, request } => {
            short("idempotency key", &request.key)?;
            short("digest", &request.digest)?;
            one.end(*succeeded, request)
        }
        TaskChange::Cancel => one.cancel(),
        TaskChange::Resize { resources } => one.resize(resources),
        TaskChange::Rank { priority, deadline } => one.rank(*priority, *deadline),
        TaskChange::Measure { resources } => one.measure(resources),
    }
}

/// Handles the end of the waiting time of a task.
pub(super) fn expire(
    books: &Books,
    now: Timestamp,
    application: ApplicationId,
    events: &mut Vec<Event>,
) {
    let partition = books.application(application).partition;
    let one = OneTask { books, now, partition, application };
    if one.state() == TaskState::Waiting {
        one.finish(TaskOutcome::Expired, &TaskRequest::default(), events);
    } else {
        events.push(Event::Task(TaskEvent::Moved { application, step: TaskStep::Waited }));
    }
}

/// A task that a command changes.
struct OneTask<'books> {
    books: &'books Books,
    now: Timestamp,
    partition: PartitionId,
    application: ApplicationId,
}

impl OneTask<'_> {
    fn name(&self) -> &Name {
        &self.books.application(self.application).name
    }

    fn state(&self) -> TaskState {
        self.books.task_state(self.application).expect("it is a task")
    }

    fn refuse(&self, what: &'static str, where_it_can: &'static str) -> Rejection {
        let (task, is) = (self.name().clone(), self.state().as_str());
        TaskRejection::State { task, is, what, where_it_can }.into()
    }

    fn step(&self, step: TaskStep) -> Event {
        Event::Task(TaskEvent::Moved { application: self.application, step })
    }

    /// Returns its asks and allocations, oldest first.
    fn members(&self) -> Vec<(AllocationId, &Allocation)> {
        let mut members: Vec<_> = self.books.allocations_of(self.application).collect();
        members.reverse();
        members
    }

    /// Records that the client confirms that the task runs. A repetition changes nothing.
    fn confirm(&self) -> Result<Vec<Event>, Rejection> {
        match self.state() {
            TaskState::Starting => Ok(vec![self.step(TaskStep::Confirmed)]),
            TaskState::Running | TaskState::Cancelling | TaskState::Evicting => Ok(Vec::new()),
            TaskState::Waiting | TaskState::Ended(_) => {
                Err(self.refuse("confirmed", "STARTING or RUNNING"))
            }
        }
    }

    /// Records the usage that the client measured. It can exceed the request, does not affect scheduling, and replaces
    /// the previous report. Source: tenants TR-17.
    fn measure(&self, resources: &Amounts) -> Result<Vec<Event>, Rejection> {
        if matches!(self.state(), TaskState::Waiting | TaskState::Ended(_)) {
            return Err(self.refuse("measured", "STARTING, RUNNING, CANCELLING or EVICTING"));
        }
        let task = self.name();
        if let Some((resource, amount)) = resources.iter().find(|(_, one)| *one < Quantity::ZERO) {
            let (task, resource) = (task.clone(), resource.clone());
            return Err(TaskRejection::BelowZero { task, resource, amount }.into());
        }
        tenant::are_named(self.books, self.partition, "the measured usage", resources)?;
        types_fit(self.books, &Naming::of_client("the measured usage"), resources)?;
        let resources = resources.clone();
        Ok(vec![self.step(TaskStep::Measured { resources })])
    }

    /// Records that the task stopped, by itself or after a request.
    fn end(&self, succeeded: bool, request: &TaskRequest) -> Result<Vec<Event>, Rejection> {
        let task = self.books.application(self.application).task.as_deref();
        let task = task.expect("it is a task");
        if !request.key.is_empty() && request.key == task.released.key {
            return self.repeated(request, &task.released);
        }
        let mut events = Vec::new();
        let repeatable = !succeeded && self.may_ask_again();
        let outcome = match self.state() {
            TaskState::Waiting | TaskState::Ended(_) => {
                return Err(self.refuse("released", "STARTING, RUNNING, CANCELLING or EVICTING"));
            }
            TaskState::Cancelling => TaskOutcome::Cancelled,
            _ if succeeded => TaskOutcome::Succeeded,
            TaskState::Evicting if task.settings.requeue && repeatable => {
                let request = request.clone();
                self.begin_again(TaskStep::Requeued { request }, &mut events);
                return Ok(events);
            }
            TaskState::Evicting => TaskOutcome::Evicted,
            _ if task.restarted < task.settings.restarts && repeatable => {
                let request = request.clone();
                self.begin_again(TaskStep::Restarted { request }, &mut events);
                return Ok(events);
            }
            TaskState::Starting | TaskState::Running => TaskOutcome::Failed,
        };
        self.finish(outcome, request, &mut events);
        Ok(events)
    }

    /// Handles a request whose idempotency key already reported the stop.
    fn repeated(
        &self,
        request: &TaskRequest,
        before: &TaskRequest,
    ) -> Result<Vec<Event>, Rejection> {
        if request.digest == before.digest {
            return Ok(Vec::new());
        }
        let (task, key) = (self.name().clone(), request.key.clone());
        Err(TaskRejection::OtherUnderKey { task, key }.into())
    }

    /// Cancels the task: a waiting task ends, and the client must stop a running one.
    fn cancel(&self) -> Result<Vec<Event>, Rejection> {
        let mut events = Vec::new();
        match self.state() {
            TaskState::Waiting => {
                self.finish(TaskOutcome::Cancelled, &TaskRequest::default(), &mut events);
            }
            TaskState::Starting | TaskState::Running | TaskState::Evicting => {
                events.push(self.step(TaskStep::Cancelling));
            }
            TaskState::Cancelling => {}
            TaskState::Ended(_) => return Err(self.refuse("cancelled", "not ended")),
        }
        Ok(events)
    }

    /// Ends the task and its application at once. Removes the oldest stored tasks beyond the limit.
    fn finish(&self, outcome: TaskOutcome, request: &TaskRequest, events: &mut Vec<Event>) {
        events.push(self.step(TaskStep::Ended { outcome, request: request.clone() }));
        Lifecycle::of(self.books, self.now, self.application)
            .finish(Termination::StoppedByRm, events);
        let beyond = self.books.partition(self.partition).tasks.beyond(1);
        events.extend(
            beyond
                .into_iter()
                .map(|application| Event::Application(ApplicationEvent::Removed { application })),
        );
    }

    /// Returns whether the task can request its allocations again: its lifetime is not over, and the sum of its asks
    /// stays within 64 bits.
    fn may_ask_again(&self) -> bool {
        let row = self.books.application(self.application);
        if row.lifetime.over || !row.state.may_become(ApplicationState::Completing) {
            return false;
        }
        let whole = self.books.types().amounts(&row.allocated);
        allocation::sum_grows(self.books, self.application, false, &whole).is_ok()
    }

    /// Releases the allocations of the task, and adds the same asks again with their former age.
    fn begin_again(&self, step: TaskStep, events: &mut Vec<Event>) {
        let members = self.members();
        Lifecycle::of(self.books, self.now, self.application)
            .give_back(Termination::StoppedByRm, events);
        for (id, row) in members {
            events.push(self.asked_again(id, row, row.priority));
        }
        let state = ApplicationState::Running;
        events.push(Event::Application(ApplicationEvent::Moved {
            application: self.application,
            state,
            timer: None,
        }));
        events.push(self.step(step));
    }

    /// Returns the event that adds the ask of a member again.
    fn asked_again(&self, id: AllocationId, row: &Allocation, priority: i32) -> Event {
        let wish = self.books.node_selector_of(id).cloned().unwrap_or_default();
        let traits = AskTraits {
            originator: row.originator,
            placeholder: row.placeholder,
            may_preempt: row.may_preempt,
            preemptable: row.preemptable,
            task_group: row.task_group().cloned(),
            required_node: row.required_node().cloned(),
            node_label: wish.label,
            blocked_nodes: wish.blocked,
        };
        Event::Ask(AskEvent::Added {
            application: self.application,
            key: row.key.clone(),
            resources: self.books.types().amounts(self.books.resources_of(id)),
            priority,
            created: row.created,
            traits,
        })
    }

    /// Changes the priority or the deadline of the task.
    fn rank(
        &self,
        priority: Option<i32>,
        deadline: Option<Timestamp>,
    ) -> Result<Vec<Event>, Rejection> {
        if self.state() != TaskState::Waiting {
            return Err(self.refuse("ranked", "WAITING"));
        }
        let application = self.application;
        let mut events = Vec::new();
        if deadline.is_some() {
            let estimate = self.books.application(application).deadline.estimate;
            events.push(Event::Application(ApplicationEvent::DeadlineSet {
                application,
                deadline,
                estimate,
            }));
        }
        let Some(priority) = priority else { return Ok(events) };
        for (ask, row) in self.members().into_iter().filter(|(_, row)| row.priority != priority) {
            events
                .push(Event::Ask(AskEvent::Removed { ask, termination: Termination::StoppedByRm }));
            events.push(self.asked_again(ask, row, priority));
        }
        Ok(events)
    }
}
