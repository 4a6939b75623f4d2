//! Items 6 and 8 of the list: the RM says who has to go on a node. Scheduler interface §9, §12.4.

use std::time::Duration;

use headroom_api::si::headroom::callback_reply::Answer;
use headroom_api::si::headroom::callback_request::Question;
use headroom_api::si::headroom::callback_rm_message::Content as Said;
use headroom_api::si::headroom::callback_scheduler_message::Content as Told;
use headroom_api::si::headroom::{
    CallbackReply, CallbackRmMessage, CallbackSchedulerMessage, Capabilities,
    PreemptionPredicatesBatch, PreemptionPredicatesVerdicts,
};
use headroom_api::si::v1::{
    AllocationResponse, PreemptionPredicatesArgs, PreemptionPredicatesResponse,
};

use crate::callbacks::{attach, request};
use crate::preemption::{PREEMPTED, estate, preemptor, there_are, victim};
use crate::support::{Pipe, Rm, Server, ask, placed};

type Callbacks = Pipe<CallbackRmMessage, CallbackSchedulerMessage>;

const ABOUT_VICTIMS: Capabilities = Capabilities {
    predicates: false,
    preemption_predicates: true,
    events: false,
    container_state: false,
    state_dump: false,
    predicates_cacheable: true,
    questions_at_once: 0,
};

/// Two nodes of ten, full of what may be stopped, two at a time; and somebody poor who needs five.
async fn full(server: &Server) -> (Rm, Callbacks) {
    let mut rm = estate(server, &[("n1", 10), ("n2", 10)]).await;
    let callbacks = attach(server, &rm, ABOUT_VICTIMS).await;
    for node in ["n1", "n2"] {
        let keys = (1..=5).map(|number| format!("{node}-{number}"));
        rm.ask(keys.map(|key| victim(placed("rich", &key, 2, node))).collect());
    }
    rm.allocated(10).await;
    rm.ask(vec![preemptor(ask("poor", "k1", 5))]);
    there_are(server, 11).await;
    server.turn(10).await;
    server.turn(60_000).await;
    (rm, callbacks)
}

/// The next question about victims.
async fn candidates(callbacks: &mut Callbacks) -> (u64, Vec<PreemptionPredicatesArgs>) {
    let request = request(callbacks).await;
    let Some(Question::PreemptionPredicatesBatch(PreemptionPredicatesBatch { candidates })) =
        request.question
    else {
        panic!("{request:?}")
    };
    (request.id, candidates)
}

/// The index of the last that has to go on each node; none if the node does not suit at all.
fn reply(callbacks: &Callbacks, id: u64, indexes: &[Option<i32>]) {
    let response = |index: &Option<i32>| PreemptionPredicatesResponse {
        success: index.is_some(),
        index: index.unwrap_or(-1),
    };
    let candidates = indexes.iter().map(response).collect();
    let verdicts = PreemptionPredicatesVerdicts { candidates };
    let answer = Some(Answer::PreemptionPredicatesBatch(verdicts));
    callbacks.send(CallbackRmMessage { content: Some(Said::Reply(CallbackReply { id, answer })) });
}

/// Makes steps until a message about allocations arrives: the answer of the RM is a separate command.
async fn told(server: &Server, rm: &mut Rm) -> AllocationResponse {
    for _ in 0..1_000 {
        server.turn(1).await;
        let next = rm.allocations.answers.message();
        if let Ok(answer) = tokio::time::timeout(Duration::from_millis(5), next).await {
            return answer.unwrap().unwrap();
        }
    }
    panic!("no message arrived");
}

fn victims(told: &AllocationResponse) -> Vec<String> {
    assert!(told.new.is_empty(), "{told:?}");
    assert!(told.released.iter().all(|one| one.termination_type() == PREEMPTED), "{told:?}");
    told.released.iter().map(|one| one.allocation_key.clone()).collect()
}

