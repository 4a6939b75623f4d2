//! Actual usage of tasks, as reported by the client that runs them: shown next to what is charged.

use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS, problem};

impl Scene {
    async fn measured(&self, task: &str, resources: Value) -> Value {
        let answer = self.act(task, "measured", &json!({"resources": resources})).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["measured"].clone()
    }

    async fn gauge(&self, name: &str) -> String {
        let text = self.server.get("/metrics").await.text();
        let start = format!("headroom_tenant_{name}{{");
        let lines = text.lines().filter_map(|line| line.strip_prefix(&start));
        lines.flat_map(|line| [line, "\n"]).collect()
    }
}

#[tokio::test]
#[doc(alias = "TR-17")]
async fn measured_use_is_shown_beside_what_is_charged_and_survives_a_restart() {
    let journal = MemoryJournal::default();
    let scene = Scene::at(Pace::ByHand, &journal).await;
    scene.make("dept", json!({"vcore": "100"})).await;
    scene.make_as(json!({"id": "a", "parent": "dept"})).await;
    scene.make_as(json!({"id": "b", "parent": "dept"})).await;
    scene.submits("a", "t1", 60, 2).await;
    scene.submits("b", "t2", 30, 1).await;
    scene.submits("a", "t3", 20, 1).await;
    scene.server.turn(0).await;
    assert_eq!(scene.usage("dept").await["measured"], Value::Null, "no client reported usage");
    assert_eq!(scene.gauge("measured").await, "");

    let said = scene.measured("t1", json!({"vcore": "1500m", "memory": "1G"})).await;
    assert_eq!(said["resources"]["vcore"], 1_500);
    assert!(said["at"].is_string());
    // More than it asked for, which replaces the earlier report.
    scene.measured("t1", json!({"vcore": "70"})).await;
    scene.measured("t2", json!({"vcore": "4", "disk": 9})).await;
    let of = async |tenant: &str| scene.usage(tenant).await["measured"].clone();
    assert_eq!(of("a").await["tasks"], 1);
    assert_eq!(of("a").await["resources"]["vcore"], 70_000);
    assert_eq!(of("a").await["resources"].get("memory"), None);
    assert_eq!(of("dept").await["tasks"], 2);
    assert_eq!(of("dept").await["resources"]["vcore"], 74_000);
    let expected = "tenant=\"a\",resource=\"vcore\"} 70000\n\
                    tenant=\"b\",resource=\"disk\"} 9\n\
                    tenant=\"b\",resource=\"vcore\"} 4000\n\
                    tenant=\"dept\",resource=\"disk\"} 9\n\
                    tenant=\"dept\",resource=\"vcore\"} 74000\n";
    assert_eq!(scene.gauge("measured").await, expected);
    // Nothing is charged or decided by it: t3 waits for what is asked for.
    assert_eq!(scene.usage("dept").await["used"]["vcore"], 90_000);
    scene.server.turn(1_000).await;
    assert_eq!(scene.state("t3").await, "WAITING");

    scene.ends().await;
    let again = Scene::at(Pace::ByHand, &journal).await;
    assert_eq!(again.usage("dept").await["measured"]["resources"]["vcore"], 74_000);
    again.release("t1", "succeeded").await;
    let task = again.server.json("/headroom/v1/tasks/t1").await;
    assert_eq!(task.get("measured"), None, "it runs no more");
    assert_eq!(again.usage("a").await["measured"], Value::Null);
    assert_eq!(again.usage("dept").await["measured"]["resources"]["vcore"], 4_000);
}

#[tokio::test]
#[doc(alias = "TR-17")]
async fn what_cannot_have_been_measured_is_refused_with_the_reason() {
    let scene = Scene::start().await;
    scene.submits("a", "t1", 10, 2).await;
    scene.submits("a", "t2", 95, 2).await;
    scene.server.turn(0).await;
    let says = async |task: &str, body: Value| {
        let answer = scene.act(task, "measured", &body).await;
        (problem(&answer), answer.text())
    };
    for (task, body, status, rule) in [
        ("t1", json!({"resources": {"vcore": -1}}), 422, "MEASURED_BELOW_ZERO"),
        ("t1", json!({"resources": {"vcore": "many"}}), 422, "TENANT_AMOUNT"),
        ("t1", json!({"resources": {"instances": 1}}), 422, "RESERVED_TYPE"),
        ("t1", json!({"measured": {}}), 400, "MALFORMED"),
        ("t2", json!({"resources": {"vcore": 1}}), 409, "TASK_STATE"),
        ("t9", json!({"resources": {"vcore": 1}}), 404, "UNKNOWN_TASK"),
    ] {
        let ((found, found_rule), text) = says(task, body.clone()).await;
        assert_eq!((found, &*found_rule), (status, rule), "{body}: {text}");
    }
    let usage = scene.server.json(&format!("{TENANTS}/a/usage")).await;
    assert_eq!(usage.get("measured"), None, "nothing half done");
}
