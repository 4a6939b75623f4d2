//! What queues allow: maxima of leaf and ancestors, and the size of the cluster.

use expect_test::expect;

use crate::check;

#[test]
fn a_leaf_maximum_holds_and_a_release_gives_its_share_back() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=2
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits QUEUE_MAX: queue root.a has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            release a1: a1 released, a2 on n1
        "#]],
    );
}

#[test]
fn a_maximum_of_an_ancestor_holds_for_all_below_it_together() {
    check(
        "
        queue root.p max vcore=4
        queue root.p.a
        queue root.p.b
        node n1 vcore=8
        app app1 root.p.a ann
        app app2 root.p.b bob
        ask a1 app1 vcore=3
        ask b1 app2 vcore=2
        ask b2 app2 vcore=1
        release b2
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits QUEUE_MAX: queue root.p has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            ask b2: b2 on n1, app2 Running
              b1 waits QUEUE_MAX: queue root.p has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            release b2: b2 released
              b1 waits QUEUE_MAX: queue root.p has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            release a1: a1 released, app1 Completing, b1 on n1
        "#]],
    );
}

#[test]
fn the_figures_of_a_reason_follow_what_happens_while_it_waits() {
    check(
        "
        queue root.a max vcore=4
        queue root.b
        limit root.b user ann vcore=4
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=3
        ask a3 app1 vcore=1
        release a3
        app app2 root.b ann
        ask b1 app2 vcore=2
        ask b2 app2 vcore=3
        ask b3 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits QUEUE_MAX: queue root.a has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            ask a3: a3 on n1
              a2 waits QUEUE_MAX: queue root.a has 1 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            release a3: a3 released
              a2 waits QUEUE_MAX: queue root.a has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask b2
              b2 waits ABS_USER_LIMIT: user ann at root.b has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the limit.
            ask b3: b3 on n1
              b2 waits ABS_USER_LIMIT: user ann at root.b has 1 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
fn a_zero_in_a_maximum_forbids_and_an_absent_type_is_unlimited() {
    check(
        "
        queue root.a max memory=0 vcore=2
        node n1 vcore=8 memory=8 gpu=8
        app app1 root.a ann
        ask a1 app1 memory=1
        ask a2 app1 vcore=2 gpu=8
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 memory, but the maximum of queue root.a is 0. Raise the maximum, or request less.
            ask a2: a2 on n1, app1 Running
        "#]],
    );
}

#[test]
fn a_maximum_of_zeros_only_is_no_maximum() {
    check(
        "
        queue root.a max memory=0
        node n1 memory=8
        app app1 root.a ann
        ask a1 app1 memory=8
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
        "#]],
    );
}

#[test]
fn the_size_of_the_cluster_bounds_the_root() {
    check(
        "
        queue root.a
        node n1 vcore=2
        node n2 vcore=2
        app app1 root.a ann
        ask a1 app1 vcore=5
        ask a2 app1 vcore=3
        node n3 vcore=4
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 vcore, but no node in use has more than 2. Add a larger node, or request less.
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 vcore, but no node in use has more than 2. Add a larger node, or request less.
            node n3: a2 on n3, app1 Running
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 vcore, but no node in use has more than 4. Add a larger node, or request less.
        "#]],
    );
}

#[test]
fn a_type_that_no_node_has_waits_for_the_cluster() {
    check(
        "
        queue root.a
        node n1 vcore=2
        app app1 root.a ann
        ask a1 app1 vcore=1 fpga=1
        node n2 fpga=1
        node n3 vcore=1 fpga=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 fpga, but no node in use has fpga. Add a node with fpga, or request less.
            node n2
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs fpga 1, vcore 1, but no node in use has all these amounts, although each amount is on some node. Add a larger node, or request less.
            node n3: a1 on n3, app1 Running
        "#]],
    );
}

#[test]
fn types_asked_for_with_zero_are_not_asked_for() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=2
        app app1 root.a ann
        ask a1 app1 vcore=1 fpga=0
        show app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
              app1: Running in root.a, no group, uses {vcore: 1000 m}, user headroom none
        "#]],
    );
}

