//! What `/metrics` says of tenants.

use std::collections::BTreeMap;
use std::time::Duration;

use headroom_server::RequestKind;
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS};

/// Returns the metrics of tenants: values by series, and kinds by name.
async fn scrape(scene: &Scene) -> (BTreeMap<String, f64>, BTreeMap<String, String>) {
    let text = scene.server.get("/metrics").await.text();
    let (mut samples, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE headroom_tenant_") {
            let (name, kind) = rest.split_once(' ').unwrap();
            kinds.insert(name.to_owned(), kind.to_owned());
        } else if let Some(rest) = line.strip_prefix("headroom_tenant_") {
            let (series, value) = rest.rsplit_once(' ').unwrap();
            samples.insert(series.to_owned(), value.parse().unwrap());
        }
    }
    (samples, kinds)
}

/// The series that are not part of a bucket, as text, without the reasons that nobody was given.
fn shown(samples: &BTreeMap<String, f64>) -> String {
    let lines = samples.iter().filter(|(series, value)| {
        !series.contains("_bucket") && (!series.starts_with("throttled_total") || **value > 0.0)
    });
    let lines: Vec<String> = lines.map(|(series, value)| format!("{series} {value}\n")).collect();
    lines.concat()
}

/// The scene of the seed: nine tasks of `a` run, the tenth waits, one of `b` starts. Each step a second.
async fn until_ts_03() -> Scene {
    let scene = Scene::start().await;
    for number in 1..=9 {
        scene.submits("a", &format!("t{number}"), 10, 20).await;
        scene.server.turn(1_000).await;
    }
    scene.submits("a", "t10", 20, 40).await;
    scene.server.turn(1_000).await;
    scene.submits("b", "b1", 10, 20).await;
    scene.server.turn(1_000).await;
    scene
}

#[tokio::test]
#[doc(alias = "TR-70")]
async fn after_the_four_steps_every_metric_of_tenants_is_what_happened() {
    let scene = until_ts_03().await;
    let (before, _) = scrape(&scene).await;
    // 20 cores and 40 GB wait since two seconds, behind 90 and 180 of 100 and 200.
    assert_eq!(
        shown(&before),
        expected(&[
            ("free", "0.1"),
            ("ended", "0"),
            ("oldest", "2"),
            // They started a second apart, the first 10 seconds ago and the last 2.
            ("seconds", "54"),
            ("byte_seconds", "1080000000000"),
            ("core_seconds", "540000"),
            ("of_b", "0"),
            ("of_b_bytes", "0"),
            ("of_b_cores", "0"),
            ("after", "0"),
            ("after_sum", "0"),
            ("started", "9"),
            ("instances", "9"),
            ("memory", "180000000000"),
            ("vcore", "90000"),
            ("waited", "9"),
            ("waiting", "1"),
            (
                "asked",
                "waiting_resource{tenant=\"a\",resource=\"instances\"} 1
waiting_resource{tenant=\"a\",resource=\"memory\"} 40000000000
waiting_resource{tenant=\"a\",resource=\"vcore\"} 20000
"
            ),
        ])
    );
    scene.release("t9", "succeeded").await;
    scene.server.turn(2_000).await;
    let live = scene.server.service.live();
    for (operation, status) in [("getTenant", 200), ("submitTask", 202), ("getHealth", 200)] {
        live.answered(RequestKind { operation, status }, Duration::from_millis(1));
    }
    let (after, kinds) = scrape(&scene).await;
    // 80 + 20 = 100 and 160 + 40 = 200 fit. It started two seconds after the release and four after its
    // submission, the nine others after one.
    let last = [
        ("free", "0"),
        ("ended", "1"),
        ("oldest", "0"),
        // Eight of them for two more seconds, the ninth was released at once.
        ("seconds", "70"),
        ("byte_seconds", "1400000000000"),
        ("core_seconds", "700000"),
        ("of_b", "2"),
        ("of_b_bytes", "40000000000"),
        ("of_b_cores", "20000"),
        ("after", "1"),
        ("after_sum", "2"),
        ("started", "10"),
        ("instances", "9"),
        ("memory", "200000000000"),
        ("vcore", "100000"),
        ("waited", "13"),
        ("waiting", "0"),
        ("asked", ""),
    ];
    let requests = "api_requests_total{code=\"200\"} 1\napi_requests_total{code=\"202\"} 1\n";
    assert_eq!(shown(&after), format!("{requests}{}", expected(&last)));
    buckets_are_right(&after);
    let counters = kinds.iter().filter(|(_, kind)| *kind == "counter");
    assert!(counters.clone().all(|(name, _)| name.ends_with("_total")), "{kinds:?}");
    assert_eq!(kinds.len(), 20, "{kinds:?}");
}

fn buckets_are_right(after: &BTreeMap<String, f64>) {
    for (bucket, count) in [
        ("wait_seconds_bucket{tenant=\"a\",le=\"0.5\"}", 0.0),
        ("wait_seconds_bucket{tenant=\"a\",le=\"1\"}", 9.0),
        ("wait_seconds_bucket{tenant=\"a\",le=\"5\"}", 10.0),
        ("wait_seconds_bucket{tenant=\"b\",le=\"1\"}", 1.0),
        ("release_to_start_seconds_bucket{tenant=\"a\",le=\"1\"}", 0.0),
        ("release_to_start_seconds_bucket{tenant=\"a\",le=\"5\"}", 1.0),
    ] {
        assert_eq!(after.get(bucket), Some(&count), "{bucket}");
    }
}

/// All series of the scene, with what is different from moment to moment.
fn expected(values: &[(&str, &str)]) -> String {
    let mut text = ALL.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("<{name}>"), value);
    }
    assert!(!text.contains('<'), "{text}");
    text
}

