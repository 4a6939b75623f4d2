//! Allocations that a tenant above its quota returns, directly from tenants §7. Each step recomputes the sum of all
//! running allocations.

use alloc::vec::Vec;

use crate::books::{Allocation, Books, StopRequest, TaskGroup};
use crate::event::{AllocationEvent, Event, PreemptionCause, QueueEvent};
use crate::id::{AllocationId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::time::Timestamp;

/// Returns the events of a check of the quotas of all tenants of a partition.
pub fn evictions(books: &Books, now: Timestamp, root: QueueId) -> Vec<Event> {
    let mut events = Vec::new();
    // The deepest queues first.
    let mut queues: Vec<QueueId> =
        below(books, root).into_iter().filter(|id| *id != root).collect();
    queues.sort_by_key(|id| core::cmp::Reverse(books.queue(*id).path.matches('.').count()));
    let mut runs: Vec<(QueueId, Vec<Event>)> = Vec::new();
    for queue in queues {
        let stopped: Vec<AllocationId> =
            runs.iter().flat_map(|(_, events)| events.iter().filter_map(victim)).collect();
        runs.push((queue, run(books, now, queue, &stopped)));
    }
    // In report order: each queue after its descendants, which are in the order of creation.
    for queue in report_order(books, root) {
        let at = runs.iter().position(|(id, _)| *id == queue);
        events.extend(at.into_iter().flat_map(|at| runs[at].1.clone()));
    }
    events
}

const fn victim(event: &Event) -> Option<AllocationId> {
    match event {
        Event::Allocation(AllocationEvent::Preempted { victim, .. }) => Some(*victim),
        _ => None,
    }
}

fn report_order(books: &Books, queue: QueueId) -> Vec<QueueId> {
    let children = books.children(queue).flat_map(|(child, _)| report_order(books, child));
    children.chain([queue]).collect()
}

fn below(books: &Books, queue: QueueId) -> Vec<QueueId> {
    let children = books.children(queue).flat_map(|(child, _)| below(books, child));
    core::iter::once(queue).chain(children).collect()
}

fn run(books: &Books, now: Timestamp, queue: QueueId, stopped: &[AllocationId]) -> Vec<Event> {
    let row = books.queue(queue);
    let (Some(at), Some(max)) = (row.quota_preemption_at, &row.max) else { return Vec::new() };
    let clock = Event::Queue(QueueEvent::QuotaClockStopped { queue });
    let over = |used: &Resources| -> Resources {
        let over = max.iter().map(|(one, most)| (one, used.get_or_zero(one).minus(most)));
        over.filter(|(_, over)| *over > Quantity::ZERO).collect()
    };
    if over(&row.allocated).is_empty() {
        return alloc::vec![clock];
    }
    if at > now {
        return Vec::new();
    }
    let mut gone = stopped.to_vec();
    let first = over(&staying(books, queue, &gone));
    let mut picked: Vec<Vec<AllocationId>> = Vec::new();
    loop {
        let left = over(&staying(books, queue, &gone));
        let mut tasks: Vec<Vec<AllocationId>> = tasks(books, queue, &gone);
        tasks.retain(|task| {
            let helps = |id: &AllocationId| books.resources_of(*id).shares_type(&left);
            task.iter().any(helps) && may_go(books, queue, task, &gone, &first)
        });
        let Some(next) = tasks.into_iter().min_by_key(|task| turn(books, task)) else { break };
        gone.extend(&next);
        picked.push(next);
    }
    let rest = over(&staying(books, queue, &gone));
    for at in (0..picked.len()).rev() {
        let without: Vec<AllocationId> =
            gone.iter().copied().filter(|id| !picked[at].contains(id)).collect();
        if over(&staying(books, queue, &without)) == rest {
            gone = without;
            picked.remove(at);
        }
    }
    let cause = PreemptionCause::Quota(queue);
    let victims = picked.into_iter().flatten();
    let mut events: Vec<Event> = victims
        .map(|victim| Event::Allocation(AllocationEvent::Preempted { victim, cause }))
        .collect();
    let swaps = |id: &AllocationId| books.allocation(*id).partner().is_some();
    if rest.is_empty() || !running(books, queue, &gone).iter().any(swaps) {
        events.push(clock);
    }
    events
}

/// Returns the running allocations of a queue and its descendants, except those that are already stopping.
fn running(books: &Books, queue: QueueId, gone: &[AllocationId]) -> Vec<AllocationId> {
    let leaves = below(books, queue);
    let here = |row: &Allocation| leaves.contains(&books.application(row.application).queue);
    let stays = |row: &Allocation| row.mark == StopRequest::None || row.partner().is_some();
    let all = books.allocations().iter().filter(|(_, row)| row.is_allocated() && here(row));
    all.filter(|(id, row)| stays(row) && !gone.contains(id)).map(|(id, _)| id).collect()
}

fn staying(books: &Books, queue: QueueId, gone: &[AllocationId]) -> Resources {
    let mut sum = Resources::new();
    for id in running(books, queue, gone) {
        sum.add(books.resources_of(id));
    }
    sum
}

/// Returns the single allocations, and the allocations of each gang as one set. The newest are first.
fn tasks(books: &Books, queue: QueueId, gone: &[AllocationId]) -> Vec<Vec<AllocationId>> {
    let all = running(books, queue, gone);
    let mut tasks: Vec<Vec<AllocationId>> = Vec::new();
    for leaf in below(books, queue) {
        for (application, row) in books.applications_in(leaf) {
            let mine = books.allocations_of(application).map(|(id, _)| id);
            let mine: Vec<AllocationId> = mine.filter(|id| all.contains(id)).collect();
            let needs = |group: &TaskGroup| group.count > group.timed_out;
            let gang = row.gang.as_ref().is_some_and(|gang| gang.groups.iter().any(needs));
            if (gang || books.members_of(application) > 1) && !mine.is_empty() {
                tasks.push(mine);
            } else {
                tasks.extend(mine.into_iter().map(|id| alloc::vec![id]));
            }
        }
    }
    tasks
}

/// Sort key: the least urgent set, then the youngest. A gang has the priority of its most urgent member and the age of
/// its oldest member.
fn turn(books: &Books, task: &[AllocationId]) -> (i32, i128, i128) {
    let row = |id: &AllocationId| books.allocation(*id);
    let priority = task.iter().map(|id| row(id).priority).max().unwrap_or_default();
    let age = |id: &AllocationId| (row(id).created, row(id).number.unsigned_abs());
    let (created, number) = task.iter().map(age).min().unwrap_or_default();
    (priority, -i128::from(created.as_millis()), -i128::from(number))
}

fn may_go(
    books: &Books,
    queue: QueueId,
    task: &[AllocationId],
    gone: &[AllocationId],
    excess: &Resources,
) -> bool {
    let offers = task.iter().map(|id| books.allocation(*id)).all(|row| {
        row.preemptable && row.mark == StopRequest::None && row.required_node().is_none()
    });
    let leaf = books.application(books.allocation(task[0]).application).queue;
    let mut without = gone.to_vec();
    without.extend(task);
    let above = books.path_of(leaf).into_iter().rev().take_while(|id| *id != queue);
    let mut guarded = above.filter_map(|id| Some((id, books.queue(id).guaranteed.as_ref()?)));
    let gives = |one| task.iter().any(|id| books.resources_of(*id).has(one));
    let keeps = |(id, least): (QueueId, &Resources)| {
        let after = staying(books, id, &without);
        let mut wanted = least.iter().filter(|(one, _)| excess.has(*one) && gives(*one));
        wanted.all(|(one, least)| after.get_or_zero(one) >= least)
    };
    offers && guarded.all(keeps)
}
