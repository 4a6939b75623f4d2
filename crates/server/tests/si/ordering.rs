//! Item 7 of the list: what a client may rely on, under load, while the scheduler goes by itself.
//! Scheduler interface §10.

use std::collections::{BTreeMap, BTreeSet};

use headroom_api::si::headroom::Capabilities;
use headroom_api::si::headroom::scheduler_message::Content as Told;
use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, AllocationResponse, TerminationType,
};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::{Pace, SystemClock};
use headroom_server::grpc::Settings;

use crate::session::{SessionRm, application, asks, nodes};
use crate::support::{QUEUES, Rm, Server, ask, new, vcores};

/// A server whose scheduler goes by itself.
async fn automatic() -> Server {
    Server::with(&MemoryJournal::default(), Settings::default(), |settings| {
        settings.pace = Pace::Automatic;
        settings.clock = std::sync::Arc::new(SystemClock);
    })
    .await
}

/// Messages about keys, in order: each key is new once, and released after that.
#[derive(Default)]
struct Keys {
    new: BTreeSet<String>,
    released: BTreeSet<String>,
}

impl Keys {
    fn hear(&mut self, told: &AllocationResponse) {
        assert!(told.rejected_allocations.is_empty(), "{told:?}");
        assert!(told.new.is_empty() || told.released.is_empty(), "a message has no order within");
        for one in &told.new {
            assert!(self.new.insert(one.allocation_key.clone()), "{one:?} is new once");
        }
        for one in &told.released {
            assert!(self.new.contains(&one.allocation_key), "{one:?} was new before");
            assert!(self.released.insert(one.allocation_key.clone()), "{one:?} goes once");
        }
    }
}

/// Item 7, guarantee 2: thousands of asks, released as soon as they are placed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_released_was_new_before() {
    let (requests, each) = (100, 50);
    let server = automatic().await;
    let mut rm = Rm::furnished(&server).await;
    rm.create(&[("n2", 500), ("n3", 500)]).await;
    let begin = std::time::Instant::now();
    for request in 0..requests {
        let keys = (0..each).map(|number| format!("k{request}-{number}"));
        rm.ask(keys.map(|key| ask("app", &key, 1)).collect());
    }
    let mut keys = Keys::default();
    let mut messages = 0_usize;
    while keys.released.len() < requests * each {
        let told = rm.allocations.next().await;
        messages += 1;
        keys.hear(&told);
        for one in &told.new {
            rm.release("app", &one.allocation_key, TerminationType::StoppedByRm);
        }
    }
    assert_eq!(keys.new.len(), requests * each);
    let (took, count) = (begin.elapsed(), requests * each);
    println!("{count} asks placed and released in {took:?}, {messages} messages");
}

/// Item 7, guarantees 1 and 4, and the one order of a session: applications and their asks sent
/// back to back, with no wait; an acceptance comes before what is placed, and states in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_session_an_acceptance_comes_before_what_is_placed() {
    let (applications, each) = (200, 10);
    let server = automatic().await;
    let mut rm = SessionRm::on(&server, Capabilities::default()).await;
    rm.send(nodes(&[("n1", 10_000)]));
    let begin = std::time::Instant::now();
    for number in 0..applications {
        let id = format!("app{number}");
        rm.send(application(&id));
        let keys = (0..each).map(|one| ask(&id, &format!("{id}-{one}"), 1));
        rm.send(asks(keys.collect()));
    }
    let (mut accepted, mut states) = (BTreeSet::new(), BTreeMap::new());
    let mut keys = Keys::default();
    let mut applied = 0;
    while keys.new.len() < applications * each {
        let (ack, told) = rm.next().await;
        assert!(ack >= applied, "what is applied stays so");
        applied = ack;
        match told {
            Told::Application(one) => {
                accepted.extend(one.accepted.into_iter().map(|one| one.application_id));
                for update in one.updated {
                    assert!(accepted.contains(&update.application_id));
                    let of: &mut Vec<String> = states.entry(update.application_id).or_default();
                    of.push(update.state);
                }
            }
            Told::Allocation(one) => {
                assert!(one.new.iter().all(|one| accepted.contains(&one.application_id)));
                keys.hear(&one);
            }
            Told::Node(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(states.values().all(|of| *of == ["Accepted", "Running"]), "{states:?}");
    println!(
        "{} asks of {applications} applications in {:?}",
        applications * each,
        begin.elapsed()
    );
}

/// Scheduler interface §12.6: if the engine takes one message at a time, the server reads streams no
/// faster, and loses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_engine_holds_streams_back_and_loses_nothing() {
    let server = Server::with(&MemoryJournal::default(), Settings::default(), |settings| {
        settings.commands_waiting = 1;
    })
    .await;
    let mut rm = Rm::furnished(&server).await;
    let requests = 2_000;
    for number in 0..requests {
        rm.ask(vec![crate::support::placed("app", &format!("k{number}"), 1, "n1")]);
    }
    let mut keys = Keys::default();
    while keys.new.len() < requests {
        keys.hear(&rm.allocations.next().await);
    }
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.allocations().iter().count(), requests);
}

/// Item 7, guarantee 3: what has to stop for a member is reported before the member is new, and the member is new
/// only once that is confirmed; for many gangs at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_placeholder_is_told_before_the_member_that_takes_its_place() {
    let (gangs, each) = (40, 8);
    let server = automatic().await;
    let mut rm = Rm::on(&server, QUEUES).await;
    rm.create(&[("n1", 1_000)]).await;
    let of = |gang: usize, kind: &str, number: usize| Allocation {
        task_group_name: "tg".into(),
        placeholder: kind == "p",
        ..ask(&format!("g{gang}"), &format!("g{gang}-{kind}-{number}"), 1)
    };
    for gang in 0..gangs {
        let placeholder_ask = vcores(i64::try_from(each).unwrap());
        let one = AddApplicationRequest { placeholder_ask, ..new(&format!("g{gang}"), "root.a") };
        rm.add(one);
        while rm.applications.next().await.accepted.is_empty() {}
        rm.ask((0..each).map(|number| of(gang, "p", number)).collect());
        rm.ask((0..each).map(|number| of(gang, "m", number)).collect());
    }
    // By application: placeholders with a request to stop, and members that are new.
    let (mut stopped, mut members) = (BTreeMap::<String, usize>::new(), BTreeMap::new());
    while members.values().sum::<usize>() < gangs * each {
        let told = rm.allocations.next().await;
        for one in &told.released {
            assert_eq!(one.termination_type(), TerminationType::PlaceholderReplaced, "{one:?}");
            *stopped.entry(one.application_id.clone()).or_default() += 1;
            rm.release(&one.application_id, &one.allocation_key, one.termination_type());
        }
        for one in told.new.iter().filter(|one| !one.placeholder) {
            let count = members.entry(one.application_id.clone()).or_default();
            *count += 1;
            assert!(stopped.get(&one.application_id) >= Some(count), "{one:?} is early");
        }
    }
    assert!(stopped.values().all(|count| *count == each), "{stopped:?}");
}
