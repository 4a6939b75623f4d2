//! Changes during scheduling update the affected indexes. Only another queue file rebuilds them.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::config::{PropertyValues, QueueConfig, RuleConfig};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{
    AddNode, ApplicationEvent, Ask, AskEvent, Command, Event, Name, Note, Scheduler, Step, Submit,
};

const QUOTA: &str = "namespace.resourcequota";
const GUARANTEED: &str = "namespace.resourceguaranteed";
const APPLICATIONS: &str = "namespace.resourcemaxapps";

/// Queues of the file whose applications go by this policy, and a rule that makes more.
fn world(policy: &str) -> World {
    let mut made = QueueConfig { parent: true, ..leaf("made") };
    made.properties.insert(Name::new("application.sort.policy"), Name::new(policy));
    let mut file = partition(parent("root", vec![made, leaf("other")]));
    let rule = RuleConfig { name: "provided".into(), create: true, ..RuleConfig::default() };
    file.partitions[0].placement_rules = vec![rule];
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).unwrap();
    let capacity = amounts([("vcore", 10), ("memory", 10)]);
    let (partition, node) = (Name::new("default"), Name::new("n1"));
    let add = AddNode { partition, node, capacity, schedulable: true, ..AddNode::default() };
    world.command(&Command::AddNode(add)).unwrap();
    world.scheduler = Scheduler::watching(&world.books);
    world
}

fn submit(world: &mut World, name: &str, tags: &[(&str, &str)]) {
    let submit = Submit {
        partition: Name::new("default"),
        application: Name::new(name),
        queue: Name::new("root.made.q"),
        user: Name::new("ann"),
        tags: tags.iter().map(|(key, value)| (Name::new(key), Name::new(value))).collect(),
        ..Submit::default()
    };
    let events = world.command(&Command::Submit(submit)).unwrap();
    assert!(
        matches!(events.last(), Some(Event::Application(ApplicationEvent::Added { .. }))),
        "{events:?}"
    );
}

