//! Asks, and giving back.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::command::Ask;
use crate::event::{Event, Termination};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::time::Timestamp;

use super::application::{give_up_all, left_empty};
use super::{application_named, named, partition_named, sum_fits, types_fit};

pub(super) fn ask(books: &Books, now: Timestamp, ask: &Ask) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &ask.partition)?;
    let application = application_named(books, partition, &ask.application)?;
    named("allocation key", &ask.key)?;
    let row = books.partition(partition);
    if let Some(known) = row.allocations.get(&*ask.key) {
        let size = books.types().resolve(&ask.resources).map(|size| size.pruned());
        let same = size.is_ok_and(|size| size == *books.resources_of(*known));
        if same && books.allocation(*known).application == application {
            return Ok(Vec::new()); // Said before, and true already.
        }
        let holder = books.application(books.allocation(*known).application);
        return Err(Rejection::DuplicateKey {
            key: ask.key.clone(),
            holder: holder.name.clone(),
            claimant: ask.application.clone(),
        });
    }
    if !ask.resources.is_strictly_positive() {
        return Err(Rejection::AskSize {
            key: ask.key.clone(),
            application: ask.application.clone(),
            resources: ask.resources.clone(),
        });
    }
    types_fit(books, "the ask", &ask.resources)?;
    let pending = &books.queue(row.root).pending;
    sum_fits(books, "the asks of the partition", Some(pending), &ask.resources)?;
    let mut events = vec![Event::AskAdded {
        application,
        key: ask.key.clone(),
        resources: ask.resources.clone(),
        priority: ask.priority,
        // An ask cannot be younger than now: it would order before nothing and age never.
        created: ask.created.map_or(now, |created| created.min(now)),
        originator: ask.originator,
    }];
    let next = match books.application(application).state {
        ApplicationState::New => Some(ApplicationState::Accepted),
        ApplicationState::Completing => Some(ApplicationState::Running),
        _ => None,
    };
    if let Some(state) = next {
        events.push(Event::ApplicationMoved { application, state, timer: None });
    }
    Ok(events)
}

pub(super) fn release(
    books: &Books,
    now: Timestamp,
    partition: &Name,
    application: &Name,
    key: Option<&Name>,
    termination: Termination,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let id = application_named(books, partition, application)?;
    let row = books.application(id);
    let held = row.ask_count + row.allocation_count;
    let mut events = match key {
        None => give_up_all(books, id, termination),
        Some(key) => {
            let found = books.partition(partition).allocations.get(&**key).copied();
            let mine = found.filter(|one| books.allocation(*one).application == id);
            let one = mine.ok_or_else(|| Rejection::UnknownKey {
                key: key.clone(),
                application: application.clone(),
            })?;
            vec![if books.allocation(one).is_pending() {
                Event::AskRemoved { ask: one, termination }
            } else {
                Event::Released { allocation: one, termination }
            }]
        }
    };
    if !events.is_empty() && events.len() == held as usize {
        left_empty(books, now, id, &mut events);
    }
    Ok(events)
}
