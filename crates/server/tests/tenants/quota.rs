//! Quotas that change while tasks run.

use serde_json::json;

use crate::scene::{Scene, TENANTS, problem};

const QUOTA: &str = "/headroom/v1/tenants/a/quota";

/// Nine tasks of 10 cores and 20 GB run for `a`: 90 of 100, and 180 of 200.
async fn nine() -> Scene {
    let scene = Scene::start().await;
    for number in 1..=9 {
        scene.task("a", &format!("t{number}"), 10, 20).await;
    }
    assert_eq!(scene.used("a", "vcore").await, 90_000);
    scene
}

#[tokio::test]
#[doc(alias = "TS-16")]
async fn a_quota_below_the_use_is_taken_and_starts_nothing_until_tasks_end() {
    let scene = nine().await;
    let lowered = scene.change("PUT", QUOTA, &json!({"resources": {"vcore": "60"}})).await;
    assert_eq!(lowered.status, 200, "{}", lowered.text());
    let body = lowered.json();
    assert_eq!((&body["overQuota"], &body["excess"]), (&json!(true), &json!({"vcore": 30_000})));
    let usage = scene.usage("a").await;
    assert_eq!((&usage["overQuota"], &usage["excess"]["vcore"]), (&json!(true), &json!(30_000)));
    assert_eq!(usage["free"], json!({"vcore": -30_000}));
    scene.task("a", "small", 1, 0).await;
    assert_eq!(scene.usage("a").await["waiting"]["tasks"], 1);
    for number in 1..=3 {
        scene.end(&format!("t{number}")).await;
        // 80, 70 and 60 are not 59: one more core would be too much.
        assert_eq!(scene.used("a", "vcore").await, 90_000 - number * 10_000);
    }
    scene.end("t4").await;
    assert_eq!(scene.used("a", "vcore").await, 51_000, "the one that waited runs");
    assert_eq!(scene.usage("a").await["overQuota"], false);
}

#[tokio::test]
#[doc(alias = "TS-18")]
async fn a_tenant_that_refuses_it_is_not_lowered_below_its_use() {
    let scene = nine().await;
    let path = format!("{TENANTS}/a");
    scene.change("PATCH", &path, &json!({"onLower": {"action": "refuse"}})).await;
    let before = scene.server.json(QUOTA).await;
    let refused = scene.change("PUT", QUOTA, &json!({"resources": {"vcore": "60"}})).await;
    assert_eq!(problem(&refused), (409, "TENANT_BELOW_USE".into()));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("90 vcore") && detail.contains("be 60,"), "{detail}");
    assert_eq!(scene.server.json(QUOTA).await, before);
    let dry = scene
        .change("PUT", &format!("{QUOTA}?dryRun=true"), &json!({"resources": {"vcore": "60"}}))
        .await;
    assert_eq!(problem(&dry), (409, "TENANT_BELOW_USE".into()), "as it would be refused");
}

#[tokio::test]
#[doc(alias = "TS-19")]
async fn a_raised_quota_starts_what_waits_without_any_release() {
    let scene = nine().await;
    scene.task("a", "big", 20, 40).await;
    let usage = scene.usage("a").await;
    assert_eq!(usage["used"]["vcore"], 90_000);
    assert_eq!(usage["waiting"]["resources"]["vcore"], 20_000);
    let raised = json!({"resources": {"vcore": "120", "memory": "240G"}});
    assert_eq!(scene.change("PUT", QUOTA, &raised).await.status, 200);
    scene.server.turn(1_000).await;
    assert_eq!(scene.used("a", "vcore").await, 110_000);
}

#[tokio::test]
async fn a_dry_run_says_what_would_be_above_and_changes_nothing() {
    let scene = nine().await;
    let (tag, before) = (scene.tag(QUOTA).await, scene.server.json(QUOTA).await);
    let path = format!("{QUOTA}?dryRun=true");
    let dry =
        scene.change("PUT", &path, &json!({"resources": {"vcore": "60", "memory": "1T"}})).await;
    assert_eq!((dry.status, dry.header("etag")), (200, Some(&*tag)));
    let body = dry.json();
    assert_eq!((&body["overQuota"], &body["excess"]), (&json!(true), &json!({"vcore": 30_000})));
    assert_eq!(body["victims"], json!([]), "those that run go on");
    assert_eq!((scene.tag(QUOTA).await, scene.server.json(QUOTA).await), (tag, before));
    let unread = scene.change("PUT", &format!("{QUOTA}?dryRun=1"), &json!({})).await;
    assert_eq!(problem(&unread), (400, "MALFORMED".into()));
}

/// TS-17, ahead: the youngest go, as many as are enough; 65 of 90 cores take three tasks of 10.
#[tokio::test]
#[doc(alias = "TS-17")]
async fn a_dry_run_names_who_would_be_stopped() {
    let scene = nine().await;
    let path = format!("{TENANTS}/a");
    let action = json!({"onLower": {"action": "preempt", "graceSeconds": 60}});
    assert_eq!(scene.change("PATCH", &path, &action).await.status, 200);
    let quota = json!({"resources": {"vcore": "65", "memory": "200G"}});
    let dry = scene.change("PUT", &format!("{QUOTA}?dryRun=true"), &quota).await.json();
    assert_eq!(dry["excess"], json!({"vcore": 25_000}));
    let victims: Vec<&str> = dry["victims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["task"].as_str().unwrap())
        .collect();
    assert_eq!(victims, ["t9", "t8", "t7"]);
    let freed = json!({"vcore": 10_000, "memory": 20_000_000_000_i64, "instances": 1});
    assert_eq!(dry["victims"][0]["resources"], freed);
    assert_eq!(dry.get("remains"), None, "it is enough");
    assert_eq!(scene.used("a", "vcore").await, 90_000);
}
