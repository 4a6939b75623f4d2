//! What happens to a tenant, as a stream over a real socket.

use std::collections::VecDeque;
use std::time::Duration;

use headroom_api::headroomv1::{Frame, FrameReader, Hello, TaskState, TenantEvent};
use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::scene::{Scene, TENANTS};
use crate::support::{CALLER, Options};

struct Watched {
    response: Response,
    reader: FrameReader<TenantEvent>,
    ready: VecDeque<Frame<TenantEvent>>,
}

impl Scene {
    /// Ask for the stream of a tenant, behind a record.
    async fn asks_to_watch(
        &self,
        tenant: &str,
        caller: Option<&str>,
        last: Option<u64>,
    ) -> Response {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{}{TENANTS}/{tenant}/events", self.server.address);
        let mut request = http.get(url);
        if let Some(caller) = caller {
            request = request.header(CALLER, caller);
        }
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        request.send().await.unwrap()
    }

    async fn watch_as(&self, tenant: &str, caller: Option<&str>, last: Option<u64>) -> Watched {
        let response = self.asks_to_watch(tenant, caller, last).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Watched { response, reader: FrameReader::default(), ready: VecDeque::new() }
    }

    /// Watch a tenant from now on.
    async fn watch(&self, tenant: &str) -> Watched {
        let mut watched = self.watch_as(tenant, None, None).await;
        watched.hello().await;
        watched
    }

