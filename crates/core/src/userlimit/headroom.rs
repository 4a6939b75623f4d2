//! How much more a user of a leaf may have, and what bounds it: the tightest of all that does.
//! Source: user-headroom §2.5 and §4, rule 5; §11, M-6 and M-18.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::id::QueueId;
use crate::resource::{Quantity, ResourceType, Resources};

use super::calculator::Ops;
use super::{Calculator, Formula, Leaf, Limit, Rules};

/// What bounds a headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// The user's share of the leaf.
    SoftShare,
    /// What the user never may exceed there.
    HardCap,
    /// The maximum of a queue on the path; that of the root is the size of the cluster.
    QueueMax(QueueId),
    /// The absolute limit of the user at a queue on the path.
    UserLimit(QueueId),
    /// The absolute limit of the user's group at a queue on the path.
    GroupLimit(QueueId),
    /// What is free on the nodes of the partition.
    PartitionFree,
}

/// One bound, and what it leaves; may be negative. A type that is absent is not bounded by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Which.
    pub bound: Bound,
    /// What is left of it.
    pub left: Resources,
}

/// How much more a user may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headroom {
    /// By type; a type that is absent is not bounded. Never negative, but with `yarn27` in other
    /// types than memory, as CapacityScheduler 2.7.3 has it.
    pub amounts: Resources,
    /// What bounds each of these types, in the order of types.
    pub limited_by: Vec<Tightest>,
}

/// What bounds one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tightest {
    /// Which type.
    pub resource: ResourceType,
    /// What bounds it.
    pub bound: Bound,
    /// How many bounds are named before it.
    rank: u32,
}

impl Headroom {
    /// What bounds a user first who wants asks like this: the bound of the type that allows the
    /// fewest such asks. For an ask of nothing, it is the bound of the type of which the smallest
    /// part of the cluster is left. Of types that are equal in that, the one whose bound is named
    /// first.
    pub fn limited_by(&self, ask: &Resources, total: &Resources) -> Option<Bound> {
        self.first_to_end(ask).or_else(|| self.first_to_end(total)).map(|one| one.bound)
    }

    /// What bounds the type of which the least is left, measured in a unit for each type.
    fn first_to_end(&self, unit: &Resources) -> Option<&Tightest> {
        let positive =
            |of: &Resources, one: &Tightest| i128::from(of.get_or_zero(one.resource).get().max(0));
        let counted = self.limited_by.iter().filter(|one| positive(unit, one) > 0);
        counted.min_by(|one, other| {
            // Two fractions, exactly.
            let left = positive(&self.amounts, one) * positive(unit, other);
            let right = positive(&self.amounts, other) * positive(unit, one);
            left.cmp(&right).then(one.rank.cmp(&other.rank))
        })
    }
}

impl Rules {
    /// How much more a user may have, given the use of the leaf and the limit there. All `others`
    /// bound the user too, in the order in which they are named, and so does what is `free` in the
    /// partition. Of bounds that leave the same, the first is named.
    ///
    /// Under `smooth` it is the least of all, type by type. With the formulas of CapacityScheduler
    /// it is as recorded there: version 3 takes the whole vector of what is free where its dominant
    /// share is smaller; 2.7.3 does not look at that, and raises memory alone to zero. Only memory
    /// counts with the calculator of that name.
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
            // Which of both the limit is depends on the type.
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

    /// Whether a headroom below nothing is shown as such.
    fn keeps_negative(&self, resource: ResourceType) -> bool {
        self.formula == Formula::Yarn27 && resource != ResourceType::MEMORY
    }

    /// No more than what is free.
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

/// A limit of CapacityScheduler as a share where it is that, and as a cap elsewhere.
fn halves(limit: &Limit) -> (Resources, Resources) {
    let (mut share, mut cap) = (Resources::new(), Resources::new());
    for (resource, amount) in limit.limit.iter() {
        let is_share = limit.soft.get(resource).is_none_or(|soft| soft <= amount);
        if is_share { &mut share } else { &mut cap }.set(resource, amount);
    }
    (share, cap)
}

/// The least of several bounds, type by type, in the order of types.
#[derive(Default)]
struct Least {
    amounts: Resources,
    bounds: Vec<Tightest>,
    /// How many bounds there were so far.
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

    /// Nothing bounds these types.
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
