//! What users and groups may use.

use expect_test::expect;

use crate::check;

#[test]
fn a_user_limit_holds_and_a_release_gives_its_share_back() {
    check(
        "
        queue root.a
        limit root.a user ann vcore=3
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=2
        ask a2 app1 vcore=2
        ask b1 app2 vcore=4
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ABS_USER_LIMIT: user ann at root.a has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
            ask b1: app2 Accepted, b1 on n1, app2 Running
            release a1: a1 released, a2 on n1
        "#]],
    );
}

#[test]
fn a_limit_is_per_name_and_not_shared_by_the_names_listed() {
    check(
        "
        queue root.a
        limit root.a user ann,bob vcore=2
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=2
        ask b1 app2 vcore=2
        ask b2 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask b2
              b2 waits ABS_USER_LIMIT: user bob at root.a has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
fn a_limit_counts_all_applications_of_its_user_in_the_queue_and_below() {
    check(
        "
        queue root.p.a
        queue root.p.b
        limit root.p user ann vcore=3
        node n1 vcore=8
        app app1 root.p.a ann
        app app2 root.p.b ann
        ask a1 app1 vcore=2
        ask b1 app2 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits ABS_USER_LIMIT: user ann at root.p has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
fn a_zero_in_a_limit_forbids() {
    check(
        "
        queue root.a
        limit root.a user ann vcore=4 gpu=0
        node n1 vcore=8 gpu=8
        app app1 root.a ann
        ask a1 app1 gpu=1
        ask a2 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but the limit of user ann at root.a is 0. Raise the limit, or request less.
            ask a2: a2 on n1, app1 Running
        "#]],
    );
}

#[test]
fn the_wildcard_limits_every_other_user_for_himself() {
    check(
        "
        queue root.a
        limit root.a user ann vcore=5
        limit root.a user * vcore=2
        node n1 vcore=20
        app app1 root.a ann
        app app2 root.a bob
        app app3 root.a cid
        ask a1 app1 vcore=5
        ask b1 app2 vcore=2
        ask c1 app3 vcore=2
        ask c2 app3 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted, c1 on n1, app3 Running
            ask c2
              c2 waits ABS_USER_LIMIT: user cid at root.a has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
fn a_named_limit_stands_alone_and_takes_nothing_from_the_wildcard() {
    check(
        "
        queue root.a
        limit root.a user ann memory=5
        limit root.a user * vcore=2 apps=1
        node n1 vcore=20 memory=20
        app app1 root.a ann
        app app2 root.a ann
        ask a1 app1 vcore=9
        ask b1 app2 vcore=9
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn a_group_limit_is_shared_by_the_members() {
    check(
        "
        queue root.a
        limit root.a group dev vcore=3
        node n1 vcore=8
        app app1 root.a ann groups dev
        app app2 root.a bob groups dev
        app app3 root.a cid groups ops
        ask a1 app1 vcore=2
        ask b1 app2 vcore=2
        ask c1 app3 vcore=4
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group dev, a1 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group dev
              b1 waits ABS_GROUP_LIMIT: group dev at root.a has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
            ask c1: app3 Accepted, c1 on n1, app3 Running
            release a1: a1 released, app1 Completing, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn the_wildcard_group_is_one_limit_for_all_others_together() {
    check(
        "
        queue root.a
        limit root.a group dev vcore=9
        limit root.a group * vcore=3
        node n1 vcore=20
        app app1 root.a ann groups ops
        app app2 root.a bob groups qa
        app app3 root.a cid groups dev
        app app4 root.a dan
        ask a1 app1 vcore=2
        ask b1 app2 vcore=2
        ask c1 app3 vcore=9
        ask d1 app4 vcore=5
        show group *
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group *, a1 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group *
              b1 waits ABS_GROUP_LIMIT: group * at root.a has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
            ask c1: app3 Accepted, app3 counts for group dev, c1 on n1, app3 Running
            ask d1: app4 Accepted, d1 on n1, app4 Running
              * at root.a: uses {vcore: 2000 m}, left {vcore: 1000 m}, runs 1
              * at root: uses {vcore: 2000 m}, left none, runs 1
        "#]],
    );
}

#[test]
fn user_and_group_limits_hold_together() {
    check(
        "
        queue root.a
        limit root.a user ann vcore=5
        limit root.a group dev vcore=4
        node n1 vcore=20
        app app1 root.a ann groups dev
        app app2 root.a bob groups dev
        ask a1 app1 vcore=5
        ask a2 app1 vcore=3
        ask b1 app2 vcore=2
        ask a3 app1 vcore=2
        release-all app2
        show app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group dev
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 vcore, but the limit of group dev at root.a is 4. Raise the limit, or request less.
            ask a2: a2 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group dev
              b1 waits ABS_GROUP_LIMIT: group dev at root.a has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
            ask a3
              a3 waits ABS_GROUP_LIMIT: group dev at root.a has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
            release-all app2: b1 withdrawn, app2 Completing
              app1: Running in root.a, group dev, uses {vcore: 3000 m}, user headroom {vcore: 1000 m}
        "#]],
    );
}

#[test]
fn the_group_is_the_first_configured_one_that_is_the_users_from_the_leaf_up() {
    check(
        "
        queue root.a
        queue root.b
        limit root.a group qa,dev vcore=9
        limit root group ops vcore=9
        node n1 vcore=9
        app app1 root.a ann groups ops,dev,qa
        app app2 root.b ann groups ops,dev,qa
        app app3 root.a ann groups ops
        app app4 root.a ann groups none
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1
        ask d1 app4 vcore=1
        show app4
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group qa, a1 on n1, app1 Running
            ask b1: app2 Accepted, app2 counts for group ops, b1 on n1, app2 Running
            ask c1: app3 Accepted, app3 counts for group ops, c1 on n1, app3 Running
            ask d1: app4 Accepted, d1 on n1, app4 Running
              app4: Running in root.a, no group, uses {vcore: 1000 m}, user headroom none
        "#]],
    );
}

#[test]
fn a_wildcard_group_at_a_low_level_hides_a_named_group_above() {
    check(
        "
        queue root.a
        limit root.a group dev vcore=9
        limit root.a group * vcore=9
        limit root group ops vcore=1
        node n1 vcore=9
        app app1 root.a ann groups ops
        ask a1 app1 vcore=3
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group *, a1 on n1, app1 Running
        "#]],
    );
}

#[test]
fn the_group_is_chosen_once_and_kept_until_the_application_is_empty() {
    check(
        "
        queue root.a
        limit root.a group dev vcore=3
        node n1 vcore=8
        app app1 root.a ann groups dev
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        release a1
        show group dev
        release a2
        show group dev
        show app1
        ask a3 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group dev, a1 on n1, app1 Running
            ask a2: a2 on n1
            release a1: a1 released
              dev at root.a: uses {vcore: 1000 m}, left {vcore: 2000 m}, runs 1
              dev at root: uses {vcore: 1000 m}, left none, runs 1
            release a2: a2 released, app1 Completing
              dev at root.a: uses {}, left {vcore: 3000 m}, runs 0
              dev at root: uses {}, left none, runs 0
              app1: Completing in root.a, no group, uses {}, user headroom none
            ask a3: app1 Running, app1 counts for group dev, a3 on n1
        "#]],
    );
}

#[test]
fn use_in_one_queue_counts_at_every_level_above_it() {
    check(
        "
        queue root.p.a
        queue root.b
        limit root user ann vcore=3
        limit root.p.a user ann vcore=2
        node n1 vcore=8
        app app1 root.p.a ann
        app app2 root.b ann
        ask b1 app2 vcore=2
        ask a1 app1 vcore=2
        ask a2 app1 vcore=1
        show user ann
        show app1
        ",
        expect![[r#"
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask a1: app1 Accepted
              a1 waits ABS_USER_LIMIT: user ann at root has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
            ask a2: a2 on n1, app1 Running
              a1 waits ABS_USER_LIMIT: user ann at root.p.a has 1 of 2 vcore available, but the ask needs 2. Wait for a release, or raise the limit.
              ann at root.b: uses {vcore: 2000 m}, left none, runs 1
              ann at root.p.a: uses {vcore: 1000 m}, left {vcore: 1000 m}, runs 1
              ann at root.p: uses {vcore: 1000 m}, left none, runs 1
              ann at root: uses {vcore: 3000 m}, left {vcore: 0 m}, runs 2
              app1: Running in root.p.a, no group, uses {vcore: 1000 m}, user headroom {vcore: 0 m}
        "#]],
    );
}

#[test]
fn limits_on_a_queue_written_in_capitals_hold() {
    check(
        "
        queue root.Team
        limit root.Team user ann vcore=1
        node n1 vcore=8
        app app1 root.TEAM ann
        ask a1 app1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 vcore, but the limit of user ann at root.team is 1. Raise the limit, or request less.
        "#]],
    );
}