fn vcore(amount: u8) -> String {
    format!(r#"{{"resources":{{"vcore":{{"value":{amount}}}}}}}"#)
}

fn ask(world: &mut World, application: &str, key: &str, vcore: i64, memory: i64) {
    let ask = Ask {
        partition: Name::new("default"),
        application: Name::new(application),
        key: Name::new(key),
        resources: amounts([("vcore", vcore), ("memory", memory)]),
        ..Ask::default()
    };
    world.command(&Command::Ask(ask)).unwrap();
}

/// Returns the keys of the asks that are placed from here on, in order. No index is rebuilt meanwhile.
fn placed(world: &mut World) -> Vec<Name> {
    let events = world.settle();
    assert!(!world.scheduler.take_notes().contains(&Note::Renewed), "no index is rebuilt");
    world.books.check().unwrap();
    let key = |event: &Event| match event {
        Event::Ask(AskEvent::Placed { ask, .. }) => Some(world.books.allocation(*ask).key.clone()),
        _ => None,
    };
    events.iter().filter_map(key).collect()
}

#[test]
fn a_quota_that_a_tag_raises_lets_go_what_it_held_back() {
    let mut world = world("fifo");
    submit(&mut world, "app1", &[(QUOTA, &vcore(2))]);
    for (key, size) in [("k1", 2), ("k2", 3), ("k3", 6)] {
        ask(&mut world, "app1", key, size, 0);
    }
    assert_eq!(placed(&mut world), ["k1"]);
    submit(&mut world, "app2", &[(QUOTA, &vcore(5))]);
    assert_eq!(placed(&mut world), ["k2"]);
    submit(&mut world, "app3", &[(GUARANTEED, &vcore(5))]);
    assert_eq!(placed(&mut world), Vec::<Name>::new(), "the cluster is full, the quota is gone");
    let (ask, _) = world.books.allocations().iter().find(|(_, row)| row.is_pending()).unwrap();
    let wait = world.scheduler.wait_of(&world.books, ask).unwrap();
    assert_eq!(wait.code(&world.books, ask).as_str(), "ROOT_CAPACITY");
}

#[test]
fn a_number_of_applications_that_a_tag_raises_lets_the_next_one_start() {
    let mut world = world("fifo");
    submit(&mut world, "app1", &[(APPLICATIONS, "1")]);
    submit(&mut world, "app2", &[]);
    ask(&mut world, "app1", "k1", 1, 0);
    ask(&mut world, "app2", "k2", 1, 0);
    assert_eq!(placed(&mut world), ["k1"]);
    submit(&mut world, "app3", &[(APPLICATIONS, "2")]);
    assert_eq!(placed(&mut world), ["k2"]);
}

#[test]
fn a_guarantee_that_a_tag_changes_puts_applications_in_another_order() {
    let mut world = world("fair");
    let guarantee = |vcore: u8, memory: u8| {
        format!(r#"{{"resources":{{"vcore":{{"value":{vcore}}},"memory":{{"value":{memory}}}}}}}"#)
    };
    submit(&mut world, "app1", &[(GUARANTEED, &guarantee(100, 1))]);
    let (_, queue) =
        world.books.queues().iter().find(|(_, queue)| queue.leaf && !queue.managed).unwrap();
    assert_ne!(queue.settings.values, PropertyValues::default(), "the order is fair");
    submit(&mut world, "app2", &[]);
    ask(&mut world, "app1", "k1", 6, 1);
    ask(&mut world, "app2", "k2", 1, 3);
    assert_eq!(placed(&mut world), ["k1", "k2"]);
    for (application, key) in [("app1", "k3"), ("app2", "k4"), ("app1", "k5"), ("app2", "k6")] {
        ask(&mut world, application, key, 1, 1);
    }
    let mut events = Vec::new();
    world.scheduler.next(&world.books, world.now, &mut events);
    for event in &events {
        world.apply(event);
    }
    assert!(matches!(events[..], [Event::Ask(AskEvent::Placed { .. })]), "{events:?}");
    submit(&mut world, "app3", &[(GUARANTEED, &guarantee(1, 100))]);
    assert_eq!(placed(&mut world), ["k4", "k6"], "app1 has seven vcore, app2 has one");
}

#[test]
fn an_ask_that_shrinks_is_placed_and_one_that_grows_is_held_back() {
    let mut world = world("fifo");
    submit(&mut world, "app1", &[]);
    for key in ["k1", "k2", "k3"] {
        ask(&mut world, "app1", key, 20, 0);
    }
    assert_eq!(placed(&mut world), Vec::<Name>::new());
    ask(&mut world, "app1", "k2", 4, 0);
    assert_eq!(placed(&mut world), ["k2"]);
    ask(&mut world, "app1", "k1", 6, 0);
    ask(&mut world, "app1", "k1", 7, 0);
    assert_eq!(placed(&mut world), Vec::<Name>::new());
}

#[test]
fn an_allocation_that_shrinks_lets_go_what_it_held_back() {
    let mut world = world("fifo");
    submit(&mut world, "app1", &[(QUOTA, &vcore(8))]);
    ask(&mut world, "app1", "k1", 8, 0);
    ask(&mut world, "app1", "k2", 3, 0);
    assert_eq!(placed(&mut world), ["k1"]);
    ask(&mut world, "app1", "k1", 6, 4);
    assert_eq!(placed(&mut world), Vec::<Name>::new(), "two are left");
    ask(&mut world, "app1", "k1", 5, 4);
    assert_eq!(placed(&mut world), ["k2"]);
}

/// Makes steps until one places an ask, and returns the key of that ask.
fn next_placed(world: &mut World) -> Name {
    loop {
        let mut events = Vec::new();
        let step = world.scheduler.next(&world.books, world.now, &mut events);
        assert_eq!(step, Step::Moved, "nothing more is placed");
        for event in &events {
            world.apply(event);
        }
        if let Some(Event::Ask(AskEvent::Placed { ask, .. })) = events.first() {
            return world.books.allocation(*ask).key.clone();
        }
    }
}

#[test]
fn applications_that_ask_for_many_sizes_take_turns_by_use() {
    let mut world = world("fair");
    submit(&mut world, "app1", &[]);
    for (key, size) in [("a1", 1), ("a2", 2), ("a3", 3)] {
        ask(&mut world, "app1", key, size, 0);
    }
    assert_eq!(next_placed(&mut world), "a1", "the only application, its first ask");
    // The next one wants the same sizes and one more, and has nothing yet.
    submit(&mut world, "app2", &[]);
    for (key, size) in [("b2", 2), ("b3", 3), ("b1", 1), ("b7", 7)] {
        ask(&mut world, "app2", key, size, 0);
    }
    assert_eq!(next_placed(&mut world), "b2", "app1 uses 1, app2 nothing");
    assert_eq!(next_placed(&mut world), "a2", "app1 uses 1, app2 uses 2");
    assert_eq!(next_placed(&mut world), "b3", "app1 uses 3, app2 uses 2");
    assert_eq!(placed(&mut world), ["b1"], "of the 10, 8 are in use: a3 and b7 do not fit");
}
