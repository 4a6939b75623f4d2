//! Views of user limits: the limit and headroom of each user of a leaf, and what limits them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::books::{Books, LeafUser, LeafUsers, LimitSubject, TrackerLink};
use crate::id::{LevelId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, ResourceType, Resources};
use crate::rules::activation::Gate;
use crate::rules::max_of_user;
use crate::userlimit::{
    Among, Bound, Calculator, Decimal, Enforcement, Formula, Headroom, Leaf, Limit, Remaining,
    Rules, Tightest,
};

use super::amounts;

/// A leaf with user limits: its rules, and their result for each user.
#[derive(Clone, Debug, PartialEq)]
pub struct UserLimitsView {
    /// Path of the leaf.
    pub path: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Current rules.
    pub rules: RulesView,
    /// Properties of the leaf that the rules are applied to.
    pub leaf: LeafView,
    /// Users who use the leaf or wait there, by name.
    pub users: Vec<UserLimitView>,
}

/// Rules by which users share a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesView {
    /// Formula of the shares.
    pub formula: Formula,
    /// Enforcement of the shares.
    pub enforcement: Enforcement,
    /// Comparison of resource vectors.
    pub calculator: Calculator,
    /// Smallest fair share in percent (`p`).
    pub floor: Decimal,
    /// User cap as a multiple of the guarantee (`f`). `None` if there is no such cap.
    pub factor: Option<Decimal>,
    /// Step of shares. Empty for any amount.
    pub step: Amounts,
    /// Increment: asks count as multiples of it.
    pub increment: Amounts,
    /// Largest accepted ask. Empty if there is no limit.
    pub largest: Amounts,
}

/// Properties of a leaf that the rules are applied to.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafView {
    /// Capacity of the partition.
    pub total: Amounts,
    /// Guarantee of the leaf (`Q`).
    pub guaranteed: Amounts,
    /// Effective maximum on the path of the leaf (`Qmax`). A missing type is not limited.
    pub max: Amounts,
    /// Usage of all users (`U`).
    pub used: Amounts,
    /// Usage of active users (`Uact`).
    pub used_active: Amounts,
    /// Usage of inactive users (`Uin`).
    pub used_inactive: Amounts,
    /// Number of active users.
    pub active: u64,
    /// Sum of the weights of active users (`W`).
    pub active_weight: Decimal,
}

/// One user of a leaf with user limits.
#[derive(Clone, Debug, PartialEq)]
pub struct UserLimitView {
    /// Name of the user.
    pub user: Name,
    /// Weight of the user.
    pub weight: Decimal,
    /// Whether the user is an active user.
    pub active: bool,
    /// Number of applications of the user in the leaf with an allocation.
    pub running: u64,
    /// Counted size of the next ask of the user (`r`): the waiting ask with the least memory, then the fewest cores,
    /// then the least of the other types in the order of names. Without a waiting ask, the minimum allocation, or empty
    /// without one.
    pub ask: Amounts,
    /// Usage of the user in the leaf.
    pub used: Amounts,
    /// Fair share of the user.
    pub soft: Amounts,
    /// User cap, at most the capacity of the cluster. A missing type is not limited.
    pub hard: Amounts,
    /// Lower of both, by the formula.
    pub limit: Amounts,
    /// Headroom of the user, by all bounds. A missing type is not limited.
    pub headroom: Amounts,
    /// Tightest bound of the user.
    pub limited_by: Option<LimitedBy>,
    /// Tightest bound of each type, in the order of names.
    pub limited_by_type: Vec<(Name, LimitedBy)>,
    /// Limit on the drivers of the user in the leaf. `None` is unlimited.
    pub driver_limit: Option<Amounts>,
    /// Usage of the drivers of active applications.
    pub driver_used: Amounts,
    /// Limit on unfinished applications of the user in the leaf. `None` is unlimited.
    pub max_applications: Option<u64>,
}

