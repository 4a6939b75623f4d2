//! Tasks over HTTP, by the numbers of the scenarios.

use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS, problem};
use crate::support::CALLER;

async fn waiting(scene: &Scene, tenant: &str) -> Value {
    scene.server.json(&format!("{TENANTS}/{tenant}/waiting")).await
}

fn short(reason: &Value) -> Vec<(String, i64)> {
    let types = reason["types"].as_array().cloned().unwrap_or_default();
    let one =
        |one: &Value| (one["type"].as_str().unwrap().to_owned(), one["short"].as_i64().unwrap());
    types.iter().map(one).collect()
}

/// The RFC's scene: nine tasks of 10 cores and 20 GB run.
async fn nine() -> Scene {
    let scene = Scene::live().await;
    for number in 1..=9 {
        assert_eq!(scene.submits("a", &format!("t{number}"), 10, 20).await, 201);
    }
    scene
}

#[tokio::test]
#[doc(alias = "SD-60")]
#[doc(alias = "TR-41")]
#[doc(alias = "TS-01")]
#[doc(alias = "TS-02")]
#[doc(alias = "TS-03")]
#[doc(alias = "TS-04")]
async fn the_seven_steps() {
    let scene = nine().await;
    let free = scene.usage("a").await["free"].clone();
    assert_eq!(free, json!({"vcore": 10_000, "memory": 20_000_000_000_i64}));
    // 90 + 20 = 110 > 100.
    assert_eq!(scene.submits("a", "t10", 20, 40).await, 202);
    assert_eq!(scene.state("t10").await, "WAITING");
    assert_eq!(scene.used("a", "vcore").await, 90_000);
    let list = waiting(&scene, "a").await;
    let entry = &list["items"][0];
    assert_eq!(
        (&entry["task"], &entry["position"], &entry["of"]),
        (&json!("t10"), &json!(1), &json!(1))
    );
    assert_eq!(
        (&entry["reason"]["code"], &entry["reason"]["scope"]),
        (&json!("TENANT_QUOTA"), &json!("a"))
    );
    let (gb, of) = (1_000_000_000_i64, ["memory", "vcore"]);
    let types = [(180 * gb, 40 * gb, 200 * gb, 20 * gb), (90_000, 20_000, 100_000, 10_000)];
    let types = of.iter().zip(types).map(|(of, (used, asked, limit, short))| {
        json!({"type": of, "used": used, "asked": asked, "limit": limit, "short": short})
    });
    assert_eq!(entry["reason"]["types"], types.collect::<Value>(), "{entry}");
    assert!(!entry["firstThrottledAt"].is_null());
    // Another tenant starts at once.
    assert_eq!(scene.submits("b", "b1", 10, 20).await, 201);
    // One ends, and nobody else does anything.
    scene.release("t1", "succeeded").await;
    scene.until("t10", "STARTING").await;
    assert_eq!((scene.used("a", "vcore").await, scene.used("b", "vcore").await), (100_000, 10_000));
    assert_eq!(waiting(&scene, "a").await["items"], json!([]));
    assert_eq!(scene.state("t1").await, "SUCCEEDED");
}

#[tokio::test]
#[doc(alias = "TS-05")]
async fn what_is_released_is_not_enough_and_the_reason_says_how_much_is_missing() {
    let scene = nine().await;
    scene.submits("a", "t10", 20, 40).await;
    let smaller = json!({"resources": {"vcore": "5", "memory": "10G"}});
    assert_eq!(scene.act("t1", "resize", &smaller).await.status, 200);
    let entry = scene.server.json(&format!("{TENANTS}/a/waiting/t10")).await;
    assert_eq!(
        short(&entry["reason"]),
        [("memory".to_owned(), 10_000_000_000), ("vcore".to_owned(), 5_000)]
    );
}

