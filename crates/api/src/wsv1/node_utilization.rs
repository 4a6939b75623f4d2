//! `GET /ws/v1/scheduler/node-utilizations`.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The distribution of the nodes of a partition by utilization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionNodesUtilization {
    /// ID of the resource manager.
    pub cluster_id: String,
    /// Name of the partition.
    pub partition: String,
    /// Distributions by resource type. Headroom always sends the list, because the standard web UI
    /// reads its length. `YuniKorn` omits it for a partition without nodes.
    #[serde(default)]
    #[schema(required = true)]
    pub utilizations: Vec<ResourceUtilization>,
}

impl PartitionNodesUtilization {
    /// Returns all elements of a response. Also accepts `null`, which `YuniKorn` sends without
    /// partitions.
    ///
    /// # Errors
    /// When the list is neither `null` nor a list of such elements.
    pub fn list<'de, D: Deserializer<'de>>(body: D) -> Result<Vec<Self>, D::Error> {
        Ok(Option::deserialize(body)?.unwrap_or_default())
    }
}

/// The distribution of nodes by utilization of one resource type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUtilization {
    /// The resource type.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub resource: String,
    /// Ten buckets, `0-10%` to `90-100%`, in order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub utilization: Vec<UtilizationBucket>,
}

/// Nodes with similar utilization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UtilizationBucket {
    /// Name of the bucket, such as `0-10%`. The upper bound is included.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bucket_name: String,
    /// Number of nodes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub num_of_nodes: i64,
    /// IDs of the nodes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node_names: Vec<String>,
}
