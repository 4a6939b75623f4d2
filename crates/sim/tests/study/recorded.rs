//! The curves of the real `CapacityScheduler` are those of the recorded histories.

use std::fs;
use std::path::Path;

use headroom_sim::study::{Curve, Point, UserPoint};
use serde_json::{Map, Value};

/// Cases, with the queue that is looked at.
const CASES: [(&str, &str); 5] = [
    ("scene1-p30-f100", "root.A"),
    ("scene2a-p30", "root.B"),
    ("scene2b-p30", "root.B"),
    ("scene2b-step8-p100", "root.B"),
    ("scene3-p30", "root.B"),
];

/// MB in a GiB of the histories, which have whole GiB.
const MB: i64 = 1_024;

/// What each ask of the queue needs, GiB.
const ASK: i64 = 8;

#[test]
fn recorded_curves_are_those_of_the_histories() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let histories = fs::read_to_string(root.join("../../conformance/yarn/scenes.jsonl")).unwrap();
    let mut curves = Vec::new();
    for line in histories.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if let Some((_, queue)) = CASES.iter().find(|(name, _)| case["name"] == *name) {
            curves.push(curve(&case, queue));
        }
    }
    assert_eq!(curves.len(), 2 * CASES.len());
    let lines: Vec<String> =
        curves.iter().map(|curve| serde_json::to_string(curve).unwrap()).collect();
    let expected = format!("[\n{}\n]\n", lines.join(",\n"));
    let file = root.join("src/study/recorded.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == expected,
        "src/study/recorded.json is not what the histories say; UPDATE_EXPECT=1 rewrites it"
    );
}

fn curve(case: &Value, queue: &str) -> Curve {
    let (mut state, mut points) = (Value::Object(Map::new()), Vec::<Point>::new());
    let (mut round_ms, mut at_ms, mut stopped) = (0, 0, 0);
    for step in case["steps"].as_array().unwrap() {
        if step["op"] == "preemption_round" {
            round_ms += step["advance_ms"].as_u64().unwrap();
            at_ms = round_ms.max(at_ms);
        } else if step["op"] == "heartbeat" {
            at_ms += 1_000;
        }
        for key in ["apps", "queues"] {
            if let Some(change) = step.get(key) {
                merge(&mut state[key], change);
            }
        }
        for event in step["events"].as_array().into_iter().flatten() {
            if event[0] == "kill" {
                stopped += event[4].as_u64().unwrap();
            }
        }
        let Some(point) = point(&state, queue, at_ms, stopped) else { continue };
        if points.last().is_none_or(|last| Point { at_ms, ..last.clone() } != point) {
            // Of several steps in one second the last one counts.
            points.retain(|one| one.at_ms != at_ms);
            points.push(point);
        }
    }
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    Curve { case: text("name"), version: text("version"), end_ms: at_ms + 1_000, points }
}

/// A change of the state: objects key by key, everything else whole; null removes.
fn merge(state: &mut Value, change: &Value) {
    let Value::Object(change) = change else {
        *state = change.clone();
        return;
    };
    if !state.is_object() {
        *state = Value::Object(Map::new());
    }
    for (key, value) in change {
        if value.is_null() {
            state.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut state[key.as_str()], value);
        }
    }
}

/// GiB of a pair of MB and cores.
fn gib(pair: &Value) -> i64 {
    let amount = pair[0].as_i64().unwrap();
    assert_eq!(amount % MB, 0, "{amount} MB is no whole GiB");
    amount / MB
}

fn point(state: &Value, path: &str, at_ms: u64, stopped: u64) -> Option<Point> {
    let queue = &state["queues"][path];
    // Applications are named a1, a2, … in the order of their users.
    let apps = state["apps"].as_object()?;
    let users = queue["users"].as_object().filter(|users| !users.is_empty())?;
    let mut others = 0;
    for (name, one) in state["queues"].as_object()? {
        if name != path && name != "root" {
            others += gib(&one["used"]);
        }
    }
    let skipped = apps.len() - users.len();
    let apps: Vec<&Value> = apps.values().skip(skipped).collect();
    if apps.iter().all(|app| gib(&app["pending"]) + gib(&app["used"]) == 0) {
        return None;
    }
    let user = |((name, user), app): ((&String, &Value), &&Value)| UserPoint {
        name: name.clone(),
        used: gib(&user["used"]),
        limit: gib(app.get("limit_next_ask").unwrap_or(&user["limit_active"])),
        headroom: gib(&app["headroom"]),
    };
    // One who has asked for nothing yet has no limit in the histories of 2.7.3.
    let asking = |((_, user), app): &((&String, &Value), &&Value)| {
        user.get("limit_active").is_some() || app.get("limit_next_ask").is_some()
    };
    let users: Vec<UserPoint> = users.iter().zip(&apps).filter(asking).map(user).collect();
    Some(Point {
        at_ms,
        used: gib(&queue["used"]),
        others,
        limit: users.iter().map(|user| user.limit).max()?,
        headroom: users.iter().map(|user| user.headroom).max()?,
        demand: queue.get("pending_capped").map_or(0, gib),
        waiting: apps.iter().map(|app| u64::try_from(gib(&app["pending"]) / ASK).unwrap()).sum(),
        stopped,
        users,
    })
}
