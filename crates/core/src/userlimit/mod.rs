//! Limits of the users of a leaf: the elastic limits of YARN's CapacityScheduler, and a formula without their dead
//! zones.
//!
//! The guaranteed capacity of a leaf is split among its *active* users, those with waiting asks. Each gets an equal
//! share by weight, but never less than a *floor* (a percentage), so shares shrink only until the floor is reached. A
//! *factor* limits a single user. This module only computes with numbers and does not use the books: [`Leaf`] and
//! [`User`] describe the state, and [`Rules::limit`] returns the limit. The three formulas differ in what they split.
//!
//! Amounts are integers in the unit of their type. Fractions are exact and rounded once at the end.

mod calculator;
mod decimal;
mod driver;
mod formula;
mod headroom;
mod minimum;
mod split;

use alloc::sync::Arc;

use crate::resource::{Quantity, ResourceType, Resources, Sections};

pub use calculator::Calculator;
pub use decimal::Decimal;
pub use driver::{DriverRules, max_applications};
pub use headroom::{Bound, Headroom, Remaining, Tightest};
pub(crate) use minimum::MinimumShare;
pub use split::{Party, split};

use calculator::Ops;

/// Formula of the shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formula {
    /// As CapacityScheduler 2.7.3: splits the capacity if the usage is less than that, and otherwise the usage plus the
    /// ask.
    Yarn27,
    /// As CapacityScheduler 3: like 2.7.3 with the minimum allocation instead of the ask. Active users split their
    /// usage and one step more.
    Yarn3,
    /// Formula of Headroom: active users split the capacity that inactive users leave. If the usage of active users
    /// plus the ask is larger, they split that. At least one user is always below their share.
    #[default]
    Smooth,
}

impl Formula {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yarn27 => "yarn27",
            Self::Yarn3 => "yarn3",
            Self::Smooth => "smooth",
        }
    }
}

/// Condition under which an ask exceeds the limit of its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// The user is already above their share, or would exceed the cap.
    #[default]
    Progress,
    /// The user would exceed the limit.
    Strict,
    /// The user is already above the limit, as in CapacityScheduler.
    Overshoot,
}

impl Enforcement {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Strict => "strict",
            Self::Overshoot => "overshoot",
        }
    }
}

/// User-limit rules of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Formula of the shares.
    pub formula: Formula,
    /// Enforcement of the shares.
    pub enforcement: Enforcement,
    /// Comparison of resource vectors.
    pub calculator: Calculator,
    /// Smallest share of a user in percent (YARN's `minimum-user-limit-percent`).
    pub floor: Decimal,
    /// User cap as a multiple of the capacity (YARN's `user-limit-factor`). `None` if there is no cap.
    pub factor: Option<Decimal>,
    /// Step of the limits (YARN's minimum allocation). Types without a step are not rounded.
    pub step: Resources,
}

/// Defaults of CapacityScheduler: a floor of 100 % and a factor of 1.
impl Default for Rules {
    fn default() -> Self {
        Self {
            formula: Formula::default(),
            enforcement: Enforcement::default(),
            calculator: Calculator::default(),
            floor: Decimal::HUNDRED,
            factor: Some(Decimal::ONE),
            step: Resources::new(),
        }
    }
}

impl Rules {
    /// Rules of a leaf without user limits.
    pub(crate) const WITHOUT_SHARES: Self = Self {
        formula: Formula::Smooth,
        enforcement: Enforcement::Progress,
        calculator: Calculator::Componentwise,
        floor: Decimal::HUNDRED,
        factor: None,
        step: Resources::new(),
    };
}

