//! What a release starts, and what comes and goes with a node. Source: tenants TR-30, TR-53, TS-04, TS-14.

use headroom_core::{AddNode, Ask, AskEvent, Command, Event, Name, Submit};
use serde_json::{Value, json};

use crate::scene::{Scene, TENANTS};
use crate::support::amounts;

#[tokio::test]
#[doc(alias = "TS-04")]
#[doc(alias = "TR-30")]
async fn the_start_is_durable_in_the_batch_of_the_end_that_it_follows_from() {
    let scene = Scene::live().await;
    for number in 1..=9 {
        scene.submits("a", &format!("t{number}"), 10, 20).await;
    }
    scene.submits("a", "t10", 20, 40).await;
    let before = scene.server.handle.views().at_least(0).await;
    scene.release("t1", "succeeded").await;
    // One flush for two records: that of the end, and that of the start which nobody asked for.
    let after = scene.server.handle.views().at_least(0).await;
    let (flushes, records) =
        (after.work.batches() - before.work.batches(), after.work.records - before.work.records);
    assert_eq!((flushes, records), (1, 2));
    let entries = scene.server.handle.feed().read(before.sequence + 1, 2).unwrap();
    let commands: Vec<bool> = entries.iter().map(|one| one.record.command.is_some()).collect();
    assert_eq!(commands, [true, false], "the step of the scheduler follows the request");
    let places = |event: &Event| matches!(event, Event::Ask(AskEvent::Placed { .. }));
    let placed: Vec<usize> = entries
        .iter()
        .map(|one| one.record.events.iter().filter(|one| places(one)).count())
        .collect();
    assert_eq!(placed, [0, 1]);
    assert_eq!(scene.state("t10").await, "STARTING");
    let audit = scene.server.json(&format!("{TENANTS}/a/audit")).await;
    let told: Vec<(&str, u64)> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["type"].as_str().unwrap(), one["ledgerVersion"].as_u64().unwrap()))
        .collect();
    let ended = before.sequence + 1;
    assert_eq!(told[told.len() - 2..], [("TASK_ENDED", ended), ("TASK_STARTED", ended + 1)]);
}

/// What an RM tells of a node of 30 cores that has something of tenant `a` on it.
async fn node_of_30(scene: &Scene) {
    let name = Name::new;
    let node = AddNode {
        partition: name("default"),
        node: name("n2"),
        capacity: amounts([("vcore", 30_000)]),
        schedulable: true,
        ..AddNode::default()
    };
    let submit = Submit {
        partition: name("default"),
        application: name("r1"),
        tenant: name("a"),
        user: name("ann"),
        ..Submit::default()
    };
    let runs = Ask {
        partition: name("default"),
        application: name("r1"),
        key: name("r1"),
        resources: amounts([("vcore", 30_000)]),
        node: Some(name("n2")),
        ..Ask::default()
    };
    scene.server.accept(Command::AddNode(node)).await;
    // It may be known from before.
    let _ = scene.server.handle.submit(Command::Submit(submit)).await.unwrap();
    scene.server.accept(Command::Ask(runs)).await;
}

async fn figures(scene: &Scene) -> (i64, bool, Value) {
    let usage = scene.usage("a").await;
    (
        usage["used"]["vcore"].as_i64().unwrap(),
        usage["overQuota"].as_bool().unwrap(),
        usage["excess"]["vcore"].clone(),
    )
}

#[tokio::test]
#[doc(alias = "TS-14")]
#[doc(alias = "TR-53")]
async fn a_lost_node_gives_back_once_and_comes_back_above_the_quota_without_a_kill() {
    let scene = Scene::live().await;
    node_of_30(&scene).await;
    for task in ["t1", "t2"] {
        assert_eq!(scene.submits("a", task, 30, 1).await, 201);
    }
    assert_eq!(figures(&scene).await, (90_000, false, Value::Null));
    assert_eq!(scene.submits("a", "w1", 20, 1).await, 202);
    let lost = Command::RemoveNode { partition: Name::new("default"), node: Name::new("n2") };
    scene.server.accept(lost.clone()).await;
    // 90 - 30 + 20, at the moment at which the loss is reported.
    assert_eq!(figures(&scene).await, (80_000, false, Value::Null));
    assert_eq!(scene.state("w1").await, "STARTING");
    let again = scene.server.handle.submit(lost).await.unwrap().unwrap_err();
    let expected =
        "node n2 is not registered in partition default. Check the node ID, or register the node.";
    assert_eq!(again.to_string(), expected, "it is lost once");
    assert_eq!(figures(&scene).await.0, 80_000);

    node_of_30(&scene).await;
    assert_eq!(figures(&scene).await, (110_000, true, json!(10_000)));
    for task in ["t1", "t2", "w1"] {
        assert_eq!(scene.state(task).await, "STARTING", "nobody is stopped");
    }
    assert_eq!(scene.submits("a", "late", 1, 1).await, 202);
    let entry = scene.server.json(&format!("{TENANTS}/a/waiting/late")).await;
    assert_eq!(entry["reason"]["code"], "OVER_QUOTA_AFTER_LOWERING", "{entry}");
    // 110 - 20 + 1.
    scene.release("w1", "succeeded").await;
    assert_eq!(scene.state("late").await, "STARTING");
    assert_eq!(figures(&scene).await, (91_000, false, Value::Null));
}
