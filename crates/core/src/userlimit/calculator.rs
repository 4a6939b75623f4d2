//! How vectors of amounts are compared, and of which types limits speak.

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::resource::{Quantity, ResourceType, Resources, Sections};

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

impl Calculator {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Componentwise => "componentwise",
            Self::Dominant => "dominant",
            Self::Memory => "memory",
        }
    }
}

/// A calculator for a cluster of this size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ops<'total> {
    pub(super) calculator: Calculator,
    /// All there is.
    pub(super) total: &'total Resources,
    /// What is compared by itself; none: all of it is compared at once.
    pub(super) sections: Option<&'total Sections>,
}

impl Ops<'_> {
    pub(super) fn counts(self, resource: ResourceType) -> bool {
        self.calculator != Calculator::Memory || self.is_memory(resource)
    }

    fn is_memory(self, resource: ResourceType) -> bool {
        match self.sections {
            None => resource == ResourceType::MEMORY,
            Some(sections) => sections.memory(sections.section(resource)) == Some(resource),
        }
    }

    /// What a choice between whole vectors comes to, section by section.
    pub(super) fn choose(
        self,
        left: &Resources,
        right: &Resources,
        is_left: impl Fn(usize) -> bool,
    ) -> Resources {
        let Some(sections) = self.sections else {
            return if is_left(0) { left } else { right }.clone();
        };
        let mut chosen = Resources::new();
        for section in sections.iter() {
            let of = if is_left(section) { left } else { right };
            let mine = of.iter().filter(|(resource, _)| sections.section(*resource) == section);
            for (resource, amount) in mine {
                chosen.set(resource, amount);
            }
        }
        chosen
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
            Calculator::Dominant | Calculator::Memory => {
                self.choose(left, right, |section| self.compare_in(section, left, right).is_ge())
            }
        }
    }

    /// The smaller one: type by type, or as a whole, the left one if they are equal.
    pub(super) fn smaller(self, left: &Resources, right: &Resources) -> Resources {
        match self.calculator {
            Calculator::Componentwise => self.join(left, right, i64::min),
            Calculator::Dominant | Calculator::Memory => {
                self.choose(left, right, |section| self.compare_in(section, left, right).is_le())
            }
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
            return self.choose(below, otherwise, |section| {
                self.compare_in(section, used, bound) == Ordering::Less
            });
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
            return limit.is_empty() || self.is_at_most(used, limit, ask);
        }
        let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let mut bounded = needed.filter_map(|(resource, _)| Some((resource, limit.get(resource)?)));
        bounded.all(|(resource, most)| used.get_or_zero(resource) <= most)
    }

    /// Whether there is room for one within the other, in each type of a section that counts.
    pub(super) fn fits_in(self, section: usize, large: &Resources, small: &Resources) -> bool {
        let mine = |resource| self.counts(resource) && self.section(resource) == section;
        let mut types = small.iter().filter(|(resource, _)| mine(*resource));
        types.all(|(resource, amount)| amount <= large.get_or_zero(resource))
    }

    /// Whether one is no more than another, as whole vectors, in the sections of an ask.
    pub(super) fn is_at_most(self, left: &Resources, right: &Resources, ask: &Resources) -> bool {
        let Some(sections) = self.sections else { return self.compare_in(0, left, right).is_le() };
        let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let mut needed = needed.map(|(resource, _)| sections.section(resource));
        needed.all(|section| self.compare_in(section, left, right).is_le())
    }

    /// Compare what whole vectors have of a section: memory, or the shares of the cluster, the largest
    /// first. In a cluster that has nothing the amounts themselves are compared, and are equal where
    /// neither is at least the other in all types.
    pub(super) fn compare_in(
        self,
        section: usize,
        left: &Resources,
        right: &Resources,
    ) -> Ordering {
        if self.calculator == Calculator::Memory {
            let memory = self.memory(section);
            let memory = |of: &Resources| memory.map(|memory| of.get_or_zero(memory));
            return memory(left).cmp(&memory(right));
        }
        if self.total_in(section).next().is_none() {
            let mine = |of: &Resources| match self.sections {
                None => of.clone(),
                Some(sections) => sections.only(section, of),
            };
            let (left, right) = (mine(left), mine(right));
            return match (left.is_at_least(&right), right.is_at_least(&left)) {
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ => Ordering::Equal,
            };
        }
        let (left, right) = (self.shares(section, left), self.shares(section, right));
        let mut orders = left.iter().zip(&right).map(|(left, right)| left.compare(*right));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn memory(self, section: usize) -> Option<ResourceType> {
        self.sections.map_or(Some(ResourceType::MEMORY), |sections| sections.memory(section))
    }

    /// What there is of a section.
    fn total_in(self, section: usize) -> impl Iterator<Item = (ResourceType, Quantity)> {
        let some = self.total.iter().filter(|(_, total)| *total > Quantity::ZERO);
        some.filter(move |(resource, _)| self.section(*resource) == section)
    }

    /// The shares of the cluster, the largest first.
    fn shares(self, section: usize, of: &Resources) -> SmallVec<[Share; 8]> {
        let mut shares: SmallVec<[Share; 8]> = self
            .total_in(section)
            .map(|(resource, total)| Share {
                resource,
                amount: of.get_or_zero(resource).get(),
                total: total.get(),
            })
            .collect();
        shares.sort_by(|left, right| right.compare(*left));
        shares
    }

    /// The sections there are.
    pub(super) fn numbers(self) -> impl Iterator<Item = usize> {
        let many = self.sections.map_or(1, |sections| sections.iter().count());
        0..many
    }

    /// The section of a type.
    pub(super) fn section(self, resource: ResourceType) -> usize {
        self.sections.map_or(0, |sections| sections.section(resource))
    }

    /// In each section the type of which someone has the largest share of the cluster, and how much;
    /// none in a cluster that has nothing.
    pub(super) fn dominant(self, of: &Resources) -> Resources {
        let mut dominant = Resources::new();
        for section in self.numbers() {
            let found = if self.calculator == Calculator::Memory {
                self.memory(section).map(|memory| (memory, of.get_or_zero(memory)))
            } else {
                let first = self.shares(section, of).first().copied();
                first.map(|share| (share.resource, Quantity::of(share.amount)))
            };
            if let Some((resource, amount)) = found {
                dominant.set(resource, amount);
            }
        }
        dominant
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
