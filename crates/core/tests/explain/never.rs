//! Whether some order of releases starts an ask.

use headroom_core::books::{Allocation, Books};
use headroom_core::config::GangPlacement;
use headroom_core::id::AllocationId;
use headroom_core::testkit::World;
use headroom_core::{AllocationEvent, AskEvent, Command, Event, Scheduler, Termination, Timestamp};

/// Whether an ask starts when everything else is given back: all other asks first, then the allocations one
/// by one, the oldest or the newest first.
pub(crate) fn starts(books: &Books, now: Timestamp, ask: AllocationId) -> bool {
    [false, true].into_iter().any(|newest_first| starts_in_order(books, now, ask, newest_first))
}

fn starts_in_order(books: &Books, now: Timestamp, ask: AllocationId, newest_first: bool) -> bool {
    let mut world =
        World { books: books.clone(), scheduler: Scheduler::new(books), now, ..World::default() };
    // What the RM would say of nodes is not known: at best it accepts them all.
    for partition in books.partitions().values() {
        let command = Command::SetQuestions { partition: partition.name.clone(), questions: None };
        world.command(&command).expect("questions can be switched off");
    }
    let mut others: Vec<(bool, i64, AllocationId)> = books
        .allocations()
        .iter()
        .filter(|(id, row)| *id != ask && !starts_with(books, ask, row))
        .map(|(id, row)| (!row.is_pending(), row.number, id))
        .collect();
    others.sort_unstable();
    if newest_first {
        others.sort_by_key(|(placed, number, _)| (*placed, -*number));
    }
    for (_, _, id) in others {
        let Some(row) = world.books.allocations().get(id) else { continue };
        let application = world.books.application(row.application);
        let release = Command::Release {
            partition: world.books.partition(application.partition).name.clone(),
            application: application.name.clone(),
            key: Some(row.key.clone()),
            termination: Termination::StoppedByRm,
        };
        // What is to go already may be refused: then it stays.
        let _refused = world.command(&release);
        if has_started(&mut world, ask) {
            return true;
        }
    }
    has_started(&mut world, ask)
}

/// Whether what is asked for starts with an ask or not at all: another member of its task, or whatever belongs to an
/// application whose gang is placed as a whole.
fn starts_with(books: &Books, ask: AllocationId, other: &Allocation) -> bool {
    let application = books.allocation(ask).application;
    let row = books.application(application);
    let placement = books.partition(row.partition).settings.gang_placement;
    let in_gang = books.allocation(ask).placeholder && placement == GangPlacement::Whole;
    other.application == application
        && (in_gang || other.is_pending() && books.members_of(application) > 1)
}

/// Whether it has a node, or takes a place. One that is gone has neither: what was given back may have ended its
/// application.
fn has_started(world: &mut World, ask: AllocationId) -> bool {
    let is_it = |event: &Event| match event {
        Event::Ask(AskEvent::Placed { ask: one, .. })
        | Event::Allocation(AllocationEvent::SwapStarted { ask: one, .. }) => *one == ask,
        _ => false,
    };
    for _ in 0..200 {
        let mut events = Vec::new();
        world.scheduler.next(&world.books, world.now, &mut events);
        if events.is_empty() {
            break;
        }
        let started = events.iter().any(is_it);
        for event in &events {
            world.apply(event);
        }
        if started {
            return true;
        }
    }
    false
}
