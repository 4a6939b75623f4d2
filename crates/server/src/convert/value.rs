//! Values that several bodies use.

use std::collections::BTreeMap;

use headroom_api::wsv1::{Percentages, Resources};
use headroom_core::config::Properties;
use headroom_core::resource::Amounts;
use headroom_core::view::Percents;
use headroom_core::{Millis, Name, Timestamp};

/// Priority that means that nothing waits.
pub(crate) const NO_PRIORITY: i32 = i32::MIN;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Returns amounts by resource type.
pub(crate) fn resources(amounts: &Amounts) -> Resources {
    amounts.iter().map(|(name, amount)| (name.as_str(), amount.get())).collect()
}

/// Returns percentages by resource type.
pub(crate) fn percentages(percents: &Percents) -> Percentages {
    percents.iter().map(|(name, percent)| (name.as_str(), i64::from(*percent))).collect()
}

/// Returns nanoseconds since the epoch.
pub(crate) fn nanos(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis().saturating_mul(NANOS_PER_MILLI)).unwrap_or(i64::MAX)
}

/// Returns milliseconds since the epoch.
pub(crate) fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a point in time of the calendar. `None` beyond the year 9999.
pub(crate) fn moment(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(millis(at)).ok()
}

/// Returns texts by key.
pub(crate) fn texts(properties: &Properties) -> BTreeMap<String, String> {
    properties.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// Returns names as texts.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = &'a Name>) -> Vec<String> {
    names.into_iter().map(Name::to_string).collect()
}

/// Returns a name as text. Empty for `None`.
pub(crate) fn name_or_empty(name: Option<&Name>) -> String {
    name.map(Name::to_string).unwrap_or_default()
}

/// Returns a duration in the format of Go: `30s`, `1m0s`, `1h30m0s`, `1.5s`, `100ms`, `0s`.
pub(crate) fn duration(span: Millis) -> String {
    let all = span.get();
    if (1..1_000).contains(&all) {
        return format!("{all}ms");
    }
    let (hours, minutes) = (all / 3_600_000, all / 60_000 % 60);
    let (seconds, millis) = (all / 1_000 % 60, all % 1_000);
    let fraction = match millis {
        0 => String::new(),
        _ => format!(".{millis:03}").trim_end_matches('0').to_owned(),
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_as_go_does() {
        for (millis, expected) in [
            (0, "0s"),
            (100, "100ms"),
            (1_500, "1.5s"),
            (30_000, "30s"),
            (60_000, "1m0s"),
            (90_005, "1m30.005s"),
            (5_400_000, "1h30m0s"),
            (90_000_000, "25h0m0s"),
        ] {
            assert_eq!(duration(Millis::new(millis)), expected);
        }
    }

    #[test]
    fn the_end_of_time_is_the_largest_number() {
        assert_eq!(nanos(Timestamp::from_millis(1_500)), 1_500_000_000);
        assert_eq!(nanos(Timestamp::MAX), i64::MAX);
        assert_eq!(moment(Timestamp::MAX), None);
    }
}
