//! How the users of a leaf share it: what each may have, how much of that is left, and why not more.

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

/// A leaf with user limits: what its users split, by which rules, and what that gives each.
#[derive(Clone, Debug, PartialEq)]
pub struct UserLimitsView {
    /// Path of the leaf.
    pub path: Name,
    /// Name of its partition.
    pub partition: Name,
    /// The rules in force.
    pub rules: RulesView,
    /// What they are applied to.
    pub leaf: LeafView,
    /// Those who use something of it or wait for something, by name.
    pub users: Vec<UserLimitView>,
}

/// By which rules the users of a leaf share it.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesView {
    /// What is split.
    pub formula: Formula,
    /// When an ask waits.
    pub enforcement: Enforcement,
    /// How vectors are compared.
    pub calculator: Calculator,
    /// The least that a share may shrink to, in percent (`p`).
    pub floor: Decimal,
    /// How many times the guarantee one user may have (`f`); none: no such bound.
    pub factor: Option<Decimal>,
    /// Shares are multiples of it; empty: any amount.
    pub step: Amounts,
    /// Asks count as multiples of it.
    pub increment: Amounts,
    /// Larger asks are refused; empty: none are.
    pub largest: Amounts,
}

/// What the rules are applied to.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafView {
    /// All that the partition has.
    pub total: Amounts,
    /// Guaranteed to the leaf (`Q`).
    pub guaranteed: Amounts,
    /// What it may have at most, by all maxima on its path (`Qmax`); an absent type is not bounded.
    pub max: Amounts,
    /// What all its users use (`U`).
    pub used: Amounts,
    /// What active users use (`Uact`).
    pub used_active: Amounts,
    /// What the others use (`Uin`).
    pub used_inactive: Amounts,
    /// How many are active.
    pub active: u64,
    /// Their weights together (`W`).
    pub active_weight: Decimal,
}

/// One user of a leaf with user limits.
#[derive(Clone, Debug, PartialEq)]
pub struct UserLimitView {
    /// The name of the user.
    pub user: Name,
    /// The weight of the user.
    pub weight: Decimal,
    /// Whether the user counts among those who split the leaf.
    pub active: bool,
    /// The user's applications in the leaf that run, counted from their first allocation on.
    pub running: u64,
    /// What the next ask of the user counts as (`r`): the waiting ask that needs least memory, then
    /// least cores. After these the other types count, in the order of their names. If the user
    /// waits for nothing it is the minimum allocation; empty without one.
    pub ask: Amounts,
    /// What the user uses in the leaf.
    pub used: Amounts,
    /// The fair share of the user.
    pub soft: Amounts,
    /// What the user may never exceed, and no more than there is; an absent type is not bounded.
    pub hard: Amounts,
    /// The lower of both, by the formula.
    pub limit: Amounts,
    /// How much more the user may have, by all bounds on the user; an absent type is not bounded.
    pub headroom: Amounts,
    /// What bounds the user first.
    pub limited_by: Option<LimitedBy>,
    /// What bounds each type, in the order of names.
    pub limited_by_type: Vec<(Name, LimitedBy)>,
    /// What the drivers of the user's applications in the leaf may have; none: anything.
    pub driver_limit: Option<Amounts>,
    /// What they have, since they were activated.
    pub driver_used: Amounts,
    /// How many applications that have not ended the user may have in the leaf; none: any number.
    pub max_applications: Option<u64>,
}

/// What bounds a headroom, with paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitedBy {
    /// The user's share of the leaf.
    SoftShare,
    /// What the user may never exceed there.
    HardCap,
    /// The maximum of this queue.
    QueueMax(Name),
    /// The user's absolute limit at this queue.
    UserLimit(Name),
    /// The absolute limit of the user's group at this queue.
    GroupLimit(Name),
    /// What is free on nodes.
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

/// `softShare`, `queueMax:root.research`.
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

