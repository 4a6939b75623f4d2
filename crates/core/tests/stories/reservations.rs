//! Nodes that are kept for asks.

use expect_test::expect;

use crate::check;

#[test]
fn scheduling_w11_reservation_target() {
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 2s: nothing
            wait 1s: n2 keeps a
              a waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 4, memory 12 free, the ask needs cpu 6, memory 10; wait for a release there, or for another node with room
              app2: Accepted in root.a, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn scheduling_w12_a_reserved_ask_lands_elsewhere() {
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 3s: n2 keeps a
              a waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 4, memory 12 free, the ask needs cpu 6, memory 10; wait for a release there, or for another node with room
            release f3: f3 released, a on n1, app2 Running
        "#]],
    );
}

/// Decision K-28: the reference keeps n1 for the ask, which what is foreign there stops for ever.
#[test]
fn scheduling_w34_foreign_load_is_invisible_to_headroom_and_keeps_no_node() {
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 5; wait for a release, or add nodes
            wait 3s: nothing
            ask b: app2 Accepted, b on n1, app2 Running
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
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
              big waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
            wait 3s: n1 keeps big
              big waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 3 free, the ask needs cpu 6; wait for a release there, or for another node with room
            ask small: app3 Accepted
              small waits NODE_RESERVED: nodes with room for the ask: 1 of 1; kept for other asks: 1 of 1; wait until one of these is placed or withdrawn, or add nodes
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
              a waits NO_NODE_FITS: no node fits: the ask needs 5 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 10s: nothing
            resize n2: a on n2, app1 Running
            ask b: b on n2
        "#]],
    );
}

#[test]
fn c23_a_new_node_takes_the_ask_and_frees_the_kept_one() {
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 3 free, the ask needs cpu 6; wait for a release there, or for another node with room
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 5; wait for a release, or add nodes
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 5 free, the ask needs cpu 6; wait for a release there, or for another node with room
            lose n1: no node is kept for a, f lost, n2 keeps a
              a waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 2 free, the ask needs cpu 6; wait for a release there, or for another node with room
            lose n2: no node is kept for a, g lost, fill Completing
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 0; wait for a release, or add nodes
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 3 free, the ask needs cpu 6; wait for a release there, or for another node with room
            drain n1: nothing
            ask b
              b waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 0; wait for a release, or add nodes
            foreign-gone f: f gone, a on n1, app2 Running
              b waits ROOT_CAPACITY: the cluster has 0 cpu left of its maximum of 10, the ask needs 6; wait for a release, or add nodes
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
              old waits NO_NODE_FITS: no node fits: the ask needs 5 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 2s: nothing
            ask young
              young waits NO_NODE_FITS: no node fits: the ask needs 5 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 1s: n1 keeps old
              young waits NO_NODE_FITS: no node fits: the ask needs 5 cpu, the most that any node in use has free is 0; wait for a release, or add nodes
              old waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 4 free, the ask needs cpu 5; wait for a release there, or for another node with room
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 5; wait for a release, or add nodes
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 5 free, the ask needs cpu 6; wait for a release there, or for another node with room
            ask r: r on n1, app1 Running
              a waits QUEUE_MAX: queue root.a has 5 cpu left of its maximum of 8, the ask needs 6; wait for a release, or raise the maximum
            wait 7199s: nothing
            wait 2s: no node is kept for a
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
              a waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 5; wait for a release, or add nodes
            wait 3s: n1 keeps a
              a waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 5 free, the ask needs cpu 6; wait for a release there, or for another node with room
            ask b: app2 Accepted, b on n1, app2 Running
              a waits ABS_USER_LIMIT: user ann at root.a has 5 cpu left of its limit of 6, the ask needs 6; wait for a release, or raise the limit
            release f: f released, fill Completing
            release b: b released, app2 Completing, a on n1, app1 Running
        "#]],
    );
}

#[test]
fn c23_each_ask_has_one_node_kept_and_each_node_is_kept_for_one_ask() {
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
              a1 waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
            ask a2
              a2 waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
            ask a3
              a3 waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
            ask a4
              a4 waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
            wait 3s: n1 keeps a1, n2 keeps a2, n3 keeps a3
              a1 waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 2 free, the ask needs cpu 3; wait for a release there, or for another node with room
              a2 waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 2 free, the ask needs cpu 3; wait for a release there, or for another node with room
              a3 waits NODE_RESOURCES: node n3 is kept for the ask and has cpu 2 free, the ask needs cpu 3; wait for a release there, or for another node with room
              a4 waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 0; wait for a release, or add nodes
            release g: g released, a2 on n2, app1 Running, n2 keeps a4
              a4 waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 1 free, the ask needs cpu 3; wait for a release there, or for another node with room
        "#]],
    );
}

