//! The prediction for a task before its submission is what happens.

use headroom_core::Millis;
use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use serde_json::{Value, json};

use super::scene::{Scene, TENANTS};
use crate::support::CALLER;

impl Scene {
    async fn check_as(&self, caller: Option<&str>, tenant: &str, task: &Value) -> (u16, Value) {
        let path = format!("{TENANTS}/{tenant}/quota/check");
        let headers: Vec<(&str, &str)> =
            caller.map(|caller| (CALLER, caller)).into_iter().collect();
        let answer = self.send("POST", &path, &headers, task).await;
        (answer.status, serde_json::from_str(&answer.text()).unwrap())
    }

    async fn check(&self, tenant: &str, resources: Value) -> Value {
        let (status, told) = self.check_as(None, tenant, &json!({"resources": resources})).await;
        assert_eq!(status, 200, "{told}");
        told
    }
}

#[tokio::test]
#[doc(alias = "TR-82")]
async fn a_check_says_what_a_submission_then_finds_and_changes_nothing() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 90, 180).await;
    let before = scene.server.handle.feed().newest();
    let fits = scene.check("a", json!({"vcore": "10", "memory": "20G"})).await;
    assert_eq!(
        (&fits["fits"], &fits["reasons"], fits.get("position")),
        (&json!(true), &json!([]), None)
    );

    let short = scene.check("a", json!({"vcore": "20", "memory": "40G"})).await;
    assert_eq!(
        (&short["fits"], &short["position"], &short["of"]),
        (&json!(false), &json!(1), &json!(1))
    );
    let usage = scene.usage("a").await;
    assert_eq!(
        (&short["ledgerVersion"], &usage["used"]["vcore"]),
        (&json!(before), &json!(90_000))
    );
    assert_eq!(scene.server.handle.feed().newest(), before, "nothing was changed");
    assert_eq!(scene.server.json(&format!("{TENANTS}/a/waiting")).await["total"], 0);

    // What then waits has the same place and the same reason, to the letter.
    scene.submits("a", "t2", 20, 40).await;
    let waits = scene.server.json(&format!("{TENANTS}/a/waiting/t2")).await;
    assert_eq!(short["reasons"], json!([waits["reason"]]));
    assert_eq!(short["position"], waits["position"]);
    // What would fit by itself is behind the first in line now.
    let behind = scene.check("a", json!({"vcore": "5"})).await;
    scene.submits("a", "t3", 5, 0).await;
    let waits = scene.server.json(&format!("{TENANTS}/a/waiting/t3")).await;
    assert_eq!((&behind["position"], &behind["of"]), (&json!(2), &json!(2)));
    assert_eq!(behind["reasons"], json!([waits["reason"]]));
    assert_eq!(behind["reasons"][0]["code"], "BEHIND_HEAD");
}

#[tokio::test]
#[doc(alias = "TR-82")]
async fn room_suspension_and_refusals_are_told_as_they_would_be_met() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 100, 10).await;
    // 128 cores less 100 are less than 30, which the quota of `b` has.
    let room = scene.check("b", json!({"vcore": "30"})).await;
    scene.submits("b", "t2", 30, 0).await;
    let waits = scene.server.json(&format!("{TENANTS}/b/waiting/t2")).await;
    assert_eq!(room["reasons"], json!([waits["reason"]]));
    assert_eq!(room["reasons"][0]["types"].as_array().map_or(0, Vec::len), 0, "no quota is short");

    let never = scene.check("a", json!({"vcore": "101"})).await;
    assert_eq!((&never["fits"], never.get("position")), (&json!(false), None), "{never}");
    assert_eq!(never["reasons"][0]["code"], "EXCEEDS_QUOTA_ALWAYS");
    let taken = json!({"id": "t1", "resources": {"vcore": "1"}});
    assert_eq!(scene.check_as(None, "a", &taken).await.0, 409);
    let unknown = json!({"resources": {"vcore": "1"}});
    assert_eq!(scene.check_as(None, "nobody", &unknown).await.0, 404);
    assert_eq!(scene.check_as(None, "a", &json!({"resources": {"vcore": "x"}})).await.0, 422);

    let path = format!("{TENANTS}/b");
    assert_eq!(scene.change("PATCH", &path, &json!({"state": "suspended"})).await.status, 200);
    let suspended = scene.check("b", json!({"vcore": "1"})).await;
    assert_eq!(suspended["reasons"][0]["code"], "TENANT_SUSPENDED", "{suspended}");
}

