//! `GET /ws/v1/partition/{partition}/queue/{queue}/userlimits` and `POST …/userlimits/simulate`:
//! ours, as the reference has no such limits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Resources, is_default};

/// How the users of a leaf share it: what each may have, how much of that is left, and why not more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLimits {
    /// Full path of the queue.
    pub queue_path: String,
    /// Its partition.
    pub partition: String,
    /// Whether its users share it by user limits.
    pub enabled: bool,
    /// Where they do not: why, and what to write in the queue file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: String,
    /// By which rules, and from what. Absent where users do not share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<UserLimitInputs>,
    /// Those who use something or wait for something there, by name.
    pub users: Vec<UserLimit>,
    /// Those of them whom the caller may not see, together. Absent: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherUsers>,
}

/// What limits follow from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLimitInputs {
    /// Guaranteed to the queue. A type that is absent is not split.
    #[serde(rename = "Q")]
    pub guaranteed: Resources,
    /// What it may have at most, by all maxima on its path. A type that is absent has none.
    #[serde(rename = "Qmax")]
    pub max: Resources,
    /// What all its users use.
    #[serde(rename = "U")]
    pub used: Resources,
    /// What active users use: those who wait for something that they may have.
    #[serde(rename = "Uact")]
    pub used_active: Resources,
    /// What the others use.
    #[serde(rename = "Uin")]
    pub used_inactive: Resources,
    /// The weights of active users together.
    #[serde(rename = "W")]
    pub weight: f64,
    /// How many users are active.
    pub active_users: u64,
    /// The least that a share may shrink to, in percent.
    pub p: f64,
    /// How many times the guarantee one user may have; -1: no such bound.
    pub f: f64,
    /// What is split.
    pub formula: UserLimitFormula,
    /// When an ask waits.
    pub enforcement: UserLimitEnforcement,
    /// How amounts of several types are compared.
    pub calculator: UserLimitCalculator,
    /// All that the partition has.
    pub total: Resources,
    /// Shares are multiples of it. Absent: any amount.
    #[serde(default, skip_serializing_if = "is_default")]
    pub step: Resources,
    /// Asks count as multiples of it. Absent: as they are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub increment: Resources,
    /// Larger asks are refused. Absent: none are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maximum_allocation: Resources,
}

/// A user of a leaf.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLimit {
    /// His name.
    pub user: String,
    /// His share: who is above it waits for those who are not.
    pub soft_share: Resources,
    /// What he never may exceed. A type that is absent is not bounded.
    pub hard_cap: Resources,
    /// The lower of both, by the formula.
    pub limit: Resources,
    /// What he uses.
    pub used: Resources,
    /// How much more he may have, by all that bounds him. A type that is absent is not bounded.
    pub headroom: Resources,
    /// What bounds him first: `softShare`, `hardCap`, `queueMax:PATH`, `userLimit:PATH`,
    /// `groupLimit:PATH` or `partitionFree`. Absent: nothing does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limited_by: String,
    /// The same of each resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limited_by_type: BTreeMap<String, String>,
    /// Whether he is one of those who split the queue.
    pub active: bool,
    /// How much he counts among them.
    pub weight: f64,
    /// What his next ask counts as: the smallest that waits, or the minimum allocation. Absent: there
    /// is neither.
    #[serde(default, skip_serializing_if = "is_default")]
    pub r: Resources,
    /// His applications there that run, counted from their first allocation on.
    pub running_apps: u64,
    /// What the drivers of his applications there may have. Absent: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_limit: Option<Resources>,
    /// What they have, each from when its application was activated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub driver_used: Resources,
    /// How many applications that have not ended he may have there. Absent: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_applications: Option<u64>,
}

/// Users who are counted and not named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherUsers {
    /// How many.
    pub users: u64,
    /// How many of them are active.
    pub active: u64,
    /// Their weights together.
    pub weight: f64,
    /// What they use together.
    pub used: Resources,
    /// Their applications that run.
    pub running_apps: u64,
}

