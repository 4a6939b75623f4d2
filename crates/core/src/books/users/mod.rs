//! Who shares a leaf that has user limits, and who of them is active.
//!
//! All of it follows from the rest of the books; it is kept along so that a share costs the same
//! however many share. Only leaves with user limits are here.

mod change;
mod demand;
mod everyone;

pub use change::Followed;

use alloc::borrow::Cow;
use alloc::sync::Arc;

use smallvec::SmallVec;

use crate::config::UserLimitsConfig;
use crate::id::{LevelId, PartitionId, QueueId, ShapeId, TrackerId};
use crate::ordered::OrderedMap;
use crate::resource::{Amounts, Resources};
use crate::userlimit::{Among, Calculator, Decimal, Formula, Leaf, Limit, Part, Rules, Sure};

use super::Books;

/// All leaves with user limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sharing {
    leaves: OrderedMap<QueueId, Arc<LeafUsers>>,
    /// The leaves in which a user has a row: his limits above them hold in each.
    by_user: OrderedMap<(PartitionId, TrackerId, QueueId), LevelId>,
}

/// The users of one leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafUsers {
    rules: Arc<Rules>,
    config: Arc<UserLimitsConfig>,
    /// Asks count as multiples of it.
    increment: Resources,
    /// Larger asks are refused; an absent type is not bounded.
    largest: Resources,
    users: OrderedMap<LevelId, LeafUser>,
    /// What their shares are worked out from.
    state: Leaf,
    /// What follows from it for each of them.
    sure: Sure,
}

/// One user of a leaf: he uses something there, or waits for something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafUser {
    /// How many asks of each shape wait, by shape.
    waits: SmallVec<[(ShapeId, u32); 1]>,
    /// His weight.
    pub weight: Decimal,
    /// Whether he counts among those who split the leaf.
    pub active: bool,
    /// What he uses in the leaf.
    pub used: Resources,
}

impl LeafUser {
    /// The sizes that he waits for, each with the number of asks.
    pub fn waits(&self) -> &[(ShapeId, u32)] {
        &self.waits
    }
}

impl LeafUsers {
    fn new(books: &mut Books, config: &Arc<UserLimitsConfig>) -> Self {
        let intern = |amounts: &Amounts| books.types.intern_all(amounts);
        let Sizes { rules, increment, largest } = Sizes::of(config, intern);
        let state = Leaf::default();
        Self {
            sure: Sure::of(&rules, &state),
            rules: rules.into(),
            config: config.clone(),
            increment,
            largest,
            users: OrderedMap::default(),
            state,
        }
    }

    /// What the leaf says of its users.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The weight of a user, whether he has anything here or not.
    pub fn weight_of(&self, user: &str) -> Decimal {
        self.config.weight(user)
    }

    /// Asks count as multiples of it.
    pub const fn increment(&self) -> &Resources {
        &self.increment
    }

    /// The largest ask that is taken; an absent type is not bounded.
    pub const fn largest(&self) -> &Resources {
        &self.largest
    }

    /// What their shares are worked out from.
    pub const fn state(&self) -> &Leaf {
        &self.state
    }

    /// Those who use something here or wait for something, by their level at the leaf.
    pub fn users(&self) -> impl Iterator<Item = (LevelId, &LeafUser)> {
        self.users.iter().map(|(level, user)| (*level, user))
    }

    /// One of them.
    pub fn user(&self, level: LevelId) -> Option<&LeafUser> {
        self.users.get(&level)
    }

    /// How much one of its users may have while the leaf is like that, for an ask of this size as it
    /// counts.
    ///
    /// Under `smooth` this is what he may have when he asks for as much: he is active then, whether he
    /// is now or not.
    pub fn limit(&self, user: &LeafUser, among: Among, ask: &Resources) -> Limit {
        let part = Part { weight: user.weight, among, ask };
        if self.rules.formula == Formula::Smooth && !user.active {
            return self.rules.limit(&self.state.joined_by(user.weight, &user.used), part);
        }
        self.rules.limit(&self.state, part)
    }

    /// Whether an active user may have an ask, of this size as it counts, as far as his limit goes: the same as
    /// [`Rules::admits`] with [`LeafUsers::limit`], for less.
    #[inline]
    pub fn admits(&self, user: &LeafUser, ask: &Resources) -> bool {
        self.surely_admits(user, ask) || self.admits_exactly(user, ask)
    }

    /// Whether that is so without anything being worked out; if not, he still may have it.
    #[inline]
    pub(crate) fn surely_admits(&self, user: &LeafUser, ask: &Resources) -> bool {
        let is_sure =
            user.active && user.weight == Decimal::ONE && self.sure.admits(&user.used, ask);
        debug_assert!(!is_sure || self.admits_exactly(user, ask), "{ask:?} is admitted for sure");
        is_sure
    }

    #[cold]
    fn admits_exactly(&self, user: &LeafUser, ask: &Resources) -> bool {
        let limit = self.limit(user, Among::Active, ask);
        self.rules.admits(&self.state, &limit, &user.used, ask)
    }

    /// Whether an ask, of this size as it counts, would take a user beyond his cap.
    #[inline]
    pub(crate) fn exceeds_cap(&self, user: &LeafUser, ask: &Resources) -> bool {
        exceeds_cap((&self.rules, &self.sure, &self.state), user.weight, &user.used, ask)
    }

