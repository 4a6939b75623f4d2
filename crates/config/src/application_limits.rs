//! Values of the block `applicationlimits`: counts, and the fraction for drivers.

use headroom_core::Name;
use headroom_core::config::ApplicationLimitsConfig;
use headroom_core::userlimit::Decimal;

use crate::raw::{ApplicationLimits, Text};
use crate::user_limits::decimal;

/// Parses a number of applications: digits, at least 1. Rejects a leading zero, because YAML then interprets the number
/// differently.
pub(crate) fn count(text: &Text) -> Option<u64> {
    let digits = &text.value;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

/// Parses a fraction of a leaf, from 0 to 1.
pub(crate) fn part(text: &Text) -> Option<Decimal> {
    decimal(&text.value).filter(|part| *part <= Decimal::ONE)
}

/// Returns the settings of a valid block. `None` if the block sets nothing.
pub(crate) fn build(from: Option<&ApplicationLimits>) -> Option<ApplicationLimitsConfig> {
    let from = from.filter(|block| !block.says_nothing())?;
    let number = |text: &Option<Text>| text.as_ref().and_then(count);
    let of_user = |(user, text): &(Text, Text)| Some((Name::new(&user.value), count(text)?));
    let mut by_user: Vec<(Name, u64)> =
        from.max_parallel_by_user.iter().filter_map(of_user).collect();
    by_user.sort();
    Some(ApplicationLimitsConfig {
        max: number(&from.max),
        max_per_user: number(&from.max_per_user),
        max_parallel: number(&from.max_parallel),
        max_parallel_per_user: number(&from.max_parallel_per_user),
        max_parallel_by_user: by_user,
        driver: from.driver.as_ref().and_then(part),
        max_per_queue: number(&from.max_per_queue),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_look_like_or_none() {
        let text = |text: &str| Text { value: text.to_owned(), ..Text::default() };
        for (written, expected) in [
            ("1", Some(1)),
            ("4000", Some(4_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0", None),
            ("010", None),
            ("+3", None),
            ("-1", None),
            ("1_0", None),
            ("0x1F", None),
            ("1e2", None),
            ("1.5", None),
            ("", None),
        ] {
            assert_eq!(count(&text(written)), expected, "reading {written}");
        }
        for (written, expected) in [
            ("0", Some(0)),
            ("0.1", Some(100_000)),
            ("1", Some(1_000_000)),
            ("1.0", Some(1_000_000)),
            ("1.000001", None),
            ("0.1234567", None),
            ("00.1", None),
            ("-0.1", None),
        ] {
            let found = part(&text(written)).map(Decimal::millionths);
            assert_eq!(found, expected, "reading {written}");
        }
    }
}
