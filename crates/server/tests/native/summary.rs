//! Partitions at a glance.

use headroom_api::headroomv1::{Page, PartitionSummary, StampedPartition};

use crate::server::{QUEUES, Server};

fn vcore(resources: &headroom_api::wsv1::Resources) -> i64 {
    resources.0.get("vcore").copied().unwrap_or(0)
}

/// Two run in `root.a`, one waits for the limit of sue; one waits in `root.b` for a node.
async fn busy() -> Server {
    let server = Server::furnished().await;
    server.application("app1", "ann", "root.a").await;
    server.application("app2", "sue", "root.a").await;
    server.application("app3", "bob", "root.b").await;
    server.ask("app1", "a1", 2).await;
    server.ask("app2", "s1", 2).await;
    server.turn(1).await;
    server.ask("app2", "s2", 2).await;
    server.ask("app3", "b1", 7).await;
    server.turn(1).await;
    server
}

#[tokio::test]
async fn a_partition_is_told_in_sums() {
    let server = busy().await;
    server.turn(10).await;
    let StampedPartition { stamp, partition: one } =
        server.client().get_partition("default").await.unwrap();
    assert_eq!(stamp.sequence, server.service.engine.feed().newest());
    assert_eq!((&*one.name, &*one.state), ("default", "Active"));
    assert_eq!((one.nodes.active, one.nodes.draining), (1, 0));
    assert_eq!((vcore(&one.capacity), vcore(&one.allocated)), (8_000, 4_000));
    assert_eq!((vcore(&one.pending), one.allocations, one.waiting_asks), (9_000, 2, 2));
    assert_eq!(one.oldest_wait_seconds, 11);
    let states: Vec<_> = one.applications.iter().map(|(state, count)| (&**state, *count)).collect();
    assert_eq!(states, [("Accepted", 1), ("Running", 2), ("total", 3)]);
    assert_eq!(one.types, ["vcore", "memory"], "the most used first");
    let [starved] = &one.starved[..] else { panic!("{:?}", one.starved) };
    assert_eq!((&*starved.queue, &*starved.resource), ("root.a", "vcore"));
    assert_eq!((starved.guaranteed, starved.allocated, starved.pending), (5_000, 4_000, 2_000));
    assert_eq!(starved.since.to_string(), "2026-11-22T09:00:01Z");
    assert!(one.over_limit.is_empty());
    // Two placements within a minute.
    assert!((one.decisions_per_second - 2.0 / 60.0).abs() < 1e-9, "{}", one.decisions_per_second);
}

#[tokio::test]
async fn what_uses_more_than_it_may_is_named() {
    let server = busy().await;
    let lowered = QUEUES.replace("max: {vcore: 6", "max: {vcore: 5");
    let lowered =
        lowered.replace("{vcore: 2}", "{vcore: 1}").replace("max: {vcore: 5", "max: {vcore: 3");
    let lowered = lowered.replace("guaranteed: {vcore: 5}", "guaranteed: {vcore: 1}");
    server.configure(&lowered).await;
    let one = server.client().get_partition("default").await.unwrap().partition;
    let over: Vec<_> = one
        .over_limit
        .iter()
        .map(|one| (&*one.kind, &*one.name, one.queue.as_deref(), one.limit, one.used))
        .collect();
    assert_eq!(
        over,
        [("queue", "root.a", None, 3_000, 4_000), ("user", "sue", Some("root.a"), 1_000, 2_000),]
    );
}

#[tokio::test]
async fn a_submitter_sees_the_queues_that_he_may_submit_to_and_no_more() {
    let server = busy().await;
    let path = "/headroom/v1/partitions/default/summary";
    let one: StampedPartition = server.get_as("ann", path).await.json().await.unwrap();
    let one = one.partition;
    assert_eq!((vcore(&one.capacity), vcore(&one.allocated)), (0, 4_000));
    assert_eq!((vcore(&one.pending), one.allocations, one.waiting_asks), (2_000, 2, 1));
    assert_eq!(one.nodes.active, 0);
    assert_eq!(one.applications["total"], 2);
    let one: StampedPartition = server.get_as("bob", path).await.json().await.unwrap();
    assert_eq!((vcore(&one.partition.pending), one.partition.waiting_asks), (9_000, 2));
}

#[tokio::test]
async fn partitions_come_in_pages_the_default_one_first() {
    let server = Server::empty().await;
    let queue = "queues: [{name: root, submitacl: '*'}]";
    let closed = "queues: [{name: root}]";
    server
        .configure(&format!(
            "partitions: [{{name: zoo, {queue}}}, {{name: default, {queue}}}, {{name: ape, {closed}}}]"
        ))
        .await;
    let client = server.client();
    let all = client.list_partitions(None).await.unwrap();
    let names: Vec<_> = all.items.iter().map(|one| &*one.name).collect();
    assert_eq!(
        (names, all.total, all.cursor, all.hidden),
        (vec!["default", "ape", "zoo"], Some(3), None, 0)
    );

    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let rest = cursor.as_deref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let path = format!("/headroom/v1/partitions?limit=2{rest}");
        let page: Page<PartitionSummary> = server.get(&path).await.json().await.unwrap();
        seen.extend(page.items.into_iter().map(|one| one.name));
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["default", "ape", "zoo"]);

    let theirs = server.get_as("sue", "/headroom/v1/partitions").await;
    let theirs: Page<PartitionSummary> = theirs.json().await.unwrap();
    let names: Vec<_> = theirs.items.iter().map(|one| &*one.name).collect();
    assert_eq!((names, theirs.hidden), (vec!["default", "zoo"], 1));
    let hidden = server.get_as("sue", "/headroom/v1/partitions/ape/summary").await;
    assert_eq!(hidden.status(), 404, "as if it were not there");
}

#[tokio::test]
async fn without_a_queue_file_there_is_nothing() {
    let server = Server::empty().await;
    let page = server.client().list_partitions(None).await.unwrap();
    assert_eq!((page.items.len(), page.total, page.stamp.sequence), (0, Some(0), 0));
}
