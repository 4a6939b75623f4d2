//! What users and groups use, and may use.

use headroom_api::wsv1::{GroupUsage, QueueUsage, UserUsage};
use headroom_core::view::{GroupView, UsageView, UserView};

use super::value::{names, resources};

/// What a user uses.
pub(crate) fn user(view: &UserView) -> UserUsage {
    let groups = view.groups.iter();
    UserUsage {
        user_name: view.user.to_string(),
        groups: groups.map(|(one, group)| (one.to_string(), group.to_string())).collect(),
        queues: Some(usage(&view.usage)),
    }
}

/// What a group uses.
pub(crate) fn group(view: &GroupView) -> GroupUsage {
    GroupUsage {
        group_name: view.group.to_string(),
        applications: names(&view.applications),
        queues: Some(usage(&view.usage)),
    }
}

fn usage(view: &UsageView) -> QueueUsage {
    QueueUsage {
        resource_usage: resources(&view.used),
        running_applications: names(&view.running),
        max_resources: resources(&view.max),
        max_applications: view.max_applications,
        children: view.children.iter().map(usage).collect(),
        ..QueueUsage::at(view.path.as_str())
    }
}
