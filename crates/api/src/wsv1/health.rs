//! `GET /ws/v1/scheduler/healthcheck`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The last health check. The status of the response is 200 for every result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Health {
    /// Whether all checks succeeded.
    pub healthy: bool,
    /// The checks, in a fixed order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub health_checks: Vec<HealthCheck>,
}

/// A health check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct HealthCheck {
    /// Name of the check. It is not unique.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// Whether the check succeeded.
    pub succeeded: bool,
    /// Description of the check.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: String,
    /// Result of the check.
    #[serde(default, skip_serializing_if = "is_default")]
    pub diagnosis_message: String,
}
