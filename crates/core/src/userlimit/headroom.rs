//! Headroom of a user of a leaf, and the bound that limits it most. Source: user-headroom §2.5 and §4, rule 5; §11, M-6
//! and M-18.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::id::QueueId;
use crate::resource::{Quantity, ResourceType, Resources};

use super::calculator::Ops;
use super::{Calculator, Formula, Leaf, Limit, Rules};

/// Bound of a headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// The fair share of the user in the leaf.
    SoftShare,
    /// The user cap of the leaf.
    HardCap,
    /// The maximum of a queue on the path. That of the root is the capacity of the cluster.
    QueueMax(QueueId),
    /// The absolute limit of the user at a queue on the path.
    UserLimit(QueueId),
    /// The absolute limit of the group of the user at a queue on the path.
    GroupLimit(QueueId),
    /// The free capacity of the nodes of the partition.
    PartitionFree,
}

/// One bound with its remaining amounts, which can be negative. The bound does not limit an absent type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Bound of these amounts.
    pub bound: Bound,
    /// Remaining amounts.
    pub left: Resources,
}

/// Headroom of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headroom {
    /// Headroom by type. An absent type is not limited. Never negative, except with `yarn27` in types other than
    /// memory, as in CapacityScheduler 2.7.3.
    pub amounts: Resources,
    /// Tightest bound of each of these types, in the order of types.
    pub limited_by: Vec<Tightest>,
}

/// Tightest bound of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tightest {
    /// Resource type.
    pub resource: ResourceType,
    /// Bound that limits the type.
    pub bound: Bound,
    /// Number of bounds that are named before this one.
    rank: u32,
}

impl Headroom {
    /// Returns the bound that limits asks of this size first: that of the type that allows the fewest such asks.
    ///
    /// For an empty ask, it is the bound of the type with the smallest remaining fraction of the cluster. Of equal
    /// types, the one whose bound is named first wins.
    pub fn limited_by(&self, ask: &Resources, total: &Resources) -> Option<Bound> {
        self.first_to_end(ask).or_else(|| self.first_to_end(total)).map(|one| one.bound)
    }

    /// Returns the bound of the type with the least remaining amount, measured in a unit for each type.
    fn first_to_end(&self, unit: &Resources) -> Option<&Tightest> {
        let positive =
            |of: &Resources, one: &Tightest| i128::from(of.get_or_zero(one.resource).get().max(0));
        let counted = self.limited_by.iter().filter(|one| positive(unit, one) > 0);
        counted.min_by(|one, other| {
            // Compares two fractions exactly.
            let left = positive(&self.amounts, one) * positive(unit, other);
            let right = positive(&self.amounts, other) * positive(unit, one);
            left.cmp(&right).then(one.rank.cmp(&other.rank))
        })
    }
}

impl Rules {
    /// Returns the headroom of a user, given the usage of the leaf and the limit there.
    ///
    /// `others` are additional bounds of the user in the order in which they are named, and `free` is the free capacity
    /// of the partition. Of bounds that leave the same amount, the first one wins.
    ///
    /// With `smooth`, the result is the minimum of all, type by type. With the formulas of CapacityScheduler, it is as
    /// implemented there. Version 3 uses the whole vector of free capacity if its dominant share is smaller. Version
    /// 2.7.3 ignores free capacity, and raises only memory to zero. With the calculator `memory`, only memory counts.
    pub fn headroom(
        &self,
        leaf: &Leaf,
        (limit, used): (&Limit, &Resources),
        others: &[Remaining],
        free: &Resources,
    ) -> Headroom {
        let ops = self.ops(leaf);
        let is_smooth = self.formula == Formula::Smooth;
        let left = |of: &Resources| of.minus_existing(used);
        let own = if is_smooth {
            [(Bound::SoftShare, left(&limit.soft)), (Bound::HardCap, left(&limit.hard))]
        } else {
            // Depending on the type, the limit is the share or the cap.
            let (share, cap) = halves(limit);
            [(Bound::SoftShare, left(&share)), (Bound::HardCap, left(&cap))]
        };
        let others = others.iter().map(|room| (room.bound, room.left.clone()));
        let mut least = Least::default();
        for (bound, left) in own.into_iter().chain(others) {
            let counts = |resource| is_smooth || ops.counts(resource);
            least.lower(bound, &left, counts);
        }
        let rounded = least.map(|resource, amount| {
            let step = self.step.get_or_zero(resource).get();
            let amount = if step > 0 { amount - amount % step } else { amount };
            if self.keeps_negative(resource) { amount } else { amount.max(0) }
        });
        self.within_free(ops, rounded, free)
    }

