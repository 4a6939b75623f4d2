//! Settings of tenants: how they are read, answered, listed, and refused.

use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS, problem};

#[tokio::test]
async fn what_is_said_is_answered_in_core_units_and_can_be_sent_back() {
    let scene = Scene::empty().await;
    let said = json!({
        "id": "tenant-a", "displayName": "Tenant A", "kind": "department", "state": "suspended",
        "quota": {
            "resources": {"vcore": "500m", "memory": "200Gi", "nvidia.com/gpu": "8"},
            "instances": 500, "maxWaiting": 10, "maxApplications": 4
        },
        "guaranteed": {"vcore": "250m", "memory": "120G"},
        "waiting": {
            "strategy": "fifo-backfill", "agingIntervalSeconds": 60, "agingStep": 1, "agingMax": 20,
            "maxOvertakes": 16, "maxHeadWaitSeconds": 300, "maxWaitSeconds": 0
        },
        "onLower": {"action": "preempt", "graceSeconds": 30}, "oversized": "park",
        "mapping": {"mode": "queue", "queue": "root.tenants.tenant-a"},
        "labels": {"cost-centre": "17"}, "strictSum": true
    });
    let made = scene.send("POST", TENANTS, &[], &said).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{}", made.text());
    let path = format!("{TENANTS}/tenant-a");
    let shown = scene.server.json(&path).await;
    assert_eq!(shown, made.json());
    assert_eq!(
        shown["quota"],
        json!({
            "resources": {"vcore": 500, "memory": 214_748_364_800_i64, "nvidia.com/gpu": 8},
            "instances": 500, "maxWaiting": 10, "maxApplications": 4,
            "display": {"vcore": "500m", "memory": "200Gi", "nvidia.com/gpu": "8", "instances": "500"}
        })
    );
    assert_eq!(shown["guaranteed"], json!({"vcore": 250, "memory": 120_000_000_000_i64}));
    for field in
        ["displayName", "kind", "state", "onLower", "oversized", "mapping", "labels", "strictSum"]
    {
        assert_eq!(shown[field], said[field], "{field}");
    }
    let mut waiting = said["waiting"].clone();
    waiting.as_object_mut().unwrap().remove("maxWaitSeconds");
    assert_eq!(shown["waiting"], waiting, "0 means forever, as without the setting");
    let back = scene.change("PUT", &path, &shown).await;
    assert_eq!((back.status, back.header("etag")), (200, Some("\"1\"")), "it says the same");
}

#[tokio::test]
async fn a_whole_number_may_be_written_with_a_point() {
    let scene = Scene::empty().await;
    let post = async |path: &str, body: &str| {
        let request = scene.server.raw().header("content-type", "application/json");
        request.body(body.to_owned()).send("POST", path).await
    };
    let said = r#"{"id": "x", "quota": {"resources": {"vcore": 2e3}, "instances": 751.0}}"#;
    let made = post(TENANTS, said).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let quota = &made.json()["quota"];
    assert_eq!((&quota["instances"], &quota["resources"]["vcore"]), (&json!(751), &json!(2_000)));
    let patch = json!({"waiting": {"strategy": "priority", "agingStep": 3.0}});
    let patched = scene.change("PATCH", &format!("{TENANTS}/x"), &patch).await;
    assert_eq!(patched.json()["waiting"]["agingStep"], 3, "{}", patched.text());
    let tasks = format!("{TENANTS}/x/tasks");
    let task = r#"{"id": "t", "resources": {"vcore": "1"}, "members": 2.0, "priority": -7e0}"#;
    let task = post(&tasks, task).await;
    assert_eq!((task.status, &task.json()["priority"]), (202, &json!(-7)), "{}", task.text());
    for body in [
        r#"{"resources": {"vcore": "1"}, "members": 1.5}"#,
        r#"{"resources": {"vcore": "1"}, "priority": 1.0, "priority": 2.0}"#,
        r#"{"resources": {"vcore": "1"}, "restarts": -1.0}"#,
    ] {
        assert_eq!(problem(&post(&tasks, body).await), (400, "MALFORMED".into()), "{body}");
    }
}

#[tokio::test]
async fn a_merge_patch_changes_what_it_names() {
    let scene = Scene::start().await;
    let path = format!("{TENANTS}/a");
    let patch = json!({"waiting": {"strategy": "priority"}, "labels": {"x": "1"}});
    let first = scene.change("PATCH", &path, &patch).await.json();
    assert_eq!(first["quota"]["resources"]["vcore"], 100_000);
    let patch = json!({"labels": {"x": null, "y": "2"}, "waiting": null, "state": "suspended"});
    let second = scene.change("PATCH", &path, &patch).await.json();
    assert_eq!((&second["labels"], &second["waiting"]), (&json!({"y": "2"}), &Value::Null));
    assert_eq!((&second["state"], &second["version"]), (&json!("suspended"), &json!(3)));
    let below = scene.change("PATCH", &path, &json!({"parent": "b"})).await;
    assert_eq!(below.json()["mapping"]["queue"], "root.tenants.b.a", "{}", below.text());
}

