//! Queue properties: text in the file, typed values at run time.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::name::Name;
use crate::time::Millis;

pub use super::properties::{PROPERTIES, Property};

/// Properties by key, as text. Unknown keys are preserved.
pub type Properties = BTreeMap<Name, Name>;

/// Order of applications in a leaf.
pub const SORT_POLICY: &str = "application.sort.policy";
/// Whether priority precedes that order.
pub const SORT_PRIORITY: &str = "application.sort.priority";
/// Number of failed asks after which an application backs off. 0 disables back-off.
pub const BACKOFF: &str = "application.unschedasks.backoff";
/// Duration of the back-off.
pub const BACKOFF_DELAY: &str = "application.unschedasks.backoff.delay";
/// Whether a queue shows its parent the priority of its applications, or only its offset.
pub const PRIORITY_POLICY: &str = "priority.policy";
/// Offset that is added to the priority that a queue shows its parent.
pub const PRIORITY_OFFSET: &str = "priority.offset";
/// With `priority`: waiting time after which an application gains priority.
pub const AGING_INTERVAL: &str = "application.sort.aging.interval";
/// With `priority`: gained priority for each interval.
pub const AGING_STEP: &str = "application.sort.aging.step";
/// With `priority`: largest gained priority.
pub const AGING_MAX: &str = "application.sort.aging.max";
/// Largest number of times that the head of line is overtaken.
pub const MAX_OVERTAKES: &str = "application.sort.maxovertakes";
/// Waiting time after which the head of line is no longer overtaken.
pub const MAX_HEAD_WAIT: &str = "application.sort.maxheadwait";
/// Queues in which this queue preempts, if any.
pub const PREEMPTION_POLICY: &str = "preemption.policy";
/// Waiting time after which an ask preempts.
pub const PREEMPTION_DELAY: &str = "preemption.delay";
/// Time that a queue can exceed a lowered maximum. 0 disables quota preemption.
pub const QUOTA_PREEMPTION_DELAY: &str = "quota.preemption.delay";

/// Order of applications in a leaf, and protection of the first waiting ask. Source: queues and limits §4.2, tenants
/// §8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplicationOrder {
    /// Oldest submission first. Applications that cannot run do not block later ones.
    #[default]
    Fifo,
    /// Smallest share first.
    Fair,
    /// Oldest submission first, regardless of priority. No other ask uses capacity that the head of line needs.
    FifoStrict,
    /// Oldest submission first, regardless of priority. A limited number of asks can overtake.
    FifoBackfill,
    /// Highest priority first, which increases with waiting. A limited number of asks can overtake.
    Priority,
    /// Earliest necessary start first. A limited number of asks can overtake.
    Urgency,
}

impl ApplicationOrder {
    /// Returns whether the order has a head of line that limits overtaking.
    pub const fn has_head_of_line(self) -> bool {
        !matches!(self, Self::Fifo | Self::Fair)
    }

    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Fair => "fair",
            Self::FifoStrict => "fifo-strict",
            Self::FifoBackfill => "fifo-backfill",
            Self::Priority => "priority",
            Self::Urgency => "urgency",
        }
    }
}

/// Settings of a line in addition to its order, and limits on overtaking the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct OvertakingLimits {
    /// With `priority`: waiting time after which an application gains priority.
    pub aging_interval: Millis,
    /// With `priority`: gained priority for each interval.
    pub aging_step: u32,
    /// With `priority`: largest gained priority.
    pub aging_max: u32,
    /// Largest number of times that the head is overtaken.
    pub max_overtakes: u32,
    /// Waiting time after which the head is no longer overtaken.
    pub max_head_wait: Millis,
}

impl Default for OvertakingLimits {
    /// Returns the defaults of tenants §3.1.
    fn default() -> Self {
        Self {
            aging_interval: Millis::from_secs(60),
            aging_step: 1,
            aging_max: 20,
            max_overtakes: 16,
            max_head_wait: Millis::from_secs(300),
        }
    }
}

