//! A scheduler made for books that are in use already: after a restart, for a plan.

use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, AskEvent, Command, Event, Name, Scheduler, Submit, Termination};

fn world() -> World {
    let mut world = World::default();
    let configuration = partition(parent("root", vec![leaf("a")]));
    world.command(&Command::Configure(Box::new(configuration))).expect("the command is legal");
    world
}

fn add_node(world: &mut World, name: &str, capacity: Amounts) {
    let (partition, node) = (Name::new("default"), Name::new(name));
    let add = AddNode { partition, node, capacity, schedulable: true, ..AddNode::default() };
    world.command(&Command::AddNode(add)).expect("the command is legal");
}

fn submit(world: &mut World, application: &str) {
    let submit = Submit {
        partition: Name::new("default"),
        application: Name::new(application),
        queue: Name::new("root.a"),
        user: Name::new("ann"),
        ..Submit::default()
    };
    world.command(&Command::Submit(submit)).expect("the command is legal");
}

fn ask(world: &mut World, application: &str, key: &str, resources: Amounts) {
    let ask = Ask {
        partition: Name::new("default"),
        application: Name::new(application),
        key: Name::new(key),
        resources,
        ..Ask::default()
    };
    world.command(&Command::Ask(ask)).expect("the command is legal");
}

fn restart(world: &mut World) {
    world.scheduler = Scheduler::new(&world.books);
}

#[test]
fn a_release_of_an_application_that_asks_for_nothing_is_followed_after_a_restart() {
    let mut world = world();
    add_node(&mut world, "n1", amounts([("vcore", 10)]));
    submit(&mut world, "app1");
    ask(&mut world, "app1", "k1", amounts([("vcore", 1)]));
    world.settle();
    restart(&mut world);
    let release = Command::Release {
        partition: Name::new("default"),
        application: Name::new("app1"),
        key: Some(Name::new("k1")),
        termination: Termination::StoppedByRm,
    };
    assert_eq!(world.command(&release).map(|events| events.len()), Ok(3));
}

/// Nodes whose names arrive in an order that leaves no number between neighbors, so that all names are renumbered
/// while they are read.
fn crowded_names() -> World {
    let mut world = world();
    for name in ["n1", "n2"] {
        add_node(&mut world, name, amounts([("vcore", 10)]));
    }
    for number in (0..40).rev() {
        add_node(&mut world, &format!("n1{number:02}"), amounts([("vcore", 10)]));
    }
    world
}

#[test]
fn nodes_are_tried_in_the_same_order_after_a_restart_whatever_their_names() {
    let placed = |mut world: World| {
        submit(&mut world, "app1");
        for number in 0..60 {
            ask(&mut world, "app1", &format!("k{number:02}"), amounts([("vcore", 1)]));
        }
        let events = world.settle();
        let node = |event: &Event| match event {
            Event::Ask(AskEvent::Placed { node, .. }) => Some(world.books.node(*node).name.clone()),
            _ => None,
        };
        events.iter().filter_map(node).collect::<Vec<Name>>()
    };
    let mut restarted = crowded_names();
    restart(&mut restarted);
    let (before, after) = (placed(crowded_names()), placed(restarted));
    assert_eq!(before.len(), 60);
    assert_eq!(before, after);
}

#[test]
fn a_node_that_leaves_after_a_restart_is_gone_from_the_order() {
    let mut world = crowded_names();
    restart(&mut world);
    let (partition, node) = (Name::new("default"), Name::new("n106"));
    world.command(&Command::RemoveNode { partition, node }).unwrap();
    submit(&mut world, "app1");
    for number in 0..41 {
        ask(&mut world, "app1", &format!("k{number}"), amounts([("vcore", 10)]));
    }
    world.settle();
    let placed = world.books.allocations().iter().filter(|(_, row)| !row.is_pending()).count();
    assert_eq!(placed, 41, "one ask fills each of the nodes that are left");
}

#[test]
fn an_ask_for_a_type_that_leaves_the_cluster_keeps_a_reason() {
    let mut world = world();
    add_node(&mut world, "n1", amounts([("vcore", 8), ("gpu", 1)]));
    add_node(&mut world, "n2", amounts([("vcore", 8)]));
    submit(&mut world, "app1");
    ask(&mut world, "app1", "k1", amounts([("gpu", 2)]));
    let code = |world: &mut World| {
        world.settle();
        let (ask, _) = world.books.allocations().iter().next().unwrap();
        let wait = world.scheduler.wait_of(&world.books, ask);
        wait.map(|wait| wait.code(&world.books, ask).as_str())
    };
    assert_eq!(code(&mut world), Some("IMPOSSIBLE"));
    let (partition, node) = (Name::new("default"), Name::new("n1"));
    world.command(&Command::RemoveNode { partition, node }).unwrap();
    assert_eq!(code(&mut world), Some("IMPOSSIBLE"));
}

#[test]
fn an_ask_that_is_repeated_is_accepted_and_changes_nothing() {
    let mut world = world();
    add_node(&mut world, "n1", amounts([("vcore", 8)]));
    submit(&mut world, "app1");
    ask(&mut world, "app1", "k1", amounts([("vcore", 2)]));
    world.settle();
    let before = world.books.clone();
    ask(&mut world, "app1", "k1", amounts([("vcore", 2)]));
    assert_eq!(world.books, before);
}
