//! How the scheduler interface is served.

use std::time::Duration;

/// How the scheduler interface is served. Source: scheduler interface §12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long an RM may be away before what is known of it is dropped.
    pub grace: Duration,
    /// How many messages are held for a stream that is away or slow.
    pub messages_held: usize,
    /// How large a message may be, in bytes.
    pub message_bytes_max: usize,
    /// How long the RM has for an answer.
    pub answer_within: Duration,
    /// How often the RM is sent what happened to objects.
    pub events_every: Duration,
    /// How often the RM is notified again which asks more nodes would help.
    pub container_state_every: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            grace: Duration::from_mins(1),
            messages_held: 65_536,
            message_bytes_max: 16 << 20,
            answer_within: Duration::from_secs(2),
            events_every: Duration::from_secs(2),
            container_state_every: Duration::from_secs(1),
        }
    }
}
