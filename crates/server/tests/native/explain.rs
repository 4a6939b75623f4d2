//! Why an ask waits, and what would start it.

use headroom_api::client::Sought;
use headroom_api::headroomv1::{CheckVerdict, ExplainedState, Explanation, InTurn, VerdictChange};
use serde_json::{Value, json};

use crate::server::Server;

const PATH: &str = "/headroom/v1/partitions/default/explain";

/// `root.a` may use 6 cores and is full: ann has four of them, and sue two, which is her limit.
async fn waiting() -> Server {
    let server = Server::furnished().await;
    for (application, user) in [("app1", "ann"), ("app2", "sue")] {
        server.application(application, user, "root.a").await;
    }
    server.ask("app1", "a1", 4).await;
    server.ask("app2", "s1", 2).await;
    server.turn(1).await;
    server.ask("app1", "a2", 1).await;
    server.ask("app2", "s2", 1).await;
    server.turn(1).await;
    server
}

#[tokio::test]
async fn all_checks_are_told_with_both_sides_and_who_has_most() {
    let server = waiting().await;
    let found =
        server.client().explain_application("default", "app1", Sought::default()).await.unwrap();
    assert_eq!((found.state, found.ask.as_deref()), (ExplainedState::Waiting, Some("a2")));
    assert_eq!(found.line, "waiting: QUEUE_MAX root.a: 6 of 6 vcore used, needs 1");
    assert_eq!(found.blocked_by[0].id, "QUEUE_MAX");
    let first = &found.blocked_by[0];
    let sides = (first.limit, first.used, first.asked, first.short);
    assert_eq!(sides, (Some(6_000), Some(6_000), Some(1_000), Some(1_000)));
    let holders: Vec<_> =
        first.holders.iter().map(|one| (&*one.application, &*one.user, one.amount)).collect();
    assert_eq!(holders, [("app1", "ann", 4_000), ("app2", "sue", 2_000)]);
    assert!(found.checks.iter().any(|check| check.verdict == CheckVerdict::Passed));
    assert_eq!((found.position, found.of, found.ahead), (Some(1), Some(2), Some(0)));
    assert_eq!(found.remedies, None);
    let placed =
        server.client().explain_ask("default", ("app1", "a1"), Sought::default()).await.unwrap();
    assert_eq!(placed.state, ExplainedState::Allocated);
}

#[tokio::test]
async fn what_would_start_it_is_told_where_it_is_asked_for() {
    let server = waiting().await;
    let sought = Sought { remedies: Some("raise,release"), in_turn: true, ..Sought::default() };
    let found = server.client().explain_ask("default", ("app1", "a2"), sought).await;
    let remedies = found.unwrap().remedies.unwrap();
    let told: Vec<_> =
        remedies.items.iter().map(|one| (&*one.kind, one.edits.join(", "))).collect();
    assert_eq!(
        told,
        [
            ("raise", "maximum of root.a: vcore 6 to 7".to_owned()),
            ("release", "release s1 of app2 (vcore 2)".to_owned()),
        ]
    );
    assert_eq!(remedies.in_turn, Some(InTurn::Waits));
    let turns: Vec<_> = remedies.items.iter().map(|one| one.in_turn).collect();
    assert_eq!(turns, [Some(InTurn::Starts), Some(InTurn::Starts)]);
    for wrong in ["remedies=luck", "inTurn=perhaps", "history=some"] {
        let refused = server.get_as("ann", &format!("{PATH}/asks/app1/a2?{wrong}")).await;
        assert_eq!(refused.status(), 400);
    }
}

