//! Who may do what with which tenant.

use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS, problem};
use crate::support::CALLER;

const VIEWER_OF_B: &str = "bob - tenant-viewer b";
const ADMIN_OF_DEPT: &str = "dora - tenant-admin dept";

async fn departments() -> Scene {
    let scene = Scene::start().await;
    scene.make("dept", json!({"vcore": "50"})).await;
    scene.make_as(json!({"id": "team", "parent": "dept"})).await;
    scene
}

#[tokio::test]
#[doc(alias = "TS-31")]
async fn a_viewer_of_one_tenant_sees_nothing_of_another() {
    let scene = departments().await;
    scene.task("a", "a1", 77, 1).await;
    for path in ["", "/quota", "/usage"] {
        let own = scene.read_as(VIEWER_OF_B, &format!("{TENANTS}/b{path}")).await;
        assert_eq!(own.status, 200, "{path}: {}", own.text());
        let refusals = [("a", "a"), ("nowhere", "nowhere")]
            .map(|(tenant, name)| (format!("{TENANTS}/{tenant}{path}"), name));
        let mut said = Vec::new();
        for (path, name) in refusals {
            let answer = scene.read_as(VIEWER_OF_B, &path).await;
            assert_eq!(problem(&answer), (403, "FORBIDDEN".into()), "{path}");
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            said.push(detail.replace(&format!("{name:?}"), "T"));
        }
        assert_eq!(said[0], said[1], "what is there and what is not look the same");
    }
    let page = scene.read_as(VIEWER_OF_B, TENANTS).await.json();
    assert_eq!(
        (&page["items"][0]["id"], &page["items"][1], &page["hidden"]),
        (&json!("b"), &Value::Null, &json!(0)),
        "not even how many others there are"
    );
    // A caller who reads everything gets a message that it does not exist.
    let gone = scene.read_as("vera - viewer", &format!("{TENANTS}/nowhere")).await;
    assert_eq!(problem(&gone), (404, "UNKNOWN_TENANT".into()));
}

#[tokio::test]
#[doc(alias = "TS-31")]
async fn what_is_above_is_named_and_shows_no_figures() {
    let scene = departments().await;
    scene.make_as(json!({"id": "other", "parent": "dept"})).await;
    scene.task("other", "o1", 49, 1).await;
    let usage = scene.read_as("tim - tenant-viewer team", &format!("{TENANTS}/team/usage")).await;
    assert_eq!(usage.json()["byAncestor"], json!([{"tenant": "dept", "limited": true}]));
    assert!(!usage.text().contains("49") && !usage.text().contains("other"), "{}", usage.text());
    let waits = json!({"id": "w1", "resources": {"vcore": "20"}});
    assert_eq!(scene.submit("team", &waits).await.status, 202);
    scene.server.turn(0).await;
    let told = async |path: &str| {
        let all = scene.server.json(path).await.to_string();
        let his = scene.read_as("tim - tenant-viewer team", path).await.text();
        for figure in ["49000", "51000", "1000 m"] {
            assert!(!his.contains(figure), "{path}: {his}");
        }
        (all, his)
    };
    let (all, his) = told("/ws/v1/partition/default/application/w1").await;
    assert!(
        all.contains(" vcore available, but the ask needs ") && !his.contains(" available"),
        "{all}\n{his}"
    );
    assert!(his.contains("ANCESTOR_QUOTA root.tenants.dept"), "{his}");
    told("/ws/v1/partition/default/applications/active").await;
    told("/headroom/v1/partitions/default/reasons?queue=root.tenants.dept.team").await;
    let above = scene.read_as("tim - tenant-viewer team", &format!("{TENANTS}/dept/usage")).await;
    assert_eq!(above.status, 403);
    let below = scene.read_as("dora - tenant-viewer dept", &format!("{TENANTS}/team/usage")).await;
    assert_eq!(below.status, 200, "who sees a tenant sees those below");
}

