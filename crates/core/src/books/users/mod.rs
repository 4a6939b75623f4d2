//! Who shares a leaf that has user limits, and who of them is active.
//!
//! All of it follows from the rest of the books. It is stored so that the cost of a share does not
//! depend on the number of users. Only leaves with user limits are here.

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
    /// The leaves in which a user has a row; the limits above them apply in each.
    by_user: OrderedMap<(PartitionId, TrackerId, QueueId), LevelId>,
}

/// The stored data about the users of one leaf; the trackers hold their usage.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafShares {
    rules: Arc<Rules>,
    config: Arc<UserLimitsConfig>,
    /// Asks count as multiples of it.
    increment: Resources,
    /// Larger asks are refused; an absent type is not bounded.
    largest: Resources,
    /// Whether asks count as they are.
    counts_as_is: bool,
    rows: Rows,
    /// What their shares are worked out from, as if those who are active used nothing: what they do is all
    /// but that, so that a charge to one of them changes nothing here.
    outline: Leaf,
    /// What follows from it for each of them.
    sure: MinimumShare,
}

/// The users of one leaf.
#[derive(Clone, Copy, Debug)]
pub struct LeafUsers<'books> {
    shares: &'books LeafShares,
    trackers: &'books Trackers,
    /// What is allocated in the leaf.
    allocated: &'books Resources,
}

/// One user of a leaf, who uses something there or waits for something.
#[derive(Clone, Copy, Debug)]
pub struct LeafUser<'books> {
    waits: &'books [(ShapeId, u32)],
    /// The weight of the user.
    pub weight: Decimal,
    /// Whether the user counts among those who split the leaf.
    pub active: bool,
    /// What the user uses in the leaf of the first eight types, and whether that is plain.
    tally: &'books PackedUsage,
    plain: bool,
    /// The user's level there; none for a user who has nothing.
    level: Option<(&'books Trackers, LevelId)>,
}

impl<'books> LeafUser<'books> {
    /// Somebody who uses nothing and waits for nothing.
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

    /// The sizes that the user waits for, each with the number of asks.
    pub const fn waits(&self) -> &'books [(ShapeId, u32)] {
        self.waits
    }

    /// What the user uses in the leaf.
    pub fn used(&self) -> Resources {
        let level = self.level.and_then(|(trackers, level)| trackers.find_level(level));
        level.map(Level::used).unwrap_or_default()
    }

    /// What the user uses there of one type.
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

    /// What they are with what these trackers, those of their partition, charge to them, and with all that
    /// is allocated in their leaf.
    pub const fn with<'books>(
        &'books self,
        trackers: &'books Trackers,
        allocated: &'books Resources,
    ) -> LeafUsers<'books> {
        LeafUsers { shares: self, trackers, allocated }
    }

    /// Whether its sums, or who is active, depend on the size of the cluster.
    fn looks_at_cluster(&self) -> bool {
        match self.rules.formula {
            Formula::Yarn27 => false,
            Formula::Yarn3 => self.rules.calculator != Calculator::Memory,
            Formula::Smooth => self.rules.calculator == Calculator::Dominant,
        }
    }
}

impl<'books> LeafUsers<'books> {
    /// The stored data about them.
    pub const fn shares(self) -> &'books LeafShares {
        self.shares
    }

    /// The user-limit rules of the leaf.
    pub fn rules(self) -> &'books Rules {
        &self.shares.rules
    }

    /// The weight of a user, who need not have anything here.
    pub fn weight_of(self, user: &str) -> Decimal {
        self.shares.config.weight(user)
    }

    /// Asks count as multiples of it.
    pub const fn increment(self) -> &'books Resources {
        &self.shares.increment
    }

    /// The largest ask that is taken; an absent type is not bounded.
    pub const fn largest(self) -> &'books Resources {
        &self.shares.largest
    }

    /// What their shares are worked out from.
    pub fn state(self) -> Leaf {
        let (outline, used) = (self.outline(), self.allocated.clone());
        let used_active = used.minus(&outline.used).pruned();
        Leaf { used, used_active, ..outline.clone() }
    }

    /// The same for a caller that ignores usage: as if the active users used nothing.
    pub const fn outline(self) -> &'books Leaf {
        &self.shares.outline
    }

    /// Those who use something here or wait for something, by their level at the leaf.
    pub fn users(self) -> impl Iterator<Item = (LevelId, LeafUser<'books>)> {
        let levels = self.shares.rows.levels();
        levels.filter_map(move |level| Some((level, self.user(level)?)))
    }

    /// One of them.
    #[inline]
    pub fn user(self, level: LevelId) -> Option<LeafUser<'books>> {
        let Found { row, tally, plain, .. } = self.shares.rows.find(self.trackers, level)?;
        let UserRow { waits, weight, active } = row;
        let level = Some((self.trackers, level));
        Some(LeafUser { waits, weight: *weight, active: *active, tally, plain, level })
    }

    /// How many of them are found without a search: all.
    pub(crate) fn seated(self) -> usize {
        let LeafUsers { shares, trackers, .. } = self;
        shares.rows.levels().filter(|level| shares.rows.is_seated(trackers, *level)).count()
    }

    /// How much one of its users may have in the current state of the leaf, for an ask of this
    /// counted size.
    ///
    /// Under `smooth` this is what the user may have while such an ask waits. The user counts as
    /// active then, even if inactive now.
    pub fn limit(self, user: &LeafUser<'_>, among: Among, ask: &Resources) -> Limit {
        let part = ShareQuery { weight: user.weight, among, ask };
        let (rules, state) = (self.rules(), self.state());
        if rules.formula == Formula::Smooth && !user.active {
            return rules.limit(&state.joined_by(user.weight, &user.used()), part);
        }
        rules.limit(&state, part)
    }

    /// What an ask of this size counts as.
    pub fn normalised(self, ask: &Resources) -> Resources {
        self.counted(ask).into_owned()
    }

    /// The same, where that costs nothing unless asks are counted otherwise than they are.
    #[inline]
    pub(crate) fn counted(self, ask: &Resources) -> Cow<'_, Resources> {
        counted(self.shares.measure(), ask)
    }
}

