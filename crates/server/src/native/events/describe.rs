//! Conversion of a core event to an event of the interface: kind, subject, sentence, and fields.

use headroom_api::headroomv1::Event as Told;
use headroom_core::event_text::{EventNames, kind_of, reason_of, subjects, text_of};
use headroom_core::resource::Amounts;
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, Name, NodeEvent,
    PreemptionCause, QueueEvent,
};
use headroom_engine::Entry;
use serde_json::{Map, Value, json};

use crate::native::words::time;

/// Returns the event at position `place` of an entry, in the form of the API.
pub(super) fn event_body(entry: &Entry, place: usize) -> Told {
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

/// Returns the fields of an event that have no field of their own in the interface.
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
        Event::Queue(event) => detail_of_queue(event, &mut put),
        Event::Node(event) => detail_of_node(event, &mut put),
        Event::Application(event) => detail_of_application(event, named, &mut put),
        Event::Ask(event) => detail_of_ask(event, &mut put),
        Event::Allocation(event) => detail_of_allocation(event, named, &mut put),
        Event::Foreign(ForeignEvent::Set { resources, .. }) => put("resources", amounts(resources)),
        // The kind and the subject are the whole content.
        Event::Partition(_)
        | Event::Task(_)
        | Event::Foreign(ForeignEvent::Removed { .. })
        | Event::Tenant(_) => {}
    }
    detail
}

fn detail_of_queue(event: &QueueEvent, put: &mut impl FnMut(&str, Value)) {
    match event {
        QueueEvent::Added { leaf, managed, .. } | QueueEvent::Changed { leaf, managed, .. } => {
            put("leaf", json!(leaf));
            put("managed", json!(managed));
        }
        QueueEvent::Moved { state, .. } => put("state", json!(state.to_string())),
        QueueEvent::Removed { .. }
        | QueueEvent::LimitsChanged { .. }
        | QueueEvent::QuotaClockStopped { .. } => {}
    }
}

fn detail_of_node(event: &NodeEvent, put: &mut impl FnMut(&str, Value)) {
    match event {
        NodeEvent::Added { capacity, schedulable, .. } => {
            put("capacity", amounts(capacity));
            put("schedulable", json!(schedulable));
        }
        NodeEvent::Resized { capacity, .. } => put("capacity", amounts(capacity)),
        NodeEvent::Scheduling { .. }
        | NodeEvent::Removed { .. }
        | NodeEvent::Reported { .. }
        | NodeEvent::VerdictsVoid { .. } => {}
    }
}

fn detail_of_application(
    event: &ApplicationEvent,
    named: &EventNames,
    put: &mut impl FnMut(&str, Value),
) {
    match event {
        ApplicationEvent::Added { groups, .. } => put("groups", names(groups)),
        ApplicationEvent::Rejected { groups, code, message, .. } => {
            put("groups", names(groups));
            put("code", json!(code.as_str()));
            put("message", json!(message.as_str()));
        }
        ApplicationEvent::Linked { group, .. } => {
            put("group", json!(group.as_ref().map(Name::as_str)));
        }
        ApplicationEvent::Moved { state, .. } => {
            put("before", json!(named.before.map(|before| before.to_string())));
            put("state", json!(state.to_string()));
        }
        ApplicationEvent::BackedOff { until, .. } => put("until", json!(time(*until))),
        ApplicationEvent::Overtaken { by: Some(_), .. } => put("by", json!(named.other.as_str())),
        ApplicationEvent::GroupUnlinked { .. }
        | ApplicationEvent::Unlinked { .. }
        | ApplicationEvent::LifetimeSet { .. }
        | ApplicationEvent::LifetimeOver { .. }
        | ApplicationEvent::DeadlineSet { .. }
        | ApplicationEvent::Overtaken { by: None, .. }
        | ApplicationEvent::Activated { .. }
        | ApplicationEvent::Allocating { .. }
        | ApplicationEvent::Removed { .. }
        | ApplicationEvent::PlaceholdersExpired { .. }
        | ApplicationEvent::TimerStopped { .. } => {}
    }
}

fn detail_of_ask(event: &AskEvent, put: &mut impl FnMut(&str, Value)) {
    match event {
        AskEvent::Added { resources, priority, created, traits, .. } => {
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
        AskEvent::Removed { termination, .. } => put("reason", json!(reason_of(*termination))),
        AskEvent::Placed { .. }
        | AskEvent::Reserved { .. }
        | AskEvent::Unreserved { .. }
        | AskEvent::Held { .. }
        | AskEvent::HoldEnded { .. }
        | AskEvent::Asked { .. }
        | AskEvent::Answered { .. }
        | AskEvent::PreemptionTriggered { .. }
        | AskEvent::PreemptionTried { .. }
        | AskEvent::ScaleUpAsked { .. } => {}
    }
}

fn detail_of_allocation(
    event: &AllocationEvent,
    named: &EventNames,
    put: &mut impl FnMut(&str, Value),
) {
    match event {
        AllocationEvent::Resized { resources, .. } => {
            put("before", amounts(&named.resources));
            put("resources", amounts(resources));
        }
        AllocationEvent::Released { termination, .. }
        | AllocationEvent::ReleaseAsked { termination, .. } => {
            put("reason", json!(reason_of(*termination)));
        }
        AllocationEvent::SwapStarted { .. } | AllocationEvent::SwapConfirmed { .. } => {
            put("placeholder", json!(named.other.as_str()));
        }
        AllocationEvent::Preempted { cause, .. }
        | AllocationEvent::PreemptionObserved { cause, .. } => {
            let (cause, whose) = match cause {
                PreemptionCause::Guarantee(_) => ("guarantee", "ask"),
                PreemptionCause::Share(_) => ("share", "ask"),
                PreemptionCause::Priority(_) => ("priority", "ask"),
                PreemptionCause::RequiredNode(_) => ("requiredNode", "ask"),
                PreemptionCause::Quota(_) => ("quota", "queue"),
            };
            put("cause", json!(cause));
            put(whose, json!(named.other.as_str()));
        }
        AllocationEvent::SwapDropped { .. } => {}
    }
}

fn amounts(amounts: &Amounts) -> Value {
    let pairs = amounts.iter().map(|(name, amount)| (name.to_string(), json!(amount.get())));
    Value::Object(pairs.collect())
}

fn names(names: &[Name]) -> Value {
    names.iter().map(Name::as_str).collect()
}
