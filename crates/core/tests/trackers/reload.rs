//! What a changed queue file does to trackers: the table of queues and limits §8.6.

use headroom_core::{ApplicationEvent, Event};

use super::{GROUP, Scene, USER};

#[test]
fn a_named_limit_makes_its_tracker_with_the_levels_of_its_path() {
    let mut scene = Scene::new("root.p.q", "");
    scene.configure("root.p.q user bob memory=10\nroot.p.q group dev,* apps=2");
    for queue in ["root", "root.p"] {
        assert_eq!(scene.limit(USER, "bob", queue), "");
    }
    assert_eq!(scene.limit(USER, "bob", "root.p.q"), "memory=10");
    assert_eq!(scene.limit(GROUP, "dev", "root.p.q"), "apps=2");
    assert_eq!(scene.limit(GROUP, "*", "root.p.q"), "apps=2");
    scene.configure("");
    assert_eq!((scene.tracked(USER).len(), scene.tracked(GROUP).len()), (0, 0));
}

#[test]
fn the_limit_of_all_others_is_set_for_every_user_with_a_tracker() {
    let mut scene = Scene::new("root.q root.r", "root.r user sue memory=40");
    scene.app("1", "root.q", "bob", &[]);
    assert!(scene.ask("k1", "1", "memory=1"));
    scene.configure("root.r user sue memory=40\nroot.r user * memory=10\nroot.q user * apps=7");
    assert_eq!(scene.limit(USER, "bob", "root.r"), "memory=10 *", "bob has no usage there");
    assert_eq!(scene.limit(USER, "sue", "root.q"), "apps=7 *", "nor has she");
    assert_eq!(scene.limit(USER, "sue", "root.r"), "memory=40");
    scene.app("2", "root.q", "ann", &[]);
    assert!(scene.ask("k2", "2", "memory=1"));
    assert_eq!(scene.limit(USER, "ann", "root.r"), "none", "a later user has the own paths only");
    scene.remove("1");
    assert_eq!(scene.tracked(USER), ["ann", "bob", "sue"], "a limit keeps a tracker");
    scene.configure("");
    assert_eq!(scene.tracked(USER), ["ann"]);
    assert_eq!(scene.limit(USER, "ann", "root.q"), "");
}

#[test]
fn whoever_is_named_for_the_first_time_is_one_of_the_others_elsewhere() {
    let mut scene = Scene::new("root.q root.r", "root.r user * memory=10");
    scene.configure("root.r user * memory=10\nroot.q user sue memory=40");
    assert_eq!(scene.limit(USER, "sue", "root.r"), "memory=10 *");
    scene.configure("root.r user * memory=10\nroot.r user sue apps=2");
    assert_eq!(scene.limit(USER, "sue", "root.r"), "apps=2", "a named limit takes nothing from it");
    scene.configure("root.r user * memory=10");
    assert_eq!(scene.limit(USER, "sue", "root.r"), "memory=10 *");
}

#[test]
fn a_limit_of_all_others_goes_although_others_are_named_before_and_after() {
    let mut scene = Scene::new("root.q", "root.q user sue memory=40\nroot.q user * memory=10");
    scene.app("1", "root.q", "bob", &[]);
    assert!(scene.ask("k1", "1", "memory=1"));
    scene.configure("root.q user ann memory=40");
    assert_eq!(scene.limit(USER, "bob", "root.q"), "");
    assert_eq!(scene.tracked(USER), ["ann", "bob"]);
}

#[test]
fn a_lowered_limit_holds_back_until_use_is_below_it() {
    let mut scene = Scene::new("root.q", "root.q user bob memory=40");
    scene.app("1", "root.q", "bob", &[]);
    assert!(scene.ask("k1", "1", "memory=30"));
    scene.configure("root.q user bob memory=20");
    assert_eq!(scene.headroom("1"), "memory=-10");
    assert!(!scene.ask("k2", "1", "memory=1"));
    scene.configure("root.q user bob memory=31");
    assert!(scene.world.settle().is_empty() && scene.is_placed("k2"), "woken by the new limit");
}

#[test]
fn a_group_that_goes_gives_back_only_what_its_applications_in_that_queue_added() {
    let limits = "root group dev memory=500\nroot.q group dev memory=100";
    let mut scene = Scene::new("root.q root.r", limits);
    scene.app("1", "root.q", "bob", &["dev"]);
    scene.app("2", "root.r", "sue", &["dev"]);
    assert!(scene.ask("k1", "1", "memory=30") && scene.ask("k2", "2", "memory=7"));
    assert_eq!(scene.used(GROUP, "dev", "root"), "memory=37");
    scene.configure("root group dev memory=500");
    assert_eq!(scene.used(GROUP, "dev", "root"), "memory=7", "what the sibling added stays");
    assert!(scene.ask("k3", "1", "memory=1"));
    assert_eq!(scene.group("1"), Some("dev"), "by the limit of the root now");
    assert_eq!(scene.used(GROUP, "dev", "root"), "memory=8");
    scene.release("1", "k1");
    assert_eq!(scene.used(GROUP, "dev", "root"), "memory=7", "nothing below zero");
    scene.release("2", "k2");
    assert_eq!(scene.used(GROUP, "dev", "root"), "");
}

