//! What is counted of tenants, compared with what their tasks have; and what that comes to over time.

use headroom_core::Millis;
use headroom_core::id::PartitionId;
use headroom_core::resource::{Quantity, ResourceType};
use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS};

const VERIFY: &str = "/headroom/v1/ledger/verify";

impl Scene {
    async fn verify(&self) -> Value {
        let answer = self.send("POST", VERIFY, &[("x-headroom-request", "1")], &Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// Count 5 cores of `a` too little.
    async fn miscount(&self) {
        let spoil = self.server.handle.spoil(|books, _| {
            let partition: Vec<PartitionId> = books.partitions().keys().copied().collect();
            let queue = books.queue_at(partition[0], "root.tenants.a").expect("the queue of a");
            books.miscount(queue, ResourceType::VCORE, Quantity::of(-5_000));
        });
        spoil.await.unwrap();
        // Every reader sees books as of a record.
        self.submits("b", "b1", 1, 1).await;
        self.server.turn(0).await;
    }

    async fn drift_shown(&self) -> String {
        let text = self.server.get("/metrics").await.text();
        let lines = text.lines().filter(|line| line.starts_with("headroom_tenant_ledger_drift{"));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    async fn drifts_told(&self) -> Vec<Value> {
        let audit = self.server.json("/headroom/v1/audit?type=LEDGER_DRIFT").await;
        audit["items"].as_array().unwrap().clone()
    }
}

const NO_DRIFT: &str = "\
headroom_tenant_ledger_drift{tenant=\"a\"} 0
headroom_tenant_ledger_drift{tenant=\"b\"} 0
";

#[tokio::test]
#[doc(alias = "TR-55")]
async fn a_ledger_that_is_right_has_no_drift_and_one_that_is_not_is_told_with_both_sides() {
    let scene = Scene::start().await;
    scene.submits("a", "t1", 60, 20).await;
    scene.server.turn(1_000).await;
    let right = scene.verify().await;
    let newest = scene.server.handle.feed().newest();
    assert_eq!((&right["drift"], &right["ledgerVersion"]), (&json!([]), &json!(newest)));
    assert_eq!(scene.drift_shown().await, NO_DRIFT);
    assert_eq!(scene.drifts_told().await, [Value::Null; 0]);
    scene.miscount().await;
    let wrong = scene.verify().await;
    let drift =
        json!({"tenant": "a", "type": "vcore", "counted": 55_000, "found": 60_000, "by": -5_000});
    assert_eq!(wrong["drift"], json!([drift]));
    assert_eq!(scene.drift_shown().await, NO_DRIFT.replacen("} 0", "} 1", 1));
    let told = scene.drifts_told().await;
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&told["tenant"], &told["task"]), (&json!("a"), &Value::Null));
    assert_eq!(
        (&told["before"], &told["after"]),
        (&json!({"counted": {"vcore": 55_000}}), &json!({"found": {"vcore": 60_000}}))
    );
    assert!(told["requestId"].as_str().is_some_and(|id| !id.is_empty()), "{told}");
}

#[tokio::test]
#[doc(alias = "TR-55")]
async fn it_is_compared_by_itself_each_minute_and_written_down_once() {
    let scene = Scene::start().await;
    scene.submits("a", "t1", 60, 20).await;
    scene.server.turn(1_000).await;
    scene.miscount().await;
    // It was compared at the start; 60 seconds are as by default.
    scene.server.turn(58_000).await;
    assert_eq!(scene.drift_shown().await, NO_DRIFT, "not yet");
    scene.server.turn(1_000).await;
    assert_eq!(scene.drift_shown().await, NO_DRIFT.replacen("} 0", "} 1", 1));
    let told = scene.drifts_told().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["actor"], &told[0]["requestId"]), (&json!("headroom"), &Value::Null));
    scene.server.turn(60_000).await;
    assert_eq!(scene.drifts_told().await.len(), 1, "nothing is new");
}

#[tokio::test]
#[doc(alias = "TR-55")]
async fn where_no_tenant_is_there_is_no_drift_and_it_is_not_read() {
    let scene = Scene::empty().await;
    assert_eq!(scene.verify().await["drift"], json!([]));
    assert_eq!(scene.server.get(VERIFY).await.status, 405);
}

/// What tenants and tasks used: core units times seconds.
async fn used(scene: &Scene, path: &str, resource: &str) -> i64 {
    scene.server.json(path).await["resourceSeconds"][resource].as_i64().unwrap_or_default()
}

#[tokio::test]
#[doc(alias = "TR-56")]
async fn use_over_time_is_exact_by_tenant_task_and_type_and_survives_a_restart() {
    let journal = MemoryJournal::default();
    let usage = |tenant: &str| format!("{TENANTS}/{tenant}/usage");
    let scene = Scene::at(Pace::ByHand, &journal).await;
    scene.make("dept", json!({"vcore": "100"})).await;
    scene.make_as(json!({"id": "a", "parent": "dept"})).await;
    scene.make_as(json!({"id": "b", "parent": "dept"})).await;
    scene.submits("a", "t1", 10, 2).await;
    scene.submits("b", "t2", 4, 1).await;
    scene.server.turn(0).await;
    // 10 cores for 1.5 s, then 5 for 2.5 s.
    scene.server.clock.advance(Millis::new(1_500));
    let smaller =
        scene.act("t1", "resize", &json!({"resources": {"vcore": "5", "memory": "2G"}})).await;
    assert_eq!(smaller.status, 200, "{}", smaller.text());
    scene.server.clock.advance(Millis::new(2_500));
    scene.release("t1", "succeeded").await;
    scene.server.turn(0).await;
    for (path, resource, expected) in [
        ("/headroom/v1/tasks/t1", "vcore", 27_500),
        ("/headroom/v1/tasks/t1", "memory", 8_000_000_000),
        ("/headroom/v1/tasks/t1", "instances", 4),
        ("/headroom/v1/tasks/t2", "vcore", 16_000),
        (&*usage("a"), "vcore", 27_500),
        (&*usage("b"), "vcore", 16_000),
        (&*usage("dept"), "vcore", 43_500),
        (&*usage("dept"), "memory", 12_000_000_000),
    ] {
        assert_eq!(used(&scene, path, resource).await, expected, "{resource} of {path}");
    }
    // A tenant alone has no more than its tasks, and a scrape is as of now.
    scene.server.clock.advance(Millis::new(500));
    let text = scene.server.get("/metrics").await.text();
    for line in [
        "{tenant=\"a\",resource=\"vcore\"} 27500",
        "{tenant=\"b\",resource=\"vcore\"} 18000",
        "{tenant=\"b\",resource=\"memory\"} 4500000000",
    ] {
        let line = format!("headroom_tenant_resource_seconds_total{line}\n");
        assert!(text.contains(&line), "{line}");
    }
    scene.ends().await;
    // Another server on the same journal: from a snapshot, since one is taken at the end.
    let again = Scene::at(Pace::ByHand, &journal).await;
    assert_eq!(used(&again, &usage("dept"), "vcore").await, 43_500);
    // Its clock is behind the journal, whose time goes on from its last record: 4 s after the start of t2.
    again.server.clock.advance(Millis::new(6_000));
    again.release("t2", "succeeded").await;
    again.server.turn(0).await;
    assert_eq!(
        used(&again, "/headroom/v1/tasks/t2", "vcore").await,
        40_000,
        "10 s since its start"
    );
    assert_eq!(used(&again, &usage("dept"), "vcore").await, 67_500);
    again.server.turn(60_000).await;
    assert_eq!(used(&again, &usage("dept"), "vcore").await, 67_500, "nothing runs");
}
