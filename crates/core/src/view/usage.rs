//! What users and groups use, and may use.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::books::tracker::{TrackerKind, Trackers};
use crate::id::{LevelId, PartitionId, TrackerId};
use crate::name::Name;
use crate::resource::Amounts;

use super::amounts;

/// What a user uses in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct UserView {
    /// The name of the user.
    pub user: Name,
    /// The applications of the user that are tied to a group, by id, with the group: from the first
    /// look at them on.
    pub groups: Vec<(Name, Name)>,
    /// The user's use of the root queue and below.
    pub usage: UsageView,
}

/// What a group uses in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    /// Its name; `*` for all who are in no group that is named.
    pub group: Name,
    /// The applications that are charged to it, by id: from their first allocation on.
    pub applications: Vec<Name>,
    /// Its use of the root queue and below.
    pub usage: UsageView,
}

/// What one user or group uses of a queue and those below it, and may use.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageView {
    /// Path of the queue.
    pub path: Name,
    /// Charged now.
    pub used: Amounts,
    /// Applications that are counted here, by id: from their first allocation on.
    pub running: Vec<Name>,
    /// The limit on resources; a type that is not named is unlimited.
    pub max: Amounts,
    /// Applications that may run at once; 0 is unlimited.
    pub max_applications: u64,
    /// The queues below that were used or have a limit, by path.
    pub children: Vec<UsageView>,
}

/// The users of a partition that use something or have a limit, by name.
pub fn users(books: &Books, partition: PartitionId) -> Vec<UserView> {
    let mut charged = charged(books, partition, TrackerKind::User, |_| true);
    let trackers = &books.partition(partition).trackers;
    let view = |(name, tracker): (&Name, &TrackerId)| {
        let charged = charged.remove(tracker).unwrap_or_default();
        UserView::new(books, partition, name, *tracker, charged)
    };
    trackers.names(TrackerKind::User).iter().map(view).collect()
}

/// The groups of a partition that use something or have a limit, by name.
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
    /// One user; none if the user uses nothing and has no limit. Looks at every application of the
    /// partition: trackers count applications, and do not know which.
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
    /// One group; none if it uses nothing and has no limit. Looks at every application of the
    /// partition: trackers count applications, and do not know which.
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

/// The applications that are charged to one tracker.
#[derive(Default)]
struct Charged {
    /// Those that are tied to a group, by id, with the group.
    groups: Vec<(Name, Name)>,
    /// Those that count as running, by the level of their leaf.
    counted: BTreeMap<LevelId, Vec<Name>>,
}

/// Which applications are charged to which of these trackers.
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

/// Whose level it is.
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
