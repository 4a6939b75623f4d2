//! Users of leaves with user limits, and which of them are active.
//!
//! All data follows from the rest of the books. It is stored so that the cost of a share does not depend on the number
//! of users. Contains only leaves with user limits.

mod change;
mod demand;
mod everyone;
mod fast_path;
mod rows;
mod update;

pub use update::{Change, RowUpdate};

use alloc::borrow::Cow;
use alloc::sync::Arc;

use crate::config::UserLimitsConfig;
use crate::id::{LevelId, PartitionId, QueueId, ShapeId, TrackerId};
use crate::ordered::OrderedMap;
use crate::resource::{
    Amounts, PackedUsage, Quantity, ResourceType, ResourceTypes, Resources, Sections,
};
use crate::userlimit::{
    Among, Calculator, Decimal, Formula, Leaf, Limit, MinimumShare, Rules, ShareQuery,
};

use super::Books;
use super::tracker::{Level, Trackers};

use rows::{Found, Rows, UserRow};

/// All leaves with user limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sharing {
    leaves: OrderedMap<QueueId, Arc<LeafShares>>,
    /// Leaves in which a user has a row. The limits of ancestors apply in each.
    by_user: OrderedMap<(PartitionId, TrackerId, QueueId), LevelId>,
}

/// Stored data about the users of one leaf. The trackers have their usage.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafShares {
    rules: Arc<Rules>,
    config: Arc<UserLimitsConfig>,
    /// Increment: asks count as multiples of it.
    increment: Resources,
    /// Largest ask. A missing type is not limited.
    largest: Resources,
    /// Whether asks count with their exact size.
    counts_as_is: bool,
    rows: Rows,
    /// Properties of the leaf for the computation of shares, without the usage of active users. A charge to an active
    /// user therefore changes nothing here.
    outline: Leaf,
    /// Bounds that follow from the outline for each active user.
    sure: MinimumShare,
}

/// Users of one leaf.
#[derive(Clone, Copy, Debug)]
pub struct LeafUsers<'books> {
    shares: &'books LeafShares,
    trackers: &'books Trackers,
    /// Usage of the leaf.
    allocated: &'books Resources,
}

/// One user who uses a leaf or waits there.
#[derive(Clone, Copy, Debug)]
pub struct LeafUser<'books> {
    waits: &'books [(ShapeId, u32)],
    /// Weight of the user.
    pub weight: Decimal,
    /// Whether the user is an active user, who shares the leaf.
    pub active: bool,
    /// Usage of the user in the leaf of the first eight types, and whether that is plain.
    tally: &'books PackedUsage,
    plain: bool,
    /// Level of the user at the leaf. `None` for a user without usage and asks.
    level: Option<(&'books Trackers, LevelId)>,
}

impl<'books> LeafUser<'books> {
    /// Returns a user without usage and asks.
    const fn idle(weight: Decimal) -> Self {
        Self {
            waits: &[],
            weight,
            active: false,
            tally: &PackedUsage::ZERO,
            plain: true,
            level: None,
        }
    }

    /// Returns the sizes that the user waits for, each with the number of asks.
    pub const fn waits(&self) -> &'books [(ShapeId, u32)] {
        self.waits
    }

    /// Returns the usage of the user in the leaf.
    pub fn used(&self) -> Resources {
        let level = self.level.and_then(|(trackers, level)| trackers.find_level(level));
        level.map(Level::used).unwrap_or_default()
    }

    /// Returns the usage of the user of one type.
    #[inline]
    pub fn used_of(&self, resource: ResourceType) -> Quantity {
        self.tally.get(resource).unwrap_or_else(|| self.used().get_or_zero(resource))
    }
}

impl LeafShares {
    fn new(books: &mut Books, partition: PartitionId, config: &Arc<UserLimitsConfig>) -> Self {
        let intern = |amounts: &Amounts| books.types.intern_all(amounts);
        let mut sizes = Sizes::of(config, intern);
        sizes.spread(&books.types, &books.sections_of(partition));
        let Sizes { rules, increment, largest } = sizes;
        let outline = Leaf::default();
        Self {
            sure: MinimumShare::of(&rules, &outline),
            counts_as_is: rules.step.is_empty() && increment.is_empty(),
            rules: rules.into(),
            config: config.clone(),
            increment,
            largest,
            rows: Rows::default(),
            outline,
        }
    }

