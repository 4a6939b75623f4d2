//! How the users of a leaf share it.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

use std::fmt::Write as _;

use expect_test::expect;
use headroom_core::resource::{Quantity, Resources};
use headroom_core::testkit::{World, tell, tell_world};
use headroom_core::userlimit::{Among, Decimal};

use crate::check;

/// What the first user of a queue may have of it, and what all use of it, in vcore; for an ask of this
/// many.
fn limit_and_use(world: &World, queue: &str, ask: i64) -> (i64, i64) {
    let books = &world.books;
    let (_, partition) = books.partitions().first_key_value().unwrap();
    let leaf = *partition.queues.get(queue).unwrap();
    let vcore = books.types().find("vcore").unwrap();
    let mut size = Resources::new();
    size.set(vcore, Quantity::of(ask * 1000));
    let (user, _) = books.users_of(leaf).unwrap().users().next().unwrap();
    let limit = books.user_limit(leaf, user, &size).unwrap().limit;
    let used = books.queue(leaf).allocated.get_or_zero(vcore);
    (limit.get_or_zero(vcore).get() / 1000, used.get() / 1000)
}

#[test]
#[doc(alias = "SD-40")]
fn more_users_have_less_each_until_the_floor() {
    for (formula, expected) in
        [("yarn27", [100, 50, 33, 30, 30]), ("smooth", [100, 50, 33, 30, 30])]
    {
        let limits = (1..=5).map(|users| {
            let mut script = format!(
                "queue root.q guaranteed vcore=100 share {formula};p=30;f=1\nnode n1 vcore=500m\n"
            );
            for user in 1..=users {
                writeln!(script, "app app{user} root.q u{user}\nask a{user} app{user} vcore=1")
                    .unwrap();
            }
            limit_and_use(&tell_world(&script), "root.q", 1).0
        });
        assert_eq!(limits.collect::<Vec<_>>(), expected, "{formula}");
    }
}

#[test]
fn one_user_takes_an_idle_cluster_and_his_limit_goes_along() {
    let mut script = String::from(
        "queue root.q guaranteed vcore=40 share p=30;f=100\nnode n1 vcore=100\napp app1 root.q ann\n",
    );
    let mut rows = Vec::new();
    for ask in 0..13 {
        writeln!(script, "ask a{ask} app1 vcore=8").unwrap();
        rows.push(limit_and_use(&tell_world(&script), "root.q", 8));
    }
    let limits = [40, 40, 40, 40, 48, 56, 64, 72, 80, 88, 96, 104, 104];
    let used = [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 96];
    assert_eq!(rows, limits.into_iter().zip(used).collect::<Vec<_>>());
    assert!(tell(&script).ends_with(
        "a12 waits ROOT_CAPACITY: the cluster has 4 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.\n"
    ));
}

#[test]
#[doc(alias = "SD-44")]
fn three_users_who_fill_their_queue_go_on_one_by_one() {
    check(
        "
        queue root.a guaranteed vcore=70
        queue root.b guaranteed vcore=30 share p=30;f=100
        node n1 vcore=100
        app full root.a eve
        app app1 root.b ann
        app app2 root.b bob
        app app3 root.b cid
        ask a1 app1 vcore=8
        ask b1 app2 vcore=8
        ask c1 app3 vcore=8
        ask f1 full vcore=8
        ask f2 full vcore=8
        ask f3 full vcore=60
        ask a2 app1 vcore=8
        ask a3 app1 vcore=8
        ask b2 app2 vcore=8
        ask c2 app3 vcore=8
        release f1
        release f2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted, c1 on n1, app3 Running
            ask f1: full Accepted, f1 on n1, full Running
            ask f2: f2 on n1
            ask f3: f3 on n1
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            ask c2
              c2 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            release f1: f1 released, a2 on n1
            release f2: f2 released, b2 on n1
        "#]],
    );
}

