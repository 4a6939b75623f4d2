//! Parses numbers in text columns.

use super::error::Fault;
use super::time_scale::TIME_MS_MAX;

/// Maximum number of processors (tasks) of a job.
///
/// Ten times the largest machine of the public traces. Each becomes an ask.
pub const PROCESSORS_MAX: u64 = 1_000_000;

/// Parses a whole number from `least` to `most`.
///
/// # Errors
/// A [`Fault`] with both limits.
pub(super) fn whole(
    field: impl Into<String>,
    text: &str,
    least: i64,
    most: i64,
    unit: &str,
) -> Result<i64, Fault> {
    // `parse` accepts a plus sign, which no trace has.
    let plain = !text.starts_with('+');
    match text.parse() {
        Ok(number) if plain && (least..=most).contains(&number) => Ok(number),
        _ => Err(Fault::value(field, text, format!("a whole number{unit} from {least} to {most}"))),
    }
}

/// Parses a time in seconds with optional decimals. Returns ms, truncated. `None` for `-1` if `unknown` allows this
/// value.
///
/// # Errors
/// A [`Fault`] for any other text, and for values above [`TIME_MS_MAX`].
pub(super) fn seconds(
    field: impl Into<String>,
    text: &str,
    unknown: bool,
) -> Result<Option<u64>, Fault> {
    if unknown && text == "-1" {
        return Ok(None);
    }
    match ms_of(text) {
        Some(ms) => Ok(Some(ms)),
        None => Err(Fault::value(
            field,
            text,
            format!(
                "seconds from 0 to {}{}",
                TIME_MS_MAX / 1_000,
                if unknown { ", or -1 for unknown" } else { "" }
            ),
        )),
    }
}

/// Converts seconds with optional decimals to ms. `None` if the text is not a number, or the number is too large.
pub(super) fn ms_of(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let thousandths: String = decimals.chars().chain("000".chars()).take(3).collect();
    let ms =
        whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(thousandths.parse().ok()?)?;
    (ms <= TIME_MS_MAX).then_some(ms)
}

/// Converts a valid processor count to an unsigned number.
pub(super) fn count(number: i64) -> u64 {
    number.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_ms_and_nothing_overflows() {
        for (text, expected) in [
            ("0", Some(0)),
            ("12", Some(12_000)),
            ("1.5", Some(1_500)),
            ("1.0009", Some(1_000)),
            ("1000000000000", Some(TIME_MS_MAX)),
            ("1000000000001", None),
            ("99999999999999999999", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            (".5", None),
            ("5.", None),
            ("", None),
            ("NaN", None),
        ] {
            assert_eq!(ms_of(text), expected, "{text:?}");
        }
    }
}
