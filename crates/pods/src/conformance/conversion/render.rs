//! Messages and events in the form of the recordings.

use serde_json::{Map, Value, json};

use crate::convert::amounts::Amounts;
use crate::convert::application::{ApplicationSubmission, Tags};
use crate::convert::ask::{Ask, ForeignAllocation};
use crate::convert::event::Event;
use crate::convert::key::{self, tag};
use crate::convert::node::{NodeChange, NodeSubmission, RACK};
use crate::object::Text;
use crate::shim::CoreMessage;

pub(super) fn amounts(amounts: &Amounts) -> Value {
    amounts
        .iter()
        .map(|(name, amount)| (name.to_owned(), amount.into()))
        .collect::<Map<_, _>>()
        .into()
}

/// Tags whose text is JSON, which is compared by value.
const JSON_TAGS: [&str; 2] = [tag::QUOTA, tag::GUARANTEED];

fn tags(tags: &Tags) -> Value {
    let pair = |(name, value): (&Text, &Text)| (name.to_string(), Value::from(value.as_str()));
    read_json_tags(tags.iter().map(pair).collect::<Map<_, _>>().into())
}

/// Replaces the texts of tags that are JSON by their values.
pub(super) fn read_json_tags(mut tags: Value) -> Value {
    for name in JSON_TAGS {
        if let Some(value) = tags.get_mut(name)
            && let Some(read) = value.as_str().and_then(|text| serde_json::from_str(text).ok())
        {
            *value = read;
        }
    }
    tags
}

pub(super) fn application(submission: &ApplicationSubmission) -> Value {
    let mut value = json!({
        "applicationID": submission.id.as_str(),
        "executionTimeoutMilliSeconds": submission.timeout_millis,
        "gangSchedulingStyle": submission.style.name(),
        "partitionName": key::PARTITION,
        "queueName": submission.queue.as_str(),
        "tags": tags(&submission.tags),
        "user": submission.user.name.as_str(),
    });
    if !submission.user.groups.is_empty() {
        value["groups"] = submission.user.groups.iter().map(Text::as_str).collect();
    }
    if !submission.placeholder_ask.is_empty() {
        value["placeholderAsk"] = amounts(&submission.placeholder_ask);
    }
    value
}

pub(super) fn ask(ask: &Ask) -> Value {
    let mut value = json!({
        "allocationKey": ask.key.as_str(),
        "applicationID": ask.application.as_str(),
        "preemptionPolicy": {
            "allowPreemptOther": ask.preemption.allow_other,
            "allowPreemptSelf": ask.preemption.allow_self,
        },
        "resource": amounts(&ask.amounts),
        "tags": tags(&ask.tags),
    });
    for (field, holds) in [("originator", ask.originator), ("placeholder", ask.placeholder)] {
        if holds {
            value[field] = true.into();
        }
    }
    for (field, text) in [("nodeID", &ask.node), ("taskGroupName", &ask.task_group)] {
        if !text.is_empty() {
            value[field] = text.as_str().into();
        }
    }
    if ask.priority != 0 {
        value["priority"] = ask.priority.into();
    }
    value
}

fn foreign(allocation: &ForeignAllocation) -> Value {
    let mut value = json!({
        "allocationKey": allocation.key.as_str(),
        "nodeID": allocation.node.as_str(),
        "resource": amounts(&allocation.amounts),
        "tags": tags(&allocation.tags),
    });
    if allocation.priority != 0 {
        value["priority"] = allocation.priority.into();
    }
    value
}

fn node(submission: &NodeSubmission) -> Value {
    let name = submission.name.as_str();
    match &submission.change {
        NodeChange::CreateDrained { capacity } => json!({
            "action": "CREATE_DRAIN",
            "nodeID": name,
            "attributes": { tag::HOST: name, tag::RACK: RACK },
            "schedulableResource": amounts(capacity),
        }),
        NodeChange::Update { capacity } => json!({
            "action": "UPDATE",
            "nodeID": name,
            "schedulableResource": amounts(capacity),
        }),
        NodeChange::Drain => json!({ "action": "DRAIN_NODE", "nodeID": name }),
        NodeChange::Resume => json!({ "action": "DRAIN_TO_SCHEDULABLE", "nodeID": name }),
        NodeChange::Decommission => json!({ "action": "DECOMISSION", "nodeID": name }),
    }
}

/// Renders a message. Messages about applications are not recorded step by step.
pub(super) fn message(message: &CoreMessage) -> Option<Value> {
    match message {
        CoreMessage::Configuration { .. }
        | CoreMessage::Application(_)
        | CoreMessage::RemoveApplication { .. } => None,
        CoreMessage::Ask(message) => Some(json!({ "allocation": ask(message) })),
        CoreMessage::Foreign(allocation) => Some(json!({ "allocation": foreign(allocation) })),
        CoreMessage::Release { application, key, termination } => {
            let mut release =
                json!({ "allocationKey": key.as_str(), "terminationType": termination.name() });
            if let Some(application) = application {
                release["applicationID"] = application.as_str().into();
            }
            Some(json!({ "release": release }))
        }
        CoreMessage::Node(submission) => Some(json!({ "node": node(submission) })),
    }
}

/// Renders an event without its note, which is only informative.
pub(super) fn event(event: &Event) -> Value {
    json!({
        "type": event.kind.severity().name(),
        "reason": event.kind.reason(),
        "action": event.kind.action(),
    })
}

/// Removes the notes of recorded events.
pub(super) fn without_notes(events: &Value) -> Value {
    let mut events = events.clone();
    for event in events.as_array_mut().into_iter().flatten() {
        if let Some(event) = event.as_object_mut() {
            event.remove("note");
        }
    }
    events
}
