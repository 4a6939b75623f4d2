//! `GET /ws/v1/config`: the active queue file, as parsed.
//!
//! An object that is "always present" is sent even when it is empty. Names are capitalized in JSON
//! and lowercase in YAML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// The active queue file, and the settings next to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Config {
    /// Partitions.
    pub partitions: Vec<ConfigPartition>,
    /// SHA-256 of the supplied text, in uppercase hexadecimal digits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checksum: String,
    /// All extra settings, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extra: BTreeMap<String, String>,
    /// A setting of `YuniKorn`. Always `false`.
    pub deadlock_detection_enabled: bool,
    /// A setting of `YuniKorn`. Always 0.
    pub deadlock_timeout_seconds: u64,
}

/// A partition of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigPartition {
    /// Name of the partition.
    pub name: String,
    /// The root queue.
    pub queues: Vec<ConfigQueue>,
    /// Placement rules, in order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement_rules: Vec<ConfigPlacementRule>,
    /// Limits of users and groups in the whole partition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Vec<ConfigLimit>,
    /// Preemption settings. Always present.
    pub preemption: ConfigPreemption,
    /// Order of nodes. Always present.
    pub node_sort_policy: ConfigNodeSortPolicy,
    /// Source of groups. Always present.
    pub user_group_resolver: ConfigUserGroupResolver,
    /// Headroom extension: `both` or `user`. Absent: `both`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limit_precedence: String,
    /// Headroom extension: how gangs start. Absent: not set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gangs: ConfigGangs,
    /// Headroom extension: when queues hold room for an ask. Absent: not set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub starvation: ConfigStarvation,
    /// Headroom extension: how many nodes are reserved. Absent: not set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: ConfigReservations,
    /// Headroom extension: user limits of leaves without their own setting. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limits: Option<ConfigUserLimits>,
    /// Headroom extension: limits of applications and drivers. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_limits: Option<ConfigApplicationLimits>,
    /// Ours: tenants with quotas by API. Absent: no tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<ConfigTenants>,
}

/// Ours: tenants with quotas by API. What is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigTenants {
    /// Whether the partition has tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The path of the parent of the tenants' queues.
    #[serde(rename = "RootQueue", default, skip_serializing_if = "is_default")]
    pub root_queue: String,
    /// Tenants without a quota.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exempt: Vec<String>,
    /// The settings of tenants without their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<ConfigTenantDefaults>,
    /// How long nothing starts after a restart, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_timeout_seconds: Option<u64>,
    /// How often the usage is compared with the running tasks, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_interval_seconds: Option<u64>,
    /// How long an `Idempotency-Key` is remembered, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_ttl_seconds: Option<u64>,
    /// Whether tasks of a tenant below its guarantee can have tasks of other tenants stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim: Option<bool>,
    /// The audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<ConfigAudit>,
}

/// Ours: the audit log of tenants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigAudit {
    /// How many days the server stores the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u64>,
}

/// Ours: the settings of tenants without their own. What is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigTenantDefaults {
    /// The quota, by resource type, as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, String>>,
    /// How many tasks can wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_waiting: Option<u64>,
    /// The order in which tasks start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ConfigWaiting>,
    /// What happens to running tasks when a quota is lowered below the usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_lower: Option<ConfigOnLower>,
    /// `reject` or `park`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub oversized: String,
}

/// Ours: what happens to running tasks when a quota is lowered below the usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigOnLower {
    /// `block`, `preempt`, or `refuse`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub action: String,
    /// How long tasks continue, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u64>,
}

/// Ours: the order in which tasks start. What is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigWaiting {
    /// `fifo`, `fifo-backfill`, `priority`, or `urgency`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strategy: String,
    /// After how long the priority of a waiting task increases, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_interval_seconds: Option<u64>,
    /// The size of each increase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_step: Option<u64>,
    /// The largest total increase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_max: Option<u64>,
    /// How often later tasks can use what the first task needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_overtakes: Option<u64>,
    /// After this wait of the first task, in seconds, later tasks cannot overtake it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_head_wait_seconds: Option<u64>,
    /// After this wait, in seconds, a task expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_seconds: Option<u64>,
}

/// Headroom extension: how gangs start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigGangs {
    /// `members` or `whole`. Absent: not set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: String,
}