/// The leaves of a partition with user limits, by path. Costs their users, times the depth of the
/// tree; their applications where groups are limited; and the nodes.
pub fn user_limits(books: &Books, partition: PartitionId) -> Vec<UserLimitsView> {
    let here =
        books.leaves_with_users().filter(|(leaf, _)| books.queue(*leaf).partition == partition);
    let free = free(books, partition);
    let mut all: Vec<_> =
        here.map(|(leaf, users)| Shared::new(books, leaf, users, &free).view()).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// How many applications that have not ended a leaf takes in, and how many of one user there; none:
/// any number, as far as the leaf goes.
pub fn max_applications(books: &Books, leaf: QueueId) -> (Option<u64>, Option<u64>) {
    let row = books.queue(leaf);
    let written = row.settings.application_limits.as_ref().and_then(|limits| limits.max);
    let of_user = max_of_user(&row.settings, row.derived_applications);
    (written.or(row.derived_applications), of_user.map(|(max, _)| max))
}

impl UserLimitsView {
    /// A leaf; none where it has no user limits.
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

/// A limit as it is shown: by `smooth` nobody may have more than there is, as the formulas of
/// CapacityScheduler have it already. The maximum of root reports that this binds, so that an ask
/// that waits for nodes is not shown a factor.
pub(super) fn within_cluster(rules: &Rules, leaf: &Leaf, limit: &Limit) -> Limit {
    if rules.formula != Formula::Smooth {
        return limit.clone();
    }
    let hard = limit.hard.minimum(&leaf.total);
    Limit { soft: limit.soft.clone(), limit: limit.soft.minimum(&hard), hard }
}

/// What the nodes of a partition have and nobody uses; may be negative.
fn free(books: &Books, partition: PartitionId) -> Resources {
    let nodes = books.partition(partition).nodes.iter();
    let total = books.queue(books.partition(partition).root).max.clone().unwrap_or_default();
    // A type that is full everywhere is there all the same.
    let mut free = total.minus(&total);
    for (_, node) in nodes {
        free.add(&books.node(*node).available);
    }
    free
}

/// Of what a user waits for, what counts as the user's next ask; see [`UserLimitView::ask`].
pub(super) fn next_ask(books: &Books, user: &LeafUser<'_>) -> Option<Resources> {
    let shapes = user.waits().iter().map(|(shape, _)| books.shapes().get(*shape));
    let order = |of: &&Resources| {
        let amount = |resource| of.get_or_zero(resource);
        let first = (amount(ResourceType::MEMORY), amount(ResourceType::VCORE));
        (first, books.types().amounts(of))
    };
    shapes.min_by_key(order).cloned()
}

/// A leaf whose users are looked at.
struct Shared<'a> {
    books: &'a Books,
    id: QueueId,
    users: LeafUsers<'a>,
    state: Leaf,
    free: &'a Resources,
    /// What the maxima of the queues from the root on leave.
    queues: Vec<(QueueId, Option<&'a Resources>)>,
    groups: BTreeMap<LevelId, Vec<Group>>,
}

/// A group that counts for applications of a user, and how many of its levels do not bound the
/// user.
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

    /// What the drivers of a user may have.
    fn driver_limit(&self, user: &LeafUser<'_>) -> Option<Resources> {
        Gate::of(self.books, self.id)?.of_user(user.weight)
    }

    /// The least of all that bounds a user, queue by queue from the root on.
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

    /// What limits leave at a level and above it, by queue; the first `lifted` levels do not count.
    fn levels(&self, level: LevelId, lifted: usize) -> BTreeMap<QueueId, Resources> {
        let trackers = &self.books.partition(self.books.queue(self.id).partition).trackers;
        let levels = trackers.up(level).skip(lifted);
        levels.filter_map(|(_, level)| Some((level.queue, level.left()?))).collect()
    }
}

/// The groups that count for applications of the users of a leaf, each once, by user. Looks at the
/// applications only where a group is limited on the path.
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
            known.push((group, partition.lifted(link)));
        }
    }
    groups
}
