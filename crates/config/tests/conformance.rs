//! Replays the recorded answers of the reference: `conformance/yunikorn/README.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use expect_test::expect;
use headroom_config::{Code, NodeTotals, Severity, read, review, review_on, verdict};
use headroom_core::Name;
use headroom_core::config::QueueConfig;
use headroom_core::resource::{Amounts, Quantity};
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
    let (mut loaded, mut updates) = (0, [0, 0]);
    for file in files {
        for case in cases(&file) {
            loaded += 1;
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
                    updates[usize::from(accepted)] += 1;
                }
            }
        }
    }
    println!("{loaded} files, {updates:?} updates were refused and accepted");
    assert!(loaded > 0 && updates.iter().all(|count| *count > 0));
}

/// Every queue file of the recorded histories that loads.
fn stock_files() -> Vec<String> {
    let folder = root().join("scenarios");
    let listed = std::fs::read_dir(folder).expect("the recorded histories are there");
    let names = listed
        .map(|entry| entry.expect("it is there").file_name().into_string().expect("it is text"));
    let mut files: Vec<String> = names.map(|name| format!("scenarios/{name}")).collect();
    files.sort();
    let histories = files.iter().flat_map(|file| cases(file));
    let mut texts: Vec<String> = histories.map(|case| text(&case, "config").to_owned()).collect();
    texts.extend(cases("config/validation.jsonl").iter().map(|case| text(case, "yaml").to_owned()));
    texts.retain(|text| read(text).is_ok());
    texts
}

/// What is claimed of each type.
type Claims = BTreeMap<Name, i64>;

/// What a queue claims: its guarantee, or those below it where it has none.
fn claimed(queue: &QueueConfig) -> Claims {
    let own: Claims =
        queue.guaranteed.iter().map(|(name, amount)| (name.clone(), amount.get())).collect();
    if own.values().any(|amount| *amount != 0) { own } else { claimed_below(queue) }
}

fn claimed_below(queue: &QueueConfig) -> Claims {
    let mut sum = Claims::new();
    for (name, amount) in queue.children.iter().flat_map(claimed) {
        let claimed: &mut i64 = sum.entry(name).or_default();
        *claimed = claimed.saturating_add(amount);
    }
    sum
}

#[test]
fn guarantees_of_stock_files_are_more_than_the_nodes_have_exactly_where_they_are() {
    let (mut guarantee, mut free) = (0, 0);
    for text in stock_files() {
        let file = read(&text).expect("it loads");
        let warned = |nodes: &NodeTotals| {
            let found = review_on(&text, nodes);
            let all = found.diagnostics.iter();
            all.filter(|one| one.code == Code::GuaranteeOverNodes).count()
        };
        assert_eq!(warned(&NodeTotals::new()), 0, "of nodes nothing is known:\n{text}");
        for partition in &file.configuration.partitions {
            let claims = claimed_below(&partition.root);
            let nodes = |room: &Claims| {
                let room = room.iter().map(|(name, amount)| (name.clone(), Quantity::of(*amount)));
                NodeTotals::from([(partition.name.to_string(), room.collect())])
            };
            assert_eq!(warned(&nodes(&claims)), 0, "the nodes have just what it takes:\n{text}");
            for (resource, amount) in claims.iter().filter(|(_, amount)| **amount > 0) {
                let mut less = claims.clone();
                less.insert(resource.clone(), amount - 1);
                assert_eq!(warned(&nodes(&less)), 1, "one less of {resource}:\n{text}");
                guarantee += 1;
            }
            free += usize::from(claims.is_empty());
        }
        // Advice on nodes refuses nothing, and leaves what else there is to say as it is.
        let none = NodeTotals::from([("default".to_owned(), Amounts::default())]);
        let (with, without) = (review_on(&text, &none), review(&text));
        assert_eq!(with.configuration, without.configuration);
    }
    assert!(guarantee > 100 && free > 100, "{guarantee} amounts, {free} partitions without");
}

#[test]
fn stock_files_get_recommendations_but_no_warning_for_them() {
    let (mut recommended, mut warned) = (0, BTreeMap::new());
    for text in stock_files() {
        let (file, found) = (read(&text).expect("it loads"), review(&text));
        let counts = found.diagnostics.counts();
        assert_eq!(found.configuration.as_ref(), Some(&file.configuration), "{text}");
        assert_eq!(counts.errors + counts.warnings, found.diagnostics.iter().len(), "{text}");
        for one in found.diagnostics.iter() {
            assert_eq!(one.severity, Severity::Warning, "{text}");
            *warned.entry(one.code.as_str()).or_insert(0) += 1;
        }
        // The compatible answer comes from the findings without advice.
        let (verdict, _) = verdict(text.as_bytes());
        assert_eq!(verdict.counts().recommendations, 0, "{text}");
        assert_eq!(file.warnings.counts().recommendations, 0, "{text}");
        recommended += usize::from(counts.recommendations > 0);
    }
    assert!(recommended > 100, "{recommended} files");
    // As they were before there were recommendations.
    expect![[r#"
        {
            "A-IGNORED": 8,
            "A-NOBODY": 254,
            "L-HIDDEN": 28,
            "L-LOOSE": 8,
            "NO-EFFECT": 3,
            "P-LEVEL": 22,
            "P-VALUE": 3,
            "PR-NEVER": 4,
            "PR-RECOVERY": 1,
            "PR-VALUE": 9,
            "Q-ZEROS": 7,
            "YAML-LENIENT": 14,
        }
    "#]]
    .assert_debug_eq(&warned);
}
