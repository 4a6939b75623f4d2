//! The dashboard and the alert rules ask for metrics that there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::scrape::{Parsed, busy};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Words of a text that are names of metrics.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let prefixes = ["headroom_", "yunikorn_", "process_"];
    let named = words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    named.map(str::to_owned).collect()
}

/// Queries of a dashboard, wherever they are.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if matches!(&**name, "expr" | "query") => {
                        found.push(text.clone());
                    }
                    other => queries(other, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|one| queries(one, found)),
        _ => {}
    }
}

async fn known() -> BTreeSet<String> {
    let parsed = Parsed::of(&busy().await.text("/metrics").await);
    let mut known = BTreeSet::new();
    for (name, kind) in parsed.kinds {
        if kind == "histogram" {
            known.extend(["_bucket", "_sum", "_count"].map(|suffix| format!("{name}{suffix}")));
        }
        known.insert(name);
    }
    known
}

#[tokio::test]
async fn the_dashboard_and_the_rules_ask_for_metrics_that_there_are() {
    let known = known().await;
    let board: Value = serde_json::from_str(&file("grafana/headroom.json")).unwrap();
    let mut found = Vec::new();
    queries(&board, &mut found);
    assert!(found.len() > 30, "{} queries", found.len());
    let rules = file("prometheus/headroom.rules.yaml");
    let expressions = rules.lines().filter(|line| {
        // Conditions go on over several lines; sentences never hold a name of a metric.
        !line.trim_start().starts_with('#')
    });
    let asked = names(&(found.join("\n") + &expressions.collect::<Vec<_>>().join("\n")));
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert_eq!(unknown, [""; 0]);
    let ids: BTreeSet<_> =
        board["panels"].as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    assert_eq!(
        ids.len(),
        board["panels"].as_array().unwrap().len(),
        "panels have ids of their own"
    );
}

#[tokio::test]
async fn every_alert_is_tested_and_every_metric_of_ours_is_described() {
    let rules = file("prometheus/headroom.rules.yaml");
    let tests = file("prometheus/headroom.rules.test.yaml");
    let alerts: Vec<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alerts.len() >= 12);
    for alert in alerts {
        assert!(tests.contains(&format!("alertname: {alert}\n")), "{alert} has no test");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = fs::read_to_string(page).unwrap();
    let parsed = Parsed::of(&busy().await.text("/metrics").await);
    let ours = parsed.kinds.keys().filter(|name| name.starts_with("headroom_"));
    let missing: Vec<_> = ours.filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, [""; 0]);
}
