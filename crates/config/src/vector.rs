//! Resource vectors with the place of each amount.

use std::collections::BTreeMap;

use headroom_core::resource::{Amounts, Quantity, QuantityError, base_of, exact};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span, Stage};
use crate::raw::{Pairs, Text};

/// An amount with the place of its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) amount: Quantity,
    pub(crate) span: Span,
}

/// Amounts by type. A type that is not named is absent, not zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vector(BTreeMap<String, Measure>);

/// A type whose amount exceeds what is available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excess<'v> {
    pub(crate) resource: &'v str,
    pub(crate) wanted: Measure,
    pub(crate) room: Measure,
}

impl Vector {
    /// Returns the quantities of a mapping. Omits invalid quantities, which [`report_quantities`] reports.
    pub(crate) fn of(pairs: Option<&Pairs>) -> Self {
        let entries = pairs.into_iter().flat_map(|pairs| &pairs.value);
        let parsed = entries.filter_map(|(name, text)| {
            let amount = Quantity::parse(&name.value, &text.value).ok()?;
            let span = text.span;
            Some((name.value.clone(), Measure { amount, span }))
        });
        Self(parsed.collect())
    }

    /// Returns amounts that are not in the file, with this place.
    pub(crate) fn at(span: Span, amounts: &Amounts) -> Self {
        let entries = amounts.iter();
        Self(entries.map(|(name, amount)| (name.to_string(), Measure { amount, span })).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Measure)> {
        self.0.iter().map(|(name, measure)| (name.as_str(), *measure))
    }

    /// Returns the amount of this type. `None` if the mapping does not name the type.
    pub(crate) fn get(&self, resource: &str) -> Option<Measure> {
        self.0.get(resource).copied()
    }

    /// Adds the amounts of all types, saturating. The place of each sum is the place of one of its summands.
    pub(crate) fn add(&mut self, mut other: Self) {
        // The larger one is reused, so that sums in a deep tree are cheap.
        if other.0.len() > self.0.len() {
            std::mem::swap(self, &mut other);
        }
        for (name, theirs) in other.0 {
            match self.0.get_mut(&name) {
                Some(mine) => mine.amount = mine.amount.plus(theirs.amount),
                None => {
                    self.0.insert(name, theirs);
                }
            }
        }
    }

    /// Returns whether every amount is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.values().all(|measure| measure.amount == Quantity::ZERO)
    }

    /// Returns the amounts without their places.
    pub(crate) fn amounts(&self) -> Amounts {
        self.iter().map(|(name, measure)| (name, measure.amount)).collect()
    }
}

/// Returns the smallest of several amounts, as `ComponentWiseMin` does along a path. If several are smallest, returns
/// the last.
pub(crate) fn smallest(amounts: impl Iterator<Item = Measure>) -> Option<Measure> {
    amounts.reduce(|least, next| if next.amount <= least.amount { next } else { least })
}

/// Returns the types of `wanted` that exceed the available amounts, as `FitInMaxUndef` does. Never returns a type
/// without a limit.
pub(crate) fn excesses<'v>(
    room: impl Fn(&str) -> Option<Measure> + 'v,
    wanted: &'v Vector,
) -> impl Iterator<Item = Excess<'v>> + 'v {
    wanted.iter().filter_map(move |(resource, wanted)| {
        let room = room(resource)?;
        (wanted.amount > room.amount).then_some(Excess { resource, wanted, room })
    })
}

/// Reports every text of `pairs` that is not a quantity, as found at `stage`.
pub(crate) fn report_quantities(pairs: Option<&Pairs>, stage: Stage, report: &mut Report) {
    for (name, text) in pairs.into_iter().flat_map(|pairs| &pairs.value) {
        if let Err(error) = Quantity::parse(&name.value, &text.value) {
            report.push(fault(name, text, error).at_stage(stage));
        }
    }
}

fn fault(name: &Text, text: &Text, error: QuantityError) -> Diagnostic {
    let (code, help) = match error {
        QuantityError::Syntax => (
            Code::QuantitySyntax,
            "write digits and at most one suffix, such as 500m for vcore, 16Gi for memory, or 4",
        ),
        QuantityError::Overflow => (Code::QuantityOverflow, "write a smaller amount"),
        QuantityError::Suffix if text.value.trim_end().ends_with('m') => {
            (Code::QuantitySuffix, "remove the suffix `m`; only vcore has thousandths")
        }
        QuantityError::Suffix => (
            Code::QuantitySuffix,
            "write the suffix as one of k M G T P E, or Ki Mi Gi Ti Pi Ei; suffixes are \
             case-sensitive",
        ),
    };
    let message = if text.value.is_empty() {
        format!("{} has no amount", name.value)
    } else {
        format!("`{}` is not a valid amount of {}: {error}", text.value, name.value)
    };
    Diagnostic::error(code, text.span, message).help(help)
}

/// Returns an amount with its unit for a sentence: `1500m vcore`, `40Gi of memory`, `4 pods`.
pub(crate) fn show(resource: &str, amount: Quantity) -> String {
    let text = exact(resource, amount);
    match base_of(resource) {
        "memory" if text.ends_with(|last: char| last.is_ascii_digit()) => {
            format!("{text} bytes of {resource}")
        }
        "memory" => format!("{text} of {resource}"),
        _ => format!("{text} {resource}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_as_one_would_write_them() {
        for (resource, amount, written, shown) in [
            ("vcore", 2_000, "2", "2 vcore"),
            ("vcore", 1_500, "1500m", "1500m vcore"),
            ("memory", 0, "0", "0 bytes of memory"),
            ("memory", 1_500, "1500", "1500 bytes of memory"),
            ("memory", 40 << 30, "40Gi", "40Gi of memory"),
            ("memory", 3_000_000, "3M", "3M of memory"),
            ("pods", 1_024, "1024", "1024 pods"),
            ("vcore@gpu", 1_500, "1500m", "1500m vcore@gpu"),
            ("memory@gpu", 2 << 30, "2Gi", "2Gi of memory@gpu"),
        ] {
            let quantity = Quantity::of(amount);
            assert_eq!(exact(resource, quantity), written);
            assert_eq!(show(resource, quantity), shown);
            assert_eq!(Quantity::parse(resource, written), Ok(quantity));
        }
    }
}
