//! The meaning of a scalar, as the YAML library of `YuniKorn` determines it.
//!
//! Plain texts resolve to null, booleans, integers, or floats by their form. Quoted texts are texts. Fields convert
//! some values leniently (K-9).

use crate::yaml::Scalar;

/// Meaning of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Null,
    Flag(bool),
    /// A type that can represent both 64-bit types.
    Whole(i128),
    Decimal(f64),
    Text,
}

/// Whether a lenient interpretation was needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reading<T> {
    /// An ordinary value.
    Plain(T),
    /// An accepted value that was probably not meant this way.
    Lenient(T),
}

impl Scalar {
    /// Returns the meaning of the scalar. Scalars in quotes, or with their own tag, are texts.
    pub(crate) fn meaning(&self) -> Meaning {
        let core = self.tag.as_deref().map(|tag| tag.strip_prefix("tag:yaml.org,2002:"));
        match core {
            None if self.quoted => Meaning::Text,
            Some(None | Some("str" | "binary")) => Meaning::Text,
            // A tag requests a kind, which the form must confirm.
            Some(Some("float")) => match resolve(&self.text) {
                #[expect(clippy::cast_precision_loss, reason = "as the reference converts")]
                Meaning::Whole(whole) => Meaning::Decimal(whole as f64),
                other => other,
            },
            None | Some(Some(_)) => resolve(&self.text),
        }
    }

    /// Returns whether the scalar is null.
    pub(crate) fn is_null(&self) -> bool {
        self.meaning() == Meaning::Null
    }

    /// Returns the scalar as a boolean. `None` for any other kind.
    pub(crate) fn flag(&self) -> Option<Reading<bool>> {
        match self.meaning() {
            Meaning::Flag(flag) => Some(Reading::Plain(flag)),
            // Old YAML words count as booleans, even in quotes, although a quoted `true` does not.
            Meaning::Text => match self.text.as_str() {
                "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
                    Some(Reading::Lenient(true))
                }
                "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
                    Some(Reading::Lenient(false))
                }
                _ => None,
            },
            Meaning::Null | Meaning::Whole(_) | Meaning::Decimal(_) => None,
        }
    }

    /// Returns the scalar as a count. `None` for any other kind.
    pub(crate) fn count(&self) -> Option<Reading<u64>> {
        match self.meaning() {
            Meaning::Whole(whole) => {
                let count = u64::try_from(whole).ok()?;
                // With a leading zero, `010` is eight.
                let plain = self.text.trim_start_matches('+') == count.to_string();
                Some(if plain { Reading::Plain(count) } else { Reading::Lenient(count) })
            }
            Meaning::Decimal(decimal) => count_of(decimal).map(Reading::Lenient),
            Meaning::Null | Meaning::Flag(_) | Meaning::Text => None,
        }
    }

    /// Returns the scalar as a floating point number. `None` for any other kind.
    pub(crate) fn decimal(&self) -> Option<f64> {
        match self.meaning() {
            #[expect(clippy::cast_precision_loss, reason = "as the reference converts")]
            Meaning::Whole(whole) => Some(whole as f64),
            Meaning::Decimal(decimal) => Some(decimal),
            Meaning::Null | Meaning::Flag(_) | Meaning::Text => None,
        }
    }
}

/// Truncates to a whole number. 2⁶⁴ becomes the largest count. The same applies to negative numbers that the reference
/// accepts: on its machines, they wrap to about 2⁶⁴.
fn count_of(decimal: f64) -> Option<u64> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    if decimal.is_nan() || decimal > LIMIT {
        None
    } else if decimal <= -1.0 {
        Some(u64::MAX)
    } else {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast cuts decimals and saturates, which is what is wanted"
        )]
        Some(decimal as u64)
    }
}

