//! Writes.

use std::sync::Arc;
use std::time::Duration;

use headroom_kubernetes::act::{Options, Writer, start};
use headroom_kubernetes::queue::{Observed, ToServer};
use headroom_kubernetes::volumes::Volumes;
use headroom_pods::convert::event::{Event, EventKind, EventObject};
use headroom_pods::shim::{
    ApiWrite, BindDone, BindError, BindRequest, BindStep, DeletePurpose, Notice, Outcome,
    PodIdentity,
};
use headroom_server::{ClusterCounters, EventOutcome};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::support::stand_in::{Answer, StandIn};

struct Writes {
    writer: Writer,
    counters: Arc<ClusterCounters>,
    to: mpsc::Sender<ToServer>,
    outcomes: mpsc::Receiver<Observed>,
}

impl Writes {
    fn new(server: &StandIn) -> Self {
        let (to, writes) = mpsc::channel(100);
        let (observed, outcomes) = mpsc::channel(1);
        let options = Options {
            namespace: "system".into(),
            instance: "test".into(),
            volume_timeout: Duration::from_mins(1),
        };
        let api = server.api();
        let counters = Arc::clone(api.counters());
        let writer = start(api, &options, Arc::new(Volumes::default()), writes, observed);
        Self { writer, counters, to, outcomes }
    }

    async fn write(&self, write: ApiWrite) {
        self.to.send(ToServer::Write(write)).await.unwrap();
    }

    async fn outcome(&mut self) -> Outcome {
        match self.outcomes.recv().await.unwrap() {
            Observed::Notice(Notice::Written(outcome)) => outcome,
            other => panic!("{other:?}"),
        }
    }
}

fn pod(uid: &str) -> PodIdentity {
    PodIdentity { namespace: "d".into(), name: "p".into(), uid: uid.into() }
}

fn bind(ticket: u64) -> ApiWrite {
    let step = BindStep::BindPod;
    ApiWrite::Bind(BindRequest { pod: pod("u"), node: "n1".into(), step, ticket })
}

fn bound(uid: &str, node: &str) -> Value {
    json!({ "metadata": { "name": "p", "uid": uid }, "spec": { "nodeName": node } })
}

#[tokio::test(start_paused = true)]
async fn each_answer_to_a_bind_has_its_meaning() {
    let retry = |text: &str| Err(BindError::Retry(text.into()));
    let elsewhere = Err(BindError::BoundElsewhere { node: "n2".into() });
    let refused = |code: u16| format!("the API server answered {code}: refused");
    let conflict = |pod: &Value| vec![Answer::refusal(409), Answer::object(200, pod)];
    for (answers, expected) in [
        (vec![Answer::object(201, &json!({}))], Ok(BindDone::PodBound)),
        (vec![Answer::refusal(404)], Err(BindError::Gone)),
        (vec![Answer::refusal(500)], retry(&refused(500))),
        (vec![Answer::refusal(429)], retry(&refused(429))),
        (vec![], retry("the API server did not answer within 30 s")),
        (conflict(&bound("u", "n1")), Ok(BindDone::PodBound)),
        (conflict(&bound("u", "n2")), elsewhere),
        (conflict(&bound("u", "")), retry(&refused(409))),
        (conflict(&bound("other", "n1")), Err(BindError::Gone)),
        (vec![Answer::refusal(409), Answer::refusal(404)], Err(BindError::Gone)),
        (vec![Answer::refusal(409), Answer::refusal(503)], retry(&refused(503))),
    ] {
        let server = StandIn::new(answers);
        let mut writes = Writes::new(&server);
        writes.write(bind(7)).await;
        let outcome = Outcome::Bind { uid: "u".into(), ticket: 7, result: expected };
        assert_eq!(writes.outcome().await, outcome, "{:?}", server.requests());
    }
}

#[tokio::test(start_paused = true)]
async fn all_writes_wait_for_a_requested_pause() {
    let server =
        StandIn::new([Answer::refusal(429).retry_after(10), Answer::object(201, &json!({}))]);
    let mut writes = Writes::new(&server);
    let start = Instant::now();
    writes.write(bind(1)).await;
    writes.outcome().await;
    writes.write(bind(2)).await;
    writes.outcome().await;
    assert!(start.elapsed() >= Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn writes_about_a_pod_keep_their_order_and_full_outcomes_block_nothing() {
    let answers = (0..600).map(|_| Answer::refusal(404));
    let server = StandIn::new(answers);
    let mut writes = Writes::new(&server);
    // Nobody reads outcomes meanwhile.
    for ticket in 0..600 {
        writes.write(bind(ticket)).await;
    }
    for expected in 0..600 {
        let Outcome::Bind { ticket, .. } = writes.outcome().await else { panic!() };
        assert_eq!(ticket, expected);
    }
    drop(writes.to);
    writes.writer.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_repeated_and_a_missing_pod_is_a_success() {
    let delete = |uid: &str| ApiWrite::DeletePod { pod: pod(uid), purpose: DeletePurpose::Cleanup };
    let server = StandIn::new([
        Answer::refusal(500),
        Answer::refusal(404),
        Answer::refusal(409),
        Answer::refusal(403),
    ]);
    let mut writes = Writes::new(&server);
    writes.write(delete("u")).await;
    writes.write(delete("u")).await;
    writes.write(delete("u")).await;
    let Outcome::DeleteFailed { purpose, error, .. } = writes.outcome().await else { panic!() };
    assert_eq!(purpose, DeletePurpose::Cleanup);
    assert!(error.contains("403"), "{error}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_cannot_be_read_is_unknown_in_the_end() {
    for (answers, requests) in
        [(vec![Answer::refusal(404)], 1), ((0..5).map(|_| Answer::refusal(500)).collect(), 5)]
    {
        let server = StandIn::new(answers);
        let mut writes = Writes::new(&server);
        writes.write(ApiWrite::ReadNamespace { name: "lab".into() }).await;
        let read = writes.outcomes.recv().await.unwrap();
        let Observed::Notice(Notice::NamespaceRead { name, namespace: None }) = read else {
            panic!()
        };
        assert_eq!(name, *"lab");
        assert_eq!(server.requests().len(), requests);
    }
}

#[tokio::test(start_paused = true)]
async fn too_many_events_are_dropped_and_block_nothing() {
    // No event is ever answered.
    let server = StandIn::new([]);
    let writes = Writes::new(&server);
    let about =
        |number: usize| EventObject::Node { name: "n".into(), uid: number.to_string().into() };
    for number in 0..5_000 {
        let event = Event { about: about(number), kind: EventKind::NodeAccepted, note: "x".into() };
        writes.to.send(ToServer::Event(event)).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    let dropped = writes.counters.events(EventOutcome::Dropped);
    assert!((800..1_000).contains(&dropped), "{dropped}");
    assert_eq!(server.requests().len(), 8);
}
