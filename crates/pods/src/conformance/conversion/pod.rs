//! Pods that are seen first.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::convert::amounts::pod_amounts;
use crate::convert::application::{ApplicationPlan, plan_application};
use crate::convert::ask::{ClassPreemption, TaskFacts, ask};
use crate::convert::event::{Event, EventKind};
use crate::convert::gang::{Placeholder, PlaceholderSettings, SUFFIX_LENGTH};
use crate::convert::identity::{application_id, conflicts, is_ours, queue_name};
use crate::convert::namespace::namespace_limits;
use crate::object::{ConfigMap, Namespace, Node, Pod, PriorityClass};
use crate::quantity::Quantity;
use crate::shim::{Action, ApiWrite, Configuration, CoreAnswer, CoreMessage, Moment, Notice, Shim};

use super::{Comparison, decision, decode, diff, render};

pub(super) fn compare(case: &Value) -> Result<Comparison, String> {
    let computed = compute(case)?;
    let mut recorded = case["result"].clone();
    let decisions = decision::adjust_pod(case, &mut recorded);
    let mut out = Vec::new();
    if recorded.get("panic").is_none() || recorded.get("resource").is_some() {
        diff("resource", recorded.get("resource"), computed.get("resource"), &mut out);
    }
    if recorded.get("panic").is_some() {
        return Ok(Comparison { differences: out, decisions });
    }
    for part in ["applicationID", "queue", "taskState"] {
        diff(part, recorded.get(part), computed.get(part), &mut out);
    }
    for part in ["application", "ask"] {
        let mut recorded = recorded[part].clone();
        if let Some(tags) = recorded.get_mut("tags") {
            *tags = render::read_json_tags(tags.take());
        }
        diff(part, Some(&recorded), computed.get(part), &mut out);
    }
    diff("messages", recorded.get("messages"), computed.get("messages"), &mut out);
    let placeholders = normal_placeholders(&recorded["placeholders"]);
    diff("placeholders", Some(&placeholders), computed.get("placeholders"), &mut out);
    let events = render::without_notes(&recorded["events"]);
    diff("events", Some(&events), computed.get("events"), &mut out);
    Ok(Comparison { differences: out, decisions })
}

/// Returns the configuration of a case whose config map has these entries.
pub(super) fn configuration(entries: &Value) -> Result<Configuration, String> {
    let map =
        ConfigMap { data: decode(&json!({ "data": entries }), "data")?, ..ConfigMap::default() };
    let loaded = Configuration::load(None, Some(&map)).map_err(|fault| fault.to_string())?;
    Ok(loaded.0)
}

