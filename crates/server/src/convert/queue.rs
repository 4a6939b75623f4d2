//! Queues.

use headroom_api::wsv1::{Queue, QueueTemplate};
use headroom_core::config::PreemptionPolicy;
use headroom_core::view::{QueueView, TemplateView};

use super::value::{NO_PRIORITY, duration, name_or_empty, names, percentages, resources, texts};

/// Returns a queue without its descendants. The names of its children are the same as in the view.
pub(crate) fn queue(view: &QueueView) -> Queue {
    Queue {
        pending_resource: resources(&view.pending),
        max_resource: resources(&view.max),
        guaranteed_resource: resources(&view.guaranteed),
        allocated_resource: resources(&view.allocated),
        preempting_resource: resources(&view.preempting),
        headroom: resources(&view.headroom),
        properties: texts(&view.properties),
        template: view.template.as_ref().map(template),
        abs_used_capacity: percentages(&view.used_percent),
        max_running_apps: view.max_applications,
        running_apps: view.running,
        current_priority: view.priority.unwrap_or(NO_PRIORITY),
        allocating_accepted_apps: names(&view.starting),
        sorting_policy: view.order.word().to_owned(),
        priority_sorting: view.priority_first,
        preemption_enabled: view.preemption != PreemptionPolicy::Disabled,
        is_preemption_fence: view.preemption == PreemptionPolicy::Fence,
        preemption_delay: duration(view.preemption_delay),
        quota_preemption_delay: duration(view.quota_preemption_delay),
        is_priority_fence: view.priority_fence,
        priority_offset: view.priority_offset,
        child_names: names(&view.child_paths),
        ..passage(view)
    }
}

/// Returns the name and position of a queue, for a caller who can see only that the queue exists.
pub(crate) fn passage(view: &QueueView) -> Queue {
    Queue {
        queue_name: view.path.to_string(),
        status: view.state.to_string(),
        partition: view.partition.to_string(),
        is_leaf: view.leaf,
        is_managed: view.managed,
        parent: name_or_empty(view.parent.as_ref()),
        current_priority: NO_PRIORITY,
        ..Queue::default()
    }
}

/// Returns a queue with its descendants. A queue for which `show` returns `None` is omitted, with its descendants.
pub(crate) fn tree(view: &QueueView, show: &dyn Fn(&QueueView) -> Option<Queue>) -> Option<Queue> {
    let mut shown = show(view)?;
    shown.children = view.children.iter().filter_map(|child| tree(child, show)).collect();
    Some(shown)
}

fn template(view: &TemplateView) -> QueueTemplate {
    QueueTemplate {
        max_applications: view.max_applications,
        max_resource: resources(&view.max),
        guaranteed_resource: resources(&view.guaranteed),
        properties: texts(&view.properties),
    }
}
