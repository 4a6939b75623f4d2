//! `userlimits` of the queue file: the rules by which users share a leaf. Absent values are inherited. Source:
//! user-headroom §4.

use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;
use crate::userlimit::{Calculator, Decimal, Enforcement, Formula};

/// The block `userlimits` of one queue, template, or partition. Absent values are inherited.
///
/// Without a block in any queue on the path and in the partition, a leaf has no user limits. An empty block enables
/// them with defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct UserLimitsConfig {
    /// Formula of the shares.
    pub formula: Option<Formula>,
    /// Enforcement of the shares.
    pub enforcement: Option<Enforcement>,
    /// Comparison of resource vectors.
    pub calculator: Option<Calculator>,
    /// `minimumuserlimitpercent`: smallest fair share of a user.
    pub floor: Option<Decimal>,
    /// `userlimitfactor`: user cap as a multiple of the capacity.
    pub factor: Option<UserFactor>,
    /// Weights of named users, in the order of names and without duplicates. All other users have the weight 1.
    pub weights: Vec<(Name, Decimal)>,
    /// `minimumallocation`: smallest counted size of an ask, and step of the limits.
    pub minimum_allocation: Option<Amounts>,
    /// `increment`: asks count as multiples of it. `None` for the minimum allocation.
    pub increment: Option<Amounts>,
    /// `maximumallocation`: larger asks are refused.
    pub maximum_allocation: Option<Amounts>,
}

/// Configured `userlimitfactor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum UserFactor {
    /// Multiple of the capacity.
    Times(Decimal),
    /// No user cap, which is -1 in the file.
    Off,
}

impl UserLimitsConfig {
    /// Returns the values of this block, with those of the parent where absent. Weights are merged user by user.
    #[must_use]
    pub fn over(&self, above: &Self) -> Self {
        let amounts = |own: &Option<Amounts>, above: &Option<Amounts>| {
            own.as_ref().or(above.as_ref()).cloned()
        };
        Self {
            formula: self.formula.or(above.formula),
            enforcement: self.enforcement.or(above.enforcement),
            calculator: self.calculator.or(above.calculator),
            floor: self.floor.or(above.floor),
            factor: self.factor.or(above.factor),
            weights: nearer(&self.weights, &above.weights),
            minimum_allocation: amounts(&self.minimum_allocation, &above.minimum_allocation),
            increment: amounts(&self.increment, &above.increment),
            maximum_allocation: amounts(&self.maximum_allocation, &above.maximum_allocation),
        }
    }

    /// Returns the user cap as a multiple of the capacity. The default is 1. `None` if there is no user cap.
    pub const fn times(&self) -> Option<Decimal> {
        match self.factor {
            None => Some(Decimal::ONE),
            Some(UserFactor::Times(factor)) => Some(factor),
            Some(UserFactor::Off) => None,
        }
    }

    /// Returns all amounts of the block.
    pub fn amounts(&self) -> impl Iterator<Item = &Amounts> {
        [&self.minimum_allocation, &self.increment, &self.maximum_allocation].into_iter().flatten()
    }

    /// Returns the weight of a user. 1 without an entry for the user.
    pub fn weight(&self, user: &str) -> Decimal {
        let named = self.weights.binary_search_by(|(name, _)| (**name).cmp(user));
        named.map_or(Decimal::ONE, |place| self.weights[place].1)
    }
}

/// Merges both lists in the order of names. For a user in both lists, the first one counts.
fn nearer(own: &[(Name, Decimal)], above: &[(Name, Decimal)]) -> Vec<(Name, Decimal)> {
    let mut weights = Vec::with_capacity(own.len().max(above.len()));
    let mut above = above.iter().peekable();
    for one in own {
        while let Some(other) = above.next_if(|other| other.0 < one.0) {
            weights.push(other.clone());
        }
        above.next_if(|other| other.0 == one.0);
        weights.push(one.clone());
    }
    weights.extend(above.cloned());
    weights
}

/// Returns the effective settings of a queue with an optional own block and an optional parent block. `None` if there
/// are none.
pub fn inherited(
    own: Option<&UserLimitsConfig>,
    above: Option<&UserLimitsConfig>,
) -> Option<UserLimitsConfig> {
    match (own, above) {
        (Some(own), Some(above)) => Some(own.over(above)),
        (one, other) => one.or(other).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn the_nearer_block_wins_field_by_field_and_user_by_user() {
        let weight = |user: &str, weight| (Name::new(user), Decimal::whole(weight));
        let above = UserLimitsConfig {
            floor: Some(Decimal::whole(30)),
            factor: Some(UserFactor::Off),
            weights: vec![weight("ann", 2), weight("eve", 2)],
            ..UserLimitsConfig::default()
        };
        let own = UserLimitsConfig {
            floor: Some(Decimal::whole(50)),
            weights: vec![weight("bob", 3), weight("eve", 1)],
            ..UserLimitsConfig::default()
        };
        let both = inherited(Some(&own), Some(&above)).unwrap();
        assert_eq!((both.floor, both.factor), (Some(Decimal::whole(50)), Some(UserFactor::Off)));
        let weights = ["ann", "bob", "eve", "zoe"].map(|user| both.weight(user));
        assert_eq!(weights, [2, 3, 1, 1].map(Decimal::whole));
    }

    #[test]
    fn an_empty_block_is_a_block() {
        let empty = UserLimitsConfig::default();
        assert_eq!(inherited(None, None), None);
        assert_eq!(inherited(Some(&empty), None), Some(empty.clone()));
        assert_eq!(inherited(None, Some(&empty)), Some(empty));
    }
}