const ALL: &str = "\
audit_lag_seconds 0
ended_total{tenant=\"a\",outcome=\"cancelled\"} 0
ended_total{tenant=\"a\",outcome=\"evicted\"} 0
ended_total{tenant=\"a\",outcome=\"expired\"} 0
ended_total{tenant=\"a\",outcome=\"failed\"} 0
ended_total{tenant=\"a\",outcome=\"succeeded\"} <ended>
ended_total{tenant=\"b\",outcome=\"cancelled\"} 0
ended_total{tenant=\"b\",outcome=\"evicted\"} 0
ended_total{tenant=\"b\",outcome=\"expired\"} 0
ended_total{tenant=\"b\",outcome=\"failed\"} 0
ended_total{tenant=\"b\",outcome=\"succeeded\"} 0
evicted_total{tenant=\"a\"} 0
evicted_total{tenant=\"b\"} 0
free_ratio{tenant=\"a\",resource=\"memory\"} <free>
free_ratio{tenant=\"a\",resource=\"vcore\"} <free>
free_ratio{tenant=\"b\",resource=\"memory\"} 0.75
free_ratio{tenant=\"b\",resource=\"vcore\"} 0.75
hold_seconds_total{tenant=\"a\"} 0
hold_seconds_total{tenant=\"b\"} 0
ledger_drift{tenant=\"a\"} 0
ledger_drift{tenant=\"b\"} 0
limit_violation_total{tenant=\"a\"} 0
limit_violation_total{tenant=\"b\"} 0
oldest_wait_seconds{tenant=\"a\"} <oldest>
oldest_wait_seconds{tenant=\"b\"} 0
over_quota{tenant=\"a\"} 0
over_quota{tenant=\"b\"} 0
overtakes_total{tenant=\"a\"} 0
overtakes_total{tenant=\"b\"} 0
quota{tenant=\"a\",resource=\"memory\"} 200000000000
quota{tenant=\"a\",resource=\"vcore\"} 100000
quota{tenant=\"b\",resource=\"memory\"} 80000000000
quota{tenant=\"b\",resource=\"vcore\"} 40000
release_to_start_seconds_count{tenant=\"a\"} <after>
release_to_start_seconds_count{tenant=\"b\"} 0
release_to_start_seconds_sum{tenant=\"a\"} <after_sum>
release_to_start_seconds_sum{tenant=\"b\"} 0
resource_seconds_total{tenant=\"a\",resource=\"instances\"} <seconds>
resource_seconds_total{tenant=\"a\",resource=\"memory\"} <byte_seconds>
resource_seconds_total{tenant=\"a\",resource=\"vcore\"} <core_seconds>
resource_seconds_total{tenant=\"b\",resource=\"instances\"} <of_b>
resource_seconds_total{tenant=\"b\",resource=\"memory\"} <of_b_bytes>
resource_seconds_total{tenant=\"b\",resource=\"vcore\"} <of_b_cores>
started_total{tenant=\"a\"} <started>
started_total{tenant=\"b\"} 1
sweep_rescued_total{tenant=\"a\"} 0
sweep_rescued_total{tenant=\"b\"} 0
throttled_total{tenant=\"a\",reason=\"TENANT_QUOTA\"} 1
used{tenant=\"a\",resource=\"instances\"} <instances>
used{tenant=\"a\",resource=\"memory\"} <memory>
used{tenant=\"a\",resource=\"vcore\"} <vcore>
used{tenant=\"b\",resource=\"instances\"} 1
used{tenant=\"b\",resource=\"memory\"} 20000000000
used{tenant=\"b\",resource=\"vcore\"} 10000
wait_seconds_count{tenant=\"a\"} <started>
wait_seconds_count{tenant=\"b\"} 1
wait_seconds_sum{tenant=\"a\"} <waited>
wait_seconds_sum{tenant=\"b\"} 1
<asked>waiting_tasks{tenant=\"a\"} <waiting>
waiting_tasks{tenant=\"b\"} 0
";

/// From the figures, the task and the audit alone: who has to wait since when, what for, and how much is
/// missing.
#[tokio::test]
#[doc(alias = "SD-64")]
async fn metrics_status_and_audit_answer_who_what_when_why_and_by_how_much() {
    let scene = until_ts_03().await;
    let (samples, _) = scrape(&scene).await;
    // Which tenant has something that waits, since when, and by which rule.
    let waits: Vec<&str> = samples
        .iter()
        .filter(|(series, value)| series.starts_with("waiting_tasks{") && **value > 0.0)
        .map(|(series, _)| series.split('"').nth(1).unwrap())
        .collect();
    assert_eq!(waits, ["a"]);
    let told = |series: &str| samples.get(series).copied();
    // Each reason is there for each tenant before it is given, so that `increase()` sees the first time.
    for tenant in ["a", "b"] {
        for reason in ["TENANT_INSTANCES", "ANCESTOR_QUOTA", "NO_NODE_FITS", "QUEUE_MAX"] {
            let series = format!("throttled_total{{tenant=\"{tenant}\",reason=\"{reason}\"}}");
            assert_eq!(told(&series), Some(0.0), "{series}");
        }
    }
    assert_eq!(told("throttled_total{tenant=\"b\",reason=\"TENANT_QUOTA\"}"), Some(0.0));
    assert_eq!(told("throttled_total{tenant=\"a\",reason=\"TENANT_QUOTA\"}"), Some(1.0));
    let age = told("oldest_wait_seconds{tenant=\"a\"}").unwrap();
    // Which task: its status says where it stands, whose it is, and since when it waits.
    let listed = scene.server.json("/headroom/v1/tenants/a/tasks?state=WAITING").await;
    let tasks: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["t10"]);
    let task = scene.server.json("/headroom/v1/tasks/t10").await;
    assert_eq!(
        (&task["state"], &task["tenant"], &task["resources"]["vcore"]),
        (&json!("WAITING"), &json!("a"), &json!(20_000))
    );
    let at = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let waited = at(&task["asOf"]).as_millisecond() - at(&task["submittedAt"]).as_millisecond();
    assert_eq!((waited, age), (2_000, 2.0));
    // Why, and by how much: the audit has the request, the reason and both sides.
    let audit = scene.server.json("/headroom/v1/tenants/a/audit").await;
    let items = audit["items"].as_array().unwrap();
    let of_task: Vec<&Value> = items.iter().filter(|one| one["task"] == "t10").collect();
    let [submitted, throttled] = of_task[..] else { panic!("{of_task:?}") };
    assert_eq!(submitted["type"], json!("TASK_SUBMITTED"));
    assert_eq!(submitted["after"]["user"], task["user"]);
    assert!(submitted["requestId"].as_str().is_some_and(|id| !id.is_empty()), "{submitted}");
    assert_eq!(at(&submitted["at"]), at(&task["submittedAt"]));
    assert_eq!(
        (&throttled["type"], &throttled["reason"]),
        (&json!("TASK_THROTTLED"), &json!("TENANT_QUOTA"))
    );
    assert_eq!(at(&throttled["at"]), at(&task["firstThrottledAt"]));
    let types = &throttled["after"]["types"];
    assert_eq!(
        types,
        &json!({
            "memory": {"used": 180_000_000_000_i64, "asked": 40_000_000_000_i64, "limit": 200_000_000_000_i64, "short": 20_000_000_000_i64},
            "vcore": {"used": 90_000, "asked": 20_000, "limit": 100_000, "short": 10_000},
        })
    );
    // All three speak of the same amounts.
    for (resource, word) in [("vcore", "used"), ("memory", "used"), ("vcore", "quota")] {
        let key = if word == "used" { "used" } else { "limit" };
        let shown = told(&format!("{word}{{tenant=\"a\",resource=\"{resource}\"}}"));
        assert_eq!(shown, types[resource][key].as_f64(), "{word} {resource}");
    }
}

#[tokio::test]
#[doc(alias = "NS-23")]
async fn overtakes_are_counted_as_the_waiting_list_and_the_history_have_them() {
    let scene = Scene::empty().await;
    let waiting = json!({"strategy": "fifo-backfill", "maxOvertakes": 16});
    let quota = json!({"resources": {"vcore": "10"}});
    scene.make_as(json!({"id": "a", "quota": quota, "waiting": waiting})).await;
    scene.submits("a", "large", 6, 1).await;
    scene.submits("a", "head", 6, 1).await;
    for task in ["first", "second"] {
        scene.submits("a", task, 1, 1).await;
        scene.server.turn(1_000).await;
    }
    let entry = scene.server.json(&format!("{TENANTS}/a/waiting/head")).await;
    let by = (entry["overtakenBy"].clone(), entry["lastOvertakenBy"].clone());
    assert_eq!(by, (json!(2), json!("second")), "{entry:#}");
    let total = scrape(&scene).await.0.get("overtakes_total{tenant=\"a\"}").copied();
    assert_eq!(total, Some(2.0));
    let events = scene.server.json("/headroom/v1/events?kind=overtaken").await;
    let events = events["items"].as_array().unwrap();
    let by: Vec<&Value> = events.iter().map(|one| &one["detail"]["by"]).collect();
    assert_eq!(by, [&json!("second"), &json!("first")], "{events:#?}");
}

#[tokio::test]
#[doc(alias = "TR-70")]
async fn a_hold_is_counted_from_when_it_begins_until_the_head_starts() {
    let scene = Scene::empty().await;
    let waiting = json!({"strategy": "fifo-backfill", "maxOvertakes": 1});
    let quota = json!({"resources": {"vcore": "10"}});
    scene.make_as(json!({"id": "a", "quota": quota, "waiting": waiting})).await;
    let series = "hold_seconds_total{tenant=\"a\"}";
    let held = async |scene: &Scene| scrape(scene).await.0.get(series).copied();
    let step = async |task: &str, vcore: u32, seconds: u64| {
        scene.submits("a", task, vcore, 1).await;
        scene.server.turn(seconds * 1_000).await;
    };
    step("large", 6, 1).await;
    step("head", 6, 1).await;
    assert_eq!(held(&scene).await, Some(0.0), "it waits, and others may pass");
    step("passes", 2, 1).await;
    assert_eq!(scene.state("passes").await, "STARTING");
    // Overtaken as often as allowed: from that step on, capacity is held for it.
    step("behind", 2, 3).await;
    assert_eq!(scene.state("behind").await, "WAITING");
    assert_eq!(held(&scene).await, Some(3.0), "the hold is under way");
    scene.release("large", "succeeded").await;
    scene.server.turn(2_000).await;
    assert_eq!(scene.state("head").await, "STARTING");
    assert_eq!(held(&scene).await, Some(5.0), "3 and 2 seconds");
    scene.server.turn(10_000).await;
    assert_eq!(held(&scene).await, Some(5.0), "it is over");
    // A task that has waited for long also holds capacity; the default is 300 seconds.
    step("next", 9, 300).await;
    scene.server.turn(7_000).await;
    assert_eq!(held(&scene).await, Some(12.0), "7 seconds beyond the 300");
    let cancelled = scene.act("next", "cancel", &Value::Null).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text());
    scene.server.turn(9_000).await;
    assert_eq!(held(&scene).await, Some(12.0));
}

#[tokio::test]
async fn tenants_beyond_the_first_by_name_are_shown_together_and_counted_once() {
    let scene = Scene::empty().await;
    for number in 0..=256 {
        scene.make(&format!("t{number:03}"), json!({"vcore": "10"})).await;
    }
    // Its parent is the 257th, which has what it has.
    scene.make_as(json!({"id": "z", "parent": "t256"})).await;
    scene.submits("z", "z1", 1, 1).await;
    scene.submits("t256", "other1", 2, 1).await;
    scene.submits("t000", "first", 4, 1).await;
    scene.server.turn(1_000).await;
    let (samples, _) = scrape(&scene).await;
    for (series, value) in [
        ("used{tenant=\"other\",resource=\"vcore\"}", Some(3_000.0)),
        ("quota{tenant=\"other\",resource=\"vcore\"}", Some(10_000.0)),
        ("started_total{tenant=\"other\"}", Some(2.0)),
        ("used{tenant=\"t000\",resource=\"vcore\"}", Some(4_000.0)),
        ("started_total{tenant=\"t255\"}", Some(0.0)),
        ("started_total{tenant=\"t256\"}", None),
        ("started_total{tenant=\"z\"}", None),
        ("free_ratio{tenant=\"other\",resource=\"vcore\"}", None),
    ] {
        assert_eq!(samples.get(series).copied(), value, "{series}");
    }
}