impl OvertakingLimits {
    /// Returns the priority that an application gained by waiting for this time.
    pub fn aged(&self, waited: Millis) -> u32 {
        let times = waited.get() / self.aging_interval.get().max(1);
        let grown = times.saturating_mul(u64::from(self.aging_step));
        u32::try_from(grown).unwrap_or(u32::MAX).min(self.aging_max)
    }
}

/// Priority that a queue shows its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriorityPolicy {
    /// The highest priority in its subtree, plus the offset.
    #[default]
    Default,
    /// Only the offset.
    Fence,
}

/// Queues in which the asks of a queue can preempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreemptionPolicy {
    /// In any queue that its ancestors allow.
    #[default]
    Default,
    /// Only in this queue and its descendants.
    Fence,
    /// In no queue.
    Disabled,
}

/// Parsed properties with a meaning. Invalid values count as their defaults.
///
/// Source: queues and limits §4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct PropertyValues {
    /// Order of applications in a leaf.
    pub application_order: ApplicationOrder,
    /// Whether priority precedes that order, and the share of sibling queues.
    pub priority_first: bool,
    /// Number of failed asks after which an application backs off. 0 disables back-off.
    pub backoff: u64,
    /// Duration of the back-off.
    pub backoff_delay: Millis,
    /// Priority that the queue shows its parent.
    pub priority_policy: PriorityPolicy,
    /// Offset that is added to the priority.
    pub priority_offset: i32,
    /// Queues in which asks can preempt.
    pub preemption_policy: PreemptionPolicy,
    /// Waiting time after which an ask preempts.
    pub preemption_delay: Millis,
    /// Time that the queue can exceed a lowered maximum. 0 disables quota preemption.
    pub quota_preemption_delay: Millis,
    /// Settings of the line, for a leaf with a head of line.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub line: OvertakingLimits,
}

/// Default delay if no property sets one.
const HALF_A_MINUTE: Millis = Millis::from_secs(30);

impl Default for PropertyValues {
    fn default() -> Self {
        Self {
            application_order: ApplicationOrder::Fifo,
            priority_first: true,
            backoff: 0,
            backoff_delay: HALF_A_MINUTE,
            priority_policy: PriorityPolicy::Default,
            priority_offset: 0,
            preemption_policy: PreemptionPolicy::Default,
            preemption_delay: HALF_A_MINUTE,
            quota_preemption_delay: Millis::from_secs(0),
            line: OvertakingLimits::default(),
        }
    }
}

impl PropertyValues {
    /// Parses the properties of a queue.
    pub fn read(properties: &Properties) -> Self {
        let text = |key| properties.get(key).map_or("", |value: &Name| value.as_str());
        let delay = |key| read_duration(text(key));
        let defaults = Self::default();
        let order = application_order(text(SORT_POLICY)).unwrap_or_default();
        // With a head of line, an ask that cannot overtake has not failed, so there is no back-off.
        let backoff = unsigned(text(BACKOFF)).filter(|_| !order.has_head_of_line());
        let count = |key, default| small(text(key)).unwrap_or(default);
        let line = OvertakingLimits {
            aging_interval: delay(AGING_INTERVAL).unwrap_or(defaults.line.aging_interval),
            aging_step: count(AGING_STEP, defaults.line.aging_step),
            aging_max: count(AGING_MAX, defaults.line.aging_max),
            max_overtakes: count(MAX_OVERTAKES, defaults.line.max_overtakes),
            max_head_wait: delay(MAX_HEAD_WAIT).unwrap_or(defaults.line.max_head_wait),
        };
        Self {
            application_order: order,
            priority_first: switch(text(SORT_PRIORITY)).unwrap_or(defaults.priority_first),
            backoff: backoff.unwrap_or(defaults.backoff),
            backoff_delay: delay(BACKOFF_DELAY).unwrap_or(defaults.backoff_delay),
            priority_policy: priority_policy(text(PRIORITY_POLICY)).unwrap_or_default(),
            priority_offset: offset(text(PRIORITY_OFFSET)).unwrap_or(defaults.priority_offset),
            preemption_policy: preemption_policy(text(PREEMPTION_POLICY)).unwrap_or_default(),
            preemption_delay: delay(PREEMPTION_DELAY).unwrap_or(defaults.preemption_delay),
            quota_preemption_delay: delay(QUOTA_PREEMPTION_DELAY)
                .unwrap_or(defaults.quota_preemption_delay),
            line,
        }
    }
}

