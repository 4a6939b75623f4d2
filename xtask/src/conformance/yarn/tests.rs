//! The judge on recorded histories, and on the same made wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::{Replay, Yarn, steps};
use crate::conformance::{Judge as _, Verdict};
use crate::project;

/// The recorded cases of a file.
fn cases(file: &str) -> Vec<Value> {
    let path = project::root().unwrap().join(format!("conformance/yarn/{file}.jsonl"));
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn case(file: &str, name: &str, version: &str) -> Value {
    let is_it = |case: &Value| case["name"] == name && case["version"] == version;
    cases(file).into_iter().find(is_it).unwrap()
}

/// How many figures of each field are compared in some of the cases.
fn compared(file: &str) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for case in cases(file).iter().step_by(12) {
        let mut replay = Replay::new(case).unwrap();
        for step in steps(case).unwrap() {
            for (field, count) in replay.step(step).unwrap().compared {
                *sums.entry(field).or_default() += count;
            }
        }
    }
    sums
}

#[test]
fn figures_of_every_field_are_compared() {
    let both = [
        "used",
        "active",
        "active_users",
        "users",
        "pending",
        "headroom",
        "am_limit",
        "state",
        "active_apps",
        "pending_apps",
        "am_used",
        "max_apps",
        "max_apps_per_user",
        "placement",
    ];
    let old = ["limit_min_alloc", "limit_next_ask", "user_am_limit"];
    let new = ["limit_active", "limit_all"];
    for (file, more, least) in [
        ("user-limit-2.7.3", &old[..], 200),
        ("user-limit-3.x", &new[..], 300),
        ("scenes", &[&old[..], &new[..], &["pending_capped"]].concat(), 70),
        ("am-limits", &["limit_active", "limit_next_ask", "am_limit of a user"], 20),
    ] {
        let sums = compared(file);
        for field in both.iter().chain(more) {
            let is_rare = matches!(*field, "placement" | "pending_capped");
            let least = if is_rare { 20 } else { least };
            let count = sums.get(field).copied().unwrap_or_default();
            assert!(count >= least, "{file}: {field} was compared {count} times: {sums:?}");
        }
    }
}

/// The recorded value of a field, somewhere below.
fn find<'a>(value: &'a mut Value, field: &str) -> Option<&'a mut Value> {
    let map = value.as_object_mut()?;
    if map.get(field).is_some_and(|found| !found.is_null()) {
        return map.get_mut(field);
    }
    map.values_mut().find_map(|below| find(below, field))
}

fn spoil(value: &mut Value) {
    *value = match &*value {
        Value::Bool(is) => json!(!is),
        Value::String(text) if text == "active" => json!("pending"),
        Value::String(_) => json!("active"),
        Value::Array(size) => json!([size[0].as_i64().unwrap() + 8192, size[1]]),
        number => json!(number.as_i64().unwrap() + 1),
    };
}

#[test]
fn a_record_that_is_wrong_is_found() {
    let (old, new) = (("user-limit-2.7.3", "2.7.3"), ("user-limit-3.x", "3.4.3"));
    let (old_am, new_am) = (("am-limits", "2.7.3"), ("am-limits", "3.4.3"));
    let new_scene = ("scenes", "3.4.3");
    for ((file, version), name, part, field) in [
        (new, "join-p50-f2", "queues", "active_users"),
        (new, "join-p50-f2", "queues", "active"),
        (new, "join-p50-f2", "queues", "used"),
        (new, "join-p50-f2", "queues", "limit_active"),
        (new, "join-p50-f2", "queues", "limit_all"),
        (new, "join-p50-f2", "apps", "used"),
        (new, "join-p50-f2", "apps", "pending"),
        (new, "join-p50-f2", "apps", "headroom"),
        (new, "dominant-p50-f2-n2", "queues", "limit_active"),
        (new, "reserve-2", "apps", "headroom"),
        (new, "reserve-2", "apps", "reserved"),
        (old, "join-p50-f2", "apps", "headroom"),
        (old, "join-p50-f2", "apps", "limit_next_ask"),
        (old, "join-p50-f2", "apps", "limit_min_alloc"),
        (old_am, "user-p25-f1", "queues", "user_am_limit"),
        (old_am, "user-p25-f1", "queues", "am_limit"),
        (new_am, "uh-18", "queues", "am_limit"),
        (new_am, "user-p50-f2", "users", "am_limit"),
        (old_am, "queue-pct0.1-am1-users1", "apps", "state"),
        (new_am, "queue-pct0.1-am1-users1", "apps", "state"),
        (new_am, "queue-pct0.1-am1-users1", "queues", "active_apps"),
        (new_am, "queue-pct0.1-am1-users1", "queues", "pending_apps"),
        (new_am, "queue-pct0.1-am1-users1", "queues", "am_used"),
        (new_am, "max-apps-system", "queues", "max_apps"),
        (new_am, "max-apps-user-factor", "queues", "max_apps_per_user"),
        (new_scene, "scene2a-p30", "queues", "pending_capped"),
    ] {
        let mut case = case(file, name, version);
        assert_eq!(Yarn.judge(&case).unwrap(), Verdict::Equal, "{name}");
        let steps = case["steps"].as_array_mut().unwrap();
        let found = steps.iter_mut().enumerate().rev().find_map(|(number, step)| {
            let part = match part {
                "users" => find(step, "users")?,
                part => step.get_mut(part)?,
            };
            Some((number, find(part, field)?))
        });
        let (number, value) = found.unwrap_or_else(|| panic!("{name} has no {field}"));
        // One that was looked at has a headroom, too.
        let made_active = *value == json!("pending");
        spoil(value);
        if made_active {
            *value = json!("rejected");
        }
        let Verdict::Differs { step, what } = Yarn.judge(&case).unwrap() else {
            panic!("{name}, step {number}: {field} may be anything");
        };
        assert_eq!(step, number, "{name}: {what}");
        assert!(field == "reserved" || what.contains(field), "{name}: {what}");
    }
}

