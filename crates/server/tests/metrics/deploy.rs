//! The dashboard and the alert rules ask for metrics that there are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use headroom_core::books::TaskSettings;
use headroom_core::config::TenantSettings;
use headroom_core::resource::Amounts;
use headroom_core::{Ask, Command, Name, SetTenant, Submit, SubmitTask};
use serde_json::Value;

use crate::scrape::{Parsed, busy};
use crate::server::Server;

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

/// A tenant with a running and a waiting task, read by an authorized caller.
async fn tenants() -> Server {
    let server = Server::furnished().await;
    let file = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*'}]
    tenants: {enabled: true}
";
    server.configure(file).await;
    let partition = || Name::new("default");
    let settings = TenantSettings {
        quota: Some(Amounts::from([("vcore", 4_000)])),
        ..TenantSettings::default()
    };
    let tenant = SetTenant {
        partition: partition(),
        tenant: Name::new("t"),
        settings,
        ..SetTenant::default()
    };
    server.accept(Command::SetTenant(Box::new(tenant))).await;
    for task in ["t1", "t2"] {
        let (application, tenant, user) = (Name::new(task), Name::new("t"), Name::new("ann"));
        let submit = Submit {
            partition: partition(),
            application: application.clone(),
            tenant: tenant.clone(),
            user,
            ..Submit::default()
        };
        let resources = Amounts::from([("vcore", 3_000)]);
        let key = application.clone();
        let ask = Ask { partition: partition(), application, key, resources, ..Ask::default() };
        let settings = TaskSettings { tenant, members: 1, ..TaskSettings::default() };
        let task = SubmitTask { submit, ask, settings };
        server.accept(Command::SubmitTask(Box::new(task))).await;
        server.turn(1).await;
    }
    server.get("/headroom/v1/tenants/t").await;
    server
}

/// What there is where everything happens that has a metric.
async fn kinds() -> BTreeMap<String, String> {
    let mut kinds = BTreeMap::new();
    for server in [busy().await, tenants().await] {
        kinds.extend(Parsed::of(&server.text("/metrics").await).kinds);
    }
    kinds
}

async fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for (name, kind) in kinds().await {
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
    let kinds = kinds().await;
    let ours = kinds.keys().filter(|name| name.starts_with("headroom_"));
    let missing: Vec<_> = ours.filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, [""; 0]);
}
