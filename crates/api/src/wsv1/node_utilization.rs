//! `GET /ws/v1/scheduler/node-utilizations`.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// How full the nodes of a partition are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionNodesUtilization {
    /// Id of the RM.
    pub cluster_id: String,
    /// Name of the partition.
    pub partition: String,
    /// By resource type. Headroom always sends the list, since the stock web UI reads its length;
    /// the reference leaves it out when a partition has no nodes.
    #[serde(default)]
    #[schema(required = true)]
    pub utilizations: Vec<ResourceUtilization>,
}

impl PartitionNodesUtilization {
    /// The whole answer; reads the reference's `null`, too, which it sends without partitions.
    ///
    /// # Errors
    /// When the list is neither `null` nor a list of such elements.
    pub fn list<'de, D: Deserializer<'de>>(body: D) -> Result<Vec<Self>, D::Error> {
        Ok(Option::deserialize(body)?.unwrap_or_default())
    }
}

/// How full nodes are in one resource type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUtilization {
    /// The resource type.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub resource: String,
    /// Ten buckets, `0-10%` to `90-100%`, in this order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub utilization: Vec<UtilizationBucket>,
}

/// The nodes that are about equally full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UtilizationBucket {
    /// Such as `0-10%`, the upper bound included.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bucket_name: String,
    /// How many.
    #[serde(default, skip_serializing_if = "is_default")]
    pub num_of_nodes: i64,
    /// Their ids.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node_names: Vec<String>,
}
