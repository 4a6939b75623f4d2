//! Room is taken back from others: the worked examples W21 to W29 of scheduling §23. Allocations
//! are there from the start, so that ages are known.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W21")]
fn preemption_restores_what_is_guaranteed_and_no_more() {
    check(
        "
        queue root.p parent max c=12
        queue root.p.q1 guaranteed c=4
        queue root.p.q2 guaranteed c=4
        node n1 c=12
        app A root.p.q1 ann
        app B root.p.q2 bob
        ask v1 A c=1 on n1 made 0s preemptable
        ask v2 A c=1 on n1 made 1s preemptable
        ask v3 A c=1 on n1 made 2s preemptable
        ask v4 A c=1 on n1 made 3s preemptable
        ask v5 A c=1 on n1 made 4s preemptable
        ask v6 A c=1 on n1 made 5s preemptable
        ask v7 A c=1 on n1 made 6s preemptable
        ask v8 A c=1 on n1 made 7s preemptable
        ask v9 A c=1 on n1 made 8s preemptable
        ask b1 B c=3 on n1 made 0s
        ask x B c=1 made 0s preempts
        wait 29s
        wait 1s
        wait 600s
        release v9 as preempted
        show root.p.q1
        show root.p.q2
        ask y B c=1 preempts
        wait 30s
        wait 14s
        wait 60s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n1
            ask v3: v3 on n1
            ask v4: v4 on n1
            ask v5: v5 on n1
            ask v6: v6 on n1
            ask v7: v7 on n1
            ask v8: v8 on n1
            ask v9: v9 on n1
            ask b1: B Accepted, b1 on n1, B Running
            ask x
              x waits QUEUE_MAX: queue root.p has 0 of 12 c available, but the ask needs 1. Wait for a release, or raise the maximum.
            wait 29s: nothing
            wait 1s: v9 to be stopped for x, n1 keeps x
            wait 600s: nothing
            release v9: v9 released, x on n1
              root.p.q1: in force {c: 12}, uses {c: 8}, headroom {c: 0}, share 2, runs 1
              root.p.q2: in force {c: 12}, uses {c: 4}, headroom {c: 0}, share 1, runs 1
            ask y
              y waits QUEUE_MAX: queue root.p has 0 of 12 c available, but the ask needs 1. Wait for a release, or raise the maximum.
            wait 30s: nothing to stop for y
            wait 14s: nothing
            wait 60s: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W22")]
fn a_queue_at_its_guarantee_takes_nothing() {
    check(
        "
        queue root.q1 guaranteed c=4
        queue root.q2 guaranteed c=4
        node n1 c=12
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=8 on n1 preemptable
        ask b1 B c=4 on n1
        ask y B c=1 made 0s preempts
        wait 30s
        wait 600s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask b1: B Accepted, b1 on n1, B Running
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 12 c available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: nothing to stop for y
            wait 600s: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W23")]
fn victims_offer_themselves_first_then_originators_then_the_newest() {
    check(
        "
        queue root.a
        queue root.b guaranteed c=4
        node n1 c=4
        app A root.a ann
        app B root.b bob
        ask v1 A c=1 on n1 made 9s
        ask v2 A c=1 on n1 made 8s preemptable originator
        ask v3 A c=1 on n1 made 1s preemptable
        ask v4 A c=1 on n1 made 5s preemptable
        ask x B c=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n1
            ask v3: v3 on n1
            ask v4: v4 on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: v4 to be stopped for x, v3 to be stopped for x, v2 to be stopped for x, v1 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W24")]
fn priority_fences_while_searching() {
    check(
        "
        queue root.a guaranteed c=9
        queue root.b prop priority.policy=fence prop priority.offset=20
        queue root.c prop priority.policy=fence prop priority.offset=5
        queue root.d prop priority.offset=5
        queue root.e prop priority.offset=-5
        node n1 c=8
        app A root.a ann
        app B root.b ann
        app C root.c ann
        app D root.d ann
        app E root.e ann
        ask b1 B c=1 on n1 preemptable
        ask b2 B c=1 on n1 preemptable
        ask c1 C c=1 prio 1000 on n1 preemptable
        ask d5 D c=1 prio 5 on n1 preemptable
        ask d6 D c=1 prio 6 on n1 preemptable
        ask e15 E c=1 prio 15 on n1 preemptable
        ask e16 E c=1 prio 16 on n1 preemptable
        ask f1 E c=1 prio 99 on n1 preemptable
        ask x A c=4 prio 10 made 0s preempts
        wait 30s
        release c1
        ask y A c=3 prio 10 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask b1: B Accepted, b1 on n1, B Running
            ask b2: b2 on n1
            ask c1: C Accepted, c1 on n1, C Running
            ask d5: D Accepted, d5 on n1, D Running
            ask d6: d6 on n1
            ask e15: E Accepted, e15 on n1, E Running
            ask e16: e16 on n1
            ask f1: f1 on n1
            ask x: A Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: nothing to stop for x
            release c1: c1 released, C Completing
              x waits ROOT_CAPACITY: the cluster has 1 of 8 c available, but the ask needs 4. Wait for a release, or add nodes.
            ask y: d5 to be stopped for y, e15 to be stopped for y, n1 keeps y
              y waits ROOT_CAPACITY: the cluster has 1 of 8 c available, but the ask needs 3. Wait for a release, or add nodes.
            wait 30s: C Completed, nothing to stop for x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W25")]
fn its_own_maximum_is_a_fence() {
    check(
        "
        queue root.q1 max c=4 guaranteed c=4
        queue root.q2
        node n1 c=12
        app A root.q1 ann
        app B root.q2 bob
        ask v1 B c=8 on n1 preemptable
        ask a1 A c=4 on n1
        ask x A c=1 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: B Accepted, v1 on n1, B Running
            ask a1: A Accepted, a1 on n1, A Running
            ask x
              x waits QUEUE_MAX: queue root.q1 has 0 of 4 c available, but the ask needs 1. Wait for a release, or raise the maximum.
            wait 30s: nothing to stop for x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W26")]
fn a_guarantee_above_counts_for_those_below() {
    check(
        "
        queue root.pa parent guaranteed c=10
        queue root.pa.a1
        queue root.pa.a2
        queue root.pb parent guaranteed c=5
        queue root.pb.b1
        node n1 c=20
        app A1 root.pa.a1 ann
        app A2 root.pa.a2 ann
        app B root.pb.b1 bob
        ask a2 A2 c=2 on n1
        ask v1 B c=9 on n1 preemptable
        ask v2 B c=9 on n1 made 1s preemptable
        ask x9 A1 c=9 made 0s preempts
        wait 30s
        release x9
        ask x8 A1 c=8 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask a2: A2 Accepted, a2 on n1, A2 Running
            ask v1: B Accepted, v1 on n1, B Running
            ask v2: v2 on n1
            ask x9: A1 Accepted
              x9 waits ROOT_CAPACITY: the cluster has 0 of 20 c available, but the ask needs 9. Wait for a release, or add nodes.
            wait 30s: nothing to stop for x9
            release x9: x9 withdrawn, A1 Completing
            ask x8: A1 Running, v2 to be stopped for x8, n1 keeps x8
              x8 waits ROOT_CAPACITY: the cluster has 0 of 20 c available, but the ask needs 8. Wait for a release, or add nodes.
            wait 30s: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W27")]
fn fewest_victims_win_over_least_waste() {
    check(
        "
        preemption newest
        queue root.q1 guaranteed c=4
        queue root.q2 guaranteed c=8
        node N1 c=8
        node N2 c=8
        app A root.q1 ann
        app B root.q2 bob
        ask a2 A c=2 on N1 made 2s preemptable
        ask a3 A c=2 on N1 made 3s preemptable
        ask a4 A c=2 on N1 made 4s preemptable
        ask a5 A c=2 on N1 made 5s preemptable
        ask b4 A c=2 on N2 made 4s preemptable
        ask b5 A c=6 on N2 made 5s preemptable
        ask x B c=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask a2: A Accepted, a2 on N1, A Running
            ask a3: a3 on N1
            ask a4: a4 on N1
            ask a5: a5 on N1
            ask b4: b4 on N2
            ask b5: b5 on N2
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 16 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: b5 to be stopped for x, N2 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W28")]
fn no_queue_goes_below_its_guarantee() {
    check(
        "
        queue root.q1 guaranteed c=5
        queue root.q2 guaranteed c=5
        node n1 c=6
        app A root.q1 ann
        app B root.q2 bob
        ask w A c=2 on n1 made 1s preemptable
        ask v A c=4 on n1 made 2s preemptable
        ask x B c=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask w: A Accepted, w on n1, A Running
            ask v: v on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 6 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: nothing to stop for x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W28")]
fn the_reference_takes_an_oversized_victim() {
    check(
        "
        preemption newest
        queue root.q1 guaranteed c=5
        queue root.q2 guaranteed c=5
        node n1 c=6
        app A root.q1 ann
        app B root.q2 bob
        ask w A c=2 on n1 made 1s preemptable
        ask v A c=4 on n1 made 2s preemptable
        ask x B c=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask w: A Accepted, w on n1, A Running
            ask v: v on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 6 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: v to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "K-27")]
#[doc(alias = "NS-41")]
fn a_victim_larger_than_what_is_left_of_the_guarantee_is_passed_over() {
    check(
        "
        preemption newest
        queue root.q1 guaranteed c=4
        queue root.q2 guaranteed c=4
        node n1 c=12
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=2 on n1 made 0s preemptable
        ask v2 A c=1 on n1 made 1s preemptable
        ask v3 A c=6 on n1 made 2s preemptable
        ask b1 B c=3 on n1 made 0s
        ask x B c=1 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n1
            ask v3: v3 on n1
            ask b1: B Accepted, b1 on n1, B Running
            ask x
              x waits ROOT_CAPACITY: the cluster has 0 of 12 c available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: v2 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W29")]
fn each_type_of_the_ask_is_covered() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=9 m=9
        node n1 c=5 m=9
        app A root.q1 ann
        app B root.q2 bob
        ask v2 A c=4 m=1 on n1 made 1s preemptable
        ask v1 A c=1 m=8 on n1 made 2s preemptable
        ask x B c=4 m=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v2: A Accepted, v2 on n1, A Running
            ask v1: v1 on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 5 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: v2 to be stopped for x, v1 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W29")]
fn each_type_is_covered_as_the_reference_takes_them_too() {
    check(
        "
        preemption newest
        queue root.q1
        queue root.q2 guaranteed c=9 m=9
        node n1 c=5 m=9
        app A root.q1 ann
        app B root.q2 bob
        ask v2 A c=4 m=1 on n1 made 1s preemptable
        ask v1 A c=1 m=8 on n1 made 2s preemptable
        ask x B c=4 m=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v2: A Accepted, v2 on n1, A Running
            ask v1: v1 on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 5 c available, but the ask needs 4. Wait for a release, or add nodes.
            wait 30s: v1 to be stopped for x, v2 to be stopped for x, n1 keeps x
        "#]],
    );
}

/// Shares are compared on the type that is guaranteed: the other one, of which nobody is guaranteed anything, keeps no
/// queue from giving.
#[test]
#[doc(alias = "NS-44")]
fn balance_compares_the_types_that_have_a_guarantee() {
    check(
        "
        preemption balance
        queue root.alice guaranteed gpu=1
        queue root.bob guaranteed gpu=1
        node n1 vcore=8 gpu=4
        app al root.alice alice
        ask a1 al vcore=1 gpu=1 preemptable
        ask a2 al vcore=1 gpu=1 preemptable
        ask a3 al vcore=1 gpu=1 preemptable
        ask a4 al vcore=1 gpu=1 preemptable
        app bo root.bob bob
        ask b1 bo vcore=1 gpu=1 preempts
        ask b2 bo vcore=1 gpu=1 preempts
        ask b3 bo vcore=1 gpu=1 preempts
        wait 60s
        wait 60s
        release a4 as preempted
        release a3 as preempted
        wait 60s
        show root.alice
        show root.bob
        ",
        expect![[r#"
            ask a1: al Accepted, a1 on n1, al Running
            ask a2: a2 on n1
            ask a3: a3 on n1
            ask a4: a4 on n1
            ask b1: bo Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 4 gpu available, but the ask needs 1. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 4 gpu available, but the ask needs 1. Wait for a release, or add nodes.
            ask b3
              b3 waits ROOT_CAPACITY: the cluster has 0 of 4 gpu available, but the ask needs 1. Wait for a release, or add nodes.
            wait 60s: a4 to be stopped for b1, n1 keeps b1, nothing to stop for b2
            wait 60s: nothing
            release a4: a4 released, b1 on n1, bo Running, a3 to be stopped for b2, n1 keeps b2, nothing to stop for b3
            release a3: a3 released, b2 on n1
            wait 60s: nothing to stop for b3
              root.alice: in force {gpu: 4, vcore: 8000 m}, uses {gpu: 2, vcore: 2000 m}, headroom {gpu: 0, vcore: 4000 m}, share 2, runs 1
              root.bob: in force {gpu: 4, vcore: 8000 m}, uses {gpu: 2, vcore: 2000 m}, headroom {gpu: 0, vcore: 4000 m}, share 2, runs 1
        "#]],
    );
}