#[test]
fn strict_shares_get_stuck_where_each_is_too_small_for_an_ask() {
    check(
        "
        queue root.a
        queue root.b guaranteed vcore=30 share strict;p=30;f=100
        node n1 vcore=100
        app full root.a eve
        app app1 root.b ann
        app app2 root.b bob
        app app3 root.b cid
        ask a1 app1 vcore=8
        ask b1 app2 vcore=8
        ask c1 app3 vcore=8
        ask f1 full vcore=76
        ask a2 app1 vcore=8
        ask b2 app2 vcore=8
        ask c2 app3 vcore=8
        release f1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted, c1 on n1, app3 Running
            ask f1: full Accepted, f1 on n1, full Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            ask c2
              c2 waits ROOT_CAPACITY: the cluster has 0 of 100 vcore available, but the ask needs 8. Wait for a release, or add nodes.
            release f1: f1 released, full Completing
              a2 waits USER_SHARE: user ann at root.b uses 8000m vcore of a fair share of 10667m, and the ask needs 8000m more. Wait for a release by this user, or until the other active users reach their shares.
              b2 waits USER_SHARE: user bob at root.b uses 8000m vcore of a fair share of 10667m, and the ask needs 8000m more. Wait for a release by this user, or until the other active users reach their shares.
              c2 waits USER_SHARE: user cid at root.b uses 8000m vcore of a fair share of 10667m, and the ask needs 8000m more. Wait for a release by this user, or until the other active users reach their shares.
        "#]],
    );
}

#[test]
#[doc(alias = "C5")]
fn whoever_is_above_his_share_waits_for_those_below_and_for_nobody_else() {
    check(
        "
        queue root.q guaranteed vcore=8 share p=10;f=off
        node n1 vcore=8
        app app1 root.q ann
        app app2 root.q bob
        ask a1 app1 vcore=6
        ask a2 app1 vcore=2
        ask a3 app1 vcore=2
        ask b1 app2 vcore=2
        ask b2 app2 vcore=4
        release a2              # bob is below his share
        release b1              # his other ask is too large for what is left: ann goes on
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 8 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 8 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 8 vcore available, but the ask needs 4. Wait for a release, or add nodes.
            release a2: a2 released, b1 on n1, app2 Running
            release b1: b1 released, a3 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "C5")]
fn nobody_has_more_than_his_cap() {
    check(
        "
        queue root.q guaranteed vcore=4 share f=1.5
        node n1 vcore=20
        app app1 root.q ann
        app app2 root.q bob
        ask a1 app1 vcore=4
        ask a2 app1 vcore=4
        ask a3 app1 vcore=2
        ask b1 app2 vcore=5
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits USER_HARD_CAP: user ann at root.q uses 4 vcore of a user cap of 6, and the ask needs 4 more. Wait for a release by this user, or raise `userlimitfactor`.
            ask a3: a3 on n1
              a2 waits USER_HARD_CAP: user ann at root.q uses 6 vcore of a user cap of 6, and the ask needs 4 more. Wait for a release by this user, or raise `userlimitfactor`.
            ask b1: app2 Accepted, b1 on n1, app2 Running
            release a1: a1 released, a2 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "C5")]
