//! Plans of queue files over HTTP, and files that are taken into force as announced.

use headroom_api::client::ClientError;
use headroom_api::headroomv1::{Plan, PlanValue};
use headroom_core::{Command, Name, Termination};

use crate::server::{QUEUES, Server};

/// `root.a` may use 6 cores and is full, and an ask for 2 cores waits.
async fn full() -> Server {
    let server = Server::furnished().await;
    server.application("app1", "ann", "root.a").await;
    server.ask("app1", "a1", 6).await;
    server.ask("app1", "a2", 2).await;
    server.turn(1).await;
    server
}

/// The file in force with so many cores for `root.a`.
fn with_cores(cores: u32) -> String {
    QUEUES.replace("max: {vcore: 6,", &format!("max: {{vcore: {cores},"))
}

async fn plan(server: &Server, file: &str) -> Plan {
    server.client().plan_config(file).await.unwrap()
}

fn digest(plan: &Plan) -> &str {
    &plan.effects.as_ref().unwrap().digest
}

fn refusal(error: ClientError) -> (u16, String, String) {
    match error {
        ClientError::Refused(refusal) => {
            (refusal.status, refusal.code.unwrap_or_default(), refusal.reason)
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_plan_is_made_of_the_books_of_now_and_changes_nothing() {
    let server = full().await;
    let before = server.service.engine.views().at_least(0).await;
    let plan = plan(&server, &with_cores(8)).await;
    let after = server.service.engine.views().at_least(0).await;
    assert_eq!((plan.sequence, after.sequence), (before.sequence, before.sequence));
    assert_eq!(before.books, after.books);
    assert_eq!(plan.checksum, headroom_config::checksum(&with_cores(8)));
    assert!(plan.epoch.is_some() && plan.as_of.is_some());
    let effects = plan.effects.unwrap();
    let [one] = &effects.differences[..] else { panic!("{:?}", effects.differences) };
    let cores = |amount| Some(PlanValue::Amount { resource: "vcore".to_owned(), amount });
    assert_eq!(
        (&*one.key, &one.before, &one.after),
        ("resources.max.vcore", &cores(6_000), &cores(8_000))
    );
    assert_eq!((effects.starts.total, &*effects.starts.first[0].key), (1, "a2"));
    let same = server.client().plan_config(QUEUES).await.unwrap().effects.unwrap();
    assert!(!same.changes && effects.changes);
}

#[tokio::test]
async fn a_file_with_errors_is_told_with_the_places_of_them() {
    let server = full().await;
    let file = QUEUES.replace("submitacl: bob", "submitacl: a b c");
    let plan = plan(&server, &file).await;
    assert_eq!((plan.effects, plan.refused, plan.errors), (None, None, 1));
    let one = &plan.diagnostics[0];
    assert_eq!((&*one.code, &*one.severity, one.place.line), ("A-SPACES", "error", Some(15)));
    let refused = server.client().apply_config(&file, None).await.unwrap_err();
    let (status, code, reason) = refusal(refused);
    assert_eq!((status, &*code), (422, "INVALID"));
    assert!(
        reason.contains("has 1 error; line 15, column") && reason.contains("A-SPACES"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_file_comes_into_force_when_it_does_what_was_announced() {
    let server = full().await;
    let file = with_cores(8);
    let planned = plan(&server, &file).await;
    let applied = server.client().apply_config(&file, Some(digest(&planned))).await.unwrap();
    assert_eq!((applied.sequence, applied.warnings), (planned.sequence + 1, 0));
    assert_eq!(applied.checksum, planned.checksum);
    assert_eq!(server.service.queue_file.in_force().text, file);
    assert!(!plan(&server, &file).await.effects.unwrap().changes, "it is in force");
}

#[tokio::test]
async fn a_file_is_refused_that_would_do_something_else_by_now_unless_by_force() {
    let server = full().await;
    let file = with_cores(8);
    let planned = plan(&server, &file).await;
    // What was to start is started by what ends.
    server.release("app1", Some("a1")).await;
    server.turn(1).await;
    let before = server.service.engine.views().at_least(0).await.sequence;
    let refused = server.client().apply_config(&file, Some(digest(&planned))).await.unwrap_err();
    let (status, code, reason) = refusal(refused);
    assert_eq!((status, &*code), (409, "PLAN_MOVED"));
    assert!(reason.contains(digest(&planned)), "{reason}");
    assert!(reason.contains(&format!("on record {before}")), "{reason}");
    assert_eq!(
        server.service.engine.views().at_least(0).await.sequence,
        before,
        "nothing happened"
    );
    assert_eq!(server.service.queue_file.in_force().text, QUEUES);
    server.client().apply_config(&file, None).await.unwrap();
    assert_eq!(server.service.queue_file.in_force().text, file);
}

#[tokio::test]
async fn what_moves_without_changing_the_plan_is_no_hindrance() {
    let server = full().await;
    let file = with_cores(8);
    let planned = plan(&server, &file).await;
    // Elsewhere, an application comes and uses something.
    server.application("app2", "bob", "root.b").await;
    server.turn(5).await;
    let now = plan(&server, &file).await;
    assert!(now.sequence > planned.sequence);
    assert_eq!(digest(&now), digest(&planned));
    server.client().apply_config(&file, Some(digest(&planned))).await.unwrap();
    let other = plan(&server, &with_cores(7)).await;
    assert_ne!(digest(&other), digest(&planned), "another file is another plan");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_gets_between_the_last_look_and_the_file() {
    let server = full().await;
    let file = with_cores(8);
    let planned = plan(&server, &file).await;
    // The writer is held up, and a command waits for it that changes the plan.
    let (go_on, held) = std::sync::mpsc::channel::<()>();
    let (enter, is_held) = tokio::sync::oneshot::channel();
    let engine = server.service.engine.clone();
    let hold = move || {
        enter.send(()).unwrap();
        held.recv()
    };
    let holding = tokio::spawn(async move { engine.inspect(move |_, _| hold()).await });
    is_held.await.unwrap();
    assert_eq!(server.service.engine.backlog(), 0, "the writer has what holds it up");
    let release = Command::Release {
        partition: Name::new("default"),
        application: Name::new("app1"),
        key: Some(Name::new("a1")),
        termination: Termination::StoppedByRm,
    };
    let engine = server.service.engine.clone();
    let releasing = tokio::spawn(async move { engine.submit(release).await });
    while server.service.engine.backlog() < 1 {
        tokio::task::yield_now().await;
    }
    let (client, digest) = (server.client(), digest(&planned).to_owned());
    let applying = tokio::spawn(async move { client.apply_config(&file, Some(&digest)).await });
    while server.service.engine.backlog() < 2 {
        assert!(!applying.is_finished(), "the look before that finds nothing to object to");
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    go_on.send(()).unwrap();
    holding.await.unwrap().unwrap().unwrap();
    releasing.await.unwrap().unwrap().unwrap();
    let refused = applying.await.unwrap().unwrap_err();
    assert_eq!(refusal(refused).1, "PLAN_MOVED");
    assert_eq!(server.service.queue_file.in_force().text, QUEUES);
}

#[tokio::test]
async fn a_request_that_cannot_be_understood_says_what_is_missing() {
    let server = full().await;
    let post = async |path: &str, media: &str, body: &'static [u8]| {
        let request = server.http.post(server.url(path)).header("content-type", media);
        let answer = request.body(body).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json::<serde_json::Value>().await.unwrap()["detail"].to_string())
    };
    let yaml = "application/x-yaml";
    let (status, detail) = post("/headroom/v1/apply", yaml, b"").await;
    assert_eq!(status, 428);
    assert!(detail.contains("`force=true`"), "{detail}");
    for (path, part) in [
        ("/headroom/v1/apply?plan=7", "64 digits and letters"),
        ("/headroom/v1/apply?force=maybe", "true or false"),
        ("/headroom/v1/plan?hours=7", "does not exist"),
    ] {
        let (status, detail) = post(path, yaml, b"").await;
        assert_eq!(status, 400, "{path}");
        assert!(detail.contains(part), "{path}: {detail}");
    }
    assert_eq!(post("/headroom/v1/plan", "image/png", b"").await.0, 415);
    assert_eq!(post("/headroom/v1/apply?force=true", yaml, b"\xff").await.0, 400);
}

#[tokio::test]
async fn a_file_that_says_nothing_stands_for_the_built_in_one() {
    let server = full().await;
    let planned = plan(&server, "").await;
    assert_eq!(planned.checksum, headroom_config::checksum(""));
    let effects = planned.effects.as_ref().unwrap();
    assert!(effects.differences.iter().any(|one| one.key == "placementrules.1"));
    server.client().apply_config("", Some(digest(&planned))).await.unwrap();
    assert_eq!(server.service.queue_file.in_force().text, headroom_config::BUILT_IN);
}
