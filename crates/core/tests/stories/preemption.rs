//! Room is taken back from others: the worked examples W21 to W32 of scheduling §23, and what
//! else is told of preemption. Allocations are there from the start, so that ages are known.

use expect_test::expect;

use crate::check;

#[test]
fn scheduling_w21_preemption_restores_what_is_guaranteed_and_no_more() {
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
              x waits QUEUE_MAX: queue root.p has 0 c left of its maximum of 12, the ask needs 1; wait for a release, or raise the maximum
            wait 29s: nothing
            wait 1s: v9 to be stopped for x, n1 keeps x
            wait 600s: nothing
            release v9: v9 released, x on n1
              root.p.q1: in force {c: 12}, uses {c: 8}, headroom {c: 0}, share 2, runs 1
              root.p.q2: in force {c: 12}, uses {c: 4}, headroom {c: 0}, share 1, runs 1
            ask y
              y waits QUEUE_MAX: queue root.p has 0 c left of its maximum of 12, the ask needs 1; wait for a release, or raise the maximum
            wait 30s: nothing to stop for y
            wait 14s: nothing
            wait 60s: nothing
        "#]],
    );
}

#[test]
fn scheduling_w22_a_queue_at_its_guarantee_takes_nothing() {
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
              y waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 12, the ask needs 1; wait for a release, or add nodes
            wait 30s: nothing to stop for y
            wait 600s: nothing
        "#]],
    );
}

#[test]
fn scheduling_w23_victims_offer_themselves_first_then_originators_then_the_newest() {
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 4; wait for a release, or add nodes
            wait 30s: v4 to be stopped for x, v3 to be stopped for x, v2 to be stopped for x, v1 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
fn scheduling_w24_priority_fences_while_searching() {
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 8, the ask needs 4; wait for a release, or add nodes
            wait 30s: nothing to stop for x
            release c1: c1 released, C Completing
              x waits ROOT_CAPACITY: the cluster has 1 c left of its maximum of 8, the ask needs 4; wait for a release, or add nodes
            ask y: e15 to be stopped for y, d5 to be stopped for y, n1 keeps y
              y waits ROOT_CAPACITY: the cluster has 1 c left of its maximum of 8, the ask needs 3; wait for a release, or add nodes
            wait 30s: C Completed, nothing to stop for x
        "#]],
    );
}

#[test]
fn scheduling_w25_its_own_maximum_is_a_fence() {
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
              x waits QUEUE_MAX: queue root.q1 has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or raise the maximum
            wait 30s: nothing to stop for x
        "#]],
    );
}

#[test]
fn scheduling_w26_a_guarantee_above_counts_for_those_below() {
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
              x9 waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 20, the ask needs 9; wait for a release, or add nodes
            wait 30s: nothing to stop for x9
            release x9: x9 withdrawn, A1 Completing
            ask x8: A1 Running, v2 to be stopped for x8, n1 keeps x8
              x8 waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 20, the ask needs 8; wait for a release, or add nodes
            wait 30s: nothing
        "#]],
    );
}

#[test]
fn scheduling_w27_fewest_victims_win_over_least_waste() {
    check(
        "
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 16, the ask needs 4; wait for a release, or add nodes
            wait 30s: b5 to be stopped for x, N2 keeps x
        "#]],
    );
}

#[test]
fn scheduling_w28_no_queue_goes_below_its_guarantee() {
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 6, the ask needs 4; wait for a release, or add nodes
            wait 30s: nothing to stop for x
        "#]],
    );
}