    fn measure(&self) -> Measure<'_> {
        Measure {
            rules: &self.rules,
            increment: &self.increment,
            largest: &self.largest,
            sections: self.outline.sections.as_deref(),
        }
    }

    /// Combines the data with the usage in these trackers of the partition, and with the usage of the leaf.
    pub const fn with<'books>(
        &'books self,
        trackers: &'books Trackers,
        allocated: &'books Resources,
    ) -> LeafUsers<'books> {
        LeafUsers { shares: self, trackers, allocated }
    }

    /// Returns whether the sums or the active users depend on the size of the cluster.
    fn looks_at_cluster(&self) -> bool {
        match self.rules.formula {
            Formula::Yarn27 => false,
            Formula::Yarn3 => self.rules.calculator != Calculator::Memory,
            Formula::Smooth => self.rules.calculator == Calculator::Dominant,
        }
    }
}

impl<'books> LeafUsers<'books> {
    /// Returns the stored data.
    pub const fn shares(self) -> &'books LeafShares {
        self.shares
    }

    /// Returns the user-limit rules of the leaf.
    pub fn rules(self) -> &'books Rules {
        &self.shares.rules
    }

    /// Returns the weight of a user, who does not have to use the leaf.
    pub fn weight_of(self, user: &str) -> Decimal {
        self.shares.config.weight(user)
    }

    /// Returns the increment: asks count as multiples of it.
    pub const fn increment(self) -> &'books Resources {
        &self.shares.increment
    }

    /// Returns the largest accepted ask. A missing type is not limited.
    pub const fn largest(self) -> &'books Resources {
        &self.shares.largest
    }

    /// Returns the state of the leaf from which shares are computed.
    pub fn state(self) -> Leaf {
        let (outline, used) = (self.outline(), self.allocated.clone());
        let used_active = used.minus(&outline.used).pruned();
        Leaf { used, used_active, ..outline.clone() }
    }

    /// Returns the state without the usage of active users, for callers that ignore it.
    pub const fn outline(self) -> &'books Leaf {
        &self.shares.outline
    }

    /// Returns the users who use the leaf or wait there, by their level.
    pub fn users(self) -> impl Iterator<Item = (LevelId, LeafUser<'books>)> {
        let levels = self.shares.rows.levels();
        levels.filter_map(move |level| Some((level, self.user(level)?)))
    }

    /// Returns a user by their level.
    #[inline]
    pub fn user(self, level: LevelId) -> Option<LeafUser<'books>> {
        let Found { row, tally, plain, .. } = self.shares.rows.find(self.trackers, level)?;
        let UserRow { waits, weight, active } = row;
        let level = Some((self.trackers, level));
        Some(LeafUser { waits, weight: *weight, active: *active, tally, plain, level })
    }

    /// Returns the number of users whose hint is valid, which must be all.
    pub(crate) fn seated(self) -> usize {
        let LeafUsers { shares, trackers, .. } = self;
        shares.rows.levels().filter(|level| shares.rows.is_seated(trackers, *level)).count()
    }

    /// Returns the limit of a user in the current state of the leaf, for an ask of this counted size.
    ///
    /// With `smooth`, this is the limit while such an ask waits. The user then counts as active, even if they are
    /// inactive now.
    pub fn limit(self, user: &LeafUser<'_>, among: Among, ask: &Resources) -> Limit {
        let part = ShareQuery { weight: user.weight, among, ask };
        let (rules, state) = (self.rules(), self.state());
        if rules.formula == Formula::Smooth && !user.active {
            return rules.limit(&state.joined_by(user.weight, &user.used()), part);
        }
        rules.limit(&state, part)
    }

    /// Returns the counted size of an ask.
    pub fn normalised(self, ask: &Resources) -> Resources {
        self.counted(ask).into_owned()
    }

    /// Returns the counted size of an ask. Borrows it if it equals the exact size.
    #[inline]
    pub(crate) fn counted(self, ask: &Resources) -> Cow<'_, Resources> {
        counted(self.shares.measure(), ask)
    }
}