/// Returns whether a value is valid for this key. An invalid value counts as the default. `None` for a key without a
/// meaning.
pub fn is_understood(key: &str, value: &str) -> Option<bool> {
    Some(match key {
        SORT_POLICY => application_order(value).is_some(),
        SORT_PRIORITY => switch(value).is_some(),
        BACKOFF => unsigned(value).is_some(),
        PRIORITY_POLICY => priority_policy(value).is_some(),
        PRIORITY_OFFSET => offset(value).is_some(),
        PREEMPTION_POLICY => preemption_policy(value).is_some(),
        AGING_STEP | AGING_MAX | MAX_OVERTAKES => small(value).is_some(),
        BACKOFF_DELAY
        | PREEMPTION_DELAY
        | QUOTA_PREEMPTION_DELAY
        | AGING_INTERVAL
        | MAX_HEAD_WAIT => read_duration(value).is_some(),
        _ => return None,
    })
}

/// Parses an order in lower case: the words of YuniKorn, of which all but one have the same meaning here, and
/// additional words.
fn application_order(text: &str) -> Option<ApplicationOrder> {
    Some(match text {
        "" | "fifo" | "stateaware" => ApplicationOrder::Fifo,
        "fair" => ApplicationOrder::Fair,
        "fifo-strict" => ApplicationOrder::FifoStrict,
        "fifo-backfill" => ApplicationOrder::FifoBackfill,
        "priority" => ApplicationOrder::Priority,
        "urgency" => ApplicationOrder::Urgency,
        _ => return None,
    })
}

fn switch(text: &str) -> Option<bool> {
    word(text, [("enabled", true), ("disabled", false)])
}

fn priority_policy(text: &str) -> Option<PriorityPolicy> {
    use PriorityPolicy::{Default, Fence};
    word(text, [("", Default), ("default", Default), ("fence", Fence)])
}

fn preemption_policy(text: &str) -> Option<PreemptionPolicy> {
    use PreemptionPolicy::{Default, Disabled, Fence};
    word(text, [("", Default), ("default", Default), ("fence", Fence), ("disabled", Disabled)])
}

fn offset(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// Returns the value of a word, ignoring case.
fn word<T, const N: usize>(text: &str, words: [(&str, T); N]) -> Option<T> {
    words.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| value)
}

/// Returns the effective properties of a queue: those that the parent passes on, overridden by its own.
pub fn inherit(parent: &Properties, own: &Properties) -> Properties {
    let mut result = Properties::new();
    for (key, value) in parent {
        let passed = match &**key {
            PRIORITY_POLICY => Name::new("default"),
            PRIORITY_OFFSET => Name::new("0"),
            PREEMPTION_POLICY if !value.eq_ignore_ascii_case("disabled") => Name::new("default"),
            _ => value.clone(),
        };
        result.insert(key.clone(), passed);
    }
    result.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
    result
}

/// Units of a duration in nanoseconds. A unit precedes every unit that is its prefix.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses decimal digits as a number below 2^32.
fn small(text: &str) -> Option<u32> {
    unsigned(text).and_then(|number| u32::try_from(number).ok())
}

/// Parses decimal digits as Go parses unsigned numbers, without a sign.
fn unsigned(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Parses a duration in the format of Go, such as `1m30s` or `1.5h`, and rounds it up to milliseconds. `None` unless it
/// is positive and below 2^63 ns.
pub fn read_duration(text: &str) -> Option<Millis> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let (whole, behind) = digits(rest);
        let (fraction, behind) = behind.strip_prefix('.').map_or(("", behind), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (name, unit) = UNITS.into_iter().find(|(name, _)| behind.starts_with(name))?;
        rest = &behind[name.len()..];
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total += u128::from(whole) * u128::from(unit);
        // Further digits are less than a nanosecond in the largest unit.
        let fraction = &fraction[..fraction.len().min(18)];
        if !fraction.is_empty() {
            let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
            total += u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit) / scale;
        }
        if total > i64::MAX as u128 {
            return None;
        }
    }
    (total > 0).then(|| Millis::new(u64::try_from(total).unwrap_or(0).div_ceil(1_000_000)))
}

