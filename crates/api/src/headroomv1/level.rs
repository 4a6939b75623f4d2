//! `GET` and `PUT /headroom/v1/log-level`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The log level. A request replaces all earlier settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogLevel {
    /// Level of all targets that are not in `targets`.
    pub level: Level,
    /// Levels of single targets, such as `headroom_server::grpc`.
    #[serde(default)]
    pub targets: BTreeMap<String, Level>,
}

/// A log level. Each level includes the levels before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No messages.
    Off,
    /// Errors.
    Error,
    /// Warnings.
    Warn,
    /// Events.
    #[default]
    Info,
    /// Details of events.
    Debug,
    /// Every step.
    Trace,
}
