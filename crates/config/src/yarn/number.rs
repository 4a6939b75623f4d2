//! Parses numbers and amounts of Hadoop files, without floating point arithmetic.

use std::fmt;

use headroom_core::userlimit::Decimal;

use super::xml::shown;

/// Maximum number of decimals of a number in the queue file.
const DECIMALS: usize = 6;
/// Maximum number of digits of a number.
const DIGITS_MAX: usize = 40;

/// A number that a queue file can have: up to six decimals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) is_negative: bool,
    /// Digits without sign, leading zeros, and trailing zeros.
    digits: String,
    /// Whether the original had more decimals.
    pub(super) is_rounded: bool,
}

impl Number {
    /// Parses a decimal number of Java: `40`, `.5`, `1e1`, `2.5f`. `None` for anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain || digits.len() > DIGITS_MAX || exponent.unsigned_abs() > 30 {
            return None;
        }
        // Number of digits before the point after the exponent is applied.
        let point = i32::try_from(whole.len()).ok()? + exponent;
        let (digits, is_rounded) = plain(&digits, point)?;
        Some(Self { is_negative: is_negative && digits != "0", digits, is_rounded })
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits == "0"
    }

    /// Returns the number as a type of the core. `None` if the number is negative or above a million.
    pub(super) fn decimal(&self) -> Option<Decimal> {
        Decimal::parse(&self.digits).filter(|_| !self.is_negative)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negative { "-" } else { "" }, self.digits)
    }
}

/// Returns digits with a decimal point after the first `point` digits, rounded for the queue file.
fn plain(digits: &str, point: i32) -> Option<(String, bool)> {
    let at = |place: i32| -> u128 {
        let digit = usize::try_from(place).ok().and_then(|place| digits.as_bytes().get(place));
        digit.map_or(0, |digit| u128::from(*digit - b'0'))
    };
    let decimals = i32::try_from(DECIMALS).ok()?;
    let mut millionths: u128 = 0;
    for place in point.min(0)..point.checked_add(decimals)? {
        millionths = millionths.checked_mul(10)?.checked_add(at(place))?;
    }
    let last = point + decimals;
    let length = i32::try_from(digits.len()).ok()?;
    let is_rounded = (last.max(0)..length).any(|place| at(place) != 0);
    if at(last) >= 5 {
        millionths = millionths.checked_add(1)?;
    }
    let (whole, fraction) = (millionths / 1_000_000, millionths % 1_000_000);
    let text = format!("{whole}.{fraction:06}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    Some((text.to_owned(), is_rounded))
}

/// Amounts by type, in the notation of the queue file.
pub(super) type Amounts = Vec<(String, String)>;

/// Parses `[memory=10240,vcores=12]`. Returns a fault for invalid amounts, and `None` for any other text.
pub(super) fn absolute(text: &str) -> Option<Result<Amounts, String>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    Some(pairs(inner))
}

/// Longest name of a type in characters, because a YAML key can have 1,024 bytes as written.
const NAME_MAX: usize = 128;

/// Parses `memory=10240,vcores=12`.
pub(super) fn pairs(text: &str) -> Result<Amounts, String> {
    let mut amounts = Amounts::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(format!("`{part}` is not name=amount"));
        };
        let (name, value) = (name.trim(), value.trim());
        if name.chars().count() > NAME_MAX || name.contains(char::is_control) {
            return Err(format!(
                "`{}` is not a resource type, because it has control characters or is too long",
                shown(name)
            ));
        }
        let (kind, amount) = match name {
            "memory" | "memory-mb" => ("memory", memory(value)),
            "vcores" | "vcore" => ("vcore", with_unit(value)),
            other => (other, with_unit(value)),
        };
        let Some(amount) = amount else {
            return Err(format!("`{value}` is not an amount of {name}"));
        };
        if amounts.iter().any(|(known, _)| known == kind) {
            return Err(format!("{name} occurs twice"));
        }
        amounts.push((kind.to_owned(), amount));
    }
    if amounts.is_empty() {
        return Err("the value contains no amount".to_owned());
    }
    // The queue file lists them by name.
    amounts.sort();
    Ok(amounts)
}

