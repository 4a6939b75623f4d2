//! Changes recorded results by decisions.
//!
//! The decided result must then be equal to the computed one.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::conformance::Decision;
use crate::convert::key::{self, tag};

/// Applies one decision to a recorded result. Returns whether it changed the result.
type Step = fn(&Value, &mut Value) -> bool;

/// Changes the recorded result of a pod to the decided one.
pub(super) fn adjust_pod(case: &Value, recorded: &mut Value) -> BTreeSet<Decision> {
    let steps: [(Decision, Step); 8] = [
        (Decision::MarkerConflict, marker_conflict),
        (Decision::MissingTime, missing_time),
        (Decision::RequiredNode, required_node),
        (Decision::TaskGroups, task_groups),
        (Decision::Timeout, timeout),
        (Decision::PlaceholderUser, placeholder_user),
        (Decision::PlaceholderQueue, placeholder_queue),
        (Decision::NegativeQuota, negative_quota),
    ];
    steps
        .into_iter()
        .filter(|(_, step)| step(case, recorded))
        .map(|(decision, _)| decision)
        .collect()
}

/// Returns whether a value has a number at the end of the range, where the recorded one has wrapped.
pub(super) fn is_saturated(computed: &Value) -> bool {
    match computed {
        Value::Number(number) => {
            number.as_i64().is_some_and(|number| number == i64::MAX || number <= -i64::MAX)
        }
        Value::Array(values) => values.iter().any(is_saturated),
        Value::Object(fields) => fields.values().any(is_saturated),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Returns the elements of a list, if it exists.
fn list<'a>(value: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    value.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Returns the fields of an object, if it exists.
fn object<'a>(value: &'a mut Value, pointer: &str) -> Option<&'a mut Map<String, Value>> {
    value.pointer_mut(pointer)?.as_object_mut()
}

fn annotation<'a>(pod: &'a Value, key: &str) -> &'a str {
    pod["metadata"]["annotations"][key].as_str().unwrap_or_default()
}

fn marker_conflict(case: &Value, recorded: &mut Value) -> bool {
    let pod = &case["pod"];
    let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
    let labels = &pod["metadata"]["labels"];
    let label = |key: &str| labels[key].as_str().unwrap_or_default();
    let given = [
        label(key::APPLICATION),
        annotation(pod, key::APPLICATION),
        label(key::APPLICATION_OLD),
        label(key::APPLICATION_SPARK),
    ];
    let resolved: BTreeSet<String> = given
        .iter()
        .filter(|id| !id.is_empty())
        .map(|id| match id.strip_suffix(key::UNIQUE_MARKER) {
            Some(start) => format!("{start}-{uid}"),
            None => (*id).to_owned(),
        })
        .collect();
    let events = recorded.pointer_mut("/events").and_then(Value::as_array_mut);
    let Some(events) = events else { return false };
    let warning = events.iter().position(|event| {
        event["type"] == "Warning"
            && event["note"].as_str().is_some_and(|note| note.contains("'app-id'"))
    });
    match warning {
        Some(position) if resolved.len() == 1 => {
            events.remove(position);
            true
        }
        Some(_) | None => false,
    }
}

/// Creation time that the reference sends for an object without timestamp.
const YEAR_ONE: &str = "-62135596800";

fn missing_time(_: &Value, recorded: &mut Value) -> bool {
    let mut found =
        remove_time(recorded.pointer_mut("/application/tags"), tag::APPLICATION_CREATED);
    found |= remove_time(recorded.pointer_mut("/ask/tags"), tag::CREATED);
    for message in list(recorded, "/messages") {
        found |= remove_time(message.pointer_mut("/allocation/tags"), tag::CREATED);
    }
    found
}

fn remove_time(tags: Option<&mut Value>, key: &str) -> bool {
    let Some(tags) = tags.and_then(Value::as_object_mut) else { return false };
    let is_missing = tags.get(key).is_some_and(|time| time == YEAR_ONE);
    if is_missing {
        tags.remove(key);
    }
    is_missing
}

fn required_node(case: &Value, recorded: &mut Value) -> bool {
    let pod = &case["pod"];
    let affinity = &pod["spec"]["affinity"]["nodeAffinity"];
    let terms = &affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    let fields = terms.as_array().into_iter().flatten().rev();
    let mut fields = fields
        .flat_map(|term| term["matchFields"].as_array().into_iter().flatten().rev())
        .filter(|field| field["key"] == "metadata.name");
    let is_decided = |field: &Value| {
        field["operator"] == "In"
            && field["values"].as_array().is_some_and(|values| values.len() == 1)
    };
    let decided = fields.find(|field| is_decided(field)).map(|field| field["values"][0].clone());
    if recorded.get("panic").is_some() {
        return true;
    }
    let Some(tags) = object(recorded, "/ask/tags") else { return false };
    if !tags.contains_key(tag::REQUIRED_NODE) || tags.get(tag::REQUIRED_NODE) == decided.as_ref() {
        return false;
    }
    match decided {
        Some(node) => tags.insert(tag::REQUIRED_NODE.into(), node),
        None => tags.remove(tag::REQUIRED_NODE),
    };
    true
}

