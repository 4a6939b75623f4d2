//! `GET /ws/v1/history/apps` and `/ws/v1/history/containers`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IntegerText, is_default};

/// Running applications at one minute of the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationHistory {
    /// When, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp: i64,
    /// How many; -1 where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_applications: Option<IntegerText>,
}

/// Allocations at one minute of the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerHistory {
    /// When, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp: i64,
    /// How many; -1 where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_containers: Option<IntegerText>,
}
