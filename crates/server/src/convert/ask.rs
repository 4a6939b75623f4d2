//! Waiting asks.

use headroom_api::wsv1::{AllocationLogEntry, Ask, IntegerText};
use headroom_core::view::AskView;
use headroom_core::{Timestamp, WaitCode};

use crate::rest::RmMetadata;

use super::value::{name_or_empty, nanos, resources};

/// Returns an ask. [`waits`] adds the reason of its wait, where that was determined.
pub(crate) fn ask(view: &AskView, partition: &str, metadata: &dyn RmMetadata) -> Ask {
    let tags = metadata.tags(partition, &view.key);
    Ask {
        allocation_key: view.key.to_string(),
        allocation_tags: tags.unwrap_or_default(),
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

/// Returns the words of `YuniKorn` for a wait, which clients search for in the log of an ask.
pub(crate) const fn reference_words(code: WaitCode) -> Option<&'static str> {
    match code {
        WaitCode::AncestorQuota
        | WaitCode::OverQuotaAfterLowering
        | WaitCode::QueueMax
        | WaitCode::RootCapacity
        | WaitCode::TenantInstances
        | WaitCode::TenantQuota => Some("Not enough queue quota"),
        WaitCode::AbsGroupLimit
        | WaitCode::AbsUserLimit
        | WaitCode::UserHardCap
        | WaitCode::UserShare => Some("Not enough user quota"),
        WaitCode::AwaitingRm
        | WaitCode::Backoff
        | WaitCode::BehindGang
        | WaitCode::BehindHead
        | WaitCode::DriverLimitQueue
        | WaitCode::DriverLimitUser
        | WaitCode::GangIncomplete
        | WaitCode::GroupApps
        | WaitCode::Held
        | WaitCode::HeldForHead
        | WaitCode::Impossible
        | WaitCode::MaxApps
        | WaitCode::NodeBlocked
        | WaitCode::NodeConstraint
        | WaitCode::NodeReserved
        | WaitCode::NodeResources
        | WaitCode::NoNodes
        | WaitCode::NoNodeFits
        | WaitCode::NoPartitionAccess
        | WaitCode::OrderBehind
        | WaitCode::ParallelLimit
        | WaitCode::PreemptionPending
        | WaitCode::PriorityBehind
        | WaitCode::QueueState
        | WaitCode::Recovering
        | WaitCode::RequiredNodeAbsent
        | WaitCode::RequiredNodeFull
        | WaitCode::RequiredNodeSize
        | WaitCode::RmAway
        | WaitCode::ShareBehind
        | WaitCode::TenantSuspended
        | WaitCode::UserApps => None,
    }
}
