//! Whatever the rules and the request, the answer is one that the books can carry out.

use headroom_core::books::QueueState;
use headroom_core::config::legal::{QUEUE_NAME_MAX, is_queue_name};
use headroom_core::config::{FilterConfig, RuleConfig};
use headroom_core::placement::{Refused, Request, may_submit, place};
use headroom_core::testkit::{World, leaf, parent, partition};
use headroom_core::{ApplicationEvent, Command, Event, Name, Submit};
use proptest::prelude::*;

/// What names, paths and values are made of; some are no names at all.
const WORDS: [&str; 22] = [
    "",
    "root",
    "a",
    "b",
    "p",
    "q",
    "ann",
    "bob",
    "new",
    "default",
    "@recovery@",
    ".",
    ".",
    ".",
    "root.p.",
    "A",
    "!",
    " ",
    "rootbeer",
    "é",
    "^a",
    "(",
];

const KINDS: [&str; 9] =
    ["provided", "user", "fixed", "tag", "Provided", "USER", "Tag", "recovery", "other"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..4).prop_map(|all| all.concat())
}

fn names() -> impl Strategy<Value = Vec<Name>> {
    prop::collection::vec(text().prop_map(Name::from), 0..3)
}

fn rule() -> impl Strategy<Value = RuleConfig> {
    let kind = prop::sample::select(vec!["", "", "allow", "deny", "Deny"]);
    let filter = prop_oneof![
        2 => Just(FilterConfig::default()),
        1 => (kind, names(), names())
            .prop_map(|(kind, users, groups)| FilterConfig { kind: kind.into(), users, groups }),
    ];
    // The first kinds are those that there are.
    let kind = prop_oneof![30 => 0..7_usize, 1 => 7..KINDS.len()];
    let one = (kind, any::<bool>(), filter, text()).prop_map(|(kind, create, filter, value)| {
        RuleConfig { name: KINDS[kind].into(), create, filter, parent: None, value }
    });
    prop::collection::vec(one, 1..4).prop_map(|chain| {
        let link =
            |parent: Option<Box<RuleConfig>>, rule| Some(Box::new(RuleConfig { parent, ..rule }));
        *chain.into_iter().fold(None, link).unwrap()
    })
}

/// Root for these, with leaves, parents, a queue only for ann, and perhaps a default.
fn world(rules: Vec<RuleConfig>, submit: &str, default: bool) -> World {
    let mut shut = parent("p", vec![leaf("q"), leaf("a")]);
    shut.submit_acl = "ann".into();
    let mut children = vec![leaf("a"), leaf("b"), shut];
    if default {
        children.push(leaf("default"));
    }
    let mut file = partition(parent("root", children));
    file.partitions[0].root.submit_acl = submit.into();
    file.partitions[0].placement_rules = rules;
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).unwrap();
    world
}

fn look(world: &World, submit: &Submit) {
    let forced = submit.tags.iter().any(|(key, _)| *key == "application.create.force");
    let partition = world.books.partition_named("default").unwrap();
    let request = Request {
        queue: &submit.queue,
        user: &submit.user,
        groups: &submit.groups,
        tags: &submit.tags,
        forced,
    };
    let books = &world.books;
    let placed = match place(books, partition, &request) {
        Ok(placed) => placed,
        Err(refused) => {
            let broken = books.partition(partition).rules.error().is_some();
            assert_eq!(matches!(refused, Refused::NoRules(_)), broken);
            assert!(!forced || !matches!(refused, Refused::NoMatch { .. }));
            let sentence = refused.to_string();
            assert!((20..10_000).contains(&sentence.len()), "{sentence}");
            return;
        }
    };
    let queue = books.queue(placed.nearest);
    assert_eq!(placed.exists, queue.path == placed.path);
    if placed.path == "root.@recovery@" {
        assert!(forced, "only a forced application goes to the recovery queue");
        return;
    }
    assert!(may_submit(books, placed.nearest, &submit.user, &submit.groups));
    assert!(!placed.exists || (queue.leaf && queue.state == QueueState::Active));
    assert!(placed.path.starts_with("root."), "{}", placed.path);
    assert!(placed.path.len() < 129 * (QUEUE_NAME_MAX + 1));
    assert!(placed.path.split('.').all(is_queue_name), "{}", placed.path);
    assert_eq!(*placed.path, *placed.path.to_lowercase());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn an_answer_can_be_carried_out(
        rules in prop::collection::vec(rule(), 0..5),
        submit_acl in prop::sample::select(vec!["*", "", "bob", " dev"]),
        default in any::<bool>(),
        submissions in prop::collection::vec((text(), text(), text(), names(), any::<bool>()), 1..6),
    ) {
        let mut world = world(rules, submit_acl, default);
        for (number, (queue, user, tag, groups, forced)) in submissions.into_iter().enumerate() {
            let mut tags = vec![(Name::new("A"), Name::from(tag.clone())), (Name::from(tag), Name::new("x"))];
            if forced {
                tags.push((Name::new("application.create.force"), Name::new("true")));
            }
            let submit = Submit {
                partition: Name::new("default"),
                application: Name::from(format!("app{number}")),
                queue: Name::from(queue),
                user: Name::from(user),
                groups,
                tags,
                ..Submit::default()
            };
            look(&world, &submit);
            match world.command(&Command::Submit(submit.clone())) {
                Err(refused) => prop_assert_eq!((refused.code().as_str(), &*submit.user), ("EMPTY_NAME", "")),
                Ok(events) => {
                    let added = matches!(events.last(), Some(Event::Application(ApplicationEvent::Added { .. })));
                    let rejected = matches!(events.last(), Some(Event::Application(ApplicationEvent::Rejected { .. })));
                    prop_assert!(added || rejected);
                }
            }
            world.books.check().unwrap();
        }
        prop_assert_eq!(world.replayed(), world.books);
    }
}
