//! How many applications may run at once.

use expect_test::expect;

use crate::check;

#[test]
fn a_queue_starts_no_more_applications_than_it_may_and_the_next_when_one_ends() {
    check(
        "
        queue root.a apps=1
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask a2 app1 vcore=1
        release a1
        release a2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits MAX_APPS: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            ask a2: a2 on n1
            release a1: a1 released
            release a2: a2 released, app1 Completing, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn removing_the_running_application_starts_the_next() {
    check(
        "
        queue root.a apps=1
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        remove app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits MAX_APPS: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            remove app1: a1 released, app1 Completing, app1 gone, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn the_number_of_an_ancestor_counts_everything_below_it() {
    check(
        "
        queue root.p apps=1
        queue root.p.a
        queue root.p.b
        node n1 vcore=8
        app app1 root.p.a ann
        app app2 root.p.b bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits MAX_APPS: queue root.p runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            release a1: a1 released, app1 Completing, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn of_several_full_queues_the_highest_is_named() {
    check(
        "
        queue root.p apps=1
        queue root.p.a apps=1
        node n1 vcore=8
        app app1 root.p.a ann
        app app2 root.p.a bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits MAX_APPS: queue root.p runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
        "#]],
    );
}

#[test]
fn an_application_that_waits_for_room_does_not_count() {
    check(
        "
        queue root.a apps=1
        node n1 vcore=2
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=9
        ask b1 app2 vcore=1
        resize n1 vcore=10
        release b1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but no node in use has more than 2. Add a larger node, or request less.
            ask b1: app2 Accepted, b1 on n1, app2 Running
            resize n1
              a1 waits MAX_APPS: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            release b1: b1 released, app2 Completing, a1 on n1, app1 Running
        "#]],
    );
}

#[test]
fn a_user_starts_no_more_applications_than_he_may() {
    check(
        "
        queue root.a
        limit root.a user ann apps=1
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a ann
        app app3 root.a bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits USER_APPS: user ann at root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            ask c1: app3 Accepted, c1 on n1, app3 Running
            release a1: a1 released, app1 Completing, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn the_wildcard_counts_applications_of_each_other_user() {
    check(
        "
        queue root.a
        limit root.a user * apps=1
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        app app3 root.a bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1
        remove app2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted
              c1 waits USER_APPS: user bob at root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            remove app2: b1 released, app2 Completing, app2 gone, c1 on n1, app3 Running
        "#]],
    );
}

#[test]
fn a_group_starts_no_more_applications_than_it_may() {
    check(
        "
        queue root.a
        limit root.a group dev apps=1
        node n1 vcore=8
        app app1 root.a ann groups dev
        app app2 root.a bob groups dev
        app app3 root.a cid groups ops
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group dev, a1 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group dev
              b1 waits GROUP_APPS: group dev at root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            ask c1: app3 Accepted, c1 on n1, app3 Running
            release a1: a1 released, app1 Completing, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn the_wildcard_group_counts_applications_of_all_others_together() {
    check(
        "
        queue root.a
        limit root.a group dev apps=9
        limit root.a group * apps=1
        node n1 vcore=8
        app app1 root.a ann groups qa
        app app2 root.a bob groups ops
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        lose n1
        node n2 vcore=8
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group *, a1 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group *
              b1 waits GROUP_APPS: group * at root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            lose n1: a1 lost, app1 Completing
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n2: b1 on n2, app2 Running
        "#]],
    );
}

#[test]
fn of_user_and_group_numbers_the_smaller_decides() {
    check(
        "
        queue root.a
        limit root.a user ann apps=2
        limit root.a group dev apps=1
        node n1 vcore=8
        app app1 root.a ann groups dev
        app app2 root.a ann groups dev
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group dev, a1 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group dev
              b1 waits GROUP_APPS: group dev at root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
        "#]],
    );
}

#[test]
fn an_application_that_comes_back_is_not_held_by_the_number_of_its_queue() {
    check(
        "
        queue root.a apps=1
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=1
        release a1
        ask b1 app2 vcore=1
        ask a2 app1 vcore=1
        show root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            release a1: a1 released, app1 Completing
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask a2: app1 Running, a2 on n1
              root.a: in force {vcore: 8000 m}, uses {vcore: 2000 m}, headroom {vcore: 6000 m}, share 0.25, runs 2
        "#]],
    );
}

#[test]
fn a_running_application_places_more_asks_although_the_number_is_reached() {
    check(
        "
        queue root.a apps=1
        limit root.a user ann apps=1
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
        "#]],
    );
}

#[test]
fn one_that_ends_starts_exactly_as_many_as_there_are_places() {
    check(
        "
        queue root.a apps=2
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        app app3 root.a cid
        app app4 root.a dan
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1
        ask d1 app4 vcore=1
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted
              c1 waits MAX_APPS: queue root.a runs 2 of at most 2 applications. Wait for one to end, or raise `maxapplications`.
            ask d1: app4 Accepted
              d1 waits MAX_APPS: queue root.a runs 2 of at most 2 applications. Wait for one to end, or raise `maxapplications`.
            release a1: a1 released, app1 Completing, c1 on n1, app3 Running
        "#]],
    );
}