#[tokio::test]
async fn who_may_not_read_it_is_not_told_and_others_are_summed() {
    let server = waiting().await;
    let hidden = server.get_as("sue", &format!("{PATH}/applications/app1")).await;
    assert_eq!(hidden.status(), 404);
    let missing = server.get_as("sue", &format!("{PATH}/applications/nothing")).await;
    assert_eq!(missing.status(), 404);
    let own = server.get_as("sue", &format!("{PATH}/asks/app2/s2?remedies=all")).await;
    let own: Explanation = own.json().await.unwrap();
    let text = serde_json::to_string(&own).unwrap();
    assert!(!text.contains("app1") && !text.contains("ann"), "{text}");
    let of_queue = own.blocked_by.iter().find(|check| check.id == "QUEUE_MAX").unwrap();
    assert_eq!(of_queue.holders.len(), 1);
    assert_eq!(of_queue.hidden, Some(4_000));
}

#[tokio::test]
async fn what_it_waited_for_is_told_with_times_and_records() {
    let server = Server::furnished().await;
    server.application("app1", "ann", "root.a").await;
    server.application("app2", "bob", "root.b").await;
    for (application, key) in [("app1", "a1"), ("app1", "a2"), ("app2", "b1")] {
        server.ask(application, key, 3).await;
        server.turn(1).await;
    }
    let history = async |key| {
        let client = server.client();
        client.explain_ask("default", ("app2", key), Sought::default()).await.unwrap().history
    };
    let first = history("b1").await;
    let told = |all: &[VerdictChange]| all.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
    assert_eq!(told(&first), ["ROOT_CAPACITY"]);
    let before = server.service.engine.views().at_least(0).await.sequence;
    // There is enough in all, and on no node.
    server.node("n2", 2).await;
    server.turn(4).await;
    let then = history("b1").await;
    assert_eq!(told(&then), ["ROOT_CAPACITY", "NO_NODE_FITS"]);
    assert_eq!(then[0], first[0]);
    assert!(first[0].sequence <= before && before < then[1].sequence, "{then:?} {before}");
    assert_eq!(then[1].at.duration_since(then[0].at).as_secs(), 4);
    let all = Sought { all_changes: true, ..Sought::default() };
    let read = server.client().explain_ask("default", ("app2", "b1"), all).await.unwrap();
    // There, the state after every record is checked at once, and a reserved node is reported.
    assert_eq!(told(&read.history), ["ROOT_CAPACITY", "NO_NODE_FITS", "NODE_RESOURCES"]);
    assert_eq!(read.history[0], then[0]);
    let placed = server.client().explain_ask("default", ("app1", "a1"), all).await.unwrap();
    assert_eq!((placed.state, placed.history), (ExplainedState::Allocated, Vec::new()));
}

#[tokio::test]
async fn whose_ask_is_the_next_is_told_to_those_who_may_see_it() {
    let server = Server::furnished().await;
    for (application, user) in [("app1", "ann"), ("app2", "sue")] {
        server.application(application, user, "root.a").await;
        server.ask(application, &format!("{application}-1"), 1).await;
    }
    let path = format!("{PATH}/applications/app2");
    let seen: Explanation =
        server.client().explain_application("default", "app2", Sought::default()).await.unwrap();
    let order = &seen.blocked_by[0];
    assert_eq!((seen.state, &*order.id), (ExplainedState::HeldBack, "ORDER_BEHIND"));
    let next: Vec<_> = order.holders.iter().map(|one| (&*one.application, one.amount)).collect();
    assert_eq!(next, [("app1", 0)]);
    let own: Explanation = server.get_as("sue", &path).await.json().await.unwrap();
    assert_eq!((&*own.blocked_by[0].id, own.blocked_by[0].holders.len()), ("ORDER_BEHIND", 0));
    assert!(!serde_json::to_string(&own).unwrap().contains("app1"), "{own:?}");
}

