//! Affinity to nodes and to other pods, and tolerations.

use serde::Deserialize;

use super::metadata::or_default;
use super::node::Effect;
use super::selector::LabelSelector;
use super::text::{List, Text};
use super::word::words;

/// Required affinity of a pod. Preferences are not stored, because Headroom does not score nodes by them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Affinity {
    /// Affinity to nodes.
    pub node_affinity: Option<NodeAffinity>,
    /// Pods to run near.
    pub pod_affinity: Option<InterPodAffinity>,
    /// Pods to avoid.
    pub pod_anti_affinity: Option<InterPodAffinity>,
}

/// Affinity to nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NodeAffinity {
    /// Nodes that the pod can run on.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector>,
}

/// Affinity or anti-affinity to pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct InterPodAffinity {
    /// Terms that must hold.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: List<PodAffinityTerm>,
}

/// Terms on nodes, one of which must hold. A selector without terms selects no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeSelector {
    /// Alternatives.
    pub node_selector_terms: List<NodeSelectorTerm>,
}

/// Conditions on a node, all of which must hold. A term without conditions selects no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeSelectorTerm {
    /// Conditions on labels.
    pub match_expressions: List<NodeSelectorRequirement>,
    /// Conditions on fields. Kubernetes knows only `metadata.name`.
    pub match_fields: List<NodeSelectorRequirement>,
}

/// A condition on a label or field of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeSelectorRequirement {
    /// Key of the label, or name of the field.
    pub key: Text,
    /// How the label and the values are compared.
    pub operator: NodeSelectorOperator,
    /// Values to compare with.
    pub values: List<Text>,
}

words! {
    /// How a label of a node is compared with the values of a requirement.
    NodeSelectorOperator {
        /// The label has one of the values.
        In = "In",
        /// The label is absent or has none of the values.
        NotIn = "NotIn",
        /// The label is present.
        Exists = "Exists",
        /// The label is absent.
        DoesNotExist = "DoesNotExist",
        /// The label is an integer greater than the value.
        Gt = "Gt",
        /// The label is an integer less than the value.
        Lt = "Lt",
    } default Unknown else
    /// No operator that Kubernetes defines.
    Unknown
}

/// Pods, and the label of nodes that tells how near they must be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodAffinityTerm {
    /// Pods that count. An absent selector selects none.
    pub label_selector: Option<LabelSelector>,
    /// Names of the namespaces whose pods count.
    pub namespaces: List<Text>,
    /// Further namespaces, by their labels. The selector without conditions selects all namespaces.
    pub namespace_selector: Option<LabelSelector>,
    /// Label of nodes that divides the cluster into domains.
    pub topology_key: Text,
}

/// A taint that the pod tolerates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Toleration {
    /// Key of the taint. The empty key with `Exists` tolerates every key.
    pub key: Text,
    /// How the value is compared.
    pub operator: TolerationOperator,
    /// Value to compare with.
    pub value: Text,
    /// Tolerated effect, or all effects if it is absent.
    #[serde(deserialize_with = "or_default")]
    pub effect: Option<Effect>,
}

words! {
    /// How a toleration compares its value with that of a taint.
    TolerationOperator {
        /// The values are equal.
        Equal = "Equal",
        /// Every value is tolerated.
        Exists = "Exists",
        /// The value of the taint is the greater integer.
        Gt = "Gt",
        /// The value of the taint is the lesser integer.
        Lt = "Lt",
    } default Equal else
    /// No operator that Kubernetes defines.
    Unknown
}
