//! Kubernetes quantities: exact decimal amounts with a unit suffix, such as `1500m`, `2Gi`, and `1e3`.
//!
//! A value has nine decimal places. More places round away from zero, and values beyond 64 bits saturate, as in
//! Kubernetes.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _, Visitor};

const NANOS_PER_UNIT: u128 = 1_000_000_000;
const NANOS_PER_MILLI: i32 = 1_000_000;

/// Decimal places of a value with a binary suffix, before the multiplication.
const BINARY_PLACES: i64 = 18;

/// Longest integer part that a value of 64 bits can have.
const MAX_INTEGER_DIGITS: i64 = 19;

/// An amount, exact to nine decimal places. The default is zero.
///
/// The two parts have the same sign or are zero, so their order is the order of the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    /// Integer part, rounded towards zero.
    whole: i64,
    /// Billionths in addition to the integer part.
    nanos: i32,
}

impl Quantity {
    /// Returns the integer `value` as a quantity.
    pub const fn new(value: i64) -> Self {
        Self { whole: value, nanos: 0 }
    }

    /// Returns the amount in units. Fractions round away from zero.
    pub const fn value(self) -> i64 {
        self.whole.saturating_add(self.nanos.signum() as i64)
    }

    /// Returns the amount in thousandths of the unit, such as millicores. Smaller fractions round away from zero.
    pub const fn milli(self) -> i64 {
        let rest = self.nanos % NANOS_PER_MILLI;
        let thousandths = self.nanos / NANOS_PER_MILLI + rest.signum();
        self.whole.saturating_mul(1000).saturating_add(thousandths as i64)
    }

    /// Returns the sum. Values beyond 64 bits saturate.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        let nanos = |quantity: Self| {
            i128::from(quantity.whole) * 1_000_000_000 + i128::from(quantity.nanos)
        };
        let sum = nanos(self) + nanos(other);
        Self::from_magnitude(Some(sum.unsigned_abs()), sum < 0)
    }

    /// Returns the amount with the other sign.
    #[must_use]
    pub const fn negated(self) -> Self {
        Self { whole: self.whole.saturating_neg(), nanos: -self.nanos }
    }

    /// Returns whether the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.whole == 0 && self.nanos == 0
    }

    /// Returns whether the amount is below zero.
    pub const fn is_negative(self) -> bool {
        self.whole < 0 || self.nanos < 0
    }

    fn from_magnitude(nanos: Option<u128>, negative: bool) -> Self {
        let whole = nanos.map(|nanos| i64::try_from(nanos / NANOS_PER_UNIT));
        let (whole, rest) = match (whole, nanos) {
            (Some(Ok(whole)), Some(nanos)) => {
                (whole, i32::try_from(nanos % NANOS_PER_UNIT).unwrap_or_default())
            }
            _ => (i64::MAX, 0),
        };
        if negative { Self { whole: -whole, nanos: -rest } } else { Self { whole, nanos: rest } }
    }
}

/// Error for a text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoQuantity {
    text: Box<str>,
}

impl NoQuantity {
    /// Longest text that the error repeats, in characters.
    const SHOWN: usize = 40;

    fn new(text: &str) -> Self {
        Self { text: text.chars().take(Self::SHOWN).collect() }
    }
}

impl fmt::Display for NoQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no quantity. Write a number with an optional suffix, such as 500m, 2, or 4Gi.",
            self.text
        )
    }
}

impl std::error::Error for NoQuantity {}

/// Factor of a suffix.
#[derive(Clone, Copy)]
enum Scale {
    /// A power of ten.
    Decimal(i64),
    /// A power of two.
    Binary(u32),
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "" => Self::Decimal(0),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            "Ki" => Self::Binary(10),
            "Mi" => Self::Binary(20),
            "Gi" => Self::Binary(30),
            "Ti" => Self::Binary(40),
            "Pi" => Self::Binary(50),
            "Ei" => Self::Binary(60),
            _ => Self::Decimal(i64::from(exponent(suffix)?)),
        })
    }
}

/// Reads `e3`, `E-3`, or `e+3`. Exponents beyond 32 bits saturate.
fn exponent(suffix: &str) -> Option<i32> {
    let text = suffix.strip_prefix(['e', 'E'])?;
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i32>().unwrap_or(i32::MAX);
    Some(if negative { -magnitude } else { magnitude })
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Digits of a number, and how many of them are before the decimal point.
struct Digits<'a> {
    integer: &'a [u8],
    fraction: &'a [u8],
}