/// Bound of a headroom, with the path of its queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitedBy {
    /// The fair share of the user in the leaf.
    SoftShare,
    /// The user cap of the leaf.
    HardCap,
    /// The maximum of this queue.
    QueueMax(Name),
    /// The absolute limit of the user at this queue.
    UserLimit(Name),
    /// The absolute limit of the group of the user at this queue.
    GroupLimit(Name),
    /// The free capacity of nodes.
    PartitionFree,
}

impl LimitedBy {
    fn of(books: &Books, bound: Bound) -> Self {
        let path = |queue: QueueId| books.queue(queue).path.clone();
        match bound {
            Bound::SoftShare => Self::SoftShare,
            Bound::HardCap => Self::HardCap,
            Bound::QueueMax(queue) => Self::QueueMax(path(queue)),
            Bound::UserLimit(queue) => Self::UserLimit(path(queue)),
            Bound::GroupLimit(queue) => Self::GroupLimit(path(queue)),
            Bound::PartitionFree => Self::PartitionFree,
        }
    }
}

/// Formats the bound, such as `softShare` or `queueMax:root.research`.
impl fmt::Display for LimitedBy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SoftShare => out.write_str("softShare"),
            Self::HardCap => out.write_str("hardCap"),
            Self::QueueMax(path) => write!(out, "queueMax:{path}"),
            Self::UserLimit(path) => write!(out, "userLimit:{path}"),
            Self::GroupLimit(path) => write!(out, "groupLimit:{path}"),
            Self::PartitionFree => out.write_str("partitionFree"),
        }
    }
}

