//! Bodies that the reference really sent, from the recorded histories: read and written, they are
//! the same.
//!
//! The recorder left out times and shortened some lists; what is always sent and was left out is
//! put back first.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::fs;
use std::path::Path;

use headroom_api::wsv1::{Application, GroupUsage, Node, Partition, Queue, UserUsage, to_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// How many bodies were compared.
#[derive(Debug, Default)]
struct Count {
    queues: usize,
    applications: usize,
    nodes: usize,
    users: usize,
    groups: usize,
    partitions: usize,
}

fn again<T: DeserializeOwned + Serialize>(recorded: &Value, case: &str) {
    let body: T = serde_json::from_value(recorded.clone())
        .unwrap_or_else(|error| panic!("{case}: {error} in {recorded}"));
    let written: Value = serde_json::from_slice(&to_json(&body).unwrap()).unwrap();
    assert_eq!(written, *recorded, "{case}");
}

fn list<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    object[name].as_array().into_iter().flatten()
}

/// The texts of a list become objects with the text in this field.
fn widen(object: &mut Map<String, Value>, list: &str, field: &str) {
    if let Some(Value::Array(items)) = object.get_mut(list) {
        for item in items {
            *item = json!({ field: item.take() });
        }
    }
}

fn application(recorded: &Value) -> Value {
    let mut whole = json!({"partition": "default", "submissionTime": 0, "resourceHistory": {}});
    let object = whole.as_object_mut().unwrap();
    object.extend(recorded.as_object().unwrap().clone());
    widen(object, "stateLog", "applicationState");
    whole
}

fn node(recorded: &Value) -> Value {
    let mut whole = recorded.clone();
    widen(whole.as_object_mut().unwrap(), "allocations", "allocationKey");
    whole
}

#[test]
fn recorded_bodies_are_written_as_they_were_sent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/yunikorn/scenarios");
    let mut count = Count::default();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let name = case["name"].as_str().unwrap();
            for step in list(&case, "steps") {
                if let Some(snapshot) = step.get("snapshot") {
                    check(snapshot, name, &mut count);
                }
            }
        }
    }
    // A reader that reads nothing would find no difference either.
    let Count { queues, applications, nodes, users, groups, partitions } = count;
    let counts = [queues, applications, nodes, users, groups, partitions];
    assert!(counts.iter().all(|count| *count >= 100), "{counts:?}");
    println!("{counts:?}");
}

fn check(snapshot: &Value, case: &str, count: &mut Count) {
    if snapshot["queues"].is_object() {
        again::<Queue>(&snapshot["queues"], case);
        count.queues += 1;
    }
    for state in ["active", "completed", "rejected"] {
        for one in list(&snapshot["applications"], state) {
            again::<Application>(&application(one), case);
            count.applications += 1;
        }
    }
    for one in list(snapshot, "nodes") {
        again::<Node>(&node(one), case);
        count.nodes += 1;
    }
    for one in list(snapshot, "users") {
        again::<UserUsage>(one, case);
        count.users += 1;
    }
    for one in list(snapshot, "groups") {
        again::<GroupUsage>(one, case);
        count.groups += 1;
    }
    for one in list(snapshot, "partitions") {
        again::<Partition>(one, case);
        count.partitions += 1;
    }
}
