//! `userlimits` of the queue file: how the users of a leaf share it. What a queue does not say it
//! has from above. Source: user-headroom §4.

use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;
use crate::userlimit::{Calculator, Decimal, Enforcement, Formula};

/// The block `userlimits` of one queue, template or partition; what is absent is inherited.
///
/// Where no queue up to the root, nor the partition, has the block, the leaf has no user limits. An
/// empty block switches them on as by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct UserLimitsConfig {
    /// What is split.
    pub formula: Option<Formula>,
    /// When an ask is beyond the limit of its user.
    pub enforcement: Option<Enforcement>,
    /// How vectors are compared.
    pub calculator: Option<Calculator>,
    /// `minimumuserlimitpercent`: the least that a user's share may shrink to.
    pub floor: Option<Decimal>,
    /// `userlimitfactor`: how many times the capacity one user may have.
    pub factor: Option<UserFactor>,
    /// The weights of named users, in name order, each once; all others have one.
    pub weights: Vec<(Name, Decimal)>,
    /// `minimumallocation`: an ask counts as this much at least, and limits are multiples of it.
    pub minimum_allocation: Option<Amounts>,
    /// `increment`: asks count as multiples of it; absent: of the minimum allocation.
    pub increment: Option<Amounts>,
    /// `maximumallocation`: larger asks are refused.
    pub maximum_allocation: Option<Amounts>,
}

/// `userlimitfactor` as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum UserFactor {
    /// So many times the capacity.
    Times(Decimal),
    /// No such bound; -1 in the file.
    Off,
}

impl UserLimitsConfig {
    /// This block over an inherited one: field by field, and of the weights user by user, the nearer
    /// wins.
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

    /// How many times the capacity one user may have. Once where nothing is configured, none where
    /// there is no such bound.
    pub const fn times(&self) -> Option<Decimal> {
        match self.factor {
            None => Some(Decimal::ONE),
            Some(UserFactor::Times(factor)) => Some(factor),
            Some(UserFactor::Off) => None,
        }
    }

    /// All amounts that it names.
    pub fn amounts(&self) -> impl Iterator<Item = &Amounts> {
        [&self.minimum_allocation, &self.increment, &self.maximum_allocation].into_iter().flatten()
    }

    /// The weight of a user: one unless there is an entry for the user.
    pub fn weight(&self, user: &str) -> Decimal {
        let named = self.weights.binary_search_by(|(name, _)| (**name).cmp(user));
        named.map_or(Decimal::ONE, |place| self.weights[place].1)
    }
}

/// Both lists in one, in the order of names; where both name a user, the first counts.
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

/// What is in force where there may be a block here and one above; none where there is none.
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