/// State of a leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaf {
    /// Capacity of the partition.
    pub total: Resources,
    /// Guarantee of the queue (`Q`). An absent type is not split.
    pub guaranteed: Resources,
    /// Maximum of the queue (`Qmax`). An absent type is not limited.
    pub max: Resources,
    /// Usage of all its users (`U`).
    pub used: Resources,
    /// Usage of active users (`U_act`).
    pub used_active: Resources,
    /// Number of active users.
    pub active: u64,
    /// Sum of the weights of active users.
    pub active_weight: Decimal,
    /// Sum, by type, of the usage of users whose dominant share is in that type. See [`Rules::dominant`].
    pub dominant: Resources,
    /// Sections in which whole vectors are compared, one for each label. `None` if there is only one.
    pub sections: Option<Arc<Sections>>,
}

impl Leaf {
    /// Returns the state with one more active user, who has this weight and already this usage.
    #[must_use]
    pub fn joined_by(&self, weight: Decimal, used: &Resources) -> Self {
        let mut joined = self.clone();
        joined.active += 1;
        joined.active_weight = joined.active_weight.plus(weight);
        joined.used_active.add(used);
        joined
    }
}

/// Query for the share of a user.
#[derive(Clone, Copy, Debug)]
pub struct ShareQuery<'leaf> {
    /// Weight of the user.
    pub weight: Decimal,
    /// Users who split: active users, or all users. The latter is the mode of 3.x for preemption within a queue.
    pub among: Among,
    /// Ask to check (`r`).
    pub ask: &'leaf Resources,
}

/// Users who split a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Its active users.
    Active,
    /// All users with an application in the leaf, with the sum of their weights.
    All(Decimal),
}

/// Limit of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Fair share of the user. It can be exceeded if no other user needs the capacity.
    pub soft: Resources,
    /// User cap, which is never exceeded. An absent type is not limited.
    pub hard: Resources,
    /// Reported limit: the lower of both.
    pub limit: Resources,
}

/// A limit with its intermediate values, for explanations. The letters are those of user-headroom §2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitDerivation {
    /// Effective capacity of the queue (`q`): the guarantee, or the ask if that is larger. With `yarn3`, the minimum
    /// allocation replaces the ask.
    pub capacity: Resources,
    /// Usage of all users by their dominant shares, for `yarn3` only.
    pub consumed: Option<Resources>,
    /// Amount that is split by weight: `base` of `yarn3`, `B` of `smooth`, `C` of `yarn27`.
    pub base: Resources,
    /// Amount of which the floor is a percentage (`C`).
    pub whole: Resources,
    /// Equal share of the base (`a`). With `smooth`, times the weight of the user.
    pub equal: Resources,
    /// Smallest share (`b`). With `smooth`, times the weight of the user.
    pub floor: Resources,
    /// Cap by the factor. `None` if there is no factor.
    pub cap: Option<Resources>,
    /// Resulting limit.
    pub limit: Limit,
}

impl Rules {
    /// Returns the limit of a user of a leaf.
    pub fn limit(&self, leaf: &Leaf, part: ShareQuery<'_>) -> Limit {
        match self.formula {
            Formula::Yarn27 => formula::yarn27(self, leaf, part).limit,
            Formula::Yarn3 => formula::yarn3(self, leaf, part).limit,
            Formula::Smooth => formula::smooth(self, leaf, part),
        }
    }

    /// Returns the limit with its intermediate values.
    pub fn worked(&self, leaf: &Leaf, part: ShareQuery<'_>) -> LimitDerivation {
        match self.formula {
            Formula::Yarn27 => formula::yarn27(self, leaf, part),
            Formula::Yarn3 => formula::yarn3(self, leaf, part),
            Formula::Smooth => formula::smooth_worked(self, leaf, part),
        }
    }

    /// Returns the user cap for a user with this weight, which is [`Limit::hard`]. It does not depend on the usage of
    /// the leaf.
    pub fn cap(&self, leaf: &Leaf, weight: Decimal, ask: &Resources) -> Resources {
        match self.formula {
            Formula::Smooth => formula::smooth_cap(self, leaf, weight, ask),
            Formula::Yarn27 | Formula::Yarn3 => {
                self.limit(leaf, ShareQuery { weight, among: Among::Active, ask }).hard
            }
        }
    }

