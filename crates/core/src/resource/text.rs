//! Formatting of amounts for people.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::{Amounts, Quantity, base_of};

/// Binary units of memory, largest first.
const BINARY: [(&str, u32); 6] =
    [("Ei", 60), ("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];

/// Units of memory in a queue file, largest first.
const EXACT: [(&str, i64); 11] = [
    ("Pi", 1 << 50),
    ("P", 1_000_000_000_000_000),
    ("Ti", 1 << 40),
    ("T", 1_000_000_000_000),
    ("Gi", 1 << 30),
    ("G", 1_000_000_000),
    ("Mi", 1 << 20),
    ("M", 1_000_000),
    ("Ki", 1 << 10),
    ("k", 1_000),
    ("", 1),
];

/// Largest number for which the exact unit is used. For larger numbers, a larger unit is used even if it loses digits.
const READABLE: u64 = 1_000_000;

/// Kind of the numbers of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Thousandths of a core.
    Cores,
    /// Bytes.
    Bytes,
    /// Counts.
    Count,
}

fn kind_of(resource: &str) -> Kind {
    match base_of(resource) {
        "vcore" => Kind::Cores,
        "memory" | "ephemeral-storage" => Kind::Bytes,
        base if base.starts_with("hugepages-") => Kind::Bytes,
        _ => Kind::Count,
    }
}

/// Returns the unit to print after an amount in core units, with a leading space. Empty for counts.
pub(super) fn unit_of(resource: &str) -> &'static str {
    match kind_of(resource) {
        Kind::Cores => " m",
        Kind::Bytes => " B",
        Kind::Count => "",
    }
}

/// Returns the exact amount in the format of a queue file, in the largest unit without a remainder: `1500m`, `40Gi`,
/// `3`.
pub fn exact(resource: &str, amount: Quantity) -> String {
    let units = amount.get();
    match kind_of(resource) {
        Kind::Cores if units % 1_000 == 0 => (units / 1_000).to_string(),
        Kind::Cores => format!("{units}m"),
        Kind::Bytes if units != 0 => {
            let mut known = EXACT.into_iter();
            let (name, factor) = known.find(|(_, factor)| units % factor == 0).unwrap_or(("", 1));
            format!("{}{name}", units / factor)
        }
        Kind::Bytes | Kind::Count => units.to_string(),
    }
}

/// Common unit for amounts of one type that are compared.
///
/// It is the largest unit in which no amount loses a digit, if the numbers stay short. Otherwise, it is the largest
/// unit in which different amounts have different texts, and only zero is shown as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(Written);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// Cores, such as `4`.
    Cores,
    /// Thousandths of a core, such as `500m`.
    Thousandths,
    /// A binary unit, such as `7.45Gi`: at most two digits after the point, truncated.
    Binary(&'static str, u32),
    /// Bytes, such as `100 B`.
    Bytes,
    /// Counts, such as `3`, and memory of less than 1 Ki.
    Count,
}

impl Unit {
    /// Returns the common unit of these amounts.
    pub fn of(resource: &str, amounts: &[Quantity]) -> Self {
        let all = || amounts.iter().map(|amount| amount.get());
        Self(match kind_of(resource) {
            Kind::Cores if all().all(|units| units % 1_000 == 0) => Written::Cores,
            Kind::Cores => Written::Thousandths,
            Kind::Bytes => of_bytes(amounts),
            Kind::Count => Written::Count,
        })
    }

    /// Formats an amount in this unit.
    pub fn write(self, amount: Quantity) -> String {
        let units = amount.get();
        match self.0 {
            _ if units == 0 => String::from("0"),
            Written::Cores => (units / 1_000).to_string(),
            Written::Thousandths => format!("{units}m"),
            Written::Binary(name, power) => {
                let hundredths = hundredths(units, power);
                let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
                let text = text.trim_end_matches('0').trim_end_matches('.');
                format!("{}{text}{name}", if units < 0 { "-" } else { "" })
            }
            Written::Bytes => format!("{units} B"),
            Written::Count => units.to_string(),
        }
    }
}

/// Formats amounts of one type in a common unit: `2000m` and `1500m`, `64Gi` and `7.45Gi`.
pub fn format_quantities<const N: usize>(resource: &str, amounts: [Quantity; N]) -> [String; N] {
    let unit = Unit::of(resource, &amounts);
    amounts.map(|amount| unit.write(amount))
}

