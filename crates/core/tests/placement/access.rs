//! Who may submit where.

use headroom_core::Name;
use headroom_core::config::AccessList;
use headroom_core::placement::{may_administer, may_submit};
use headroom_core::testkit::{World, leaf, parent, partition};
use headroom_core::{Command, decide};

/// Whether somebody may submit to, and administer, the queues of W25.
fn rights(queue: &str, user: &str, groups: &[&str]) -> (bool, bool) {
    let mut p = parent("p", vec![leaf("q"), leaf("s")]);
    p.submit_acl = "sue dev".into();
    p.children[0].admin_acl = "bob".into();
    p.children[1].submit_acl = "*,bob".into();
    let mut configuration = partition(parent("root", vec![p]));
    configuration.partitions[0].root.submit_acl = String::new();
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(configuration))).unwrap();
    let groups: Vec<Name> = groups.iter().map(Name::new).collect();
    let books = &world.books;
    let partition = books.partition_named("default").unwrap();
    let queue = books.queue_at(partition, queue).unwrap();
    (may_submit(books, queue, user, &groups), may_administer(books, queue, user, &groups))
}

#[test]
#[doc(alias = "queues W25")]
fn access_lists_allow_here_and_below() {
    for (queue, user, groups, submit, administer) in [
        ("root.p.q", "sue", &[][..], true, false),
        ("root.p.q", "bob", &[], true, true),
        ("root.p", "bob", &[], false, false),
        ("root.p.q", "ann", &["dev"], true, false),
        ("root.p.q", "ann", &["ops", "dev"], true, false),
        ("root.p.q", "ann", &["ops"], false, false),
        ("root", "sue", &["dev"], false, false),
        ("root.p.s", "bob", &[], true, false),
        ("root.p.s", "ann", &[], false, false),
    ] {
        let found = rights(queue, user, groups);
        assert_eq!(found, (submit, administer), "{user} in {groups:?} at {queue}");
    }
}

#[test]
#[doc(alias = "queues W25")]
fn access_lists_are_read_strictly() {
    for (text, user, groups, expected) in [
        ("", "ann", &[][..], Some(false)),
        (" ", "ann", &["dev"], Some(false)),
        ("*", "ann", &[], Some(true)),
        ("*", "", &[], Some(true)),
        (" *", "ann", &[], Some(true)),
        ("ann ", "ann", &[], Some(true)),
        ("ann ", "bob", &["ann"], Some(false)),
        (" dev", "bob", &["dev"], Some(true)),
        ("* dev", "bob", &[], Some(true)),
        ("ann *", "bob", &["x"], Some(true)),
        ("ann  dev", "ann", &[], None),
        (" ann dev", "ann", &[], None),
        ("*,bob", "bob", &[], Some(true)),
        ("*,bob", "ann", &[], Some(false)),
        ("#ann", "#ann", &[], Some(false)),
        ("ann,,bob", "", &[], Some(false)),
        ("Ann", "ann", &[], Some(false)),
        (" a.b", "x", &["a.b"], Some(true)),
        ("system:serviceaccount:ns:name", "system:serviceaccount:ns:name", &[], Some(true)),
        ("svc$", "svc$", &[], Some(true)),
    ] {
        let groups: Vec<Name> = groups.iter().map(Name::new).collect();
        let found = AccessList::parse(text).ok().map(|list| list.allows(user, &groups));
        assert_eq!(found, expected, "{text:?} for {user:?} in {groups:?}");
    }
}

#[test]
fn a_list_with_two_blanks_keeps_the_file_out() {
    let mut root = partition(parent("root", vec![leaf("a")]));
    root.partitions[0].root.children[0].submit_acl = "ann  dev".into();
    let world = World::default();
    let refused = decide(&world.books, world.now, &Command::Configure(Box::new(root)));
    assert_eq!(refused.unwrap_err().code().as_str(), "ACCESS_LIST");
}

#[test]
fn a_child_is_never_more_closed_than_its_parent() {
    let told = headroom_core::testkit::tell(
        "
        queue root submit ann
        queue root.a submit bob
        app app1 root.a ann
        show app1
        app app2 root.a bob
        show app2
        ",
    );
    assert_eq!(told.matches("New in root.a").count(), 2, "{told}");
}