/// Returns the meaning of a plain text.
pub(crate) fn resolve(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "true" | "True" | "TRUE" => return Meaning::Flag(true),
        "false" | "False" | "FALSE" => return Meaning::Flag(false),
        ".nan" | ".NaN" | ".NAN" => return Meaning::Decimal(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Meaning::Decimal(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Meaning::Decimal(f64::NEG_INFINITY),
        _ => {}
    }
    match text.as_bytes()[0] {
        b'.' => decimal(text).map_or(Meaning::Text, Meaning::Decimal),
        b'0'..=b'9' | b'+' | b'-' => {
            let plain = text.replace('_', "");
            if let Some(whole) = whole(&plain) {
                Meaning::Whole(whole)
            } else if let Some(decimal) = decimal(&plain) {
                Meaning::Decimal(decimal)
            } else {
                Meaning::Text
            }
        }
        _ => Meaning::Text,
    }
}

/// Parses a decimal, `0x`, `0o`, or `0b` number, or an octal number with a leading zero, that fits into 64 bits.
fn whole(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let amount = i128::from(u64::from_str_radix(digits, radix).ok()?);
    if negative { (amount <= 1 << 63).then_some(-amount) } else { Some(amount) }
}

/// Parses digits with an optional point and exponent. `None` if the number is too large.
fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut bytes = unsigned.bytes();
    let starts_well = match bytes.next()? {
        b'0'..=b'9' => true,
        b'.' => bytes.next()?.is_ascii_digit(),
        _ => false,
    };
    if !starts_well || unsigned.bytes().any(|byte| !b"0123456789.eE+-".contains(&byte)) {
        return None;
    }
    text.parse().ok().filter(|decimal: &f64| decimal.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_is_what_it_looks_like() {
        for (text, expected) in [
            ("~", Meaning::Null),
            ("True", Meaning::Flag(true)),
            ("yes", Meaning::Text),
            ("1_000", Meaning::Whole(1_000)),
            ("0x1F", Meaning::Whole(31)),
            ("0o17", Meaning::Whole(15)),
            ("017", Meaning::Whole(15)),
            ("08", Meaning::Decimal(8.0)),
            ("-0b11", Meaning::Whole(-3)),
            ("18446744073709551615", Meaning::Whole(u64::MAX.into())),
            ("18446744073709551616", Meaning::Decimal(18_446_744_073_709_551_616.0)),
            ("1e3", Meaning::Decimal(1_000.0)),
            ("1.", Meaning::Decimal(1.0)),
            (".5", Meaning::Decimal(0.5)),
            ("1e999", Meaning::Text),
            ("1:30", Meaning::Text),
            ("-", Meaning::Text),
            ("2020-01-01", Meaning::Text),
        ] {
            assert_eq!(resolve(text), expected, "reading {text:?}");
        }
    }

    #[test]
    fn fields_are_lenient_where_the_reference_is() {
        let plain = |text: &str| Scalar { text: text.into(), ..Scalar::default() };
        let quoted = |text: &str| Scalar { quoted: true, ..plain(text) };
        assert_eq!(plain("true").flag(), Some(Reading::Plain(true)));
        assert_eq!(quoted("true").flag(), None);
        assert_eq!(quoted("no").flag(), Some(Reading::Lenient(false)));
        assert_eq!(plain("1").flag(), None);
        assert_eq!(plain("7").count(), Some(Reading::Plain(7)));
        assert_eq!(plain("010").count(), Some(Reading::Lenient(8)));
        assert_eq!(plain("1_000").count(), Some(Reading::Lenient(1_000)));
        assert_eq!(quoted("7").count(), None);
        assert_eq!(plain("1.5").count(), Some(Reading::Lenient(1)));
        assert_eq!(plain("1e3").count(), Some(Reading::Lenient(1_000)));
        assert_eq!(plain("18446744073709551616").count(), Some(Reading::Lenient(u64::MAX)));
        assert_eq!(plain("-1").count(), None);
        assert_eq!(plain(".nan").count(), None);
    }
}
