//! How much of a leaf queue one of its users may have: the elastic limits of YARN's
//! CapacityScheduler, and ours without their dead zones.
//!
//! A leaf's guaranteed capacity is split among its *active* users, those who wait for something.
//! Everybody gets an equal share of it by weight, but never less than a *floor* (percent), so that
//! the share shrinks only until the floor is reached; a *factor* bounds what one user may have at
//! all. What follows from the numbers is here, without books: [`Leaf`] and [`User`] say how things
//! are, [`Rules::limit`] what that allows. The three formulas differ in what they split.
//!
//! Amounts are integers of their type's unit, fractions are exact and rounded once, at the end.

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

/// What is split, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formula {
    /// As CapacityScheduler 2.7.3: the capacity below it; what is used and the ask at it and above.
    Yarn27,
    /// As CapacityScheduler 3: the same with the minimum allocation in place of the ask; active
    /// users split what they use and one step more.
    Yarn3,
    /// Ours: active users split the capacity that inactive users leave. If the active users' own
    /// use plus the ask is more, they split that. There is always one user below the share.
    #[default]
    Smooth,
}

impl Formula {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yarn27 => "yarn27",
            Self::Yarn3 => "yarn3",
            Self::Smooth => "smooth",
        }
    }
}

/// When an ask is beyond the limit of its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// If the user is above the share already, or would be above the cap.
    #[default]
    Progress,
    /// If the user would be above the limit.
    Strict,
    /// If the user is above the limit already, as CapacityScheduler does.
    Overshoot,
}

impl Enforcement {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Strict => "strict",
            Self::Overshoot => "overshoot",
        }
    }
}

/// What a leaf queue says of its users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What is split.
    pub formula: Formula,
    /// When an ask is too much.
    pub enforcement: Enforcement,
    /// How vectors are compared.
    pub calculator: Calculator,
    /// The least that a user's share may shrink to, in percent (YARN's
    /// `minimum-user-limit-percent`).
    pub floor: Decimal,
    /// How many times the capacity one user may have (YARN's `user-limit-factor`); none: no such
    /// bound.
    pub factor: Option<Decimal>,
    /// Limits are multiples of it (YARN's minimum allocation); types without are not rounded.
    pub step: Resources,
}

/// All of the capacity for everybody, nobody more than that: what CapacityScheduler does by
/// default.
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
    /// Those of a leaf that says nothing of its users.
    pub(crate) const WITHOUT_SHARES: Self = Self {
        formula: Formula::Smooth,
        enforcement: Enforcement::Progress,
        calculator: Calculator::Componentwise,
        floor: Decimal::HUNDRED,
        factor: None,
        step: Resources::new(),
    };
}

/// A leaf queue as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaf {
    /// All that the partition has.
    pub total: Resources,
    /// What the queue is guaranteed (`Q`). A type that is absent is not split.
    pub guaranteed: Resources,
    /// What the queue may have at most (`Qmax`); an absent type is not bounded.
    pub max: Resources,
    /// What all its users use (`U`).
    pub used: Resources,
    /// What those use who are active (`U_act`).
    pub used_active: Resources,
    /// How many are active.
    pub active: u64,
    /// Their weights together.
    pub active_weight: Decimal,
    /// The sums, by type, of what those use whose dominant share is in that type; see
    /// [`Rules::dominant`].
    pub dominant: Resources,
    /// The sections in which whole vectors are compared: those of labels; none where there is but one.
    pub sections: Option<Arc<Sections>>,
}

impl Leaf {
    /// The same with one more active user, of this weight, who uses this much of it already.
    #[must_use]
    pub fn joined_by(&self, weight: Decimal, used: &Resources) -> Self {
        let mut joined = self.clone();
        joined.active += 1;
        joined.active_weight = joined.active_weight.plus(weight);
        joined.used_active.add(used);
        joined
    }
}

/// Whose share is asked for.
#[derive(Clone, Copy, Debug)]
pub struct ShareQuery<'leaf> {
    /// The weight of the user.
    pub weight: Decimal,
    /// The weights of those who split: of the active users, or of all, which is the mode of 3.x
    /// that preemption within a queue uses.
    pub among: Among,
    /// The ask under test (`r`).
    pub ask: &'leaf Resources,
}

/// Who splits a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Its active users.
    Active,
    /// All users with an application in it, with their weights together.
    All(Decimal),
}

/// How much a user may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// The fair share of the user; fairness ends there, unless nobody else wants it.
    pub soft: Resources,
    /// Never more than that; an absent type is not bounded.
    pub hard: Resources,
    /// The limit that is reported: the lower of both.
    pub limit: Resources,
}

