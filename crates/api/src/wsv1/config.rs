//! `GET /ws/v1/config`: the queue file in force, as it was understood.
//!
//! An object that is "always there" is sent even when it is empty. Names are capitalised in JSON
//! and in lower case in YAML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The queue file in force, and the settings beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Config {
    /// By partition.
    pub partitions: Vec<ConfigPartition>,
    /// SHA-256 of the text as supplied, in capital hexadecimal digits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checksum: String,
    /// All extra settings, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extra: BTreeMap<String, String>,
    /// A setting of the reference; `false` here.
    pub deadlock_detection_enabled: bool,
    /// A setting of the reference; 0 here.
    pub deadlock_timeout_seconds: u64,
}

/// A partition of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigPartition {
    /// Its name.
    pub name: String,
    /// The root.
    pub queues: Vec<ConfigQueue>,
    /// In the order in which they are tried.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement_rules: Vec<ConfigPlacementRule>,
    /// Of users and groups in the whole partition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Vec<ConfigLimit>,
    /// Always there.
    pub preemption: ConfigPreemption,
    /// Always there.
    pub node_sort_policy: ConfigNodeSortPolicy,
    /// Always there.
    pub user_group_resolver: ConfigUserGroupResolver,
    /// Ours: `both` or `user`. Absent: `both`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limit_precedence: String,
    /// Ours: how users share leaves where no queue says otherwise. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limits: Option<ConfigUserLimits>,
    /// Ours: how many applications there may be, and what drivers may have. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_limits: Option<ConfigApplicationLimits>,
}

/// Whether allocations may be stopped. What is absent was not configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigPreemption {
    /// For the asks of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Because a maximum was lowered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_preemption_enabled: Option<bool>,
    /// Ours: no queue falls below its guarantee by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict_guarantee: Option<bool>,
    /// Ours: up to the fair split of what queues that ask have together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<bool>,
    /// Ours: users of a leaf take from each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intra_queue_enabled: Option<bool>,
    /// Ours: it is said who would be stopped, and nobody is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe_only: Option<bool>,
}

/// Ours: who may be stopped for whom in a queue. What is absent is as above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigQueuePreemption {
    /// Nothing is stopped for other queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Nothing is stopped for other users of the same leaf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intra_queue_disabled: Option<bool>,
    /// Others are stopped up to its part of what there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<bool>,
}

/// How nodes are ordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigNodeSortPolicy {
    /// `fair`, `binpacking` or empty.
    #[serde(rename = "Type")]
    pub policy: String,
    /// How much each resource type counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_weights: BTreeMap<String, f64>,
}

/// Where the groups of users come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigUserGroupResolver {
    /// Which source. The name is in lower case in JSON too.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: String,
}

/// A queue of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigQueue {
    /// Last part of its path.
    pub name: String,
    /// Has or may have queues below it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: bool,
    /// Always there.
    pub resources: ConfigResources,
    /// Applications that may run at once. Absent: as many as like.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// By key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
    /// Who may change what is in it.
    #[serde(rename = "AdminACL", default, skip_serializing_if = "is_default")]
    pub admin_acl: String,
    /// Who may submit.
    #[serde(rename = "SubmitACL", default, skip_serializing_if = "is_default")]
    pub submit_acl: String,
    /// Always there.
    pub child_template: ChildTemplate,
    /// The queues directly below it.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(no_recursion)]
    pub queues: Vec<Self>,
    /// Of users and groups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Vec<ConfigLimit>,
    /// Ours: how users share the leaves here and below. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limits: Option<ConfigUserLimits>,
    /// Ours: how many applications there may be, and what drivers may have. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_limits: Option<ConfigApplicationLimits>,
    /// Ours: what part of its parent it is guaranteed and may use. Absent: what the resources say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ConfigCapacity>,
    /// Ours: who may be stopped for whom. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<ConfigQueuePreemption>,
    /// Ours: `running` or `stopped`. Absent: as the queue above.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: String,
    /// Ours: in which order its applications, or the queues right below it, go. Absent: as properties
    /// say.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ordering_policy: String,
    /// Ours: no application here and below lives longer, in seconds; 0 is no such bound. Absent: as the
    /// queue above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_application_lifetime: Option<u64>,
    /// Ours: how long one lives that asks for no time, in seconds; 0 is for ever. Absent: as the queue
    /// above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_application_lifetime: Option<u64>,
    /// Ours: to which labels of nodes it has access. Absent: as the queue above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<ConfigNodeLabels>,
}

