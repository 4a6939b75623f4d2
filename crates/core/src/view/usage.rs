//! Views of the usage and limits of users and groups.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::books::tracker::{TrackerKind, Trackers};
use crate::id::{LevelId, PartitionId, TrackerId};
use crate::name::Name;
use crate::resource::Amounts;

use super::amounts;

/// Usage of a user in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct UserView {
    /// Name of the user.
    pub user: Name,
    /// Applications of the user that are linked to a group, by ID, with the group.
    pub groups: Vec<(Name, Name)>,
    /// Usage of the root queue and its descendants.
    pub usage: UsageView,
}

/// Usage of a group in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    /// Name of the group. `*` for all users without a named group.
    pub group: Name,
    /// Applications with an allocation that are charged to it, by ID.
    pub applications: Vec<Name>,
    /// Usage of the root queue and its descendants.
    pub usage: UsageView,
}

/// Usage and limits of one user or group in a queue and its descendants.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageView {
    /// Path of the queue.
    pub path: Name,
    /// Current usage.
    pub used: Amounts,
    /// Applications with an allocation that count as running here, by ID.
    pub running: Vec<Name>,
    /// Limit on resources. A type that is not named is unlimited.
    pub max: Amounts,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Child queues with usage or a limit, by path.
    pub children: Vec<UsageView>,
}

/// Returns the users of a partition with usage or a limit, by name.
pub fn users(books: &Books, partition: PartitionId) -> Vec<UserView> {
    let mut charged = charged(books, partition, TrackerKind::User, |_| true);
    let trackers = &books.partition(partition).trackers;
    let view = |(name, tracker): (&Name, &TrackerId)| {
        let charged = charged.remove(tracker).unwrap_or_default();
        UserView::new(books, partition, name, *tracker, charged)
    };
    trackers.names(TrackerKind::User).iter().map(view).collect()
}

/// Returns the groups of a partition with usage or a limit, by name.
pub fn groups(books: &Books, partition: PartitionId) -> Vec<GroupView> {
    let mut charged = charged(books, partition, TrackerKind::Group, |_| true);
    let trackers = &books.partition(partition).trackers;
    let view = |(name, tracker): (&Name, &TrackerId)| {
        let charged = charged.remove(tracker).unwrap_or_default();
        GroupView::new(books, partition, name, *tracker, &charged)
    };
    trackers.names(TrackerKind::Group).iter().map(view).collect()
}

impl UserView {
    /// Returns the view of one user. `None` without usage and limits. Costs every application of the partition, because
    /// trackers count applications without their IDs.
    pub fn of(books: &Books, partition: PartitionId, user: &str) -> Option<Self> {
        let kind = TrackerKind::User;
        let tracker = books.partition(partition).trackers.find(kind, user)?;
        let charged = charged(books, partition, kind, |one| one == tracker).remove(&tracker);
        Some(Self::new(books, partition, &user.into(), tracker, charged.unwrap_or_default()))
    }

    fn new(
        books: &Books,
        partition: PartitionId,
        user: &Name,
        tracker: TrackerId,
        charged: Charged,
    ) -> Self {
        Self {
            user: user.clone(),
            usage: usage_of(books, partition, tracker, &charged),
            groups: charged.groups,
        }
    }
}

impl GroupView {
    /// Returns the view of one group. `None` without usage and limits. Costs every application of the partition,
    /// because trackers count applications without their IDs.
    pub fn of(books: &Books, partition: PartitionId, group: &str) -> Option<Self> {
        let kind = TrackerKind::Group;
        let tracker = books.partition(partition).trackers.find(kind, group)?;
        let charged = charged(books, partition, kind, |one| one == tracker).remove(&tracker);
        Some(Self::new(books, partition, &group.into(), tracker, &charged.unwrap_or_default()))
    }

    fn new(
        books: &Books,
        partition: PartitionId,
        group: &Name,
        tracker: TrackerId,
        charged: &Charged,
    ) -> Self {
        let usage = usage_of(books, partition, tracker, charged);
        Self { group: group.clone(), applications: usage.running.clone(), usage }
    }
}

/// Applications that are charged to one tracker.
#[derive(Default)]
struct Charged {
    /// Applications that are linked to a group, by ID, with the group.
    groups: Vec<(Name, Name)>,
    /// Applications that count as running, by the level of their leaf.
    counted: BTreeMap<LevelId, Vec<Name>>,
}

/// Returns the applications that are charged to each of these trackers.
fn charged(
    books: &Books,
    partition: PartitionId,
    kind: TrackerKind,
    wanted: impl Fn(TrackerId) -> bool,
) -> BTreeMap<TrackerId, Charged> {
    let mut all: BTreeMap<TrackerId, Charged> = BTreeMap::new();
    let partition = books.partition(partition);
    let trackers = &partition.trackers;
    for (name, application) in partition.applications.iter() {
        let row = books.application(*application);
        let Some(link) = row.link else { continue };
        let level = match kind {
            TrackerKind::User => Some(link.user),
            TrackerKind::Group => link.group.level(),
        };
        let Some(level) = level.filter(|level| wanted(trackers.level(*level).tracker)) else {
            continue;
        };
        let counted = match kind {
            TrackerKind::User => row.counted,
            TrackerKind::Group => row.counted_by_group(),
        };
        let charged = all.entry(trackers.level(level).tracker).or_default();
        if let Some(group) = link.group.level() {
            charged.groups.push((name.clone(), name_of(trackers, group)));
        }
        if counted {
            charged.counted.entry(level).or_default().push(name.clone());
        }
    }
    all
}

/// Returns the user or group of a level.
fn name_of(trackers: &Trackers, level: LevelId) -> Name {
    trackers.tracker(trackers.level(level).tracker).name.clone()
}

fn usage_of(
    books: &Books,
    partition: PartitionId,
    tracker: TrackerId,
    charged: &Charged,
) -> UsageView {
    let trackers = &books.partition(partition).trackers;
    usage_at(books, trackers, trackers.tracker(tracker).root, charged)
}

fn usage_at(books: &Books, trackers: &Trackers, level: LevelId, charged: &Charged) -> UsageView {
    let row = trackers.level(level);
    let mut children: Vec<UsageView> =
        trackers.children(level).map(|(id, _)| usage_at(books, trackers, id, charged)).collect();
    children.sort_by(|one, other| one.path.cmp(&other.path));
    let mut running = charged.counted.get(&level).cloned().unwrap_or_default();
    running.extend(children.iter().flat_map(|child| child.running.iter().cloned()));
    running.sort();
    UsageView {
        path: books.queue(row.queue).path.clone(),
        used: amounts(books, Some(&row.used())),
        running,
        max: amounts(books, row.max()),
        max_applications: row.max_applications(),
        children,
    }
}
