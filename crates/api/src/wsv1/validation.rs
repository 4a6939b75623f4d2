//! `POST /ws/v1/validate-conf`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The result of validating a queue file. The file was not applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// Whether the file could be applied.
    pub allowed: bool,
    /// The first error. Absent if the file is allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: String,
    /// Checksum of the text, as in `/ws/v1/config`. Absent if the file is not allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checksum: String,
    /// Whether the text already had this checksum. Absent if the file is not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum_match: Option<bool>,
}
