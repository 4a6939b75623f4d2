//! What a scrape says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_api::headroomv1::{ResourceManager, ResourceManagerState};
use headroom_core::resource::Amounts;
use headroom_core::{Ask, Command, Name, RefusalCode};
use headroom_server::Managers;
use reqwest::header;

use crate::server::{QUEUES, Server};

/// A text in the format of Prometheus, taken apart.
#[derive(Default)]
pub(crate) struct Parsed {
    /// Kinds by name.
    pub(crate) kinds: BTreeMap<String, String>,
    /// Values by name and labels, as they are written.
    samples: BTreeMap<String, f64>,
}

impl Parsed {
    pub(crate) fn of(text: &str) -> Self {
        let mut parsed = Self::default();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                let before = parsed.kinds.insert(name.to_owned(), kind.to_owned());
                assert_eq!(before, None, "{name} is there twice");
            } else if !line.starts_with('#') {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let before = parsed.samples.insert(series.to_owned(), value.parse().unwrap());
                assert_eq!(before, None, "{series} is there twice");
            }
        }
        parsed
    }

    pub(crate) fn get(&self, series: &str) -> Option<f64> {
        self.samples.get(series).copied()
    }

    pub(crate) fn series(&self) -> impl Iterator<Item = &str> {
        self.samples.keys().map(String::as_str)
    }

    fn expect(&self, expected: &[(&str, f64)]) {
        for (series, value) in expected {
            assert_eq!(self.get(series), Some(*value), "{series}");
        }
    }

    fn labels_of(&self, name: &str) -> BTreeSet<&str> {
        let prefix = format!("{name}{{");
        let series = self.samples.keys().filter_map(|series| series.strip_prefix(&prefix));
        series.map(|labels| labels.trim_end_matches('}')).collect()
    }

    fn mentions(&self, text: &str) -> Vec<&String> {
        self.samples.keys().filter(|series| series.contains(text)).collect()
    }
}

/// A cluster in which everything has happened that has a metric.
pub(crate) async fn busy() -> Server {
    let server = Server::furnished().await;
    server.node("n2", 1).await;
    server.application("app1", "ann", "root.a").await;
    server.application("app2", "sue", "root.a").await;
    server.ask("app1", "a1", 2).await;
    server.ask("app2", "s1", 2).await;
    server.turn(1).await;
    server.ask("app2", "s2", 1).await;
    server.turn(10).await;
    server.release("app1", Some("a1")).await;
    let (partition, node) = (Name::new("default"), Name::new("n2"));
    server.accept(Command::RemoveNode { partition, node }).await;
    server.ask("app1", "a2", 1).await;
    server.turn(1).await;
    let again = Command::Submit(headroom_core::Submit {
        partition: Name::new("default"),
        application: Name::new("app1"),
        queue: Name::new("root.a"),
        user: Name::new("ann"),
        ..headroom_core::Submit::default()
    });
    server.accept(again).await;
    let nowhere = Command::RemoveNode { partition: Name::new("default"), node: Name::new("n9") };
    server.service.engine.submit(nowhere).await.unwrap().unwrap_err();
    server.service.live().tell_rms_by(Arc::new(OneManager));
    server.get("/headroom/v1/health").await;
    server
}

/// The reference's metrics that have something to say here: kind, labels. Source: rest-api §14.
const REFERENCE: &str = "
yunikorn_scheduler_container_allocation_attempt_total counter state: allocated error rejected released
yunikorn_scheduler_application_submission_total counter result: accepted new rejected
yunikorn_scheduler_application_total gauge state: completed completing failed failing resuming running
yunikorn_scheduler_node gauge state: active decommissioned draining failed
yunikorn_scheduler_scheduling_latency_milliseconds histogram
yunikorn_scheduler_scheduling_cycle_milliseconds histogram
yunikorn_scheduler_vcore_node_usage_total gauge range: (10%,20%] (20%,30%] (30%,40%] (40%,50%] (50%,60%] (60%,70%] (70%,80%] (80%,90%] (90%,100%] [0,10%]
yunikorn_scheduler_memory_node_usage_total gauge range: (10%,20%] (20%,30%] (30%,40%] (40%,50%] (50%,60%] (60%,70%] (70%,80%] (80%,90%] (90%,100%] [0,10%]
yunikorn_queue_app gauge queue state: accepted completed completing failed failing new rejected resuming running
yunikorn_queue_app_total counter queue state: completed failed rejected
yunikorn_queue_resource gauge queue resource state: allocated guaranteed max pending preempting
yunikorn_root_a_queue_container counter state: allocated released
yunikorn_event_total_created gauge
yunikorn_event_total_channeled gauge
yunikorn_event_total_not_channeled gauge
yunikorn_event_total_processed gauge
yunikorn_event_total_stored gauge
yunikorn_event_total_not_stored gauge
";