    async fn set_quota(&self, tenant: &str, vcore: &str) {
        let body = json!({"resources": {"vcore": vcore, "memory": "200G"}});
        let answer = self.change("PUT", &format!("{TENANTS}/{tenant}/quota"), &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    async fn lists(&self, tenant: &str) -> Value {
        self.server.json(&format!("{TENANTS}/{tenant}/waiting")).await
    }
}

impl Watched {
    async fn next(&mut self) -> Option<Frame<TenantEvent>> {
        while self.ready.is_empty() {
            let piece = timeout(Duration::from_secs(20), self.response.chunk()).await;
            let piece = piece.expect("it comes soon").unwrap()?;
            self.ready.extend(self.reader.read(&piece).unwrap());
        }
        self.ready.pop_front()
    }

    async fn hello(&mut self) -> Hello {
        match self.next().await {
            Some(Frame::Hello(hello)) => hello,
            other => panic!("{other:?} before hello"),
        }
    }

    /// The next event, and whether it is the last of its record.
    async fn event(&mut self) -> (TenantEvent, bool) {
        match self.next().await {
            Some(Frame::Event { event, last }) => (event, last),
            other => panic!("{other:?} is no event"),
        }
    }

    /// The next events in short, up to the first of this kind and task.
    async fn until(&mut self, kind: &str, task: &str) -> Vec<(String, String)> {
        let mut told = Vec::new();
        loop {
            let (event, _) = self.event().await;
            let one = (event.kind, event.task.unwrap_or(event.tenant));
            told.push(one.clone());
            if one == (kind.to_owned(), task.to_owned()) {
                return told;
            }
        }
    }
}

fn all(told: &[(&str, &str)]) -> Vec<(String, String)> {
    told.iter().map(|(kind, task)| ((*kind).to_owned(), (*task).to_owned())).collect()
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn a_stream_tells_states_places_and_quotas() {
    let scene = Scene::live().await;
    let mut told = scene.watch("a").await;
    scene.submits("a", "t1", 90, 180).await;
    let (added, _) = told.event().await;
    let shown = (&*added.kind, added.task.as_deref(), added.state, added.waiting_changed);
    assert_eq!(shown, ("taskAdded", Some("t1"), Some(TaskState::Waiting), true));
    let (starts, _) = told.event().await;
    let shown = (&*starts.kind, starts.state, starts.waiting_changed);
    assert_eq!(shown, ("allocationGranted", Some(TaskState::Starting), true));
    assert_eq!(scene.act("t1", "confirm", &Value::Null).await.status, 200);
    let (runs, _) = told.event().await;
    let shown = (&*runs.kind, runs.state, runs.waiting_changed);
    assert_eq!(shown, ("taskConfirmed", Some(TaskState::Running), false));

    scene.submits("a", "t2", 20, 40).await;
    assert_eq!(told.event().await.0.kind, "taskAdded");
    let (waits, _) = told.event().await;
    assert_eq!((&*waits.kind, waits.state), ("taskThrottled", Some(TaskState::Waiting)));
    let reason = serde_json::to_value(waits.reason.unwrap()).unwrap();
    let list = scene.lists("a").await;
    for field in ["code", "scope", "types"] {
        assert_eq!(reason[field], list["items"][0]["reason"][field], "{field}");
    }
    assert_eq!(
        (&reason["code"], &reason["types"][1]["short"]),
        (&json!("TENANT_QUOTA"), &json!(10_000)),
        "{reason}"
    );
    assert!(list["ledgerVersion"].as_u64().unwrap() >= waits.ledger_version);

    scene.set_quota("a", "120").await;
    let (set, _) = told.event().await;
    assert_eq!((&*set.kind, &*set.tenant, set.task.as_deref()), ("tenantSet", "a", None));
    let quota = serde_json::to_value(set.quota.unwrap()).unwrap();
    assert_eq!(quota["resources"]["vcore"], 120_000);
    // 180 + 40 GB are too many still.
    let grows = json!({"resources": {"vcore": "90", "memory": "160G"}});
    assert_eq!(scene.act("t1", "resize", &grows).await.status, 200);
    let (resized, _) = told.event().await;
    let resources = serde_json::to_value(resized.resources.unwrap()).unwrap();
    assert_eq!(
        (&*resized.kind, &resources["memory"]),
        ("allocationResized", &json!(160_000_000_000_i64))
    );
    assert_eq!(told.event().await.0.kind, "allocationGranted");
    scene.release("t1", "failed").await;
    let (ended, _) = told.event().await;
    assert_eq!((&*ended.kind, ended.state), ("taskEnded", Some(TaskState::Failed)));
    let answer = scene.server.get("/headroom/v1/tasks/t1").await;
    assert_eq!(answer.json()["state"], "FAILED");
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn who_comes_back_misses_nothing_and_reads_nothing_twice() {
    let scene = Scene::live().await;
    let mut told = scene.watch("a").await;
    scene.submits("a", "t1", 60, 1).await;
    assert_eq!(told.event().await.0.kind, "taskAdded");
    let (seen, last) = told.event().await;
    assert!(last && seen.kind == "allocationGranted");
    drop(told);
    scene.submits("a", "t2", 60, 1).await;
    scene.submits("b", "t3", 10, 1).await;
    scene.release("t1", "succeeded").await;
    scene.until("t2", "STARTING").await;
    let mut again = scene.watch_as("a", None, Some(seen.ledger_version)).await;
    again.hello().await;
    let missed = again.until("allocationGranted", "t2").await;
    let expected = [
        ("taskAdded", "t2"),
        ("taskThrottled", "t2"),
        ("taskEnded", "t1"),
        ("allocationGranted", "t2"),
    ];
    assert_eq!(missed, all(&expected));
    let ahead = scene.asks_to_watch("a", None, Some(1 << 40)).await;
    assert_eq!(ahead.status(), 410, "numbers of another server");
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn what_is_not_kept_any_more_is_gone_and_the_list_is_read_anew() {
    let journal = MemoryJournal::default();
    let options = Options { pace: Pace::Automatic, entries: Some(4), ..Options::default() };
    let scene = Scene::told(&journal, options).await.with_both().await;
    let seen = scene.watch_as("a", None, None).await.hello().await.sequence;
    scene.submits("a", "t1", 100, 1).await;
    for task in ["t2", "t3", "t4"] {
        scene.submits("a", task, 10, 1).await;
    }
    let gone = scene.asks_to_watch("a", None, Some(seen)).await;
    assert_eq!(gone.status(), 410);
    let problem: Value = serde_json::from_str(&gone.text().await.unwrap()).unwrap();
    assert_eq!(problem["code"], "GONE");
    assert!(problem["detail"].as_str().unwrap().contains("Start again"), "{problem}");

    let mut anew = scene.watch_as("a", None, None).await;
    let from = anew.hello().await.sequence;
    let list = scene.lists("a").await;
    assert!(list["ledgerVersion"].as_u64().unwrap() >= from, "what was before is in the list");
    assert_eq!(list["total"], 3);
    scene.release("t1", "succeeded").await;
    let (ended, _) = anew.event().await;
    assert_eq!((&*ended.kind, ended.ledger_version > from), ("taskEnded", true));
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn a_viewer_hears_of_his_tenant_and_those_below_alone() {
    let scene = Scene::at(Pace::Automatic, &MemoryJournal::default()).await;
    scene.make("dept", json!({"vcore": "50"})).await;
    for id in ["team", "other"] {
        scene.make_as(json!({"id": id, "parent": "dept"})).await;
    }
    let (viewer, above) = ("vic - tenant-viewer team", "dora - tenant-admin dept");
    let mut refusals = Vec::new();
    for tenant in ["other", "dept", "nowhere"] {
        let answer = scene.asks_to_watch(tenant, Some(viewer), None).await;
        assert_eq!(answer.status(), 403, "{tenant}");
        let problem: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        let detail = problem["detail"].as_str().unwrap().to_owned();
        refusals.push(detail.replace(&format!("{tenant:?}"), "T"));
    }
    assert!(refusals.windows(2).all(|two| two[0] == two[1]), "{refusals:?}");

    let mut his = scene.watch_as("team", Some(viewer), None).await;
    let mut hers = scene.watch_as("dept", Some(above), None).await;
    his.hello().await;
    hers.hello().await;
    scene.submits("other", "o1", 37, 0).await;
    let renamed = json!({"displayName": "The other"});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/other"), &renamed).await.status, 200);
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/dept"), &renamed).await.status, 200);
    scene.submits("team", "t1", 20, 0).await;
    // Nothing of the others came before.
    assert_eq!(his.event().await.0.task.as_deref(), Some("t1"));
    let (waits, _) = his.event().await;
    let reason = serde_json::to_value(waits.reason.unwrap()).unwrap();
    assert_eq!((&reason["code"], &reason["scope"]), (&json!("ANCESTOR_QUOTA"), &json!("dept")));
    assert_eq!(reason["types"], json!([{"type": "vcore", "asked": 20_000, "limit": 50_000}]));
    let all_of_it = [
        ("taskAdded", "o1"),
        ("allocationGranted", "o1"),
        ("tenantSet", "other"),
        ("tenantSet", "dept"),
        ("taskAdded", "t1"),
        ("taskThrottled", "t1"),
    ];
    assert_eq!(hers.until("taskThrottled", "t1").await, all(&all_of_it));
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn a_tenant_that_moves_or_goes_ends_the_streams_of_who_may_not_see_it() {
    let scene = Scene::at(Pace::Automatic, &MemoryJournal::default()).await;
    for id in ["x", "y"] {
        scene.make_as(json!({"id": id})).await;
    }
    scene.make_as(json!({"id": "team", "parent": "x"})).await;
    let mut old = scene.watch_as("team", Some("ann - tenant-viewer x"), None).await;
    let mut own = scene.watch_as("team", Some("tim - tenant-viewer team"), None).await;
    let mut above = scene.watch_as("x", Some("ann - tenant-viewer x"), None).await;
    for one in [&mut old, &mut own, &mut above] {
        one.hello().await;
    }
    let body = json!({"parent": "y", "quota": {"resources": {"vcore": "7"}}});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/team"), &body).await.status, 200);
    let Some(Frame::Bye(bye)) = old.next().await else { panic!("it is not hers any more") };
    assert_eq!((&*bye.reason, old.next().await), ("gone", None));
    // Who loses it hears that, and nothing of what it may use where it is now.
    for one in [&mut own, &mut above] {
        let (moved, _) = one.event().await;
        assert_eq!((&*moved.kind, &*moved.tenant, moved.quota), ("tenantSet", "team", None));
    }
    assert_eq!(scene.change("DELETE", &format!("{TENANTS}/team"), &Value::Null).await.status, 204);
    assert_eq!(own.event().await.0.kind, "tenantRemoved");
    let Some(Frame::Bye(bye)) = own.next().await else { panic!("nothing is left to tell") };
    assert_eq!(bye.reason, "gone");
    // What was in between is nothing of hers.
    scene.make_as(json!({"id": "next", "parent": "x"})).await;
    assert_eq!(above.event().await.0.tenant, "next");
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn one_start_is_one_event_however_many_wait_behind_it() {
    let scene = Scene::live().await;
    scene.submits("a", "first", 100, 0).await;
    for number in 0..200 {
        scene.submits("a", &format!("t{number}"), 60, 0).await;
    }
    scene.until("t199", "WAITING").await;
    let mut told = scene.watch("a").await;
    scene.release("first", "succeeded").await;
    scene.until("t0", "STARTING").await;
    let policy = json!({"waiting": {"strategy": "priority"}});
    assert_eq!(scene.change("PATCH", &format!("{TENANTS}/a"), &policy).await.status, 200);
    let expected = [("taskEnded", "first"), ("allocationGranted", "t0"), ("tenantSet", "a")];
    assert_eq!(told.until("tenantSet", "a").await, all(&expected));
    let list = scene.lists("a").await;
    assert_eq!((&list["total"], &list["items"][0]["position"]), (&json!(199), &json!(1)));
}

#[tokio::test]
#[doc(alias = "TR-44")]
async fn what_is_lost_ranked_or_declined_is_told_too() {
    let scene = Scene::live().await;
    scene.submits("a", "t1", 90, 0).await;
    scene.submits("a", "t2", 60, 0).await;
    scene.submits("a", "t3", 60, 0).await;
    let mut told = scene.watch("a").await;
    let too_much = json!({"id": "never", "resources": {"vcore": "101"}});
    assert_eq!(scene.submit("a", &too_much).await.status, 422);
    let (never, _) = told.event().await;
    assert_eq!((&*never.kind, never.task.as_deref()), ("applicationRejected", Some("never")));
    assert_eq!((never.state, &*never.reason.unwrap().code), (None, "EXCEEDS_QUOTA_ALWAYS"));

    let ranked =
        scene.send("PATCH", &format!("{TENANTS}/a/waiting/t3"), &[], &json!({"priority": 5})).await;
    assert_eq!(ranked.status, 200, "{}", ranked.text());
    let (ranked, _) = told.event().await;
    assert_eq!((ranked.task.as_deref(), ranked.waiting_changed), (Some("t3"), true));
    let members = json!({"id": "whole", "members": 3, "resources": {"vcore": "2"}});
    assert_eq!(scene.submit("b", &members).await.status, 201);

    let mut of_b = scene.watch("b").await;
    let gone = headroom_core::Command::RemoveNode {
        partition: headroom_core::Name::new("default"),
        node: headroom_core::Name::new("n1"),
    };
    scene.server.accept(gone).await;
    let (lost, _) = of_b.event().await;
    assert_eq!((lost.task.as_deref(), lost.state), (Some("whole"), Some(TaskState::Failed)));
    loop {
        let (event, _) = told.event().await;
        if event.task.as_deref() == Some("t1") {
            assert_eq!(event.state, Some(TaskState::Failed));
            break;
        }
    }
}