#[tokio::test]
#[doc(alias = "TR-82")]
async fn a_task_of_several_members_is_checked_as_a_whole() {
    let scene = Scene::live().await;
    let whole =
        |members: u32, vcore: &str| json!({"members": members, "resources": {"vcore": vcore}});
    let check = async |members, vcore| scene.check_as(None, "a", &whole(members, vcore)).await.1;
    assert_eq!(check(4, "25").await["fits"], true, "100 of 100");
    let never = check(5, "25").await;
    assert_eq!(
        (&never["fits"], &never["reasons"][0]["code"]),
        (&json!(false), &json!("EXCEEDS_QUOTA_ALWAYS"))
    );
    scene.submits("a", "t1", 10, 0).await;
    let waits = check(4, "25").await;
    let submitted = json!({"id": "w1", "members": 4, "resources": {"vcore": "25"}});
    assert_eq!(scene.submit("a", &submitted).await.status, 202);
    let shown = scene.server.json(&format!("{TENANTS}/a/waiting/w1")).await;
    assert_eq!((&waits["position"], &waits["reasons"]), (&json!(1), &json!([shown["reason"]])));
    assert_eq!(waits["reasons"][0]["types"][0]["short"], 10_000, "10 + 100 of 100");

    // The quota of `b` has room for 40; the node, with 128 less 100, for none of 30 and one of 20.
    assert_eq!(scene.act("w1", "cancel", &Value::Null).await.status, 200);
    scene.submits("a", "t2", 90, 0).await;
    for (id, members, vcore) in [("w2", 2, "20"), ("w3", 1, "30")] {
        let asked = json!({"id": id, "members": members, "resources": {"vcore": vcore}});
        let foreseen = scene.check_as(None, "b", &asked).await.1;
        assert_eq!(scene.submit("b", &asked).await.status, 202, "{id}");
        let shown = scene.server.json(&format!("{TENANTS}/b/waiting/{id}")).await;
        assert_eq!(foreseen["reasons"], json!([shown["reason"]]), "{id}");
        assert_eq!(scene.act(id, "cancel", &Value::Null).await.status, 200);
    }
    assert_eq!(scene.submit("b", &whole(1, "20")).await.status, 201);
}

#[tokio::test]
#[doc(alias = "TR-82")]
async fn a_viewer_checks_his_own_tenant_and_learns_nothing_of_others() {
    let scene = Scene::at(Pace::Automatic, &MemoryJournal::default()).await;
    scene.make_as(json!({"id": "dept", "quota": {"resources": {"vcore": "100"}}})).await;
    for id in ["a", "b"] {
        let quota = json!({"resources": {"vcore": "80"}});
        scene.make_as(json!({"id": id, "parent": "dept", "quota": quota})).await;
    }
    scene.submits("a", "t1", 70, 0).await;
    let asks = json!({"resources": {"vcore": "40"}});
    let (status, told) = scene.check_as(Some("vic - tenant-viewer b"), "b", &asks).await;
    assert_eq!(status, 200, "{told}");
    let reason = &told["reasons"][0];
    assert_eq!((&reason["code"], &reason["scope"]), (&json!("ANCESTOR_QUOTA"), &json!("dept")));
    assert_eq!(reason["types"], json!([{"type": "vcore", "asked": 40_000, "limit": 100_000}]));
    assert!(!told.to_string().contains("70000") && !told.to_string().contains("30000"), "{told}");
    let (status, _) = scene.check_as(Some("vic - tenant-viewer b"), "a", &asks).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn a_task_that_is_not_submitted_is_explained_with_all_its_checks() {
    const EXPLAIN: &str = "/headroom/v1/partitions/default/explain";
    let scene = Scene::live().await;
    scene.submits("a", "t1", 90, 180).await;
    let explain = async |caller: Option<&str>, body: Value| {
        let headers: Vec<(&str, &str)> =
            caller.map(|caller| (CALLER, caller)).into_iter().collect();
        let answer = scene.send("POST", EXPLAIN, &headers, &body).await;
        let told: Value = serde_json::from_str(&answer.text()).unwrap();
        (answer.status, told)
    };
    let task = |tenant: &str, vcores: &str, members: u32| json!({"tenant": tenant, "resources": {"vcore": vcores}, "members": members});
    let (status, fits) = explain(None, task("a", "5", 2)).await;
    assert_eq!(
        (status, &fits["state"], &fits["wouldStart"]),
        (200, &json!("startsNext"), &json!(2))
    );
    // Members start together, or none does.
    let (_, short) = explain(None, task("a", "5", 3)).await;
    assert_eq!((&short["state"], &short["wouldStart"]), (&json!("waiting"), &json!(0)), "{short}");
    let check = scene.check("a", json!({"vcore": "15"})).await;
    assert_eq!(check["reasons"][0]["code"], "TENANT_QUOTA", "{check}");
    assert_eq!(short["blockedBy"][0]["id"], "TENANT_QUOTA");
    let (_, never) = explain(None, task("a", "101", 1)).await;
    assert_eq!(
        (&never["state"], &never["code"]),
        (&json!("rejected"), &json!("EXCEEDS_QUOTA_ALWAYS"))
    );
    let (status, _) = explain(None, task("nowhere", "1", 1)).await;
    assert_eq!(status, 404);
    assert_eq!(scene.server.json(&format!("{TENANTS}/a/waiting")).await["total"], 0);
}

#[tokio::test]
#[doc(alias = "NS-50")]
async fn since_when_a_tenant_is_suspended_is_told_by_the_scheduler_as_by_the_journal() {
    let scene = Scene::live().await;
    for (task, vcores) in [("t1", 90), ("t2", 30)] {
        scene.submits("a", task, vcores, 0).await;
    }
    let path = "/headroom/v1/partitions/default/explain/applications/t2";
    let waits = scene.server.json(path).await;
    assert_eq!(waits["blockedBy"][0]["id"], "TENANT_QUOTA");
    scene.server.clock.advance(Millis::new(1_500));
    let suspended = json!({"state": "suspended"});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/a"), &suspended).await.status, 200);
    let told = scene.server.json(&format!("{path}?remedies=all")).await;
    let codes: Vec<_> = told["history"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(codes, ["TENANT_QUOTA", "TENANT_SUSPENDED"]);
    assert_eq!(told["since"], told["history"][1]["at"]);
    let read = scene.server.json(&format!("{path}?history=all")).await;
    assert_eq!(read["history"], told["history"]);
    let first = &told["remedies"]["items"][0];
    assert_eq!((&first["kind"], &first["edits"][0]), (&json!("raise"), &json!("resume tenant a")));
}