/// Headroom extension: when queues hold room for an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigStarvation {
    /// How long an ask waits until queues hold room for it, such as `5m`. Absent: queues hold no room.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after: String,
}

/// Headroom extension: how many nodes are reserved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigReservations {
    /// The largest fraction of the nodes that is reserved, such as `0.1`. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub share: String,
}

/// Preemption settings. Absent fields were not configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigPreemption {
    /// Whether allocations can be stopped for the asks of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether allocations can be stopped because a maximum was lowered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_preemption_enabled: Option<bool>,
    /// Headroom extension: whether preemption never takes a queue below its guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict_guarantee: Option<bool>,
    /// Headroom extension: whether preemption continues up to the fair split among queues that ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<bool>,
    /// Headroom extension: whether users of a leaf can preempt each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intra_queue_enabled: Option<bool>,
    /// Headroom extension: whether preemption only reports what it would stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe_only: Option<bool>,
}

/// Headroom extension: preemption settings of a queue. Absent fields are inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigQueuePreemption {
    /// Whether nothing is stopped for other queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Whether nothing is stopped for other users of the same leaf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intra_queue_disabled: Option<bool>,
    /// Whether preemption for the queue continues up to its fair split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<bool>,
    /// `priority`: asks can have allocations of a lower priority in their own leaf stopped. `none`: they cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_queue: Option<String>,
    /// How long an allocation runs before it can be stopped for another ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_runtime: Option<String>,
}

/// The order of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigNodeSortPolicy {
    /// `fair`, `binpacking`, or empty.
    #[serde(rename = "Type")]
    pub policy: String,
    /// Weight of each resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_weights: BTreeMap<String, f64>,
}

/// The source of the groups of users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigUserGroupResolver {
    /// Type of the source. The name is lowercase in JSON, too.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: String,
}

/// A queue of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigQueue {
    /// Last part of the path.
    pub name: String,
    /// Whether it has, or can have, child queues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: bool,
    /// Guarantee and maximum. Always present.
    pub resources: ConfigResources,
    /// Maximum number of running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// Properties, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
    /// Access list of administrators.
    #[serde(rename = "AdminACL", default, skip_serializing_if = "is_default")]
    pub admin_acl: String,
    /// Access list of submitters.
    #[serde(rename = "SubmitACL", default, skip_serializing_if = "is_default")]
    pub submit_acl: String,
    /// Template of created child queues. Always present.
    pub child_template: ChildTemplate,
    /// Child queues.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(no_recursion)]
    pub queues: Vec<Self>,
    /// Limits of users and groups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Vec<ConfigLimit>,
    /// Headroom extension: user limits of the leaves here and below. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limits: Option<ConfigUserLimits>,
    /// Headroom extension: limits of applications and drivers. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_limits: Option<ConfigApplicationLimits>,
    /// Headroom extension: guarantee and maximum as a fraction of the parent. Absent: `resources`
    /// applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ConfigCapacity>,
    /// Headroom extension: preemption settings. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<ConfigQueuePreemption>,
    /// Headroom extension: `running` or `stopped`. Absent: inherited.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: String,
    /// Headroom extension: order of its applications or child queues. Absent: `properties` applies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ordering_policy: String,
    /// Headroom extension: maximum lifetime of applications here and below, in seconds. 0: no
    /// limit. Absent: inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_application_lifetime: Option<u64>,
    /// Headroom extension: default lifetime of applications, in seconds. 0: no limit. Absent:
    /// inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_application_lifetime: Option<u64>,
    /// Headroom extension: access to node labels. Absent: inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<ConfigNodeLabels>,
}

/// The access of a queue to node labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigNodeLabels {
    /// Labels that asks can name. `*`: all labels. Absent: inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accessible: Option<Vec<String>>,
    /// Label of asks that name none. Empty: nodes without a label. Absent: inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Labels whose nodes accept only asks that name the label. `*`: all labels. Only for the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exclusive: Vec<String>,
    /// Exclusive labels whose idle nodes also accept asks without a label. `*`: all of them. Only
    /// for the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lends: Vec<String>,
    /// Fraction of the nodes of each label, in the mode of the capacity of the queue. Absent: no
    /// guarantee.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacities: BTreeMap<String, ConfigCapacity>,
}

