//! Resource vectors with names: the form of commands, queue files and messages.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;

use super::{Quantity, base_of};

/// A sparse map from resource type name to amount, in name order, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Amounts(Vec<(Name, Quantity)>);

impl Amounts {
    /// No type named at all.
    pub const EMPTY: Self = Self(Vec::new());

    /// The amount of this type, if it is named.
    pub fn get(&self, resource: &str) -> Option<Quantity> {
        let position = self.0.binary_search_by(|(name, _)| (**name).cmp(resource)).ok()?;
        Some(self.0[position].1)
    }

    /// Name this type with this amount; the amount that it had before, if any.
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

    /// Types and amounts, in name order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, Quantity)> {
        self.0.iter().map(|(name, amount)| (name, *amount))
    }

    /// Whether no type is named. A named zero counts as named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many types are named.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The same types, each amount times `factor`, saturating.
    #[must_use]
    pub fn times(&self, factor: i64) -> Self {
        Self(self.0.iter().map(|(name, amount)| (name.clone(), amount.times(factor))).collect())
    }

    /// No amount below zero and at least one above.
    pub fn is_strictly_positive(&self) -> bool {
        let mut amounts = self.0.iter().map(|(_, amount)| *amount);
        amounts.clone().all(|amount| amount >= Quantity::ZERO)
            && amounts.any(|amount| amount > Quantity::ZERO)
    }
}

impl<N: Into<Name>> FromIterator<(N, Quantity)> for Amounts {
    /// Collect; of several amounts for one name the last one counts.
    fn from_iter<I: IntoIterator<Item = (N, Quantity)>>(entries: I) -> Self {
        let mut amounts = Self::EMPTY;
        for (name, amount) in entries {
            amounts.set(name, amount);
        }
        amounts
    }
}

impl<const COUNT: usize> From<[(&str, i64); COUNT]> for Amounts {
    /// Amounts in core units.
    fn from(entries: [(&str, i64); COUNT]) -> Self {
        entries.into_iter().map(|(name, amount)| (name, Quantity::of(amount))).collect()
    }
}

impl fmt::Display for Amounts {
    /// `{memory: 10 B, vcore: 500 m}`; `{}` when no type is named.
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

/// The unit to print behind an amount of this type, with a space; empty for counts.
fn unit_of(resource: &str) -> &'static str {
    match base_of(resource) {
        "vcore" => " m",
        "memory" => " B",
        _ => "",
    }
}

/// An amount as people write it: cores or thousandths of one, memory in the largest binary unit with two digits
/// behind the point at most, cut off there; counts as they are.
pub(crate) fn brief(resource: &str, amount: Quantity) -> String {
    const UNITS: [(&str, u32); 6] =
        [("Ei", 60), ("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];
    let units = amount.get();
    match base_of(resource) {
        "vcore" if units % 1_000 == 0 => (units / 1_000).to_string(),
        "vcore" => format!("{units}m"),
        "memory" => {
            let size = units.unsigned_abs();
            let Some((name, power)) = UNITS.into_iter().find(|(_, power)| size >> power > 0) else {
                return units.to_string();
            };
            let hundredths = (u128::from(size) * 100) >> power;
            let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            let text = text.trim_end_matches('0').trim_end_matches('.');
            format!("{}{text}{name}", if units < 0 { "-" } else { "" })
        }
        _ => units.to_string(),
    }
}

/// Amounts of one type as people write them; to the unit where that would make different ones look the same.
pub fn figures<const N: usize>(resource: &str, amounts: [Quantity; N]) -> [String; N] {
    let texts = amounts.map(|amount| brief(resource, amount));
    let differ = |(one, other): (usize, usize)| amounts[one] != amounts[other];
    let mut pairs = (0..N).flat_map(|one| (0..one).map(move |other| (one, other)));
    if pairs.any(|pair| differ(pair) && texts[pair.0] == texts[pair.1]) {
        return amounts.map(|amount| format!("{amount}{}", unit_of(resource)));
    }
    texts
}

/// Amounts of several types as people write them, beside others of the same types.
pub(crate) fn told<const N: usize>(types: &Amounts, beside: [&Amounts; N]) -> [String; N] {
    let mut texts = [const { String::new() }; N];
    for (name, _) in types.iter() {
        let figures = figures(name, beside.map(|one| one.get(name).unwrap_or_default()));
        for (text, figure) in texts.iter_mut().zip(figures) {
            if !text.is_empty() {
                *text += ", ";
            }
            text.extend([name, " ", &*figure]);
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_amounts_have_the_units_that_people_use() {
        for (resource, units, expected) in [
            ("vcore", 6_000, "6"),
            ("vcore", 6_500, "6500m"),
            ("vcore@gpu", -2_000, "-2"),
            ("memory", 412_316_860_416, "384Gi"),
            ("memory", 3 << 29, "1.5Gi"),
            ("memory", (1 << 30) - 1, "1023.99Mi"),
            ("memory@gpu", 1_023, "1023"),
            ("memory", -(5 << 60), "-5Ei"),
            ("memory", 0, "0"),
            ("nvidia.com/gpu", 5_000, "5000"),
        ] {
            assert_eq!(brief(resource, Quantity::of(units)), expected, "{units} of {resource}");
        }
    }

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
