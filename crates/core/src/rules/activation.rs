//! Activation of applications: `maxparallelapps` and the driver limits of `applicationlimits`. Source: user-headroom
//! §5; its numbers M-12, M-15 and M-16.
//!
//! The driver of an application is its originator. Without an originator, it is the set of all placeholders of the
//! first task group. Without these, it is the first ask in order. The driver is fixed when the application is
//! activated, and counts until the application ends.

use core::iter;

use crate::books::{Allocation, Books, LeafDrivers, LeafUsers, Queue};
use crate::event::{ApplicationEvent, Event};
use crate::id::{AllocationId, ApplicationId, LevelId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, Resources, Shortfall};
use crate::userlimit::{Decimal, DriverRules, Leaf, Rules};
use crate::wait::{Blocker, CheckResult, Wait};

/// Rules of a leaf without user limits.
static WITHOUT_SHARES: Rules = Rules::WITHOUT_SHARES;

/// Returns the event that activates an application. The counted amounts of its driver are limited so that the sum of
/// the leaf does not overflow.
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

/// Returns whether an application has an allocation, a reservation, or a replacement without an activation. Such an
/// application is activated regardless of the limits. Source: CapacityScheduler's recovery (C31).
pub(crate) fn has_begun(books: &Books, application: ApplicationId) -> bool {
    let row = books.application(application);
    row.allocation_count > 0 || row.reservation_count > 0 || row.swap_count > 0
}

/// Returns the amounts that the driver of an application counts as. `None` while the application has no ask. Costs all
/// asks of the application.
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

/// Limits on drivers and applications of a leaf at one point in time.
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
    /// Limit on the sum of all drivers.
    all: Resources,
    /// Number of users that share the limit: active users, and inactive users with an application that waits for
    /// activation.
    users: u64,
}

impl<'a> Gate<'a> {
    /// Returns the gate of a leaf. `None` if the leaf does not activate applications.
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

    /// Replaces the limit on the sum of all drivers, for callers that know the current capacity of the leaf better.
    #[must_use]
    pub fn with_limit(mut self, all: Resources) -> Self {
        if let Some(limits) = &mut self.limits {
            limits.all = all;
        }
        self
    }

    /// Returns whether the limits on drivers, of the leaf and of the user, allow an application of a user with this
    /// driver.
    pub fn lets_start(&self, user: &str, driver: &Resources) -> bool {
        let nothing = Resources::new();
        let used = self.drivers.user(user).map_or(&nothing, |user| &user.used);
        let limit = self.of_user(weight(self.books, self.leaf, user));
        self.leaves_room(driver) && self.admits(limit.as_ref(), used, driver)
    }

    /// Returns the limit on the sum of all drivers. `None` if there is no limit.
    pub fn of_leaf(&self) -> Option<&Resources> {
        self.limits.as_ref().map(|limits| &limits.all)
    }

    /// Returns whether the limits on drivers apply. The first application of a leaf can always start.
    fn looks_at_drivers(&self) -> bool {
        self.drivers.activated > 0 && !self.drivers.used.is_zero()
    }

    /// Returns the limit on the drivers of a user with this weight. `None` if the leaf has no user limits.
    pub fn of_user(&self, weight: Decimal) -> Option<Resources> {
        self.books.users_of(self.leaf)?;
        let Limits { of, rules, state, all, users } = self.limits.as_ref()?;
        Some(of.of_user(rules, state, all, *users, weight))
    }

    /// Returns whether the limit on the sum of all drivers allows one more driver.
    pub(crate) fn leaves_room(&self, driver: &Resources) -> bool {
        let limit = self.limits.as_ref().map(|limits| &limits.all);
        self.admits(limit, &self.drivers.used, driver)
    }

    /// Returns whether `used` plus `driver` stays within `limit`.
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

/// Returns the weight of a user in a leaf. 1 if the leaf has no user limits.
pub(crate) fn weight(books: &Books, leaf: QueueId, user: &str) -> Decimal {
    books.users_of(leaf).map_or(Decimal::ONE, |users| users.weight_of(user))
}

/// Returns the first queue from the leaf to the root that has reached its limit on active applications.
pub(crate) fn full_queue(books: &Books, leaf: QueueId) -> Option<QueueId> {
    books.up(leaf).find(|(_, queue)| is_full(queue)).map(|(queue, _)| queue)
}

/// Returns whether a queue has reached its limit on active applications.
fn is_full(queue: &Queue) -> bool {
    max_parallel(queue).is_some_and(|max| queue.activated >= max)
}

pub(crate) fn max_parallel(queue: &Queue) -> Option<u64> {
    queue.settings.application_limits.as_ref()?.max_parallel
}

/// Returns whether a user has reached their limit on active applications.
pub(crate) fn is_user_full(books: &Books, leaf: QueueId, user: &Name) -> bool {
    let row = books.queue(leaf);
    let limits = row.settings.application_limits.as_ref();
    let max = limits.and_then(|limits| limits.parallel_of(user));
    max.is_some_and(|max| books.activated_of(row.partition, user) >= max)
}

/// Returns the wait for the first failed check of activation. `None` if the application can be activated. The
/// application must be linked to its trackers.
pub(crate) fn wait_for_activation(books: &Books, application: ApplicationId) -> Option<Wait> {
    checks(books, application).find_map(CheckResult::wait)
}

/// Returns all checks of activation in order. Empty before the application is linked to its trackers.
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

/// Checks the limit on active applications of each queue from the leaf to the root.
fn numbers(books: &Books, leaf: QueueId) -> impl Iterator<Item = CheckResult> {
    let counting = books.up(leaf).filter(|(_, queue)| max_parallel(queue).is_some());
    counting
        .map(|(id, queue)| CheckResult::of(Blocker::ParallelApplications(id), is_full(queue), None))
}

/// Checks the limits on drivers, of the leaf and then of the user.
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
