//! How vectors of amounts are compared, and of which types limits speak.

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::resource::{Quantity, ResourceType, Resources};

/// How limits compare vectors of several resource types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Calculator {
    /// Each type by itself.
    #[default]
    Componentwise,
    /// The whole vector that has the larger dominant share of the cluster, as YARN's
    /// `DominantResourceCalculator`; types of which the cluster has nothing do not count.
    Dominant,
    /// Memory and nothing else, as YARN's `DefaultResourceCalculator`.
    Memory,
}

/// A calculator for a cluster of this size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ops<'total> {
    pub(super) calculator: Calculator,
    /// All there is.
    pub(super) total: &'total Resources,
}

impl Ops<'_> {
    pub(super) fn counts(self, resource: ResourceType) -> bool {
        self.calculator != Calculator::Memory || resource == ResourceType::MEMORY
    }

    /// Change the amount of each type that counts.
    pub(super) fn map(
        self,
        of: &Resources,
        change: impl Fn(ResourceType, i64) -> i64,
    ) -> Resources {
        let mut result = Resources::new();
        for (resource, amount) in of.iter().filter(|(resource, _)| self.counts(*resource)) {
            result.set(resource, Quantity::of(change(resource, amount.get())));
        }
        result
    }

    /// Combine the amounts of each type that counts and that one of them has; an absent one is
    /// zero.
    pub(super) fn join(
        self,
        left: &Resources,
        right: &Resources,
        join: impl Fn(i64, i64) -> i64,
    ) -> Resources {
        let both = left.maximum(right);
        self.map(&both, |resource, _| {
            join(left.get_or_zero(resource).get(), right.get_or_zero(resource).get())
        })
    }

    pub(super) fn sum(self, left: &Resources, right: &Resources) -> Resources {
        self.join(left, right, |left, right| Quantity::of(left).plus(Quantity::of(right)).get())
    }

    /// The larger one: type by type, or as a whole, the left one if they are equal.
    pub(super) fn larger(self, left: &Resources, right: &Resources) -> Resources {
        match self.calculator {
            Calculator::Componentwise => self.join(left, right, i64::max),
            _ if self.compare(left, right) == Ordering::Less => right.clone(),
            _ => left.clone(),
        }
    }

    /// The smaller one: type by type, or as a whole, the left one if they are equal.
    pub(super) fn smaller(self, left: &Resources, right: &Resources) -> Resources {
        match self.calculator {
            Calculator::Componentwise => self.join(left, right, i64::min),
            _ if self.compare(left, right) == Ordering::Greater => right.clone(),
            _ => left.clone(),
        }
    }

    /// What holds below a bound where `used` is less than it, and what holds else: type by type,
    /// or as a whole.
    pub(super) fn below_or_else(
        self,
        used: &Resources,
        bound: &Resources,
        below: &Resources,
        otherwise: &Resources,
    ) -> Resources {
        if self.calculator != Calculator::Componentwise {
            let is_less = self.compare(used, bound) == Ordering::Less;
            return if is_less { below.clone() } else { otherwise.clone() };
        }
        let both = below.maximum(otherwise);
        self.map(&both, |resource, _| {
            let is_less = used.get_or_zero(resource) < bound.get_or_zero(resource);
            if is_less { below } else { otherwise }.get_or_zero(resource).get()
        })
    }

    /// Whether what is used keeps to a limit. Type by type only those count that the ask needs and
    /// the limit names; a limit that names none does not bound.
    pub(super) fn is_within(self, used: &Resources, limit: &Resources, ask: &Resources) -> bool {
        if self.calculator != Calculator::Componentwise {
            return limit.is_empty() || self.compare(used, limit).is_le();
        }
        let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let mut bounded = needed.filter_map(|(resource, _)| Some((resource, limit.get(resource)?)));
        bounded.all(|(resource, most)| used.get_or_zero(resource) <= most)
    }

    /// Whether there is room for one within the other, in each type that counts.
    pub(super) fn fits(self, large: &Resources, small: &Resources) -> bool {
        let mut types = small.iter().filter(|(resource, _)| self.counts(*resource));
        types.all(|(resource, amount)| amount <= large.get_or_zero(resource))
    }

    /// Compare whole vectors: memory, or the shares of the cluster, the largest first. In a
    /// cluster that has nothing the amounts themselves are compared, and are equal where neither
    /// is at least the other in all types.
    pub(super) fn compare(self, left: &Resources, right: &Resources) -> Ordering {
        if self.calculator == Calculator::Memory {
            let memory = |of: &Resources| of.get_or_zero(ResourceType::MEMORY);
            return memory(left).cmp(&memory(right));
        }
        if self.total.iter().all(|(_, amount)| amount <= Quantity::ZERO) {
            return match (left.is_at_least(right), right.is_at_least(left)) {
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ => Ordering::Equal,
            };
        }
        let (left, right) = (self.shares(left), self.shares(right));
        let mut orders = left.iter().zip(&right).map(|(left, right)| left.compare(*right));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// The shares of the cluster, the largest first.
    fn shares(self, of: &Resources) -> SmallVec<[Share; 8]> {
        let some = self.total.iter().filter(|(_, total)| *total > Quantity::ZERO);
        let mut shares: SmallVec<[Share; 8]> = some
            .map(|(resource, total)| Share {
                resource,
                amount: of.get_or_zero(resource).get(),
                total: total.get(),
            })
            .collect();
        shares.sort_by(|left, right| right.compare(*left));
        shares
    }

    /// The type of which someone has the largest share of the cluster, and how much; none in a
    /// cluster that has nothing.
    pub(super) fn dominant(self, of: &Resources) -> Option<(ResourceType, i64)> {
        if self.calculator == Calculator::Memory {
            let memory = ResourceType::MEMORY;
            return Some((memory, of.get_or_zero(memory).get()));
        }
        self.shares(of).first().map(|share| (share.resource, share.amount))
    }
}

/// A part of a total, which is more than nothing.
#[derive(Clone, Copy, Debug)]
struct Share {
    resource: ResourceType,
    amount: i64,
    total: i64,
}

impl Share {
    /// As fractions, exactly.
    fn compare(self, other: Self) -> Ordering {
        let left = i128::from(self.amount) * i128::from(other.total);
        left.cmp(&(i128::from(other.amount) * i128::from(self.total)))
    }
}
