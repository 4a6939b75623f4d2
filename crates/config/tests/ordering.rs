//! `orderingpolicy` of queues: who goes first by it, in a scheduler with the file. User headroom §4,
//! §10 (C9, C10); docs/limits.md, "orderingpolicy".

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_config::read;
use headroom_core::config::PropertyValues;
use headroom_core::config::property::ApplicationOrder;
use headroom_core::testkit::{World, amounts};
use headroom_core::{AddNode, Ask, AskEvent, Command, Event, Name, Submit, Timestamp};

/// A cluster with this file, and no node yet.
fn world(text: &str) -> World {
    let loaded = read(text).unwrap_or_else(|faults| panic!("{faults}"));
    let mut world = World { now: Timestamp::from_millis(1_000_000), ..World::default() };
    world.command(&Command::Configure(Box::new(loaded.configuration))).unwrap();
    world
}

/// What the properties of a queue come to, with those that are handed down to it.
fn values(world: &World, path: &str) -> PropertyValues {
    let partition = world.books.partition_named("default").unwrap();
    world.books.queue(world.books.queue_at(partition, path).unwrap()).settings.values
}

fn asks(world: &mut World, (application, queue): (&str, &str), keys: &[(&str, i32)]) {
    let partition = Name::new("default");
    let application = Name::new(application);
    if !world.books.applications().iter().any(|(_, row)| row.name == application) {
        let submit = Submit {
            partition: partition.clone(),
            application: application.clone(),
            queue: Name::new(queue),
            user: Name::new("ann"),
            ..Submit::default()
        };
        world.command(&Command::Submit(submit)).unwrap();
    }
    for (key, priority) in keys {
        let ask = Ask {
            partition: partition.clone(),
            application: application.clone(),
            key: Name::new(key),
            resources: amounts([("memory", 1)]),
            priority: *priority,
            ..Ask::default()
        };
        world.command(&Command::Ask(ask)).unwrap();
    }
}

/// Nodes of this size come; which asks are placed, in their order.
fn placed(world: &mut World, node: &str, memory: i64) -> Vec<String> {
    let add = AddNode {
        partition: Name::new("default"),
        node: Name::new(node),
        capacity: amounts([("memory", memory)]),
        schedulable: true,
        ..AddNode::default()
    };
    world.command(&Command::AddNode(add)).unwrap();
    let events = world.settle();
    let placed = events.into_iter().filter_map(|event| match event {
        Event::Ask(AskEvent::Placed { ask, .. }) => {
            Some(world.books.allocation(ask).key.to_string())
        }
        _ => None,
    });
    placed.collect()
}

#[test]
#[doc(alias = "C10")]
fn the_oldest_application_goes_first_or_the_one_that_has_least() {
    for (word, expected) in [
        ("fifo", ["o1", "o2", "y1"]),
        ("fair", ["o1", "y1", "o2"]),
        ("fifo-with-partitions", ["o1", "o2", "y1"]),
    ] {
        let file = format!(
            "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n    queues:\n    \
             - name: a\n      orderingpolicy: {word}\n"
        );
        let mut world = world(&file);
        asks(&mut world, ("old", "root.a"), &[("o1", 0), ("o2", 0)]);
        asks(&mut world, ("young", "root.a"), &[("y1", 0)]);
        assert_eq!(placed(&mut world, "n1", 3), expected, "{word}");
    }
}

#[test]
#[doc(alias = "C9")]
fn the_queue_that_uses_least_goes_first_or_the_one_with_the_highest_priority() {
    for (word, expected) in
        [("utilization", ["a1", "b1", "a2"]), ("priority-utilization", ["a1", "a2", "b1"])]
    {
        let file = format!(
            "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n    \
             orderingpolicy: {word}\n    queues:\n    - name: a\n      resources: {{guaranteed: {{memory: 4}}}}\n    \
             - name: b\n      resources: {{guaranteed: {{memory: 4}}}}\n"
        );
        let mut world = world(&file);
        asks(&mut world, ("first", "root.a"), &[("a1", 5), ("a2", 5)]);
        asks(&mut world, ("second", "root.b"), &[("b1", 0)]);
        assert_eq!(placed(&mut world, "n1", 3), expected, "{word}");
    }
}

#[test]
fn an_order_of_queues_is_handed_down_to_queues_and_not_to_applications() {
    let world = world(
        "partitions:
- name: default
  queues:
  - name: root
    orderingpolicy: utilization
    queues:
    - name: a
      queues:
      - {name: x, orderingpolicy: fair}
      - {name: y, properties: {application.sort.priority: disabled}}
    - name: b
      properties: {application.sort.priority: enabled}
      queues:
      - name: x
    - name: c
    - name: d
      properties: {application.sort.priority: disabled}
      queues:
      - {name: x, orderingpolicy: priority-utilization, queues: [{name: z}]}
",
    );
    for (path, by_priority) in [
        ("root", false),
        ("root.a", false),
        ("root.a.x", true),
        ("root.a.y", false),
        ("root.b", true),
        ("root.b.x", true),
        ("root.c", true),
        ("root.d", false),
        ("root.d.x", true),
        // What a property hands down without the word holds below it.
        ("root.d.x.z", false),
    ] {
        assert_eq!(values(&world, path).priority_first, by_priority, "{path}");
    }
    assert_eq!(values(&world, "root.a.x").application_order, ApplicationOrder::Fair);
    assert_eq!(values(&world, "root.c"), PropertyValues::default());
}

#[test]
fn a_word_goes_with_a_property_that_says_the_same() {
    for (property, word) in [("fifo", "fifo"), ("stateaware", "fifo"), ("fair", "fair")] {
        let file = format!(
            "partitions: [{{name: default, queues: [{{name: root, queues: [{{name: a, orderingpolicy: {word}, \
             properties: {{application.sort.policy: {property}}}}}]}}]}}]"
        );
        let world = world(&file);
        let expected = if word == "fair" { ApplicationOrder::Fair } else { ApplicationOrder::Fifo };
        assert_eq!(values(&world, "root.a").application_order, expected, "{property}");
    }
}
