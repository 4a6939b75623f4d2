//! `GET /ws/v1/clusters`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The scheduler, for one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Start time of the process, in nanoseconds. The same in every element.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_time: i64,
    /// Build information that each resource manager sent at registration, and its `rmId`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rm_build_information: Vec<BTreeMap<String, String>>,
    /// Name of the partition.
    pub partition: String,
    /// Always [`Cluster::NAME`].
    pub cluster_name: String,
}

impl Cluster {
    /// The only `clusterName`.
    pub const NAME: &str = "kubernetes";
}
