//! Properties of queues, from the file to what is in force.

use headroom_core::config::{PreemptionPolicy, QueueConfig};
use headroom_core::testkit::{World, leaf, parent, partition};
use headroom_core::view::QueueView;
use headroom_core::{Ask, Command, Name, Submit};

fn with(mut queue: QueueConfig, properties: &[(&str, &str)]) -> QueueConfig {
    queue.properties.extend(properties.iter().map(|(key, value)| ((*key).into(), (*value).into())));
    queue
}

fn configure(world: &mut World, root: QueueConfig) {
    world.command(&Command::Configure(Box::new(partition(root)))).unwrap();
    world.books.check().unwrap();
}

fn view(world: &World, path: &str) -> QueueView {
    let books = &world.books;
    let partition = books.partition_named("default").unwrap();
    QueueView::alone(books, books.queue_at(partition, path).unwrap())
}

/// The properties in force, as `key=value`.
fn properties(world: &World, path: &str) -> Vec<String> {
    let view = view(world, path);
    view.properties.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

#[test]
fn properties_of_a_parent_that_are_taken_out_of_the_file_are_forgotten_below() {
    let mut world = World::default();
    let file = |above: &[(&str, &str)], own: &[(&str, &str)]| {
        parent("root", vec![with(parent("p", vec![with(leaf("a"), own)]), above)])
    };
    configure(&mut world, file(&[("x", "1"), ("y", "2")], &[("y", "3")]));
    assert_eq!(properties(&world, "root.p.a"), ["x=1", "y=3"]);
    configure(&mut world, file(&[("y", "2")], &[]));
    assert_eq!(properties(&world, "root.p.a"), ["y=2"]);
    configure(&mut world, file(&[], &[]));
    assert_eq!(properties(&world, "root.p.a"), [""; 0]);
    assert_eq!(world.replayed(), world.books);
}

#[test]
fn own_properties_beat_what_is_passed_on_and_of_preemption_only_disabled_is() {
    let key = "preemption.policy";
    for (above, own, expected) in [
        ("disabled", None, PreemptionPolicy::Disabled),
        ("Disabled", None, PreemptionPolicy::Disabled),
        ("disabled", Some("fence"), PreemptionPolicy::Fence),
        ("disabled", Some("default"), PreemptionPolicy::Default),
        ("fence", None, PreemptionPolicy::Default),
        ("fence", Some("disabled"), PreemptionPolicy::Disabled),
    ] {
        let mut world = World::default();
        let own_list: Vec<(&str, &str)> = own.iter().map(|own| (key, *own)).collect();
        let a = with(leaf("a"), &own_list);
        configure(&mut world, parent("root", vec![with(parent("p", vec![a]), &[(key, above)])]));
        assert_eq!(view(&world, "root.p.a").preemption, expected, "{above} above, {own:?} here");
    }
}

#[test]
fn a_fence_shows_its_offset_alone_and_only_while_something_waits() {
    let mut world = World::default();
    let a = with(leaf("a"), &[("priority.offset", "5")]);
    let fence = [("priority.policy", "fence"), ("priority.offset", "-3")];
    configure(&mut world, parent("root", vec![with(parent("p", vec![a]), &fence)]));
    let shown =
        |world: &World| ["root.p.a", "root.p", "root"].map(|path| view(world, path).priority);
    assert_eq!(shown(&world), [None; 3]);
    let (partition, application) = (Name::new("default"), Name::new("app1"));
    let submit = Submit {
        partition: partition.clone(),
        application: application.clone(),
        queue: "root.p.a".into(),
        user: "ann".into(),
        ..Submit::default()
    };
    world.command(&Command::Submit(submit)).unwrap();
    for (key, priority, expected) in [("k1", 10, 15), ("k2", 20, 25)] {
        let ask = Ask {
            partition: partition.clone(),
            application: application.clone(),
            key: key.into(),
            resources: [("vcore", 1)].into(),
            priority,
            ..Ask::default()
        };
        world.command(&Command::Ask(ask)).unwrap();
        assert_eq!(shown(&world), [Some(expected), Some(-3), Some(-3)], "{key}");
    }
    let unknown = Ask { partition, application: "app9".into(), key: "k9".into(), ..Ask::default() };
    let refused = world.command(&Command::Ask(Ask { priority: 99, ..unknown })).unwrap_err();
    assert_eq!(refused.code().as_str(), "UNKNOWN_APPLICATION");
    assert_eq!(shown(&world), [Some(25), Some(-3), Some(-3)], "nobody unknown changes it");
}
