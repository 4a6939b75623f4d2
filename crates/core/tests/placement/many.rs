//! More queues than a client may have made.

use headroom_core::books::Partition;
use headroom_core::config::{FilterConfig, RuleConfig};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{ApplicationEvent, Command, Event, Millis, Name, Submit};

/// Submit a gang that can never run to a queue 128 levels deep, or by force what no rule takes;
/// why it is rejected.
fn submit(world: &mut World, number: usize, forced: bool) -> Option<(Name, Name)> {
    let quota = r#"{"resources":{"vcore":{"value":1}}}"#;
    let mut tags = vec![(Name::new("namespace.resourcequota"), Name::new(quota))];
    if forced {
        tags.push((Name::new("application.create.force"), Name::new("true")));
    }
    let queue = Name::from(format!("root.n{number}{}", ".x".repeat(127)));
    let submit = Submit {
        partition: Name::new("default"),
        application: Name::from(format!("app{number}")),
        queue,
        user: Name::new(if forced { "bob" } else { "ann" }),
        tags,
        placeholder_ask: amounts([("vcore", if forced { 0 } else { 2 })]),
        ..Submit::default()
    };
    let events = world.command(&Command::Submit(submit)).unwrap();
    match events.last() {
        Some(Event::Application(ApplicationEvent::Rejected { code, message, .. })) => {
            Some((code.clone(), message.clone()))
        }
        _ => None,
    }
}

fn made(world: &World) -> u32 {
    world.books.partitions().values().map(|one| one.queues_made).sum()
}

#[test]
fn rules_make_so_many_queues_and_no_more_until_empty_ones_are_gone() {
    let mut file = partition(parent("root", vec![leaf("a")]));
    let filter = FilterConfig { users: vec![Name::new("ann")], ..FilterConfig::default() };
    let provided =
        RuleConfig { name: "provided".into(), create: true, filter, ..RuleConfig::default() };
    file.partitions[0].placement_rules = vec![provided];
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).unwrap();
    for number in 0..512 {
        let (code, _) = submit(&mut world, number, false).unwrap();
        assert_eq!(code, "GANG_SIZE");
    }
    assert_eq!(made(&world), Partition::QUEUES_MADE_MAX);
    let (code, message) = submit(&mut world, 512, false).unwrap();
    assert_eq!(code, "TOO_MANY_QUEUES");
    let expected = "the path needs 128 new queues, but placement rules already created 65536 of at most 65536 \
                    in partition default. Wait for ten seconds, until empty queues are removed.";
    assert!(message.ends_with(expected), "{message}");
    let (code, _) = submit(&mut world, 7, false).unwrap();
    assert_eq!(code, "GANG_SIZE", "its queue is there");
    assert_eq!(submit(&mut world, 513, true), None, "what must not be lost goes to recovery");
    assert_eq!(made(&world), Partition::QUEUES_MADE_MAX + 1);
    let (partition, application) = (Name::new("default"), Name::new("app513"));
    world.command(&Command::RemoveApplication { partition, application }).unwrap();
    world.now = world.now + Millis::from_secs(20);
    world.command(&Command::Tick).unwrap();
    assert_eq!(made(&world), 0);
    world.books.check().unwrap();
    let (code, _) = submit(&mut world, 512, false).unwrap();
    assert_eq!((&*code, made(&world)), ("GANG_SIZE", 128));
}
