//! What tenants use: the figures of one moment.

use serde_json::json;

use crate::scene::{Scene, TENANTS};

#[tokio::test]
#[doc(alias = "TR-40")]
async fn usage_is_quota_used_free_and_what_waits() {
    let scene = Scene::start().await;
    for number in 1..=9 {
        scene.task("a", &format!("t{number}"), 10, 20).await;
    }
    scene.task("a", "t10", 20, 40).await;
    scene.server.turn(11_000).await;
    let usage = scene.usage("a").await;
    assert_eq!(usage["quota"], json!({"vcore": 100_000, "memory": 200_000_000_000_i64}));
    assert_eq!(
        usage["used"],
        json!({"vcore": 90_000, "memory": 180_000_000_000_i64, "instances": 9})
    );
    assert_eq!(usage["free"], json!({"vcore": 10_000, "memory": 20_000_000_000_i64}));
    assert_eq!(
        usage["waiting"],
        json!({
            "tasks": 1, "oldestSeconds": 12,
            "resources": {"vcore": 20_000, "memory": 40_000_000_000_i64, "instances": 1}
        })
    );
    assert_eq!(usage["throttledTotal"], json!(0), "an application is no task, and is not counted");
    let newest = scene.server.handle.feed().newest();
    assert_eq!((&usage["ledgerVersion"], &usage["overQuota"]), (&json!(newest), &json!(false)));
}

#[tokio::test]
#[doc(alias = "TS-21")]
async fn a_start_has_to_fit_the_tenant_above_too() {
    let scene = Scene::empty().await;
    scene.make("dept-1", json!({"vcore": "120"})).await;
    for (id, vcore) in [("a", "100"), ("b", "40")] {
        let quota = json!({"resources": {"vcore": vcore}});
        scene.make_as(json!({"id": id, "parent": "dept-1", "quota": quota})).await;
    }
    scene.task("a", "a1", 90, 1).await;
    let above = |usage: serde_json::Value| usage["byAncestor"].clone();
    assert_eq!(above(scene.usage("b").await), json!([{"tenant": "dept-1", "limited": true}]));
    assert_eq!(above(scene.usage("a").await), json!([{"tenant": "dept-1", "limited": false}]));
    // 90 + 40 = 130 > 120.
    scene.task("b", "b1", 40, 1).await;
    assert_eq!(scene.used("b", "vcore").await, 0);
    scene.end("b1").await;
    scene.task("b", "b2", 30, 1).await;
    assert_eq!(scene.used("b", "vcore").await, 30_000);
    assert_eq!(scene.used("dept-1", "vcore").await, 120_000);
}

#[tokio::test]
async fn a_tenant_that_is_a_limit_shows_what_its_user_has_in_the_queue() {
    let scene = Scene::empty().await;
    let file = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*', queues: [{name: shared}]}]
    tenants: {enabled: true}
";
    scene.server.service.queue_file.apply(headroom_engine::Origin::default(), file).await.unwrap();
    let mapping = json!({"mode": "limit", "queue": "root.shared", "user": "ann"});
    let quota = json!({"resources": {"vcore": "10"}});
    scene.make_as(json!({"id": "ann", "kind": "user", "quota": quota, "mapping": mapping})).await;
    scene.task("ann", "t1", 8, 1).await;
    scene.task("ann", "t2", 4, 1).await;
    let usage = scene.usage("ann").await;
    assert_eq!((&usage["used"]["vcore"], &usage["free"]["vcore"]), (&json!(8_000), &json!(2_000)));
    assert_eq!(
        (&usage["waiting"]["tasks"], &usage["waiting"]["resources"]["vcore"]),
        (&json!(1), &json!(4_000))
    );
    let shown = scene.server.json(&format!("{TENANTS}/ann")).await;
    assert_eq!(shown["mapping"], mapping);
}
