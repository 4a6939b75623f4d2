//! Error responses of `/ws/v1`, and the messages that clients compare.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// An error response of `/ws/v1`.
///
/// Unknown paths and methods return plain text instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The status of the response.
    pub status_code: u16,
    /// The error message.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
    /// The same text as `message`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: String,
}

impl ErrorBody {
    /// Returns an error with this status and message.
    pub fn new(status_code: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status_code, description: message.clone(), message }
    }
}

/// Error messages that are the same in `YuniKorn`.
pub mod message {
    /// 400.
    pub const MISSING_PARAMETERS: &str = "Missing parameters";
    /// 404.
    pub const PARTITION_NOT_FOUND: &str = "Partition not found";
    /// 404: the path is valid, but the queue does not exist.
    pub const QUEUE_NOT_FOUND: &str = "Queue not found";
    /// 404.
    pub const APPLICATION_NOT_FOUND: &str = "Application not found";
    /// 404.
    pub const NODE_NOT_FOUND: &str = "Node not found";
    /// 404: nothing is tracked under the name.
    pub const USER_NOT_FOUND: &str = "User not found";
    /// 404: nothing is tracked under the name.
    pub const GROUP_NOT_FOUND: &str = "Group not found";
    /// 400.
    pub const INVALID_USER_NAME: &str = "Invalid user name";
    /// 400.
    pub const INVALID_GROUP_NAME: &str = "Invalid group name";
    /// 400: `:state` of the applications of a partition.
    pub const APPLICATION_STATES: &str =
        "Only following application states are allowed: active, rejected, completed";
    /// 400: `:state` of the applications of a queue.
    pub const QUEUE_APPLICATION_STATES: &str =
        "Only following application states are allowed: active";
    /// 400: `status`. `YuniKorn` lists the same words in a varying order.
    pub const ACTIVE_STATUSES: &str = "Only following active statuses are allowed: new, accepted, \
                                       running, completing, failing, resuming";
    /// 500: both event routes.
    pub const EVENTS_DISABLED: &str = "Event tracking is disabled";
    /// 400: events in a batch.
    pub const COUNT_ZERO: &str = "0 is not a valid value for \"count\"";
    /// 503: the event stream.
    pub const TOO_MANY_STREAMS: &str = "Too many streaming connections";
    /// Last line of an event stream whose reader was too slow. Its `status_code` is 200.
    pub const STREAM_CLOSED: &str = "Event stream was closed by the producer";
    /// 404: no check has been made yet.
    pub const NO_HEALTH_CHECK: &str = "Health check is not available";
    /// 500: no history is stored.
    pub const NO_HISTORY: &str = "Internal metrics collection is not enabled.";
    /// Body of an unknown path, as plain text, with status 404.
    pub const NO_SUCH_PATH: &str = "404 page not found\n";
    /// Body of a method that the path does not accept, as plain text, with status 405.
    pub const NO_SUCH_METHOD: &str = "Method Not Allowed\n";
}