/// What is split among users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitFormula {
    /// What inactive users leave of the guarantee, or what active users use and the ask.
    #[default]
    Smooth,
    /// As `CapacityScheduler` 3.
    Yarn3,
    /// As `CapacityScheduler` 2.7.
    Yarn27,
}

/// When an ask waits for its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitEnforcement {
    /// While he is above his share and others are not; above his cap always.
    #[default]
    Progress,
    /// Where it would take him above his limit.
    Strict,
    /// While he is above his limit.
    Overshoot,
}

/// How amounts of several resource types are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitCalculator {
    /// Each type by itself.
    #[default]
    Componentwise,
    /// By the largest share of the cluster.
    Dominant,
    /// By memory alone.
    Memory,
}

/// Who splits a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserLimitAmong {
    /// Active users.
    #[default]
    Active,
    /// All users.
    All,
}

/// What the limits of users would be. What is absent is as it is in the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserLimitsSimulation {
    /// Guaranteed to the queue.
    #[serde(rename = "Q", default, skip_serializing_if = "Option::is_none")]
    pub guaranteed: Option<Resources>,
    /// What it may have at most.
    #[serde(rename = "Qmax", default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Resources>,
    /// What all its users use; absent beside `users`: what these use together. What it is more than
    /// that, is one more user's, who is not active.
    #[serde(rename = "U", default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Resources>,
    /// All that the partition has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Resources>,
    /// The users; absent: those who are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<SimulatedUser>>,
    /// `minimumuserlimitpercent`: 1 to 100, or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// `userlimitfactor`: above 0, or -1 for no such bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f: Option<f64>,
    /// The next ask of each user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<Resources>,
    /// What is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<UserLimitFormula>,
    /// When an ask waits. All are answered; this is told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforcement: Option<UserLimitEnforcement>,
    /// How amounts of several types are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calculator: Option<UserLimitCalculator>,
    /// `minimumallocation`: shares are multiples of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Resources>,
    /// Asks count as multiples of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub increment: Option<Resources>,
    /// Who splits the queue; absent: active users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<UserLimitAmong>,
}

/// A user who would be there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SimulatedUser {
    /// His name.
    pub user: String,
    /// What he uses; absent: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub used: Resources,
    /// His weight; absent: as configured for this name, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Whether he is one of those who split the queue; absent: he is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// His next ask; absent: that of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<Resources>,
}

/// What the limits of users would be, with each value on the way there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulatedLimits {
    /// Full path of the queue.
    pub queue_path: String,
    /// Its partition.
    pub partition: String,
    /// What they follow from.
    pub inputs: UserLimitInputs,
    /// Who splits the queue.
    pub among: UserLimitAmong,
    /// The users, as they were sent; those who are there by name.
    pub users: Vec<SimulatedLimit>,
}

/// What one user might have. The letters are those of `docs/user-limits.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulatedLimit {
    /// His name.
    pub user: String,
    /// Whether he is one of those who split the queue.
    pub active: bool,
    /// How much he counts among them.
    pub weight: f64,
    /// What he uses.
    pub used: Resources,
    /// What his next ask counts as.
    pub r: Resources,
    /// What counts as the guarantee: that, or what comes next if it is more.
    pub q: Resources,
    /// What all use, by their dominant shares. Of `yarn3` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed: Option<Resources>,
    /// What active users split. Of `yarn3` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Resources>,
    /// What active users split. Of `smooth` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Resources>,
    /// What the least share is a part of; with `yarn27` also what is split.
    pub whole: Resources,
    /// His part of it.
    pub a: Resources,
    /// The least part.
    pub b: Resources,
    /// What the factor allows. Absent: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Resources>,
    /// His share.
    pub soft: Resources,
    /// What he never may exceed.
    pub hard: Resources,
    /// The lower of both, by the formula.
    pub limit: Resources,
    /// Whether the ask would be admitted, as far as user limits go.
    pub admitted: Admitted,
}

/// Whether an ask would be admitted, by enforcement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Admitted {
    /// He is not above his share, and stays within his cap.
    pub progress: bool,
    /// He stays within his limit.
    pub strict: bool,
    /// He is not above his limit.
    pub overshoot: bool,
}