impl Books {
    /// The users of a leaf; none where it has no user limits.
    #[inline]
    pub fn users_of(&self, leaf: QueueId) -> Option<LeafUsers<'_>> {
        if self.sharing.leaves.is_empty() {
            return None;
        }
        let shares = self.sharing.leaves.get(&leaf)?;
        let row = self.queue(leaf);
        Some(shares.with(&self.partition(row.partition).trackers, &row.allocated))
    }

    /// Whether any leaf has user limits.
    pub const fn has_user_limits(&self) -> bool {
        !self.sharing.leaves.is_empty()
    }

    /// The leaves with user limits.
    pub fn leaves_with_users(&self) -> impl Iterator<Item = (QueueId, LeafUsers<'_>)> {
        let leaves = self.sharing.leaves.iter();
        leaves.filter_map(|(leaf, _)| Some((*leaf, self.users_of(*leaf)?)))
    }

    /// The same, without what is known of them.
    pub(crate) fn leaves_sharing(&self) -> impl Iterator<Item = QueueId> {
        self.sharing.leaves.iter().map(|(leaf, _)| *leaf)
    }

    /// The other leaves with user limits in which the user of this level at a leaf uses something, or
    /// waits.
    pub fn other_leaves_of(&self, leaf: QueueId, level: LevelId) -> impl Iterator<Item = QueueId> {
        self.other_rows_of(leaf, level).map(|(leaf, _)| leaf)
    }

    /// The same, with the user's level in each.
    fn other_rows_of(
        &self,
        here: QueueId,
        level: LevelId,
    ) -> impl Iterator<Item = (QueueId, LevelId)> {
        // Mostly there is no other leaf in which the user could have a row.
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

    /// How many rows there are by user: as many as by leaf.
    pub(crate) const fn rows_by_user(&self) -> usize {
        self.sharing.by_user.len()
    }

    /// A leaf as user limits with this formula see it, without its users: what it is
    /// guaranteed, what it may have and uses, and what there is.
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
            // CapacityScheduler knows no queue without a maximum: it is all there is.
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

    /// A leaf as its user limits see it; none where it has none.
    pub fn shared_leaf(&self, leaf: QueueId) -> Option<Leaf> {
        self.users_of(leaf).map(LeafUsers::state)
    }

    /// How much a user may have of a leaf with user limits, for an ask of this size; none where it has
    /// none, or the user neither uses anything there nor waits. See [`LeafUsers::limit`].
    pub fn user_limit(&self, leaf: QueueId, level: LevelId, ask: &Resources) -> Option<Limit> {
        let users = self.users_of(leaf)?;
        Some(users.limit(&users.user(level)?, Among::Active, &users.normalised(ask)))
    }
}

/// What a block `userlimits` comes to, in the types of somebody.
pub(crate) struct Sizes {
    pub(crate) rules: Rules,
    /// Asks count as multiples of it.
    pub(crate) increment: Resources,
    /// Larger asks are refused; an absent type is not bounded.
    pub(crate) largest: Resources,
}

impl Sizes {
    /// The rules of a configuration, with defaults for absent values.
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

    /// An amount configured for a type holds on nodes of every label.
    fn spread(&mut self, types: &ResourceTypes, sections: &Sections) {
        for amounts in [&mut self.rules.step, &mut self.increment, &mut self.largest] {
            sections.spread(types, amounts);
        }
    }

    /// What an ask of this size counts as.
    pub(crate) fn normalised(&self, ask: &Resources) -> Resources {
        let (increment, largest) = (&self.increment, &self.largest);
        counted(Measure { rules: &self.rules, increment, largest, sections: None }, ask)
            .into_owned()
    }
}

/// By what asks are counted.
#[derive(Clone, Copy)]
struct Measure<'a> {
    rules: &'a Rules,
    increment: &'a Resources,
    largest: &'a Resources,
    sections: Option<&'a Sections>,
}

/// Whole increments, the minimum allocation at least and the maximum allocation at most. What is
/// larger than that by itself, as only the RM can have it, counts as it is. Source: user-headroom
/// §2.6.
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
        // The minimum allocation is that of the nodes which the ask is for.
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