#[tokio::test]
#[doc(alias = "TS-06")]
#[doc(alias = "TS-07")]
#[doc(alias = "TS-08")]
async fn each_type_is_a_limit_of_its_own() {
    let scene = Scene::live().await;
    scene.submits("a", "m1", 50, 190).await;
    scene.submits("a", "m2", 5, 20).await;
    let entry = scene.server.json(&format!("{TENANTS}/a/waiting/m2")).await;
    assert_eq!(short(&entry["reason"]), [("memory".to_owned(), 10_000_000_000)]);

    let quota = json!({"instances": 2});
    scene.make_as(json!({"id": "few", "quota": quota})).await;
    let tiny = |id: &str| json!({"id": id, "resources": {"vcore": "100m"}});
    for id in ["i1", "i2"] {
        assert_eq!(scene.submit("few", &tiny(id)).await.status, 201);
    }
    assert_eq!(scene.submit("few", &tiny("i3")).await.status, 202);
    let entry = scene.server.json(&format!("{TENANTS}/few/waiting/i3")).await;
    assert_eq!(entry["reason"]["code"], "TENANT_INSTANCES");
    scene.release("i1", "failed").await;
    scene.until("i3", "STARTING").await;

    scene
        .make_as(json!({"id": "gpus", "quota": {"resources": {"gpu": 8}},
        "waiting": {"strategy": "fifo-backfill"}}))
        .await;
    let asks = |id: &str, resources: Value| json!({"id": id, "resources": resources});
    assert_eq!(scene.submit("gpus", &asks("g1", json!({"gpu": 8}))).await.status, 201);
    assert_eq!(scene.submit("gpus", &asks("g2", json!({"gpu": 1}))).await.status, 202);
    assert_eq!(scene.submit("gpus", &asks("g3", json!({"vcore": "4"}))).await.status, 201);
}

#[tokio::test]
#[doc(alias = "TS-19")]
#[doc(alias = "TS-33")]
async fn a_raised_quota_and_a_cancelled_head_start_the_next() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 95, 10).await;
    scene.submits("a", "head", 20, 1).await;
    scene.submits("a", "next", 5, 1).await;
    let codes = |list: &Value| -> Vec<Value> {
        let items = list["items"].as_array().unwrap();
        items.iter().map(|one| one["reason"]["code"].clone()).collect()
    };
    assert_eq!(codes(&waiting(&scene, "a").await), [json!("TENANT_QUOTA"), json!("BEHIND_HEAD")]);
    assert_eq!(scene.act("head", "cancel", &Value::Null).await.status, 200);
    scene.until("next", "STARTING").await;
    assert_eq!(
        (scene.state("head").await.as_str(), scene.used("a", "vcore").await),
        ("CANCELLED", 100_000)
    );
    scene.submits("a", "more", 10, 1).await;
    let raised = json!({"resources": {"vcore": "120"}});
    assert_eq!(scene.change("PUT", &format!("{TENANTS}/a/quota"), &raised).await.status, 200);
    scene.until("more", "STARTING").await;
}

