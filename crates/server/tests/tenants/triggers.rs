//! Whatever may let a task start has it looked at in the same moment; and if that were forgotten, a look each
//! second would find it. Tenants §2.4.

use headroom_core::{AddNode, Command, Name};
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS};
use crate::support::amounts;

const A: &str = "/headroom/v1/tenants/a";

/// What was found by a sweep alone, of all tenants.
async fn rescued(scene: &Scene) -> u64 {
    let text = scene.server.get("/metrics").await.text();
    let lines = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("headroom_tenant_sweep_rescued_total{")?;
        rest.rsplit_once(' ')?.1.parse::<u64>().ok()
    });
    lines.sum()
}

/// `t1` has 60 and `t2` 40 of the 100 cores of `a`; `waits` wants this many.
async fn full(vcore: u32) -> Scene {
    let scene = Scene::start().await;
    scene.submits("a", "t1", 60, 1).await;
    scene.submits("a", "t2", 40, 1).await;
    scene.server.turn(1_000).await;
    scene.submits("a", "waits", vcore, 1).await;
    scene.server.turn(1_000).await;
    scene.is("waits", "WAITING").await;
    scene
}

/// `waits` has waited for 150 seconds and counts one more each 60, so 2 by now: `urgent`, with 3, goes first. It needs
/// all of the quota, and keeps what `t1` gave back.
async fn overtaken() -> Scene {
    let scene = Scene::empty().await;
    let waiting = json!({
        "strategy": "priority", "agingIntervalSeconds": 60, "agingStep": 1, "agingMax": 20, "maxOvertakes": 0
    });
    let quota = json!({"resources": {"vcore": "10"}});
    scene.make_as(json!({"id": "a", "quota": quota, "waiting": waiting})).await;
    for (task, vcore) in [("t1", 5), ("t2", 5), ("waits", 5)] {
        scene.submits("a", task, vcore, 1).await;
        scene.server.turn(0).await;
    }
    scene.server.turn(150_000).await;
    let urgent = json!({"id": "urgent", "resources": {"vcore": "10"}, "priority": 3});
    assert_eq!(scene.submit("a", &urgent).await.status, 202);
    scene.release("t1", "succeeded").await;
    scene
}

impl Scene {
    async fn is(&self, task: &str, state: &str) {
        assert_eq!(self.state(task).await, state, "task {task}");
    }

    /// A task starts now, without any time, and no sweep had to find it.
    async fn starts(&self, task: &str) {
        self.server.turn(0).await;
        self.is(task, "STARTING").await;
        assert_eq!(rescued(self).await, 0, "what started {task}");
    }

    async fn acts(&self, task: &str, what: &str, body: &Value) {
        let answer = self.act(task, what, body).await;
        assert!(matches!(answer.status, 200 | 202), "{what} {task}: {}", answer.text());
    }