#[tokio::test]
async fn what_cannot_be_is_refused_by_its_rule_and_changes_nothing() {
    let scene = Scene::start().await;
    let quota = |resources: Value| json!({"id": "c", "quota": {"resources": resources}});
    let limit = |mapping: Value| json!({"id": "c", "mapping": mapping});
    for (said, status, code) in [
        (json!({"id": "a"}), 409, "TENANT_EXISTS"),
        (json!({"id": "Big"}), 422, "TENANT_NAME"),
        (json!({}), 422, "TENANT_NAME"),
        (json!({"id": "c", "parent": "x"}), 422, "TENANT_PARENT"),
        (quota(json!({"vcore": -1})), 422, "TENANT_AMOUNT"),
        (quota(json!({"memory": "1x"})), 422, "TENANT_AMOUNT"),
        (quota(json!({"memory": "99999999999G"})), 422, "TENANT_AMOUNT"),
        (quota(json!({"instances": 5})), 422, "RESERVED_TYPE"),
        (json!({"id": "c", "quota": {"instances": -2}}), 422, "TENANT_AMOUNT"),
        (
            json!({"id": "c", "quota": {"resources": {"vcore": 1}}, "guaranteed": {"vcore": 2}}),
            422,
            "TENANT_GUARANTEE",
        ),
        (limit(json!({"mode": "queue", "queue": "root.x"})), 422, "TENANT_MODE"),
        (limit(json!({"mode": "limit", "queue": "root.x"})), 422, "TENANT_MODE"),
        (limit(json!({"mode": "limit", "queue": "root.x", "user": "u"})), 422, "TENANT_QUEUE"),
        (json!({"id": "c", "qouta": {}}), 400, "MALFORMED"),
        (json!({"id": "c", "kind": "robot"}), 400, "MALFORMED"),
        (json!([]), 400, "MALFORMED"),
    ] {
        let answer = scene.send("POST", TENANTS, &[], &said).await;
        assert_eq!(problem(&answer), (status, code.to_owned()), "{said}: {}", answer.text());
        let body = answer.json();
        assert_eq!(body["type"], format!("urn:headroom:problem:{code}"));
        assert!(!body["requestId"].as_str().unwrap().is_empty());
    }
    let listed = scene.server.json(TENANTS).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let text = scene.server.raw().body("{}").send("POST", TENANTS).await;
    assert_eq!(problem(&text), (415, "UNSUPPORTED_MEDIA_TYPE".into()));
}

#[tokio::test]
async fn minus_one_instances_are_as_many_as_one_likes() {
    let scene = Scene::empty().await;
    scene
        .make_as(json!({"id": "a", "quota": {"instances": -1, "resources": {"vcore": "1"}}}))
        .await;
    assert_eq!(scene.usage("a").await["quota"], json!({"vcore": 1_000}));
}

#[tokio::test]
async fn lists_come_in_parts_and_by_what_is_asked_for() {
    let scene = Scene::start().await;
    scene.make_as(json!({"id": "dept", "kind": "department"})).await;
    for id in ["x", "y"] {
        scene.make_as(json!({"id": id, "parent": "dept", "kind": "user"})).await;
    }
    let ids = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = scene.server.json(&format!("{TENANTS}?limit=2&cursor={cursor}")).await;
        seen.push(ids(&page));
        let Some(next) = page["cursor"].as_str() else { break };
        next.clone_into(&mut cursor);
    }
    assert_eq!(seen, [vec!["a", "b"], vec!["dept", "x"], vec!["y"]]);
    scene.task("b", "t1", 10, 20).await;
    scene.change("PUT", &format!("{TENANTS}/b/quota"), &json!({"resources": {"vcore": "5"}})).await;
    for (query, expected) in [
        ("kind=user", vec!["x", "y"]),
        ("parent=dept", vec!["x", "y"]),
        ("overQuota=true", vec!["b"]),
        ("overQuota=false&kind=project", vec!["a"]),
    ] {
        let page = scene.server.json(&format!("{TENANTS}?{query}")).await;
        assert_eq!(ids(&page), expected, "{query}");
    }
    for query in ["kind=robot", "overQuota=yes", "cursor=p-x", "colour=red"] {
        let answer = scene.server.get(&format!("{TENANTS}?{query}")).await;
        assert_eq!(problem(&answer), (400, "MALFORMED".into()), "{query}");
    }
}

#[tokio::test]
async fn a_tenant_goes_at_once_or_with_its_last_task() {
    let scene = Scene::start().await;
    let (a, b) = (format!("{TENANTS}/a"), format!("{TENANTS}/b"));
    let gone = scene.change("DELETE", &b, &Value::Null).await;
    assert_eq!((gone.status, gone.body.len()), (204, 0));
    assert_eq!(problem(&scene.server.get(&b).await), (404, "UNKNOWN_TENANT".into()));
    scene.task("a", "t1", 10, 20).await;
    let refused = scene.change("DELETE", &a, &Value::Null).await;
    assert_eq!(problem(&refused), (409, "TENANT_HAS_TASKS".into()));
    let going = scene.change("DELETE", &format!("{a}?mode=drain"), &Value::Null).await;
    assert_eq!((going.status, &going.json()["draining"]), (202, &json!(true)));
    let late = scene.change("PATCH", &a, &json!({"labels": {"x": "1"}})).await;
    assert_eq!(problem(&late), (409, "TENANT_DRAINING".into()));
}

#[tokio::test]
async fn without_tenants_all_is_refused_in_one_way() {
    let scene = Scene::empty().await;
    let file = "partitions: [{name: default, queues: [{name: root}]}]";
    scene.server.service.queue_file.apply(headroom_engine::Origin::default(), file).await.unwrap();
    for path in [TENANTS, "/headroom/v1/tenant-defaults", "/headroom/v1/tenants/a/usage"] {
        assert_eq!(problem(&scene.server.get(path).await), (409, "TENANTS_OFF".into()), "{path}");
    }
}
