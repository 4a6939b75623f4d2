//! An event of the core as the interface has it: its kind, its subject, its sentence, and its fields.

use headroom_api::headroomv1::Event as Told;
use headroom_core::resource::Amounts;
use headroom_core::{Event, Name, PreemptionCause, TaskStep};
use headroom_engine::{Entry, EventNames};
use serde_json::{Map, Value, json};

use crate::native::words::time;

use super::sentence::{reason_of, text_of};

/// An event of an entry, as it is sent.
pub(super) fn told(entry: &Entry, place: usize) -> Told {
    let (event, named) = (&entry.record.events[place], &entry.named[place]);
    let some = |name: &Name| (!name.is_empty()).then(|| name.to_string());
    Told {
        sequence: entry.record.sequence,
        at: time(entry.record.time),
        kind: kind_of(event).to_owned(),
        object: subjects(named).next().map(ToString::to_string).unwrap_or_default(),
        queue: some(&named.queue),
        application: some(&named.application),
        user: some(&named.user),
        node: some(&named.node),
        text: text_of(event, named),
        detail: detail_of(event, named),
    }
}

/// What an event is about: first the object itself, then what it belongs to.
pub(super) fn subjects(named: &EventNames) -> impl Iterator<Item = &Name> {
    let EventNames { key, application, node, queue, user, partition, .. } = named;
    [key, application, node, queue, user, partition].into_iter().filter(|name| !name.is_empty())
}

/// What happened, for programs; does not change.
pub(in crate::native) const fn kind_of(event: &Event) -> &'static str {
    match event {
        Event::PartitionAdded { .. } => "partitionAdded",
        Event::PartitionChanged { .. } => "partitionChanged",
        Event::PartitionRemoved { .. } => "partitionRemoved",
        Event::Configured { .. } => "configured",
        Event::QueueAdded { .. } => "queueAdded",
        Event::QueueChanged { .. } => "queueChanged",
        Event::QueueMoved { .. } => "queueMoved",
        Event::QueueRemoved { .. } => "queueRemoved",
        Event::LimitsChanged { .. } => "limitsChanged",
        Event::NodeAdded { .. } => "nodeAdded",
        Event::NodeResized { .. } => "nodeResized",
        Event::NodeScheduling { schedulable: true, .. } => "nodeResumed",
        Event::NodeScheduling { schedulable: false, .. } => "nodeDrained",
        Event::NodeRemoved { .. } => "nodeRemoved",
        Event::ApplicationAdded { .. } => "applicationAccepted",
        Event::ApplicationRejected { .. } => "applicationRejected",
        Event::ApplicationLinked { .. } => "groupLinked",
        Event::GroupUnlinked { .. } => "groupUnlinked",
        Event::ApplicationUnlinked { .. } => "applicationUnlinked",
        Event::ApplicationMoved { .. } => "applicationMoved",
        Event::ApplicationAllocating { .. } => "applicationStarting",
        Event::ApplicationActivated { .. } => "applicationActivated",
        Event::ApplicationRemoved { .. } => "applicationForgotten",
        Event::AskAdded { .. } => "askAdded",
        Event::AskRemoved { .. } => "askRemoved",
        Event::Placed { .. } => "allocationGranted",
        Event::Resized { .. } => "allocationResized",
        Event::Released { .. } => "allocationReleased",
        Event::Reserved { .. } => "nodeReserved",
        Event::Unreserved { .. } => "nodeUnreserved",
        Event::SwapStarted { .. } => "swapStarted",
        Event::SwapConfirmed { .. } => "swapConfirmed",
        Event::SwapDropped { .. } => "swapDropped",
        Event::ReleaseAsked { .. } => "releaseOrdered",
        Event::Preempted { .. } => "preemptionOrdered",
        Event::PreemptionTriggered { .. } => "preemptionTriggered",
        Event::PreemptionObserved { .. } => "preemptionObserved",
        Event::PreemptionTried { .. } => "preemptionTried",
        Event::QuotaClockStopped { .. } => "quotaClockStopped",
        Event::BackedOff { .. } => "applicationBackedOff",
        Event::LifetimeSet { .. } => "lifetimeSet",
        Event::LifetimeOver { .. } => "lifetimeOver",
        Event::DeadlineSet { .. } => "deadlineSet",
        Event::Overtaken { .. } => "overtaken",
        Event::PlaceholdersExpired { .. } => "placeholdersExpired",
        Event::TimerStopped { .. } => "timerStopped",
        Event::ScaleUpAsked { .. } => "scaleUpAsked",
        Event::ForeignSet { .. } => "foreignSet",
        Event::ForeignRemoved { .. } => "foreignRemoved",
        Event::QuestionsSet { .. } => "questionsSet",
        Event::Asked { .. } => "questionAsked",
        Event::Answered { .. } => "questionAnswered",
        Event::VerdictsVoid { .. } => "verdictsVoid",
        Event::TaskAdded { .. } => "taskAdded",
        Event::TaskThrottled { .. } => "taskThrottled",
        Event::TaskMoved { step, .. } => kind_of_step(step),
        Event::TenantSet { .. } => "tenantSet",
        Event::TenantDraining { .. } => "tenantDraining",
        Event::TenantRemoved { .. } => "tenantRemoved",
        Event::TenantDefaultsSet { .. } => "tenantDefaultsSet",
        Event::DriftFound { .. } => "tenantDrift",
        Event::ManagerAway { away: Some(_), .. } => "managerAway",
        Event::ManagerAway { away: None, .. } => "managerBack",
        Event::RecoverySet { until: Some(_), .. } => "recoveryBegun",
        Event::RecoverySet { until: None, .. } => "recoveryOver",
        Event::NodeReported { .. } => "nodeReported",
    }
}

