//! Timers of the books.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, QueueState, Timer};
use crate::event::{ApplicationEvent, Event, QueueEvent};
use crate::id::{ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::time::Timestamp;

use super::lifecycle::Lifecycle;
use super::{gang, recovery, task, tenant};

/// Largest number of events of one tick. Further timers fire in the next tick, because one record must not contain the
/// effects of a million timers.
const EVENTS_PER_TICK: usize = 1 << 18;

/// Returns the events of the timers that are due, earliest first. Timers beyond the limit stay due.
pub(super) fn fire(books: &Books, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let mut events = Vec::new();
    let mut cleaned = BTreeMap::new();
    let mut drained: BTreeMap<PartitionId, BTreeSet<Name>> = BTreeMap::new();
    // The end of a lifetime depends on the changes by other timers of the same application. If both are due, the later
    // one fires in the next tick, which is due at once.
    let (mut moved, mut over) = (BTreeSet::new(), BTreeSet::new());
    for timer in books.timers_due(now) {
        if events.len() >= EVENTS_PER_TICK {
            break;
        }
        match timer {
            Timer::Application(application) | Timer::Placeholders(application)
                if over.contains(&application) => {}
            Timer::Application(application) => {
                moved.insert(application);
                move_on(books, now, application, &mut events);
            }
            Timer::Placeholders(application) => {
                moved.insert(application);
                gang::expire(books, application, &mut events);
            }
            Timer::Queue(queue) => match &books.queue(queue).settings.tenant {
                Some(mark) => {
                    let tenants = drained.entry(books.queue(queue).partition).or_default();
                    tenants.insert(mark.tenant.clone());
                }
                None => clean(books, queue, &mut cleaned, &mut events),
            },
            Timer::Lifetime(application) | Timer::Wait(application)
                if moved.contains(&application) => {}
            Timer::Wait(application) if over.contains(&application) => {}
            Timer::Wait(application) => {
                moved.insert(application);
                task::expire(books, now, application, &mut events);
            }
            Timer::Lifetime(application) => {
                over.insert(application);
                Lifecycle::of(books, now, application).expire(&mut events);
            }
            Timer::Stop(queue) => events.push(stopped(books, queue)),
            Timer::Recovery(partition) => recovery::give_up(books, partition, &mut events),
        }
    }
    for (partition, tenants) in drained {
        events.extend(tenant::gone(books, now, partition, &tenants)?);
    }
    Ok(events)
}

/// Returns the event that stops an empty draining queue. Source: user-headroom §10 (C12).
fn stopped(books: &Books, queue: QueueId) -> Event {
    let row = books.queue(queue);
    let (partition, queue, state) = (row.partition, row.path.clone(), QueueState::Stopped);
    Event::Queue(QueueEvent::Moved { partition, queue, state })
}

fn move_on(books: &Books, now: Timestamp, application: ApplicationId, events: &mut Vec<Event>) {
    match books.application(application).state {
        ApplicationState::Completing => {
            Lifecycle::of(books, now, application).end_completing(events);
        }
        // The storage time of an ended application is over.
        ApplicationState::Completed | ApplicationState::Failed => {
            events.push(Event::Application(ApplicationEvent::Removed { application }));
        }
        // These states have no timer.
        ApplicationState::New
        | ApplicationState::Accepted
        | ApplicationState::Running
        | ApplicationState::Resuming
        | ApplicationState::Failing => {}
    }
}

/// Removes an empty queue, and its ancestors that become empty. `cleaned` counts the removed children of each parent.
fn clean(
    books: &Books,
    queue: QueueId,
    cleaned: &mut BTreeMap<QueueId, u32>,
    events: &mut Vec<Event>,
) {
    let mut next = Some(queue);
    while let Some(queue) = next {
        events.push(Event::Queue(QueueEvent::Removed { queue }));
        next = books.queue(queue).parent.filter(|parent| {
            let count = cleaned.entry(*parent).or_default();
            *count += 1;
            let row = books.queue(*parent);
            row.child_count == *count && row.is_passing()
        });
    }
}
