//! Values of the block `userlimits`: words and numbers, with their rules.

use headroom_core::Name;
use headroom_core::config::{UserFactor, UserLimitsConfig};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};

use crate::raw::{Pairs, Text, UserLimits};
use crate::vector::Vector;

/// Values of `formula`.
pub(crate) const FORMULAS: [(&str, Formula); 3] = [
    (Formula::Smooth.word(), Formula::Smooth),
    (Formula::Yarn3.word(), Formula::Yarn3),
    (Formula::Yarn27.word(), Formula::Yarn27),
];

/// Values of `enforcement`.
pub(crate) const ENFORCEMENTS: [(&str, Enforcement); 3] = [
    (Enforcement::Progress.word(), Enforcement::Progress),
    (Enforcement::Strict.word(), Enforcement::Strict),
    (Enforcement::Overshoot.word(), Enforcement::Overshoot),
];

/// Values of `calculator`.
pub(crate) const CALCULATORS: [(&str, Calculator); 3] = [
    (Calculator::Componentwise.word(), Calculator::Componentwise),
    (Calculator::Dominant.word(), Calculator::Dominant),
    (Calculator::Memory.word(), Calculator::Memory),
];

/// Returns the meaning of a word. `None` if the word is unknown.
pub(crate) fn meaning<T: Copy>(words: &[(&str, T)], text: &Text) -> Option<T> {
    words.iter().find(|(word, _)| *word == text.value).map(|(_, meaning)| *meaning)
}

/// Rule of [`percent`].
pub const PERCENT: &str = "it must be 0 or from 1 to 100, with up to six decimals";
/// Rule of [`factor`].
pub const FACTOR: &str = "it must be -1, or above 0 and at most 1000000, with up to six decimals";
/// Rule of [`weight`].
pub const WEIGHT: &str = "it must be 0 or more, with up to six decimals";

/// Parses a decimal number. Rejects a leading zero, because YAML then interprets the number differently.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let whole = text.split('.').next().unwrap_or_default();
    let is_plain = whole.len() == 1 || !whole.starts_with('0');
    Decimal::parse(text).filter(|_| is_plain)
}

/// Parses a value of `minimumuserlimitpercent`. `None` if the value is not valid.
pub fn percent(text: &str) -> Option<Decimal> {
    let legal = |percent: &Decimal| {
        *percent == Decimal::ZERO || (Decimal::ONE..=Decimal::HUNDRED).contains(percent)
    };
    decimal(text).filter(legal)
}

/// Parses a value of `userlimitfactor`. `None` if the value is not valid.
pub fn factor(text: &str) -> Option<UserFactor> {
    if matches!(text, "-1" | "-1.0") {
        return Some(UserFactor::Off);
    }
    decimal(text).filter(|times| *times > Decimal::ZERO).map(UserFactor::Times)
}

/// Parses the weight of a user, without a check against the percentage. `None` if the weight is not valid.
pub fn weight(text: &str) -> Option<Decimal> {
    decimal(text)
}

/// Returns the settings of a valid block.
pub(crate) fn build(from: &UserLimits) -> UserLimitsConfig {
    let amounts =
        |pairs: &Option<Pairs>| pairs.as_ref().map(|pairs| Vector::of(Some(pairs)).amounts());
    let of_user =
        |(user, text): &(Text, Text)| Some((Name::new(&user.value), weight(&text.value)?));
    let mut weights: Vec<(Name, Decimal)> = from.weights.iter().filter_map(of_user).collect();
    weights.sort();
    UserLimitsConfig {
        formula: from.formula.as_ref().and_then(|text| meaning(&FORMULAS, text)),
        enforcement: from.enforcement.as_ref().and_then(|text| meaning(&ENFORCEMENTS, text)),
        calculator: from.calculator.as_ref().and_then(|text| meaning(&CALCULATORS, text)),
        floor: from.floor.as_ref().and_then(|text| percent(&text.value)),
        factor: from.factor.as_ref().and_then(|text| factor(&text.value)),
        weights,
        minimum_allocation: amounts(&from.minimum_allocation),
        increment: amounts(&from.increment),
        maximum_allocation: amounts(&from.maximum_allocation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_look_like_or_none() {
        for (written, expected) in [
            ("0", Some(0)),
            ("0.5", Some(500_000)),
            ("30", Some(30_000_000)),
            ("33.333333", Some(33_333_333)),
            ("030", None),
            ("+3", None),
            ("1_0", None),
            ("0x1F", None),
            ("1e2", None),
            (".5", None),
            ("0.1234567", None),
            ("1000001", None),
            ("", None),
        ] {
            let found = decimal(written).map(Decimal::millionths);
            assert_eq!(found, expected, "reading {written}");
        }
        assert_eq!(factor("-1"), Some(UserFactor::Off));
        assert_eq!(factor("2.5"), Decimal::parse("2.5").map(UserFactor::Times));
        for none in ["0", "-2", "-1.5", "x"] {
            assert_eq!(factor(none), None, "reading {none}");
        }
        for (written, expected) in [
            ("0", true),
            ("0.5", false),
            ("1", true),
            ("33.3", true),
            ("100", true),
            ("100.000001", false),
            ("-1", false),
        ] {
            assert_eq!(percent(written).is_some(), expected, "reading {written}");
        }
    }
}