/// Returns the leaves of a partition with user limits, by path. Costs their users times the depth of the tree, the
/// nodes, and with group limits also the applications.
pub fn user_limits(books: &Books, partition: PartitionId) -> Vec<UserLimitsView> {
    let here =
        books.leaves_with_users().filter(|(leaf, _)| books.queue(*leaf).partition == partition);
    let free = free(books, partition);
    let mut all: Vec<_> =
        here.map(|(leaf, users)| Shared::new(books, leaf, users, &free).view()).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// Returns the limits on unfinished applications of a leaf, and of one user there. `None` if the leaf sets no limit.
pub fn max_applications(books: &Books, leaf: QueueId) -> (Option<u64>, Option<u64>) {
    let row = books.queue(leaf);
    let written = row.settings.application_limits.as_ref().and_then(|limits| limits.max);
    let of_user = max_of_user(&row.settings, row.derived_applications);
    (written.or(row.derived_applications), of_user.map(|(max, _)| max))
}

impl UserLimitsView {
    /// Returns the view of a leaf. `None` without user limits.
    pub fn of(books: &Books, leaf: QueueId) -> Option<Self> {
        let users = books.users_of(leaf)?;
        let free = free(books, books.queue(leaf).partition);
        Some(Shared::new(books, leaf, users, &free).view())
    }
}

impl RulesView {
    pub(super) fn new(
        rules: &Rules,
        (increment, largest): (&Resources, &Resources),
        named: impl Fn(&Resources) -> Amounts,
    ) -> Self {
        Self {
            formula: rules.formula,
            enforcement: rules.enforcement,
            calculator: rules.calculator,
            floor: rules.floor,
            factor: rules.factor,
            step: named(&rules.step),
            increment: named(increment),
            largest: named(largest),
        }
    }
}

impl LeafView {
    pub(super) fn new(leaf: &Leaf, named: impl Fn(&Resources) -> Amounts) -> Self {
        Self {
            total: named(&leaf.total),
            guaranteed: named(&leaf.guaranteed),
            max: named(&leaf.max),
            used: named(&leaf.used),
            used_active: named(&leaf.used_active),
            used_inactive: named(&leaf.used.minus(&leaf.used_active).pruned()),
            active: leaf.active,
            active_weight: leaf.active_weight,
        }
    }
}

/// Returns a limit for display. With `smooth`, it is at most the capacity of the cluster, as in the formulas of
/// CapacityScheduler. The maximum of the root shows this bound, so that an ask that waits for nodes does not show the
/// factor.
pub(super) fn within_cluster(rules: &Rules, leaf: &Leaf, limit: &Limit) -> Limit {
    if rules.formula != Formula::Smooth {
        return limit.clone();
    }
    let hard = limit.hard.minimum(&leaf.total);
    Limit { soft: limit.soft.clone(), limit: limit.soft.minimum(&hard), hard }
}

/// Returns the free capacity of the nodes of a partition. Can be negative.
fn free(books: &Books, partition: PartitionId) -> Resources {
    let nodes = books.partition(partition).nodes.iter();
    let total = books.queue(books.partition(partition).root).max.clone().unwrap_or_default();
    // A type without free capacity must still be present.
    let mut free = total.minus(&total);
    for (_, node) in nodes {
        free.add(&books.node(*node).available);
    }
    free
}

/// Returns the next ask of a user among their waiting asks. See [`UserLimitView::ask`].
pub(super) fn next_ask(books: &Books, user: &LeafUser<'_>) -> Option<Resources> {
    let shapes = user.waits().iter().map(|(shape, _)| books.shapes().get(*shape));
    let order = |of: &&Resources| {
        let amount = |resource| of.get_or_zero(resource);
        let first = (amount(ResourceType::MEMORY), amount(ResourceType::VCORE));
        (first, books.types().amounts(of))
    };
    shapes.min_by_key(order).cloned()
}

/// A leaf whose users are shown.
struct Shared<'a> {
    books: &'a Books,
    id: QueueId,
    users: LeafUsers<'a>,
    state: Leaf,
    free: &'a Resources,
    /// Remaining amounts of the maxima, beginning with the root.
    queues: Vec<(QueueId, Option<&'a Resources>)>,
    groups: BTreeMap<LevelId, Vec<Group>>,
}

/// Group that counts applications of a user, and the number of its levels that do not limit the user.
type Group = (LevelId, usize);

impl<'a> Shared<'a> {
    fn new(books: &'a Books, id: QueueId, users: LeafUsers<'a>, free: &'a Resources) -> Self {
        let state = books.shared_leaf(id).expect("it has user limits");
        let left = |queue| (queue, books.queue(queue).left.as_ref());
        let queues = books.path_of(id).into_iter().map(left).collect();
        Self { books, id, users, state, free, queues, groups: groups(books, id) }
    }

    fn view(&self) -> UserLimitsView {
        let row = self.books.queue(self.id);
        let named = |of: &Resources| amounts(self.books, Some(of));
        let sizes = (self.users.increment(), self.users.largest());
        let mut users: Vec<UserLimitView> =
            self.users.users().map(|(level, user)| self.user(level, &user)).collect();
        users.sort_by(|one, other| one.user.cmp(&other.user));
        UserLimitsView {
            path: row.path.clone(),
            partition: self.books.partition(row.partition).name.clone(),
            rules: RulesView::new(self.users.rules(), sizes, named),
            leaf: LeafView::new(&self.state, named),
            users,
        }
    }

    fn user(&self, level: LevelId, user: &LeafUser<'_>) -> UserLimitView {
        let books = self.books;
        let named = |of: &Resources| amounts(books, Some(of));
        let trackers = &books.partition(books.queue(self.id).partition).trackers;
        let row = trackers.level(level);
        let ask = self.users.normalised(&next_ask(books, user).unwrap_or_default());
        let limit = self.users.limit(user, Among::Active, &ask);
        let headroom = self.headroom(level, user, &limit);
        let shown = within_cluster(self.users.rules(), &self.state, &limit);
        let tightest = |one: &Tightest| {
            (books.types().name(one.resource).clone(), LimitedBy::of(books, one.bound))
        };
        let mut limited_by_type: Vec<_> = headroom.limited_by.iter().map(tightest).collect();
        limited_by_type.sort();
        let first = headroom.limited_by(&ask, &self.state.total);
        let name = &trackers.tracker(row.tracker).name;
        let leaf = books.queue(self.id);
        let drivers = books.drivers_of(self.id).and_then(|leaf| leaf.user(name));
        let max = max_of_user(&leaf.settings, leaf.derived_applications);
        UserLimitView {
            user: name.clone(),
            weight: user.weight,
            active: user.active,
            running: row.running,
            ask: named(&ask),
            used: named(&user.used()),
            soft: named(&limit.soft),
            hard: named(&shown.hard),
            limit: named(&shown.limit),
            headroom: named(&headroom.amounts),
            limited_by: first.map(|bound| LimitedBy::of(books, bound)),
            limited_by_type,
            driver_limit: self.driver_limit(user).as_ref().map(named),
            driver_used: drivers.map(|user| named(&user.used)).unwrap_or_default(),
            max_applications: max.map(|(max, _)| max),
        }
    }

    /// Returns the limit on the drivers of a user.
    fn driver_limit(&self, user: &LeafUser<'_>) -> Option<Resources> {
        Gate::of(self.books, self.id)?.of_user(user.weight)
    }

    /// Returns the headroom of a user: the least of all bounds, by queue from the root.
    fn headroom(&self, level: LevelId, user: &LeafUser, limit: &Limit) -> Headroom {
        let mut own = self.levels(level, 0);
        let groups = self.groups.get(&level).into_iter().flatten();
        let mut theirs: Vec<BTreeMap<QueueId, Resources>> =
            groups.map(|(group, lifted)| self.levels(*group, *lifted)).collect();
        let mut others = Vec::new();
        for (queue, left) in &self.queues {
            if let Some(left) = left {
                others.push(Remaining { bound: Bound::QueueMax(*queue), left: (*left).clone() });
            }
            if let Some(left) = own.remove(queue) {
                others.push(Remaining { bound: Bound::UserLimit(*queue), left });
            }
            for left in theirs.iter_mut().filter_map(|levels| levels.remove(queue)) {
                others.push(Remaining { bound: Bound::GroupLimit(*queue), left });
            }
        }
        self.users.rules().headroom(&self.state, (limit, &user.used()), &others, self.free)
    }

    /// Returns the remaining amounts of limits at a level and its ancestors, by queue. Skips the first `lifted` levels.
    fn levels(&self, level: LevelId, lifted: usize) -> BTreeMap<QueueId, Resources> {
        let trackers = &self.books.partition(self.books.queue(self.id).partition).trackers;
        let levels = trackers.up(level).skip(lifted);
        levels.filter_map(|(_, level)| Some((level.queue, level.left()?))).collect()
    }
}

/// Returns the distinct groups that count applications of the users of a leaf, by user. Visits the applications only if
/// a group is limited on the path.
fn groups(books: &Books, leaf: QueueId) -> BTreeMap<LevelId, Vec<Group>> {
    let partition = books.partition(books.queue(leaf).partition);
    let is_group = |queue: QueueId| {
        let limits = partition.trackers.limits_at(queue).iter();
        let mut subjects = limits.map(|limit| &limit.subject);
        subjects.any(|one| matches!(one, LimitSubject::Group(_) | LimitSubject::AnyGroup))
    };
    let mut groups: BTreeMap<LevelId, Vec<Group>> = BTreeMap::new();
    if !books.path_of(leaf).into_iter().any(is_group) {
        return groups;
    }
    for (_, row) in books.applications_in(leaf) {
        let Some(link @ TrackerLink { user, .. }) = row.link else { continue };
        let Some(group) = link.group.level() else { continue };
        let known = groups.entry(user).or_default();
        if known.iter().all(|(level, _)| *level != group) {
            known.push((group, partition.group_levels_skipped(link)));
        }
    }
    groups
}