/// A metric as a line of the table above.
fn line(parsed: &Parsed, name: &str) -> String {
    let mut line = format!("{name} {}", parsed.kinds[name]);
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in parsed.labels_of(name) {
        for label in one.split("\",").filter(|label| !label.is_empty()) {
            let (label, value) = label.split_once("=\"").unwrap();
            labels.entry(label).or_default().insert(value.trim_end_matches('"'));
        }
    }
    for (label, values) in labels {
        line.extend([" ", label]);
        if !matches!(label, "queue" | "resource") {
            line.push(':');
            line.extend(values.into_iter().flat_map(|value| [" ", value]));
        }
    }
    line
}

#[tokio::test]
async fn the_reference_s_metrics_have_its_names_kinds_and_labels() {
    let server = busy().await;
    let answer = server.get("/ws/v1/metrics").await;
    let media = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.headers()[header::CONTENT_TYPE], media);
    assert!(!answer.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
    let parsed = Parsed::of(&answer.text().await.unwrap());
    let found: BTreeSet<_> = parsed
        .kinds
        .keys()
        .filter(|name| !name.starts_with("process_"))
        .map(|name| line(&parsed, name))
        .collect();
    let expected = REFERENCE.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    assert_eq!(found, expected);
    let buckets = parsed.mentions("scheduling_latency_milliseconds_bucket");
    let bounds: BTreeSet<_> = buckets.iter().filter_map(|one| one.split('"').nth(1)).collect();
    let expected = ["+Inf", "0.0001", "0.001", "0.01", "0.1", "1", "10", "100", "1000"];
    assert_eq!(bounds, expected.into());
}

#[tokio::test]
#[doc(alias = "NS-34")]
async fn what_placeholders_hold_is_reserved_by_leaf() {
    let server = busy().await;
    let series =
        "headroom_queue_reserved{partition=\"default\",queue=\"root.b\",resource=\"vcore\"}";
    let reserved = async || Parsed::of(&server.text("/metrics").await).get(series);
    assert_eq!(reserved().await, None, "no placeholder holds anything there");
    server.application("gang", "bob", "root.b").await;
    let place = |key: &str| {
        Command::Ask(Ask {
            partition: Name::new("default"),
            application: Name::new("gang"),
            key: Name::new(key),
            resources: Amounts::from([("vcore", 500)]),
            placeholder: true,
            task_group: Name::new("workers"),
            ..Ask::default()
        })
    };
    server.accept(place("p1")).await;
    server.accept(place("p2")).await;
    server.turn(1).await;
    assert_eq!(reserved().await, Some(1_000.0));
    server.release("gang", Some("p1")).await;
    assert_eq!(reserved().await, Some(500.0));
    server.release("gang", Some("p2")).await;
    assert_eq!(reserved().await, None);
}

#[tokio::test]
async fn what_happened_is_counted() {
    let server = busy().await;
    let parsed = Parsed::of(&server.text("/metrics").await);
    parsed.expect(&[
        ("yunikorn_scheduler_container_allocation_attempt_total{state=\"allocated\"}", 3.0),
        ("yunikorn_scheduler_container_allocation_attempt_total{state=\"released\"}", 1.0),
        ("yunikorn_scheduler_application_submission_total{result=\"new\"}", 3.0),
        ("yunikorn_scheduler_application_submission_total{result=\"rejected\"}", 1.0),
        ("yunikorn_scheduler_application_total{state=\"running\"}", 2.0),
        ("yunikorn_scheduler_node{state=\"active\"}", 1.0),
        ("yunikorn_scheduler_node{state=\"decommissioned\"}", 1.0),
        ("yunikorn_queue_app{queue=\"root.a\",state=\"running\"}", 2.0),
        ("yunikorn_queue_app{queue=\"root.a\",state=\"rejected\"}", 1.0),
        ("yunikorn_queue_app_total{queue=\"root.a\",state=\"rejected\"}", 1.0),
        (
            "yunikorn_queue_resource{queue=\"root.a\",resource=\"vcore\",state=\"allocated\"}",
            3000.0,
        ),
        ("yunikorn_queue_resource{queue=\"root.a\",resource=\"memory\",state=\"pending\"}", 0.0),
        ("yunikorn_queue_resource{queue=\"root.a\",resource=\"vcore\",state=\"max\"}", 6000.0),
        ("yunikorn_root_a_queue_container{state=\"released\"}", 1.0),
        ("headroom_running_applications{partition=\"default\"}", 2.0),
        ("headroom_waiting_asks{partition=\"default\",reason=\"ABS_USER_LIMIT\"}", 1.0),
        ("headroom_waiting_asks{partition=\"default\",reason=\"NEXT\"}", 0.0),
        ("headroom_oldest_wait_seconds{partition=\"default\"}", 11.0),
        ("headroom_allocated{partition=\"default\",resource=\"vcore\"}", 3000.0),
        ("headroom_capacity{partition=\"default\",resource=\"vcore\"}", 8000.0),
        ("headroom_allocations_made_total", 3.0),
        ("headroom_refusals_total{code=\"UNKNOWN_NODE\"}", 1.0),
        ("headroom_refusals_total{code=\"UNKNOWN_KEY\"}", 0.0),
        ("headroom_nodes_removed_total", 1.0),
        ("headroom_scheduler_up", 1.0),
        ("headroom_rm_state{rm=\"k8s \\\"one\\\"\",state=\"running\"}", 1.0),
        ("headroom_rm_state{rm=\"k8s \\\"one\\\"\",state=\"paused\"}", 0.0),
        ("headroom_http_requests_total{operation=\"getHealth\",status=\"200\"}", 1.0),
    ]);
    let codes = parsed.labels_of("headroom_refusals_total").len();
    assert_eq!(codes, RefusalCode::ALL.len(), "each code is there before it is met");
    assert!(parsed.get("process_resident_memory_bytes").unwrap() > 1e6);
    assert!(parsed.get("process_start_time_seconds").unwrap() > 1.7e9);
    let reference = Parsed::of(&server.text("/ws/v1/metrics").await);
    let missing: Vec<_> =
        reference.kinds.keys().filter(|name| !parsed.kinds.contains_key(*name)).collect();
    assert_eq!(missing, [""; 0], "ours has the reference's too");
}