impl Digits<'_> {
    /// Returns the number times `10^places`, rounded up, or nothing if it has more than 37 digits.
    fn scaled(&self, places: i64) -> Option<u128> {
        let digits = || self.integer.iter().chain(self.fraction);
        let zeros = digits().take_while(|digit| **digit == b'0').count();
        let significant = digits().skip(zeros);
        let length = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        if length(zeros) == length(self.integer.len() + self.fraction.len()) {
            return Some(0);
        }
        let wanted = (length(self.integer.len()) - length(zeros)).saturating_add(places);
        if wanted > MAX_INTEGER_DIGITS + BINARY_PLACES {
            return None;
        }
        // The first significant digit is not zero, so a number below one rounds up to one.
        let Ok(wanted) = usize::try_from(wanted) else { return Some(1) };
        let (mut number, mut taken, mut rounds_up) = (0_u128, 0, false);
        for digit in significant {
            if taken < wanted {
                number = number * 10 + u128::from(digit - b'0');
                taken += 1;
            } else {
                rounds_up |= *digit != b'0';
            }
        }
        for _ in taken..wanted {
            number *= 10;
        }
        Some(number + u128::from(rounds_up))
    }
}

impl FromStr for Quantity {
    type Err = NoQuantity;

    fn from_str(text: &str) -> Result<Self, NoQuantity> {
        let fault = || NoQuantity::new(text);
        let (negative, unsigned) = split_sign(text);
        let number =
            |text: &str| text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let (integer, rest) = unsigned.split_at(number(unsigned));
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(number(rest)),
            None => ("", rest),
        };
        // Kubernetes reads a suffix without a number as zero.
        if text.is_empty() {
            return Err(fault());
        }
        let digits = Digits { integer: integer.as_bytes(), fraction: fraction.as_bytes() };
        let nanos = match Scale::parse(suffix).ok_or_else(fault)? {
            Scale::Decimal(exponent) => digits.scaled(exponent + 9),
            Scale::Binary(exponent) => digits
                .scaled(BINARY_PLACES)
                .and_then(|number| number.checked_mul(1 << exponent))
                .map(|number| number.div_ceil(NANOS_PER_UNIT)),
        };
        Ok(Self::from_magnitude(nanos, negative))
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
                Ok(Quantity::new(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
                Ok(Quantity::new(i64::try_from(value).unwrap_or(i64::MAX)))
            }

            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
                // The shortest text that reads as this number, which is what the writer wrote.
                value.to_string().parse().map_err(E::custom)
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Quantity, E> {
                Ok(Quantity::default())
            }
        }

        deserializer.deserialize_any(Text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_an_exact_value_that_rounds_away_from_zero() {
        for (text, value, milli) in [
            ("0", 0, 0),
            ("01", 1, 1000),
            ("1.", 1, 1000),
            (".5", 1, 500),
            ("0.0001", 1, 1),
            ("-0.5", -1, -500),
            (".", 0, 0),
            ("Ki", 0, 0),
            ("+2", 2, 2000),
            ("100m", 1, 100),
            ("1.0001", 2, 1001),
            ("1.5Gi", 1_610_612_736, 1_610_612_736_000),
            ("0.1Ki", 103, 102_400),
            ("2G", 2_000_000_000, 2_000_000_000_000),
            ("1e3", 1000, 1_000_000),
            ("1E3", 1000, 1_000_000),
            ("1E-3", 1, 1),
            ("1E", 1_000_000_000_000_000_000, i64::MAX),
            ("1n", 1, 1),
            ("0.1n", 1, 1),
            ("1e-999999999999", 1, 1),
            ("0e999999999999", 0, 0),
            ("1e999999999999", i64::MAX, i64::MAX),
            ("9223372036854775807", i64::MAX, i64::MAX),
            ("9223372036854775808", i64::MAX, i64::MAX),
            ("-10E", -i64::MAX, i64::MIN),
            ("8Ei", i64::MAX, i64::MAX),
            ("7Ei", 8_070_450_532_247_928_832, i64::MAX),
            ("00000000000000000000000000000000000000000000000001", 1, 1000),
        ] {
            let quantity: Quantity = text.parse().unwrap();
            assert_eq!((quantity.value(), quantity.milli()), (value, milli), "{text}");
        }
    }

    #[test]
    fn other_texts_are_faults() {
        for text in ["", " ", "1 ", "1.5.2", "1KiB", "1ki", "1e", "1e+", "--1", "1mm", "x"] {
            assert!(text.parse::<Quantity>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn sums_are_exact_and_saturate() {
        for (one, two, sum) in [
            ("0.4m", "0.4m", "0.8m"),
            ("0.7", "0.7", "1.4"),
            ("-0.7", "0.2", "-0.5"),
            ("1", "-0.5", "0.5"),
            ("8E", "8E", "16E"),
            ("-8E", "-8E", "-16E"),
        ] {
            let quantity = |text: &str| text.parse::<Quantity>().unwrap();
            assert_eq!(quantity(one).saturating_add(quantity(two)), quantity(sum), "{one} + {two}");
        }
    }

    #[test]
    fn quantities_compare_by_value() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        assert_eq!(quantity("1Ki"), quantity("1024"));
        assert!(quantity("1023.5") < quantity("1Ki"));
        assert!(quantity("-0.5") < quantity("-0.1"));
        assert!(quantity("-0.1") < quantity("0"));
        assert!(quantity("-1.5") < quantity("-1"));
    }
}
