//! Sentences about bounds on amounts and on numbers of applications.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::id::AllocationId;
use crate::name::Name;
use crate::resource::{Quantity, Resources};

use super::{About, Compared, Wait, figures_of};

/// Returns the sentence for the maximum of a queue, a tenant quota, or the capacity of the cluster.
pub(super) fn of_queue(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let queue = wait.blocker.about().queue().map(|queue| books.queue(queue));
    let max = queue.and_then(|queue| queue.max.as_ref());
    let (bound, cure) = match wait.blocker.tenant(books) {
        Some(tenant) => ("quota", raise_quota(tenant)),
        None if queue.is_some_and(|queue| queue.parent.is_none()) => {
            ("capacity", "add nodes".into())
        }
        None => ("maximum", "raise the maximum".into()),
    };
    of_amount(wait, books, bound, (max, &cure))
}

/// Returns the sentence for the limit of a user or group.
pub(super) fn of_limit(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Compared::Limit(partition, level) = wait.blocker.compared() else { return String::new() };
    let level = books.partition(partition).trackers.level(level);
    let (bound, cure) = match wait.blocker.tenant(books) {
        Some(tenant) => ("quota", raise_quota(tenant)),
        None => ("limit", "raise the limit".into()),
    };
    of_amount(wait, books, bound, (level.max(), &cure))
}

fn raise_quota(tenant: &Name) -> String {
    format!("raise the quota of tenant {tenant}")
}

fn of_amount(
    wait: &Wait,
    books: &Books,
    bound: &str,
    (max, cure): (Option<&Resources>, &str),
) -> String {
    let subject = wait.blocker.subject_in_sentence(books);
    let Some(short) = wait.shortfall else {
        return format!("{subject} has reached its {bound}. Wait for a release, or {cure}.");
    };
    let most = max.map_or(Quantity::ZERO, |max| max.get_or_zero(short.resource));
    let used = most.minus(short.available);
    let amounts = [short.available, used, most, short.needed];
    let (name, [left, used, most, needed]) = figures_of(books, short, amounts);
    if short.available < Quantity::ZERO {
        return format!(
            "{subject} uses {used} {name}, which is above its {bound} of {most}, and the ask needs {needed}. Wait for releases, or {cure}."
        );
    }
    format!(
        "{subject} has {left} of {most} {name} available, but the ask needs {needed}. Wait for a release, or {cure}."
    )
}

/// Returns the sentence for the user cap of a leaf.
pub(super) fn of_cap(wait: &Wait, books: &Books, _: AllocationId) -> String {
    of_user(wait, books, "user cap", "raise `userlimitfactor`")
}

/// Returns the sentence for the fair share of a user in a leaf.
pub(super) fn of_share(wait: &Wait, books: &Books, _: AllocationId) -> String {
    of_user(wait, books, "fair share", "until the other active users reach their shares")
}

/// Returns the sentence for a bound that is computed on demand. The bound is used plus available.
fn of_user(wait: &Wait, books: &Books, bound: &str, cure: &str) -> String {
    let subject = wait.blocker.subject(books);
    let Some(short) = wait.shortfall else {
        return format!(
            "{subject} has reached the {bound}. Wait for a release by this user, or {cure}."
        );
    };
    let About::Level(partition, level) = wait.blocker.about() else { return String::new() };
    let used = books.partition(partition).trackers.level(level).used();
    let used = used.get_or_zero(short.resource);
    let amounts = [used, used.plus(short.available), short.needed];
    let (name, [used, most, needed]) = figures_of(books, short, amounts);
    format!(
        "{subject} uses {used} {name} of a {bound} of {most}, and the ask needs {needed} more. Wait for a release by this user, or {cure}."
    )
}

/// Returns the sentence for the limit on running applications of a queue, a user, or a group.
///
/// A queue also counts applications that are starting, which have only placeholders or reserved nodes.
pub(super) fn of_running(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let compared = wait.blocker.compared();
    let (running, starting, max) = if let Compared::RunningIn(queue) = compared {
        let queue = books.queue(queue);
        (queue.running, queue.allocating, queue.settings.max_applications)
    } else if let Compared::RunningAt(partition, level) = compared {
        let level = books.partition(partition).trackers.level(level);
        (level.running, 0, level.max_applications())
    } else {
        return String::new();
    };
    let subject = wait.blocker.subject_in_sentence(books);
    let applications = if max == 1 { "application" } else { "applications" };
    let starting = match starting {
        0 => String::new(),
        1 => "; 1 more is starting".into(),
        more => format!("; {more} more are starting"),
    };
    format!(
        "{subject} runs {running} of at most {max} {applications}{starting}. Wait for one to end, or raise `maxapplications`."
    )
}
