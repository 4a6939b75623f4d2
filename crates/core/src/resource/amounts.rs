//! Resource vectors with names, for commands, queue files, and messages.

use alloc::vec::Vec;
use core::fmt;

use smallvec::SmallVec;

use crate::name::Name;

use super::Quantity;
use super::text::unit_of;

/// Sparse map from the names of resource types to amounts, in the order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Amounts(Vec<(Name, Quantity)>);

impl Amounts {
    /// Empty map.
    pub const EMPTY: Self = Self(Vec::new());

    /// Returns the amount of a type. `None` if it is absent.
    pub fn get(&self, resource: &str) -> Option<Quantity> {
        let position = self.0.binary_search_by(|(name, _)| (**name).cmp(resource)).ok()?;
        Some(self.0[position].1)
    }

    /// Sets the amount of a type. Returns the previous amount.
    pub fn set(&mut self, resource: impl Into<Name>, amount: Quantity) -> Option<Quantity> {
        let resource = resource.into();
        match self.0.binary_search_by(|(name, _)| name.cmp(&resource)) {
            Ok(position) => Some(core::mem::replace(&mut self.0[position].1, amount)),
            Err(position) => {
                self.0.insert(position, (resource, amount));
                None
            }
        }
    }

    /// Returns types and amounts, in the order of names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, Quantity)> {
        self.0.iter().map(|(name, amount)| (name, *amount))
    }

    /// Returns whether no type is present. A type with amount zero is present.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of types.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns each amount times `factor`, saturating.
    #[must_use]
    pub fn times(&self, factor: i64) -> Self {
        Self(self.0.iter().map(|(name, amount)| (name.clone(), amount.times(factor))).collect())
    }

    /// Returns whether no amount is negative and at least one is positive.
    pub fn is_strictly_positive(&self) -> bool {
        let mut amounts = self.0.iter().map(|(_, amount)| *amount);
        amounts.clone().all(|amount| amount >= Quantity::ZERO)
            && amounts.any(|amount| amount > Quantity::ZERO)
    }
}

impl<N: Into<Name>> FromIterator<(N, Quantity)> for Amounts {
    /// Collects amounts. The last of several amounts for one name counts.
    fn from_iter<I: IntoIterator<Item = (N, Quantity)>>(entries: I) -> Self {
        // The feed stores many amounts, so the list has no spare capacity.
        let mut sorted = SmallVec::<[(Name, Quantity); 8]>::new();
        for (name, amount) in entries {
            let name = name.into();
            match sorted.binary_search_by(|(one, _)| one.cmp(&name)) {
                Ok(position) => sorted[position].1 = amount,
                Err(position) => sorted.insert(position, (name, amount)),
            }
        }
        Self(sorted.into_iter().collect())
    }
}

impl<const COUNT: usize> From<[(&str, i64); COUNT]> for Amounts {
    /// Creates amounts in core units.
    fn from(entries: [(&str, i64); COUNT]) -> Self {
        entries.into_iter().map(|(name, amount)| (name, Quantity::of(amount))).collect()
    }
}

impl fmt::Display for Amounts {
    /// Formats as `{memory: 10 B, vcore: 500 m}`, or `{}` without types.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("{")?;
        for (position, (name, amount)) in self.0.iter().enumerate() {
            if position > 0 {
                out.write_str(", ")?;
            }
            write!(out, "{name}: {amount}{}", unit_of(name))?;
        }
        out.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique_and_the_last_amount_counts() {
        let amounts = Amounts::from([("vcore", 5), ("memory", 1), ("vcore", 7)]);
        assert_eq!(amounts.len(), 2);
        assert_eq!(alloc::format!("{amounts}"), "{memory: 1 B, vcore: 7 m}");
        assert_eq!(amounts.get("gpu"), None);
    }

    #[test]
    fn strictly_positive_needs_one_above_and_none_below_zero() {
        for (amounts, expected) in [
            (Amounts::EMPTY, false),
            (Amounts::from([("a", 0)]), false),
            (Amounts::from([("a", 1), ("b", 0)]), true),
            (Amounts::from([("a", 1), ("b", -1)]), false),
        ] {
            assert_eq!(amounts.is_strictly_positive(), expected, "{amounts}");
        }
    }
}
