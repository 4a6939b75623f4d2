//! Entity tags: a client changes the version that it has read, or is too late.

use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS, problem};

const A: &str = "/headroom/v1/tenants/a";

#[tokio::test]
#[doc(alias = "TR-80")]
#[doc(alias = "TS-28")]
async fn the_second_of_two_who_change_one_version_is_told_the_other() {
    let scene = Scene::start().await;
    for number in 2..=7 {
        let name = json!({"displayName": format!("change {number}")});
        assert_eq!(scene.change("PATCH", A, &name).await.status, 200);
    }
    let tag = scene.tag(A).await;
    assert_eq!(tag, "\"7\"");
    let quota = json!({"resources": {"vcore": "90"}});
    let path = format!("{A}/quota");
    let first = scene.send("PUT", &path, &[("if-match", &tag)], &quota).await;
    assert_eq!((first.status, first.header("etag")), (200, Some("\"8\"")), "{}", first.text());
    assert_eq!(scene.server.json(&path).await["resources"], json!({"vcore": 90_000}));
    let second = scene.send("PUT", &path, &[("if-match", &tag)], &quota).await;
    assert_eq!(problem(&second), (412, "PRECONDITION_FAILED".into()));
    assert_eq!(second.header("etag"), Some("\"8\""));
    for (method, path) in [("PUT", &*path), ("PUT", A), ("PATCH", A), ("DELETE", A)] {
        let body = if method == "DELETE" { Value::Null } else { json!({}) };
        let silent = scene.send(method, path, &[], &body).await;
        assert_eq!(problem(&silent), (428, "PRECONDITION_REQUIRED".into()), "{method} {path}");
    }
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again_until_it_is_changed() {
    let scene = Scene::start().await;
    let ask = |tag: String| async move {
        let scene = &scene;
        scene.send("GET", A, &[("if-none-match", &tag)], &Value::Null).await.status
    };
    assert_eq!(ask("\"1\"".into()).await, 304);
}

#[tokio::test]
async fn use_does_not_raise_a_version() {
    let scene = Scene::start().await;
    let tag = scene.tag(A).await;
    scene.task("a", "t1", 10, 20).await;
    assert_eq!((scene.used("a", "vcore").await, scene.tag(A).await), (10_000, tag));
}

#[tokio::test]
async fn put_makes_a_tenant_only_where_the_client_says_that_there_is_none() {
    let scene = Scene::start().await;
    let path = format!("{TENANTS}/c");
    let none = [("if-none-match", "*")];
    let absent = scene.send("PUT", &path, &[("if-match", "\"1\"")], &json!({})).await;
    assert_eq!((problem(&absent).0, absent.header("etag")), (412, None));
    let made = scene.send("PUT", &path, &none, &json!({"kind": "user"})).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{}", made.text());
    let again = scene.send("PUT", &path, &none, &json!({})).await;
    assert_eq!((problem(&again).0, again.header("etag")), (412, Some("\"1\"")));
    let other = scene.change("PUT", &path, &json!({"id": "d"})).await;
    assert_eq!(problem(&other), (422, "TENANT_NAME".into()));
    let any = scene.send("PUT", &path, &[("if-match", "*")], &json!({"kind": "user"})).await;
    assert_eq!((any.status, any.header("etag")), (200, Some("\"1\"")), "nothing has changed");
}

#[tokio::test]
async fn defaults_have_a_version_of_their_own() {
    let scene = Scene::start().await;
    let path = "/headroom/v1/tenant-defaults";
    let before = scene.tag(path).await;
    let quota = json!({"resources": {"vcore": "5"}, "instances": 3, "maxWaiting": 2});
    let defaults =
        json!({"quota": quota, "waiting": {"strategy": "priority"}, "oversized": "park"});
    let said = scene.change("PUT", path, &defaults).await;
    assert_eq!(said.status, 200, "{}", said.text());
    assert_ne!(said.header("etag"), Some(&*before));
    let late = scene.send("PUT", path, &[("if-match", &before)], &defaults).await;
    assert_eq!((problem(&late).0, late.header("etag")), (412, said.header("etag")));
    let shown = scene.server.json(path).await;
    assert_eq!(shown["quota"]["resources"], json!({"vcore": 5_000}));
    assert_eq!(
        (&shown["quota"]["instances"], &shown["quota"]["maxWaiting"]),
        (&json!(3), &json!(2))
    );
    scene.make_as(json!({"id": "usual"})).await;
    assert_eq!(scene.usage("usual").await["quota"], json!({"vcore": 5_000, "instances": 3}));
}
