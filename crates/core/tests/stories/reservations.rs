//! Nodes that are reserved for asks.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W11")]
fn reservation_target() {
    check(
        "
        queue root.a
        node n1 cpu=10 memory=100
        node n2 cpu=10 memory=100
        app app1 root.a ann
        ask f1 app1 cpu=7 memory=60 on n1
        ask f2 app1 cpu=6 memory=88 on n2
        app app2 root.a ann
        ask a app2 cpu=6 memory=10
        wait 2s
        wait 1s
        show app2
        ",
        expect![[r#"
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask f2: f2 on n2
            ask a: app2 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 4 free. Wait for a release, or add nodes.
            wait 2s: nothing
            wait 1s: n2 keeps a
              a waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 4, memory 12 free, but the ask needs cpu 6, memory 10. Wait for a release on this node, or for capacity on another node.
              app2: Accepted in root.a, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W12")]
fn a_reserved_ask_lands_elsewhere() {
    check(
        "
        queue root.a
        node n1 cpu=10 memory=100
        node n2 cpu=10 memory=100
        app app1 root.a ann
        ask f1 app1 cpu=3 memory=40 on n1
        ask f2 app1 cpu=6 memory=88 on n2
        ask f3 app1 cpu=4 memory=10 on n1
        app app2 root.a ann
        ask a app2 cpu=6 memory=10
        wait 3s
        release f3
        ",
        expect![[r#"
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask f2: f2 on n2
            ask f3: f3 on n1
            ask a: app2 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 4 free. Wait for a release, or add nodes.
            wait 3s: n2 keeps a
              a waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 4, memory 12 free, but the ask needs cpu 6, memory 10. Wait for a release on this node, or for capacity on another node.
            release f3: f3 released, a on n1, app2 Running
        "#]],
    );
}

/// Decision K-28: the reference keeps n1 for the ask, which what is foreign there stops for ever.
#[test]
#[doc(alias = "scheduling W34")]
fn foreign_load_is_invisible_to_headroom_and_keeps_no_node() {
    check(
        "
        queue root.a
        node n1 cpu=8
        foreign f1 n1 cpu=3
        app app1 root.a ann
        ask a app1 cpu=6
        wait 3s
        app app2 root.a bob
        ask b app2 cpu=2
        release a
        ",
        expect![[r#"
            foreign f1: f1 occupies n1
            ask a: app1 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            wait 3s: nothing
            ask b: app2 Accepted, b on n1, app2 Running
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            release a: a withdrawn, app1 Completing
        "#]],
    );
}

#[test]
fn a_kept_node_is_kept_from_others_until_its_ask_goes() {
    check(
        "
        queue root.a
        node n1 cpu=10
        app app1 root.a ann
        ask f1 app1 cpu=4 on n1
        foreign f n1 cpu=3
        app app2 root.a bob
        ask big app2 cpu=6
        wait 3s
        app app3 root.a cid
        ask small app3 cpu=1
        release big
        ",
        expect![[r#"
            ask f1: app1 Accepted, f1 on n1, app1 Running
            foreign f: f occupies n1
            ask big: app2 Accepted
              big waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps big
              big waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask small: app3 Accepted
              small waits NODE_RESERVED: 1 of 1 nodes has enough free capacity, but 1 of those is reserved for other asks. Wait until such an ask is placed or withdrawn, or add nodes.
            release big: big withdrawn, app2 Completing, small on n1, app3 Running
        "#]],
    );
}

#[test]
fn an_ask_larger_than_every_node_has_none_kept() {
    check(
        "
        queue root.a
        node n1 cpu=4
        node n2 cpu=4
        app app1 root.a ann
        ask a app1 cpu=5
        wait 10s
        resize n2 cpu=6
        ask b app1 cpu=1 on n2
        ",
        expect![[r#"
            ask a: app1 Accepted
              a waits IMPOSSIBLE: no release can start the ask: the ask needs 5 cpu, but no node in use has more than 4. Add a larger node, or request less.
            wait 10s: nothing
            resize n2: a on n2, app1 Running
            ask b: b on n2
        "#]],
    );
}

#[test]
#[doc(alias = "C23")]
fn a_new_node_takes_the_ask_and_frees_the_kept_one() {
    check(
        "
        queue root.a
        node n1 cpu=10
        app app1 root.a ann
        ask f1 app1 cpu=4 on n1
        foreign f n1 cpu=3
        app app2 root.a bob
        ask a app2 cpu=6
        wait 3s
        node n2 cpu=8
        ",
        expect![[r#"
            ask f1: app1 Accepted, f1 on n1, app1 Running
            foreign f: f occupies n1
            ask a: app2 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            node n2: a on n2, app2 Running
        "#]],
    );
}

#[test]
fn a_node_that_leaves_is_kept_no_more_and_another_is() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=10
        node n2 cpu=12
        node spare cpu=100
        drain spare
        app app1 root.a ann
        app fill root.fill zoe
        ask f fill cpu=5 on n1
        ask g fill cpu=10 on n2
        app app2 root.a bob
        ask a app2 cpu=6
        wait 3s
        lose n1
        lose n2
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask g: g on n2
            ask a: app2 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 5 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            lose n1: no node is reserved for a, f lost, n2 keeps a
              a waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 2 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            lose n2: no node is reserved for a, g lost, fill Completing
              a waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
        "#]],
    );
}

#[test]
fn a_drained_node_is_kept_for_nobody_new_but_serves_whom_it_is_kept_for() {
    check(
        "
        queue root.a
        node n1 cpu=10
        app app1 root.a ann
        ask f1 app1 cpu=4 on n1
        foreign f n1 cpu=3
        app app2 root.a bob
        ask a app2 cpu=6
        wait 3s
        drain n1
        ask b app2 cpu=6 made 0s
        foreign-gone f
        ",
        expect![[r#"
            ask f1: app1 Accepted, f1 on n1, app1 Running
            foreign f: f occupies n1
            ask a: app2 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            drain n1: nothing
            ask b
              b waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            foreign-gone f: f gone, a on n1, app2 Running
        "#]],
    );
}

#[test]
fn the_first_old_ask_in_order_has_the_node_kept_not_the_first() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=10
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f fill cpu=6 on n1
        app app1 root.a ann
        ask old app1 cpu=5
        wait 2s
        ask young app1 cpu=5 prio 5
        wait 1s
        wait 2s
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask old: app1 Accepted
              old waits NO_NODE_FITS: the ask needs 5 cpu, but no node that the ask can use has more than 4 free. Wait for a release, or add nodes.
            wait 2s: nothing
            ask young
              young waits NO_NODE_FITS: the ask needs 5 cpu, but no node that the ask can use has more than 4 free. Wait for a release, or add nodes.
            wait 1s: n1 keeps old
              young waits NO_NODE_FITS: the ask needs 5 cpu, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
              old waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 4 free, but the ask needs cpu 5. Wait for a release on this node, or for capacity on another node.
            wait 2s: nothing
        "#]],
    );
}

/// Decision D-19.
/// Decision D-17.
#[test]
fn a_reservation_that_lacks_headroom_ends_after_two_hours() {
    check(
        "
        queue root.a max cpu=8
        queue root.fill
        node n1 cpu=10
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f fill cpu=5 on n1
        app app1 root.a ann
        ask a app1 cpu=6
        wait 3s
        ask r app1 cpu=3 on n1
        wait 7199s
        wait 2s
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask a: app1 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 5 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask r: r on n1, app1 Running
              a waits QUEUE_MAX: queue root.a has 5 of 8 cpu available, but the ask needs 6. Wait for a release, or raise the maximum.
            wait 7199s: nothing
            wait 2s: no node is reserved for a
        "#]],
    );
}

#[test]
fn a_reserved_ask_waits_while_its_application_may_not_run() {
    check(
        "
        queue root.a
        limit root.a user ann cpu=6
        queue root.fill
        node n1 cpu=10
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f fill cpu=5 on n1
        app app1 root.a ann
        ask a app1 cpu=6
        wait 3s
        app app2 root.a ann
        ask b app2 cpu=1 on n1
        release f
        release b
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask a: app1 Accepted
              a waits NO_NODE_FITS: the ask needs 6 cpu, but no node that the ask can use has more than 5 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 5 free, but the ask needs cpu 6. Wait for a release on this node, or for capacity on another node.
            ask b: app2 Accepted, b on n1, app2 Running
              a waits ABS_USER_LIMIT: user ann at root.a has 5 of 6 cpu available, but the ask needs 6. Wait for a release, or raise the limit.
            release f: f released, fill Completing
            release b: b released, app2 Completing, a on n1, app1 Running
        "#]],
    );
}

#[test]
#[doc(alias = "C23")]
fn each_ask_has_one_node_kept_and_each_node_is_kept_for_one_ask() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=4
        node n2 cpu=4
        node n3 cpu=4
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f fill cpu=2 on n1
        ask g fill cpu=2 on n2
        ask h fill cpu=2 on n3
        app app1 root.a ann
        ask a1 app1 cpu=3
        ask a2 app1 cpu=3
        ask a3 app1 cpu=3
        ask a4 app1 cpu=3
        wait 3s
        release g
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask g: g on n2
            ask h: h on n3
            ask a1: app1 Accepted
              a1 waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a2
              a2 waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a3
              a3 waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a4
              a4 waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a1, n2 keeps a2, n3 keeps a3
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
              a2 waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
              a3 waits NODE_RESOURCES: node n3 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
              a4 waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            release g: g released, a2 on n2, app1 Running, n2 keeps a4
              a4 waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}

/// CapacityScheduler counts how often an application was passed over, and lets it reserve while that and its
/// outstanding amount exceed its reservations. Here each ask that is old enough has one reserved node, so the answer
/// of the example, to reserve, needs no count. If every node is reserved, the next ask waits.
#[test]
#[doc(alias = "UH-28")]
fn an_ask_that_finds_no_node_has_one_kept_however_often_it_was_passed_over() {
    check(
        "
        queue root.a share yarn3
        node n1 vcore=32
        node n2 vcore=32
        node n3 vcore=32
        node n4 vcore=32
        app app1 root.a ann
        ask f1 app1 vcore=30 on n1
        ask f2 app1 vcore=30 on n2
        ask f3 app1 vcore=30 on n3
        ask f4 app1 vcore=30 on n4
        app app2 root.a ann
        ask a1 app2 vcore=8
        ask a2 app2 vcore=8
        ask a3 app2 vcore=8
        wait 3s
        ask a4 app2 vcore=8
        ask a5 app2 vcore=8
        wait 3s
        release f2
        ",
        expect![[r#"
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask f2: f2 on n2
            ask f3: f3 on n3
            ask f4: f4 on n4
            ask a1: app2 Accepted
              a1 waits NO_NODE_FITS: the ask needs 8 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a2
              a2 waits NO_NODE_FITS: the ask needs 8 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a3
              a3 waits NO_NODE_FITS: the ask needs 8 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a1, n2 keeps a2, n3 keeps a3
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 2 free, but the ask needs vcore 8. Wait for a release on this node, or for capacity on another node.
              a2 waits NODE_RESOURCES: node n2 is reserved for the ask and has vcore 2 free, but the ask needs vcore 8. Wait for a release on this node, or for capacity on another node.
              a3 waits NODE_RESOURCES: node n3 is reserved for the ask and has vcore 2 free, but the ask needs vcore 8. Wait for a release on this node, or for capacity on another node.
            ask a4
              a4 waits NO_NODE_FITS: the ask needs 8 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a5
              a5 waits NO_NODE_FITS: the ask needs 8 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: n4 keeps a4
              a4 waits NODE_RESOURCES: node n4 is reserved for the ask and has vcore 2 free, but the ask needs vcore 8. Wait for a release on this node, or for capacity on another node.
              a5 waits NO_NODE_FITS: the ask needs 8 vcore, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            release f2: f2 released, a2 on n2, app2 Running, a1 on n2, a3 on n2, a4 on n2
              a5 waits USER_HARD_CAP: user ann at root.a uses 122 vcore of a user cap of 128, and the ask needs 8 more. Wait for a release by this user, or raise `userlimitfactor`.
        "#]],
    );
}
