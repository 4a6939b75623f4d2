//! One amount of one resource type, and its text form in a queue file.

use core::fmt;

use super::base_of;

/// Amount of one resource type in its core unit: millicores for `vcore`, bytes for `memory`, and a count for everything
/// else.
///
/// Signed, because headroom and remaining guarantees can be negative. The range is symmetric, ±(2⁶³ − 1). Arithmetic
/// saturates at these bounds and never wraps, and every amount can be negated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(i64);

/// Reason why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text is not digits with an optional suffix: `R-SYNTAX`.
    #[error("it must be digits and an optional suffix: no sign, decimal point or exponent")]
    Syntax,
    /// The amount is too large: `R-OVERFLOW`.
    #[error("it is larger than 9223372036854775807 in the smallest unit")]
    Overflow,
    /// The suffix is unknown, or it is `m` on a type other than `vcore`: `R-SUFFIX`.
    #[error(
        "the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only)"
    )]
    Suffix,
}

impl QuantityError {
    /// Returns the code of the specification, for tests and logs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax => "R-SYNTAX",
            Self::Overflow => "R-OVERFLOW",
            Self::Suffix => "R-SUFFIX",
        }
    }
}

impl Quantity {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Largest amount, 2⁶³ − 1.
    pub const MAX: Self = Self(i64::MAX);
    /// Smallest amount, −(2⁶³ − 1).
    pub const MIN: Self = Self(-i64::MAX);

    /// Returns this amount in core units. −2⁶³ becomes [`Quantity::MIN`].
    pub const fn of(amount: i64) -> Self {
        if amount == i64::MIN { Self::MIN } else { Self(amount) }
    }

    /// Returns the amount in core units.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Parses the text of a queue file for the resource type `resource`.
    ///
    /// The text has digits and an optional suffix, with white space around and between. Only `vcore` has the suffix
    /// `m`, and its plain numbers are cores.
    ///
    /// # Errors
    ///
    /// Returns a [`QuantityError`] with the failed rule.
    pub fn parse(resource: &str, text: &str) -> Result<Self, QuantityError> {
        let milli = base_of(resource) == "vcore";
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let suffix = rest.trim_start_matches([' ', '\t', '\n', '\x0c', '\r']);
        if number.is_empty() || !lexes_as_suffix(suffix) {
            return Err(QuantityError::Syntax);
        }
        let number: i64 = number.parse().map_err(|_| QuantityError::Overflow)?;
        let factor = match (suffix, milli) {
            ("m", true) => 1,
            ("m", false) => return Err(QuantityError::Suffix),
            (suffix, milli) => {
                factor_of(suffix).ok_or(QuantityError::Suffix)? * if milli { 1_000 } else { 1 }
            }
        };
        let scaled = i128::from(number) * factor;
        i64::try_from(scaled).map(Self).map_err(|_| QuantityError::Overflow)
    }

    /// Returns the sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self::of(self.0.saturating_add(other.0))
    }

    /// Returns the difference, saturating.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self::of(self.0.saturating_sub(other.0))
    }

    /// Returns the product with an integer, saturating.
    #[must_use]
    pub const fn times(self, factor: i64) -> Self {
        Self::of(self.0.saturating_mul(factor))
    }
}

/// Returns whether the suffix matches the grammar: at most one letter of the list, followed by at most one `i`.
///
/// `K` matches, so `1K` has an unknown suffix, while `1g` is no quantity at all.
fn lexes_as_suffix(suffix: &str) -> bool {
    let bytes = suffix.as_bytes();
    match bytes {
        [] => true,
        [letter] | [letter, b'i'] => b"EPTGMKkm".contains(letter),
        _ => false,
    }
}

fn factor_of(suffix: &str) -> Option<i128> {
    Some(match suffix {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "P" => 1_000_000_000_000_000,
        "E" => 1_000_000_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        "Pi" => 1 << 50,
        "Ei" => 1 << 60,
        _ => return None,
    })
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

#[cfg(test)]
mod tests {
    use super::QuantityError::{Overflow, Suffix, Syntax};
    use super::*;

    #[test]
    fn parse_reads_the_table_of_the_specification() {
        for (text, plain, vcore) in [
            ("0", Ok(0), Ok(0)),
            ("7", Ok(7), Ok(7_000)),
            ("250m", Err(Suffix), Ok(250)),
            (" 3  k ", Ok(3_000), Ok(3_000_000)),
            ("2Ki", Ok(2_048), Ok(2_048_000)),
            ("9223372036854775807", Ok(i64::MAX), Err(Overflow)),
            ("9223372036854775", Ok(9_223_372_036_854_775), Ok(9_223_372_036_854_775_000)),
            ("1000P", Ok(1_000_000_000_000_000_000), Err(Overflow)),
            ("10E", Err(Overflow), Err(Overflow)),
            ("9223372036854775808", Err(Overflow), Err(Overflow)),
            ("", Err(Syntax), Err(Syntax)),
            ("-1", Err(Syntax), Err(Syntax)),
            ("1.5", Err(Syntax), Err(Syntax)),
            ("1e3", Err(Syntax), Err(Syntax)),
            ("1K", Err(Suffix), Err(Suffix)),
            ("1g", Err(Syntax), Err(Syntax)),
            ("k", Err(Syntax), Err(Syntax)),
        ] {
            let read = |resource| Quantity::parse(resource, text).map(Quantity::get);
            assert_eq!(read("memory"), plain, "parsing {text:?} as memory");
            assert_eq!(read("vcore"), vcore, "parsing {text:?} as vcore");
        }
    }

    #[test]
    fn arithmetic_saturates_at_symmetric_bounds() {
        for (left, right, sum, difference) in [
            (1, 2, 3, -1),
            (i64::MAX, 1, i64::MAX, i64::MAX - 1),
            (-i64::MAX, 1, -i64::MAX + 1, -i64::MAX),
            (0, i64::MIN, -i64::MAX, i64::MAX),
        ] {
            let (left, right) = (Quantity::of(left), Quantity::of(right));
            assert_eq!(left.plus(right), Quantity::of(sum), "{left} + {right}");
            assert_eq!(left.minus(right), Quantity::of(difference), "{left} - {right}");
        }
    }
}
