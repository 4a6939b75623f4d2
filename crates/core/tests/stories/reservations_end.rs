//! Nodes that could not hold an ask, and reservations that end for it. No-starvation NS-10.

use expect_test::expect;

use crate::check;

/// Foreign allocations leave 3 of each node: asks of 4 have no reservation, and preempt nothing.
#[test]
#[doc(alias = "NS-10")]
fn an_ask_has_no_node_kept_that_is_too_small_less_what_is_foreign() {
    check(
        "
        queue root.a
        queue root.b
        node n1 cpu=4
        node n2 cpu=4
        node n3 cpu=4
        foreign f1 n1 cpu=1
        foreign f2 n2 cpu=1
        foreign f3 n3 cpu=1
        app big root.a ann
        ask b1 big cpu=4
        ask b2 big cpu=4
        ask b3 big cpu=4
        wait 10s
        app small root.b bob
        ask s1 small cpu=1
        ask s2 small cpu=1
        ask s3 small cpu=1
        ask s4 small cpu=1
        ask s5 small cpu=1
        ask s6 small cpu=1
        ask s7 small cpu=1
        ask s8 small cpu=1
        ask s9 small cpu=1
        wait 60s
        foreign-gone f2
        ",
        expect![[r#"
            foreign f1: f1 occupies n1
            foreign f2: f2 occupies n2
            foreign f3: f3 occupies n3
            ask b1: big Accepted
              b1 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            ask b2
              b2 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            ask b3
              b3 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 10s: nothing
            ask s1: small Accepted, s1 on n1, small Running
            ask s2: s2 on n1
            ask s3: s3 on n1
            ask s4: s4 on n2
            ask s5: s5 on n2
            ask s6: s6 on n2
            ask s7: s7 on n3
              b1 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
              b2 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
              b3 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask s8: s8 on n3
              b1 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
              b2 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
              b3 waits NO_NODE_FITS: the ask needs 4 cpu, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            ask s9: s9 on n3
              b1 waits ROOT_CAPACITY: the cluster has 3 of 12 cpu available, but the ask needs 4. Wait for a release, or add nodes.
              b2 waits ROOT_CAPACITY: the cluster has 3 of 12 cpu available, but the ask needs 4. Wait for a release, or add nodes.
              b3 waits ROOT_CAPACITY: the cluster has 3 of 12 cpu available, but the ask needs 4. Wait for a release, or add nodes.
            wait 60s: nothing
            foreign-gone f2: f2 gone
        "#]],
    );
}

/// Without the foreign usage, the ask has a reservation. If the usage returns, increases, or moves there, it has
/// none.
#[test]
#[doc(alias = "NS-10")]
fn what_is_foreign_ends_a_reservation_that_it_makes_impossible() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=4
        node n2 cpu=2
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f1 fill cpu=2 on n1
        ask f2 fill cpu=2 on n2
        app big root.a ann
        ask b big cpu=3
        wait 3s
        foreign g n1 cpu=1
        foreign g n1 cpu=2
        foreign g n1 cpu=1
        foreign g n2 cpu=3
        foreign h n1 cpu=1
        foreign g n1 cpu=1
        foreign-gone h
        release f1
        ",
        expect![[r#"
            drain spare: nothing
            ask f1: fill Accepted, f1 on n1, fill Running
            ask f2: f2 on n2
            ask b: big Accepted
              b waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            foreign g: g occupies n1
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            foreign g: no node is reserved for b, g occupies n1
              b waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            foreign g: g occupies n1, n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            foreign g: g occupies n2
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            foreign h: h occupies n1
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            foreign g: no node is reserved for b, g occupies n1
              b waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            foreign-gone h: h gone, n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            release f1: f1 released, b on n1, big Running
        "#]],
    );
}

#[test]
#[doc(alias = "NS-10")]
fn a_node_that_shrinks_below_its_ask_is_kept_no_more() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=8
        node n2 cpu=8
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f1 fill cpu=4 on n1
        ask f2 fill cpu=6 on n2
        app big root.a ann
        ask b big cpu=6
        wait 3s
        resize n1 cpu=6
        resize n1 cpu=5
        resize n2 cpu=5
        resize n1 cpu=6
        ",
        expect![[r#"
            drain spare: nothing
            ask f1: fill Accepted, f1 on n1, fill Running
            ask f2: f2 on n2
            ask b: big Accepted
              b waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 4 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 4 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            resize n1
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            resize n1: no node is reserved for b, n2 keeps b
              b waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 2 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            resize n2: no node is reserved for b
              b waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            resize n1: n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}

#[test]
#[doc(alias = "NS-10")]
fn an_ask_that_is_resized_beyond_its_node_has_it_no_more() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=8
        node n2 cpu=9
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f1 fill cpu=4 on n1
        ask f2 fill cpu=8 on n2
        app big root.a ann
        ask b big cpu=6
        wait 3s
        ask b big cpu=8
        ask b big cpu=9
        ask b big cpu=10
        ask b big cpu=6
        ",
        expect![[r#"
            drain spare: nothing
            ask f1: fill Accepted, f1 on n1, fill Running
            ask f2: f2 on n2
            ask b: big Accepted
              b waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 4 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 4 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask b: b resized
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 4 free, but the ask needs cpu 8. Wait for a release on this node, or for capacity on another node.
            ask b: no node is reserved for b, b resized, n2 keeps b
              b waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 1 free, but the ask needs cpu 9. Wait for a release on this node, or for capacity on another node.
            ask b: no node is reserved for b, b resized
              b waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            ask b: b resized, n1 keeps b
              b waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 4 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}
