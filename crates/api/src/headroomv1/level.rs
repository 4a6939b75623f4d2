//! `GET` and `PUT /headroom/v1/log-level`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much is logged. What is sent takes the place of all that was set before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogLevel {
    /// Of everything that is not in `targets`.
    pub level: Level,
    /// Of single parts, such as `headroom_server::grpc`.
    #[serde(default)]
    pub targets: BTreeMap<String, Level>,
}

/// How much is logged; each level includes those before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing.
    Off,
    /// What went wrong.
    Error,
    /// What may go wrong.
    Warn,
    /// What happened.
    #[default]
    Info,
    /// How it happened.
    Debug,
    /// Every step of it.
    Trace,
}
