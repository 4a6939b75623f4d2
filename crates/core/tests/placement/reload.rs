//! Queue files that change while applications come.

use headroom_core::books::QueueState;
use headroom_core::config::{Configuration, RuleConfig};
use headroom_core::testkit::{World, leaf, parent, partition};
use headroom_core::{ApplicationEvent, Command, Event, Name, Rejection, Submit};

/// Root with these leaves, and one rule of this name.
fn file(leaves: &[&str], rule: &str) -> Configuration {
    let mut file = partition(parent("root", leaves.iter().map(|name| leaf(name)).collect()));
    let rule = RuleConfig { name: rule.to_owned(), ..RuleConfig::default() };
    file.partitions[0].placement_rules = vec![rule];
    file
}

fn load(world: &mut World, file: Configuration) -> Result<Vec<Event>, Rejection> {
    world.command(&Command::Configure(Box::new(file)))
}

/// Submit to a queue; the code of the refusal, or nothing.
fn submit(world: &mut World, application: &str, queue: &str) -> Option<String> {
    let events = world
        .command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: Name::new(application),
            queue: Name::new(queue),
            user: Name::new("ann"),
            ..Submit::default()
        }))
        .unwrap();
    world.books.check().unwrap();
    match events.last() {
        Some(Event::Application(ApplicationEvent::Rejected { code, .. })) => Some(code.to_string()),
        _ => None,
    }
}

#[test]
fn a_failed_update_keeps_the_old_rules() {
    let mut world = World::default();
    load(&mut world, file(&["a"], "provided")).unwrap();
    let before = world.books.clone();
    let refused = load(&mut world, file(&["a", "b"], "recovery")).unwrap_err();
    assert_eq!(refused.code().as_str(), "PR-RECOVERY");
    assert_eq!(
        refused.to_string(),
        "partition default: placement rule 1 (recovery) cannot be in the queue file, because the \
         scheduler always adds this rule as the last rule. Remove the rule. Nothing was changed."
    );
    assert_eq!(world.books, before);
    assert_eq!(submit(&mut world, "app1", "root.a"), None);
}

#[test]
fn rules_that_cannot_be_built_at_first_are_mended_by_the_next_file() {
    let mut world = World::default();
    load(&mut world, file(&["a"], "nonsense")).unwrap();
    let partition = world.books.partition_named("default").unwrap();
    let error = world.books.partition(partition).rules.error().unwrap();
    assert_eq!((error.code().as_str(), error.number), ("PR-UNKNOWN", 1));
    assert_eq!(submit(&mut world, "app1", "root.a").as_deref(), Some("PL-NO-RULES"));
    load(&mut world, file(&["a"], "Provided")).unwrap();
    assert_eq!(submit(&mut world, "app1", "root.a"), None);
    assert_eq!(world.replayed(), world.books);
}

#[test]
fn a_draining_queue_takes_in_nothing_and_nothing_is_made_below() {
    let mut world = World::default();
    let mut first = file(&["a"], "provided");
    first.partitions[0].placement_rules[0].create = true;
    first.partitions[0].root.children.push(parent("p", vec![leaf("x")]));
    load(&mut world, first.clone()).unwrap();
    assert_eq!(submit(&mut world, "app1", "root.a"), None);
    assert_eq!(submit(&mut world, "app2", "root.p.x"), None);
    let mut second = first.clone();
    second.partitions[0].root.children.clear();
    load(&mut world, second).unwrap();
    let partition = world.books.partition_named("default").unwrap();
    let queue = world.books.queue_at(partition, "root.a").unwrap();
    assert_eq!(world.books.queue(queue).state, QueueState::Draining);
    assert_eq!(submit(&mut world, "app3", "root.a").as_deref(), Some("PL-REJECTED"));
    assert_eq!(submit(&mut world, "app4", "root.p.new").as_deref(), Some("PL-REJECTED"));
    load(&mut world, first).unwrap();
    assert_eq!(submit(&mut world, "app3", "root.a"), None);
    assert_eq!(submit(&mut world, "app4", "root.p.new"), None);
}

#[test]
fn access_lists_change_at_once_and_spare_what_is_placed() {
    let mut world = World::default();
    let mut file = file(&["a"], "provided");
    load(&mut world, file.clone()).unwrap();
    assert_eq!(submit(&mut world, "app1", "root.a"), None);
    file.partitions[0].root.submit_acl = "bob".into();
    load(&mut world, file).unwrap();
    assert_eq!(submit(&mut world, "app2", "root.a").as_deref(), Some("PL-REJECTED"));
    let partition = world.books.partition_named("default").unwrap();
    assert_eq!(world.books.partition(partition).applications.len(), 1);
    assert_eq!(world.books.partition(partition).rejected.len(), 1);
}
