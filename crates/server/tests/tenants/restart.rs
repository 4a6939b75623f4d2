//! What a server knows that goes on where another ended, and when it starts something again. Tenants §2.6,
//! decision page 36.

use headroom_core::{AllocationEvent, AskEvent, Event, Name};
use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS};

const QUOTA: &str = "/headroom/v1/tenants/a/quota";

/// 75 of 100 cores of `a` are used, and three tasks of 30 wait. Then the server ends.
async fn ended() -> MemoryJournal {
    let journal = MemoryJournal::default();
    let scene = Scene::at(Pace::ByHand, &journal).await;
    scene.make("a", json!({"vcore": "100"})).await;
    for (task, vcore) in [("t1", 50), ("t2", 25), ("w1", 30), ("w2", 30), ("w3", 30)] {
        scene.submits("a", task, vcore, 1).await;
        scene.server.turn(1_000).await;
    }
    assert_eq!(scene.used("a", "vcore").await, 75_000);
    scene.ends().await;
    journal
}

/// What waits, in its order, each with its reason.
async fn waiting(scene: &Scene) -> Vec<(String, String)> {
    let list = scene.server.json(&format!("{TENANTS}/a/waiting")).await;
    let of = |one: &Value| {
        let code = one["reason"]["code"].as_str().unwrap_or("none");
        (one["task"].as_str().unwrap().to_owned(), code.to_owned())
    };
    list["items"].as_array().unwrap().iter().map(of).collect()
}

fn all(code: [&str; 3]) -> Vec<(String, String)> {
    let tasks = ["w1", "w2", "w3"].into_iter().zip(code);
    tasks.map(|(task, code)| (task.to_owned(), code.to_owned())).collect()
}

async fn raise(scene: &Scene) {
    let raised = scene.change("PUT", QUOTA, &json!({"resources": {"vcore": "200"}})).await;
    assert_eq!(raised.status, 200, "{}", raised.text());
}

/// What happened since a record that starts or stops anything.
fn moved(scene: &Scene, behind: u64) -> Vec<Event> {
    let entries = scene.server.handle.feed().read(behind + 1, 1_000).unwrap();
    let events = entries.iter().flat_map(|entry| entry.record.events.clone());
    let moves = events.filter(|event| {
        matches!(
            event,
            Event::Ask(AskEvent::Placed { .. })
                | Event::Allocation(
                    AllocationEvent::Released { .. } | AllocationEvent::Preempted { .. }
                )
        )
    });
    moves.collect()
}

#[tokio::test]
#[doc(alias = "TR-54")]
#[doc(alias = "TS-15")]
async fn after_a_restart_nothing_starts_before_the_nodes_have_reported() {
    let journal = ended().await;
    let scene = Scene::again(&journal).await;
    let begun = scene.server.engine.begin().sequence;
    scene.server.turn(1_000).await;
    // Use, order and ids are as they were.
    assert_eq!(scene.used("a", "vcore").await, 75_000);
    assert_eq!(waiting(&scene).await, all(["TENANT_QUOTA"; 3]));
    for (task, state) in [("t1", "STARTING"), ("t2", "STARTING"), ("w3", "WAITING")] {
        assert_eq!(scene.state(task).await, state, "{task}");
    }
    // 75 + 30 fit now, and would have started if the node were known to be there.
    raise(&scene).await;
    scene.server.turn(1_000).await;
    assert_eq!(waiting(&scene).await, all(["RECOVERING"; 3]));
    let list = scene.server.json(&format!("{TENANTS}/a/waiting")).await;
    let sentence = list["items"][0]["reason"]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("1 of 1 nodes has not reported"), "{sentence}");
    // What is submitted meanwhile is taken, and waits in its place.
    assert_eq!(scene.submits("a", "late", 1, 1).await, 202);
    scene.server.turn(1_000).await;
    assert_eq!(moved(&scene, begun), [], "nothing starts, and nothing is stopped");
    assert_eq!(scene.state("late").await, "WAITING");
    scene.server.accept(Scene::node()).await;
    scene.server.turn(0).await;
    // 75 + 30 = 105 of 128; 135 are more than the node has, 106 are not, and `late` may pass... if the head lets it.
    assert_eq!(scene.state("w1").await, "STARTING");
    let first = moved(&scene, begun);
    let Some(Event::Ask(AskEvent::Placed { .. })) = first.first() else { panic!("{first:?}") };
    assert!(!first.iter().any(|event| matches!(
        event,
        Event::Allocation(AllocationEvent::Preempted { .. } | AllocationEvent::Released { .. })
    )));
    assert_eq!(
        scene.used("a", "instances").await,
        3 + i64::from(scene.state("late").await == "STARTING")
    );
}

#[tokio::test]
#[doc(alias = "TR-54")]
async fn after_the_timeout_it_goes_on_without_the_nodes_that_have_not_reported() {
    let journal = ended().await;
    let scene = Scene::again(&journal).await;
    // It goes on where the other ended.
    scene.server.turn(0).await;
    raise(&scene).await;
    // 60 seconds are as by default.
    scene.server.turn(59_999).await;
    assert_eq!(waiting(&scene).await, all(["RECOVERING"; 3]));
    let mut other = Scene::node();
    if let headroom_core::Command::AddNode(node) = &mut other {
        node.node = Name::new("n2");
    }
    // One that is new is none that is awaited.
    scene.server.accept(other).await;
    scene.server.turn(0).await;
    assert_eq!(waiting(&scene).await, all(["RECOVERING"; 3]));
    scene.server.turn(1).await;
    for (task, state) in
        [("w1", "STARTING"), ("w2", "STARTING"), ("w3", "STARTING"), ("t1", "STARTING")]
    {
        scene.until(task, state).await;
        let shown = scene.server.json(&format!("/headroom/v1/tasks/{task}")).await;
        let node = if task == "t1" { "n1" } else { "n2" };
        assert_eq!(shown["node"], json!(node), "{task}: what has not reported takes nothing more");
    }
    // It comes late, and is not refused as one that is there.
    scene.server.accept(Scene::node()).await;
    scene.submits("a", "more", 35, 1).await;
    scene.server.turn(0).await;
    assert_eq!(scene.server.json("/headroom/v1/tasks/more").await["node"], json!("n1"));
    let twice = scene.server.handle.submit(Scene::node()).await.unwrap();
    assert_eq!(
        twice.map_err(|rejection| rejection.code().as_str()),
        Err("DUPLICATE_NODE"),
        "it has reported"
    );
}

#[tokio::test]
#[doc(alias = "TR-54")]
async fn where_there_is_nobody_to_wait_for_nothing_waits() {
    let journal = MemoryJournal::default();
    let first = Scene::again(&journal).await;
    first.make("a", json!({"vcore": "100"})).await;
    first.server.accept(Scene::node()).await;
    assert_eq!(first.submits("a", "t1", 10, 1).await, 202);
    first.server.turn(0).await;
    assert_eq!(first.state("t1").await, "STARTING", "there was no node before");
}
