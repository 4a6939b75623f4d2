//! What waits, and why.

use headroom_api::headroomv1::WaitingReasons;

use crate::server::Server;

const PATH: &str = "/headroom/v1/partitions/default/reasons";

/// `root.a` is full for ann, sue is at her limit, and bob wants more than any node has.
async fn waiting() -> Server {
    let server = Server::furnished().await;
    for (application, user, queue) in
        [("app1", "ann", "root.a"), ("app2", "sue", "root.a"), ("app3", "bob", "root.b")]
    {
        server.application(application, user, queue).await;
    }
    server.ask("app1", "a1", 4).await;
    server.ask("app2", "s1", 2).await;
    server.turn(1).await;
    for key in ["a2", "a3", "a4"] {
        server.ask("app1", key, 1).await;
    }
    server.ask("app1", "a5", 2).await;
    server.ask("app2", "s2", 1).await;
    server.ask("app3", "b1", 7).await;
    server
}

#[tokio::test]
async fn what_was_not_judged_is_next_and_then_has_its_reason() {
    let server = waiting().await;
    let found = server.client().get_reasons("default", None).await.unwrap();
    assert_eq!((found.waiting_asks, found.next_asks, found.reasons.len()), (6, 6, 0));
    server.turn(1).await;
    let found = server.client().get_reasons("default", None).await.unwrap();
    assert_eq!((found.waiting_asks, found.next_asks, found.more, found.hidden), (6, 0, 0, 0));
    assert_eq!(found.oldest.unwrap().to_string(), "2026-11-22T09:00:01Z");
    let rows: Vec<_> = found
        .reasons
        .iter()
        .map(|one| (&*one.code, &*one.scope, one.asks, one.applications, one.resources.0["vcore"]))
        .collect();
    assert_eq!(
        rows,
        [
            ("QUEUE_MAX", "root.a", 4, 2, 5_000),
            ("ROOT_CAPACITY", "root", 1, 1, 7_000),
            ("ABS_USER_LIMIT", "user sue at root.a", 1, 1, 1_000),
        ]
    );
    let [first, second, ..] = &found.reasons[0].examples[..] else { panic!("{found:?}") };
    assert_eq!((&*first.application, &*first.ask, first.asks), ("app1", "a2", 3));
    assert_eq!((&*first.queue, &*first.user), ("root.a", "ann"));
    assert_eq!(second.asks, 1);
    assert_eq!(
        first.sentence,
        "queue root.a has 0 of 6 vcore available, but the ask needs 1. \
         Wait for a release, or raise the maximum."
    );
    assert_eq!(found.reasons[0].queues, ["root.a"]);
}

#[tokio::test]
async fn a_release_moves_what_waits_to_the_next_reason() {
    let server = waiting().await;
    server.turn(1).await;
    server.release("app1", Some("a1")).await;
    server.turn(1).await;
    let found = server.client().get_reasons("default", None).await.unwrap();
    let rows: Vec<_> =
        found.reasons.iter().map(|one| (&*one.code, &*one.scope, one.asks)).collect();
    // Ann's four of 1 and one of 2 fill the room; sue stays at her limit.
    assert!(rows.contains(&("ABS_USER_LIMIT", "user sue at root.a", 1)), "{rows:?}");
    let asks: u64 = found.reasons.iter().map(|one| one.asks).sum();
    assert_eq!(asks + found.next_asks, found.waiting_asks);
    let of_user = found.reasons.iter().find(|one| one.code == "ABS_USER_LIMIT").unwrap();
    assert!(of_user.examples[0].sentence.contains("user sue"), "{of_user:?}");

    server.release("app1", None).await;
    server.release("app2", None).await;
    server.release("app3", None).await;
    server.turn(1).await;
    let found = server.client().get_reasons("default", None).await.unwrap();
    assert_eq!((found.waiting_asks, found.reasons.len(), found.oldest), (0, 0, None));
}

#[tokio::test]
async fn one_queue_alone_and_no_more_reasons_than_wanted() {
    let server = waiting().await;
    server.turn(1).await;
    let found = server.client().get_reasons("default", Some("root.B")).await.unwrap();
    assert_eq!((found.waiting_asks, &*found.reasons[0].code), (1, "ROOT_CAPACITY"));
    let found = server.get(&format!("{PATH}?limit=1")).await;
    let found: WaitingReasons = found.json().await.unwrap();
    assert_eq!((found.reasons.len(), found.more, found.waiting_asks), (1, 2, 6));
}

#[tokio::test]
async fn a_submitter_sees_his_own_asks_and_counts_of_queues_that_he_sees() {
    let server = waiting().await;
    server.turn(1).await;
    let found: WaitingReasons = server.get_as("sue", PATH).await.json().await.unwrap();
    assert_eq!((found.waiting_asks, found.hidden, found.reasons.len()), (5, 1, 2));
    let examples = found.reasons.iter().flat_map(|one| &one.examples).map(|one| &*one.user);
    assert_eq!(examples.collect::<Vec<_>>(), ["sue"]);
    let text = serde_json::to_string(&found).unwrap();
    assert!(!text.contains("root.b") && !text.contains("ann") && !text.contains("bob"), "{text}");
    let theirs: WaitingReasons = server.get_as("eve", PATH).await.json().await.unwrap();
    let scopes: Vec<_> = theirs.reasons.iter().map(|one| &*one.scope).collect();
    assert_eq!(scopes, ["root.a", "another user at root.a"], "other users are not named");
    let hidden = server.get_as("sue", &format!("{PATH}?queue=root.b")).await;
    assert_eq!(hidden.status(), 404);
}

/// What is counted does not grow with what waits: neither with asks nor with applications.
#[tokio::test]
async fn an_answer_costs_reasons_and_not_asks() {
    let server = Server::furnished().await;
    let mut seen = Vec::new();
    for (from, to) in [(0, 4), (4, 60)] {
        for number in from..to {
            server.application(&format!("app{number}"), "ann", "root.a").await;
            for key in 0..50 {
                server.ask(&format!("app{number}"), &format!("{number}-{key}"), 7).await;
            }
        }
        server.turn(1).await;
        let places =
            server.service.engine.inspect(|_, scheduler| scheduler.pending_counts().count());
        let answer = server.get(PATH).await;
        println!("{} applications: {:?}", to, answer.headers()["server-timing"]);
        let found: WaitingReasons = answer.json().await.unwrap();
        assert_eq!((found.waiting_asks, found.reasons.len()), (to * 50, 1));
        assert_eq!((found.reasons[0].applications, found.reasons[0].asks), (to, to * 50));
        assert_eq!(found.reasons[0].examples[0].asks, to * 50);
        seen.push(places.await.unwrap());
    }
    assert_eq!(seen[0], seen[1]);
}
