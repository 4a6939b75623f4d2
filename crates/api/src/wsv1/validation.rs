//! `POST /ws/v1/validate-conf`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The verdict on a queue file, which was not applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// Whether it could come into force.
    pub allowed: bool,
    /// The first fault; absent when it is allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: String,
    /// Checksum of the text, as `/ws/v1/config` shows it; absent when it is not allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checksum: String,
    /// Whether the text held that checksum already; absent when it is not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum_match: Option<bool>,
}