/// Parses a duration, or zero.
pub fn read_span(text: &str) -> Option<Millis> {
    if matches!(text, "0" | "0s") { Some(Millis::ZERO) } else { read_duration(text) }
}

/// Formats a time span for [`read_span`], in seconds if possible.
pub fn duration_text(span: Millis) -> String {
    let millis = span.get();
    let is_whole = millis.is_multiple_of(1_000);
    if is_whole { format!("{}s", millis / 1_000) } else { format!("{millis}ms") }
}

/// Splits a text after its leading decimal digits.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units() {
        for (text, expected) in [
            ("30s", Some(30_000)),
            ("1m30s", Some(90_000)),
            ("1.5h", Some(5_400_000)),
            (".5s", Some(500)),
            ("1.s", Some(1_000)),
            ("+1ms", Some(1)),
            ("1ns", Some(1)),
            ("2562047h", Some(9_223_369_200_000)),
            ("2562048h", None),
            ("0.1ns", None),
            ("1.2.3s", None),
            ("1mss", None),
            ("1m 30s", None),
            ("1µs", Some(1)),
            ("99999999999999999999h", None),
            ("0s", None),
            ("-1s", None),
            ("30", None),
            ("s", None),
            (".s", None),
            ("", None),
        ] {
            let expected = expected.map(Millis::new);
            assert_eq!(read_duration(text), expected, "reading {text:?}");
        }
    }

    #[test]
    fn values_that_mean_nothing_are_defaults() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(key, value)| (Name::new(key), Name::new(value)));
            PropertyValues::read(&pairs.collect())
        };
        assert_eq!(of(&[]), PropertyValues::default());
        let bad = [
            (SORT_POLICY, "FAIR"),
            (SORT_PRIORITY, "off"),
            (BACKOFF, "+5"),
            (BACKOFF_DELAY, "0s"),
            (PRIORITY_POLICY, "fenced"),
            (PRIORITY_OFFSET, "1.5"),
            (PREEMPTION_POLICY, "no"),
            (PREEMPTION_DELAY, "-5s"),
            (QUOTA_PREEMPTION_DELAY, "soon"),
            (AGING_INTERVAL, "0s"),
            (AGING_STEP, "-1"),
            (AGING_MAX, "4294967296"),
            (MAX_OVERTAKES, "many"),
            (MAX_HEAD_WAIT, "300"),
        ];
        assert_eq!(of(&bad), PropertyValues::default());
        let good = of(&[
            (SORT_POLICY, "fair"),
            (SORT_PRIORITY, "Disabled"),
            (BACKOFF, "3"),
            (BACKOFF_DELAY, "1s"),
            (PRIORITY_POLICY, "FENCE"),
            (PRIORITY_OFFSET, "-7"),
            (PREEMPTION_POLICY, "Disabled"),
            (PREEMPTION_DELAY, "2s"),
            (QUOTA_PREEMPTION_DELAY, "3s"),
            (AGING_INTERVAL, "4s"),
            (AGING_STEP, "2"),
            (AGING_MAX, "30"),
            (MAX_OVERTAKES, "5"),
            (MAX_HEAD_WAIT, "6s"),
        ]);
        let expected = PropertyValues {
            application_order: ApplicationOrder::Fair,
            priority_first: false,
            backoff: 3,
            backoff_delay: Millis::from_secs(1),
            priority_policy: PriorityPolicy::Fence,
            priority_offset: -7,
            preemption_policy: PreemptionPolicy::Disabled,
            preemption_delay: Millis::from_secs(2),
            quota_preemption_delay: Millis::from_secs(3),
            line: OvertakingLimits {
                aging_interval: Millis::from_secs(4),
                aging_step: 2,
                aging_max: 30,
                max_overtakes: 5,
                max_head_wait: Millis::from_secs(6),
            },
        };
        assert_eq!(good, expected);
    }
}
