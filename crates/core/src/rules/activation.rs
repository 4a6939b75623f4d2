//! When an application is activated: `maxparallelapps` and the driver limits of
//! `applicationlimits`. Source: user-headroom §5; in its numbers M-12, M-15 and M-16.
//!
//! The driver of an application is its originator, or else all placeholders of its first task
//! group, or else the ask that it would have placed first. It is fixed when the application is
//! activated, and counts until that ends.

use core::iter;

use crate::books::{Allocation, Books, LeafDrivers, LeafUsers, Queue};
use crate::event::{ApplicationEvent, Event};
use crate::id::{AllocationId, ApplicationId, LevelId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, Resources, Shortfall};
use crate::userlimit::{Decimal, DriverRules, Leaf, Rules};
use crate::wait::{Blocker, CheckResult, Wait};

/// The rules of a leaf that says nothing of its users.
static WITHOUT_SHARES: Rules = Rules::WITHOUT_SHARES;

/// The event that activates an application. Its driver counts as no more than the sum with the
/// others of its leaf can hold.
pub(crate) fn activated(books: &Books, application: ApplicationId, driver: &Resources) -> Event {
    let leaf = books.application(application).queue;
    let used = books.drivers_of(leaf).map(|drivers| &drivers.used);
    let mut counted = driver.clone();
    for (resource, amount) in driver.iter() {
        let used = used.map_or(Quantity::ZERO, |used| used.get_or_zero(resource));
        counted.set(resource, amount.min(Quantity::MAX.minus(used)));
    }
    Event::Application(ApplicationEvent::Activated {
        application,
        driver: books.types().amounts(&counted),
    })
}

/// Whether an application has something that it was given without being asked whether it may start:
/// it is activated whatever the limits. Source: CapacityScheduler's recovery (C31).
pub(crate) fn has_begun(books: &Books, application: ApplicationId) -> bool {
    let row = books.application(application);
    row.allocation_count > 0 || row.reservation_count > 0 || row.swap_count > 0
}

/// What the driver of an application counts as, by a look at all of its asks; none while it has asked
/// for nothing.
pub(crate) fn driver_of(books: &Books, application: ApplicationId) -> Option<Resources> {
    let row = books.application(application);
    let first_group = row.gang.as_ref().and_then(|gang| gang.groups.first());
    let all = || books.allocations_of(application);
    let key =
        |one: &Allocation| (one.is_pending(), -i64::from(one.priority), one.created, one.number);
    let originators = all().filter(|(_, one)| one.originator);
    if let Some((id, _)) = originators.min_by_key(|(_, one)| key(one)) {
        return Some(books.resources_of(id).clone());
    }
    let of_group = |one: &Allocation| {
        one.placeholder
            && one
                .task_group()
                .is_some_and(|name| first_group.is_some_and(|group| group.name == *name))
    };
    let mut places = all().filter(|(_, one)| of_group(one)).peekable();
    if places.peek().is_some() {
        let all = places.fold(Resources::new(), |sum, (id, _)| sum.plus(books.resources_of(id)));
        return Some(all);
    }
    let first: Option<(AllocationId, &Allocation)> = all().min_by_key(|(_, one)| key(one));
    first.map(|(id, _)| books.resources_of(id).clone())
}

/// What a leaf lets start now, as far as drivers go.
#[derive(Debug)]
pub struct Gate<'a> {
    books: &'a Books,
    leaf: QueueId,
    drivers: &'a LeafDrivers,
    limits: Option<Limits<'a>>,
}

#[derive(Debug)]
struct Limits<'a> {
    of: DriverRules,
    rules: &'a Rules,
    state: Leaf,
    /// What all drivers may have.
    all: Resources,
    /// How many users share that: active users, and inactive users who have an application that was
    /// not activated. So a user who waits to start counts.
    users: u64,
}

impl<'a> Gate<'a> {
    /// None where no application has to be activated.
    pub fn of(books: &'a Books, leaf: QueueId) -> Option<Self> {
        let drivers = books.drivers_of(leaf)?;
        let limits = drivers.rules().map(|of| {
            let users = books.users_of(leaf);
            let rules = users.map_or(&WITHOUT_SHARES, |users| users.rules());
            let alone = || books.leaf_alone(leaf, rules.formula);
            let state = users.map_or_else(alone, LeafUsers::state);
            let current = state.max.minimum(&state.total);
            let all = of.of_queue(rules, &state, &current);
            let active = users.map_or(0, |users| users.outline().active);
            Limits { of, rules, state, all, users: active + drivers.waiting_users }
        });
        Some(Self { books, leaf, drivers, limits })
    }

    /// The same where all drivers may have this much: somebody knows better what the leaf may use now.
    #[must_use]
    pub fn with_limit(mut self, all: Resources) -> Self {
        if let Some(limits) = &mut self.limits {
            limits.all = all;
        }
        self
    }

    /// Whether an application of a user with this driver may start: the drivers of the leaf leave room
    /// for it, and so do those of the user.
    pub fn lets_start(&self, user: &str, driver: &Resources) -> bool {
        let nothing = Resources::new();
        let used = self.drivers.user(user).map_or(&nothing, |user| &user.used);
        let limit = self.of_user(weight(self.books, self.leaf, user));
        self.leaves_room(driver) && self.admits(limit.as_ref(), used, driver)
    }

    /// What all drivers of the leaf may have; none: anything.
    pub fn of_leaf(&self) -> Option<&Resources> {
        self.limits.as_ref().map(|limits| &limits.all)
    }