    /// What surely holds for its active users, as it is kept.
    pub(crate) const fn sure(&self) -> &Sure {
        &self.sure
    }

    /// What an ask of this size counts as.
    pub fn normalised(&self, ask: &Resources) -> Resources {
        normalised(&self.rules, &self.increment, &self.largest, ask)
    }

    /// The same, where that costs nothing unless asks are counted otherwise than they are.
    pub(crate) fn counted<'ask>(&self, ask: &'ask Resources) -> Cow<'ask, Resources> {
        counted(&self.rules, &self.increment, &self.largest, ask)
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

impl Books {
    /// The users of a leaf; none where it has no user limits.
    #[inline]
    pub fn users_of(&self, leaf: QueueId) -> Option<&LeafUsers> {
        if self.sharing.leaves.is_empty() {
            return None;
        }
        self.sharing.leaves.get(&leaf).map(|users| &**users)
    }

    /// Whether any leaf has user limits.
    pub const fn has_user_limits(&self) -> bool {
        !self.sharing.leaves.is_empty()
    }

    /// The leaves with user limits.
    pub fn leaves_with_users(&self) -> impl Iterator<Item = (QueueId, &LeafUsers)> {
        self.sharing.leaves.iter().map(|(leaf, users)| (*leaf, &**users))
    }

    /// The other leaves with user limits in which the user of this level uses something, or waits.
    pub fn other_leaves_of(
        &self,
        partition: PartitionId,
        level: LevelId,
    ) -> impl Iterator<Item = QueueId> {
        self.other_rows_of(partition, level).map(|(leaf, _)| leaf)
    }

    /// The same with his level in each.
    fn other_rows_of(
        &self,
        partition: PartitionId,
        level: LevelId,
    ) -> impl Iterator<Item = (QueueId, LevelId)> {
        let row = self.partition(partition).trackers.find_level(level);
        // Mostly there is no other leaf in which he could have one.
        let row = row.filter(|row| match self.sharing.leaves.len() {
            0 => false,
            1 => self.users_of(row.queue).is_none(),
            _ => true,
        });
        row.into_iter().flat_map(move |row| {
            let (tracker, here) = (row.tracker, row.queue);
            let from = (partition, tracker, QueueId::FIRST);
            let his = self.sharing.by_user.iter_from(&from);
            let his =
                his.take_while(move |((of, whose, _), _)| (*of, *whose) == (partition, tracker));
            his.map(|((.., leaf), level)| (*leaf, *level)).filter(move |(leaf, _)| *leaf != here)
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
        Leaf {
            total,
            guaranteed: row.guaranteed.clone().unwrap_or_default(),
            max,
            used: row.allocated.clone(),
            ..Leaf::default()
        }
    }

    /// A leaf as its user limits see it; none where it has none.
    pub fn shared_leaf(&self, leaf: QueueId) -> Option<&Leaf> {
        self.users_of(leaf).map(|users| &users.state)
    }

    /// How much a user may have of a leaf with user limits, for an ask of this size; none where it has
    /// none, or the user neither uses anything there nor waits. See [`LeafUsers::limit`].
    pub fn user_limit(&self, leaf: QueueId, level: LevelId, ask: &Resources) -> Option<Limit> {
        let users = self.users_of(leaf)?;
        Some(users.limit(users.user(level)?, Among::Active, &users.normalised(ask)))
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
    /// With defaults where nothing is said.
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

    /// What an ask of this size counts as.
    pub(crate) fn normalised(&self, ask: &Resources) -> Resources {
        normalised(&self.rules, &self.increment, &self.largest, ask)
    }
}

/// Whether an ask would take somebody of this weight, who uses this, beyond his cap.
#[inline]
fn exceeds_cap(
    (rules, sure, leaf): (&Rules, &Sure, &Leaf),
    weight: Decimal,
    used: &Resources,
    ask: &Resources,
) -> bool {
    let is_sure = weight == Decimal::ONE && sure.is_within_cap(used, ask);
    debug_assert!(
        !is_sure || !rules.exceeds_cap(leaf, weight, used, ask),
        "{used:?} and {ask:?} are within {sure:?} for sure, and beyond the cap in {leaf:?} by {rules:?}"
    );
    !is_sure && rules.exceeds_cap(leaf, weight, used, ask)
}

fn normalised(
    rules: &Rules,
    increment: &Resources,
    largest: &Resources,
    ask: &Resources,
) -> Resources {
    counted(rules, increment, largest, ask).into_owned()
}

/// Whole increments, the minimum allocation at least and the maximum allocation at most. What is
/// larger than that by itself, as only the RM can have it, counts as it is. Source: user-headroom
/// §2.6.
#[inline]
fn counted<'ask>(
    rules: &Rules,
    increment: &Resources,
    largest: &Resources,
    ask: &'ask Resources,
) -> Cow<'ask, Resources> {
    if rules.step.is_empty() && increment.is_empty() {
        return Cow::Borrowed(ask);
    }
    let mut counted = rules.normalised(ask, increment);
    for (resource, most) in largest.iter() {
        if let Some(amount) = counted.get(resource).filter(|amount| *amount > most) {
            counted.set(resource, amount.min(most.max(ask.get_or_zero(resource))));
        }
    }
    Cow::Owned(counted)
}