    /// Returns whether a negative headroom of a type is shown.
    fn keeps_negative(&self, resource: ResourceType) -> bool {
        self.formula == Formula::Yarn27 && resource != ResourceType::MEMORY
    }

    /// Limits the headroom to the free capacity.
    fn within_free(&self, ops: Ops<'_>, mut least: Least, free: &Resources) -> Headroom {
        if self.formula == Formula::Yarn27 {
            return Headroom { amounts: least.amounts, limited_by: least.bounds };
        }
        let is_smooth = self.formula == Formula::Smooth;
        let mut counted = free.clone();
        for (resource, amount) in free.iter() {
            if !is_smooth && !ops.counts(resource) {
                counted.remove(resource);
            } else if amount < Quantity::ZERO && !self.keeps_negative(resource) {
                counted.set(resource, Quantity::ZERO);
            }
        }
        let is_whole =
            self.formula == Formula::Yarn3 && self.calculator != Calculator::Componentwise;
        if !is_whole {
            least.lower(Bound::PartitionFree, &counted, |_| true);
        } else if counted != least.amounts {
            let is_tighter = |section| ops.compare_in(section, &counted, &least.amounts).is_le();
            let tighter: SmallVec<[bool; 4]> = ops.numbers().map(is_tighter).collect();
            let is_free = |resource| tighter[ops.section(resource)];
            least.forget(is_free);
            least.lower(Bound::PartitionFree, &counted, is_free);
        }
        Headroom { amounts: least.amounts, limited_by: least.bounds }
    }
}

/// Splits a limit of CapacityScheduler into the types in which it is a share, and those in which it is a cap.
fn halves(limit: &Limit) -> (Resources, Resources) {
    let (mut share, mut cap) = (Resources::new(), Resources::new());
    for (resource, amount) in limit.limit.iter() {
        let is_share = limit.soft.get(resource).is_none_or(|soft| soft <= amount);
        if is_share { &mut share } else { &mut cap }.set(resource, amount);
    }
    (share, cap)
}

/// Minimum of several bounds, type by type, in the order of types.
#[derive(Default)]
struct Least {
    amounts: Resources,
    bounds: Vec<Tightest>,
    /// Number of bounds so far.
    count: u32,
}

impl Least {
    fn lower(&mut self, bound: Bound, left: &Resources, counts: impl Fn(ResourceType) -> bool) {
        let rank = self.count;
        self.count += 1;
        for (resource, amount) in left.iter().filter(|(resource, _)| counts(*resource)) {
            if self.amounts.get(resource).is_some_and(|least| least <= amount) {
                continue;
            }
            self.amounts.set(resource, amount);
            let one = Tightest { resource, bound, rank };
            match self.bounds.binary_search_by_key(&resource, |one| one.resource) {
                Ok(place) => self.bounds[place] = one,
                Err(place) => self.bounds.insert(place, one),
            }
        }
    }

    /// Removes all bounds of these types.
    fn forget(&mut self, which: impl Fn(ResourceType) -> bool) {
        for one in self.bounds.iter().filter(|one| which(one.resource)) {
            self.amounts.remove(one.resource);
        }
        self.bounds.retain(|one| !which(one.resource));
    }

    fn map(self, change: impl Fn(ResourceType, i64) -> i64) -> Self {
        let mut amounts = Resources::new();
        for (resource, amount) in self.amounts.iter() {
            amounts.set(resource, Quantity::of(change(resource, amount.get())));
        }
        Self { amounts, ..self }
    }
}