#[test]
fn scheduling_w28_the_reference_takes_an_oversized_victim() {
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 6, the ask needs 4; wait for a release, or add nodes
            wait 30s: v to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
fn scheduling_w29_each_type_of_the_ask_is_covered() {
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 5, the ask needs 4; wait for a release, or add nodes
            wait 30s: v1 to be stopped for x, v2 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
fn scheduling_w29_each_type_is_covered_as_the_reference_takes_them_too() {
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
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 5, the ask needs 4; wait for a release, or add nodes
            wait 30s: v1 to be stopped for x, v2 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
fn scheduling_w30_quota_preemption_of_a_leaf_never_takes_too_much() {
    check(
        "
        preemption quota
        queue root.q max c=20 prop quota.preemption.delay=60s
        node n1 c=30
        app A root.q ann
        ask a A c=6 on n1 preemptable
        ask b A c=5 on n1 preemptable
        ask c A c=4 on n1 preemptable
        ask d A c=3 on n1 preemptable
        reload
        preemption quota
        queue root.q max c=10 prop quota.preemption.delay=60s
        wait 59s
        scan-quotas
        wait 1s
        scan-quotas
        release d as preempted
        release c as preempted
        wait 600s
        scan-quotas
        show root.q
        ",
        expect![[r#"
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            ask c: c on n1
            ask d: d on n1
            reload: root.q changed
            wait 59s: nothing
            scan-quotas: nothing
            wait 1s: nothing
            scan-quotas: d to be stopped for the quota of root.q, c to be stopped for the quota of root.q, quota clock of root.q stopped
            release d: d released
            release c: c released
            wait 600s: nothing
            scan-quotas: nothing
              root.q: in force {c: 10}, uses {c: 11}, headroom {c: -1}, share 1.1, runs 1
        "#]],
    );
}

#[test]
fn scheduling_w31_quota_preemption_of_a_parent_is_shared_out() {
    check(
        "
        preemption quota
        queue root.p parent max c=47 prop quota.preemption.delay=1s
        queue root.p.x guaranteed c=10
        queue root.p.y
        queue root.p.z guaranteed c=8
        node n1 c=60
        app X root.p.x ann
        app Y root.p.y ann
        app Z root.p.z ann
        ask x1 X c=24 on n1 preemptable
        ask x2 X c=3 on n1 preemptable
        ask x3 X c=3 on n1 preemptable
        ask y1 Y c=9 on n1 preemptable
        ask y2 Y c=3 on n1 preemptable
        ask z1 Z c=5 on n1 preemptable
        reload
        preemption quota
        queue root.p parent max c=37 prop quota.preemption.delay=1s
        queue root.p.x guaranteed c=10
        queue root.p.y
        queue root.p.z guaranteed c=8
        wait 1s
        scan-quotas
        scan-quotas
        ",
        expect![[r#"
            ask x1: X Accepted, x1 on n1, X Running
            ask x2: x2 on n1
            ask x3: x3 on n1
            ask y1: Y Accepted, y1 on n1, Y Running
            ask y2: y2 on n1
            ask z1: Z Accepted, z1 on n1, Z Running
            reload: root.p changed
            wait 1s: nothing
            scan-quotas: x3 to be stopped for the quota of root.p, x2 to be stopped for the quota of root.p, y2 to be stopped for the quota of root.p, quota clock of root.p stopped
            scan-quotas: nothing
        "#]],
    );
}

#[test]
fn scheduling_w32_the_quota_clock_follows_changes_and_stops_within_the_maximum() {
    check(
        "
        preemption quota
        queue root.q max c=20 prop quota.preemption.delay=60s
        node n1 c=30
        app A root.q ann
        ask a A c=4 on n1 preemptable
        ask b A c=11 on n1 preemptable
        reload
        preemption quota
        queue root.q max c=10 prop quota.preemption.delay=60s
        wait 20s
        reload
        preemption quota
        queue root.q max c=8 prop quota.preemption.delay=60s
        wait 10s
        reload
        preemption quota
        queue root.q max c=8 prop quota.preemption.delay=90s
        wait 20s
        reload
        preemption quota
        queue root.q max c=12 prop quota.preemption.delay=90s
        wait 20s
        scan-quotas
        release a
        wait 1s
        scan-quotas
        wait 30s
        scan-quotas
        ",
        expect![[r#"
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            reload: root.q changed
            wait 20s: nothing
            reload: root.q changed
            wait 10s: nothing
            reload: root.q changed
            wait 20s: nothing
            reload: root.q changed
            wait 20s: nothing
            scan-quotas: nothing
            release a: a released
            wait 1s: nothing
            scan-quotas: quota clock of root.q stopped
            wait 30s: nothing
            scan-quotas: nothing
        "#]],
    );
}

#[test]
fn scheduling_w32_a_restart_starts_the_quota_clock_anew() {
    check(
        "
        preemption quota
        queue root.q max c=8 prop quota.preemption.delay=90s
        node n1 c=30
        app A root.q ann
        wait 45s
        ask a A c=4 on n1 preemptable
        ask b A c=11 on n1 preemptable
        wait 89s
        scan-quotas
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            wait 45s: nothing
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            wait 89s: nothing
            scan-quotas: nothing
            wait 1s: nothing
            scan-quotas: a to be stopped for the quota of root.q, quota clock of root.q stopped
        "#]],
    );
}

#[test]
fn seed_sd_08_usage_falls_when_the_rm_confirms_and_not_before() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=4 on n1 preemptable
        ask x B c=4 made 0s preempts
        wait 30s
        show root.q1
        show user ann
        release v1 as preempted
        show root.q1
        show user ann
        show root.q2
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 4; wait for a release, or add nodes
            wait 30s: v1 to be stopped for x, n1 keeps x
              root.q1: in force {c: 4}, uses {c: 4}, headroom {c: 0}, share 1, runs 1
              ann at root.q1: uses {c: 4}, left none, runs 1
              ann at root: uses {c: 4}, left none, runs 1
            release v1: v1 released, A Completing, x on n1, B Running
              root.q1: in force {c: 4}, uses {}, headroom {c: 0}, share 0, runs 0
              ann: no tracker
              root.q2: in force {c: 4}, uses {c: 4}, headroom {c: 0}, share 1, runs 1
        "#]],
    );
}

#[test]
fn each_precondition_alone_keeps_others_from_being_stopped() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=9
        queue root.q3
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        app C root.q3 bob
        ask v1 A c=4 on n1 preemptable
        ask may-not B c=1 made 0s
        ask no-guarantee C c=1 made 0s preempts
        ask required B c=1 made 0s requires n1 preempts
        wait 29s
        ask young B c=1 preempts
        wait 29s
        release young
        wait 600s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask may-not: B Accepted
              may-not waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            ask no-guarantee: C Accepted
              no-guarantee waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            ask required
              required waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            wait 29s: nothing
            ask young
              young waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            wait 29s: nothing
            release young: young withdrawn
            wait 600s: nothing
        "#]],
    );
}

#[test]
fn preemption_that_is_switched_off_stops_nothing() {
    check(
        "
        preemption off
        queue root.q1
        queue root.q2 guaranteed c=9
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=4 on n1 preemptable
        ask x B c=4 made 0s preempts
        wait 600s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 4; wait for a release, or add nodes
            wait 600s: nothing
        "#]],
    );
}

#[test]
fn a_queue_that_is_not_to_be_disturbed_gives_nothing_and_takes_all_the_same() {
    check(
        "
        queue root.q1 prop preemption.policy=disabled
        queue root.q2 guaranteed c=9 prop preemption.policy=disabled
        queue root.q3
        node n1 c=8
        app A root.q1 ann
        app B root.q2 bob
        app C root.q3 bob
        ask v1 A c=4 on n1 made 9s preemptable
        ask w1 C c=4 on n1 made 1s preemptable
        ask x B c=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask w1: C Accepted, w1 on n1, C Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 8, the ask needs 4; wait for a release, or add nodes
            wait 30s: w1 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
fn a_fence_keeps_the_search_below_it() {
    check(
        "
        queue root.p parent prop preemption.policy=fence
        queue root.p.q1
        queue root.p.q2 guaranteed c=9
        queue root.o
        node n1 c=8
        app A root.p.q1 ann
        app B root.p.q2 bob
        app C root.o bob
        ask w1 C c=4 on n1 made 9s preemptable
        ask v1 A c=4 on n1 made 1s preemptable
        ask x B c=4 made 0s preempts
        ask y B c=4 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask w1: C Accepted, w1 on n1, C Running
            ask v1: A Accepted, v1 on n1, A Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 8, the ask needs 4; wait for a release, or add nodes
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 8, the ask needs 4; wait for a release, or add nodes
            wait 30s: v1 to be stopped for x, n1 keeps x, nothing to stop for y
        "#]],
    );
}

#[test]
fn names_that_begin_alike_are_no_path() {
    check(
        "
        queue root.a guaranteed c=2
        queue root.ab parent
        queue root.ab.q2 guaranteed c=4
        node n1 c=4
        app A root.a ann
        app B root.ab.q2 bob
        ask v1 A c=2 on n1 made 1s preemptable
        ask v2 A c=2 on n1 made 2s preemptable
        ask x B c=2 made 0s preempts
        ask y B c=2 made 0s preempts
        wait 30s
        release v2 as preempted
        wait 60s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            wait 30s: v2 to be stopped for x, n1 keeps x, nothing to stop for y
            release v2: v2 released, x on n1, B Running
            wait 60s: nothing to stop for y
        "#]],
    );
}

#[test]
fn higher_priorities_and_other_types_are_left_alone() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=9
        node n1 c=3 g=3
        app A root.q1 ann
        app B root.q2 bob
        ask high A c=2 prio 1 on n1 made 9s preemptable
        ask other A g=2 on n1 made 9s preemptable
        ask equal A c=1 on n1 made 1s preemptable
        ask x B c=1 made 0s preempts
        wait 30s
        ask y B c=2 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask high: A Accepted, high on n1, A Running
            ask other: other on n1
            ask equal: equal on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 3, the ask needs 1; wait for a release, or add nodes
            wait 30s: equal to be stopped for x, n1 keeps x
            ask y: nothing to stop for y
              y waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 3, the ask needs 2; wait for a release, or add nodes
            wait 30s: nothing
        "#]],
    );
}

#[test]
fn a_guarantee_of_another_type_is_no_reason_to_stop_others() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed g=4
        node n1 c=4 g=4
        app A root.q1 ann
        app B root.q2 bob
        ask v A c=4 on n1 made 9s preemptable
        ask x B c=1 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v: A Accepted, v on n1, A Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            wait 30s: nothing to stop for x
        "#]],
    );
}

#[test]
fn others_are_tried_again_after_15_s_and_not_before_something_happened() {
    check(
        "
        queue root.q1 guaranteed c=4
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=4 on n1 made 1s preemptable
        ask x B c=2 made 0s preempts
        wait 30s
        wait 60s
        reload
        queue root.q1
        queue root.q2 guaranteed c=4
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            wait 30s: nothing to stop for x
            wait 60s: nothing
            reload: root.q1 changed, v1 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
fn victims_on_one_node_only_and_none_in_vain() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=9
        node n1 c=2
        node n2 c=2
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=1 on n1 made 1s preemptable
        ask v2 A c=1 on n1 made 2s
        ask v3 A c=1 on n2 made 3s preemptable
        ask v4 A c=1 on n2 made 4s preemptable
        ask x B c=2 made 0s preempts
        ask big B c=3 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n1
            ask v3: v3 on n2
            ask v4: v4 on n2
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            ask big
              big waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 3; wait for a release, or add nodes
            wait 30s: v4 to be stopped for x, v3 to be stopped for x, n2 keeps x, nothing to stop for big
        "#]],
    );
}

#[test]
fn a_second_ask_counts_what_the_first_was_promised() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=2
        node n1 c=2
        node n2 c=2
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=2 on n1 made 1s preemptable
        ask v2 A c=2 on n2 made 2s preemptable
        ask x B c=2 made 0s preempts
        ask y B c=2 made 0s preempts
        wait 30s
        wait 60s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n2
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            wait 30s: v1 to be stopped for x, n1 keeps x, nothing to stop for y
            wait 60s: nothing
        "#]],
    );
}

#[test]
fn the_reference_forgets_what_was_promised() {
    check(
        "
        preemption newest
        queue root.q1
        queue root.q2 guaranteed c=2
        node n1 c=2
        node n2 c=2
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=2 on n1 made 1s preemptable
        ask v2 A c=2 on n2 made 2s preemptable
        ask x B c=2 made 0s preempts
        ask y B c=2 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask v2: v2 on n2
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 2; wait for a release, or add nodes
            wait 30s: v1 to be stopped for x, n1 keeps x, v2 to be stopped for y, n2 keeps y
        "#]],
    );
}

#[test]
fn equal_asks_are_tried_once() {
    check(
        "
        queue root.q1 guaranteed c=4
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=4 on n1 made 1s preemptable
        ask x1 B c=1 made 0s preempts
        ask x2 B c=1 made 0s preempts
        ask x3 B c=1 made 0s preempts
        ask higher B c=1 prio 5 made 0s preempts
        wait 30s
        ",
        expect![[r#"
            ask v1: A Accepted, v1 on n1, A Running
            ask x1: B Accepted
              x1 waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            ask x2
              x2 waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            ask x3
              x3 waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            ask higher
              higher waits ROOT_CAPACITY: the cluster has 0 c left of its maximum of 4, the ask needs 1; wait for a release, or add nodes
            wait 30s: nothing to stop for higher, nothing to stop for x1
        "#]],
    );
}