#[tokio::test]
async fn a_tenant_admin_rules_below_his_tenant_and_over_little_of_his_own() {
    let scene = departments().await;
    let send = |method: &'static str, path: &'static str, body: Value| {
        let scene = &scene;
        async move {
            let path = format!("{TENANTS}{path}");
            let read = scene.server.get(&path).await;
            let tag = read.header("etag").unwrap_or_default().to_owned();
            let mut headers = vec![(CALLER, ADMIN_OF_DEPT)];
            if method != "POST" {
                headers.push(("if-match", &tag));
            }
            scene.send(method, &path, &headers, &body).await.status
        }
    };
    let limit = json!({"mode": "limit", "queue": "root", "user": "u"});
    for (method, path, body, expected) in [
        ("POST", "", json!({"id": "new", "parent": "dept"}), 201),
        ("POST", "", json!({"id": "deep", "parent": "team"}), 201),
        ("POST", "", json!({"id": "top"}), 403),
        ("POST", "", json!({"id": "far", "parent": "a"}), 403),
        ("POST", "", json!({"id": "far", "parent": "nowhere"}), 403),
        ("POST", "", json!({"id": "lim", "parent": "dept", "mapping": limit}), 403),
        ("PUT", "/new/quota", json!({"resources": {"vcore": "5"}}), 200),
        ("PATCH", "/new", json!({"parent": "a"}), 403),
        ("PATCH", "/new", json!({"parent": null}), 403),
        ("PATCH", "/new", json!({"parent": "team"}), 200),
        ("PATCH", "/dept", json!({"waiting": {"strategy": "urgency"}, "labels": {"x": "y"}}), 200),
        ("PUT", "/dept/quota", json!({"resources": {"vcore": "500"}}), 403),
        ("PATCH", "/dept", json!({"state": "suspended"}), 403),
        ("DELETE", "/dept", Value::Null, 403),
        ("PATCH", "/a", json!({"labels": {"x": "y"}}), 403),
        ("DELETE", "/new", Value::Null, 204),
    ] {
        assert_eq!(send(method, path, body.clone()).await, expected, "{method} {path} {body}");
    }
    let any = [(CALLER, ADMIN_OF_DEPT), ("if-match", "*")];
    let any = scene.send("PATCH", &format!("{TENANTS}/team"), &any, &json!({})).await;
    assert_eq!(problem(&any), (403, "FORBIDDEN".into()), "whatever it is, is for admins");
    // A caller who sees neither cannot distinguish an existing tenant from a missing one.
    let mut answers = Vec::new();
    for name in ["a", "z"] {
        for header in [("if-none-match", "*"), ("if-match", "*"), ("if-match", "\"7\"")] {
            for body in [json!({}), json!({"parent": "nowhere"})] {
                let headers = [(CALLER, ADMIN_OF_DEPT), header];
                let path = format!("{TENANTS}/{name}");
                let answer = scene.send("PUT", &path, &headers, &body).await;
                let mut said = answer.json();
                said.as_object_mut().unwrap().remove("requestId");
                let said = said.to_string().replace(&format!("tenant {name}"), "tenant NAME");
                let said = said.replace(&format!("tenants/{name}"), "tenants/NAME");
                let said = said.replace(&format!("not for \\\"{name}\\\""), "not for NAME");
                answers.push((name, header, body.to_string(), answer.status, said));
            }
        }
    }
    let (there, missing) = answers.split_at(answers.len() / 2);
    for ((_, header, body, status, said), (_, _, _, other, of_other)) in there.iter().zip(missing) {
        assert_eq!((status, said), (other, of_other), "PUT with {header:?} and {body}");
    }
}

#[tokio::test]
#[doc(alias = "TR-43")]
async fn queues_of_tenants_are_seen_by_their_roles_and_by_no_access_list() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 10, 1).await;
    // Everybody may submit to the root.
    let (sue, vic) = ("sue - submitter", "vic - tenant-viewer a");
    for (caller, queue, status, figures) in [
        (sue, "root", 200, true),
        (sue, "root.tenants", 404, false),
        (sue, "root.tenants.a", 404, false),
        (vic, "root", 200, false),
        (vic, "root.tenants", 200, false),
        (vic, "root.tenants.a", 200, true),
        (vic, "root.tenants.b", 404, false),
        ("vic - tenant-viewer none", "root", 404, false),
        ("vic - submitter a", "root.tenants.a", 404, false),
        ("vera - viewer", "root.tenants.a", 200, true),
    ] {
        let path = format!("/ws/v1/partition/default/queue/{queue}");
        let answer = scene.read_as(caller, &path).await;
        assert_eq!(answer.status, status, "{caller}, {queue}: {}", answer.text());
        let has_figures = answer.json().get("sortingPolicy").is_some();
        assert_eq!(has_figures, figures, "{caller}, {queue}: {}", answer.text());
        // What others leave of the node shows in it.
        let has_headroom = answer.json().get("headroom").is_some_and(|one| one != &json!({}));
        assert_eq!(has_headroom, figures && caller != vic, "{caller}, {queue}: {}", answer.text());
    }
    let tree = scene.read_as(vic, "/ws/v1/partition/default/queues").await.text();
    assert!(tree.contains("root.tenants.a") && !tree.contains("root.tenants.b"), "{tree}");
}
