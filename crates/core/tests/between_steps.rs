//! Commands that come between the steps of a scheduler, and not when it is idle.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::books::GroupLink;
use headroom_core::config::{Configuration, LimitConfig, QueueConfig, RuleConfig};
use headroom_core::testkit::{World, amounts, leaf, limit, parent, partition};
use headroom_core::{AddNode, Ask, Command, Millis, Name, Submit};

fn configure(world: &mut World, configuration: Configuration) {
    world.command(&Command::Configure(Box::new(configuration))).unwrap();
}

fn with_limits(limits: Vec<LimitConfig>, max_applications: u64) -> Configuration {
    let x = QueueConfig { limits, max_applications, ..leaf("x") };
    partition(parent("root", vec![x]))
}

fn add_node(world: &mut World, vcore: i64) {
    let add = AddNode {
        partition: Name::new("default"),
        node: Name::new("n1"),
        capacity: amounts([("vcore", vcore), ("memory", 1_000)]),
        schedulable: true,
        ..AddNode::default()
    };
    world.command(&Command::AddNode(add)).unwrap();
}

fn submit(world: &mut World, groups: &[&str]) {
    let submit = Submit {
        partition: Name::new("default"),
        application: Name::new("a"),
        queue: Name::new("root.x"),
        user: Name::new("ann"),
        groups: groups.iter().map(Name::new).collect(),
        ..Submit::default()
    };
    world.command(&Command::Submit(submit)).unwrap();
}

fn ask(world: &mut World, key: &str, resource: &str, amount: i64, node: Option<&str>) {
    let ask = Ask {
        partition: Name::new("default"),
        application: Name::new("a"),
        key: Name::new(key),
        resources: amounts([(resource, amount)]),
        node: node.map(Name::new),
        ..Ask::default()
    };
    world.command(&Command::Ask(ask)).unwrap();
}

fn step(world: &mut World) {
    let mut events = Vec::new();
    world.scheduler.next(&world.books, world.now, &mut events);
    for event in events {
        world.apply(&event);
    }
}

#[test]
fn a_queue_may_go_without_a_step_since_its_last_ask_went() {
    let mut world = World::default();
    let mut file = partition(parent("root", vec![]));
    let rule = RuleConfig { name: "provided".into(), create: true, ..RuleConfig::default() };
    file.partitions[0].placement_rules = vec![rule];
    configure(&mut world, file);
    add_node(&mut world, 10);
    submit(&mut world, &[]);
    ask(&mut world, "k1", "vcore", 100, None);
    ask(&mut world, "k2", "vcore", 300, None);
    world.settle();
    let (partition, node) = (Name::new("default"), Name::new("n1"));
    let capacity = amounts([("vcore", 1_000)]);
    world.command(&Command::ResizeNode { partition: partition.clone(), node, capacity }).unwrap();
    ask(&mut world, "k3", "vcore", 2_000, None);
    ask(&mut world, "k4", "vcore", 200, None);
    step(&mut world);
    step(&mut world);
    let application = Name::new("a");
    world.command(&Command::RemoveApplication { partition, application }).unwrap();
    world.now = world.now + Millis::from_secs(20);
    world.command(&Command::Tick).unwrap();
    assert_eq!(world.books.queues().len(), 1, "only the root is left");
    assert_eq!(world.settle(), []);
}

#[test]
fn nothing_is_told_of_waits_between_a_reload_and_the_next_step() {
    let mut world = World::default();
    configure(&mut world, with_limits(vec![limit(&["ann"], &[], amounts([("vcore", 1)]), 0)], 0));
    add_node(&mut world, 10);
    submit(&mut world, &["dev"]);
    ask(&mut world, "k", "vcore", 5, None);
    world.settle();
    let ask = world.books.allocations().iter().next().unwrap().0;
    let cause = |world: &World| {
        let wait = world.scheduler.wait_of(&world.books, ask)?;
        Some((wait.code(&world.books, ask).as_str(), wait.blocker.subject(&world.books)))
    };
    assert_eq!(cause(&world), Some(("IMPOSSIBLE", "user ann at root.x".into())));
    configure(&mut world, with_limits(vec![limit(&[], &["dev"], amounts([("vcore", 1)]), 0)], 5));
    assert_eq!(cause(&world), None, "it is to be judged first");
    world.settle();
    assert_eq!(cause(&world), Some(("IMPOSSIBLE", "group dev at root.x".into())));
}

#[test]
fn room_that_the_rm_gave_is_charged_to_the_group_that_counts_by_now() {
    let mut world = World::default();
    let of = |group: &str| with_limits(vec![limit(&[], &[group], amounts([("vcore", 100)]), 0)], 0);
    configure(&mut world, of("dev"));
    add_node(&mut world, 100);
    submit(&mut world, &["dev", "qa"]);
    ask(&mut world, "k1", "vcore", 30, None);
    world.settle();
    configure(&mut world, of("qa"));
    ask(&mut world, "k2", "vcore", 5, Some("n1"));
    let row = world.books.applications().iter().next().unwrap().1;
    assert!(matches!(row.link.unwrap().group, GroupLink::Level(_)), "{:?}", row.link);
    let charged = row.charged_to_group().unwrap();
    assert_eq!(world.books.types().amounts(&charged), amounts([("vcore", 5)]));
}

#[test]
fn an_ordinary_placement_does_not_start_the_clock_of_quota_preemption() {
    let file = |max| {
        let mut x = QueueConfig { max, ..leaf("x") };
        x.properties.insert(Name::new("quota.preemption.delay"), Name::new("60s"));
        let mut file = partition(parent("root", vec![x]));
        file.partitions[0].preemption.quota_enabled = true;
        file
    };
    let mut world = World::default();
    configure(&mut world, file(amounts([])));
    add_node(&mut world, 10);
    submit(&mut world, &[]);
    ask(&mut world, "k1", "memory", 90, None);
    world.settle();
    configure(&mut world, file(amounts([("memory", 50)])));
    ask(&mut world, "k2", "vcore", 1, None);
    assert_eq!(world.settle().len(), 1, "a type that the maximum does not name");
    let clock = |world: &World| {
        let queue = world.books.queues().iter().find(|(_, queue)| queue.leaf).unwrap().1;
        queue.quota_preemption_at
    };
    assert_eq!(clock(&world), None);
    ask(&mut world, "k3", "memory", 1, Some("n1"));
    assert_eq!(clock(&world), Some(world.now + Millis::from_secs(60)), "the RM may exceed it");
}

#[test]
fn two_queues_of_one_name_are_refused() {
    let mut world = World::default();
    let file = partition(parent("root", vec![leaf("a"), leaf("A")]));
    let refused = world.command(&Command::Configure(Box::new(file))).unwrap_err();
    assert_eq!(
        (refused.code().as_str(), refused.to_string().as_str()),
        (
            "DUPLICATE_QUEUE",
            "the queue file defines queue root.a twice (names ignore case). Rename or remove one \
             of the two queues."
        )
    );
}

#[test]
fn a_name_that_is_longer_than_any_real_one_is_refused() {
    let mut world = World::default();
    configure(&mut world, with_limits(vec![], 0));
    let submit = Submit {
        partition: Name::new("default"),
        application: Name::new("a"),
        queue: Name::from("q".repeat(5_000)),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let refused = world.command(&Command::Submit(submit)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the queue has 5000 bytes, but at most 4096 are allowed. Shorten the queue."
    );
}