#[test]
fn a_placement_that_is_not_ours_is_found() {
    for (name, version) in [("grid-p10-f5-n3", "3.4.3"), ("grid-p10-f5-n3", "2.7.3")] {
        let file = if version == "2.7.3" { "user-limit-2.7.3" } else { "user-limit-3.x" };
        let placed = |case: &Value| match Yarn.judge(case).unwrap() {
            Verdict::Differs { step, what } => (step, what.contains("placement")),
            other => panic!("{other:?}"),
        };
        let good = case(file, name, version);
        let steps = good["steps"].as_array().unwrap();
        let placed_for = |step: &Value| -> BTreeSet<String> {
            let events = step["events"].as_array().into_iter().flatten();
            events.map(|event| event[1].to_string()).collect()
        };
        let heartbeat = steps.iter().position(|step| {
            step["op"] == "heartbeat" && step["times"] != 1 && placed_for(step).len() > 1
        });
        let heartbeat = heartbeat.unwrap();
        let mut other_order = good.clone();
        other_order["steps"][heartbeat]["events"].as_array_mut().unwrap().reverse();
        assert_eq!(placed(&other_order), (heartbeat, true), "{version}");
        let mut more_room = good.clone();
        more_room["steps"][heartbeat]["times"] = json!(1_000);
        assert_eq!(placed(&more_room), (heartbeat, true), "{version}");
    }
}

#[test]
fn an_event_that_cannot_be_is_an_error() {
    for (event, expected) in [
        (json!(["alloc", "a1", [9, 1], "n1", 1]), "waits for none"),
        (json!(["release", "a1", [9, 1], "n1", 1]), "has no [9 MB, 1 vcores] on n1"),
        (json!(["alloc", "a9", [1024, 1], "n1", 1]), "was not submitted"),
        (json!(["unheard-of", "a1", [1024, 1], "n1", 1]), "is not known"),
    ] {
        let mut case = case("user-limit-3.x", "join-p50-f2", "3.4.3");
        let steps = case["steps"].as_array_mut().unwrap();
        let heartbeat = steps.iter_mut().find(|step| step["op"] == "heartbeat").unwrap();
        heartbeat["events"].as_array_mut().unwrap().push(event.clone());
        let error = format!("{:#}", Yarn.judge(&case).unwrap_err());
        assert!(error.contains(expected), "{event}: {error}");
    }
    for (case, expected) in [
        (
            json!({"version": "2.8", "config": {}}),
            "the field \"version\" is 2.8: it must be 2.7.3 or 3.4.3",
        ),
        (json!({"version": "2.7.3"}), "the field \"config\" must be there"),
    ] {
        assert_eq!(format!("{:#}", Yarn.judge(&case).unwrap_err()), expected, "{case}");
    }
}

#[test]
fn a_page_shows_each_step_with_what_differs() {
    let mut case = case("user-limit-3.x", "join-p50-f2", "3.4.3");
    let page = Yarn.show(&case).unwrap();
    assert!(page.contains("\n1: {") && !page.contains("DIFFERS"), "{page}");
    let step = &mut case["steps"].as_array_mut().unwrap()[1];
    spoil(find(step, "limit_all").unwrap());
    assert!(Yarn.show(&case).unwrap().contains("\n  DIFFERS  limit_all of u"));
}
