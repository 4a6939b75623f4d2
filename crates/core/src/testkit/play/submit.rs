//! New applications in random histories.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::{Books, GangStyle, Partition, TaskRequest, TaskSettings};
use crate::command::{Ask, Command, Submit, SubmitTask, TaskChange};
use crate::event::TaskStep;
use crate::name::Name;
use crate::time::{Millis, Timestamp};

use crate::testkit::random::{QUEUES, USERS, gang_of, groups_of, tags_of, tenant_name, wanted};

/// Returns the command that submits an application to a named queue.
pub(super) fn submit(partition: Name, (number, queue, user, gang): (u8, u8, u8, u8)) -> Command {
    Command::Submit(Submit {
        partition,
        application: Name::from(format!("app{number}")),
        queue: Name::new(QUEUES[usize::from(queue)]),
        tenant: Name::default(),
        user: Name::new(USERS[usize::from(user)]),
        groups: groups_of(user),
        tags: tags_of(number, user),
        placeholder_ask: gang_of(gang),
        gang_style: if gang < 128 { GangStyle::Soft } else { GangStyle::Hard },
        placeholder_timeout: Millis::from_secs(u64::from(gang % 32)),
    })
}

/// Returns a command about an application or task of a tenant.
pub(super) fn task(
    partition: Name,
    (books, here): (&Books, &Partition),
    (number, tenant, user, gang): (u8, u8, u8, u8),
) -> Command {
    if matches!(gang % 16, 6..14) {
        return change(partition, (books, here), (number, tenant, gang));
    }
    let there = here.tenants.iter().nth(usize::from(tenant) % here.tenants.len().max(1));
    let tenant = there.map_or_else(|| tenant_name(tenant), |(name, _)| name.clone());
    let submit = Submit {
        partition: partition.clone(),
        application: Name::from(format!("app{number}")),
        tenant,
        user: Name::new(USERS[usize::from(user)]),
        groups: groups_of(user),
        ..Submit::default()
    };
    if gang % 16 < 6 {
        return submit_task(submit, gang);
    }
    Command::Submit(Submit {
        placeholder_ask: gang_of(gang),
        placeholder_timeout: Millis::from_secs(u64::from(gang % 32)),
        ..submit
    })
}

/// Returns the command that submits a task with its ask.
fn submit_task(submit: Submit, die: u8) -> Command {
    let ask = Ask {
        partition: submit.partition.clone(),
        application: submit.application.clone(),
        key: submit.application.clone(),
        resources: wanted(die),
        priority: i32::from(die % 3),
        may_preempt: die % 5 < 2,
        preemptable: die % 7 < 5,
        ..Ask::default()
    };
    let members = if die.is_multiple_of(2) { 2 + die / 16 % 3 } else { 1 };
    let key = if die % 11 == 3 { Name::from(format!("key{}", die % 2)) } else { Name::default() };
    let settings = TaskSettings {
        members: u32::from(members),
        requeue: die.is_multiple_of(2),
        restarts: u32::from(die % 3),
        max_wait: (die % 4 == 1).then(|| Millis::from_secs(u64::from(die % 9))),
        request: TaskRequest { key, digest: Name::new("body") },
        ..TaskSettings::default()
    };
    Command::SubmitTask(Box::new(SubmitTask { submit, ask, settings }))
}

/// Returns a command that changes a task, mostly an existing one.
fn change(
    partition: Name,
    (books, here): (&Books, &Partition),
    (number, what, die): (u8, u8, u8),
) -> Command {
    let live = here.applications.iter().filter(|(_, id)| books.application(**id).task.is_some());
    let live: Vec<&Name> = live.map(|(name, _)| name).collect();
    let task = live.get(usize::from(number) % live.len().max(1));
    let task = task.map_or_else(|| Name::from(format!("app{number}")), |name| (*name).clone());
    let change = match what % 8 {
        0 if what >= 128 => TaskChange::Measure { resources: wanted(die / 16) },
        0 => TaskChange::Confirm,
        1..4 => TaskChange::End { succeeded: die % 32 < 12, request: TaskRequest::default() },
        4 => TaskChange::Cancel,
        5 | 6 => TaskChange::Resize { resources: wanted(die / 16 + what / 8) },
        _ => TaskChange::Rank {
            priority: (die < 128).then(|| i32::from(what / 64)),
            deadline: die
                .is_multiple_of(2)
                .then(|| Timestamp::from_millis(u64::from(what) * 1_000)),
        },
    };
    Command::ChangeTask { partition, task, change }
}

/// Returns the name under which a step of a task is counted.
pub(super) fn kind_of_step(step: &TaskStep) -> String {
    if let TaskStep::Ended { outcome, .. } = step {
        return format!("Ended {outcome:?}");
    }
    let step = format!("{step:?}");
    step.split(' ').next().unwrap_or_default().to_owned()
}