fn of_bytes(amounts: &[Quantity]) -> Written {
    let sizes = || amounts.iter().map(|amount| amount.get());
    let largest = sizes().map(i64::unsigned_abs).max().unwrap_or(0);
    let fits = |(_, power): &(&str, u32)| largest >> power > 0;
    let all = || BINARY.into_iter().filter(fits);
    let is_exact = |power: u32| {
        sizes().all(|units| {
            hundredths(units, power) << power == u128::from(units.unsigned_abs()) * 100
        })
    };
    let is_clear = |power: u32| {
        let mut sorted: Vec<i64> = sizes().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let shown = |units: i64| (units < 0, hundredths(units, power));
        sorted.iter().all(|units| *units == 0 || shown(*units).1 > 0)
            && sorted.windows(2).all(|pair| shown(pair[0]) != shown(pair[1]))
    };
    let exactly = all().find(|(_, power)| is_exact(*power) && largest >> power < READABLE);
    match exactly.or_else(|| all().find(|(_, power)| is_clear(*power))) {
        Some((name, power)) => Written::Binary(name, power),
        None if largest < 1 << 10 => Written::Count,
        None => Written::Bytes,
    }
}

fn hundredths(units: i64, power: u32) -> u128 {
    (u128::from(units.unsigned_abs()) * 100) >> power
}

/// Formats amounts of several types in common units with others of the same types.
pub(crate) fn format_amounts<const N: usize>(
    types: &Amounts,
    compared: [&Amounts; N],
) -> [String; N] {
    let mut texts = [const { String::new() }; N];
    for (name, _) in types.iter() {
        let figures =
            format_quantities(name, compared.map(|one| one.get(name).unwrap_or_default()));
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
    fn one_amount_has_the_unit_that_people_use() {
        for (resource, units, expected) in [
            ("vcore", 6_000, "6"),
            ("vcore", 6_500, "6500m"),
            ("vcore@gpu", -2_000, "-2"),
            ("memory", 412_316_860_416, "384Gi"),
            ("memory", 3 << 29, "1.5Gi"),
            ("memory", 8_000_000_000, "7.45Gi"),
            ("memory", 500 << 20, "500Mi"),
            ("memory", (1 << 30) - 1, "1023.99Mi"),
            ("memory@gpu", 1_023, "1023"),
            ("memory", -(5 << 60), "-5Ei"),
            ("memory", i64::MIN, "-7.99Ei"),
            ("memory", 0, "0"),
            ("ephemeral-storage", 1 << 40, "1Ti"),
            ("hugepages-2Mi", 4 << 20, "4Mi"),
            ("nvidia.com/gpu", 5_000, "5000"),
        ] {
            assert_eq!(
                format_quantities(resource, [Quantity::of(units)]),
                [expected],
                "{units} of {resource}"
            );
        }
    }

    #[test]
    fn both_sides_of_a_comparison_have_one_unit() {
        for (resource, units, expected) in [
            ("vcore", [2_000, 1_500], ["2000m", "1500m"]),
            ("vcore", [0, 1_500], ["0", "1500m"]),
            ("vcore", [64_000, 2_000], ["64", "2"]),
            ("memory", [64 << 30, 500 << 20], ["65536Mi", "500Mi"]),
            ("memory", [64 << 30, 512 << 20], ["64Gi", "0.5Gi"]),
            ("memory", [16 << 30, 8_000_000_000], ["16Gi", "7.45Gi"]),
            ("memory", [1 << 40, 500 << 20], ["1024Gi", "0.48Gi"]),
            ("memory", [1 << 50, 1], ["1125899906842624 B", "1 B"]),
            ("memory", [(1 << 30) + 1, 1 << 30], ["1073741825 B", "1073741824 B"]),
            ("memory", [0, 1 << 30], ["0", "1Gi"]),
            ("memory", [100, 50], ["100", "50"]),
            ("nvidia.com/gpu", [8, 4_000], ["8", "4000"]),
        ] {
            assert_eq!(
                format_quantities(resource, units.map(Quantity::of)),
                expected,
                "{units:?} of {resource}"
            );
        }
    }

    #[test]
    fn an_exact_amount_is_read_as_the_same() {
        for (resource, units, expected) in [
            ("vcore", 2_000, "2"),
            ("vcore", 1_500, "1500m"),
            ("memory", 0, "0"),
            ("memory", 1_500, "1500"),
            ("memory", 40 << 30, "40Gi"),
            ("memory", 3_000_000, "3M"),
            ("memory", 8_000_000_000, "8G"),
            ("memory", i64::MAX, "9223372036854775807"),
            ("pods", 1_024, "1024"),
            ("memory@gpu", 2 << 30, "2Gi"),
        ] {
            let amount = Quantity::of(units);
            assert_eq!(exact(resource, amount), expected, "{units} of {resource}");
            assert_eq!(Quantity::parse(resource, expected), Ok(amount));
        }
    }
}
