use super::*;
use crate::id::{Id, Slot};
use crate::resource::{Quantity, ResourceType};

fn queue(number: u32) -> QueueId {
    QueueId::from_slot(Slot::new(number, 0))
}

fn memory(amount: i64) -> Resources {
    [(ResourceType::MEMORY, Quantity::of(amount))].into_iter().collect()
}

fn limit(amount: i64, max_applications: u64) -> Limit {
    Limit { max: (amount > 0).then(|| memory(amount)), max_applications }
}

#[test]
fn a_tracker_lives_while_it_is_linked_used_or_limited() {
    let mut trackers = Trackers::default();
    let (ann, path) = (Name::new("ann"), [queue(0), queue(1)]);
    let leaf = trackers.link(TrackerKind::User, &ann, &path);
    trackers.increase(leaf, &memory(10));
    trackers.increase(leaf, &memory(10));
    trackers.decrease(leaf, &memory(10));
    assert_eq!(trackers.level(leaf).used, memory(10));
    trackers.decrease(leaf, &memory(10));
    trackers.unlink(leaf);
    assert_eq!(
        trackers,
        Trackers {
            rows: trackers.rows.clone(),
            levels: trackers.levels.clone(),
            ..Trackers::default()
        }
    );
    assert_eq!((trackers.rows.len(), trackers.levels.len()), (0, 0));

    trackers.set_limit(&path, &LimitSubject::User(ann.clone()), limit(40, 0));
    let leaf = trackers.link(TrackerKind::User, &ann, &path);
    trackers.unlink(leaf);
    assert!(trackers.find(TrackerKind::User, "ann").is_some(), "a limited user stays");
}

#[test]
fn a_named_user_limit_stands_alone_beside_that_of_the_others() {
    let mut trackers = Trackers::default();
    let path = [queue(0), queue(1)];
    let bob = trackers.link(TrackerKind::User, &Name::new("bob"), &path);
    trackers.increase(bob, &memory(4));
    trackers.set_limit(&path, &LimitSubject::User(Name::new("sue")), limit(0, 3));
    trackers.set_limit(&path, &LimitSubject::AnyUser, limit(10, 0));
    let sue = trackers.link(TrackerKind::User, &Name::new("sue"), &path);
    let ann = trackers.link(TrackerKind::User, &Name::new("ann"), &path);
    let left = |level| trackers.level(level).left.clone();
    assert_eq!((left(bob), left(ann), left(sue)), (Some(memory(6)), Some(memory(10)), None));
    assert!(trackers.level(bob).from_wildcard && !trackers.level(sue).from_wildcard);
}

#[test]
fn the_group_is_the_first_configured_one_from_the_leaf_up() {
    let mut trackers = Trackers::default();
    let (root, leaf) = ([queue(0)], [queue(0), queue(1)]);
    for group in ["test", "dev"] {
        trackers.set_limit(&leaf, &LimitSubject::Group(Name::new(group)), limit(1, 0));
    }
    trackers.set_limit(&root, &LimitSubject::Group(Name::new("ops")), limit(1, 0));
    let chosen = |trackers: &Trackers, groups: &[&str]| {
        let groups: Vec<Name> = groups.iter().map(Name::new).collect();
        trackers.group_for(&leaf, &groups).map(|name| alloc::string::String::from(&*name))
    };
    assert_eq!(chosen(&trackers, &["dev", "test", "ops"]).as_deref(), Some("test"));
    assert_eq!(chosen(&trackers, &["ops"]).as_deref(), Some("ops"));
    trackers.set_limit(&leaf, &LimitSubject::AnyGroup, limit(1, 0));
    assert_eq!(chosen(&trackers, &["ops"]).as_deref(), Some("*"), "the leaf hides the root");
    assert_eq!(chosen(&trackers, &[]), None);
}

#[test]
fn what_is_left_follows_use_at_every_level() {
    let mut trackers = Trackers::default();
    let (bob, q, r) = (Name::new("bob"), [queue(0), queue(1)], [queue(0), queue(2)]);
    trackers.set_limit(&[queue(0)], &LimitSubject::User(bob.clone()), limit(100, 2));
    trackers.set_limit(&q, &LimitSubject::User(bob.clone()), limit(60, 1));
    let (in_q, in_r) =
        (trackers.link(TrackerKind::User, &bob, &q), trackers.link(TrackerKind::User, &bob, &r));
    trackers.increase(in_q, &memory(50));
    trackers.increase(in_r, &memory(45));
    let refusing = |trackers: &Trackers, leaf, amount| {
        trackers
            .up(leaf)
            .find_map(|(_, level)| level.shortfall(&memory(amount)).map(|_| level.queue))
    };
    assert_eq!(refusing(&trackers, in_q, 5), None);
    assert_eq!(refusing(&trackers, in_q, 8), Some(queue(0)), "5 are left at the root");
    assert_eq!(refusing(&trackers, in_q, 11), Some(queue(1)), "10 are left at the leaf");
    trackers.start_application(in_q);
    let allowed =
        |trackers: &Trackers, leaf| trackers.up(leaf).all(|(_, one)| one.allows_application());
    assert!(!allowed(&trackers, in_q) && allowed(&trackers, in_r));
}

#[test]
fn a_level_stays_while_any_application_is_tied_to_it() {
    let mut trackers = Trackers::default();
    let (ann, path) = (Name::new("ann"), [queue(0), queue(1)]);
    let first = trackers.link(TrackerKind::User, &ann, &path);
    let second = trackers.link(TrackerKind::User, &ann, &path);
    assert_eq!(first, second);
    trackers.unlink(first);
    assert_eq!(trackers.find_level(second).map(Level::links), Some(1));
    trackers.unlink(second);
    assert_eq!(trackers.find_level(second), None);
    assert_eq!(trackers.find(TrackerKind::User, "ann"), None);
}

#[test]
fn each_name_has_the_limit_that_was_set_for_it_last() {
    let mut trackers = Trackers::default();
    let path = [queue(0), queue(1)];
    for (subject, amount) in [
        (LimitSubject::User(Name::new("ann")), 1),
        (LimitSubject::AnyUser, 2),
        (LimitSubject::Group(Name::new("dev")), 3),
        (LimitSubject::Group(Name::new("ops")), 4),
        (LimitSubject::AnyGroup, 5),
        (LimitSubject::Group(Name::new("dev")), 6),
    ] {
        trackers.set_limit(&path, &subject, limit(amount, 0));
    }
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
        let tracker = trackers.find(kind, name).map(|tracker| trackers.tracker(tracker).root);
        let leaf = tracker.and_then(|root| trackers.child(root, queue(1)));
        let left = leaf.and_then(|leaf| trackers.level(leaf).left.clone());
        let tracked = kind == TrackerKind::Group || name == "ann";
        let max = expected.and_then(|limit| limit.max).filter(|_| tracked);
        assert_eq!(left, max, "what is left of the limit of {kind:?} {name}");
    }
}
