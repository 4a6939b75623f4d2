//! Tasks of several members over HTTP: all start, or none. Source: tenants TR-15, TS-20, SD-63.

use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS, problem};

#[tokio::test]
#[doc(alias = "TS-20")]
#[doc(alias = "TR-15")]
async fn a_gang_waits_as_a_whole_and_starts_whole_on_a_release() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 10, 1).await;
    let gang = |id: &str, members: u32| json!({"id": id, "members": members, "resources": {"vcore": "25"}});
    let refused = scene.submit("a", &gang("g5", 5)).await;
    assert_eq!(problem(&refused), (422, "EXCEEDS_QUOTA_ALWAYS".into()));
    let waits = scene.submit("a", &gang("g4", 4)).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    let task = waits.json();
    assert_eq!((&task["state"], &task["members"]), (&json!("WAITING"), &json!(4)));
    assert_eq!((&task["nodes"], &task["node"]), (&Value::Null, &Value::Null));
    assert_eq!(scene.used("a", "vcore").await, 10_000, "nothing of it is charged");
    let list = scene.server.json(&format!("{TENANTS}/a/waiting")).await;
    let types = json!([
        {"type": "vcore", "used": 10_000, "asked": 100_000, "limit": 100_000, "short": 10_000}
    ]);
    assert_eq!(list["items"][0]["reason"]["types"], types, "{list}");
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let body = json!({"outcome": "succeeded"});
    assert_eq!(scene.act("t1", "release", &body).await.status, 200);
    let task = scene.server.json("/headroom/v1/tasks/g4").await;
    assert_eq!(task["state"], "STARTING", "{task}");
    assert_eq!(task["nodes"].as_array().unwrap().len(), 4);
    assert_eq!(task["resources"]["vcore"], 100_000);
    assert_eq!(scene.used("a", "vcore").await, 100_000);
    assert_eq!(scene.act("g4", "release", &body).await.status, 200);
    assert_eq!(scene.used("a", "vcore").await, 0, "all of it is given back");
    let many = json!({"members": 1_001, "resources": {"vcore": "1m"}});
    assert_eq!(problem(&scene.submit("a", &many).await), (422, "TASK_MEMBERS".into()));
}

#[tokio::test]
#[doc(alias = "SD-63")]
async fn a_gang_starts_in_its_place_in_the_order_of_priority() {
    let scene = Scene::live().await;
    scene.submits("a", "t0", 100, 1).await;
    let policy = json!({"waiting": {"strategy": "priority"}});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/a"), &policy).await.status, 200);
    for (id, members, priority) in [("w1", 1, 0), ("g2", 3, 5), ("g3", 2, 9)] {
        let task = json!({
            "id": id, "members": members, "priority": priority, "resources": {"vcore": "20"}
        });
        assert_eq!(scene.submit("a", &task).await.status, 202);
    }
    let body = json!({"outcome": "succeeded"});
    assert_eq!(scene.act("t0", "release", &body).await.status, 200);
    for (id, state) in [("g3", "STARTING"), ("g2", "STARTING"), ("w1", "WAITING")] {
        let task = scene.server.json(&format!("/headroom/v1/tasks/{id}")).await;
        assert_eq!(task["state"], state, "{task}");
    }
    assert_eq!(scene.used("a", "vcore").await, 100_000);
}
