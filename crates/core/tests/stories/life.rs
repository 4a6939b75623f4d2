//! The life of an application.

use expect_test::expect;

use crate::check;

#[test]
fn an_application_is_accepted_with_its_first_ask_and_runs_with_its_first_allocation() {
    check(
        "
        queue root.a
        app app1 root.a ann
        show app1
        ask a1 app1 vcore=1
        show app1
        node n1 vcore=1
        show app1
        show root.a
        ",
        expect![[r#"
              app1: New in root.a, no group, uses {}, user headroom none
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
              app1: Accepted in root.a, no group, uses {}, user headroom none
            node n1: a1 on n1, app1 Running
              app1: Running in root.a, no group, uses {vcore: 1000 m}, user headroom none
              root.a: in force {vcore: 1000 m}, uses {vcore: 1000 m}, headroom {vcore: 0 m}, share 1, runs 1
        "#]],
    );
}

#[test]
fn an_application_whose_last_ask_is_withdrawn_completes() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        show root.a
        wait 30s
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            release a1: a1 withdrawn, app1 Completing
              root.a: in force none, uses {}, headroom none, share 0, runs 0
            wait 30s: app1 Completed
        "#]],
    );
}

#[test]
fn an_application_completes_when_its_last_allocation_goes_and_ends_30_seconds_later() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        wait 29s
        show app1
        show user ann
        wait 1s
        show app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            release a1: a1 released, app1 Completing
            wait 29s: nothing
              app1: Completing in root.a, no group, uses {}, user headroom none
              ann: no tracker
            wait 1s: app1 Completed
              app1: not there
        "#]],
    );
}

#[test]
fn an_application_with_asks_left_does_not_complete() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=2
        release a1
        release a2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 vcore, but no node in use has more than 1. Add a larger node, or request less.
            release a1: a1 released
            release a2: a2 withdrawn, app1 Completing
        "#]],
    );
}

#[test]
fn a_completing_application_runs_again_with_a_new_ask() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        wait 29s
        ask a2 app1 vcore=1
        wait 30s
        release a2
        wait 30s
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            release a1: a1 released, app1 Completing
            wait 29s: nothing
            ask a2: app1 Running, a2 on n1
            wait 30s: nothing
            release a2: a2 released, app1 Completing
            wait 30s: app1 Completed
        "#]],
    );
}

#[test]
fn an_id_is_free_again_when_its_application_has_completed() {
    check(
        "
        queue root.a
        queue root.b
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        app app1 root.b ann
        wait 30s
        app app1 root.b bob
        show app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            release a1: a1 released, app1 Completing
            app app1: rejected DUPLICATE_APPLICATION: application app1 already exists in partition default in state Completing. Choose another ID, or wait until the application ends.
            wait 30s: app1 Completed
              app1: New in root.b, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn a_completed_application_is_forgotten_after_three_days() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        wait 30s
        wait 259199s
        wait 1s
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            release a1: a1 released, app1 Completing
            wait 30s: app1 Completed
            wait 259199s: nothing
            wait 1s: app1 gone
        "#]],
    );
}

#[test]
fn a_removed_application_takes_its_asks_and_allocations_along() {
    check(
        "
        queue root.a
        limit root.a group dev vcore=9
        node n1 vcore=4
        app app1 root.a ann groups dev
        ask a1 app1 vcore=1
        ask a2 app1 vcore=9
        ask a3 app1 vcore=1
        remove app1
        show user ann
        show group dev
        show root.a
        app app1 root.a ann
        ",
        expect![[r#"
            ask a1: app1 Accepted, app1 counts for group dev, a1 on n1, app1 Running
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but no node in use has more than 4. Add a larger node, or request less.
            ask a3: a3 on n1
            remove app1: a1 released, a2 withdrawn, a3 released, app1 Completing, app1 gone
              ann: no tracker
              dev at root.a: uses {}, left {vcore: 9000 m}, runs 0
              dev at root: uses {}, left none, runs 0
              root.a: in force {vcore: 4000 m}, uses {}, headroom {vcore: 4000 m}, share 0, runs 0
        "#]],
    );
}

#[test]
fn an_application_without_asks_can_be_removed() {
    check(
        "
        queue root.a
        app app1 root.a ann
        remove app1
        show app1
        ",
        expect![[r#"
            remove app1: app1 gone
              app1: not there
        "#]],
    );
}

#[test]
fn giving_everything_back_completes_an_application() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        release-all app1
        release-all app1
        wait 30s
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release-all app1: a1 released, a2 withdrawn, app1 Completing
            release-all app1: app1 Completed
            wait 30s: nothing
        "#]],
    );
}

#[test]
fn a_key_is_free_again_when_its_allocation_is_released() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=1
        release a1
        ask a1 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            release a1: a1 released, app1 Completing
            ask a1: app2 Accepted, a1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn equal_asks_that_wait_are_placed_one_by_one_as_room_comes() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=1
        release a1
        release a2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a1: a1 released, a2 on n1
            release a2: a2 released, a3 on n1
        "#]],
    );
}
