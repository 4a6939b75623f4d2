//! Limits of reservations: `reservations.share`. No-starvation NS-12.

use expect_test::expect;

use crate::check;

/// Two asks of 6 on two nodes of 8 that run 5 each. Without a limit, both nodes are reserved and idle in part. With the
/// limit, one node is reserved, and the other runs small asks.
#[test]
#[doc(alias = "NS-12")]
fn one_node_is_reserved_and_small_asks_use_the_other() {
    check(
        "
        reservations 0.1
        queue root.a
        queue root.b
        node n1 cpu=8
        node n2 cpu=8
        app long root.a ann
        ask l1 long cpu=5
        ask l2 long cpu=5
        app one root.a ann
        ask big1 one cpu=6
        app two root.a ann
        ask big2 two cpu=6
        wait 5s
        app small root.b bob
        ask s1 small cpu=1
        ask s2 small cpu=1
        wait 5s
        ",
        expect![[r#"
            ask l1: long Accepted, l1 on n1, long Running
            ask l2: l2 on n2
            ask big1: one Accepted
              big1 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            ask big2: two Accepted
              big2 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 5s: n1 keeps big1
              big1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask s1: small Accepted, s1 on n2, small Running
              big1 waits ROOT_CAPACITY: the cluster has 5 of 16 cpu available, but the ask needs 6. Wait for a release, or add nodes.
              big2 waits ROOT_CAPACITY: the cluster has 5 of 16 cpu available, but the ask needs 6. Wait for a release, or add nodes.
            ask s2: s2 on n2
              big1 waits ROOT_CAPACITY: the cluster has 4 of 16 cpu available, but the ask needs 6. Wait for a release, or add nodes.
              big2 waits ROOT_CAPACITY: the cluster has 4 of 16 cpu available, but the ask needs 6. Wait for a release, or add nodes.
            wait 5s: nothing
        "#]],
    );
}

/// An application with two asks has one node reserved, and another application can reserve the second node.
#[test]
#[doc(alias = "NS-12")]
fn an_application_reserves_one_node() {
    check(
        "
        reservations 1
        queue root.a
        node n1 cpu=8
        node n2 cpu=8
        node n3 cpu=8
        app long root.a ann
        ask l1 long cpu=5
        ask l2 long cpu=5
        ask l3 long cpu=5
        app one root.a ann
        ask big1 one cpu=6
        ask big2 one cpu=6
        wait 5s
        app two root.a ann
        ask big3 two cpu=6
        wait 5s
        release l2
        wait 5s
        ",
        expect![[r#"
            ask l1: long Accepted, l1 on n1, long Running
            ask l2: l2 on n2
            ask l3: l3 on n3
            ask big1: one Accepted
              big1 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            ask big2
              big2 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 5s: n1 keeps big1
              big1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask big3: two Accepted
              big3 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 5s: n2 keeps big3
              big3 waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            release l2: l2 released, big3 on n2, two Running
            wait 5s: nothing
        "#]],
    );
}

/// A reservation on whose node nothing is released for ten minutes passes to the next application. A release there
/// extends it.
#[test]
#[doc(alias = "NS-12")]
fn a_reservation_in_vain_passes_to_the_next() {
    check(
        "
        reservations 0.1
        queue root.a
        node n1 cpu=8
        node n2 cpu=8
        node n3 cpu=5
        app long root.a ann
        ask l1 long cpu=5
        ask l2 long cpu=5
        ask l3 long cpu=1
        app one root.a ann
        ask big1 one cpu=6
        app two root.a ann
        ask big2 two cpu=6
        wait 300s
        release l3
        wait 301s
        wait 301s
        wait 600s
        release l1
        ",
        expect![[r#"
            ask l1: long Accepted, l1 on n1, long Running
            ask l2: l2 on n2
            ask l3: l3 on n1
            ask big1: one Accepted
              big1 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            ask big2: two Accepted
              big2 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            wait 300s: n1 keeps big1
              big1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            release l3: l3 released
              big1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            wait 301s: nothing
            wait 301s: no node is reserved for big1, n1 keeps big2
              big1 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
              big2 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            wait 600s: no node is reserved for big2, n1 keeps big1
              big1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
              big2 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            release l1: l1 released, big1 on n1, one Running
        "#]],
    );
}

/// Nobody else waits, so a reservation in vain remains until somebody does.
#[test]
#[doc(alias = "NS-12")]
fn a_reservation_remains_while_nobody_else_waits() {
    check(
        "
        reservations 0.1
        queue root.a
        node n1 cpu=8
        node n2 cpu=5
        app long root.a ann
        ask l1 long cpu=5
        app one root.a ann
        ask big1 one cpu=6
        wait 3600s
        app small root.a ann
        ask s1 small cpu=4
        ask s2 small cpu=2
        wait 5s
        ",
        expect![[r#"
            ask l1: long Accepted, l1 on n1, long Running
            ask big1: one Accepted
              big1 waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            wait 3600s: n1 keeps big1
              big1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask s1: small Accepted, s1 on n2, small Running
              big1 waits ROOT_CAPACITY: the cluster has 4 of 13 cpu available, but the ask needs 6. Wait for a release, or add nodes.
            ask s2
              s2 waits NODE_RESERVED: 1 of 2 nodes has enough free capacity, but 1 of those is reserved for other asks. Wait until such an ask is placed or withdrawn, or add nodes.
            wait 5s: nothing
        "#]],
    );
}
