//! Scenes that the product was asked for: see `docs/scenes.toml`.

use headroom_core::config::{Configuration, LimitPrecedence};
use headroom_core::{Command, Name};

use super::{GROUP, Scene, USER, configuration};

#[test]
#[doc(alias = "SD-03")]
fn joe_in_dev_and_test_lands_in_the_group_of_the_file() {
    for groups in [["dev", "test"], ["test", "dev"]] {
        for (limits, expected) in [
            ("root.q group test memory=9\nroot.q group dev memory=9", Some("test")),
            ("root.q group dev memory=9\nroot.q group test memory=9", Some("dev")),
            ("root group test memory=9\nroot.q group dev memory=9", Some("dev")),
            ("root.q group ops memory=9", None),
            ("", None),
        ] {
            let mut scene = Scene::new("root.q", limits);
            scene.app("1", "root.q", "joe", &groups);
            assert!(scene.ask("k1", "1", "memory=1"));
            assert_eq!(scene.group("1"), expected, "{groups:?} with {limits:?}");
        }
    }
}

#[test]
#[doc(alias = "SD-04")]
fn a_user_who_changes_groups_takes_his_next_application_along() {
    let mut scene = Scene::new("root.q", "root.q group dev,test memory=90");
    scene.app("app1", "root.q", "joe", &["dev"]);
    assert!(scene.ask("k1", "app1", "memory=1"));
    scene.app("app2", "root.q", "joe", &["test"]);
    assert!(scene.ask("k2", "app2", "memory=2") && scene.ask("k3", "app1", "memory=4"));
    assert_eq!((scene.group("app1"), scene.group("app2")), (Some("dev"), Some("test")));
    assert_eq!(scene.used(GROUP, "dev", "root.q"), "memory=5", "later ones stay with dev");
    assert_eq!(scene.used(GROUP, "test", "root.q"), "memory=2");
    assert_eq!(scene.used(USER, "joe", "root.q"), "memory=7");
}

#[test]
#[doc(alias = "SD-11")]
fn a_user_is_counted_in_each_partition_for_itself() {
    let limits = "root.q user joe memory=10 apps=1\nroot.q group dev memory=10";
    let mut scene = Scene::new("root.q", limits);
    let mut both = configuration("root.q", limits).partitions;
    both.extend(configuration("root.q", limits).partitions);
    both[1].name = Name::new("gpu");
    let both = Configuration { partitions: both, ..Configuration::default() };
    scene.command(&Command::Configure(Box::new(both)));
    for (partition, used) in [("default", "memory=10"), ("gpu", "memory=4")] {
        scene.partition = Name::new(partition);
        if partition == "gpu" {
            scene.add_node("n1");
        }
        scene.app("1", "root.q", "joe", &["dev"]);
        assert!(scene.ask("k1", "1", used), "{partition} does not know the other's use");
    }
    for (partition, used, left) in
        [("default", "memory=10", "memory=0"), ("gpu", "memory=4", "memory=6")]
    {
        scene.partition = Name::new(partition);
        assert_eq!(scene.used(USER, "joe", "root.q"), used, "{partition}");
        assert_eq!(scene.used(GROUP, "dev", "root"), used, "{partition}");
        assert_eq!(scene.headroom("1"), left, "{partition}");
    }
    assert_eq!(scene.books().partition_named("elsewhere"), None);
}

#[test]
#[doc(alias = "SD-14")]
fn who_goes_first_where_a_limit_names_the_user() {
    let limits = "root group dev memory=500 apps=3
                  root.p group dev memory=20 apps=1
                  root.p user sue memory=50 apps=2
                  root.p.q group dev memory=10 apps=1";
    for (precedence, headroom, second) in
        [(LimitPrecedence::Both, "memory=6", false), (LimitPrecedence::User, "memory=46", true)]
    {
        let mut scene = Scene::with("root.p.q", limits, precedence);
        scene.app("1", "root.p.q", "sue", &["dev"]);
        scene.app("2", "root.p.q", "sue", &["dev"]);
        scene.app("3", "root.p.q", "bob", &["dev"]);
        assert!(scene.ask("k1", "1", "memory=4"));
        assert_eq!(scene.headroom("1"), headroom, "{precedence:?}");
        assert_eq!(scene.ask("k2", "1", "memory=30"), second, "{precedence:?}: amounts");
        assert_eq!(scene.ask("k3", "2", "memory=1"), second, "{precedence:?}: applications");
        assert!(!scene.ask("k4", "3", "memory=1"), "no limit names bob");
        let used = if second { "memory=35" } else { "memory=4" };
        for queue in ["root", "root.p", "root.p.q"] {
            assert_eq!(scene.used(GROUP, "dev", queue), used, "{precedence:?}: still counted");
        }
    }
}

#[test]
#[doc(alias = "SD-14")]
fn group_limits_above_the_users_own_hold_him_still() {
    for (limits, user_first) in [
        ("root group dev memory=5\nroot.p user sue memory=50", false),
        ("root.p group dev memory=5\nroot user sue memory=50", true),
        ("root.p group dev memory=5\nroot.p user * memory=50", false),
        ("root.p group * memory=5\nroot.p.q user sue memory=50", false),
        ("root.p.q group * memory=5\nroot.p.q user sue memory=50", true),
    ] {
        for precedence in [LimitPrecedence::Both, LimitPrecedence::User] {
            let mut scene = Scene::with("root.p.q", limits, precedence);
            scene.app("1", "root.p.q", "sue", &["dev"]);
            let allowed = user_first && precedence == LimitPrecedence::User;
            assert_eq!(scene.ask("k1", "1", "memory=6"), allowed, "{limits} {precedence:?}");
        }
    }
}

#[test]
#[doc(alias = "SD-14")]
fn another_precedence_counts_at_once() {
    let limits = "root.q group dev memory=5\nroot.q user sue memory=50";
    let mut scene = Scene::new("root.q", limits);
    scene.app("1", "root.q", "sue", &["dev"]);
    assert!(!scene.ask("k1", "1", "memory=6"));
    scene.precedence = LimitPrecedence::User;
    scene.configure(limits);
    assert!(scene.is_placed("k1"));
    scene.precedence = LimitPrecedence::Both;
    scene.configure(limits);
    assert_eq!(scene.headroom("1"), "memory=-1");
}