#[test]
fn room_that_no_single_node_has_is_told_apart_from_room_that_is_nowhere() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 memory=4
        app app1 root.a ann
        ask a1 app1 vcore=1 memory=1
        node n3 vcore=4 memory=4
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs memory 1, vcore 1, but no node in use has all these amounts, although each amount is on some node. Add a larger node, or request less.
            node n3: a1 on n3, app1 Running
        "#]],
    );
}

#[test]
fn the_reason_is_the_first_check_that_fails_from_the_leaf_up() {
    check(
        "
        queue root.p max vcore=2
        queue root.p.a max vcore=1
        limit root.p.a user ann memory=1
        node n1 vcore=1 memory=9
        app app1 root.p.a ann
        ask a1 app1 vcore=9 memory=2
        ask a2 app1 vcore=9
        ask a3 app1 memory=1
        app app2 root.p.a bob
        ask b1 app2 vcore=2
        ask b2 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but the maximum of queue root.p.a is 1. Raise the maximum, or request less.
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but the maximum of queue root.p.a is 1. Raise the maximum, or request less.
            ask a3: a3 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 vcore, but the maximum of queue root.p.a is 1. Raise the maximum, or request less.
            ask b2: b2 on n1, app2 Running
        "#]],
    );
}

#[test]
#[doc(alias = "SD-24")]
fn root_is_as_large_as_its_nodes_and_a_quota_of_its_own_is_not_applied() {
    check(
        "
        queue root max vcore=1 guaranteed vcore=1
        queue root.a
        show root
        app app1 root.a ann
        ask a1 app1 vcore=3
        node n1 vcore=2 memory=4
        show root
        node n2 vcore=4
        show root
        resize n2 vcore=3 gpu=1
        show root
        lose n1
        show root
        lose n2
        show root
        ",
        expect![[r#"
              root: in force none, uses {}, headroom none, share 0, runs 0
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 vcore, but no node in use has more than 2. Add a larger node, or request less.
              root: in force {memory: 4 B, vcore: 2000 m}, uses {}, headroom {memory: 4 B, vcore: 2000 m}, share 0, runs 0
            node n2: a1 on n2, app1 Running
              root: in force {memory: 4 B, vcore: 6000 m}, uses {vcore: 3000 m}, headroom {memory: 4 B, vcore: 3000 m}, share 0.5, runs 1
            resize n2: nothing
              root: in force {gpu: 1, memory: 4 B, vcore: 5000 m}, uses {vcore: 3000 m}, headroom {gpu: 1, memory: 4 B, vcore: 2000 m}, share 0.6, runs 1
            lose n1: nothing
              root: in force {gpu: 1, vcore: 3000 m}, uses {vcore: 3000 m}, headroom {gpu: 1, vcore: 0 m}, share 1, runs 1
            lose n2: a1 lost, app1 Completing
              root: in force none, uses {}, headroom none, share 0, runs 0
        "#]],
    );
}

#[test]
fn two_partitions_share_nothing() {
    check(
        "
        partition default
        queue root.a
        limit root user ann vcore=1
        partition gpu
        queue root.a
        limit root user ann vcore=2

        node n1 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        partition gpu
        node n1 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=2
        show user ann
        partition default
        show user ann
        release a1
        partition gpu
        remove app1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ABS_USER_LIMIT: user ann at root has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or raise the limit.
            ask a1: app1 Accepted, a1 on n1, app1 Running
              ann at root.a: uses {vcore: 2000 m}, left none, runs 1
              ann at root: uses {vcore: 2000 m}, left {vcore: 0 m}, runs 1
              ann at root.a: uses {vcore: 1000 m}, left none, runs 1
              ann at root: uses {vcore: 1000 m}, left {vcore: 0 m}, runs 1
            release a1: a1 released, a2 on n1
            remove app1: a1 released, app1 Completing, app1 gone
        "#]],
    );
}
