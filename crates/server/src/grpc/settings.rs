//! Settings of the scheduler interface.

use std::time::Duration;

/// Settings of the scheduler interface. Source: scheduler interface §12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Longest time for which an RM can be disconnected before its state is removed.
    pub grace: Duration,
    /// Maximum number of messages that are stored for a disconnected or slow stream.
    pub messages_held: usize,
    /// Largest size of a message, in bytes.
    pub message_bytes_max: usize,
    /// Longest time for an answer of the RM.
    pub answer_within: Duration,
    /// Interval of messages with events of objects.
    pub events_every: Duration,
    /// Interval of repeated messages about asks that more nodes would help.
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
