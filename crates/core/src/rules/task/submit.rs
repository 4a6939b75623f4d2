//! Submission of tasks: the application and all its asks, or nothing.

use alloc::vec::Vec;

use crate::books::{Books, SpentKeys, TaskSettings};
use crate::command::{Ask, SubmitTask};
use crate::event::{ApplicationEvent, Event, TaskEvent};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::rejection::{Rejection, TaskRejection, TenantRejection};
use crate::resource::{Amounts, Quantity};
use crate::time::Timestamp;

use crate::rules::submit::rejected;
use crate::rules::{allocation, partition_named, short, tenant};

/// Largest amount of one type for each member of a task, in core units: 2^53, which is 8 PiB of memory. Every client
/// can write it exactly, as an integer or as a double.
const AMOUNT_MAX: i64 = 1 << 53;

/// Submits a task: decides its application and its asks one by one, on a fork of the books with the earlier ones.
///
/// Costs a fork of the books, which shares all data that the task does not change.
pub(in crate::rules) fn submit(
    books: &Books,
    now: Timestamp,
    submitted: &SubmitTask,
) -> Result<Vec<Event>, Rejection> {
    let SubmitTask { submit, ask, settings } = submitted;
    let partition = partition_named(books, &submit.partition)?;
    let members = submitted.members();
    if members > SubmitTask::MEMBERS_MAX {
        let (task, members) = (submit.application.clone(), members as usize);
        let most = SubmitTask::MEMBERS_MAX as usize;
        return Err(TaskRejection::Members { task, members, most }.into());
    }
    are_possible(&submit.application, &ask.resources)?;
    if members > 1 && is_particular(ask) {
        return Err(TaskRejection::Unlike { task: submit.application.clone() }.into());
    }
    for name in [&settings.request.key, &settings.request.digest] {
        short("idempotency key", name)?;
    }
    is_new(books, now, partition, submitted)?;
    let application = books.applications().next_id();
    let mut events = super::super::submit::submit(books, now, submit)?;
    if matches!(events.last(), Some(Event::Application(ApplicationEvent::Rejected { .. }))) {
        return Ok(events);
    }
    let settings = TaskSettings { tenant: submit.tenant.clone(), members, ..settings.clone() };
    let added = events
        .iter()
        .position(|one| matches!(one, Event::Application(ApplicationEvent::Added { .. })));
    let behind = added.map_or(events.len(), |place| place + 1);
    events.insert(behind, Event::Task(TaskEvent::Added { application, settings }));
    let mut then = books.clone();
    for event in &events {
        then.apply(now, event);
    }
    let asked = ask_all(&mut then, now, application, submitted).and_then(|asked| {
        fits_as_a_whole(&then, application, &submit.application)?;
        Ok(asked)
    });
    match asked {
        Ok(asked) => events.extend(asked),
        Err(rejection) if is_a_decision(&rejection) => {
            let why = (rejection.code(), &*alloc::format!("{rejection}"));
            return Ok(alloc::vec![rejected(partition, submit, &submit.queue, why)]);
        }
        Err(rejection) => return Err(rejection),
    }
    Ok(events)
}

/// Rejects amounts that no machine has, regardless of the quota of the tenant.
pub(super) fn are_possible(task: &Name, resources: &Amounts) -> Result<(), TaskRejection> {
    let most = Quantity::of(AMOUNT_MAX);
    let large = resources.iter().find(|(_, amount)| *amount > most);
    large.map_or(Ok(()), |(resource, amount)| {
        let (task, resource) = (task.clone(), resource.clone());
        Err(TaskRejection::Amount { task, resource, amount, most })
    })
}

/// Returns whether an ask has a trait that only one member of a task can have.
fn is_particular(ask: &Ask) -> bool {
    ask.placeholder || ask.originator || !ask.task_group.is_empty() || !ask.required_node.is_empty()
}

/// Rejects a task whose ID or idempotency key belongs to another task or application.
fn is_new(
    books: &Books,
    now: Timestamp,
    partition: PartitionId,
    submitted: &SubmitTask,
) -> Result<(), TaskRejection> {
    let SubmitTask { submit, settings, .. } = submitted;
    let row = books.partition(partition);
    let (tenant, key) = (&submit.tenant, &settings.request.key);
    if let Some(other) = row.tasks.submitted(tenant, key).filter(|_| !key.is_empty()) {
        let config = row.settings.tenants.as_deref();
        let ttl = config.map(|config| config.idempotency_ttl).unwrap_or_default();
        let other = books.application(other);
        if now < other.submitted + ttl {
            let (task, tenant, key) = (other.name.clone(), tenant.clone(), key.clone());
            return Err(TaskRejection::KeyTaken { tenant, task, key });
        }
    }
    if !key.is_empty() {
        let config = row.settings.tenants.as_deref();
        let ttl = config.map(|config| config.idempotency_ttl).unwrap_or_default();
        let (tenant, key) = (tenant.clone(), key.clone());
        if row.spent_keys.submitted(&tenant, &key).is_some_and(|submitted| now < submitted + ttl) {
            return Err(TaskRejection::KeySpent { tenant, key });
        }
        if row.spent_keys.is_full(&tenant, now, ttl) {
            return Err(TaskRejection::ManyKeys { tenant, most: SpentKeys::MAX });
        }
    }
    let live = row.applications.get(&submit.application).copied();
    let Some(other) = live.or_else(|| row.tasks.ended(&submit.application)) else { return Ok(()) };
    // The message omits the state of the other task, because the sender might not be allowed to see it.
    let is_task = books.application(other).task.is_some();
    let what = if is_task { "a task" } else { "an application that is not a task" };
    let (task, partition) = (submit.application.clone(), row.name.clone());
    Err(TaskRejection::Exists { task, partition, what })
}

/// Adds the asks of all members. A task with one member can preempt within the guarantee of its tenant if the partition
/// enables that. Tasks with several members cannot, because victims are selected for a single ask. Source:
/// no-starvation NS-42.
fn ask_all(
    then: &mut Books,
    now: Timestamp,
    application: ApplicationId,
    submitted: &SubmitTask,
) -> Result<Vec<Event>, Rejection> {
    let partition = then.application(application).partition;
    let config = then.partition(partition).settings.tenants.as_deref();
    let may_preempt = config.is_some_and(|config| config.reclaim) && submitted.members() == 1;
    let mut events = Vec::new();
    for ask in submitted.asks() {
        let ask = Ask { may_preempt, ..ask };
        for event in allocation::ask_of(then, now, &ask, application)? {
            then.apply(now, &event);
            events.push(event);
        }
    }
    Ok(events)
}

/// Rejects a task whose members together can never run. Source: tenants TR-14.
fn fits_as_a_whole(then: &Books, application: ApplicationId, name: &Name) -> Result<(), Rejection> {
    let whole: Amounts = then.types().amounts(&then.application(application).pending);
    tenant::fits_quota(then, application, name, &whole)
}

/// Returns whether a rejection is a decision about the task, and not an error in the request.
const fn is_a_decision(rejection: &Rejection) -> bool {
    matches!(
        rejection,
        Rejection::Tenant(TenantRejection::ExceedsQuota { .. })
            | Rejection::AboveMaximumAllocation { .. }
    )
}
