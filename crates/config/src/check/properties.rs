//! Properties whose values mean nothing, so that their defaults hold. Never a fault.

use headroom_core::config::property::{
    BACKOFF, BACKOFF_DELAY, PREEMPTION_DELAY, PREEMPTION_POLICY, PRIORITY_OFFSET, PRIORITY_POLICY,
    QUOTA_PREEMPTION_DELAY, SORT_POLICY, SORT_PRIORITY, read_duration,
};

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
        SORT_POLICY => (
            matches!(
                value,
                "" | "fifo" | "fair" | "stateaware" | "fifo-strict" | "priority" | "urgency"
            ),
            "fifo, fair, fifo-strict, priority or urgency, in lower case",
        ),
        SORT_PRIORITY => (matches!(lower, "enabled" | "disabled"), "enabled or disabled"),
        BACKOFF => {
            // The reference takes no sign here.
            (!value.starts_with('+') && value.parse::<u64>().is_ok(), "a whole number, 0 for off")
        }
        PRIORITY_POLICY => (matches!(lower, "" | "default" | "fence"), "default or fence"),
        PRIORITY_OFFSET => {
            (value.parse::<i32>().is_ok(), "a whole number from -2147483648 to 2147483647")
        }
        PREEMPTION_POLICY => {
            (matches!(lower, "" | "default" | "fence" | "disabled"), "default, fence or disabled")
        }
        PREEMPTION_DELAY | QUOTA_PREEMPTION_DELAY | BACKOFF_DELAY => {
            (read_duration(value).is_some(), "a time above zero, 30s or 1m30s")
        }
        _ => return None,
    })
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
}
