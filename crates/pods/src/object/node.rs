//! Nodes.

use serde::Deserialize;

use super::metadata::Metadata;
use super::pod::ResourceList;
use super::text::{List, Text};
use super::word::words;

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Node {
    /// Name and labels.
    pub metadata: Metadata,
    /// What the node refuses.
    pub spec: NodeSpec,
    /// What the node offers.
    pub status: NodeStatus,
}

/// What a node refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeSpec {
    /// Whether the node is cordoned.
    pub unschedulable: bool,
    /// Taints, which pods must tolerate.
    pub taints: List<Taint>,
}

/// What a node offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeStatus {
    /// Amounts for pods.
    pub allocatable: ResourceList,
    /// Features that the kubelet of the node declares.
    pub declared_features: List<Text>,
}

/// A taint of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Taint {
    /// Key of the taint.
    pub key: Text,
    /// Value of the taint.
    pub value: Text,
    /// Effect on pods that do not tolerate the taint.
    pub effect: Effect,
}

words! {
    /// Effect of a taint.
    Effect {
        /// Refuses new pods.
        NoSchedule = "NoSchedule",
        /// Is only a preference.
        PreferNoSchedule = "PreferNoSchedule",
        /// Refuses new pods and evicts running ones.
        NoExecute = "NoExecute",
    } default Unknown else
    /// No effect that Kubernetes defines.
    Unknown
}
