//! Usage and limits of users and groups.

use headroom_api::wsv1::{GroupUsage, QueueUsage, UserUsage};
use headroom_core::view::{GroupView, UsageView, UserView};

use super::value::{names, resources};

/// Returns the usage of a user.
pub(crate) fn user(view: &UserView) -> UserUsage {
    let groups = view.groups.iter();
    UserUsage {
        user_name: view.user.to_string(),
        groups: groups.map(|(one, group)| (one.to_string(), group.to_string())).collect(),
        queues: Some(usage(&view.usage)),
    }
}

/// Returns the usage of a group.
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
