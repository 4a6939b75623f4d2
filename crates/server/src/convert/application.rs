//! Applications.

use std::collections::BTreeMap;

use headroom_api::wsv1::{Application, PlaceholderData, ResourceHistory, Resources, StateChange};
use headroom_core::Name;
use headroom_core::resource::Amounts;
use headroom_core::view::{ApplicationView, RejectedView, SpentView, TaskGroupView};

use crate::rest::RmMetadata;

use super::allocation::allocation;
use super::ask::ask;
use super::value::{NO_PRIORITY, millis, moment, names, nanos, resources};

/// Code of an application for which no rule found a queue. Such an application is shown without a queue.
const NO_RULE_MATCHED: &str = "PL-REJECTED";

/// Returns an accepted application.
pub(crate) fn application(view: &ApplicationView, metadata: &dyn RmMetadata) -> Application {
    let partition = &view.partition;
    Application {
        application_id: view.application.to_string(),
        used_resource: resources(&view.used),
        max_used_resource: resources(&view.max_used),
        pending_resource: resources(&view.pending),
        partition: partition.to_string(),
        queue_name: view.queue.to_string(),
        submission_time: nanos(view.submitted),
        finished_time: view.finished.map(nanos),
        requests: view.requests.iter().map(|one| ask(one, partition, metadata)).collect(),
        allocations: view
            .allocations
            .iter()
            .map(|one| allocation(one, partition, metadata))
            .collect(),
        application_state: view.state.to_string(),
        user: view.user.to_string(),
        groups: names(&*view.groups),
        rejected_message: String::new(),
        state_log: view
            .state_log
            .iter()
            .map(|(at, state)| StateChange {
                time: nanos(*at),
                application_state: state.to_string(),
            })
            .collect(),
        placeholder_data: view.task_groups.iter().map(placeholder_data).collect(),
        has_reserved: !view.reservations.is_empty(),
        reservations: names(&view.reservations),
        max_request_priority: view.highest_priority.unwrap_or(NO_PRIORITY),
        start_time: view.started.map_or(0, millis),
        resource_history: spent(&view.spent),
        backoff_deadline: view.backed_off.and_then(moment),
        lifetime_deadline: view.lives_until.and_then(moment),
    }
}

/// Returns a rejected application.
pub(crate) fn rejected(view: &RejectedView) -> Application {
    let at = nanos(view.at);
    Application {
        application_id: view.application.to_string(),
        partition: view.partition.to_string(),
        queue_name: if view.code == NO_RULE_MATCHED {
            String::new()
        } else {
            view.queue.to_string()
        },
        submission_time: at,
        finished_time: Some(at),
        application_state: "Rejected".to_owned(),
        user: view.user.to_string(),
        groups: names(&*view.groups),
        rejected_message: view.message.to_string(),
        state_log: vec![StateChange { time: at, application_state: "Rejected".to_owned() }],
        max_request_priority: NO_PRIORITY,
        ..Application::default()
    }
}

fn placeholder_data(view: &TaskGroupView) -> PlaceholderData {
    let whole = |count| i64::try_from(count).unwrap_or(i64::MAX);
    PlaceholderData {
        task_group_name: view.name.to_string(),
        count: whole(view.count),
        min_resource: resources(&view.size),
        replaced: whole(view.replaced),
        timed_out: whole(view.timed_out),
    }
}

fn spent(view: &SpentView) -> ResourceHistory {
    let by_type = |all: &[(Name, Amounts)]| -> BTreeMap<String, Resources> {
        all.iter().map(|(kind, amounts)| (kind.to_string(), resources(amounts))).collect()
    };
    ResourceHistory {
        resource_usage: by_type(&view.used),
        preempted_resource: by_type(&view.preempted),
        placeholder_resource: by_type(&view.placeholders),
    }
}
