use alloc::vec::Vec;

use super::*;
use crate::id::{Id, Slot};
use crate::resource::{Amounts, Quantity, ResourceType};

fn queue(number: u32) -> QueueId {
    QueueId::from_slot(Slot::new(number, 0))
}

fn memory(amount: i64) -> Resources {
    [(ResourceType::MEMORY, Quantity::of(amount))].into_iter().collect()
}

fn limit(amount: i64, max_applications: u64) -> Limit {
    Limit { max: (amount > 0).then(|| memory(amount)), max_applications }
}

/// Sets all limits of a queue: subject, memory, and applications.
fn set(trackers: &mut Trackers, path: &[QueueId], limits: &[(LimitSubject, i64, u64)]) {
    let settings: Vec<LimitSettings> = limits
        .iter()
        .map(|(subject, amount, max_applications)| LimitSettings {
            subject: subject.clone(),
            max: Amounts::from([("memory", *amount)]),
            max_applications: *max_applications,
        })
        .collect();
    let max = limits.iter().map(|(_, amount, _)| limit(*amount, 0).max).collect();
    trackers.set_limits(path, &settings, max).unwrap();
}

fn user(name: &str) -> LimitSubject {
    LimitSubject::User(Name::new(name))
}

fn group(name: &str) -> LimitSubject {
    LimitSubject::Group(Name::new(name))
}

#[test]
fn a_tracker_lives_while_it_is_linked_used_or_limited() {
    let mut trackers = Trackers::default();
    let (ann, path) = (Name::new("ann"), [queue(0), queue(1)]);
    let leaf = trackers.link(TrackerKind::User, &ann, &path).unwrap();
    trackers.increase(leaf, &memory(10)).unwrap();
    trackers.increase(leaf, &memory(10)).unwrap();
    trackers.decrease(leaf, &memory(10)).unwrap();
    assert_eq!(trackers.level(leaf).used(), memory(10));
    trackers.decrease(leaf, &memory(10)).unwrap();
    trackers.unlink(leaf).unwrap();
    assert_eq!(
        trackers,
        Trackers {
            rows: trackers.rows.clone(),
            levels: trackers.levels.clone(),
            accounts: trackers.accounts.clone(),
            ..Trackers::default()
        }
    );
    assert_eq!((trackers.rows.len(), trackers.levels.len()), (0, 0));

    set(&mut trackers, &path, &[(LimitSubject::User(ann.clone()), 40, 0)]);
    let leaf = trackers.link(TrackerKind::User, &ann, &path).unwrap();
    trackers.unlink(leaf).unwrap();
    assert!(trackers.find(TrackerKind::User, "ann").is_some(), "a limited user stays");
}

#[test]
fn a_named_user_limit_stands_apart_from_that_of_the_others() {
    let mut trackers = Trackers::default();
    let path = [queue(0), queue(1)];
    let bob = trackers.link(TrackerKind::User, &Name::new("bob"), &path).unwrap();
    trackers.increase(bob, &memory(4)).unwrap();
    set(&mut trackers, &path, &[(user("sue"), 0, 3), (LimitSubject::AnyUser, 10, 0)]);
    let sue = trackers.link(TrackerKind::User, &Name::new("sue"), &path).unwrap();
    let ann = trackers.link(TrackerKind::User, &Name::new("ann"), &path).unwrap();
    let left = |level| trackers.level(level).left();
    assert_eq!((left(bob), left(ann), left(sue)), (Some(memory(6)), Some(memory(10)), None));
    assert!(trackers.level(bob).from_wildcard && !trackers.level(sue).from_wildcard);
}

#[test]
fn the_group_is_the_first_configured_one_from_the_leaf_up() {
    let mut trackers = Trackers::default();
    let (root, leaf) = ([queue(0)], [queue(0), queue(1)]);
    set(&mut trackers, &leaf, &[(group("test"), 1, 0), (group("dev"), 1, 0)]);
    set(&mut trackers, &root, &[(group("ops"), 1, 0)]);
    let chosen = |trackers: &Trackers, groups: &[&str]| {
        let groups: Vec<Name> = groups.iter().map(Name::new).collect();
        trackers.group_for(&leaf, &groups).map(|name| alloc::string::String::from(&*name))
    };
    assert_eq!(chosen(&trackers, &["dev", "test", "ops"]).as_deref(), Some("test"));
    assert_eq!(chosen(&trackers, &["ops"]).as_deref(), Some("ops"));
    let all = [(group("test"), 1, 0), (group("dev"), 1, 0), (LimitSubject::AnyGroup, 1, 0)];
    set(&mut trackers, &leaf, &all);
    assert_eq!(chosen(&trackers, &["ops"]).as_deref(), Some("*"), "the leaf hides the root");
    assert_eq!(chosen(&trackers, &[]), None);
}

