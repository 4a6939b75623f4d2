//! A queue file comes into force over another one: the clock of quota preemption, the checksum,
//! and all or nothing. Queues and limits §3, §4.8.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::books::Books;
use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Millis, Name, Submit, Timestamp};

/// One application that runs with 90 of 200 memory in `root.q`, as the RM says.
fn run(world: &mut World) {
    let (partition, application) = (Name::new("default"), Name::new("app1"));
    let node = Name::new("n1");
    for command in [
        Command::AddNode(AddNode {
            partition: partition.clone(),
            node: node.clone(),
            capacity: amounts([("memory", 200)]),
            schedulable: true,
            ..AddNode::default()
        }),
        Command::Submit(Submit {
            partition: partition.clone(),
            application: application.clone(),
            queue: Name::new("root.q"),
            user: Name::new("ann"),
            ..Submit::default()
        }),
        Command::Ask(Ask {
            partition,
            application,
            key: Name::new("a1"),
            resources: amounts([("memory", 90)]),
            node: Some(node),
            ..Ask::default()
        }),
    ] {
        world.command(&command).unwrap();
    }
}

fn file(max: i64, delay: &str) -> Configuration {
    let mut q = QueueConfig { max: amounts([("memory", max)]), ..leaf("q") };
    if max == 0 {
        q.max = amounts([]);
    }
    q.properties.insert(Name::new("quota.preemption.delay"), Name::new(delay));
    let mut file = partition(parent("root", vec![q]));
    file.partitions[0].preemption.quota_enabled = true;
    file
}

fn clock(books: &Books) -> Option<u64> {
    let partition = books.partition_named("default").unwrap();
    let queue = books.queue(books.queue_at(partition, "root.q").unwrap());
    queue.quota_preemption_at.map(|at| at.as_millis() / 1_000)
}

#[test]
#[doc(alias = "queues W29")]
fn quota_preemption_clock() {
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file(100, "60s")))).unwrap();
    run(&mut world);
    for (seconds, max, delay, expected) in [
        (0, 80, "60s", Some(60)),
        (20, 70, "60s", Some(60)),
        (30, 70, "90s", Some(90)),
        (40, 0, "90s", None),
        (50, 50, "90s", None),
    ] {
        world.now = Timestamp::ZERO + Millis::from_secs(seconds);
        world.command(&Command::Configure(Box::new(file(max, delay)))).unwrap();
        assert_eq!(clock(&world.books), expected, "{max} after {delay} at {seconds}");
    }
}

#[test]
fn the_clock_starts_when_the_rm_has_a_queue_use_more_than_its_maximum() {
    let mut world = World { now: Timestamp::ZERO, ..World::default() };
    world.command(&Command::Configure(Box::new(file(80, "60s")))).unwrap();
    run(&mut world);
    assert_eq!(clock(&world.books), Some(60));
}

#[test]
fn the_same_file_again_changes_nothing_and_another_changes_the_checksum() {
    let mut world = World::default();
    let named =
        |checksum: &str, max| Configuration { checksum: Name::new(checksum), ..file(max, "60s") };
    let mut configure =
        |file| world.command(&Command::Configure(Box::new(file))).map(|events| events.len());
    assert!(configure(named("AA", 10)).unwrap() > 0);
    assert_eq!(configure(named("AA", 10)), Ok(0), "the same text");
    assert_eq!(configure(named("BB", 10)), Ok(1), "another text that says the same");
    assert_eq!(configure(named("CC", 20)), Ok(2), "another text with another maximum");
}

#[test]
fn a_file_that_cannot_be_used_in_one_partition_changes_nothing_in_the_others() {
    let mut world = World::default();
    let mut good = file(10, "60s");
    let mut other = file(10, "60s").partitions.remove(0);
    other.name = Name::new("other");
    good.partitions.push(other);
    world.command(&Command::Configure(Box::new(good.clone()))).unwrap();
    let before = world.books.clone();
    let mut bad = good;
    bad.partitions[0].root.children[0].max = amounts([("memory", 5)]);
    bad.partitions[1].root.children[0].submit_acl = "a b c".to_owned();
    let refused = world.command(&Command::Configure(Box::new(bad))).unwrap_err();
    assert_eq!(refused.code().as_str(), "ACCESS_LIST");
    assert_eq!(
        refused.to_string(),
        "the access list of queue root.q has 3 words, but it can have only a list of users and a \
         list of groups. Separate the two lists with one space."
    );
    assert_eq!(world.books, before);
}

#[test]
fn a_file_that_says_the_same_of_a_queue_stops_its_clock_once_the_use_is_within() {
    let mut world = World::default();
    let load = |world: &mut World, switch: bool, max: i64| {
        let mut file = file(max, "60s");
        file.partitions[0].preemption.quota_enabled = switch;
        world.command(&Command::Configure(Box::new(file))).unwrap().len()
    };
    load(&mut world, true, 100);
    run(&mut world);
    load(&mut world, true, 80);
    assert_eq!(clock(&world.books), Some(60));
    world.now = Timestamp::from_millis(10_000);
    assert_eq!(load(&mut world, false, 80), 1, "only the partition changes");
    assert_eq!(clock(&world.books), Some(60), "it is above its maximum still");
    world
        .command(&Command::Ask(Ask {
            partition: Name::new("default"),
            application: Name::new("app1"),
            key: Name::new("a1"),
            resources: amounts([("memory", 70)]),
            ..Ask::default()
        }))
        .unwrap();
    assert_eq!(clock(&world.books), Some(60), "it is a file that stops it");
    load(&mut world, true, 80);
    assert_eq!(clock(&world.books), None);
    assert_eq!(load(&mut world, true, 80), 0, "once is enough");
}
