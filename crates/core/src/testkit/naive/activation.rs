//! Activation of the next application, computed from all applications and counts. It shares the formulas of the driver
//! limits and the definition of a driver with the real scheduler.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Application, Books, Queue};
use crate::config::ApplicationLimitsConfig;
use crate::config::legal::RECOVERY_QUEUE;
use crate::event::Event;
use crate::id::{ApplicationId, QueueId};
use crate::name::Name;
use crate::resource::Resources;
use crate::rules::activation::{activated, driver_of, has_begun};
use crate::rules::linked;
use crate::userlimit::{Decimal, DriverRules, Rules};

use super::{application_priority, fair_share, pending};

/// Returns the events that activate the next application, or an empty list if none can be activated.
pub(super) fn next(books: &Books) -> Vec<Event> {
    let Some(next) = next_application(books) else { return Vec::new() };
    let activated = activated(books, next, &driver_of(books, next).unwrap_or_default());
    linked(books, next).into_iter().chain([activated]).collect()
}

fn next_application(books: &Books) -> Option<ApplicationId> {
    let all = || books.applications().iter().filter(|(_, row)| waits(books, row));
    let begun = all().map(|(id, _)| id).filter(|id| has_begun(books, *id)).min();
    begun.or_else(|| {
        let asks = all().filter(|(id, _)| pending(books, *id).next().is_some());
        let may = asks.filter(|(id, row)| may_start(books, *id, row));
        let first = may.min_by_key(|(id, row)| {
            (Reverse(application_priority(books, *id)), row.submitted, row.number)
        });
        first.map(|(id, _)| id)
    })
}

/// Whether an application must be activated before its asks are checked.
pub(super) fn waits(books: &Books, row: &Application) -> bool {
    if row.driver.is_some() || !row.state.is_active() {
        return false;
    }
    let leaf = books.queue(row.queue);
    let own = leaf.settings.application_limits.as_deref();
    let counts = |queue: &Queue| max_parallel(queue).is_some();
    leaf.leaf
        && leaf.name != RECOVERY_QUEUE
        && (own.is_some_and(ApplicationLimitsConfig::holds_back)
            || books.up(row.queue).any(|(_, queue)| counts(queue)))
}

fn max_parallel(queue: &Queue) -> Option<u64> {
    queue.settings.application_limits.as_ref()?.max_parallel
}

/// Returns the active applications.
fn live(books: &Books) -> impl Iterator<Item = &Application> {
    books.applications().iter().map(|(_, row)| row).filter(|row| row.state.is_active())
}

fn may_start(books: &Books, id: ApplicationId, row: &Application) -> bool {
    let activated = || live(books).filter(|one| one.driver.is_some());
    let below = |queue: QueueId, one: &Application| books.up(one.queue).any(|(id, _)| id == queue);
    for (queue, limits) in books.up(row.queue) {
        let count = activated().filter(|one| below(queue, one)).count();
        if max_parallel(limits).is_some_and(|max| count as u64 >= max) {
            return false;
        }
    }
    let limits = books.queue(row.queue).settings.application_limits.as_deref();
    let of_user = limits.and_then(|limits| limits.parallel_of(&row.user));
    let mine = |one: &&Application| one.user == row.user && one.partition == row.partition;
    if of_user.is_some_and(|max| activated().filter(mine).count() as u64 >= max) {
        return false;
    }
    let part = limits.and_then(|limits| limits.driver);
    part.is_none_or(|part| {
        driver_fits(books, row, DriverRules { part }, &driver_of(books, id).unwrap_or_default())
    })
}

fn driver_fits(books: &Books, row: &Application, of: DriverRules, driver: &Resources) -> bool {
    let here = || live(books).filter(|one| one.queue == row.queue);
    let drivers = |user: Option<&Name>| {
        let theirs = here().filter(|one| user.is_none_or(|user| one.user == *user));
        let each = theirs.filter_map(|one| one.driver.as_deref());
        each.fold(Resources::new(), |sum, one| sum.plus(one)).pruned()
    };
    if here().all(|one| one.driver.is_none()) || drivers(None).is_zero() {
        return true; // One always starts.
    }
    let without = Rules::WITHOUT_SHARES;
    let rules = books.users_of(row.queue).map_or(&without, |users| users.rules());
    let (state, active) = fair_share::leaf_and_active(books, row.queue, rules);
    let all = of.of_queue(rules, &state, &state.max.minimum(&state.total));
    // Users who wait for a start count in addition to the active users.
    let is_active = |one: &&Application| one.link.is_some_and(|link| active.contains(&link.user));
    let active_names: BTreeSet<&Name> = here().filter(is_active).map(|one| &one.user).collect();
    let waiting = here().filter(|one| one.driver.is_none()).map(|one| &one.user);
    let users = active_names.into_iter().chain(waiting).collect::<BTreeSet<&Name>>().len() as u64;
    let config = books.queue(row.queue).settings.user_limits.as_ref();
    let weight = config.map_or(Decimal::ONE, |config| config.weight(&row.user));
    let own = of.of_user(rules, &state, &all, users, weight);
    of.admits(rules, &state, &all, &drivers(None), driver)
        && (books.users_of(row.queue).is_none()
            || of.admits(rules, &state, &own, &drivers(Some(&row.user)), driver))
}
