//! Values of `state`, `maximumapplicationlifetime`, and `defaultapplicationlifetime` of a queue.

use headroom_core::Millis;
use headroom_core::config::{LifetimesConfig, QueueStart};

use crate::raw::{Queue, Text};

/// Longest lifetime in seconds: about 136 years.
pub(crate) const SECONDS_MAX: u64 = u32::MAX as u64;

/// Parses the state of a queue.
pub(crate) fn start(text: &Text) -> Option<QueueStart> {
    match text.value.as_str() {
        "running" => Some(QueueStart::Running),
        "stopped" => Some(QueueStart::Stopped),
        _ => None,
    }
}

/// Parses a number of seconds in digits. Rejects a leading zero, because YAML then interprets the number differently.
pub(crate) fn seconds(text: &Text) -> Option<u64> {
    let digits = &text.value;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|seconds| is_plain && *seconds <= SECONDS_MAX)
}

/// Returns the lifetimes of a valid queue.
pub(crate) fn lifetimes(queue: &Queue) -> LifetimesConfig {
    let of = |text: &Option<Text>| text.as_ref().and_then(seconds).map(Millis::from_secs);
    LifetimesConfig { maximum: of(&queue.maximum_lifetime), default: of(&queue.default_lifetime) }
}
