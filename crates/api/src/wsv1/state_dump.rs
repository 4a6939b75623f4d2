//! `GET /debug/fullstatedump`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    Application, ApplicationHistory, Cluster, Config, ContainerHistory, Node, Partition,
    PlacementRule, Queue, is_default,
};

/// The complete state at one moment. Sent indented.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateDump {
    /// Time of the dump, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp: i64,
    /// Like `/ws/v1/partitions`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub partitions: Vec<Partition>,
    /// Active, completed, and rejected applications of all partitions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub applications: Vec<Application>,
    /// Like `/ws/v1/history/apps`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub app_history: Vec<ApplicationHistory>,
    /// Nodes by partition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nodes: Vec<PartitionNodes>,
    /// Like `/ws/v1/clusters`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cluster_info: Vec<Cluster>,
    /// Like `/ws/v1/history/containers`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub container_history: Vec<ContainerHistory>,
    /// The root of each partition, with all queues below it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queues: Vec<Queue>,
    /// State dump of the resource manager. `empty` or `Error` if it has none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(value_type = Object)]
    pub rm_diagnostics: Map<String, Value>,
    /// Log level in lowercase, such as `info`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_level: String,
    /// Like `/ws/v1/config`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Config>,
    /// Placement rules by partition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement_rules: Vec<PartitionRules>,
    /// Readers of the event stream.
    #[serde(default, skip_serializing_if = "is_default")]
    pub event_streams: Vec<EventStream>,
}

/// The nodes of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionNodes {
    /// The partition.
    pub partition_name: String,
    /// Nodes of the partition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nodes_info: Vec<Node>,
}

/// The placement rules of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionRules {
    /// The partition.
    pub partition: String,
    /// Placement rules, in order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: Vec<PlacementRule>,
}

/// A reader of the event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct EventStream {
    /// The `Host` header of its request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// Start time of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}