#[tokio::test]
async fn a_series_goes_with_its_queue_its_node_and_its_partition() {
    let server = busy().await;
    server.application("app3", "bob", "root.b").await;
    let (partition, application) = (Name::new("default"), Name::new("app3"));
    server.accept(Command::RemoveApplication { partition, application }).await;
    let before = Parsed::of(&server.text("/metrics").await);
    for name in ["yunikorn_queue_app", "yunikorn_queue_app_total", "yunikorn_queue_resource"] {
        assert!(before.labels_of(name).iter().any(|labels| labels.contains("root.b")), "{name}");
    }
    assert!(!before.mentions("yunikorn_root_b_queue_container").is_empty());
    let without = QUEUES.replace("    - name: b\n      submitacl: bob\n", "");
    server.configure(&without).await;
    server.turn(60).await;
    let after = Parsed::of(&server.text("/metrics").await);
    let left = after.mentions("root.b");
    let total = |series: &&String| series.starts_with("yunikorn_queue_app_total{");
    assert!(left.len() == 3 && left.iter().all(total), "only what rises stays: {left:?}");
    assert_eq!(after.mentions("root_b"), [""; 0]);
    let (partition, node) = (Name::new("default"), Name::new("n1"));
    server.accept(Command::RemoveNode { partition, node }).await;
    let after = Parsed::of(&server.text("/metrics").await);
    assert_eq!(after.mentions("vcore_node_usage"), [""; 0]);
    let after = after.get("yunikorn_scheduler_node{state=\"active\"}");
    assert_eq!(after, Some(0.0));
}

#[tokio::test]
async fn a_scrape_is_answered_when_the_scheduler_has_ended() {
    let server = busy().await;
    server.stop_engine().await;
    let parsed = Parsed::of(&server.text("/metrics").await);
    parsed.expect(&[("headroom_scheduler_up", 0.0), ("headroom_allocations_made_total", 3.0)]);
}

#[tokio::test]
async fn paths_that_nobody_knows_make_no_series() {
    let server = Server::empty().await;
    for path in ["/headroom/v1/x1", "/x2", "/headroom/v1/partitions/x3/summary"] {
        server.get(path).await;
    }
    let parsed = Parsed::of(&server.text("/metrics").await);
    for name in ["x1", "x2", "x3"] {
        assert_eq!(parsed.mentions(name), [""; 0]);
    }
}

#[tokio::test]
async fn two_queues_that_become_one_name_are_there_once() {
    let server = Server::empty().await;
    let queues = "[{name: a-b, submitacl: '*'}, {name: a_b, submitacl: '*'}]";
    server
        .configure(&format!(
            "partitions: [{{name: default, queues: [{{name: root, queues: {queues}}}]}}]"
        ))
        .await;
    server.node("n1", 8).await;
    for queue in ["root.a-b", "root.a_b"] {
        server.application(&format!("app-{queue}"), "ann", queue).await;
    }
    let parsed = Parsed::of(&server.text("/ws/v1/metrics").await);
    assert_eq!(parsed.mentions("yunikorn_root_a_b_queue_container").len(), 2);
    assert_eq!(parsed.labels_of("yunikorn_queue_app").len(), 18);
}

/// A resource manager whose name has to be escaped.
#[derive(Debug)]
struct OneManager;

impl Managers for OneManager {
    fn managers(&self) -> Vec<ResourceManager> {
        vec![ResourceManager {
            id: "k8s \"one\"".into(),
            state: ResourceManagerState::Running,
            ..ResourceManager::default()
        }]
    }
}