    async fn changes(&self, method: &str, path: &str, body: &Value) {
        let answer = self.change(method, path, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn the_end_the_failure_and_the_cancel_of_a_task_start_what_waits() {
    for (outcome, word) in [("succeeded", "SUCCEEDED"), ("failed", "FAILED")] {
        let scene = full(40).await;
        scene.release("t2", outcome).await;
        scene.starts("waits").await;
        scene.is("t2", word).await;
    }
    let scene = full(40).await;
    scene.acts("t2", "cancel", &Value::Null).await;
    scene.server.turn(0).await;
    scene.is("waits", "WAITING").await;
    scene.is("t2", "CANCELLING").await;
    scene.release("t2", "failed").await;
    scene.starts("waits").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn a_confirmed_eviction_starts_what_waits() {
    let scene = full(20).await;
    let on_lower = json!({"onLower": {"action": "preempt", "graceSeconds": 1}});
    scene.changes("PATCH", A, &on_lower).await;
    let quota = json!({"resources": {"vcore": "80"}});
    scene.changes("PUT", &format!("{A}/quota"), &quota).await;
    scene.server.turn(2_000).await;
    // The younger of the two; 60 would be left, so 20 fit. Until its end is confirmed nothing is free.
    scene.is("t2", "EVICTING").await;
    scene.is("waits", "WAITING").await;
    scene.release("t2", "failed").await;
    scene.starts("waits").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn a_task_that_shrinks_and_a_quota_that_grows_start_what_waits() {
    let scene = full(20).await;
    scene.acts("t2", "resize", &json!({"resources": {"vcore": "20", "memory": "1G"}})).await;
    scene.starts("waits").await;
    let scene = full(20).await;
    let quota = json!({"resources": {"vcore": "120", "memory": "200G"}});
    scene.changes("PUT", &format!("{A}/quota"), &quota).await;
    scene.starts("waits").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn a_tenant_that_is_resumed_and_another_policy_start_what_waits() {
    let scene = Scene::start().await;
    scene.changes("PATCH", A, &json!({"state": "suspended"})).await;
    scene.submits("a", "waits", 20, 1).await;
    scene.server.turn(1_000).await;
    scene.is("waits", "WAITING").await;
    scene.changes("PATCH", A, &json!({"state": "active"})).await;
    scene.starts("waits").await;
    // 95 of 100 are used; the head wants 20, and nobody goes before it as long as the order is strict.
    let scene = Scene::start().await;
    for (task, vcore) in [("t1", 95), ("head", 20), ("waits", 5)] {
        scene.submits("a", task, vcore, 1).await;
        scene.server.turn(1_000).await;
    }
    scene.is("waits", "WAITING").await;
    scene.changes("PATCH", A, &json!({"waiting": {"strategy": "fifo-backfill"}})).await;
    scene.starts("waits").await;
    scene.is("head", "WAITING").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn the_cancel_of_the_head_of_the_line_starts_the_next() {
    let scene = Scene::start().await;
    for (task, vcore) in [("t1", 95), ("head", 20), ("waits", 5)] {
        scene.submits("a", task, vcore, 1).await;
        scene.server.turn(1_000).await;
    }
    scene.is("waits", "WAITING").await;
    scene.acts("head", "cancel", &Value::Null).await;
    scene.starts("waits").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn a_node_that_comes_and_one_that_has_room_again_start_what_waits() {
    // Of 128 cores 100 are used by `a`, so that 40 of `b` find no node.
    let node = |node: &str, vcore: i64| AddNode {
        partition: Name::new("default"),
        node: Name::new(node),
        capacity: amounts([("vcore", vcore * 1_000), ("memory", 256_000_000_000)]),
        schedulable: true,
        ..AddNode::default()
    };
    let short = || async {
        let scene = Scene::start().await;
        scene.submits("a", "t1", 100, 1).await;
        scene.server.turn(1_000).await;
        scene.submits("b", "waits", 40, 1).await;
        scene.server.turn(1_000).await;
        scene.is("waits", "WAITING").await;
        scene
    };
    let scene = short().await;
    scene.server.accept(Command::AddNode(node("n2", 40))).await;
    scene.starts("waits").await;
    let scene = short().await;
    let AddNode { partition, capacity, .. } = node("n1", 140);
    let grown = Command::ResizeNode { partition, node: Name::new("n1"), capacity };
    scene.server.accept(grown).await;
    scene.starts("waits").await;
    let scene = short().await;
    scene.release("t1", "succeeded").await;
    scene.starts("waits").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn a_task_that_has_waited_long_enough_goes_first_and_starts() {
    let scene = overtaken().await;
    scene.server.turn(29_999).await;
    scene.is("waits", "WAITING").await;
    // After 180 seconds it counts as 3, as the other does, and is older.
    scene.server.turn(1).await;
    scene.is("waits", "STARTING").await;
    assert_eq!(rescued(&scene).await, 0);
    scene.is("urgent", "WAITING").await;
}

#[tokio::test]
#[doc(alias = "TR-32")]
async fn what_no_trigger_woke_is_found_within_a_second_started_and_counted() {
    let scene = full(40).await;
    scene.release("t2", "succeeded").await;
    scene.server.handle.spoil(|_, scheduler| scheduler.miss()).await.unwrap();
    scene.server.turn(0).await;
    scene.is("waits", "WAITING").await;
    scene.server.turn(999).await;
    scene.is("waits", "WAITING").await;
    scene.server.turn(1).await;
    scene.is("waits", "STARTING").await;
    let text = scene.server.get("/metrics").await.text();
    for series in ["{tenant=\"a\"} 1", "{tenant=\"b\"} 0"] {
        let line = format!("headroom_tenant_sweep_rescued_total{series}\n");
        assert!(text.contains(&line), "{line}");
    }
    let listed = scene.server.json(&format!("{TENANTS}/a/tasks?state=STARTING")).await;
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2));
}

/// The tick that makes an old task count as more urgent is forgotten.
#[tokio::test]
#[doc(alias = "TR-32")]
async fn a_forgotten_tick_of_ageing_is_found_too() {
    let scene = overtaken().await;
    scene.server.turn(1_000).await;
    scene.server.handle.spoil(|_, scheduler| scheduler.miss()).await.unwrap();
    scene.server.turn(29_000).await;
    scene.is("waits", "STARTING").await;
    assert!(rescued(&scene).await > 0);
}