    /// Returns whether the ask would take a user with this usage beyond the cap.
    pub fn is_capped(
        &self,
        leaf: &Leaf,
        cap: &Resources,
        used: &Resources,
        ask: &Resources,
    ) -> bool {
        let ops = self.ops(leaf);
        !ops.is_within(&ops.sum(used, ask), cap, ask)
    }

    /// Returns whether the ask would take a user with this weight beyond the cap. Equals [`Rules::is_capped`] with
    /// [`Rules::cap`] at a lower cost.
    pub fn exceeds_cap(
        &self,
        leaf: &Leaf,
        weight: Decimal,
        used: &Resources,
        ask: &Resources,
    ) -> bool {
        if !self.is_by_type() {
            return self.is_capped(leaf, &self.cap(leaf, weight, ask), used, ask);
        }
        let mut needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        needed.any(|(resource, amount)| {
            let cap = formula::smooth_cap_of(self, leaf, weight, (resource, amount));
            cap.is_some_and(|cap| used.get_or_zero(resource).plus(amount) > cap)
        })
    }

    /// Returns [`Limit::soft`] of one type, for `smooth` only. `None` without a guarantee of the type.
    pub fn share_of(
        &self,
        leaf: &Leaf,
        part: ShareQuery<'_>,
        resource: ResourceType,
    ) -> Option<i64> {
        formula::smooth_share(self, leaf, part, resource)
    }

    /// Returns whether the shares of different types are independent of each other.
    pub(crate) fn is_by_type(&self) -> bool {
        self.formula == Formula::Smooth && self.calculator == Calculator::Componentwise
    }

    /// Returns whether a user can be picked according to shares. With `progress`, the user must not be above the share.
    /// Otherwise, the ask must be [admitted](Self::admits).
    pub fn is_turn(&self, leaf: &Leaf, limit: &Limit, used: &Resources, ask: &Resources) -> bool {
        match self.enforcement {
            Enforcement::Progress => self.ops(leaf).is_within(used, &limit.soft, ask),
            Enforcement::Strict | Enforcement::Overshoot => self.admits(leaf, limit, used, ask),
        }
    }

    /// Returns whether the limit admits an ask of a user with this usage.
    pub fn admits(&self, leaf: &Leaf, limit: &Limit, used: &Resources, ask: &Resources) -> bool {
        let ops = self.ops(leaf);
        let with_ask = ops.sum(used, ask);
        match self.enforcement {
            Enforcement::Progress => {
                ops.is_within(used, &limit.soft, ask) && ops.is_within(&with_ask, &limit.hard, ask)
            }
            Enforcement::Strict => ops.is_within(&with_ask, &limit.limit, ask),
            Enforcement::Overshoot => ops.is_within(used, &limit.limit, ask),
        }
    }

    /// Returns the counted size of an ask: a multiple of `increment`, at least the minimum allocation. An ask above the
    /// maximum allocation is refused elsewhere.
    pub fn normalised(&self, ask: &Resources, increment: &Resources) -> Resources {
        let raised = ask.maximum(&self.step);
        let mut result = raised.clone();
        for (resource, amount) in raised.iter() {
            let increment = increment.get_or_zero(resource).get();
            result.set(resource, Quantity::of(decimal::up(amount.get(), increment)));
        }
        result
    }

    /// Returns the part of a usage that is added to [`Leaf::dominant`]: the type with the largest share of the cluster,
    /// one for each section.
    pub fn dominant(&self, leaf: &Leaf, used: &Resources) -> Resources {
        self.ops(leaf).dominant(used)
    }

    fn ops<'leaf>(&self, leaf: &'leaf Leaf) -> Ops<'leaf> {
        let sections = leaf.sections.as_deref();
        Ops { calculator: self.calculator, total: &leaf.total, sections }
    }
}
