//! `GET /ws/v1/scheduler/healthcheck`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The last health check. The status of the response is 200 either way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Health {
    /// Whether all checks succeeded.
    pub healthy: bool,
    /// The checks, always in the same order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub health_checks: Vec<HealthCheck>,
}

/// One check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct HealthCheck {
    /// Its name, which another check may have, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// Whether all is well.
    pub succeeded: bool,
    /// What is checked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: String,
    /// What was found.
    #[serde(default, skip_serializing_if = "is_default")]
    pub diagnosis_message: String,
}
