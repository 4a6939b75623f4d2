//! Item 9 of the list: the states of an application, against a model of the table of scheduler
//! interface §8.

use headroom_api::si::v1::TerminationType;

use crate::support::{Rm, Server, ask, new, until};

/// Where an application may go from a state, and what that is called.
fn may_follow(state: &str) -> &'static [(&'static str, &'static str)] {
    match state {
        "New" => &[("Accepted", "runApplication"), ("Resuming", ""), ("Failing", "")],
        "Accepted" => &[
            ("Running", "runApplication"),
            ("Completing", "completeApplication"),
            ("Resuming", ""),
            ("Failing", ""),
        ],
        "Running" => &[("Completing", "completeApplication"), ("Failing", "")],
        "Completing" => &[("Running", "runApplication"), ("Completed", "completeApplication")],
        "Resuming" => &[("Accepted", "runApplication")],
        "Failing" => &[("Failed", "failApplication")],
        _ => &[],
    }
}

/// What the test does with an application; chosen by a simple generator, so each run is the same.
#[derive(Clone, Copy, Debug)]
enum Move {
    Ask,
    Turn,
    Release,
    Wait,
    Remove,
}

/// Item 9: in any sequence of requests, each state follows the previous one by the table, and is reported once.
#[tokio::test]
async fn states_follow_each_other_by_the_table() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..40 {
        let id = format!("app{round}");
        rm.submit(&id, "root.a").await;
        let mut state = "New".to_owned();
        let mut keys = Vec::new();
        for step in 0..12 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let moves = [Move::Ask, Move::Turn, Move::Release, Move::Wait, Move::Remove];
            let index = usize::try_from((random >> 33) % 9).unwrap();
            match moves.get(index).copied().unwrap_or(Move::Turn) {
                Move::Ask => {
                    let key = format!("{id}-{step}");
                    rm.ask(vec![ask(&id, &key, 1)]);
                    keys.push(key);
                }
                Move::Turn => server.turn(10).await,
                Move::Release => {
                    if let Some(key) = keys.pop() {
                        rm.release(&id, &key, TerminationType::StoppedByRm);
                    }
                }
                Move::Wait => server.turn(31_000).await,
                Move::Remove => {}
            }
        }
        rm.remove(&id);
        // Another application is answered after all messages about this one.
        let last = format!("last{round}");
        settle(&server, &mut rm).await;
        rm.add(new(&last, "root.a"));
        loop {
            let answer = rm.applications.next().await;
            if answer.accepted.iter().any(|one| one.application_id == last) {
                break;
            }
            for update in answer.updated {
                assert_eq!(update.application_id, id);
                let next = may_follow(&state).iter().find(|(next, _)| *next == update.state);
                let (_, message) =
                    next.unwrap_or_else(|| panic!("{id} goes from {state} to {}", update.state));
                assert_eq!(update.message, *message, "{state} to {}", update.state);
                assert!(update.state_transition_timestamp > 1_700_000_000_000_000_000);
                seen.insert((state, update.state.clone()));
                state = update.state;
            }
        }
        rm.remove(&last);
    }
    let seen: Vec<String> = seen.iter().map(|(from, to)| format!("{from} {to}")).collect();
    for pair in ["Accepted Running", "Completing Completed", "New Accepted", "Running Completing"] {
        assert!(seen.iter().any(|one| one == pair), "{pair} in {seen:?}");
    }
}

/// Scheduler interface §8: an application expires three days after its end, and the RM is notified.
#[tokio::test]
async fn what_has_ended_expires_after_three_days() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    rm.ask(vec![ask("app", "k1", 100)]);
    rm.release("app", "k1", TerminationType::StoppedByRm);
    assert_eq!(rm.states(2).await, ["Accepted", "Completing"]);
    server.turn(31_000).await;
    assert_eq!(rm.states(1).await, ["Completed"]);
    rm.add(new("refused", "root.none"));
    assert_eq!(rm.applications.next().await.rejected.len(), 1);
    let shown = async |state: &str| {
        let path = format!("/ws/v1/partition/default/applications/{state}");
        server.json(&path).await.as_array().unwrap().len()
    };
    assert_eq!((shown("completed").await, shown("rejected").await), (1, 1));
    server.turn(3 * 24 * 60 * 60 * 1_000 - 60_000).await;
    rm.applications.silent().await;
    server.turn(120_000).await;
    let expired = rm.applications.next().await.updated.remove(0);
    assert_eq!((&*expired.state, &*expired.message), ("Expired", "expireApplication"));
    assert_eq!(shown("completed").await, 0);
    // What was rejected is known to no RM any more, and goes with the next that is rejected.
    rm.add(new("refused-too", "root.none"));
    assert_eq!(rm.applications.next().await.rejected.len(), 1);
    assert_eq!(shown("rejected").await, 1);
}

/// Until everything sent on the stream of allocations is judged: its answers come in order.
async fn settle(server: &Server, rm: &mut Rm) {
    let known = server.handle.feed().newest();
    rm.ask(vec![ask("none", "marker", 1)]);
    until("the marker is refused", async || {
        let answer = rm.allocations.next().await;
        answer.rejected_allocations.iter().any(|one| one.allocation_key == "marker")
    })
    .await;
    assert!(server.handle.feed().newest() >= known);
}