/// A limit with what it was worked out from, for those who want to see why. The letters are those
/// of user-headroom §2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitDerivation {
    /// What counts as the queue's capacity (`q`): the guarantee, or the ask where that is more; with
    /// `yarn3` the minimum allocation in place of the ask.
    pub capacity: Resources,
    /// What all users have, by their dominant shares; with `yarn3` alone.
    pub consumed: Option<Resources>,
    /// What is split by weight: `base` of `yarn3`, `B` of `smooth`, `C` of `yarn27`.
    pub base: Resources,
    /// What the floor is a part of (`C`).
    pub whole: Resources,
    /// An equal part of the base (`a`); with `smooth` as much of it as the user weighs.
    pub equal: Resources,
    /// The least that a share may be (`b`); with `smooth` as much of it as the user weighs.
    pub floor: Resources,
    /// What the factor allows; none where it allows anything.
    pub cap: Option<Resources>,
    /// What follows from it.
    pub limit: Limit,
}

impl Rules {
    /// How much a user of a leaf may have.
    pub fn limit(&self, leaf: &Leaf, part: ShareQuery<'_>) -> Limit {
        match self.formula {
            Formula::Yarn27 => formula::yarn27(self, leaf, part).limit,
            Formula::Yarn3 => formula::yarn3(self, leaf, part).limit,
            Formula::Smooth => formula::smooth(self, leaf, part),
        }
    }

    /// The same, with what it follows from.
    pub fn worked(&self, leaf: &Leaf, part: ShareQuery<'_>) -> LimitDerivation {
        match self.formula {
            Formula::Yarn27 => formula::yarn27(self, leaf, part),
            Formula::Yarn3 => formula::yarn3(self, leaf, part),
            Formula::Smooth => formula::smooth_worked(self, leaf, part),
        }
    }

    /// Never more than that for a user of this weight: [`Limit::hard`] alone. What the leaf uses does
    /// not change it.
    pub fn cap(&self, leaf: &Leaf, weight: Decimal, ask: &Resources) -> Resources {
        match self.formula {
            Formula::Smooth => formula::smooth_cap(self, leaf, weight, ask),
            Formula::Yarn27 | Formula::Yarn3 => {
                self.limit(leaf, ShareQuery { weight, among: Among::Active, ask }).hard
            }
        }
    }

    /// Whether the ask would take a user who uses this much beyond the cap.
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

    /// Whether the ask would take a user of this weight beyond the cap. It gives the result of
    /// [`Rules::is_capped`] with [`Rules::cap`] at a lower cost.
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

    /// [`Limit::soft`] under `smooth` alone, of one type; none where nothing of it is guaranteed.
    pub fn share_of(
        &self,
        leaf: &Leaf,
        part: ShareQuery<'_>,
        resource: ResourceType,
    ) -> Option<i64> {
        formula::smooth_share(self, leaf, part, resource)
    }

    /// Whether the share of one type says nothing of the others, and they nothing of it.
    pub(crate) fn is_by_type(&self) -> bool {
        self.formula == Formula::Smooth && self.calculator == Calculator::Componentwise
    }

    /// Whether it is a user's turn, according to shares. Under `progress` the user must not be
    /// above the share, else the user must be [admitted](Self::admits).
    pub fn is_turn(&self, leaf: &Leaf, limit: &Limit, used: &Resources, ask: &Resources) -> bool {
        match self.enforcement {
            Enforcement::Progress => self.ops(leaf).is_within(used, &limit.soft, ask),
            Enforcement::Strict | Enforcement::Overshoot => self.admits(leaf, limit, used, ask),
        }
    }

    /// Whether a user who uses this much may have the ask, according to the limit.
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

    /// What an ask is counted as: a multiple of `increment`, the minimum allocation at least. An ask
    /// above the maximum allocation is refused elsewhere.
    pub fn normalised(&self, ask: &Resources, increment: &Resources) -> Resources {
        let raised = ask.maximum(&self.step);
        let mut result = raised.clone();
        for (resource, amount) in raised.iter() {
            let increment = increment.get_or_zero(resource).get();
            result.set(resource, Quantity::of(decimal::up(amount.get(), increment)));
        }
        result
    }

    /// Where a user's usage is added to [`Leaf::dominant`]: the one type in which the user's share
    /// of the cluster is largest; of each section one.
    pub fn dominant(&self, leaf: &Leaf, used: &Resources) -> Resources {
        self.ops(leaf).dominant(used)
    }

    fn ops<'leaf>(&self, leaf: &'leaf Leaf) -> Ops<'leaf> {
        let sections = leaf.sections.as_deref();
        Ops { calculator: self.calculator, total: &leaf.total, sections }
    }
}
