//! Properties whose values mean nothing, so that their defaults hold. Never a fault.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Queue;

/// Warn about values that are not understood, those of a template included.
pub(super) fn check(queue: &Queue, report: &mut Report) {
    let template = queue.template.as_ref().map(|template| &template.value.properties);
    // A template leaves out what is empty.
    let template = template.into_iter().flatten().filter(|(_, value)| !value.value.is_empty());
    for (key, value) in queue.properties.iter().chain(template) {
        let Some((legal, expected)) = judge(&key.value, &value.value) else {
            continue;
        };
        if !legal {
            let message =
                format!("`{}` is no value of `{}`; its default is used", value.value, key.value);
            let warning = Diagnostic::warning(Code::PropertyValue, value.span, message)
                .help(format!("write {expected}"));
            report.push(warning);
        }
    }
}

/// Whether the value is understood and what would be; `None` for a key without meaning.
fn judge(key: &str, value: &str) -> Option<(bool, &'static str)> {
    let lower = value.to_lowercase();
    let lower = lower.as_str();
    Some(match key {
        "application.sort.policy" => (
            matches!(
                value,
                "" | "fifo" | "fair" | "stateaware" | "fifo-strict" | "priority" | "urgency"
            ),
            "fifo, fair, fifo-strict, priority or urgency, in lower case",
        ),
        "application.sort.priority" => {
            (matches!(lower, "enabled" | "disabled"), "enabled or disabled")
        }
        "application.unschedasks.backoff" => {
            // The reference takes no sign here.
            (!value.starts_with('+') && value.parse::<u64>().is_ok(), "a whole number, 0 for off")
        }
        "priority.policy" => (matches!(lower, "" | "default" | "fence"), "default or fence"),
        "priority.offset" => {
            (value.parse::<i32>().is_ok(), "a whole number from -2147483648 to 2147483647")
        }
        "preemption.policy" => {
            (matches!(lower, "" | "default" | "fence" | "disabled"), "default, fence or disabled")
        }
        "preemption.delay" | "quota.preemption.delay" | "application.unschedasks.backoff.delay" => {
            (is_positive_duration(value), "a time above zero, 30s or 1m30s")
        }
        _ => return None,
    })
}

/// Decimal numbers with a unit each: `1m30s`, `1.5h`; a nanosecond at least in total, and less
/// than about 292 years.
fn is_positive_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|one: char| !one.is_ascii_digit() && one != '.');
        let (number, behind) = rest.split_at(digits.unwrap_or(rest.len()));
        let units: [(&str, u128); 8] = [
            ("ns", 1),
            ("us", 1_000),
            ("µs", 1_000),
            ("μs", 1_000),
            ("ms", 1_000_000),
            ("s", 1_000_000_000),
            ("m", 60_000_000_000),
            ("h", 3_600_000_000_000),
        ];
        // A unit reaches up to the next number.
        let length = behind.find(|one: char| one.is_ascii_digit() || one == '.');
        let (name, next) = behind.split_at(length.unwrap_or(behind.len()));
        let unit = units.into_iter().find_map(|(unit, nanos)| (unit == name).then_some(nanos));
        let Some(nanos) = unit.and_then(|unit| nanos_of(number, unit)) else {
            return false;
        };
        total += nanos;
        if total > NANOS_MAX {
            return false;
        }
        rest = next;
    }
    total > 0
}

/// What the reference's clock can count: signed, in 64 bits.
const NANOS_MAX: u128 = i64::MAX as u128;

/// Nanoseconds of a decimal number of units, cut; `None` when it is no number or too large.
fn nanos_of(number: &str, unit: u128) -> Option<u128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && part.is_empty() || part.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // What is more than a nanosecond has 13 digits at most, even in hours.
    let part = &part[..part.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let part: u128 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let nanos = whole.checked_mul(unit)?.checked_add(part * unit / scale)?;
    (nanos <= NANOS_MAX).then_some(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_with_a_meaning_has_its_own_values() {
        for (key, good, bad) in [
            ("application.sort.policy", "fair", "Fair"),
            ("application.sort.policy", "", " "),
            ("application.sort.priority", "Disabled", "false"),
            ("application.unschedasks.backoff", "18446744073709551615", "18446744073709551616"),
            ("application.unschedasks.backoff", "0", "+1"),
            ("application.unschedasks.backoff.delay", "1s", "1"),
            ("priority.policy", "FENCE", "fenced"),
            ("priority.offset", "-2147483648", "2147483648"),
            ("priority.offset", "+5", "5.0"),
            ("preemption.policy", "Disabled", "enabled"),
            ("preemption.delay", "1m30s", "-1s"),
            ("quota.preemption.delay", "1h", "0"),
        ] {
            let legal = |value| judge(key, value).map(|(legal, _)| legal);
            assert_eq!(legal(good), Some(true), "{key}: {good}");
            assert_eq!(legal(bad), Some(false), "{key}: {bad}");
        }
        assert!(judge("my.own", "anything").is_none());
    }

    #[test]
    fn durations_are_numbers_with_units() {
        for (text, expected) in [
            ("30s", true),
            ("1m30s", true),
            ("1.5h", true),
            ("+1.s", true),
            (".5s", true),
            ("1µs", true),
            ("2562047h", true),
            ("2562048h", false),
            ("0.1ns", false),
            ("0s", false),
            (".s", false),
            ("1.2.3s", false),
            ("1mss", false),
            ("1m 30s", false),
            ("99999999999999999999999999999999999999999s", false),
            ("-1s", false),
            ("30", false),
            ("s", false),
            ("", false),
        ] {
            assert_eq!(is_positive_duration(text), expected, "reading {text:?}");
        }
    }
}