/// Parses memory in MiB, or with a unit.
pub(super) fn memory(text: &str) -> Option<String> {
    let Ok(mebibytes) = text.parse::<u64>() else { return with_unit(text) };
    mebibytes.checked_mul(1 << 20)?;
    Some(match mebibytes {
        0 => "0".to_owned(),
        even if even % 1024 == 0 => format!("{}Gi", even / 1024),
        odd => format!("{odd}Mi"),
    })
}

/// Parses digits with a unit that both formats have.
fn with_unit(text: &str) -> Option<String> {
    const UNITS: [&str; 13] = ["", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "K"];
    let end = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = (&text[..end], text[end..].trim());
    digits.parse::<i64>().ok()?;
    let unit = if unit == "K" { "k" } else { unit };
    UNITS.contains(&unit).then(|| format!("{digits}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_java_reads_them_and_kept_to_the_digit() {
        for (written, expected) in [
            ("40", Some("40")),
            ("12.50", Some("12.5")),
            (" 0.1 ", Some("0.1")),
            (".5", Some("0.5")),
            ("5.", Some("5")),
            ("1e1", Some("10")),
            ("1.25E-2", Some("0.0125")),
            ("2.5f", Some("2.5")),
            ("-1", Some("-1")),
            ("-0", Some("0")),
            ("007", Some("7")),
            ("33.3333333", Some("33.333333")),
            ("66.6666666", Some("66.666667")),
            ("0.0000005", Some("0.000001")),
            ("1e-30", Some("0")),
            ("0.1000000", Some("0.1")),
            ("9007199254740993", Some("9007199254740993")),
            ("", None),
            (".", None),
            ("e5", None),
            ("1e31", None),
            ("0x10", None),
            ("NaN", None),
            ("10%", None),
            ("1,5", None),
        ] {
            let found = Number::read(written).map(|number| number.to_string());
            assert_eq!(found.as_deref(), expected, "reading {written:?}");
        }
        assert!(Number::read("0.1234567").is_some_and(|number| number.is_rounded));
        assert!(Number::read("1e-30").is_some_and(|number| number.is_rounded));
        assert!(Number::read("0.1000000").is_some_and(|number| !number.is_rounded));
    }

    #[test]
    fn amounts_have_the_types_and_units_of_the_queue_file() {
        for (written, expected) in [
            ("[memory=10240,vcores=12]", Ok("memory=10Gi vcore=12")),
            ("[ vcores = 2 , memory-mb = 1500 ]", Ok("memory=1500Mi vcore=2")),
            ("[memory=0,vcores=0]", Ok("memory=0 vcore=0")),
            ("[memory=4Gi,vcores=500m,yarn.io/gpu=2]", Ok("memory=4Gi vcore=500m yarn.io/gpu=2")),
            ("[memory]", Err("`memory` is not name=amount")),
            ("[memory=lots]", Err("`lots` is not an amount of memory")),
            ("[memory=50%]", Err("`50%` is not an amount of memory")),
            ("[memory=1,memory-mb=2]", Err("memory-mb occurs twice")),
            (
                "[a\u{1}b=1]",
                Err(
                    "`a b` is not a resource type, because it has control characters or is too long",
                ),
            ),
            ("[memory=99999999999999999]", Err("`99999999999999999` is not an amount of memory")),
            ("[]", Err("the value contains no amount")),
        ] {
            let found = absolute(written).expect("it has brackets").map(|amounts| {
                let parts: Vec<_> =
                    amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
                parts.join(" ")
            });
            let found = found.as_ref().map(String::as_str).map_err(String::as_str);
            assert_eq!(found, expected, "reading {written}");
        }
        assert_eq!(absolute("40"), None);
        assert_eq!(absolute("4w"), None);
    }
}
