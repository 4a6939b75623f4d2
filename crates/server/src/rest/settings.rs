//! How `/ws/v1` is served.

use std::collections::BTreeMap;
use std::time::Duration;

use headroom_core::Millis;
use headroom_core::config::property::read_duration;

/// Which servers let web pages of other origins read the answers, by headers: decision C-7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cors {
    /// All where identities are configured, since a page cannot send a token that it does not
    /// know; nobody on an open server.
    #[default]
    Auto,
    /// All, as the reference does.
    Any,
}

/// How `/ws/v1` is served, from the configuration of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestSettings {
    /// Who may read answers from a web page of another origin.
    pub cors: Cors,
    /// Whether identities are configured; if not, everybody is trusted.
    pub identities: bool,
    /// How long an answer may take that is sent piece by piece. It keeps the books as they were
    /// when it began.
    pub answer_time: Duration,
    /// How many such answers there may be at once.
    pub answers_at_once: usize,
    /// How many objects a state dump may hold.
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
    /// Whether answers say that pages of other origins may read them.
    pub fn is_shared(self) -> bool {
        self.identities || self.cors == Cors::Any
    }
}

/// Settings of events: keys of the settings next to the queue file. What cannot be understood
/// counts as its default. Source: REST API §9.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSettings {
    /// Whether events are served at all.
    pub tracking: bool,
    /// How many are stored; 0 for as many as usual.
    pub capacity: usize,
    /// How many streams there may be.
    pub streams: usize,
    /// How many streams there may be by one name of this server.
    pub streams_per_host: usize,
    /// How many events a batch may have.
    pub batch: u64,
}

impl EventSettings {
    /// As these settings say.
    pub fn of(extra: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| extra.get(key).map_or("", String::as_str);
        let number = |key| text(key).parse::<u64>().ok();
        let size = |key| number(key).and_then(|number| usize::try_from(number).ok());
        Self {
            tracking: switch(text("event.trackingEnabled")).unwrap_or(true),
            capacity: size("event.ringBufferCapacity").unwrap_or(0).min(KEPT_MAX),
            streams: size("event.maxStreams").unwrap_or(100),
            streams_per_host: size("event.maxStreamsPerHost").unwrap_or(15),
            batch: number("event.RESTResponseSize").filter(|size| *size > 0).unwrap_or(10_000),
        }
    }
}

/// The maximum number of stored events, whatever is configured: about 2 GiB of memory.
const KEPT_MAX: usize = 10_000_000;

/// How often health is checked by itself; none for never.
pub(crate) fn health_interval(extra: &BTreeMap<String, String>) -> Option<Millis> {
    let Some(text) = extra.get("health.checkInterval") else {
        return Some(HEALTH_INTERVAL);
    };
    // Only durations above zero can be read; others are legal, and mean never.
    let below = text.strip_prefix('-').is_some_and(|rest| read_duration(rest).is_some());
    let is_off = below || is_zero(text.trim_start_matches(['-', '+']));
    if is_off { None } else { Some(read_duration(text).unwrap_or(HEALTH_INTERVAL)) }
}

const HEALTH_INTERVAL: Millis = Millis::from_secs(30);

/// Whether a duration says nothing but zero, such as `0s` or `0h0m`.
fn is_zero(text: &str) -> bool {
    !text.is_empty() && text.contains('0') && text.bytes().all(|byte| b"0.hmsnu".contains(&byte))
}

/// The words for yes and no that the reference reads.
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