fn compute(case: &Value) -> Result<Value, String> {
    let pod: Pod = decode(case, "pod")?;
    let configuration = configuration(&case["config"])?;
    let namespace: Option<Namespace> = decode(case, "namespace")?;
    let classes: Option<Vec<PriorityClass>> = decode(case, "priorityClasses")?;
    let classes = classes.unwrap_or_default();
    let settings = configuration.settings().clone();
    let pod = Arc::new(pod);

    let mut shim = Shim::new(configuration, 0);
    if let Some(namespace) = &namespace {
        shim.notice(Moment(0), Notice::Namespace(Box::new(namespace.clone())));
    }
    for class in &classes {
        shim.notice(Moment(0), Notice::PriorityClass(Box::new(class.clone())));
    }
    let node = &pod.spec.node_name;
    if !node.is_empty() {
        let mut known = Node::default();
        known.metadata.name = node.clone();
        shim.notice(Moment(0), Notice::Node(Arc::new(known)));
        shim.answer(Moment(0), CoreAnswer::NodeAccepted { name: node.clone() });
    }
    let actions = run(&mut shim, Notice::Pod(pod.clone()));

    let mut result = json!({ "resource": render::amounts(&pod_amounts(&pod)) });
    if is_ours(&pod) {
        result["applicationID"] = application_id(&pod, settings.generated_ids).as_str().into();
        result["queue"] = queue_name(&pod).as_str().into();
    }
    if let Some(state) = shim.task_state(&pod.metadata.uid) {
        result["taskState"] = state.into();
    }
    let (mut messages, mut events) = (Vec::new(), Vec::new());
    for action in actions {
        match action {
            Action::Tell(CoreMessage::Application(submission)) => {
                result["application"] = render::application(&submission);
            }
            Action::Tell(message) => messages.extend(render::message(&message)),
            Action::Event(event) => events.push(render::event(&event)),
            Action::Write(_) | Action::Snapshot(_) | Action::Log(_) | Action::WakeAt(_) => {}
        }
    }
    if result.get("application").is_some() {
        let limits = namespace.as_ref().map(|namespace| namespace_limits(namespace).0);
        let plan = plan_application(&pod, limits.as_ref(), settings.application_rules());
        let class =
            classes.iter().find(|class| class.metadata.name == pod.spec.priority_class_name);
        let facts = TaskFacts {
            application: &plan.submission.id,
            originator: &plan.originator,
            class: class.map(ClassPreemption::from).unwrap_or_default(),
        };
        result["ask"] = render::ask(&ask(&pod, facts));
        result["placeholders"] = placeholders(&plan, &settings.placeholders);
        for _ in conflicts(&pod) {
            let (about, kind) = ((&*pod).into(), EventKind::Conflict);
            events.push(render::event(&Event { about, kind, note: String::new() }));
        }
    }
    result["messages"] = messages.into();
    result["events"] = events.into();
    Ok(result)
}

/// Takes a notice. A namespace that the machine asks for does not exist.
pub(super) fn run(shim: &mut Shim, notice: Notice) -> Vec<Action> {
    let mut actions = shim.notice(Moment(0), notice);
    let asked: Vec<_> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Write(ApiWrite::ReadNamespace { name }) => Some(name.clone()),
            _ => None,
        })
        .collect();
    for name in asked {
        let read = Notice::NamespaceRead { name, namespace: None };
        actions.extend(shim.notice(Moment(0), read));
    }
    actions
}

fn placeholders(plan: &ApplicationPlan, settings: &PlaceholderSettings) -> Value {
    let suffix = "#".repeat(SUFFIX_LENGTH);
    let Some(gang) = &plan.gang else { return Value::Null };
    let groups = gang.groups.iter().map(|group| {
        let placeholder = Placeholder::new(&gang.source, group, settings, &suffix);
        json!({
            "group": group.name.as_str(),
            "minMember": group.min_member,
            "pod": placeholder.body,
        })
    });
    normal_placeholders(&groups.collect())
}

/// Removes what the recordings leave out, and brings quantities into one form.
fn normal_placeholders(placeholders: &Value) -> Value {
    let mut placeholders = placeholders.clone();
    for placeholder in placeholders.as_array_mut().into_iter().flatten() {
        let pod = &mut placeholder["pod"];
        if let Some(fields) = pod.as_object_mut() {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        // An absent flag of an owner is false.
        let owners = pod["metadata"]["ownerReferences"].as_array_mut();
        for owner in owners.into_iter().flatten().filter_map(Value::as_object_mut) {
            owner.retain(|_, value| *value != Value::Bool(false));
        }
        let resources = &mut pod["spec"]["containers"][0]["resources"];
        for list in ["requests", "limits"] {
            let Some(amounts) = resources.get_mut(list).and_then(Value::as_object_mut) else {
                continue;
            };
            for amount in amounts.values_mut() {
                let quantity = amount.as_str().and_then(|text| text.parse::<Quantity>().ok());
                if let Some(quantity) = quantity {
                    *amount = format!("{quantity:?}").into();
                }
            }
        }
        if resources.as_object().is_some_and(|lists| {
            lists.values().all(|list| list.as_object().is_some_and(Map::is_empty))
        }) {
            *resources = Value::Null;
        }
    }
    placeholders
}
