//! The corner cases of queues and limits §12 about users and groups, in the order of that list.
//! "One manager" is the scene SD-11; missing arguments and removal are in `by_itself`.

use super::{GROUP, Scene, USER};

#[test]
fn the_group_comes_from_the_leaf_a_parent_the_others_or_is_none() {
    let mut scene = Scene::new(
        "root.p.l root.p.m",
        "root group all memory=100
         root.p group ops memory=100
         root.p.l group dev memory=100
         root.p.l group * memory=100",
    );
    for (name, queue, groups, expected) in [
        ("leaf", "root.p.l", &["all", "ops", "dev"][..], Some("dev")),
        ("others", "root.p.l", &["ops"], Some("*")),
        ("parent", "root.p.m", &["all", "ops"], Some("ops")),
        ("root", "root.p.m", &["all"], Some("all")),
        ("none", "root.p.m", &["elsewhere"], None),
        ("no groups", "root.p.l", &[], None),
    ] {
        scene.app(name, queue, name, groups);
        assert!(scene.ask(name, name, "memory=1"));
        assert_eq!(scene.group(name), expected, "{name}");
    }
}

#[test]
fn the_limit_of_all_others_reaches_users_from_before_and_after_and_no_named_one() {
    let mut scene = Scene::new("root.q", "root.q user sue memory=40");
    scene.app("before", "root.q", "bob", &[]);
    scene.app("named", "root.q", "sue", &[]);
    assert!(scene.ask("b1", "before", "memory=1") && scene.ask("s1", "named", "memory=1"));
    scene.configure("root.q user sue memory=40\nroot.q user * memory=10");
    scene.app("after", "root.q", "ann", &[]);
    assert!(scene.ask("a1", "after", "memory=1"));
    let limits =
        |scene: &Scene| ["bob", "ann", "sue"].map(|user| scene.limit(USER, user, "root.q"));
    assert_eq!(limits(&scene), ["memory=10 *", "memory=10 *", "memory=40"]);
    scene.configure("root.q user sue memory=40\nroot.q user * memory=20 apps=3");
    assert_eq!(limits(&scene), ["memory=20 apps=3 *", "memory=20 apps=3 *", "memory=40"]);
    scene.configure("root.q user sue memory=40");
    assert_eq!(limits(&scene), ["", "", "memory=40"], "only what came from it is cleared");
}

#[test]
fn a_file_without_limits_removes_trackers_without_use_and_clears_the_others() {
    let limits = "root.q user bob,idle memory=10\nroot.q group dev,empty memory=20 apps=2";
    let mut scene = Scene::new("root.q", limits);
    scene.app("1", "root.q", "bob", &["dev"]);
    assert!(scene.ask("k1", "1", "memory=5"));
    assert_eq!(scene.tracked(USER), ["bob", "idle"]);
    assert_eq!(scene.tracked(GROUP), ["dev", "empty"]);
    scene.configure("");
    assert_eq!(scene.tracked(USER), ["bob"]);
    assert_eq!(scene.tracked(GROUP).len(), 0, "no application counts for a group now");
    assert_eq!(scene.used(USER, "bob", "root.q"), "memory=5");
    assert_eq!(scene.limit(USER, "bob", "root.q"), "");
    assert_eq!(scene.headroom("1"), "unlimited");
}

#[test]
fn what_is_exhausted_stays_so_when_the_same_limits_come_again() {
    let limits = "root.q user bob memory=20\nroot.q group dev memory=20";
    let mut scene = Scene::new("root.q", limits);
    scene.app("1", "root.q", "bob", &["dev"]);
    assert!(scene.ask("k1", "1", "memory=10") && scene.ask("k2", "1", "memory=10"));
    for limits in [limits, "root.q user bob memory=20 apps=9\nroot.q group dev memory=20"] {
        scene.configure(limits);
        assert_eq!(scene.headroom("1"), "memory=0");
        assert_eq!(scene.group("1"), Some("dev"));
    }
    assert!(!scene.ask("k3", "1", "memory=1"));
}