impl Books {
    /// Returns the users of a leaf. `None` without user limits.
    #[inline]
    pub fn users_of(&self, leaf: QueueId) -> Option<LeafUsers<'_>> {
        if self.sharing.leaves.is_empty() {
            return None;
        }
        let shares = self.sharing.leaves.get(&leaf)?;
        let row = self.queue(leaf);
        Some(shares.with(&self.partition(row.partition).trackers, &row.allocated))
    }

    /// Returns whether any leaf has user limits.
    pub const fn has_user_limits(&self) -> bool {
        !self.sharing.leaves.is_empty()
    }

    /// Returns the leaves with user limits and their users.
    pub fn leaves_with_users(&self) -> impl Iterator<Item = (QueueId, LeafUsers<'_>)> {
        let leaves = self.sharing.leaves.iter();
        leaves.filter_map(|(leaf, _)| Some((*leaf, self.users_of(*leaf)?)))
    }

    /// Returns the leaves with user limits.
    pub(crate) fn leaves_sharing(&self) -> impl Iterator<Item = QueueId> {
        self.sharing.leaves.iter().map(|(leaf, _)| *leaf)
    }

    /// Returns the other leaves with user limits that the user of this level uses, or in which they wait.
    pub fn other_leaves_of(&self, leaf: QueueId, level: LevelId) -> impl Iterator<Item = QueueId> {
        self.other_rows_of(leaf, level).map(|(leaf, _)| leaf)
    }

    /// Returns these leaves with the level of the user in each.
    fn other_rows_of(
        &self,
        here: QueueId,
        level: LevelId,
    ) -> impl Iterator<Item = (QueueId, LevelId)> {
        // Usually there is no other leaf in which the user could have a row.
        let is_elsewhere = match self.sharing.leaves.len() {
            0 => false,
            1 => self.sharing.leaves.get(&here).is_none(),
            _ => true,
        };
        is_elsewhere.then(|| self.rows_but_one(here, level)).into_iter().flatten()
    }

    fn rows_but_one(
        &self,
        here: QueueId,
        level: LevelId,
    ) -> impl Iterator<Item = (QueueId, LevelId)> {
        let partition = self.queue(here).partition;
        let row = self.partition(partition).trackers.find_level(level);
        row.into_iter().flat_map(move |row| {
            let tracker = row.tracker;
            let from = (partition, tracker, QueueId::FIRST);
            let leaves = self.sharing.by_user.iter_from(&from);
            let leaves =
                leaves.take_while(move |((of, whose, _), _)| (*of, *whose) == (partition, tracker));
            leaves.map(|((.., leaf), level)| (*leaf, *level)).filter(move |(leaf, _)| *leaf != here)
        })
    }

    /// Returns the number of rows in the index by user, which equals that of the leaves.
    pub(crate) const fn rows_by_user(&self) -> usize {
        self.sharing.by_user.len()
    }

    /// Returns the properties of a leaf for user limits with this formula, without its users: guarantee, maximum,
    /// usage, and capacity.
    pub(crate) fn leaf_alone(&self, leaf: QueueId, formula: Formula) -> Leaf {
        let row = self.queue(leaf);
        let total = self.queue(self.partition(row.partition).root).max.clone().unwrap_or_default();
        let mut max = Resources::new();
        for (_, queue) in self.up(leaf).filter(|(_, queue)| queue.parent.is_some()) {
            if let Some(of) = &queue.max {
                max = max.minimum(of);
            }
        }
        if formula != Formula::Smooth {
            // In CapacityScheduler, every queue has a maximum. A missing one is the whole cluster.
            max = max.minimum(&total);
        }
        let sections = Some(self.sections_of(row.partition)).filter(|all| !all.is_single());
        Leaf {
            total,
            guaranteed: row.guaranteed.clone().unwrap_or_default(),
            max,
            used: row.allocated.clone(),
            sections: sections.map(Arc::new),
            ..Leaf::default()
        }
    }

    /// Returns the state of a leaf for its user limits. `None` without user limits.
    pub fn shared_leaf(&self, leaf: QueueId) -> Option<Leaf> {
        self.users_of(leaf).map(LeafUsers::state)
    }

    /// Returns the limit of a user in a leaf, for an ask of this size. `None` without user limits, or if the user
    /// neither uses the leaf nor waits there. See [`LeafUsers::limit`].
    pub fn user_limit(&self, leaf: QueueId, level: LevelId, ask: &Resources) -> Option<Limit> {
        let users = self.users_of(leaf)?;
        Some(users.limit(&users.user(level)?, Among::Active, &users.normalised(ask)))
    }
}

