//! `GET /ws/v1/history/apps` and `/ws/v1/history/containers`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IntegerText, is_default};

/// The number of running applications at one minute of the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationHistory {
    /// Time of the sample, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp: i64,
    /// Number of applications. -1 if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_applications: Option<IntegerText>,
}

/// The number of allocations at one minute of the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerHistory {
    /// Time of the sample, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp: i64,
    /// Number of allocations. -1 if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_containers: Option<IntegerText>,
}
