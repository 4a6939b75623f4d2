//! Properties whose values mean nothing, so that their defaults hold. Never a fault.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Queue;

/// Warn about values that are not understood.
pub(super) fn check(queue: &Queue, report: &mut Report) {
    for (key, value) in &queue.properties {
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
            (value.parse::<u64>().is_ok(), "a whole number, 0 for off")
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

/// Decimal numbers with a unit each: `1m30s`, `1.5h`; above zero in total.
fn is_positive_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut positive = false;
    while !rest.is_empty() {
        let digits = rest.find(|one: char| !one.is_ascii_digit() && one != '.');
        let (number, behind) = rest.split_at(digits.unwrap_or(rest.len()));
        let Ok(amount) = number.parse::<f64>() else {
            return false;
        };
        let units = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
        let Some(unit) = units.into_iter().find(|unit| behind.starts_with(unit)) else {
            return false;
        };
        positive |= amount > 0.0;
        rest = &behind[unit.len()..];
    }
    positive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units() {
        for (text, expected) in [
            ("30s", true),
            ("1m30s", true),
            ("1.5h", true),
            ("0s", false),
            ("-1s", false),
            ("30", false),
            ("s", false),
            ("", false),
        ] {
            assert_eq!(is_positive_duration(text), expected, "reading {text:?}");
        }
    }
}