#[test]
fn what_is_left_follows_use_at_every_level() {
    let mut trackers = Trackers::default();
    let (bob, q, r) = (Name::new("bob"), [queue(0), queue(1)], [queue(0), queue(2)]);
    set(&mut trackers, &[queue(0)], &[(user("bob"), 100, 2)]);
    set(&mut trackers, &q, &[(user("bob"), 60, 1)]);
    let (in_q, in_r) = (
        trackers.link(TrackerKind::User, &bob, &q).unwrap(),
        trackers.link(TrackerKind::User, &bob, &r).unwrap(),
    );
    trackers.increase(in_q, &memory(50)).unwrap();
    trackers.increase(in_r, &memory(45)).unwrap();
    let refusing = |trackers: &Trackers, leaf, amount| {
        trackers
            .up(leaf)
            .find_map(|(_, level)| level.shortfall(&memory(amount)).map(|_| level.queue))
    };
    assert_eq!(refusing(&trackers, in_q, 5), None);
    assert_eq!(refusing(&trackers, in_q, 8), Some(queue(0)), "5 are left at the root");
    assert_eq!(refusing(&trackers, in_q, 11), Some(queue(1)), "10 are left at the leaf");
    trackers.start_application(in_q).unwrap();
    let allowed =
        |trackers: &Trackers, leaf| trackers.up(leaf).all(|(_, one)| one.allows_application());
    assert!(!allowed(&trackers, in_q) && allowed(&trackers, in_r));
}

#[test]
fn a_level_stays_while_any_application_is_tied_to_it() {
    let mut trackers = Trackers::default();
    let (ann, path) = (Name::new("ann"), [queue(0), queue(1)]);
    let first = trackers.link(TrackerKind::User, &ann, &path).unwrap();
    let second = trackers.link(TrackerKind::User, &ann, &path).unwrap();
    assert_eq!(first, second);
    trackers.unlink(first).unwrap();
    assert_eq!(trackers.find_level(second).map(|level| level.links()), Some(1));
    trackers.unlink(second).unwrap();
    assert_eq!(trackers.find_level(second), None);
    assert_eq!(trackers.find(TrackerKind::User, "ann"), None);
}

#[test]
fn each_name_has_the_limit_that_was_set_for_it_last() {
    let mut trackers = Trackers::default();
    let path = [queue(0), queue(1)];
    let limits = [
        (user("ann"), 1, 0),
        (LimitSubject::AnyUser, 2, 0),
        (group("dev"), 3, 0),
        (group("ops"), 4, 0),
        (LimitSubject::AnyGroup, 5, 0),
        (group("dev"), 6, 0),
    ];
    set(&mut trackers, &path, &limits);
    for (kind, name, expected) in [
        (TrackerKind::User, "ann", Some(1)),
        (TrackerKind::User, "bob", Some(2)),
        (TrackerKind::Group, "dev", Some(6)),
        (TrackerKind::Group, "ops", Some(4)),
        (TrackerKind::Group, "*", Some(5)),
        (TrackerKind::Group, "qa", None),
    ] {
        let found = trackers.configured(kind, name, queue(1));
        let expected = expected.map(|amount| limit(amount, 0));
        assert_eq!(found, expected.as_ref(), "the limit of {kind:?} {name}");
        let leaf = trackers.level_of(kind, name, queue(1));
        let left = leaf.and_then(|leaf| trackers.level(leaf).left());
        let tracked = kind == TrackerKind::Group || name == "ann";
        let max = expected.and_then(|limit| limit.max).filter(|_| tracked);
        assert_eq!(left, max, "what is left of the limit of {kind:?} {name}");
    }
}
