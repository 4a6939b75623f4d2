//! The worked examples W11 to W20 of queues and limits §11. What the reference counts with
//! `Increase` is an ask that is placed, with `Decrease` a release. W13 is a rule of the queue
//! file, and stands with the tests of its crate.

use super::{GROUP, Scene, USER};

#[test]
#[doc(alias = "queues W11")]
fn a_named_limit_that_goes_leaves_the_one_of_all_others() {
    let limits = "root.q user sue memory=40\nroot.q user * memory=10";
    let mut scene = Scene::new("root.q", limits);
    for user in ["sue", "bob", "ann"] {
        scene.app(user, "root.q", user, &[]);
    }
    assert!(scene.ask("s1", "sue", "memory=30"));
    assert!(!scene.ask("b1", "bob", "memory=11"));
    assert!(scene.ask("a1", "ann", "memory=10"));
    let headroom = |scene: &Scene| ["sue", "bob", "ann"].map(|user| scene.headroom(user));
    assert_eq!(headroom(&scene), ["memory=10", "memory=10", "memory=0"]);
    scene.configure("root.q user * memory=10");
    assert_eq!(scene.limit(USER, "sue", "root.q"), "memory=10 *");
    assert_eq!(headroom(&scene), ["memory=-20", "memory=10", "memory=0"]);
    assert!(!scene.ask("s2", "sue", "memory=1"), "nothing new until usage is below 10");
    assert!(!scene.ask("s3", "sue", "memory=1"));
    scene.release("sue", "s1");
    assert!(scene.is_placed("s2") && scene.is_placed("s3"));
}

#[test]
#[doc(alias = "queues W12")]
fn the_limit_of_every_level_holds() {
    let mut scene = Scene::new(
        "root.q root.r",
        "root user bob memory=100
         root.q user bob memory=60",
    );
    scene.app("in-q", "root.q", "bob", &[]);
    scene.app("in-r", "root.r", "bob", &[]);
    assert!(scene.ask("q1", "in-q", "memory=50") && scene.ask("r1", "in-r", "memory=45"));
    assert_eq!((&*scene.headroom("in-q"), &*scene.headroom("in-r")), ("memory=5", "memory=5"));
    assert!(!scene.ask("q2", "in-q", "memory=8"), "although the leaf has 10 left");
}

#[test]
#[doc(alias = "queues W14")]
fn the_group_by_the_order_of_the_file() {
    let mut scene = Scene::new(
        "root.q",
        "root.q group test,dev memory=100
         root.q group * memory=100
         root group ops memory=100",
    );
    for (user, groups, expected) in [
        ("u", &["dev", "test", "ops"][..], Some("test")),
        ("v", &["ops"], Some("*")),
        ("w", &[], None),
    ] {
        scene.app(user, "root.q", user, groups);
        assert!(scene.ask(&format!("k-{user}"), user, "memory=1"));
        assert_eq!(scene.group(user), expected, "the group of {user}");
    }
}

#[test]
#[doc(alias = "queues W15")]
fn the_common_group_is_one_limit_for_all_others() {
    let limits = "root.q group dev memory=100\nroot.q group * memory=30";
    let mut scene = Scene::new("root.q", limits);
    for (user, group) in [("x", "a"), ("y", "b"), ("z", "c"), ("d", "dev")] {
        scene.app(user, "root.q", user, &[group]);
    }
    assert!(scene.ask("x1", "x", "memory=20") && scene.ask("y1", "y", "memory=5"));
    assert_eq!(scene.used(GROUP, "*", "root.q"), "memory=25");
    assert!(!scene.ask("z1", "z", "memory=10"));
    assert_eq!(scene.headroom("z"), "memory=5");
    assert!(scene.ask("d1", "d", "memory=90"));
}

#[test]
#[doc(alias = "queues W16")]
fn the_smaller_of_user_and_group_and_the_union_of_types() {
    let limits = "root.q user sue memory=50\nroot.q group dev memory=40";
    let mut scene = Scene::new("root.q", limits);
    scene.app("sue", "root.q", "sue", &["dev"]);
    scene.app("bob", "root.q", "bob", &["dev"]);
    assert!(scene.ask("s1", "sue", "memory=15") && scene.ask("b1", "bob", "memory=20"));
    assert_eq!(scene.headroom("sue"), "memory=5");
    scene.configure("root.q user sue memory=50\nroot.q group dev vcore=2000");
    assert_eq!(scene.headroom("sue"), "memory=35 vcore=2000");
}

