//! Nodes: their order, draining, leaving and changing size.

use expect_test::expect;

use crate::check;

#[test]
fn the_emptiest_node_comes_first_by_default() {
    check(
        "
        queue root.a
        node n1 vcore=4 memory=4
        node n2 vcore=4 memory=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=2
        ask a4 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n2
            ask a3: a3 on n1
            ask a4: a4 on n2
        "#]],
    );
}

#[test]
fn bin_packing_fills_the_fullest_node_first() {
    check(
        "
        nodes binpacking
        queue root.a
        node n1 vcore=4 memory=4
        node n2 vcore=4 memory=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=3
        ask a4 app1 vcore=1
        ask a5 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3: a3 on n2
            ask a4: a4 on n2
            ask a5: a5 on n1
        "#]],
    );
}

#[test]
fn nodes_that_tie_go_by_name() {
    check(
        "
        queue root.a
        node n3 vcore=4
        node n10 vcore=4
        node n2 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n10, app1 Running
            ask a2: a2 on n2
            ask a3: a3 on n3
        "#]],
    );
}

#[test]
fn weights_say_which_types_count_for_the_order() {
    check(
        "
        nodes fair gpu=1
        queue root.a
        node n1 vcore=4 gpu=4
        node n2 vcore=4 gpu=8
        app app1 root.a ann
        ask a1 app1 vcore=4
        ask a2 app1 gpu=1
        ask a3 app1 gpu=1
        ask a4 app1 gpu=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3: a3 on n2
            ask a4: a4 on n2
        "#]],
    );
}

#[test]
fn a_type_without_weight_does_not_count_for_the_order() {
    check(
        "
        queue root.a
        node n1 vcore=4 gpu=4
        node n2 vcore=4 gpu=4
        app app1 root.a ann
        ask a1 app1 gpu=2
        ask a2 app1 gpu=2
        ask a3 app1 gpu=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3: a3 on n2
        "#]],
    );
}

#[test]
fn the_first_node_in_order_that_has_room_for_all_of_it_is_taken() {
    check(
        "
        queue root.a
        node n1 vcore=4 memory=1
        node n2 vcore=2 memory=8
        node n3 vcore=4 memory=8
        app app1 root.a ann
        ask a1 app1 vcore=3 memory=3
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n3, app1 Running
        "#]],
    );
}

#[test]
fn a_drained_node_takes_nothing_and_keeps_what_it_has() {
    check(
        "
        queue root.a
        node n1 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        drain n1
        ask a2 app1 vcore=1
        drain n1
        undrain n1
        show app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            drain n1: nothing
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            drain n1: nothing
            undrain n1: a2 on n1
              app1: Running in root.a, no group, uses {vcore: 2000 m}, user headroom none
        "#]],
    );
}

#[test]
fn a_drained_node_is_passed_over_beside_one_in_use() {
    check(
        "
        queue root.a
        node n1 vcore=8
        node n2 vcore=8
        drain n1
        app app1 root.a ann
        ask a1 app1 vcore=1
        ",
        expect![[r#"
            drain n1: nothing
            ask a1: app1 Accepted, a1 on n2, app1 Running
        "#]],
    );
}

#[test]
fn a_node_that_joins_drained_takes_nothing_until_it_is_taken_into_use() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 vcore=1
        node n1 vcore=4 drained
        show root
        undrain n1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1
              a1 waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
              root: in force {vcore: 4000 m}, uses {}, headroom {vcore: 4000 m}, share 0, runs 0
            undrain n1: a1 on n1, app1 Running
        "#]],
    );
}

#[test]
fn a_lost_node_releases_its_allocations_and_only_a_new_ask_gets_room_again() {
    check(
        "
        queue root.a
        node n1 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=3
        ask a3 app1 vcore=1
        lose n1
        show app1
        node n2 vcore=4
        show app1
        ask a1 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            lose n1: a1 lost, a2 lost
              a3 waits NO_NODES: no node has registered in partition default. Register a node.
              app1: Running in root.a, no group, uses {}, user headroom none
            node n2: a3 on n2
              app1: Running in root.a, no group, uses {vcore: 1000 m}, user headroom none
            ask a1: a1 on n2
        "#]],
    );
}

#[test]
fn an_application_that_loses_all_with_its_node_completes() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        app app2 root.a bob
        ask b1 app2 vcore=1
        lose n1
        show user ann
        show user bob
        wait 30s
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n2, app2 Running
            lose n1: a1 lost, app1 Completing
              ann: no tracker
              bob at root.a: uses {vcore: 1000 m}, left none, runs 1
              bob at root: uses {vcore: 1000 m}, left none, runs 1
            wait 30s: app1 Completed
        "#]],
    );
}

#[test]
fn a_node_that_shrinks_below_its_use_evicts_nothing_and_takes_nothing() {
    check(
        "
        queue root.a
        node n1 vcore=8
        node n2 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=6
        resize n1 vcore=4
        show root
        ask a2 app1 vcore=3
        ask a3 app1 vcore=2
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            resize n1: nothing
              root: in force {vcore: 8000 m}, uses {vcore: 6000 m}, headroom {vcore: 2000 m}, share 0.75, runs 1
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 2 of 8 vcore available, but the ask needs 3. Wait for a release, or add nodes.
            ask a3: a3 on n2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 8 vcore available, but the ask needs 3. Wait for a release, or add nodes.
            release a1: a1 released, a2 on n1
        "#]],
    );
}

#[test]
fn a_node_that_grows_takes_what_waited() {
    check(
        "
        queue root.a
        node n1 vcore=2
        app app1 root.a ann
        ask a1 app1 vcore=3
        resize n1 vcore=2
        resize n1 vcore=3
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 vcore, but no node in use has more than 2. Add a larger node, or request less.
            resize n1: nothing
            resize n1: a1 on n1, app1 Running
        "#]],
    );
}

#[test]
fn a_node_id_is_free_again_when_the_node_has_left() {
    check(
        "
        queue root.a
        node n1 vcore=2
        lose n1
        node n1 vcore=4
        show root
        ",
        expect![[r#"
            lose n1: nothing
              root: in force {vcore: 4000 m}, uses {}, headroom {vcore: 4000 m}, share 0, runs 0
        "#]],
    );
}
