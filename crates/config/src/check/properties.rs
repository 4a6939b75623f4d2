//! Warns about properties with invalid values, whose defaults apply. Never an error.

use headroom_core::config::property::{
    AGING_MAX, AGING_STEP, BACKOFF, MAX_OVERTAKES, PREEMPTION_POLICY, PRIORITY_OFFSET,
    PRIORITY_POLICY, SORT_POLICY, SORT_PRIORITY, is_understood,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Queue;

/// Warns about invalid values, including those of a template.
pub(super) fn check(queue: &Queue, report: &mut Report) {
    let template = queue.template.as_deref().map(|template| &template.properties);
    // A template omits empty values.
    let template = template.into_iter().flatten().filter(|(_, value)| !value.value.is_empty());
    for (key, value) in queue.properties.iter().chain(template) {
        let Some((legal, expected)) = judge(&key.value, &value.value) else {
            continue;
        };
        if !legal {
            let message = format!(
                "`{}` is not a valid value of `{}`, so the default applies",
                value.value, key.value
            );
            let warning = Diagnostic::warning(Code::PropertyValue, value.span, message)
                .help(format!("write {expected}"));
            report.push(warning);
        }
    }
}

/// Returns whether the value is valid, and the valid values. `None` for an unknown key.
fn judge(key: &str, value: &str) -> Option<(bool, &'static str)> {
    let expected = match key {
        SORT_POLICY => "fifo, fair, fifo-strict, fifo-backfill, priority or urgency, in lower case",
        SORT_PRIORITY => "enabled or disabled",
        BACKOFF => "a whole number, 0 for off",
        AGING_STEP | AGING_MAX | MAX_OVERTAKES => "a whole number below 4294967296",
        PRIORITY_POLICY => "default or fence",
        PRIORITY_OFFSET => "a whole number from -2147483648 to 2147483647",
        PREEMPTION_POLICY => "default, fence or disabled",
        _ => "a time above zero, 30s or 1m30s",
    };
    Some((is_understood(key, value)?, expected))
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
            ("application.sort.aging.step", "0", "1.5"),
            ("application.sort.aging.max", "4294967295", "4294967296"),
            ("application.sort.maxovertakes", "0", "-1"),
            ("application.sort.aging.interval", "1m", "60"),
            ("application.sort.maxheadwait", "300s", "0s"),
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