const fn kind_of_step(step: &TaskStep) -> &'static str {
    match step {
        TaskStep::Confirmed => "taskConfirmed",
        TaskStep::Cancelling => "taskCancelling",
        TaskStep::Restarted { .. } => "taskRestarted",
        TaskStep::Requeued { .. } => "taskRequeued",
        TaskStep::Waited => "taskWaited",
        TaskStep::Measured { .. } => "taskMeasured",
        TaskStep::Ended { .. } => "taskEnded",
    }
}

/// The fields of an event that have no place of their own.
fn detail_of(event: &Event, named: &EventNames) -> Map<String, Value> {
    let mut detail = Map::new();
    let mut put = |name: &str, value: Value| {
        detail.insert(name.to_owned(), value);
    };
    for (name, value) in [("partition", &named.partition), ("key", &named.key)] {
        if !value.is_empty() {
            put(name, json!(value.as_str()));
        }
    }
    if !named.resources.is_empty() {
        put("resources", amounts(&named.resources));
    }
    match event {
        Event::Configured { checksum } => put("checksum", json!(checksum.as_str())),
        Event::QueueAdded { leaf, managed, .. } | Event::QueueChanged { leaf, managed, .. } => {
            put("leaf", json!(leaf));
            put("managed", json!(managed));
        }
        Event::QueueMoved { state, .. } => put("state", json!(state.to_string())),
        Event::NodeAdded { capacity, schedulable, .. } => {
            put("capacity", amounts(capacity));
            put("schedulable", json!(schedulable));
        }
        Event::NodeResized { capacity, .. } => put("capacity", amounts(capacity)),
        Event::ApplicationAdded { groups, .. } => put("groups", names(groups)),
        Event::ApplicationRejected { groups, code, message, .. } => {
            put("groups", names(groups));
            put("code", json!(code.as_str()));
            put("message", json!(message.as_str()));
        }
        Event::ApplicationLinked { group, .. } => {
            put("group", json!(group.as_ref().map(Name::as_str)));
        }
        Event::ApplicationMoved { state, .. } => {
            put("before", json!(named.before.map(|before| before.to_string())));
            put("state", json!(state.to_string()));
        }
        _ => detail_of_ask(event, named, &mut put),
    }
    detail
}

fn detail_of_ask(event: &Event, named: &EventNames, put: &mut impl FnMut(&str, Value)) {
    match event {
        Event::AskAdded { resources, priority, created, traits, .. } => {
            put("resources", amounts(resources));
            put("priority", json!(priority));
            put("created", json!(time(*created)));
            put("placeholder", json!(traits.placeholder));
            put("taskGroup", json!(traits.task_group.as_ref().map(Name::as_str)));
            put("requiredNode", json!(traits.required_node.as_ref().map(Name::as_str)));
            if let Some(label) = &traits.node_label {
                put("nodeLabel", json!(label.as_str()));
            }
            if !traits.blocked_nodes.is_empty() {
                let nodes: Vec<&str> = traits.blocked_nodes.iter().map(Name::as_str).collect();
                put("blockedNodes", json!(nodes));
            }
        }
        Event::Resized { resources, .. } => {
            put("before", amounts(&named.resources));
            put("resources", amounts(resources));
        }
        Event::ForeignSet { resources, .. } => put("resources", amounts(resources)),
        Event::AskRemoved { termination, .. }
        | Event::Released { termination, .. }
        | Event::ReleaseAsked { termination, .. } => {
            put("reason", json!(reason_of(*termination)));
        }
        Event::SwapStarted { .. } | Event::SwapConfirmed { .. } => {
            put("placeholder", json!(named.other.as_str()));
        }
        Event::Preempted { cause, .. } | Event::PreemptionObserved { cause, .. } => {
            let (cause, whose) = match cause {
                PreemptionCause::Guarantee(_) => ("guarantee", "ask"),
                PreemptionCause::Share(_) => ("share", "ask"),
                PreemptionCause::RequiredNode(_) => ("requiredNode", "ask"),
                PreemptionCause::Quota(_) => ("quota", "queue"),
            };
            put("cause", json!(cause));
            put(whose, json!(named.other.as_str()));
        }
        Event::BackedOff { until, .. } => put("until", json!(time(*until))),
        // The kind and the subject are all there is.
        _ => {}
    }
}

fn amounts(amounts: &Amounts) -> Value {
    let pairs = amounts.iter().map(|(name, amount)| (name.to_string(), json!(amount.get())));
    Value::Object(pairs.collect())
}

fn names(names: &[Name]) -> Value {
    names.iter().map(Name::as_str).collect()
}
