//! Limits of a queue file, and effects of removed limits on applications.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::tracker::WILDCARD;
use crate::books::{Application, Books, LimitSettings, LimitSubject, Queue};
use crate::config::QueueConfig;
use crate::event::{ApplicationEvent, Event, QueueEvent};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::rules::tenant::Lowering;

use super::target::Target;

/// Returns the limits of a configured queue in order, one for each name.
pub(in crate::rules) fn of(queue: &QueueConfig) -> Vec<LimitSettings> {
    let mut all = Vec::new();
    for limit in &queue.limits {
        let users = limit.users.iter().map(|name| match &**name {
            WILDCARD => LimitSubject::AnyUser,
            _ => LimitSubject::User(name.clone()),
        });
        let groups = limit.groups.iter().map(|name| match &**name {
            WILDCARD => LimitSubject::AnyGroup,
            _ => LimitSubject::Group(name.clone()),
        });
        all.extend(users.chain(groups).map(|subject| LimitSettings {
            subject,
            max: limit.max_resources.clone(),
            max_applications: limit.max_applications,
        }));
    }
    all
}

/// Returns whether the current limits are those of a configured queue followed by those of tenants. Compares without
/// building the new list.
fn is_in_force(
    before: &[LimitSettings],
    queue: &QueueConfig,
    of_tenants: &[LimitSettings],
) -> bool {
    let Some(of_file) = before.strip_suffix(of_tenants) else { return false };
    let mut before = of_file.iter();
    let same = queue.limits.iter().all(|limit| {
        let users = limit.users.iter().map(|name| (name, true));
        let groups = limit.groups.iter().map(|name| (name, false));
        users.chain(groups).all(|(name, is_user)| {
            before.next().is_some_and(|settings| {
                let same = match &settings.subject {
                    LimitSubject::AnyUser => is_user && &**name == WILDCARD,
                    LimitSubject::User(user) => is_user && user == name,
                    LimitSubject::AnyGroup => !is_user && &**name == WILDCARD,
                    LimitSubject::Group(group) => !is_user && group == name,
                };
                same && settings.max_applications == limit.max_applications
                    && settings.max == limit.max_resources
            })
        })
    });
    same && before.next().is_none()
}

/// Queues with removed group limits, and the groups that no longer have one there, including `*`.
type GroupChanges = BTreeMap<QueueId, Vec<Name>>;

/// Adds the event that replaces the limits of a queue, if they changed.
pub(in crate::rules) fn replace(
    books: &Books,
    (partition, queue): (PartitionId, QueueId),
    after: Vec<LimitSettings>,
    events: &mut Vec<Event>,
) {
    let before = books.partition(partition).trackers.limits_at(queue);
    if *before == *after {
        return;
    }
    if groups(before).ne(groups(&after)) {
        unlink(books, partition, &[(queue, gone(before, &after))].into(), events);
    }
    let (queue, limits) = (books.queue(queue).path.clone(), after);
    events.push(Event::Queue(QueueEvent::LimitsChanged { partition, queue, limits }));
}

/// Returns the groups that have no limit any more.
fn gone(before: &[LimitSettings], after: &[LimitSettings]) -> Vec<Name> {
    let is_gone = |group: &&LimitSubject| !groups(after).any(|remaining| remaining == *group);
    groups(before).filter(is_gone).map(name_of).collect()
}

/// Replaces the limits of all queues by those of the file, followed by those of tenants.
pub(super) fn change(
    books: &Books,
    partition: PartitionId,
    (targets, tenants): (&[Target<'_>], Option<&Lowering<'_>>),
    wanted: &BTreeMap<QueueId, &Target<'_>>,
    events: &mut Vec<Event>,
) {
    let row = books.partition(partition);
    let mut changes = GroupChanges::new();
    let mut changed = Vec::new();
    for (path, id) in row.queues.iter() {
        let before = row.trackers.limits_at(*id);
        let queue = wanted.get(id).map(|target| target.queue);
        let of_tenants = tenants.map(|tenants| tenants.limits_in(path)).unwrap_or_default();
        if queue.map_or(before.is_empty(), |queue| is_in_force(before, queue, &of_tenants)) {
            continue;
        }
        let mut after = queue.map(of).unwrap_or_default();
        after.extend(of_tenants);
        if groups(before).ne(groups(&after)) {
            changes.insert(*id, gone(before, &after));
        }
        changed.push((path.clone(), after));
    }
    let is_new = |target: &&Target<'_>| row.queues.get(&*target.path).is_none();
    for target in targets.iter().filter(is_new).filter(|target| !target.queue.limits.is_empty()) {
        changed.push((target.path.clone(), of(target.queue)));
    }
    unlink(books, partition, &changes, events);
    events.extend(changed.into_iter().map(|(queue, limits)| {
        Event::Queue(QueueEvent::LimitsChanged { partition, queue, limits })
    }));
}

/// Unlinks applications from their groups if the change can select other groups: applications that are not charged yet,
/// because their group is selected at the first charge, and applications whose group lost its limit.
fn unlink(books: &Books, partition: PartitionId, changes: &GroupChanges, events: &mut Vec<Event>) {
    if changes.is_empty() {
        return;
    }
    for (_, application) in books.partition(partition).applications.iter() {
        let (application, row) = (*application, books.application(*application));
        let concerned = books.up(row.queue).any(|(queue, _)| changes.contains_key(&queue));
        if !concerned || row.link.is_none() {
            continue;
        }
        if !row.counted && row.allocation_count == 0 {
            events.push(Event::Application(ApplicationEvent::Unlinked { application }));
        } else if loses_group(books, row, changes) {
            events.push(Event::Application(ApplicationEvent::GroupUnlinked { application }));
        }
    }
}

/// Returns whether the change removes the group limit by which an application is charged, in its queue or an ancestor.
fn loses_group(books: &Books, row: &Application, changes: &GroupChanges) -> bool {
    let Some(level) = row.link.and_then(|link| link.group.level()) else { return false };
    let trackers = &books.partition(row.partition).trackers;
    let group = &trackers.tracker(trackers.level(level).tracker).name;
    let gone =
        |(id, _): (QueueId, &Queue)| changes.get(&id).is_some_and(|gone| gone.contains(group));
    books.up(row.queue).any(gone)
}

/// Returns the group limits in order.
fn groups(limits: &[LimitSettings]) -> impl Iterator<Item = &LimitSubject> {
    let subjects = limits.iter().map(|limit| &limit.subject);
    subjects.filter(|one| matches!(one, LimitSubject::Group(_) | LimitSubject::AnyGroup))
}

/// Returns the name of the tracker of a group limit.
fn name_of(group: &LimitSubject) -> Name {
    match group {
        LimitSubject::Group(name) | LimitSubject::User(name) => name.clone(),
        LimitSubject::AnyGroup | LimitSubject::AnyUser => Name::new(WILDCARD),
    }
}
