//! `GET /ws/v1/partition/{partition}/usage/users`, `…/usage/user/{user}`, `…/usage/groups` and
//! `…/usage/group/{group}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Resources, is_default};

/// What a user has, and may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserUsage {
    /// The user.
    pub user_name: String,
    /// The group that an application counts to, by application; those without one left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: BTreeMap<String, String>,
    /// The root, and below it the queues that are used or limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueUsage>,
}

/// What a group has, and may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupUsage {
    /// The group.
    pub group_name: String,
    /// Ids of the applications that count to it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub applications: Vec<String>,
    /// The root, and below it the queues that are used or limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueUsage>,
}

/// What a user or group has in a queue. Make one with [`QueueUsage::at`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueUsage {
    /// Full path of the queue.
    pub queue_path: String,
    /// The same path again, for clients that know the first form of this body. Headroom always
    /// sends it, the reference never.
    #[serde(rename = "queuename", default, skip_serializing_if = "is_default")]
    pub queue_name: String,
    /// Allocated in it and below it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_usage: Resources,
    /// Ids of applications that have an allocation there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub running_applications: Vec<String>,
    /// Limit of this user or group. A type that is absent is not limited.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_resources: Resources,
    /// Limit of running applications. Absent: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_applications: u64,
    /// The queues directly below it that are used or limited.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(no_recursion)]
    pub children: Vec<Self>,
}

impl QueueUsage {
    /// Nothing used and nothing limited, in the queue with this full path.
    pub fn at(path: impl Into<String>) -> Self {
        let queue_path = path.into();
        Self { queue_name: queue_path.clone(), queue_path, ..Self::default() }
    }
}