fn a_weight_is_a_larger_part() {
    check(
        "
        queue root.q guaranteed vcore=9 share strict;p=10;ann=2
        node n1 vcore=9
        app app1 root.q ann
        app app2 root.q bob
        ask big app1 vcore=20
        ask bag app2 vcore=20
        ask a1 app1 vcore=6
        ask a2 app1 vcore=1
        ask b1 app2 vcore=3
        ask b2 app2 vcore=1
        ",
        expect![[r#"
            ask big: app1 Accepted
              big waits IMPOSSIBLE: no release can start the ask: the ask needs 20 vcore, but no node in use has more than 9. Add a larger node, or request less.
            ask bag: app2 Accepted
              bag waits IMPOSSIBLE: no release can start the ask: the ask needs 20 vcore, but no node in use has more than 9. Add a larger node, or request less.
            ask a1: a1 on n1, app1 Running
            ask a2
              a2 waits USER_SHARE: user ann at root.q uses 6 vcore of a fair share of 6, and the ask needs 1 more. Wait for a release by this user, or until the other active users reach their shares.
            ask b1: b1 on n1, app2 Running
              a2 waits ROOT_CAPACITY: the cluster has 0 of 9 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 9 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn what_is_larger_than_a_queue_takes_is_refused() {
    check(
        "
        queue root.q guaranteed vcore=8 largest vcore=4
        node n1 vcore=8
        app app1 root.q ann
        ask a1 app1 vcore=5
        ask a2 app1 vcore=5 on n1
        ask a3 app1 vcore=4
        ",
        expect![[r#"
            ask a1: refused ABOVE_MAXIMUM_ALLOCATION: ask a1 needs 5 vcore, but queue root.q accepts asks of up to 4 (`maximumallocation`). Split the ask, or use another queue.
            ask a2: app1 Accepted, a2 on n1, app1 Running
            ask a3
              a3 waits USER_HARD_CAP: user ann at root.q uses 5 vcore of a user cap of 8, and the ask needs 4 more. Wait for a release by this user, or raise `userlimitfactor`.
        "#]],
    );
}

#[test]
#[doc(alias = "C30")]
fn limits_of_a_reload_hold_at_once() {
    check(
        "
        queue root.q guaranteed vcore=4
        node n1 vcore=20
        app app1 root.q ann
        ask a1 app1 vcore=6
        ask a2 app1 vcore=20
        reload
        queue root.q guaranteed vcore=4 share f=1
        ask a3 app1 vcore=1
        reload
        queue root.q guaranteed vcore=4 share f=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 14 of 20 vcore available, but the ask needs 20. Wait for a release, or add nodes.
            reload: root.q changed
              a2 waits USER_HARD_CAP: user ann at root.q uses 6 vcore of a user cap of 20, and the ask needs 20 more. Wait for a release by this user, or raise `userlimitfactor`.
            ask a3
              a3 waits USER_HARD_CAP: user ann at root.q uses 6 vcore of a user cap of 4, and the ask needs 1 more. Wait for a release by this user, or raise `userlimitfactor`.
            reload: root.q changed, a3 on n1
              a2 waits ROOT_CAPACITY: the cluster has 13 of 20 vcore available, but the ask needs 20. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn of_those_above_their_share_the_least_served_goes_on() {
    check(
        "
        queue root.a
        queue root.q guaranteed vcore=4 share p=10;f=off
        node n1 vcore=20
        app full root.a eve
        app app1 root.q ann
        app app2 root.q bob
        app app3 root.q cid
        ask a1 app1 vcore=6
        ask b1 app2 vcore=4
        ask f1 full vcore=2
        ask f2 full vcore=8
        ask c1 app3 vcore=9     # active, below his share, and too large for what is left
        ask a2 app1 vcore=2
        ask b2 app2 vcore=2
        release f1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask f1: full Accepted, f1 on n1, full Running
            ask f2: f2 on n1
            ask c1: app3 Accepted
              c1 waits ROOT_CAPACITY: the cluster has 0 of 20 vcore available, but the ask needs 9. Wait for a release, or add nodes.
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 20 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 20 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            release f1: f1 released, b2 on n1
        "#]],
    );
}

#[test]
fn among_everyone_a_leaf_is_split_whoever_waits() {
    // Ann runs and waits, Bob runs, Cid waits for nothing yet; Eve is elsewhere.
    let world = tell_world(
        "
        queue root.q guaranteed vcore=30 share yarn3;p=10;f=off;bob=2 step vcore=1
        queue root.other share yarn3
        node n1 vcore=30
        app app1 root.q ann
        app app2 root.q bob
        app app3 root.q cid
        app app4 root.other eve
        ask a1 app1 vcore=8
        ask b1 app2 vcore=8
        ask a2 app1 vcore=20
        ",
    );
    let books = &world.books;
    let partition = *books.partitions().first_key_value().unwrap().0;
    let leaf = books.queue_at(partition, "root.q").unwrap();
    let everyone: Vec<&str> = books.everyone_in(leaf).into_iter().map(|name| &**name).collect();
    assert_eq!(everyone, ["ann", "bob", "cid"]);
    let vcore = books.types().find("vcore").unwrap();
    let limit = |user: &str, among| {
        let limit = books.limit_among(leaf, user, among, &Resources::new()).unwrap().limit;
        limit.get_or_zero(vcore).get() / 1000
    };
    let active = ["ann", "bob", "cid", "eve"].map(|user| limit(user, Among::Active));
    // Ann alone splits what she uses and a step; the others would have as much, by weight.
    assert_eq!(active, [9, 18, 9, 9]);
    let among = books.among_everyone(leaf).unwrap();
    assert_eq!(among, Among::All(Decimal::whole(4)));
    // 30 among 4: 7.5, up to a step.
    assert_eq!(["ann", "bob", "cid"].map(|user| limit(user, among)), [8, 16, 8]);
    let (ann, _) = books.users_of(leaf).unwrap().users().next().unwrap();
    let one = books.user_limit(leaf, ann, &Resources::new()).unwrap().limit;
    assert_eq!(one.get_or_zero(vcore).get() / 1000, 9);
    let root = books.queue_at(partition, "root").unwrap();
    assert_eq!(books.among_everyone(root), None);
}

#[test]
fn whoever_waits_has_his_part_though_nobody_was_looked_at_yet() {
    // The asks come before the node, or after it: those who share the leaf are the same.
    let queue = "queue root.q guaranteed vcore=30 share p=10\n";
    let mut asks = String::new();
    for user in 0..3 {
        writeln!(asks, "app app{user} root.q u{user}").unwrap();
        for ask in 0..20 {
            writeln!(asks, "ask a{user}-{ask} app{user} vcore=1").unwrap();
        }
    }
    let used = |script: &str| {
        let world = tell_world(script);
        let (_, users) = world.books.leaves_with_users().next().unwrap();
        let vcore = world.books.types().find("vcore").unwrap();
        users.users().map(|(_, user)| user.used_of(vcore).get() / 1000).collect::<Vec<_>>()
    };
    // A user who does not exceed the share of 10 can have one more ask. The last user has the rest.
    assert_eq!(used(&format!("{queue}{asks}node n1 vcore=30\n")), [11, 11, 8]);
    assert_eq!(used(&format!("{queue}node n1 vcore=1\n{asks}resize n1 vcore=30\n")), [11, 11, 8]);
}

/// The same use, seen by each calculator: more cores than the limit has, less of the cluster's memory.
#[test]
#[doc(alias = "C29")]
fn a_leaf_compares_by_its_calculator() {
    let story = |calculator: &str| {
        format!(
            "
            queue root.q guaranteed memory=300 vcore=30 gpu=2 share yarn3;overshoot{calculator}
            node n1 memory=1000 vcore=200 gpu=8
            app app1 root.q ann
            ask a1 app1 memory=290 vcore=50 on n1
            ask a2 app1 memory=1 vcore=1
            ask a3 app1 gpu=3 on n1
            ask a4 app1 gpu=1
            "
        )
    };
    check(
        &story(""),
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits USER_SHARE: user ann at root.q uses 50 vcore of a fair share of 30, and the ask needs 1 more. Wait for a release by this user, or until the other active users reach their shares.
            ask a3: a3 on n1
            ask a4
              a4 waits USER_SHARE: user ann at root.q uses 3 gpu of a fair share of 2, and the ask needs 1 more. Wait for a release by this user, or until the other active users reach their shares.
        "#]],
    );
    check(
        &story(";dominant"),
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3: a3 on n1
            ask a4
              a4 waits USER_SHARE: user ann at root.q uses 3 gpu of a fair share of 2, and the ask needs 1 more. Wait for a release by this user, or until the other active users reach their shares.
        "#]],
    );
    check(
        &story(";memory"),
        expect![[r#"
        ask a1: app1 Accepted, a1 on n1, app1 Running
        ask a2: a2 on n1
        ask a3: a3 on n1
        ask a4: a4 on n1
    "#]],
    );
}

/// Whether it is sure that ann stays active when this much more, or less, is charged to her, in vcore.
fn charges(script: &str, amounts: &[i64]) -> Vec<bool> {
    let world = tell_world(script);
    let books = &world.books;
    let (_, partition) = books.partitions().first_key_value().unwrap();
    let leaf = *partition.queues.get("root.q").unwrap();
    let (vcore, mut trackers) = (books.types().find("vcore").unwrap(), partition.trackers.clone());
    let (level, user) = books.users_of(leaf).unwrap().users().next().unwrap();
    assert!(user.active);
    let charge = |amount: &i64| {
        let size = [(vcore, Quantity::of(amount.abs() * 1000))].into_iter().collect();
        if *amount < 0 { trackers.refund(level, &size) } else { trackers.charge(level, &size) }
    };
    amounts.iter().map(charge).collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_user_stays_active_for_sure_while_the_first_that_he_waits_for_is_allowed() {
    let script = "
        queue root.q guaranteed vcore=9 share f=2
        queue root.r guaranteed vcore=9
        node n1 vcore=1
        app app1 root.q ann
        ask a1 app1 vcore=5
        ask a2 app1 vcore=7
        ";
    // The cap is 18.
    assert_eq!(charges(script, &[13, 1, -1]), [true, false, true]);
    let limited = script.replace("node n1", "limit root.q user ann vcore=12\nnode n1");
    assert_eq!(charges(&limited, &[7, 1, -8]), [true, false, true]);
    let heavy = script.replace("f=2", "f=2;ann=2");
    assert_eq!(charges(&heavy, &[1]), [false], "only those who weigh one are looked at");
    let elsewhere = format!("{script}\napp app2 root.r ann\nask b1 app2 vcore=1");
    assert_eq!(charges(&elsewhere, &[1, -1]), [false, false], "limits above hold for both leaves");
}
