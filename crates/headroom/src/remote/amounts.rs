//! Amounts and times in the form that people write.

use std::fmt::Write as _;
use std::str::FromStr;

use headroom_api::headroomv1::{Amount, display_amount};
use headroom_api::wsv1::Resources;
use headroom_core::resource::{Quantity, format_quantities};

/// `TYPE=AMOUNT` on a command line. `none` means no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Name of the resource type or key.
    pub(crate) name: String,
    /// The amount in the form of the API. `None` for `none`.
    pub(crate) value: Option<String>,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                let value = (value != "none").then(|| value.to_owned());
                Ok(Self { name: name.to_owned(), value })
            }
            _ => Err("use the form NAME=AMOUNT, such as `memory=200G`".to_owned()),
        }
    }
}

/// Returns the exact amount of a type, in the form of a command line. Empty for `None`.
pub(crate) fn exact(name: &str, units: Option<&i64>) -> String {
    units.map(|units| display_amount(name, *units)).unwrap_or_default()
}

/// Returns an amount of the API in the form of a command line.
pub(crate) fn amount(name: &str, amount: &Amount) -> String {
    match amount {
        Amount::Units(units) => display_amount(name, *units),
        Amount::Text(text) => text.clone(),
    }
}

/// Returns names with their amounts, `vcore` and `memory` first.
pub(crate) fn list<'a>(amounts: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut named: Vec<_> = amounts.collect();
    named.sort_by_key(|(name, _)| (*name != "vcore", *name != "memory"));
    let texts = named.iter().map(|(name, text)| format!("{name} {text}"));
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns amounts such as `vcore 4, memory 16Gi, nvidia.com/gpu 2`, with `vcore` and `memory` first. Empty without
/// amounts.
pub(crate) fn resources(amounts: &Resources) -> String {
    let first = |name: &str| match name {
        "vcore" => 0,
        "memory" => 1,
        _ => 2,
    };
    let mut named: Vec<(&String, &i64)> = amounts.0.iter().collect();
    named.sort_by_key(|(name, _)| (first(name), *name));
    let mut text = String::new();
    for (name, value) in named {
        let separator = if text.is_empty() { "" } else { ", " };
        let [figure] = format_quantities(name, [Quantity::of(*value)]);
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{name} {figure}");
    }
    text
}

/// Returns the time between two points in nanoseconds, in its two largest units, such as `2d 3h` or `45s`. Empty if
/// `begin` is 0.
pub(crate) fn since(begin: i64, now: i64) -> String {
    const UNITS: [(&str, i64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    if begin == 0 {
        return String::new();
    }
    let mut left = now.saturating_sub(begin).max(0) / 1_000_000_000;
    let mut parts = Vec::new();
    for (name, seconds) in UNITS {
        let count = left / seconds;
        left %= seconds;
        if count > 0 || (name == "s" && parts.is_empty()) {
            parts.push(format!("{count}{name}"));
        } else if !parts.is_empty() {
            break;
        }
        if parts.len() == 2 {
            break;
        }
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_units_that_people_use() {
        let amounts = [
            ("memory", 3 << 29),
            ("vcore", 4_500),
            ("nvidia.com/gpu", 2),
            ("hugepages-2Mi", 4 << 20),
        ];
        let amounts = amounts.into_iter().map(|(name, value)| (name.to_owned(), value));
        let text = resources(&Resources(amounts.collect()));
        assert_eq!(text, "vcore 4500m, memory 1.5Gi, hugepages-2Mi 4Mi, nvidia.com/gpu 2");
        assert_eq!(resources(&Resources::default()), "");
    }

    #[test]
    fn times_have_two_units() {
        let text = |seconds: i64| since(1, 1 + seconds * 1_000_000_000);
        let texts = [0, 59, 60, 3_601, 90_000].map(text);
        assert_eq!(texts, ["0s", "59s", "1m", "1h", "1d 1h"]);
        assert_eq!((since(0, 5), since(9, 5)), (String::new(), "0s".to_owned()));
    }
}