#[tokio::test]
#[doc(alias = "TS-29")]
async fn a_key_and_an_id_are_one_task_however_often_they_are_sent() {
    let journal = MemoryJournal::default();
    let scene = Scene::at(Pace::Automatic, &journal).await;
    scene.make("a", json!({"vcore": "100"})).await;
    let path = format!("{TENANTS}/a/tasks");
    let body = json!({"resources": {"vcore": "10"}});
    let submit = |key: &'static str, body: Value| {
        let (scene, path) = (&scene, path.clone());
        async move { scene.send("POST", &path, &[("idempotency-key", key)], &body).await }
    };
    let first = submit("k", body.clone()).await;
    let again = submit("k", body.clone()).await;
    assert_eq!((first.status, again.status), (201, 201), "{}", again.text());
    assert_eq!(
        (first.header("idempotent-replay"), again.header("idempotent-replay")),
        (None, Some("true"))
    );
    let id = first.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(again.json()["id"], json!(id));
    let other = submit("k", json!({"resources": {"vcore": "11"}})).await;
    assert_eq!(problem(&other), (422, "IDEMPOTENCY_MISMATCH".into()));
    assert_eq!(scene.used("a", "vcore").await, 10_000);

    let named = json!({"id": "mine", "resources": {"vcore": "1"}});
    let first = scene.submit("a", &named).await;
    let again = scene.submit("a", &named).await;
    assert_eq!((first.status, again.header("idempotent-replay")), (201, Some("true")));
    let other = scene.submit("a", &json!({"id": "mine", "resources": {"vcore": "2"}})).await;
    assert_eq!(problem(&other), (409, "TASK_EXISTS".into()));

    let release = format!("/headroom/v1/tasks/{id}/release");
    let end = |key: &'static str, outcome: &'static str| {
        let (scene, release) = (&scene, release.clone());
        async move {
            let body = json!({"outcome": outcome});
            scene.send("POST", &release, &[("idempotency-key", key)], &body).await
        }
    };
    assert_eq!(end("e", "succeeded").await.status, 200);
    let again = end("e", "succeeded").await;
    assert_eq!((again.status, again.header("idempotent-replay")), (200, Some("true")));
    assert_eq!(problem(&end("e", "failed").await), (422, "IDEMPOTENCY_MISMATCH".into()));
    assert_eq!(problem(&end("f", "failed").await), (409, "TASK_STATE".into()));
    assert_eq!(scene.used("a", "vcore").await, 1_000);
    // A restart forgets no key.
    drop(scene);
    let scene = Scene::at(Pace::Automatic, &journal).await;
    let again = scene.send("POST", &path, &[("idempotency-key", "k")], &body).await;
    assert_eq!((again.status, &again.json()["id"]), (201, &json!(id)), "{}", again.text());
}

#[tokio::test]
#[doc(alias = "TS-20")]
#[doc(alias = "TS-32")]
async fn what_does_not_fit_is_refused_with_the_rule() {
    let scene = Scene::live().await;
    let too_large = scene.submit("a", &json!({"resources": {"vcore": "120"}})).await;
    assert_eq!(problem(&too_large), (422, "EXCEEDS_QUOTA_ALWAYS".into()));
    scene.submits("a", "t1", 85, 1).await;
    scene.submits("a", "t2", 10, 1).await;
    let size = |vcore: &str| json!({"resources": {"vcore": vcore, "memory": "1G"}});
    assert_eq!(problem(&scene.act("t2", "resize", &size("20")).await), (409, "QUOTA".into()));
    assert_eq!(scene.used("a", "vcore").await, 95_000);
    assert_eq!(scene.act("t2", "resize", &size("15")).await.status, 200);
    assert_eq!(scene.used("a", "vcore").await, 100_000);
    let limits = json!({"waiting": {"strategy": "fifo"}, "quota": {"maxWaiting": 1}});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/a"), &limits).await.status, 200);
    scene.submits("a", "w1", 1, 1).await;
    let full = scene.submit("a", &json!({"resources": {"vcore": "1"}})).await;
    assert_eq!(problem(&full), (429, "WAITING_LIST_FULL".into()));
    assert_eq!(
        problem(&scene.act("none", "confirm", &Value::Null).await),
        (404, "UNKNOWN_TASK".into())
    );
}