/// Effective values of a block `userlimits`, with resources as vectors.
pub(crate) struct Sizes {
    pub(crate) rules: Rules,
    /// Increment: asks count as multiples of it.
    pub(crate) increment: Resources,
    /// Largest ask. A missing type is not limited.
    pub(crate) largest: Resources,
}

impl Sizes {
    /// Returns the values of a configuration, with defaults for absent ones.
    pub(crate) fn of(
        config: &UserLimitsConfig,
        mut intern: impl FnMut(&Amounts) -> Resources,
    ) -> Self {
        let mut size = |amounts: &Option<Amounts>| amounts.as_ref().map(&mut intern);
        let step = size(&config.minimum_allocation).unwrap_or_default();
        let increment = size(&config.increment).unwrap_or_else(|| step.clone());
        let largest = size(&config.maximum_allocation).unwrap_or_default();
        let rules = Rules {
            formula: config.formula.unwrap_or_default(),
            enforcement: config.enforcement.unwrap_or_default(),
            calculator: config.calculator.unwrap_or_default(),
            floor: config.floor.unwrap_or(Decimal::HUNDRED),
            factor: config.times(),
            step,
        };
        Self { rules, increment, largest }
    }

    /// Applies an amount that is configured for a plain type to the nodes of every label.
    fn spread(&mut self, types: &ResourceTypes, sections: &Sections) {
        for amounts in [&mut self.rules.step, &mut self.increment, &mut self.largest] {
            sections.spread(types, amounts);
        }
    }

    /// Returns the counted size of an ask.
    pub(crate) fn normalised(&self, ask: &Resources) -> Resources {
        let (increment, largest) = (&self.increment, &self.largest);
        counted(Measure { rules: &self.rules, increment, largest, sections: None }, ask)
            .into_owned()
    }
}

/// Values that determine the counted size of asks.
#[derive(Clone, Copy)]
struct Measure<'a> {
    rules: &'a Rules,
    increment: &'a Resources,
    largest: &'a Resources,
    sections: Option<&'a Sections>,
}

/// Returns the counted size: whole increments, at least the minimum allocation and at most the maximum allocation. An
/// ask that exceeds the maximum, which only the RM can place, counts with its exact size. Source: user-headroom §2.6.
#[inline]
fn counted<'ask>(
    Measure { rules, increment, largest, sections }: Measure<'_>,
    ask: &'ask Resources,
) -> Cow<'ask, Resources> {
    if rules.step.is_empty() && increment.is_empty() {
        return Cow::Borrowed(ask);
    }
    let mut counted = rules.normalised(ask, increment);
    if let Some(sections) = sections {
        // The minimum allocation applies to the section of nodes that the ask is for.
        let first = ask.iter().next().map_or(0, |(resource, _)| sections.section(resource));
        counted = sections.only(first, &counted);
    }
    for (resource, most) in largest.iter() {
        if let Some(amount) = counted.get(resource).filter(|amount| *amount > most) {
            counted.set(resource, amount.min(most.max(ask.get_or_zero(resource))));
        }
    }
    Cow::Owned(counted)
}
