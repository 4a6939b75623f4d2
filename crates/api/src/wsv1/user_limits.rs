//! `GET /ws/v1/partition/{partition}/queue/{queue}/userlimits` and `POST …/userlimits/simulate`:
//! Headroom extensions, because `YuniKorn` has no such limits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Resources, is_default};

/// The user limits of a leaf: share, cap, headroom, and limiting factor of each user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLimits {
    /// Full path of the queue.
    pub queue_path: String,
    /// Name of the partition.
    pub partition: String,
    /// Whether the queue has user limits.
    pub enabled: bool,
    /// If not: the reason, and the setting for the queue file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: String,
    /// Rules and input values. Absent without user limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<UserLimitInputs>,
    /// Users with usage or waiting asks there, by name.
    pub users: Vec<UserLimit>,
    /// Sum of the users that the caller cannot see. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherUsers>,
}

/// The input values of user limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLimitInputs {
    /// Guarantee of the queue. A missing type is not split.
    #[serde(rename = "Q")]
    pub guaranteed: Resources,
    /// Maximum of the queue, by all maxima on its path. A missing type has no limit.
    #[serde(rename = "Qmax")]
    pub max: Resources,
    /// Usage of all users.
    #[serde(rename = "U")]
    pub used: Resources,
    /// Usage of active users.
    #[serde(rename = "Uact")]
    pub used_active: Resources,
    /// Usage of inactive users.
    #[serde(rename = "Uin")]
    pub used_inactive: Resources,
    /// Sum of the weights of active users.
    #[serde(rename = "W")]
    pub weight: f64,
    /// Number of active users.
    pub active_users: u64,
    /// Minimum share, in percent.
    pub p: f64,
    /// Maximum of one user as a multiple of the guarantee. -1: no limit.
    pub f: f64,
    /// The formula of the split.
    pub formula: UserLimitFormula,
    /// The rule that decides when an ask waits.
    pub enforcement: UserLimitEnforcement,
    /// The rule that compares amounts of several types.
    pub calculator: UserLimitCalculator,
    /// Capacity of the partition.
    pub total: Resources,
    /// Shares are rounded to multiples of these amounts. Absent: no rounding.
    #[serde(default, skip_serializing_if = "is_default")]
    pub step: Resources,
    /// Asks are rounded up to multiples of these amounts. Absent: no rounding.
    #[serde(default, skip_serializing_if = "is_default")]
    pub increment: Resources,
    /// Larger asks are rejected. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum_allocation: Resources,
}

/// A user of a leaf.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLimit {
    /// Name of the user.
    pub user: String,
    /// Share of the user. Users above their share wait for users below it.
    pub soft_share: Resources,
    /// Cap of the user. A missing type has no limit.
    pub hard_cap: Resources,
    /// The lower of share and cap, by the formula.
    pub limit: Resources,
    /// Usage of the user.
    pub used: Resources,
    /// Amounts that the user can still use, by all limits. A missing type has no limit.
    pub headroom: Resources,
    /// The limit that applies first: `softShare`, `hardCap`, `queueMax:PATH`, `userLimit:PATH`,
    /// `groupLimit:PATH`, or `partitionFree`. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limited_by: String,
    /// The limit that applies first, for each resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limited_by_type: BTreeMap<String, String>,
    /// Whether the user is active.
    pub active: bool,
    /// Weight of the user.
    pub weight: f64,
    /// Amounts of the next ask of the user: the smallest waiting ask, or the minimum allocation.
    /// Absent if there is neither.
    #[serde(default, skip_serializing_if = "is_default")]
    pub r: Resources,
    /// Number of running applications of the user there, from their first allocation on.
    pub running_apps: u64,
    /// Maximum of the drivers of the user there. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_limit: Option<Resources>,
    /// Usage of these drivers, each from the activation of its application.
    #[serde(default, skip_serializing_if = "is_default")]
    pub driver_used: Resources,
    /// Maximum number of applications of the user there that have not ended. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_applications: Option<u64>,
}

/// Users that are counted, but not named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherUsers {
    /// Number of users.
    pub users: u64,
    /// Number of active users among them.
    pub active: u64,
    /// Sum of their weights.
    pub weight: f64,
    /// Sum of their usage.
    pub used: Resources,
    /// Number of their running applications.
    pub running_apps: u64,
}

