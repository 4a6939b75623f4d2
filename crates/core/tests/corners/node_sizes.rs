//! Corner cases of the sizes and other properties of nodes.

use headroom_core::id::NodeId;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::view::{Counters, NodeView, health, is_healthy};
use headroom_core::{AddNode, Ask, Command, Event, Name, Rejection, Submit, Termination};

fn world() -> World {
    let mut world = World::default();
    let file = partition(parent("root", vec![leaf("a")]));
    world.command(&Command::Configure(Box::new(file))).unwrap();
    world
        .command(&Command::Submit(Submit {
            partition: here(),
            application: "app1".into(),
            queue: "root.a".into(),
            user: "ann".into(),
            ..Submit::default()
        }))
        .unwrap();
    world
}

fn here() -> Name {
    Name::new("default")
}

fn add(world: &mut World, node: &str, capacity: Amounts) -> Result<Vec<Event>, Rejection> {
    world.command(&Command::AddNode(AddNode {
        partition: here(),
        node: node.into(),
        capacity,
        schedulable: true,
        ..AddNode::default()
    }))
}

fn view(world: &World, node: &str) -> NodeView {
    let (partition, _) = world.books.partitions().first_key_value().unwrap();
    let id: NodeId = *world.books.partition(*partition).nodes.get(node).unwrap();
    NodeView::of(&world.books, id)
}

/// The maximum of the root queue: what the cluster has.
fn total(world: &World) -> Option<Amounts> {
    let root = world.books.partitions().values().next().unwrap().root;
    world.books.queue(root).max.as_ref().map(|max| world.books.types().amounts(max))
}

fn vcore(amount: i64) -> Amounts {
    amounts([("vcore", amount)])
}

#[test]
fn types_without_an_amount_are_dropped_and_the_total_goes_with_the_last_node() {
    let mut world = world();
    assert_eq!(total(&world), None);
    add(&mut world, "n1", amounts([("vcore", 4), ("gpu", 0)])).unwrap();
    assert_eq!(view(&world, "n1").capacity, vcore(4));
    add(&mut world, "n2", amounts([("memory", 6)])).unwrap();
    assert_eq!(total(&world), Some(amounts([("memory", 6), ("vcore", 4)])));
    for node in ["n1", "n2"] {
        world.command(&Command::RemoveNode { partition: here(), node: node.into() }).unwrap();
    }
    assert_eq!(total(&world), None);
}

#[test]
fn a_size_may_grow_in_one_type_and_shrink_in_another_and_the_total_follows() {
    let mut world = world();
    add(&mut world, "n1", amounts([("vcore", 4), ("memory", 8)])).unwrap();
    add(&mut world, "n2", vcore(1)).unwrap();
    let resize = |capacity| Command::ResizeNode { partition: here(), node: "n1".into(), capacity };
    let size = amounts([("vcore", 6), ("memory", 3)]);
    world.command(&resize(size.clone())).unwrap();
    assert_eq!(view(&world, "n1").available, size);
    assert_eq!(total(&world), Some(amounts([("memory", 3), ("vcore", 7)])));
    assert_eq!(world.command(&resize(size)).unwrap(), [], "equal sizes change nothing");
}

#[test]
fn what_the_rm_forces_on_a_node_may_exceed_it_and_is_given_back_exactly() {
    let mut world = world();
    add(&mut world, "n1", vcore(4)).unwrap();
    let before = view(&world, "n1");
    let ask = Ask {
        partition: here(),
        application: "app1".into(),
        key: "a1".into(),
        resources: amounts([("vcore", 7), ("memory", 2)]),
        node: Some("n1".into()),
        ..Ask::default()
    };
    world.command(&Command::Ask(ask)).unwrap();
    let full = view(&world, "n1");
    assert_eq!(full.available, amounts([("memory", -2), ("vcore", -3)]));
    assert!(!is_healthy(&health(&world.books, Counters::default())), "it is reported");
    let (application, key) = ("app1".into(), Some("a1".into()));
    let termination = Termination::StoppedByRm;
    let partition = here();
    world.command(&Command::Release { partition, application, key, termination }).unwrap();
    assert_eq!(view(&world, "n1"), before);
    assert!(is_healthy(&health(&world.books, Counters::default())));
}

#[test]
fn attributes_of_a_node_have_a_bound() {
    let mut world = world();
    let long = "x".repeat(65_533);
    let mut join = |value: &str| {
        let attributes = [("key", value)].into_iter().collect();
        let (partition, node, capacity) = (here(), "n1".into(), vcore(4));
        let add = AddNode { partition, node, capacity, schedulable: true, attributes };
        world.command(&Command::AddNode(add)).map(|events| events.len())
    };
    assert_eq!(join(&(long.clone() + "x")).unwrap_err().code().as_str(), "LONG_NAME");
    assert_eq!(join(&long), Ok(1));
}