/// Amounts as written in the queue file, such as `100`, `500m`, or `10Gi`, by resource type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigResources {
    /// Guarantee.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guaranteed: BTreeMap<String, String>,
    /// Maximum.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max: BTreeMap<String, String>,
}

/// The template of queues that placement rules create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ChildTemplate {
    /// Maximum number of running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// Properties, by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: BTreeMap<String, String>,
    /// Guarantee and maximum. Always present.
    pub resources: ConfigResources,
    /// Headroom extension: user limits of the leaf. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limits: Option<ConfigUserLimits>,
    /// Headroom extension: limits of applications and drivers. Absent: not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_limits: Option<ConfigApplicationLimits>,
    /// Headroom extension: guarantee and maximum as a fraction of the parent. Absent: `resources`
    /// applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ConfigCapacity>,
}

/// Headroom extension: user limits. Absent fields are inherited. Numbers are decimals as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigUserLimits {
    /// Minimum share of a user, in percent.
    #[serde(rename = "MinimumUserLimitPercent", default, skip_serializing_if = "is_default")]
    pub floor: String,
    /// Maximum of one user as a multiple of the guarantee. -1: no limit.
    #[serde(rename = "UserLimitFactor", default, skip_serializing_if = "is_default")]
    pub factor: String,
    /// Weights, by user.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weights: BTreeMap<String, String>,
    /// `smooth`, `yarn3`, or `yarn27`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub formula: String,
    /// `progress`, `strict`, or `overshoot`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub enforcement: String,
    /// `componentwise`, `dominant`, or `memory`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calculator: String,
    /// Minimum amounts that an ask counts as, by resource type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_allocation: Option<BTreeMap<String, String>>,
    /// Asks are rounded up to multiples of these amounts, by resource type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub increment: Option<BTreeMap<String, String>>,
    /// Larger asks are rejected, by resource type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_allocation: Option<BTreeMap<String, String>>,
}

/// Headroom extension: limits of applications and drivers. Absent fields are inherited, or mean no
/// limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigApplicationLimits {
    /// Maximum number of applications here and below that have not ended. More are rejected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum_applications: u64,
    /// Maximum number of such applications of one user in a leaf. More are rejected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum_applications_per_user: u64,
    /// Maximum number of started applications here and below. Others wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_parallel_apps: u64,
    /// Maximum number of started applications of one user in the partition. Others wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_parallel_apps_per_user: u64,
    /// Maximum number of started applications of named users.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_parallel_apps_by_user: BTreeMap<String, u64>,
    /// Fraction of a leaf that drivers can use, as a decimal as written. 1 means all.
    #[serde(rename = "MaximumDriverResourcePercent", default, skip_serializing_if = "is_default")]
    pub driver: String,
    /// Maximum number of applications in each leaf without its own setting. Only for a partition
    /// and its root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub global_queue_max_application: u64,
}

/// Headroom extension: guarantee and maximum of a queue as a fraction of the parent. Numbers are
/// decimals as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigCapacity {
    /// `percent`, `weight`, or `absolute`. With `absolute`, `resources` is the capacity. Absent for
    /// a label: the mode of the queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: String,
    /// The percentage, or the weight among siblings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: String,
    /// Maximum in percent of the maximum of the parent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum: String,
}

/// A placement rule of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigPlacementRule {
    /// Name of the rule.
    pub name: String,
    /// Whether the rule can create queues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub create: bool,
    /// Filter of users and groups. Always present.
    pub filter: ConfigFilter,
    /// The rule that finds the parent queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub parent: Option<Box<Self>>,
    /// Value of the rule: a queue or a tag.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: String,
}

/// The filter of a placement rule of the queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigFilter {
    /// `allow`, `deny`, or empty.
    #[serde(rename = "Type")]
    pub kind: String,
    /// Names, or one expression.
    #[serde(default, skip_serializing_if = "is_default")]
    pub users: Vec<String>,
    /// Names, or one expression.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: Vec<String>,
}

/// A limit of users and groups in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigLimit {
    /// Description of the limit.
    pub limit: String,
    /// Names, or `*`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub users: Vec<String>,
    /// Names, or `*`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: Vec<String>,
    /// Maximum amounts as written, by resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resources: BTreeMap<String, String>,
    /// Maximum number of running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
}
