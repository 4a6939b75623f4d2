//! `GET /ws/v1/partition/{partition}/usage/users`, `…/usage/user/{user}`, `…/usage/groups` and
//! `…/usage/group/{group}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Resources, is_default};

/// Usage and limits of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserUsage {
    /// The user.
    pub user_name: String,
    /// The group that each application counts toward, by application. Applications without a group
    /// are omitted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: BTreeMap<String, String>,
    /// The root queue, and below it the used or limited queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueUsage>,
}

/// Usage and limits of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupUsage {
    /// The group.
    pub group_name: String,
    /// IDs of the applications that count toward the group.
    #[serde(default, skip_serializing_if = "is_default")]
    pub applications: Vec<String>,
    /// The root queue, and below it the used or limited queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueUsage>,
}

/// Usage and limits of a user or group in a queue. Create it with [`QueueUsage::at`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueUsage {
    /// Full path of the queue.
    pub queue_path: String,
    /// The same path, for clients of the first form of this body. Headroom always sends it.
    /// `YuniKorn` never sends it.
    #[serde(rename = "queuename", default, skip_serializing_if = "is_default")]
    pub queue_name: String,
    /// Allocated amounts here and below.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_usage: Resources,
    /// IDs of the applications with an allocation there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub running_applications: Vec<String>,
    /// Limit of this user or group. A missing type has no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resources: Resources,
    /// Maximum number of running applications. Absent: no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// Used or limited child queues.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(no_recursion)]
    pub children: Vec<Self>,
}

impl QueueUsage {
    /// Returns a queue with this path, without usage and limits.
    pub fn at(path: impl Into<String>) -> Self {
        let queue_path = path.into();
        Self { queue_name: queue_path.clone(), queue_path, ..Self::default() }
    }
}