    /// Whether drivers are looked at at all: one application always starts.
    fn looks_at_drivers(&self) -> bool {
        self.drivers.activated > 0 && !self.drivers.used.is_zero()
    }

    /// What the drivers of a user of this weight may have; none where users do not share the leaf.
    pub fn of_user(&self, weight: Decimal) -> Option<Resources> {
        self.books.users_of(self.leaf)?;
        let Limits { of, rules, state, all, users } = self.limits.as_ref()?;
        Some(of.of_user(rules, state, all, *users, weight))
    }

    /// Whether all drivers together leave room for one more.
    pub(crate) fn leaves_room(&self, driver: &Resources) -> bool {
        let limit = self.limits.as_ref().map(|limits| &limits.all);
        self.admits(limit, &self.drivers.used, driver)
    }

    /// Whether the drivers of a user do who may have this much and has that.
    pub(crate) fn admits(
        &self,
        limit: Option<&Resources>,
        used: &Resources,
        driver: &Resources,
    ) -> bool {
        let (Some(limit), Some(limits)) = (limit, &self.limits) else { return true };
        !self.looks_at_drivers()
            || limits.of.admits(limits.rules, &limits.state, limit, used, driver)
    }
}

/// The weight of a user of a leaf, whether users share it or not.
pub(crate) fn weight(books: &Books, leaf: QueueId, user: &str) -> Decimal {
    books.users_of(leaf).map_or(Decimal::ONE, |users| users.weight_of(user))
}

/// The queue on the path of a leaf, from there up, in which no more may be activated.
pub(crate) fn full_queue(books: &Books, leaf: QueueId) -> Option<QueueId> {
    books.up(leaf).find(|(_, queue)| is_full(queue)).map(|(queue, _)| queue)
}

/// Whether as many applications of a queue were activated as may be.
fn is_full(queue: &Queue) -> bool {
    max_parallel(queue).is_some_and(|max| queue.activated >= max)
}

pub(crate) fn max_parallel(queue: &Queue) -> Option<u64> {
    queue.settings.application_limits.as_ref()?.max_parallel
}

/// Whether a user has as many activated applications as allowed.
pub(crate) fn is_user_full(books: &Books, leaf: QueueId, user: &Name) -> bool {
    let row = books.queue(leaf);
    let limits = row.settings.application_limits.as_ref();
    let max = limits.and_then(|limits| limits.parallel_of(user));
    max.is_some_and(|max| books.activated_of(row.partition, user) >= max)
}

/// Why an application is not activated, the first check that it fails; none if none holds it back.
/// It is tied to its user.
pub(crate) fn wait_for_activation(books: &Books, application: ApplicationId) -> Option<Wait> {
    checks(books, application).find_map(CheckResult::wait)
}

/// All that an application has to pass before it is activated, in order; nothing before it is tied to
/// its user.
pub(crate) fn checks(
    books: &Books,
    application: ApplicationId,
) -> impl Iterator<Item = CheckResult> {
    let row = books.application(application);
    row.link.into_iter().flat_map(move |link| {
        let (leaf, level) = (row.queue, link.user);
        let of_user = move || {
            let full = is_user_full(books, leaf, &row.user);
            CheckResult::of(Blocker::ParallelOfUser(row.partition, level), full, None)
        };
        let of_drivers = move || drivers(books, (application, leaf), level);
        numbers(books, leaf)
            .chain(iter::once_with(of_user))
            .chain(iter::once_with(of_drivers).flatten().flatten())
    })
}

/// How many applications may have been activated in the queues from a leaf up.
fn numbers(books: &Books, leaf: QueueId) -> impl Iterator<Item = CheckResult> {
    let counting = books.up(leaf).filter(|(_, queue)| max_parallel(queue).is_some());
    counting
        .map(|(id, queue)| CheckResult::of(Blocker::ParallelApplications(id), is_full(queue), None))
}

/// What the drivers of a leaf, then those of a user, may have.
fn drivers(
    books: &Books,
    (application, leaf): (ApplicationId, QueueId),
    level: LevelId,
) -> Option<[CheckResult; 2]> {
    let row = books.application(application);
    let (gate, driver) = (Gate::of(books, leaf)?, driver_of(books, application)?);
    let drivers = books.drivers_of(leaf)?;
    let short = |limit: Option<&Resources>, used: &Resources| -> Option<Shortfall> {
        let lacks = |(resource, needed)| {
            let available = limit?.get_or_zero(resource).minus(used.get_or_zero(resource));
            (needed > available).then_some(Shortfall { resource, needed, available })
        };
        driver.iter().find_map(lacks)
    };
    let of = |blocker, admitted, limit: Option<&Resources>, used: &Resources| {
        let shortfall = if admitted { None } else { short(limit, used) };
        CheckResult::of(blocker, !admitted, shortfall)
    };
    let all = gate.limits.as_ref().map(|limits| &limits.all);
    let queue = of(Blocker::DriverQueue(leaf), gate.leaves_room(&driver), all, &drivers.used);
    let limit = gate.of_user(weight(books, leaf, &row.user));
    let nothing = Resources::new();
    let used = drivers.user(&row.user).map_or(&nothing, |user| &user.used);
    let admitted = gate.admits(limit.as_ref(), used, &driver);
    let user = of(Blocker::DriverUser(row.partition, level), admitted, limit.as_ref(), used);
    Some([queue, user])
}
