//! Comparison of resource vectors in user limits.

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::resource::{Quantity, ResourceType, Resources, Sections};

/// Comparison of vectors with several resource types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Calculator {
    /// Each type separately.
    #[default]
    Componentwise,
    /// Whole vectors by their dominant share of the cluster, as YARN's `DominantResourceCalculator`. Types without
    /// capacity in the cluster do not count.
    Dominant,
    /// Only memory, as YARN's `DefaultResourceCalculator`.
    Memory,
}

impl Calculator {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Componentwise => "componentwise",
            Self::Dominant => "dominant",
            Self::Memory => "memory",
        }
    }
}

/// Operations of a calculator for a cluster of this size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ops<'total> {
    pub(super) calculator: Calculator,
    /// Capacity of the cluster.
    pub(super) total: &'total Resources,
    /// Sections that are compared separately. `None` if everything is compared at once.
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

    /// Returns the result of a choice between two whole vectors, section by section.
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

    /// Changes the amount of each type that counts.
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

    /// Combines the amounts of each type that counts and that one of both has. An absent type counts as zero.
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

    /// Returns the larger amounts: type by type, or of whole vectors. The left vector wins if they are equal.
    pub(super) fn larger(self, left: &Resources, right: &Resources) -> Resources {
        match self.calculator {
            Calculator::Componentwise => self.join(left, right, i64::max),
            Calculator::Dominant | Calculator::Memory => {
                self.choose(left, right, |section| self.compare_in(section, left, right).is_ge())
            }
        }
    }

    /// Returns the smaller amounts: type by type, or of whole vectors. The left vector wins if they are equal.
    pub(super) fn smaller(self, left: &Resources, right: &Resources) -> Resources {
        match self.calculator {
            Calculator::Componentwise => self.join(left, right, i64::min),
            Calculator::Dominant | Calculator::Memory => {
                self.choose(left, right, |section| self.compare_in(section, left, right).is_le())
            }
        }
    }

    /// Returns `below` where `used` is less than the bound, and the other value elsewhere: type by type, or for whole
    /// vectors.
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

    /// Returns whether the usage is within a limit. Type by type, only types count that the ask needs and the limit
    /// names. A limit without types does not limit.
    pub(super) fn is_within(self, used: &Resources, limit: &Resources, ask: &Resources) -> bool {
        if self.calculator != Calculator::Componentwise {
            return limit.is_empty() || self.is_at_most(used, limit, ask);
        }
        let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let mut bounded = needed.filter_map(|(resource, _)| Some((resource, limit.get(resource)?)));
        bounded.all(|(resource, most)| used.get_or_zero(resource) <= most)
    }

    /// Returns whether `small` fits `large` in each type of a section that counts.
    pub(super) fn fits_in(self, section: usize, large: &Resources, small: &Resources) -> bool {
        let mine = |resource| self.counts(resource) && self.section(resource) == section;
        let mut types = small.iter().filter(|(resource, _)| mine(*resource));
        types.all(|(resource, amount)| amount <= large.get_or_zero(resource))
    }

    /// Returns whether one whole vector is at most another, in the sections of an ask.
    pub(super) fn is_at_most(self, left: &Resources, right: &Resources, ask: &Resources) -> bool {
        let Some(sections) = self.sections else { return self.compare_in(0, left, right).is_le() };
        let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let mut needed = needed.map(|(resource, _)| sections.section(resource));
        needed.all(|section| self.compare_in(section, left, right).is_le())
    }

    /// Compares whole vectors in a section: by memory, or by their shares of the cluster, largest first.
    ///
    /// In a cluster without capacity, compares the amounts themselves. Vectors are equal if neither is at least the
    /// other in all types.
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

    /// Returns the capacity of a section.
    fn total_in(self, section: usize) -> impl Iterator<Item = (ResourceType, Quantity)> {
        let some = self.total.iter().filter(|(_, total)| *total > Quantity::ZERO);
        some.filter(move |(resource, _)| self.section(*resource) == section)
    }

    /// Returns the shares of the cluster, largest first.
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

    /// Returns the numbers of the sections.
    pub(super) fn numbers(self) -> impl Iterator<Item = usize> {
        let many = self.sections.map_or(1, |sections| sections.iter().count());
        0..many
    }

    /// Returns the section of a type.
    pub(super) fn section(self, resource: ResourceType) -> usize {
        self.sections.map_or(0, |sections| sections.section(resource))
    }

    /// Returns, for each section, the type with the largest share of the cluster, with its amount. Empty in a cluster
    /// without capacity.
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

/// A part of a positive total.
#[derive(Clone, Copy, Debug)]
struct Share {
    resource: ResourceType,
    amount: i64,
    total: i64,
}

impl Share {
    /// Compares exactly, as fractions.
    fn compare(self, other: Self) -> Ordering {
        let left = i128::from(self.amount) * i128::from(other.total);
        left.cmp(&(i128::from(other.amount) * i128::from(self.total)))
    }
}
