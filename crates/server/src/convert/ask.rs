//! Waiting asks.

use headroom_api::wsv1::{AllocationLogEntry, Ask, IntegerText};
use headroom_core::Timestamp;
use headroom_core::view::AskView;

use crate::rest::RmMetadata;

use super::value::{name_or_empty, nanos, resources};

/// Returns an ask. [`waits`] adds the reason of its wait, where that was determined.
pub(crate) fn ask(view: &AskView, partition: &str, metadata: &dyn RmMetadata) -> Ask {
    let tags = metadata.tags(partition, &view.key);
    Ask {
        allocation_key: view.key.to_string(),
        allocation_tags: tags.map(|tags| (*tags).clone()).unwrap_or_default(),
        request_time: nanos(view.requested),
        resource: resources(&view.resources),
        priority: Some(IntegerText(i64::from(view.priority))),
        required_node_id: name_or_empty(view.required_node.as_ref()),
        application_id: view.application.to_string(),
        placeholder: view.placeholder,
        task_group_name: name_or_empty(view.task_group.as_ref()),
        allocation_log: Vec::new(),
        triggered_preemption: view.preemption_triggered,
        originator: view.originator,
        scheduling_attempted: false,
        triggered_scale_up: view.scale_up_asked,
    }
}

/// Adds the reason of the wait to an ask, as of now. The number of checks is not counted, because waiting costs
/// nothing.
pub(crate) fn waits(ask: &mut Ask, reason: String, now: Timestamp) {
    ask.scheduling_attempted = true;
    ask.allocation_log =
        vec![AllocationLogEntry { message: reason, last_occurrence: nanos(now), count: 1 }];
}
