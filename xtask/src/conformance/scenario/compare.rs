//! Ours beside the record: what differs, part by part.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Texts for people, and `schedulingAttempted`, which depends on which asks the reference looked
/// at before it found one to place.
const NOT_COMPARED: [&str; 4] = ["reason", "message", "rejectedMessage", "schedulingAttempted"];

/// Maps in which a type with amount zero and one that is absent are the same. Decision K-19.
const USAGE: [&str; 15] = [
    "absUsedCapacity",
    "allocated",
    "allocatedResource",
    "available",
    "capacity",
    "maxUsedResource",
    "occupied",
    "pendingResource",
    "preemptingResource",
    "resource",
    "resourceUsage",
    "usedCapacity",
    "usedResource",
    "utilization",
    "utilized",
];

/// Fields that name an element of a list, the more telling first.
const IDENTITIES: [&str; 8] = [
    "queuename",
    "queuePath",
    "allocationKey",
    "applicationID",
    "nodeID",
    "userName",
    "groupName",
    "name",
];

/// How much of a value is printed.
const SHOWN: usize = 160;

/// One place where ours and the record are not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Where, from the part of the step down.
    pub(super) place: String,
    ours: Option<Value>,
    recorded: Option<Value>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (ours, recorded) = (shown(self.ours.as_ref()), shown(self.recorded.as_ref()));
        write!(out, "{} is {ours}, recorded is {recorded}", self.place)
    }
}

/// A value in a line.
fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "absent".to_owned() };
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

/// What differs below this place, in the order of the fields.
pub(super) fn differences(place: &str, ours: &Value, recorded: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(place, Some(&normal(ours)), Some(&normal(recorded)), &mut found);
    found
}

/// The value without what is not compared, and without everything empty.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(normal_map(map)),
        Value::Array(list) => list.iter().map(normal).filter(|one| !is_hollow(one)).collect(),
        _ => value.clone(),
    }
}

fn normal_map(map: &Map<String, Value>) -> Map<String, Value> {
    let mut result = Map::new();
    for (key, value) in map {
        let mut value = normal(value);
        if let Some(running) = map.get("queues").map(|queues| &queues["runningApplications"]) {
            keep_running(key, &mut value, running);
        }
        if let Value::Object(amounts) = &mut value
            && USAGE.contains(&key.as_str())
        {
            amounts.retain(|_, amount| amount.as_i64() != Some(0));
        }
        let empty = match &value {
            Value::Object(map) => map.is_empty() || is_hollow(&value),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        if !empty && !NOT_COMPARED.contains(&key.as_str()) {
            result.insert(key.clone(), value);
        }
    }
    result
}

/// Of the applications that a user or a group lists, leave those that run: the reference also
/// keeps ones that it looked at and that never ran, and ones whose group has lost its limit.
fn keep_running(key: &str, value: &mut Value, running: &Value) {
    let runs = |name: &str| {
        running.as_array().is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
    };
    match (key, value) {
        ("groups", Value::Object(groups)) => groups.retain(|application, _| runs(application)),
        ("applications", Value::Array(list)) => list.retain(|one| one.as_str().is_some_and(runs)),
        _ => {}
    }
}

/// Whether this is a user, a group or a level of one that counts nothing and limits nothing:
/// the reference makes some when it only looks, and leaves them behind.
fn is_hollow(value: &Value) -> bool {
    let is_name = |key: &String| matches!(&**key, "queuePath" | "userName" | "groupName");
    value.as_object().is_some_and(|map| !map.is_empty() && map.keys().all(is_name))
}

fn compare(
    place: &str,
    ours: Option<&Value>,
    recorded: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (ours, recorded) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            // What is below a queue comes last: the queue itself says more.
            let (below, own): (Vec<_>, Vec<_>) =
                keys.into_iter().partition(|key| *key == "children");
            for key in own.into_iter().chain(below) {
                compare(&format!("{place}.{key}"), one.get(key), other.get(key), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            match (by_name(one), by_name(other)) {
                (Some(one), Some(other)) => {
                    let names: BTreeSet<&str> =
                        one.iter().chain(&other).map(|(name, _)| *name).collect();
                    let of = |list: &[(&str, &Value)], name: &str| -> Option<Value> {
                        list.iter().find(|(one, _)| *one == name).map(|(_, one)| (*one).clone())
                    };
                    for name in names {
                        let (one, other) = (of(&one, name), of(&other, name));
                        compare(&format!("{place}[{name}]"), one.as_ref(), other.as_ref(), found);
                    }
                }
                _ => push(place, ours, recorded, found),
            }
        }
        _ => push(place, ours, recorded, found),
    }
}

fn push(place: &str, ours: Option<&Value>, recorded: Option<&Value>, found: &mut Vec<Difference>) {
    if same(ours, recorded) {
        return;
    }
    found.push(Difference {
        place: place.to_owned(),
        ours: ours.cloned(),
        recorded: recorded.cloned(),
    });
}

/// Equal, where 1 and 1.0 are.
fn same(ours: Option<&Value>, recorded: Option<&Value>) -> bool {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    ours == recorded
        || number(ours)
            .zip(number(recorded))
            .is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
}

/// The elements of a list with their names; none unless each has its own.
fn by_name(list: &[Value]) -> Option<Vec<(&str, &Value)>> {
    let mut named = Vec::new();
    for one in list {
        named.push((IDENTITIES.iter().find_map(|field| one.get(*field)?.as_str())?, one));
    }
    let distinct: BTreeSet<&str> = named.iter().map(|(name, _)| *name).collect();
    (distinct.len() == named.len()).then_some(named)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn absent_empty_and_zero_are_the_same_where_use_is_shown() {
        for (ours, recorded, differing) in [
            (json!({"usedResource": {"a": 0}}), json!({}), 0),
            (json!({"usedResource": {"a": 1}}), json!({"usedResource": {"a": 1, "b": 0}}), 0),
            (json!({"maxResource": {"a": 0}}), json!({}), 1),
            (json!({"headroom": {"a": 0}}), json!({"headroom": {}}), 1),
            (json!({"reason": "x"}), json!({"reason": "y"}), 0),
            (json!({"weight": 1.0}), json!({"weight": 1}), 0),
            (json!({"list": []}), json!({}), 0),
            (json!([{"userName": "u", "queues": {"queuePath": "root"}}]), json!([]), 0),
            (
                json!([{"userName": "u", "groups": {"a": "b"}, "queues": {"queuePath": "root"}}]),
                json!([]),
                0,
            ),
            (
                json!({"groups": {"a": "b"}, "queues": {"runningApplications": ["a"]}}),
                json!({"groups": {"a": "c"}, "queues": {"runningApplications": ["a"]}}),
                1,
            ),
            (json!([1, 2]), json!([2, 1]), 1),
        ] {
            let found = differences("x", &ours, &recorded);
            assert_eq!(found.len(), differing, "{ours} {recorded}: {found:?}");
        }
    }

    #[test]
    fn a_difference_names_its_place_and_both_values() {
        let ours = json!([{"nodeID": "a", "size": 1}, {"nodeID": "b"}]);
        let recorded = json!([{"nodeID": "a", "size": 2}]);
        let found = differences("nodes", &ours, &recorded);
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "nodes[a].size is 1, recorded is 2",
                r#"nodes[b] is {"nodeID":"b"}, recorded is absent"#,
            ]
        );
    }
}