#[test]
#[doc(alias = "queues W17")]
fn an_application_counts_at_every_level() {
    let limits = "root.q user bob apps=1\nroot user bob apps=2";
    let mut scene = Scene::new("root.q root.r", limits);
    for (app, queue) in [("1", "root.q"), ("2", "root.q"), ("3", "root.r"), ("4", "root.r")] {
        scene.app(app, queue, "bob", &[]);
    }
    assert!(scene.ask("k1", "1", "memory=1"));
    assert!(!scene.ask("k2", "2", "memory=1"), "the leaf allows one");
    assert!(scene.ask("k3", "3", "memory=1"));
    assert_eq!(scene.level(USER, "bob", "root").map(|level| level.running), Some(2));
    assert!(!scene.ask("k4", "4", "memory=1"), "the root allows two");
    assert!(scene.ask("k5", "1", "memory=1"), "counted already at every level");
}

#[test]
#[doc(alias = "queues W18")]
fn a_tracker_lives_while_it_is_used_or_limited() {
    for (limits, left) in [("", "none"), ("root.q user bob memory=90", "")] {
        let mut scene = Scene::new("root.q", limits);
        scene.app("1", "root.q", "bob", &[]);
        assert!(scene.ask("k1", "1", "memory=10") && scene.ask("k2", "1", "memory=10"));
        scene.release("1", "k1");
        assert_eq!(scene.used(USER, "bob", "root.q"), "memory=10");
        assert_eq!(scene.level(USER, "bob", "root.q").map(|level| level.running), Some(1));
        scene.release("1", "k2");
        assert_eq!(scene.used(USER, "bob", "root.q"), left, "with limits {limits:?}");
        assert_eq!(scene.tracked(USER).is_empty(), left == "none");
        assert_eq!(scene.application("1").link, None);
    }
}

#[test]
#[doc(alias = "queues W19")]
fn an_allocation_shrinks_and_grows_in_place() {
    let mut scene = Scene::new("root.q", "root.q user bob memory=80\nroot.q group dev memory=500");
    scene.app("1", "root.q", "bob", &["dev"]);
    assert!(scene.ask("k1", "1", "memory=80 vcore=1000"));
    scene.resize("k1", "memory=100 vcore=1000");
    scene.resize("k1", "memory=60 vcore=1000");
    for kind in [(USER, "bob"), (GROUP, "dev")] {
        assert_eq!(scene.used(kind.0, kind.1, "root.q"), "memory=60 vcore=1000");
    }
    scene.resize("k1", "memory=90 vcore=1000");
    assert_eq!(scene.used(USER, "bob", "root"), "memory=90 vcore=1000");
    assert_eq!(scene.headroom("1"), "memory=-10");
    assert!(scene.is_placed("k1"), "nothing is taken back");
}

#[test]
#[doc(alias = "queues W20")]
fn a_group_limit_that_goes_takes_its_use_along() {
    let mut scene = Scene::new("root.q", "root.q group dev memory=100");
    scene.app("1", "root.q", "bob", &["dev"]);
    assert!(scene.ask("k30", "1", "memory=30"));
    assert_eq!(scene.group("1"), Some("dev"));
    scene.configure("root.q group qa memory=100\nroot.q group * memory=100");
    assert_eq!(scene.tracked(GROUP), ["*", "qa"], "dev is empty and gone");
    assert!(scene.application("1").lacks_group());
    assert_eq!(scene.used(USER, "bob", "root.q"), "memory=30", "the user is charged as before");
    assert!(scene.ask("k5", "1", "memory=5"));
    assert_eq!(scene.group("1"), Some("*"));
    assert_eq!(scene.used(GROUP, "*", "root.q"), "memory=5", "it starts at 0 for 1");
    scene.release("1", "k30");
    assert_eq!(scene.used(GROUP, "*", "root.q"), "", "at most 5 come back, not 30");
    assert_eq!(scene.used(USER, "bob", "root.q"), "memory=5");
    scene.release("1", "k5");
    assert_eq!(scene.tracked(USER).len(), 0);
}