/// To which labels of nodes a queue has access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigNodeLabels {
    /// Labels that asks may name; `*` for all. Absent: as the queue above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accessible: Option<Vec<String>>,
    /// The label of asks that name none; empty for nodes without a label. Absent: as the queue above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Labels whose nodes are for asks that name them alone; `*` for all. Of the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exclusive: Vec<String>,
    /// Those of them whose idle nodes are lent to asks that name none; `*` for all of them. Of the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lends: Vec<String>,
    /// What part of the nodes of each label it has, by the mode of its capacity. Absent: nothing is
    /// guaranteed of any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacities: BTreeMap<String, ConfigCapacity>,
}

/// Amounts as they are written, such as `100`, `500m` or `10Gi`, by resource type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigResources {
    /// What it can always get back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guaranteed: BTreeMap<String, String>,
    /// What it never exceeds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max: BTreeMap<String, String>,
}

/// What queues that rules make below it start with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ChildTemplate {
    /// Applications that may run at once. Absent: as many as like.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// By key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
    /// Always there.
    pub resources: ConfigResources,
    /// Ours: how users share the leaf. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limits: Option<ConfigUserLimits>,
    /// Ours: how many applications there may be, and what drivers may have. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_limits: Option<ConfigApplicationLimits>,
    /// Ours: what part of its parent it is guaranteed and may use. Absent: what the resources say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ConfigCapacity>,
}

/// Ours: how users share leaves. What is absent is as above. Numbers are decimals as they are
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigUserLimits {
    /// The least part, in percent, that a user's share may shrink to.
    #[serde(rename = "MinimumUserLimitPercent", default, skip_serializing_if = "is_default")]
    pub floor: String,
    /// How many times the guarantee one user may have; -1 is no such bound.
    #[serde(rename = "UserLimitFactor", default, skip_serializing_if = "is_default")]
    pub factor: String,
    /// By user.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weights: BTreeMap<String, String>,
    /// `smooth`, `yarn3` or `yarn27`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub formula: String,
    /// `progress`, `strict` or `overshoot`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub enforcement: String,
    /// `componentwise`, `dominant` or `memory`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calculator: String,
    /// An ask counts as this much at least, by resource type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_allocation: Option<BTreeMap<String, String>>,
    /// Asks count as multiples of it, by resource type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub increment: Option<BTreeMap<String, String>>,
    /// Larger asks are refused, by resource type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_allocation: Option<BTreeMap<String, String>>,
}

/// Ours: how many applications there may be, and what drivers may have. What is absent is as above, or
/// no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigApplicationLimits {
    /// So many that have not ended, here and below; more are refused.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum_applications: u64,
    /// So many of one user in a leaf; more are refused.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum_applications_per_user: u64,
    /// So many may have started, here and below; others wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_parallel_apps: u64,
    /// So many of one user may have started in the partition; others wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_parallel_apps_per_user: u64,
    /// The same for named users.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_parallel_apps_by_user: BTreeMap<String, u64>,
    /// How much of a leaf drivers may have, as a factor: a decimal as it is written, of which 1 is all.
    #[serde(rename = "MaximumDriverResourcePercent", default, skip_serializing_if = "is_default")]
    pub driver: String,
    /// So many in each leaf that says nothing else; of a partition and its root alone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub global_queue_max_application: u64,
}

/// Ours: what part of its parent a queue is guaranteed and may use. Numbers are decimals as they are
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigCapacity {
    /// `percent`, `weight` or `absolute`: then the resources are the capacity. Absent in that of a
    /// label: as that of the queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: String,
    /// The percentage, or the weight among siblings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: String,
    /// How many percent of what its parent may use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum: String,
}

/// A placement rule of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigPlacementRule {
    /// Which rule.
    pub name: String,
    /// Whether it may make queues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub create: bool,
    /// Always there.
    pub filter: ConfigFilter,
    /// The rule that finds the parent queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub parent: Option<Box<Self>>,
    /// What the rule needs: a queue, or a tag.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: String,
}

/// Whom a placement rule of the queue file is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigFilter {
    /// `allow`, `deny` or empty.
    #[serde(rename = "Type")]
    pub kind: String,
    /// Names, or one expression.
    #[serde(default, skip_serializing_if = "is_default")]
    pub users: Vec<String>,
    /// Names, or one expression.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: Vec<String>,
}

/// What users and groups may use in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigLimit {
    /// Its description.
    pub limit: String,
    /// Names, or `*`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub users: Vec<String>,
    /// Names, or `*`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: Vec<String>,
    /// Amounts as they are written, by resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resources: BTreeMap<String, String>,
    /// Running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
}
