//! Replays the recorded answers of the reference: `conformance/yunikorn/README.md`.

use std::path::PathBuf;

use headroom_config::read;
use headroom_core::resource::Quantity;
use serde_json::Value;

/// Cases that the decisions repair: the reference's answer is not ours.
struct Repair {
    decision: &'static str,
    cases: &'static [&'static str],
}

/// Files that the reference refuses and Headroom accepts.
const ACCEPTS_MORE: &[Repair] = &[
    Repair {
        decision: "queues-and-limits §2.7, K-4: names of queues are compared in lower case",
        cases: &["place-fixed-nocreate-23"],
    },
    Repair {
        decision: "queues-and-limits §2.7: children make a parent",
        cases: &["place-fixedparent-07"],
    },
];

/// Files that the reference calls valid and cannot load, and that Headroom loads.
const LOADS_MORE: &[Repair] = &[Repair {
    decision: "queues-and-limits §2.3: root is lower-cased",
    cases: &["top-name-ROOT", "top-name-rOOt"],
}];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/yunikorn")
}

fn cases(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(root().join(file)).expect("the recorded cases are there");
    let cases: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is a case"))
        .collect();
    assert!(!cases.is_empty(), "{file} has no cases");
    cases
}

fn text<'v>(case: &'v Value, key: &str) -> &'v str {
    case[key].as_str().unwrap_or_default()
}

fn is_listed(repairs: &[Repair], name: &str) -> bool {
    repairs.iter().any(|repair| {
        assert!(!repair.decision.is_empty(), "a repair without a decision");
        repair.cases.contains(&name)
    })
}

#[test]
fn every_recorded_file_gets_the_verdict_of_the_reference() {
    let cases = cases("config/validation.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let name = text(case, "name");
        let found = read(text(case, "yaml"));
        let valid = found.as_ref().map_or_else(|faults| !faults.refused_by_validation(), |_| true);
        let expected = case["valid"].as_bool().unwrap() || is_listed(ACCEPTS_MORE, name);
        if valid != expected {
            let error = text(case, "error");
            let ours = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
            differences.push(format!("{name}: valid {expected} ({error}), ours {valid}: {ours}"));
        }
        let Some(registers) = case["registers"].as_bool() else {
            continue;
        };
        let expected = registers || is_listed(ACCEPTS_MORE, name) || is_listed(LOADS_MORE, name);
        if found.is_ok() != expected {
            differences.push(format!("{name}: loads {expected}, ours {}", found.is_ok()));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences in {} cases:\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
}

#[test]
fn every_recorded_quantity_has_the_value_of_the_reference() {
    let cases = cases("resources/quantities.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let found = Quantity::parse(text(case, "resource"), text(case, "text"));
        let expected = case["ok"].as_bool().unwrap().then(|| case["value"].as_i64());
        if found.ok().map(Quantity::get) != expected.flatten() {
            differences.push(format!("{case}: ours {found:?}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences in {} cases:\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
}

#[test]
fn every_file_in_a_recorded_history_loads_or_not_as_there() {
    let folder = root().join("scenarios");
    let listed = std::fs::read_dir(folder).expect("the recorded histories are there");
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = names.map(|name| format!("scenarios/{name}")).collect();
    files.push("placement/placement.jsonl".to_owned());
    for file in files {
        for case in cases(&file) {
            if let Err(faults) = read(text(&case, "config")) {
                panic!("{file}, {}: {faults}", text(&case, "name"));
            }
            for step in case["steps"].as_array().into_iter().flatten() {
                if let Some(update) = step["config"].as_str() {
                    let accepted = step["result"]["ok"].as_bool().unwrap_or(true);
                    let ours = read(update).map(|_| ()).map_err(|faults| faults.to_string());
                    assert_eq!(
                        ours.is_ok(),
                        accepted,
                        "{file}, {}: {ours:?} {}",
                        text(&case, "name"),
                        step["result"]
                    );
                }
            }
        }
    }
}