/// CapacityScheduler counts how often an application was passed over, and lets it reserve while that and what
/// it has outstanding exceed what it has reserved. Here each ask that is old enough has one node kept, so the
/// answer of the example, to reserve, needs no count; with every node kept, the next waits.
#[test]
fn uh_28_an_ask_that_finds_no_node_has_one_kept_however_often_it_was_passed_over() {
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
              a1 waits NO_NODE_FITS: no node fits: the ask needs 8 vcore, the most that any node in use has free is 2; wait for a release, or add nodes
            ask a2
              a2 waits NO_NODE_FITS: no node fits: the ask needs 8 vcore, the most that any node in use has free is 2; wait for a release, or add nodes
            ask a3
              a3 waits NO_NODE_FITS: no node fits: the ask needs 8 vcore, the most that any node in use has free is 2; wait for a release, or add nodes
            wait 3s: n1 keeps a1, n2 keeps a2, n3 keeps a3
              a1 waits NODE_RESOURCES: node n1 is kept for the ask and has vcore 2 free, the ask needs vcore 8; wait for a release there, or for another node with room
              a2 waits NODE_RESOURCES: node n2 is kept for the ask and has vcore 2 free, the ask needs vcore 8; wait for a release there, or for another node with room
              a3 waits NODE_RESOURCES: node n3 is kept for the ask and has vcore 2 free, the ask needs vcore 8; wait for a release there, or for another node with room
            ask a4
              a4 waits NO_NODE_FITS: no node fits: the ask needs 8 vcore, the most that any node in use has free is 2; wait for a release, or add nodes
            ask a5
              a5 waits NO_NODE_FITS: no node fits: the ask needs 8 vcore, the most that any node in use has free is 2; wait for a release, or add nodes
            wait 3s: n4 keeps a4
              a4 waits NODE_RESOURCES: node n4 is kept for the ask and has vcore 2 free, the ask needs vcore 8; wait for a release there, or for another node with room
              a5 waits NO_NODE_FITS: no node fits: the ask needs 8 vcore, the most that any node in use has free is 0; wait for a release, or add nodes
            release f2: f2 released, a2 on n2, app2 Running, a1 on n2, a3 on n2, a4 on n2
              a5 waits USER_HARD_CAP: user ann at root.a uses 122 vcore, he may have at most 128, the ask needs 8; wait for a release of this user, or raise `userlimitfactor`
        "#]],
    );
}

/// What is foreign leaves 3 of each node: asks of 4 have none kept, and stop nobody.
#[test]
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
              b1 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
            ask b2
              b2 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
            ask b3
              b3 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 3; wait for a release, or add nodes
            wait 10s: nothing
            ask s1: small Accepted, s1 on n1, small Running
            ask s2: s2 on n1
            ask s3: s3 on n1
            ask s4: s4 on n2
            ask s5: s5 on n2
            ask s6: s6 on n2
            ask s7: s7 on n3
              b1 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
              b2 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
              b3 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
            ask s8: s8 on n3
              b1 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 1; wait for a release, or add nodes
              b2 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 1; wait for a release, or add nodes
              b3 waits NO_NODE_FITS: no node fits: the ask needs 4 cpu, the most that any node in use has free is 1; wait for a release, or add nodes
            ask s9: s9 on n3
              b1 waits ROOT_CAPACITY: the cluster has 3 cpu left of its maximum of 12, the ask needs 4; wait for a release, or add nodes
              b2 waits ROOT_CAPACITY: the cluster has 3 cpu left of its maximum of 12, the ask needs 4; wait for a release, or add nodes
              b3 waits ROOT_CAPACITY: the cluster has 3 cpu left of its maximum of 12, the ask needs 4; wait for a release, or add nodes
            wait 60s: nothing
            foreign-gone f2: f2 gone
        "#]],
    );
}

/// With the foreign use gone the ask has a node kept; with it back, or larger, or moved there, no more.
#[test]
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
              b waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 2; wait for a release, or add nodes
            wait 3s: n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 2 free, the ask needs cpu 3; wait for a release there, or for another node with room
            foreign g: g occupies n1
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 1 free, the ask needs cpu 3; wait for a release there, or for another node with room
            foreign g: no node is kept for b, g occupies n1
              b waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 0; wait for a release, or add nodes
            foreign g: g occupies n1, n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 1 free, the ask needs cpu 3; wait for a release there, or for another node with room
            foreign g: g occupies n2
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 2 free, the ask needs cpu 3; wait for a release there, or for another node with room
            foreign h: h occupies n1
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 1 free, the ask needs cpu 3; wait for a release there, or for another node with room
            foreign g: no node is kept for b, g occupies n1
              b waits NO_NODE_FITS: no node fits: the ask needs 3 cpu, the most that any node in use has free is 0; wait for a release, or add nodes
            foreign-gone h: h gone, n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 1 free, the ask needs cpu 3; wait for a release there, or for another node with room
            release f1: f1 released, b on n1, big Running
        "#]],
    );
}

#[test]
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
              b waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 3s: n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 4 free, the ask needs cpu 6; wait for a release there, or for another node with room
            resize n1
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 2 free, the ask needs cpu 6; wait for a release there, or for another node with room
            resize n1: no node is kept for b, n2 keeps b
              b waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 2 free, the ask needs cpu 6; wait for a release there, or for another node with room
            resize n2: no node is kept for b
              b waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 1; wait for a release, or add nodes
            resize n1: n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 2 free, the ask needs cpu 6; wait for a release there, or for another node with room
        "#]],
    );
}

#[test]
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
              b waits NO_NODE_FITS: no node fits: the ask needs 6 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            wait 3s: n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 4 free, the ask needs cpu 6; wait for a release there, or for another node with room
            ask b: b resized
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 4 free, the ask needs cpu 8; wait for a release there, or for another node with room
            ask b: no node is kept for b, b resized, n2 keeps b
              b waits NODE_RESOURCES: node n2 is kept for the ask and has cpu 1 free, the ask needs cpu 9; wait for a release there, or for another node with room
            ask b: no node is kept for b, b resized
              b waits NO_NODE_FITS: no node fits: the ask needs 10 cpu, the most that any node in use has free is 4; wait for a release, or add nodes
            ask b: b resized, n1 keeps b
              b waits NODE_RESOURCES: node n1 is kept for the ask and has cpu 4 free, the ask needs cpu 6; wait for a release there, or for another node with room
        "#]],
    );
}