/// Item 6: the RM refuses one node and wants more gone on the other than there would have to for
/// room alone; exactly those are stopped, and the ask runs there.
#[tokio::test]
async fn the_rm_says_which_victims_suit_and_refuses_some() {
    let server = Server::start().await;
    let (mut rm, mut callbacks) = full(&server).await;
    let (id, asked) = candidates(&mut callbacks).await;
    assert_eq!(asked.len(), 2, "{asked:?}");
    for one in &asked {
        assert_eq!((&*one.allocation_key, one.start_index), ("k1", 2), "three of two make five");
        assert_eq!(one.preempt_allocation_keys.len(), 5, "{one:?}");
        let here = |key: &String| key.starts_with(&one.node_id);
        assert!(one.preempt_allocation_keys.iter().all(here), "{one:?}");
    }
    rm.allocations.silent().await;
    // The first node does not suit; on the second the first four have to go.
    reply(&callbacks, id, &[None, Some(3)]);
    let mut stopped = victims(&told(&server, &mut rm).await);
    let mut expected = asked[1].preempt_allocation_keys[..4].to_vec();
    stopped.sort();
    expected.sort();
    assert_eq!(stopped, expected);
    for key in &stopped {
        rm.release("rich", key, PREEMPTED);
    }
    there_are(&server, 7).await;
    let new = told(&server, &mut rm).await.new;
    assert_eq!((&*new[0].allocation_key, &new[0].node_id), ("k1", &asked[1].node_id));
}

/// Item 6: the least that makes room is enough for the RM.
#[tokio::test]
async fn the_fewest_victims_go_where_the_rm_has_nothing_against_it() {
    let server = Server::start().await;
    let (mut rm, mut callbacks) = full(&server).await;
    let (id, asked) = candidates(&mut callbacks).await;
    reply(&callbacks, id, &[Some(2), Some(4)]);
    let mut stopped = victims(&told(&server, &mut rm).await);
    let mut expected = asked[0].preempt_allocation_keys[..3].to_vec();
    stopped.sort();
    expected.sort();
    assert_eq!(stopped, expected);
}

/// Item 6: where the RM accepts no node, nobody is stopped; nor is it asked again about the same.
#[tokio::test]
async fn nobody_is_stopped_where_the_rm_refuses_all() {
    let server = Server::start().await;
    let (mut rm, mut callbacks) = full(&server).await;
    let (id, _) = candidates(&mut callbacks).await;
    reply(&callbacks, id, &[None, None]);
    for _ in 0..10 {
        server.turn(20_000).await;
    }
    rm.allocations.silent().await;
    callbacks.quiet_for_a_while().await;
    // What runs there changes: who would have to go is another question.
    rm.release("rich", "n1-1", headroom_api::si::v1::TerminationType::StoppedByRm);
    rm.released(1).await;
    server.turn(20_000).await;
    let (id, asked) = candidates(&mut callbacks).await;
    assert_eq!(asked.iter().map(|one| &*one.node_id).collect::<Vec<_>>(), ["n1"], "{asked:?}");
    reply(&callbacks, id, &[Some(asked[0].start_index)]);
    let stopped = victims(&told(&server, &mut rm).await);
    assert!(stopped.iter().all(|key| key.starts_with("n1-")), "{stopped:?}");
}

/// Item 8: an answer about victims that makes no sense is a refusal, and stops nobody.
#[tokio::test]
async fn an_answer_about_victims_that_makes_no_sense_is_a_refusal() {
    let server = Server::start().await;
    let (mut rm, mut callbacks) = full(&server).await;
    let (id, _) = candidates(&mut callbacks).await;
    // More than there are, on either node, and one node too many.
    reply(&callbacks, id, &[Some(5), Some(99), Some(1)]);
    for _ in 0..10 {
        server.turn(1).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    while let Ok(message) =
        tokio::time::timeout(Duration::from_millis(50), callbacks.answers.message()).await
    {
        let Some(Told::Request(again)) = message.unwrap().unwrap().content else { continue };
        reply(&callbacks, again.id, &[None, None]);
    }
    rm.allocations.silent().await;
}
