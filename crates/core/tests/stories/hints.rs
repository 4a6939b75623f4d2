//! The asks that more nodes would help, reported once a second.

use expect_test::expect;

use crate::check;

/// No-starvation NS-52: asks that were reported and still wait count, whichever application they belong to.
#[test]
#[doc(alias = "NS-52")]
fn no_more_is_told_of_than_the_queue_would_admit() {
    check(
        "
        queue root.a max cpu=10
        node n1 cpu=4
        app app1 root.a ann
        ask r1 app1 cpu=4
        ask e1 app1 cpu=3
        ask e2 app1 cpu=3
        scan-outstanding
        app app2 root.a bob
        ask e3 app2 cpu=1
        ask e4 app1 cpu=1
        scan-outstanding
        release e2
        scan-outstanding
        release r1
        scan-outstanding
        ",
        expect![[r#"
            ask r1: app1 Accepted, r1 on n1, app1 Running
            ask e1
              e1 waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 3. Wait for a release, or add nodes.
            ask e2
              e2 waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 3. Wait for a release, or add nodes.
            scan-outstanding: more nodes would help e1, more nodes would help e2
            ask e3: app2 Accepted
              e3 waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 1. Wait for a release, or add nodes.
            ask e4
              e4 waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 1. Wait for a release, or add nodes.
            scan-outstanding: nothing
            release e2: e2 withdrawn
            scan-outstanding: more nodes would help e4, more nodes would help e3
            release r1: r1 released, e1 on n1, e4 on n1
            scan-outstanding: nothing
        "#]],
    );
}

/// The same for the limit of a user, and for a queue above two leaves.
#[test]
#[doc(alias = "NS-52")]
fn no_more_is_told_of_than_limits_and_queues_above_would_admit() {
    check(
        "
        queue root.p.a
        queue root.p.b
        queue root.p max cpu=6
        limit root.p user ann cpu=3
        node n1 cpu=1
        app full root.p.a zoe
        ask r1 full cpu=1
        app app1 root.p.a ann
        ask a1 app1 cpu=2
        scan-outstanding
        app app2 root.p.b ann
        ask a2 app2 cpu=2
        ask a3 app2 cpu=1
        scan-outstanding
        app app3 root.p.b bob
        ask b1 app3 cpu=1
        ask b2 app3 cpu=2
        ask b3 app3 cpu=1
        scan-outstanding
        remove app1
        scan-outstanding
        ",
        expect![[r#"
            ask r1: full Accepted, r1 on n1, full Running
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 cpu, but no node in use has more than 1. Add a larger node, or request less.
            scan-outstanding: more nodes would help a1
            ask a2: app2 Accepted
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 cpu, but no node in use has more than 1. Add a larger node, or request less.
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 1 cpu available, but the ask needs 1. Wait for a release, or add nodes.
            scan-outstanding: more nodes would help a3
            ask b1: app3 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 cpu available, but the ask needs 1. Wait for a release, or add nodes.
            ask b2
              b2 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 cpu, but no node in use has more than 1. Add a larger node, or request less.
            ask b3
              b3 waits ROOT_CAPACITY: the cluster has 0 of 1 cpu available, but the ask needs 1. Wait for a release, or add nodes.
            scan-outstanding: more nodes would help b1, more nodes would help b3
            remove app1: a1 withdrawn, app1 Completing, app1 Completed, app1 gone
            scan-outstanding: more nodes would help a2
        "#]],
    );
}

/// Asks of several sizes and applications are reported in the order of the leaf.
#[test]
fn what_is_told_of_stands_in_the_order_of_the_leaf() {
    check(
        "
        queue root.a max cpu=12
        node n1 cpu=1
        app full root.a zoe
        ask r1 full cpu=1
        app app1 root.a ann
        app app2 root.a bob
        ask b1 app2 cpu=2
        ask b2 app2 cpu=3
        ask a1 app1 cpu=3
        ask a2 app1 cpu=2 prio 1
        ask a3 app1 cpu=5
        scan-outstanding
        resize n1 cpu=3
        scan-outstanding
        ",
        expect![[r#"
            ask r1: full Accepted, r1 on n1, full Running
            ask b1: app2 Accepted
              b1 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 cpu, but no node in use has more than 1. Add a larger node, or request less.
            ask b2
              b2 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 cpu, but no node in use has more than 1. Add a larger node, or request less.
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 cpu, but no node in use has more than 1. Add a larger node, or request less.
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 cpu, but no node in use has more than 1. Add a larger node, or request less.
            ask a3
              a3 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 cpu, but no node in use has more than 1. Add a larger node, or request less.
            scan-outstanding: more nodes would help a2, more nodes would help a1, more nodes would help a3
            resize n1: a2 on n1, app1 Running
              b1 waits ROOT_CAPACITY: the cluster has 0 of 3 cpu available, but the ask needs 2. Wait for a release, or add nodes.
              b2 waits ROOT_CAPACITY: the cluster has 0 of 3 cpu available, but the ask needs 3. Wait for a release, or add nodes.
              a1 waits ROOT_CAPACITY: the cluster has 0 of 3 cpu available, but the ask needs 3. Wait for a release, or add nodes.
              a3 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 cpu, but no node in use has more than 3. Add a larger node, or request less.
            scan-outstanding: nothing
        "#]],
    );
}
