//! A scan for asks that more nodes would help costs classes, not asks.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::time::{Duration, Instant};

use headroom_core::config::QueueConfig;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit};

fn default() -> Name {
    Name::new("default")
}

/// A full cluster and so many applications with one ask each, more than the queue admits.
fn waiting(applications: usize) -> World {
    let mut world = World::default();
    let max = amounts([("vcore", 10)]);
    let queue = QueueConfig { max, ..leaf("a") };
    let file = partition(parent("root", vec![queue]));
    world.command(&Command::Configure(Box::new(file))).unwrap();
    let add = AddNode {
        partition: default(),
        node: Name::new("n1"),
        capacity: amounts([("vcore", 1)]),
        schedulable: true,
        ..AddNode::default()
    };
    world.command(&Command::AddNode(add)).unwrap();
    for number in 0..applications {
        let application = Name::new(format!("app{number}"));
        let submit = Submit {
            partition: default(),
            application: application.clone(),
            queue: Name::new("root.a"),
            user: Name::new("ann"),
            ..Submit::default()
        };
        world.command(&Command::Submit(submit)).unwrap();
        let ask = Ask {
            partition: default(),
            key: application.clone(),
            application,
            resources: amounts([("vcore", 1)]),
            ..Ask::default()
        };
        world.command(&Command::Ask(ask)).unwrap();
    }
    world.settle();
    world
}

/// Returns how many asks are reported at first, and how long a thousand scans take from then on.
fn scans(applications: usize) -> (usize, Duration) {
    let mut world = waiting(applications);
    let id = world.books.partition_named(&default()).unwrap();
    let first = world.scheduler.outstanding(&world.books, id);
    for event in &first {
        world.apply(event);
    }
    let since = Instant::now();
    for _ in 0..1_000 {
        assert_eq!(world.scheduler.outstanding(&world.books, id), []);
    }
    (first.len(), since.elapsed())
}

#[test]
fn a_scan_does_not_cost_what_waits() {
    let (few_told, few) = scans(100);
    let (many_told, many) = scans(20_000);
    // One of ten runs, so nine more would be admitted, however many wait.
    assert_eq!((few_told, many_told), (9, 9));
    let most = few * 20 + Duration::from_millis(50);
    assert!(many < most, "1 000 scans took {few:?} with 100 asks and {many:?} with 20 000");
}