#[test]
fn an_application_without_a_group_does_not_look_again() {
    let mut scene = Scene::new("root.q", "");
    scene.app("1", "root.q", "bob", &["dev"]);
    assert!(scene.ask("k1", "1", "memory=1"));
    scene.configure("root.q group dev memory=1");
    assert!(scene.ask("k2", "1", "memory=5"), "no group holds it back");
    assert_eq!(scene.group("1"), None);
    assert!(!scene.application("1").lacks_group(), "that was decided");
}

#[test]
fn before_its_first_allocation_an_application_looks_again() {
    let mut scene = Scene::new("root.q", "root.q group dev memory=1");
    scene.app("1", "root.q", "bob", &["dev", "qa"]);
    assert!(!scene.ask("k1", "1", "memory=5"));
    assert_eq!(scene.group("1"), Some("dev"));
    scene.configure("root.q group qa memory=10\nroot.q group dev memory=1");
    assert!(scene.is_placed("k1"), "the first group of the new order has room");
    assert_eq!(scene.group("1"), Some("qa"));
}

#[test]
fn an_application_counts_in_its_new_group_from_its_next_allocation() {
    let mut scene = Scene::new("root.q", "root.q group dev apps=5");
    scene.app("1", "root.q", "bob", &["dev"]);
    scene.app("2", "root.q", "sue", &["dev"]);
    assert!(scene.ask("k1", "1", "memory=30"));
    scene.configure("root.q group * apps=1");
    // A look decides for a group, and nothing is placed yet: no node has 2,000,000.
    assert!(!scene.ask("k2", "1", "memory=2000000"));
    let running = |scene: &Scene| scene.level(GROUP, "*", "root.q").map(|level| level.running);
    assert_eq!((scene.group("1"), running(&scene)), (Some("*"), Some(0)));
    assert!(scene.ask("s1", "2", "memory=1"), "so another may start");
    assert_eq!(running(&scene), Some(1));
    assert!(scene.ask("k3", "1", "memory=1"), "it runs already, and is held back no more");
    assert_eq!(running(&scene), Some(2));
    assert_eq!(scene.used(GROUP, "*", "root.q"), "memory=2");
    scene.remove("1");
    assert_eq!((running(&scene), &*scene.used(GROUP, "*", "root.q")), (Some(1), "memory=1"));
}

#[test]
fn a_group_that_changes_twice_is_told_nothing_twice() {
    let mut scene = Scene::new("root.q", "root.q group dev memory=100");
    scene.app("1", "root.q", "bob", &["dev", "qa", "ops"]);
    assert!(scene.ask("k1", "1", "memory=10"));
    scene.configure("root.q group qa memory=100");
    assert!(scene.ask("k2", "1", "memory=20"));
    scene.configure("root.q group ops memory=100");
    assert!(scene.ask("k3", "1", "memory=40"));
    assert_eq!(scene.used(GROUP, "ops", "root.q"), "memory=40");
    scene.resize("k3", "memory=45 vcore=3");
    assert_eq!(scene.used(GROUP, "ops", "root.q"), "memory=45 vcore=3", "growth is new");
    scene.resize("k1", "memory=4");
    assert_eq!(scene.used(GROUP, "ops", "root.q"), "memory=39 vcore=3", "shrinking gives back");
    scene.release("1", "k2");
    scene.release("1", "k3");
    assert_eq!(scene.used(GROUP, "ops", "root.q"), "", "never below zero");
    assert_eq!(scene.used(USER, "bob", "root.q"), "memory=4");
    scene.release("1", "k1");
    assert_eq!(scene.tracked(USER).len(), 0);
}

#[test]
fn what_waits_for_a_group_is_woken_when_another_leaves_it() {
    for limit in ["memory=10 apps=1", "memory=10"] {
        let mut scene = Scene::new("root.q", &format!("root.q group dev {limit}"));
        scene.app("1", "root.q", "bob", &["dev"]);
        scene.app("2", "root.q", "sue", &["dev"]);
        assert!(scene.ask("k1", "1", "memory=10") && !scene.ask("k2", "2", "memory=4"));
        let application = scene.application_id("1");
        scene.apply(&Event::Application(ApplicationEvent::GroupUnlinked { application }));
        scene.world.settle();
        assert!(scene.is_placed("k2"), "by the event alone, whatever follows it: {limit}");
    }
}