/// Returns the answer to a caller about something that is not submitted. Without a user, the caller is the
/// administrator.
async fn would_run(server: &Server, user: Option<&str>, body: &Value) -> (u16, Value) {
    let mut request = server.http.post(server.url(&format!("{PATH}?remedies=raise"))).json(body);
    if let Some(user) = user {
        request = request.header("x-user", user);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn what_is_not_submitted_is_explained_as_if_it_were_and_nothing_happens() {
    let server = waiting().await;
    let before = server.service.engine.views().at_least(0).await.sequence;
    let body = json!({"queue": "root.a", "user": "ann", "resources": {"vcore": "2"}});
    let (status, told) = would_run(&server, None, &body).await;
    assert_eq!(status, 200, "{told}");
    assert_eq!(told["line"], "waiting: QUEUE_MAX root.a: 6 of 6 vcore used, needs 2");
    assert_eq!((&told["wouldStart"], &told["of"]), (&json!(0), &json!(3)));
    assert_eq!(told["remedies"]["items"][0]["edits"], json!(["maximum of root.a: vcore 6 to 8"]));
    let body = json!({"queue": "root.b", "user": "bob", "resources": {"vcore": "1"}, "members": 3});
    let (_, told) = would_run(&server, None, &body).await;
    assert_eq!((&told["state"], &told["wouldStart"]), (&json!("waiting"), &json!(2)), "{told}");
    let body = json!({"queue": "root.b", "user": "bob", "resources": {"vcore": "1"}, "gang": true});
    let (_, told) = would_run(&server, None, &body).await;
    assert_eq!((&told["state"], &told["wouldStart"]), (&json!("startsNext"), &json!(1)), "{told}");
    let after = server.service.engine.views().at_least(0).await;
    assert_eq!((after.sequence, after.books.applications().iter().count()), (before, 2));
}

#[tokio::test]
async fn what_would_be_declined_tells_of_no_queue_that_the_caller_does_not_see() {
    let server = waiting().await;
    let body = |queue: &str| json!({"queue": queue, "resources": {"vcore": "1"}});
    let (_, hidden) = would_run(&server, Some("ann"), &body("root.b")).await;
    let (_, missing) = would_run(&server, Some("ann"), &body("root.nowhere")).await;
    assert_eq!((&hidden["state"], &hidden["code"]), (&json!("rejected"), &json!("PL-REJECTED")));
    assert_eq!(hidden["sentence"], missing["sentence"]);
    assert_eq!(hidden["line"], missing["line"]);
    // A caller who sees the queue gets the reason.
    let (_, told) = would_run(
        &server,
        None,
        &json!({
            "queue": "root.b", "user": "ann", "resources": {"vcore": "1"},
        }),
    )
    .await;
    assert!(told["sentence"].as_str().unwrap().contains("root.b"), "{told}");
    let (_, parent) = would_run(&server, Some("ann"), &body("root.a.x")).await;
    assert!(parent["sentence"].as_str().unwrap().contains("root.a.x"), "{parent}");
    // For a hypothetical ask of their own, callers see what they see of their submissions.
    let (_, own) = would_run(&server, Some("sue"), &body("root.a")).await;
    let text = own.to_string();
    assert!(!text.contains("app1") && !text.contains("ann"), "{text}");
}

#[tokio::test]
async fn who_does_not_see_everything_asks_for_himself_alone() {
    let server = waiting().await;
    let task = json!({"tenant": "lab", "resources": {"vcore": "1"}});
    let (status, told) = would_run(&server, Some("ann"), &task).await;
    assert_eq!((status, &told["code"]), (409, &json!("TENANTS_OFF")), "{told}");
    for (more, status) in [
        (json!({"user": "sue"}), 403),
        (json!({"groups": ["ops"]}), 403),
        (json!({"tenant": "lab"}), 422),
        (json!({"members": 0}), 422),
        (json!({"members": 1001}), 422),
        (json!({"resources": {"vcore": "much"}}), 422),
        (json!({"tenant": "lab", "gang": true}), 422),
        (json!({"colour": "red"}), 400),
        (json!({"user": "ann"}), 200),
    ] {
        let mut body = json!({"queue": "root.a", "resources": {"vcore": "1"}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (found, told) = would_run(&server, Some("ann"), &body).await;
        assert_eq!(found, status, "{body}: {told}");
    }
}