#[tokio::test]
#[doc(alias = "TS-34")]
async fn another_order_shows_at_once() {
    let scene = Scene::live().await;
    scene.submits("a", "t0", 100, 1).await;
    for (id, priority) in [("w1", 0), ("w2", 3), ("w3", 1), ("w4", 5), ("w5", 3)] {
        let task = json!({"id": id, "resources": {"vcore": "1"}, "priority": priority});
        assert_eq!(scene.submit("a", &task).await.status, 202);
    }
    let order = |list: Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap().clone();
        items.iter().map(|one| one["task"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(order(waiting(&scene, "a").await), ["w1", "w2", "w3", "w4", "w5"]);
    let policy = json!({"waiting": {"strategy": "priority"}});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/a"), &policy).await.status, 200);
    assert_eq!(order(waiting(&scene, "a").await), ["w4", "w2", "w5", "w3", "w1"]);
    let rank = json!({"priority": 9});
    let ranked = scene.send("PATCH", &format!("{TENANTS}/a/waiting/w1"), &[], &rank).await;
    assert_eq!(ranked.status, 200, "{}", ranked.text());
    assert_eq!(order(waiting(&scene, "a").await), ["w1", "w4", "w2", "w5", "w3"]);
    let page = scene.server.json(&format!("{TENANTS}/a/waiting?limit=2")).await;
    let next = format!("{TENANTS}/a/waiting?limit=2&cursor={}", page["cursor"].as_str().unwrap());
    assert_eq!(order(scene.server.json(&next).await), ["w2", "w5"]);
}

#[tokio::test]
#[doc(alias = "TS-31")]
async fn a_reason_above_shows_no_figures_and_tasks_of_others_are_not_there() {
    let scene = Scene::live().await;
    scene.make("dept", json!({"vcore": "50"})).await;
    for id in ["team", "other"] {
        scene.make_as(json!({"id": id, "parent": "dept"})).await;
    }
    scene.submits("other", "o1", 49, 1).await;
    scene.submits("team", "mine", 10, 1).await;
    let viewer = "tim - tenant-viewer team";
    let list = scene.read_as(viewer, &format!("{TENANTS}/team/waiting")).await;
    let reason = &list.json()["items"][0]["reason"];
    assert_eq!((&reason["code"], &reason["scope"]), (&json!("ANCESTOR_QUOTA"), &json!("dept")));
    assert!(!list.text().contains("49") && !list.text().contains("other"), "{}", list.text());
    let (there, nowhere) = ("/headroom/v1/tasks/o1", "/headroom/v1/tasks/nowhere");
    let mut said = Vec::new();
    for (path, name) in [(there, "o1"), (nowhere, "nowhere")] {
        let answer = scene.read_as(viewer, path).await;
        assert_eq!(problem(&answer), (404, "UNKNOWN_TASK".into()));
        said.push(answer.json()["detail"].as_str().unwrap().replace(name, "T"));
    }
    assert_eq!(said[0], said[1], "what is there and what is not look the same");
    assert_eq!(scene.read_as(viewer, &format!("{TENANTS}/other/tasks")).await.status, 403);
}

#[tokio::test]
#[doc(alias = "TR-83")]
async fn who_reads_everything_and_acts_for_one_tenant_acts_for_no_other() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 10, 1).await;
    let caller = [(CALLER, "vera - viewer,tenant-admin b"), ("x-headroom-request", "1")];
    let task = json!({"resources": {"vcore": "1"}});
    for (path, body) in [
        (format!("{TENANTS}/a/tasks"), &task),
        ("/headroom/v1/tasks/t1/cancel".to_owned(), &Value::Null),
        ("/headroom/v1/tasks/t1/confirm".to_owned(), &Value::Null),
        ("/headroom/v1/tasks/t1/release".to_owned(), &json!({"outcome": "failed"})),
        ("/headroom/v1/tasks/t1/resize".to_owned(), &task),
    ] {
        let answer = scene.send("POST", &path, &caller, body).await;
        assert_eq!(problem(&answer), (403, "FORBIDDEN".into()), "{path}");
    }
    let own = scene.send("POST", &format!("{TENANTS}/b/tasks"), &caller, &task).await;
    assert_eq!(own.status, 201, "{}", own.text());
    assert_eq!(scene.state("t1").await, "STARTING");
    let rank = json!({"resources": {"vcore": "1"}, "priority": 101});
    let answer = scene.send("POST", &format!("{TENANTS}/b/tasks"), &caller, &rank).await;
    assert_eq!(problem(&answer), (403, "FORBIDDEN".into()));
    let other = json!({"resources": {"vcore": "1"}, "user": "bob"});
    let answer = scene.send("POST", &format!("{TENANTS}/b/tasks"), &caller, &other).await;
    assert_eq!(problem(&answer), (403, "FORBIDDEN".into()));
}
