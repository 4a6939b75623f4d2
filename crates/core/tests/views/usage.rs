//! Usage of users and groups.

use headroom_core::resource::Amounts;
use headroom_core::testkit::{amounts, leaf, limit, parent};
use headroom_core::view::{GroupView, UsageView, UserView, groups, users};

use crate::{Cluster, names};

/// The cluster of the example: user1 runs app1 in root.default without a group, and app2 in
/// root.test under the group tester.
fn example() -> Cluster {
    let mut test = leaf("test");
    test.limits = vec![limit(&[], &["tester"], Amounts::EMPTY, 10)];
    let mut cluster = Cluster::new(parent("root", vec![leaf("default"), test]));
    for (application, queue) in [("app1", "root.default"), ("app2", "root.test")] {
        cluster.submit(application, queue, "user1", &["tester"]);
        let key = format!("{application}-1");
        cluster.ask(&key, application, amounts([("memory", 6_000_000_000), ("vcore", 6_000)]), 0);
    }
    cluster
}

fn used(usage: &UsageView, memory: i64, vcore: i64) {
    assert_eq!(usage.used, amounts([("memory", memory), ("vcore", vcore)]), "{}", usage.path);
}

#[test]
#[doc(alias = "SD-01")]
fn the_usage_of_a_user_with_applications_in_two_queues() {
    let cluster = example();
    let all = users(&cluster.0.books, cluster.partition());
    assert_eq!(all.len(), 1);
    let user = &all[0];
    assert_eq!(user.user, "user1");
    assert_eq!(user.groups, [("app2".into(), "tester".into())]);
    let root = &user.usage;
    assert_eq!(root.path, "root");
    used(root, 12_000_000_000, 12_000);
    assert_eq!(names(&root.running), ["app1", "app2"]);
    let [default, test] = &root.children[..] else { panic!("two queues: {root:?}") };
    assert_eq!((&*default.path, names(&default.running)), ("root.default", vec!["app1"]));
    used(default, 6_000_000_000, 6_000);
    assert!(default.children.is_empty());
    assert_eq!((&*test.path, names(&test.running)), ("root.test", vec!["app2"]));
    used(test, 6_000_000_000, 6_000);
    assert!(test.children.is_empty());
    let one = UserView::of(&cluster.0.books, cluster.partition(), "user1");
    assert_eq!(one.as_ref(), Some(user));
    assert_eq!(UserView::of(&cluster.0.books, cluster.partition(), "user2"), None);
}

#[test]
#[doc(alias = "SD-02")]
fn the_usage_of_a_group() {
    let cluster = example();
    let all = groups(&cluster.0.books, cluster.partition());
    assert_eq!(all.len(), 1);
    let group = &all[0];
    assert_eq!(group.group, "tester");
    assert_eq!(names(&group.applications), ["app2"]);
    let root = &group.usage;
    assert_eq!((&*root.path, names(&root.running)), ("root", vec!["app2"]));
    used(root, 6_000_000_000, 6_000);
    let [test] = &root.children[..] else { panic!("one queue: {root:?}") };
    assert_eq!((&*test.path, names(&test.running)), ("root.test", vec!["app2"]));
    used(test, 6_000_000_000, 6_000);
    assert!(test.children.is_empty());
    assert_eq!(test.max_applications, 10);
    let one = GroupView::of(&cluster.0.books, cluster.partition(), "tester");
    assert_eq!(one.as_ref(), Some(group));
    assert_eq!(GroupView::of(&cluster.0.books, cluster.partition(), "none"), None);
}

#[test]
fn a_limit_is_shown_before_it_is_used_and_a_user_without_one_goes_with_his_use() {
    let mut a = leaf("a");
    a.limits = vec![limit(&["ann"], &[], amounts([("vcore", 5), ("gpu", 0)]), 0)];
    let mut cluster = Cluster::new(parent("root", vec![a]));
    cluster.submit("app1", "root.a", "bob", &["bob"]);
    cluster.ask("k", "app1", amounts([("vcore", 1)]), 0);
    let of = |cluster: &Cluster| users(&cluster.0.books, cluster.partition());
    let both = of(&cluster);
    assert_eq!(both.iter().map(|one| &*one.user).collect::<Vec<_>>(), ["ann", "bob"]);
    assert_eq!(both[0].usage.used, Amounts::EMPTY);
    assert_eq!(both[0].usage.children[0].max, amounts([("gpu", 0), ("vcore", 5)]));
    cluster.release("k", "app1");
    let left: Vec<_> = of(&cluster).into_iter().map(|one| one.user).collect();
    assert_eq!(names(&left), ["ann"]);
}