fn task_groups(case: &Value, recorded: &mut Value) -> bool {
    let pod = &case["pod"];
    let is_accepted = recorded["placeholders"].as_array().is_some_and(|list| !list.is_empty());
    let text = annotation(pod, key::TASK_GROUPS);
    let Ok(Value::Array(groups)) = serde_json::from_str(text) else { return false };
    let field = |group: &Value, name: &str| {
        let fields = group.as_object().into_iter().flatten();
        fields
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
            .next_back()
    };
    let names: Vec<String> = groups
        .iter()
        .filter_map(|group| field(group, "name")?.as_str().map(ToOwned::to_owned))
        .collect();
    let is_unfit = |name: &String| {
        name.bytes().take(20).any(|byte| !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
    };
    let is_unnamed = |group: &Value| {
        field(group, "minResource").is_some_and(|amounts| amounts.get("").is_some())
    };
    let is_refused = names.iter().collect::<BTreeSet<_>>().len() < names.len()
        || names.iter().any(is_unfit)
        || groups.iter().any(is_unnamed);
    if !is_accepted || !is_refused {
        return false;
    }
    recorded["placeholders"] = Value::Null;
    if let Some(application) = object(recorded, "/application") {
        application.remove("placeholderAsk");
    }
    let error =
        json!({ "type": "Warning", "reason": "GangScheduling", "action": "TaskGroupsError" });
    let mut events = vec![error];
    events.extend(recorded["events"].as_array().into_iter().flatten().cloned());
    recorded["events"] = events.into();
    true
}

fn timeout(case: &Value, recorded: &mut Value) -> bool {
    let pod = &case["pod"];
    let text = annotation(pod, key::POLICY_PARAMETERS);
    let is_number = |value: &&str| {
        let digits = value.trim_start_matches(['+', '-']);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let given = text
        .split(' ')
        .filter_map(|token| token.strip_prefix("placeholderTimeoutInSeconds="))
        .next_back()
        .filter(is_number);
    let is_refused = given.is_some_and(|value| {
        !value.parse::<i64>().is_ok_and(|seconds| (0..=i64::MAX / 1000).contains(&seconds))
    });
    let Some(application) = object(recorded, "/application") else { return false };
    let field = "executionTimeoutMilliSeconds";
    if !is_refused || application.get(field) == Some(&json!(0)) {
        return false;
    }
    application.insert(field.into(), json!(0));
    true
}

fn placeholder_user(case: &Value, recorded: &mut Value) -> bool {
    let pod = &case["pod"];
    let user = annotation(pod, key::USER_INFO);
    let placeholders: Vec<_> = list(recorded, "/placeholders").collect();
    let is_changed = !user.is_empty() && !placeholders.is_empty();
    if is_changed {
        for placeholder in placeholders {
            placeholder["pod"]["metadata"]["annotations"][key::USER_INFO] = user.into();
        }
    }
    is_changed
}

fn placeholder_queue(_: &Value, recorded: &mut Value) -> bool {
    let mut is_changed = false;
    for placeholder in list(recorded, "/placeholders") {
        let Some(labels) = object(placeholder, "/pod/metadata/labels") else { continue };
        if labels.get(key::QUEUE).is_some_and(|queue| queue == "") {
            labels.remove(key::QUEUE);
            is_changed = true;
        }
    }
    is_changed
}

fn negative_quota(case: &Value, recorded: &mut Value) -> bool {
    let annotations = &case["namespace"]["metadata"]["annotations"];
    let is_negative = |key: &str| {
        let text = annotations[key].as_str().unwrap_or_default();
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(amounts) => amounts
                .values()
                .any(|amount| amount.as_str().is_some_and(|amount| amount.starts_with('-'))),
            Err(_) => text.starts_with('-'),
        }
    };
    let mut is_changed = false;
    for (name, keys) in [
        (
            tag::QUOTA,
            &[key::NAMESPACE_QUOTA, key::NAMESPACE_CPU_OLD, key::NAMESPACE_MEMORY_OLD][..],
        ),
        (tag::GUARANTEED, &[key::NAMESPACE_GUARANTEED][..]),
    ] {
        let Some(tags) = object(recorded, "/application/tags") else { continue };
        let has_negative =
            tags.get(name).and_then(Value::as_str).is_some_and(|text| text.contains(":-"));
        if has_negative && keys.iter().any(|key| is_negative(key)) {
            tags.remove(name);
            is_changed = true;
        }
    }
    is_changed
}
