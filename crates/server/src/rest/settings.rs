//! Settings of `/ws/v1`.

use std::collections::BTreeMap;
use std::time::Duration;

use headroom_core::Millis;
use headroom_core::config::property::read_duration;

/// Servers on which web pages of other origins can read the answers, by headers: decision C-7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cors {
    /// All origins if identities are configured, because a page cannot send an unknown token. No other origin on an
    /// open server.
    #[default]
    Auto,
    /// All origins, as in the reference.
    Any,
}

/// Settings of `/ws/v1`, from the configuration of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestSettings {
    /// Origins of web pages that can read answers.
    pub cors: Cors,
    /// Whether identities are configured. Without identities, every caller is trusted.
    pub identities: bool,
    /// Longest duration of an answer that is sent in pieces. Such an answer holds the view of the books from its start.
    pub answer_time: Duration,
    /// Maximum number of large answers at once.
    pub answers_at_once: usize,
    /// Maximum number of objects in a state dump.
    pub dump_objects_max: usize,
}

impl Default for RestSettings {
    fn default() -> Self {
        Self {
            cors: Cors::Auto,
            identities: false,
            answer_time: Duration::from_mins(2),
            answers_at_once: 32,
            dump_objects_max: 2_000_000,
        }
    }
}

impl RestSettings {
    /// Returns whether pages of other origins can read answers.
    pub fn is_shared(self) -> bool {
        self.identities || self.cors == Cors::Any
    }
}

/// Settings of events: keys of the settings next to the queue file. A value that cannot be parsed counts as the
/// default. Source: REST API §9.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSettings {
    /// Whether events are served.
    pub tracking: bool,
    /// Number of stored events. 0 for the default.
    pub capacity: usize,
    /// Maximum number of streams.
    pub streams: usize,
    /// Maximum number of streams for one host name of this server.
    pub streams_per_host: usize,
    /// Maximum number of events in a batch.
    pub batch: u64,
}

impl EventSettings {
    /// Returns the settings with these keys.
    pub fn of(extra: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| extra.get(key).map_or("", String::as_str);
        let number = |key| text(key).parse::<u64>().ok();
        let size = |key| number(key).and_then(|number| usize::try_from(number).ok());
        let capacity =
            size("event.ringBufferCapacity").or_else(|| size("event.ringbufferCapacity"));
        Self {
            tracking: switch(text("event.trackingEnabled")).unwrap_or(true),
            capacity: capacity.unwrap_or(0).min(KEPT_MAX),
            streams: size("event.maxStreams").unwrap_or(100),
            streams_per_host: size("event.maxStreamsPerHost").unwrap_or(15),
            batch: number("event.RESTResponseSize").filter(|size| *size > 0).unwrap_or(10_000),
        }
    }
}

/// Largest number of stored events, regardless of the configuration: about 2 GiB of memory.
const KEPT_MAX: usize = 10_000_000;

/// Returns the interval of automatic health checks. `None` if these checks are disabled.
pub(crate) fn health_interval(extra: &BTreeMap<String, String>) -> Option<Millis> {
    let Some(text) = extra.get("health.checkInterval") else {
        return Some(HEALTH_INTERVAL);
    };
    // Only positive durations can be parsed. Others are valid, and mean off.
    let below = text.strip_prefix('-').is_some_and(|rest| read_duration(rest).is_some());
    let is_off = below || is_zero(text.trim_start_matches(['-', '+']));
    if is_off { None } else { Some(read_duration(text).unwrap_or(HEALTH_INTERVAL)) }
}

const HEALTH_INTERVAL: Millis = Millis::from_secs(30);

/// Returns whether a duration is zero, such as `0s` or `0h0m`.
fn is_zero(text: &str) -> bool {
    !text.is_empty() && text.contains('0') && text.bytes().all(|byte| b"0.hmsnu".contains(&byte))
}

/// Parses the words for true and false that the reference accepts.
fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(key: &str, value: &str) -> BTreeMap<String, String> {
        [(key.to_owned(), value.to_owned())].into()
    }

    #[test]
    fn settings_that_cannot_be_understood_are_the_defaults() {
        let usual = EventSettings::of(&BTreeMap::new());
        assert_eq!((usual.tracking, usual.capacity, usual.streams), (true, 0, 100));
        assert_eq!((usual.streams_per_host, usual.batch), (15, 10_000));
        for (key, value) in [
            ("event.trackingEnabled", "yes"),
            ("event.ringBufferCapacity", "-1"),
            ("event.maxStreams", "many"),
            ("event.maxStreamsPerHost", "1.5"),
            ("event.RESTResponseSize", "0"),
        ] {
            assert_eq!(EventSettings::of(&extra(key, value)), usual, "{key}: {value}");
        }
        for key in ["event.ringBufferCapacity", "event.ringbufferCapacity"] {
            assert_eq!(EventSettings::of(&extra(key, "7")).capacity, 7, "{key}");
        }
        assert!(!EventSettings::of(&extra("event.trackingEnabled", "false")).tracking);
        assert_eq!(EventSettings::of(&extra("event.RESTResponseSize", "7")).batch, 7);
    }

    #[test]
    fn health_is_checked_as_often_as_is_said() {
        for (text, expected) in [
            ("10s", Some(10_000)),
            ("1m30s", Some(90_000)),
            ("0", None),
            ("0s", None),
            ("-5s", None),
            ("-soon", Some(30_000)),
            ("soon", Some(30_000)),
            ("", Some(30_000)),
        ] {
            let found = health_interval(&extra("health.checkInterval", text));
            assert_eq!(found.map(Millis::get), expected, "{text:?}");
        }
        assert_eq!(health_interval(&BTreeMap::new()), Some(HEALTH_INTERVAL));
    }
}