#[test]
fn one_application_at_once_whoever_the_limit_is_for() {
    for limits in [
        "root.q user bob apps=1",
        "root.q group dev apps=1",
        "root.q user * apps=1",
        "root.q group * apps=1",
        "root.q user bob apps=1\nroot.q group dev apps=2",
        "root.q user bob apps=2\nroot.q group dev apps=1",
    ] {
        let mut scene = Scene::new("root.q", limits);
        scene.app("1", "root.q", "bob", &["dev"]);
        scene.app("2", "root.q", "bob", &["dev"]);
        assert!(scene.ask("k1", "1", "memory=1"), "{limits}");
        assert!(!scene.ask("k2", "2", "memory=1"), "{limits}");
        assert!(scene.ask("k3", "1", "memory=1"), "{limits}: the first goes on");
        scene.remove("1");
        assert!(scene.is_placed("k2"), "{limits}: the first is gone");
    }
}

#[test]
fn the_lower_of_user_and_group_is_what_is_left() {
    for (user, group) in [(10, 30), (30, 10)] {
        let limits = format!("root.q user bob memory={user}\nroot.q group dev memory={group}");
        let mut scene = Scene::new("root.q", &limits);
        scene.app("1", "root.q", "bob", &["dev"]);
        assert!(scene.ask("k1", "1", "memory=4"));
        assert_eq!(scene.headroom("1"), "memory=6", "{limits}");
    }
}

#[test]
fn the_types_of_a_limit_change_at_once() {
    for who in ["user bob", "user *", "group dev", "group *"] {
        let mut scene = Scene::new("root.q", &format!("root.q {who} memory=50 apps=5"));
        scene.app("1", "root.q", "bob", &["dev"]);
        assert!(scene.ask("k1", "1", "memory=15 vcore=3"));
        for (max, left) in [
            ("memory=50", "memory=35"),
            ("vcore=10", "vcore=7"),
            ("memory=50 vcore=2", "memory=35 vcore=-1"),
            ("", "unlimited"),
        ] {
            scene.configure(&format!("root.q {who} {max} apps=5"));
            assert_eq!(scene.headroom("1"), left, "{who} {max}");
        }
    }
}

#[test]
fn applications_of_one_user_keep_groups_of_their_own() {
    let limits = "root.q group dev memory=10\nroot.r group ops memory=10";
    let mut scene = Scene::new("root.q root.r", limits);
    scene.app("1", "root.q", "bob", &["dev", "ops"]);
    scene.app("2", "root.r", "bob", &["dev", "ops"]);
    assert!(scene.ask("k1", "1", "memory=1") && scene.ask("k2", "2", "memory=2"));
    assert_eq!((scene.group("1"), scene.group("2")), (Some("dev"), Some("ops")));
    assert_eq!(scene.used(GROUP, "dev", "root"), "memory=1");
    assert_eq!(scene.used(GROUP, "ops", "root"), "memory=2");
    assert_eq!(scene.used(USER, "bob", "root"), "memory=3");
}

#[test]
fn members_of_a_group_that_loses_its_name_count_for_the_others_next() {
    let limits = "root.q group dev,qa memory=90\nroot.q group * memory=30";
    let mut scene = Scene::new("root.q", limits);
    scene.app("dev", "root.q", "bob", &["dev"]);
    scene.app("qa", "root.q", "sue", &["qa"]);
    assert!(scene.ask("d1", "dev", "memory=1") && scene.ask("q1", "qa", "memory=2"));
    scene.configure("root.q group qa memory=90\nroot.q group * memory=30");
    scene.app("next", "root.q", "ann", &["dev"]);
    assert!(scene.ask("n1", "next", "memory=4"));
    assert_eq!((scene.group("next"), scene.group("qa")), (Some("*"), Some("qa")));
    assert_eq!(scene.used(GROUP, "*", "root.q"), "memory=4");
    assert_eq!(scene.used(GROUP, "qa", "root.q"), "memory=2", "nobody else is touched");
}

#[test]
fn a_level_that_was_only_looked_at_has_its_place_and_nothing_else() {
    let mut scene = Scene::new("root.p.q", "root.p user bob apps=1");
    scene.app("1", "root.p.q", "bob", &[]);
    scene.app("2", "root.p.q", "bob", &[]);
    assert!(scene.ask("k1", "1", "memory=1") && !scene.ask("k2", "2", "memory=1"));
    scene.remove("1");
    scene.remove("2");
    assert_eq!(scene.used(USER, "bob", "root.p.q"), "none", "what nothing needs is gone");
    let root = scene.level(USER, "bob", "root").unwrap();
    assert!(root.used().is_empty() && root.running == 0 && root.links() == 0);
    assert!(!root.is_limited() && root.left().is_none());
}
