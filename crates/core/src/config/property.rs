//! Queue properties: text in the file, typed values at run time.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::name::Name;
use crate::time::Millis;

pub use super::properties::{PROPERTIES, Property};

/// Properties by key, as text; unknown keys stay.
pub type Properties = BTreeMap<Name, Name>;

/// Order of applications in a leaf.
pub const SORT_POLICY: &str = "application.sort.policy";
/// Whether priority comes before that order.
pub const SORT_PRIORITY: &str = "application.sort.priority";
/// After how many failed tries an ask is left alone for a while; 0 = never.
pub const BACKOFF: &str = "application.unschedasks.backoff";
/// For how long it is left alone.
pub const BACKOFF_DELAY: &str = "application.unschedasks.backoff.delay";
/// Whether a queue shows its parent what its applications ask with, or its offset alone.
pub const PRIORITY_POLICY: &str = "priority.policy";
/// What is added to the priority that a queue shows its parent.
pub const PRIORITY_OFFSET: &str = "priority.offset";
/// By `priority`, how long an application waits to count as more urgent.
pub const AGING_INTERVAL: &str = "application.sort.aging.interval";
/// By how much it does then.
pub const AGING_STEP: &str = "application.sort.aging.step";
/// How much more urgent it may become in all.
pub const AGING_MAX: &str = "application.sort.aging.max";
/// How often others may go before the first in line.
pub const MAX_OVERTAKES: &str = "application.sort.maxovertakes";
/// How long the first in line waits until nobody goes before it.
pub const MAX_HEAD_WAIT: &str = "application.sort.maxheadwait";
/// From where, and whether, room is taken for this queue.
pub const PREEMPTION_POLICY: &str = "preemption.policy";
/// How long an ask waits before room is taken for it.
pub const PREEMPTION_DELAY: &str = "preemption.delay";
/// How long a queue may stay above a lowered maximum; 0 = for ever.
pub const QUOTA_PREEMPTION_DELAY: &str = "quota.preemption.delay";

/// In which order a leaf offers room to its applications, and what it does for the first that waits.
/// Source: queues and limits §4.2, tenants §8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplicationOrder {
    /// The oldest submission first; one that cannot run does not hold up the next.
    #[default]
    Fifo,
    /// The smallest share first.
    Fair,
    /// The oldest submission first, whatever its priority; nobody takes of the quotas what it needs.
    FifoStrict,
    /// The oldest submission first, whatever its priority; others may go before it so often.
    FifoBackfill,
    /// The highest priority first, which grows with waiting; others may go before it so often.
    Priority,
    /// Who is to start soonest first; others may go before it so often.
    Urgency,
}

impl ApplicationOrder {
    /// Whether applications stand in a line whose head others may not overtake freely.
    pub const fn has_head_of_line(self) -> bool {
        !matches!(self, Self::Fifo | Self::Fair)
    }

    /// The word for it in a queue file.
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

/// What orders a line in addition to its policy, and bounds how often its head is overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct OvertakingLimits {
    /// By `priority`, how long an application waits to count as more urgent.
    pub aging_interval: Millis,
    /// By how much it does then.
    pub aging_step: u32,
    /// How much more urgent it may become in all.
    pub aging_max: u32,
    /// How often others may go before the head.
    pub max_overtakes: u32,
    /// How long an application waits before nobody goes before it once it is the head.
    pub max_head_wait: Millis,
}

impl Default for OvertakingLimits {
    /// As tenants §3.1 has them.
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
    /// By how much an application counts as more urgent that has waited for so long.
    pub fn aged(&self, waited: Millis) -> u32 {
        let times = waited.get() / self.aging_interval.get().max(1);
        let grown = times.saturating_mul(u64::from(self.aging_step));
        u32::try_from(grown).unwrap_or(u32::MAX).min(self.aging_max)
    }
}

/// What priority a queue shows its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriorityPolicy {
    /// The highest that waits below, and the offset.
    #[default]
    Default,
    /// The offset alone, whatever waits below.
    Fence,
}

/// From where room may be taken for the asks of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreemptionPolicy {
    /// From anywhere that an ancestor allows.
    #[default]
    Default,
    /// From this queue and below only.
    Fence,
    /// From nowhere.
    Disabled,
}

/// The properties that mean something, read; bad values count as their defaults.
///
/// Source: queues and limits §4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct PropertyValues {
    /// In which order a leaf offers room to its applications.
    pub application_order: ApplicationOrder,
    /// Whether priority comes before that order, and before the share of sibling queues.
    pub priority_first: bool,
    /// After how many failed tries an ask is left alone for a while; 0 = never.
    pub backoff: u64,
    /// For how long.
    pub backoff_delay: Millis,
    /// What priority the queue shows its parent.
    pub priority_policy: PriorityPolicy,
    /// What is added to it.
    pub priority_offset: i32,
    /// From where room may be taken.
    pub preemption_policy: PreemptionPolicy,
    /// How long an ask waits before room is taken for it.
    pub preemption_delay: Millis,
    /// How long the queue may stay above a lowered maximum; 0 = for ever.
    pub quota_preemption_delay: Millis,
    /// What orders the line of a leaf that has one.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub line: OvertakingLimits,
}

/// What holds where no property says otherwise.
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
    /// Read the properties of a queue.
    pub fn read(properties: &Properties) -> Self {
        let text = |key| properties.get(key).map_or("", |value: &Name| value.as_str());
        let delay = |key| read_duration(text(key));
        let defaults = Self::default();
        let order = application_order(text(SORT_POLICY)).unwrap_or_default();
        // Who is passed over because of the head of a line has not failed.
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

/// Whether a value of this key is understood; one that is not counts as the default. `None` for
/// a key without meaning.
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

/// The words of the reference, in lower case, of which all but one mean the same here; and ours.
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

/// What a word means, in any case.
fn word<T, const N: usize>(text: &str, words: [(&str, T); N]) -> Option<T> {
    words.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| value)
}

/// What a queue is left with: its parent's properties as far as they are passed on, and its
/// own over them.
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

/// Units of a duration, in nanoseconds; longer names first where one begins with another.
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

/// Decimal digits that make a number below 2^32.
fn small(text: &str) -> Option<u32> {
    unsigned(text).and_then(|number| u32::try_from(number).ok())
}

/// Decimal digits and nothing else, as Go reads unsigned numbers.
fn unsigned(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Read decimal numbers with a unit each, `1m30s` or `1.5h`, as Go writes durations; rounded up
/// to a whole millisecond. None unless it is above zero and below 2^63 ns.
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
        // Digits beyond these are below a nanosecond of the largest unit.
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

/// The same, or no time at all.
pub fn read_span(text: &str) -> Option<Millis> {
    if matches!(text, "0" | "0s") { Some(Millis::ZERO) } else { read_duration(text) }
}

/// A span as [`read_span`] reads it, in seconds where it is whole seconds.
pub fn duration_text(span: Millis) -> String {
    let millis = span.get();
    let is_whole = millis.is_multiple_of(1_000);
    if is_whole { format!("{}s", millis / 1_000) } else { format!("{millis}ms") }
}

/// The decimal digits in front, and what is behind them.
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