/// The amounts that are split among users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitFormula {
    /// The guarantee minus the usage of inactive users, or the usage of active users plus the ask.
    #[default]
    Smooth,
    /// As `CapacityScheduler` 3.
    Yarn3,
    /// As `CapacityScheduler` 2.7.
    Yarn27,
}

/// The rule that decides when an ask waits for its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitEnforcement {
    /// While the user is above their share and others are not, and always above their cap.
    #[default]
    Progress,
    /// If the ask would exceed the limit of the user.
    Strict,
    /// While the user is above their limit.
    Overshoot,
}

/// The rule that compares amounts of several resource types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitCalculator {
    /// Each type separately.
    #[default]
    Componentwise,
    /// By the largest share of the cluster.
    Dominant,
    /// By memory alone.
    Memory,
}

/// The users among whom a queue is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitAmong {
    /// Active users.
    #[default]
    Active,
    /// All users.
    All,
}

/// Hypothetical input values of user limits. Absent fields have the values of the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserLimitsSimulation {
    /// Guarantee of the queue.
    #[serde(rename = "Q", default, skip_serializing_if = "Option::is_none")]
    pub guaranteed: Option<Resources>,
    /// Maximum of the queue.
    #[serde(rename = "Qmax", default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Resources>,
    /// Usage of all users. Absent with `users`: their sum. An excess above the sum belongs to one
    /// more, inactive user.
    #[serde(rename = "U", default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Resources>,
    /// Capacity of the partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Resources>,
    /// The users. Absent: the users of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<SimulatedUser>>,
    /// `minimumuserlimitpercent`: 1 to 100, or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// `userlimitfactor`: above 0, or -1 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f: Option<f64>,
    /// The next ask of each user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<Resources>,
    /// The formula of the split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<UserLimitFormula>,
    /// The rule that decides when an ask waits. The response repeats it, and has the results of all
    /// rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforcement: Option<UserLimitEnforcement>,
    /// The rule that compares amounts of several types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calculator: Option<UserLimitCalculator>,
    /// `minimumallocation`: shares are rounded to multiples of these amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Resources>,
    /// Asks are rounded up to multiples of these amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub increment: Option<Resources>,
    /// The users among whom the queue is split. Absent: active users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<UserLimitAmong>,
}

/// A hypothetical user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SimulatedUser {
    /// Name of the user.
    pub user: String,
    /// Usage. Absent: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub used: Resources,
    /// Weight. Absent: the configured weight of this name, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Whether the user is active. Absent: `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Next ask of the user. Absent: the next ask of all users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<Resources>,
}

/// Predicted user limits, with each intermediate value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulatedLimits {
    /// Full path of the queue.
    pub queue_path: String,
    /// Name of the partition.
    pub partition: String,
    /// The input values.
    pub inputs: UserLimitInputs,
    /// The users among whom the queue is split.
    pub among: UserLimitAmong,
    /// The users in the order of the request. Users of the queue are ordered by name.
    pub users: Vec<SimulatedLimit>,
}

/// The predicted limits of one user. The letters are those of `docs/user-limits.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulatedLimit {
    /// Name of the user.
    pub user: String,
    /// Whether the user is active.
    pub active: bool,
    /// Weight of the user.
    pub weight: f64,
    /// Usage of the user.
    pub used: Resources,
    /// Amounts of the next ask.
    pub r: Resources,
    /// Amounts that count as the guarantee: the guarantee, or the next value if that is larger.
    pub q: Resources,
    /// Usage of all users by their dominant shares. Only for `yarn3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed: Option<Resources>,
    /// Amounts that active users split. Only for `yarn3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Resources>,
    /// Amounts that active users split. Only for `smooth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Resources>,
    /// Amounts that the minimum share is a fraction of. With `yarn27`, also the amounts that are
    /// split.
    pub whole: Resources,
    /// Fraction of the user.
    pub a: Resources,
    /// Minimum share.
    pub b: Resources,
    /// Maximum by the factor. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Resources>,
    /// Share of the user.
    pub soft: Resources,
    /// Cap of the user.
    pub hard: Resources,
    /// The lower of share and cap, by the formula.
    pub limit: Resources,
    /// Whether user limits admit the ask.
    pub admitted: Admitted,
}

/// Whether user limits admit an ask, by enforcement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Admitted {
    /// Whether the user is not above their share, and stays within their cap.
    pub progress: bool,
    /// Whether the user stays within their limit.
    pub strict: bool,
    /// Whether the user is not above their limit.
    pub overshoot: bool,
}
