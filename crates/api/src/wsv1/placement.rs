//! `GET /ws/v1/partition/{partition}/placementrules`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_default;

/// An active placement rule. The last rule of a list is the recovery rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementRule {
    /// `fixed`, `provided`, `user`, `tag`, or `recovery`.
    pub name: String,
    /// `create` for all rules except `recovery`. `queue` for `recovery`. `queue` and `qualified`
    /// for `fixed`. `tagName` for `tag`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parameters: BTreeMap<String, String>,
    /// Filter of users and groups. Absent: everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<PlacementFilter>,
    /// The rule that finds the parent queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub parent_rule: Option<Box<Self>>,
}

/// The filter of a placement rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementFilter {
    /// `allow` or `deny`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Names of users.
    #[serde(default, skip_serializing_if = "is_default")]
    pub user_list: Vec<String>,
    /// Names of groups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group_list: Vec<String>,
    /// A regular expression for users.
    #[serde(default, skip_serializing_if = "is_default")]
    pub user_exp: String,
    /// A regular expression for groups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group_exp: String,
}
