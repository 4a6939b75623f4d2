//! Sentences about limits on activation: parallel applications and drivers.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::id::AllocationId;
use crate::resource::{Quantity, Resources};

use super::{Compared, Wait, figures_of};

/// Returns the sentence for the limit on active applications, of a queue or of a user.
pub(super) fn of_number(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let compared = wait.blocker.compared();
    let (subject, activated, max, key) = if let Compared::ActivatedIn(queue) = compared {
        let queue = books.queue(queue);
        let limits = queue.settings.application_limits.as_ref();
        let max = limits.and_then(|limits| limits.max_parallel).unwrap_or_default();
        let subject = wait.blocker.subject_in_sentence(books);
        (subject, queue.activated, max, "maxparallelapps")
    } else if let Compared::ActivatedOf(partition, level) = compared {
        let trackers = &books.partition(partition).trackers;
        let level = trackers.level(level);
        let user = &trackers.tracker(level.tracker).name;
        let limits = books.queue(level.queue).settings.application_limits.as_ref();
        let max = limits.and_then(|limits| limits.parallel_of(user)).unwrap_or_default();
        let named = limits.is_some_and(|limits| limits.names(user));
        let key = if named { "maxparallelappsbyuser" } else { "maxparallelappsperuser" };
        (format!("user {user}"), books.activated_of(partition, user), max, key)
    } else {
        return String::new();
    };
    let applications = if max == 1 { "application" } else { "applications" };
    format!(
        "{subject} has {activated} of at most {max} active {applications}. Wait for one to end, or raise `{key}`."
    )
}

/// Returns the sentence for the limit on drivers, of a leaf or of one user in a leaf.
pub(super) fn of_drivers(wait: &Wait, books: &Books, _: AllocationId) -> String {
    const KEY: &str = "maximumdriverresourcepercent";
    let used = |of: Option<&Resources>| match (of, wait.shortfall) {
        (Some(used), Some(short)) => used.get_or_zero(short.resource),
        _ => Quantity::ZERO,
    };
    let compared = wait.blocker.compared();
    let (used, whose) = if let Compared::DriversIn(leaf) = compared {
        (used(books.drivers_of(leaf).map(|one| &one.used)), "")
    } else if let Compared::DriversOf(partition, level) = compared {
        let trackers = &books.partition(partition).trackers;
        let level = trackers.level(level);
        let user = &trackers.tracker(level.tracker).name;
        let row = books.drivers_of(level.queue).and_then(|leaf| leaf.user(user));
        (used(row.map(|user| &user.used)), "of this user ")
    } else {
        return String::new();
    };
    let subject = wait.blocker.subject_in_sentence(books);
    let at = if whose.is_empty() { "in" } else { "of" };
    let Some(short) = wait.shortfall else {
        return format!(
            "drivers {at} {subject} have reached their limit. Wait for an application {whose}to \
             end, or raise `{KEY}`."
        );
    };
    let amounts = [used, used.plus(short.available), short.needed];
    let (name, [used, most, needed]) = figures_of(books, short, amounts);
    format!(
        "drivers {at} {subject} use {used} of at most {most} {name}, and the driver of this application needs {needed} more. Wait for an application {whose}to end, or raise `{KEY}`."
    )
}
