//! The worked examples of scheduling §23 that need no gang, reservation or preemption.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W1")]
fn fifo_across_applications_and_quota_stops() {
    check(
        "
        queue root.a
        app B root.a ann
        wait 1s
        app A root.a ann
        ask a1 A c=4
        ask a2 A c=4
        ask b1 B c=4
        node N1 c=10
        ",
        expect![[r#"
            wait 1s: nothing
            ask a1: A Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: B Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node N1: b1 on N1, B Running, a1 on N1, A Running
              a2 waits ROOT_CAPACITY: the cluster has 2 of 10 c available, but the ask needs 4. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W2")]
fn no_head_of_line_blocking() {
    check(
        "
        queue root.a
        app B root.a ann
        wait 1s
        app A root.a ann
        ask a1 A c=4
        ask a2 A c=4
        ask b1 B c=4
        wait 1s
        ask a3 A c=2
        node N1 c=10
        ",
        expect![[r#"
            wait 1s: nothing
            ask a1: A Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: B Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            wait 1s: nothing
            ask a3
              a3 waits NO_NODES: no node has registered in partition default. Register a node.
            node N1: b1 on N1, B Running, a1 on N1, A Running, a3 on N1
              a2 waits ROOT_CAPACITY: the cluster has 0 of 10 c available, but the ask needs 4. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W3")]
fn priority_beats_age_then_decays() {
    check(
        "
        queue root.a
        app A root.a ann
        wait 5s
        app B root.a bob
        ask a1 A c=1
        ask a2 A c=1
        ask b1 B c=1 prio 10
        ask b2 B c=1
        node N1 c=3
        ",
        expect![[r#"
            wait 5s: nothing
            ask a1: A Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: B Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b2
              b2 waits NO_NODES: no node has registered in partition default. Register a node.
            node N1: b1 on N1, B Running, a1 on N1, A Running, a2 on N1
              b2 waits ROOT_CAPACITY: the cluster has 0 of 3 c available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W3")]
fn priority_ignored() {
    check(
        "
        queue root.a ignore-priority
        app A root.a ann
        wait 5s
        app B root.a bob
        ask a1 A c=1
        ask a2 A c=1
        ask b2 B c=1
        ask b1 B c=1 prio 10
        node N1 c=3
        ",
        expect![[r#"
            wait 5s: nothing
            ask a1: A Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b2: B Accepted
              b2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node N1: a1 on N1, A Running, a2 on N1, b1 on N1, B Running
              b2 waits ROOT_CAPACITY: the cluster has 0 of 3 c available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W4")]
fn order_inside_an_application() {
    check(
        "
        queue root.a
        wait 20s
        app A root.a ann
        ask p5-t3 A c=1 prio 5 made 3s
        ask p5-t1 A c=1 prio 5 made 1s
        ask p7-t9 A c=1 prio 7 made 9s
        ask p5-t1-later A c=1 prio 5 made 1s     # comes before its equal: scheduling §7.3
        node N1 c=4
        ",
        expect![[r#"
            wait 20s: nothing
            ask p5-t3: A Accepted
              p5-t3 waits NO_NODES: no node has registered in partition default. Register a node.
            ask p5-t1
              p5-t1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask p7-t9
              p7-t9 waits NO_NODES: no node has registered in partition default. Register a node.
            ask p5-t1-later
              p5-t1-later waits NO_NODES: no node has registered in partition default. Register a node.
            node N1: p7-t9 on N1, A Running, p5-t1-later on N1, p5-t1 on N1, p5-t3 on N1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W5")]
fn fair_without_a_guarantee_compares_raw_amounts() {
    check(
        "
        queue root.a fair
        node N1 c=10000 m=10000
        app A root.a ann
        app B root.a bob
        ask a1 A c=4000 m=10
        ask b1 B c=500 m=6000
        ask b2 B gpu=1
        ask a2 A gpu=1
        resize N1 c=10000 m=10000 gpu=1
        ",
        expect![[r#"
            ask a1: A Accepted, a1 on N1, A Running
            ask b1: B Accepted, b1 on N1, B Running
            ask b2
              b2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            resize N1: a2 on N1
              b2 waits ROOT_CAPACITY: the cluster has 0 of 1 gpu available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W5")]
fn fair_with_a_guarantee_compares_shares() {
    check(
        "
        queue root.a fair guaranteed c=8000 m=100000
        node N1 c=10000 m=10000
        app A root.a ann
        app B root.a bob
        ask a1 A c=4000 m=10
        ask b1 B c=500 m=6000
        ask a2 A gpu=1
        ask b2 B gpu=1
        resize N1 c=10000 m=10000 gpu=1
        ",
        expect![[r#"
            ask a1: A Accepted, a1 on N1, A Running
            ask b1: B Accepted, b1 on N1, B Running
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask b2
              b2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            resize N1: b2 on N1
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 gpu available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W6")]
fn fair_queues_mix_guarantee_and_fair_maximum() {
    check(
        "
        queue root.q1 guaranteed m=100
        queue root.q2 max m=200
        node N1 c=16 m=400
        app A root.q1 ann
        app B root.q2 bob
        ask a1 A c=2 m=60
        ask b1 B c=8 m=90
        show root.q1
        show root.q2
        ask a2 A gpu=1
        ask b2 B gpu=1
        resize N1 c=16 m=400 gpu=1
        ",
        expect![[r#"
            ask a1: A Accepted, a1 on N1, A Running
            ask b1: B Accepted, b1 on N1, B Running
              root.q1: in force {c: 16, m: 400}, uses {c: 2, m: 60}, headroom {c: 6, m: 250}, share 0.6, runs 1
              root.q2: in force {c: 16, m: 200}, uses {c: 8, m: 90}, headroom {c: 6, m: 110}, share 0.5, runs 1
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask b2
              b2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            resize N1: b2 on N1
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 gpu available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W7")]
fn explicit_zero_guarantee() {
    check(
        "
        queue root.q guaranteed gpu=0 m=1
        node N1 gpu=8
        app A root.q ann
        show root.q
        ask a1 A gpu=1
        show root.q
        ",
        expect![[r#"
              root.q: in force {gpu: 8}, uses {}, headroom {gpu: 8}, share 0, runs 0
            ask a1: A Accepted, a1 on N1, A Running
              root.q: in force {gpu: 8}, uses {gpu: 1}, headroom {gpu: 7}, share 1, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W9")]
fn node_order_fair() {
    check(
        "
        nodes fair c=1 m=1
        queue root.busy
        queue root.t
        app x1 root.busy ann
        app x2 root.busy ann
        app x3 root.busy ann
        node n1 c=10 m=100
        node n2 c=20 m=100
        node n3 c=10 m=100
        drain n1
        drain n2
        drain n3
        ask b1 x1 c=5 m=20 on n1
        ask b2 x2 c=4 m=60 on n2
        ask b3 x3 c=2 on n3
        undrain n1
        undrain n2
        undrain n3
        app t root.t ann
        ask t1 t c=1
        drain n3
        ask t2 t c=1
        drain n1
        ask t3 t c=1
        ",
        expect![[r#"
            drain n1: nothing
            drain n2: nothing
            drain n3: nothing
            ask b1: x1 Accepted, b1 on n1, x1 Running
            ask b2: x2 Accepted, b2 on n2, x2 Running
            ask b3: x3 Accepted, b3 on n3, x3 Running
            undrain n1: nothing
            undrain n2: nothing
            undrain n3: nothing
            ask t1: t Accepted, t1 on n3, t Running
            drain n3: nothing
            ask t2: t2 on n1
            drain n1: nothing
            ask t3: t3 on n2
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W9")]
fn node_order_bin_packing() {
    check(
        "
        nodes binpacking c=1 m=1
        queue root.busy
        queue root.t
        app x1 root.busy ann
        app x2 root.busy ann
        app x3 root.busy ann
        node n1 c=10 m=100
        node n2 c=20 m=100
        node n3 c=10 m=100
        drain n1
        drain n2
        drain n3
        ask b1 x1 c=5 m=20 on n1
        ask b2 x2 c=4 m=60 on n2
        ask b3 x3 c=2 on n3
        undrain n1
        undrain n2
        undrain n3
        app t root.t ann
        ask t1 t c=1
        drain n2
        ask t2 t c=1
        drain n1
        ask t3 t c=1
        ",
        expect![[r#"
            drain n1: nothing
            drain n2: nothing
            drain n3: nothing
            ask b1: x1 Accepted, b1 on n1, x1 Running
            ask b2: x2 Accepted, b2 on n2, x2 Running
            ask b3: x3 Accepted, b3 on n3, x3 Running
            undrain n1: nothing
            undrain n2: nothing
            undrain n3: nothing
            ask t1: t Accepted, t1 on n2, t Running
            drain n2: nothing
            ask t2: t2 on n1
            drain n1: nothing
            ask t3: t3 on n3
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W9")]
fn node_order_weighted() {
    check(
        "
        nodes fair c=3 m=1
        queue root.busy
        queue root.t
        app x1 root.busy ann
        app x2 root.busy ann
        app x3 root.busy ann
        node n1 c=10 m=100
        node n2 c=20 m=100
        node n3 c=10 m=100
        drain n1
        drain n2
        drain n3
        ask b1 x1 c=5 m=20 on n1
        ask b2 x2 c=4 m=60 on n2
        ask b3 x3 c=2 on n3
        undrain n1
        undrain n2
        undrain n3
        app t root.t ann
        ask t1 t c=1
        drain n3
        ask t2 t c=1
        drain n2
        ask t3 t c=1
        ",
        expect![[r#"
            drain n1: nothing
            drain n2: nothing
            drain n3: nothing
            ask b1: x1 Accepted, b1 on n1, x1 Running
            ask b2: x2 Accepted, b2 on n2, x2 Running
            ask b3: x3 Accepted, b3 on n3, x3 Running
            undrain n1: nothing
            undrain n2: nothing
            undrain n3: nothing
            ask t1: t Accepted, t1 on n3, t Running
            drain n3: nothing
            ask t2: t2 on n2
            drain n2: nothing
            ask t3: t3 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W10")]
fn headroom_is_what_the_queues_above_leave() {
    check(
        "
        queue root.p max m=60
        queue root.p.leaf max c=4 m=50
        queue root.p.other
        queue root.q
        node N1 c=100 m=100
        app A root.p.leaf ann
        app B root.p.other ann
        app C root.q ann
        ask a1 A c=1 m=10
        ask b1 B m=30
        ask c1 C m=30
        show root
        show root.p
        show root.p.leaf
        ask a2 A m=21
        ask a3 A gpu=1
        ask a4 A c=3 m=20
        ",
        expect![[r#"
            ask a1: A Accepted, a1 on N1, A Running
            ask b1: B Accepted, b1 on N1, B Running
            ask c1: C Accepted, c1 on N1, C Running
              root: in force {c: 100, m: 100}, uses {c: 1, m: 70}, headroom {c: 99, m: 30}, share 0.7, runs 3
              root.p: in force {c: 100, m: 60}, uses {c: 1, m: 40}, headroom {c: 99, m: 20}, share 0.6666666666666666, runs 2
              root.p.leaf: in force {c: 4, m: 50}, uses {c: 1, m: 10}, headroom {c: 3, m: 20}, share 0.25, runs 1
            ask a2
              a2 waits QUEUE_MAX: queue root.p has 20 of 60 m available, but the ask needs 21. Wait for a release, or raise the maximum.
            ask a3
              a3 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask a4: a4 on N1
              a2 waits QUEUE_MAX: queue root.p.leaf has 20 of 50 m available, but the ask needs 21. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W33")]
fn capacity_below_usage() {
    check(
        "
        queue root.a
        node N1 c=8
        node N2 c=4 drained
        app A root.a ann
        ask a1 A c=6
        undrain N2
        resize N1 c=4
        show root
        ask a2 A c=3
        ",
        expect![[r#"
            ask a1: A Accepted, a1 on N1, A Running
            undrain N2: nothing
            resize N1: nothing
              root: in force {c: 8}, uses {c: 6}, headroom {c: 2}, share 0.75, runs 1
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 2 of 8 c available, but the ask needs 3. Wait for a release, or add nodes.
        "#]],
    );
}
