//! The worked examples of queues-and-limits §11 that need no text of a queue file.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "queues W1")]
fn effective_max_and_headroom() {
    check(
        "
        queue root.a max memory=600
        queue root.a.b max memory=400 vcore=3
        queue root.a.c
        node n1 memory=1000 vcore=8
        app app1 root.a.b ann
        app app2 root.a.c bob
        ask b1 app1 memory=350 vcore=1
        ask c1 app2 memory=200
        show root.a
        show root.a.b
        ask b2 app1 memory=60
        ask b3 app1 vcore=1500m
        ",
        expect![[r#"
            ask b1: app1 Accepted, b1 on n1, app1 Running
            ask c1: app2 Accepted, c1 on n1, app2 Running
              root.a: in force {memory: 600 B, vcore: 8000 m}, uses {memory: 550 B, vcore: 1000 m}, headroom {memory: 50 B, vcore: 7000 m}, share 0.9166666666666666, runs 2
              root.a.b: in force {memory: 400 B, vcore: 3000 m}, uses {memory: 350 B, vcore: 1000 m}, headroom {memory: 50 B, vcore: 2000 m}, share 0.875, runs 1
            ask b2
              b2 waits QUEUE_MAX: queue root.a.b has 50 of 400 memory available, but the ask needs 60. Wait for a release, or raise the maximum.
            ask b3: b3 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "queues W2")]
fn missing_versus_zero() {
    check(
        "
        queue root.q max memory=0 gpu=2
        queue root.dropped max memory=0
        node n1 memory=10 vcore=8 gpu=8
        app app1 root.q ann
        app app2 root.dropped ann
        ask a1 app1 memory=1 gpu=1
        ask a2 app1 vcore=500m gpu=2
        ask b1 app2 memory=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 memory, but the maximum of queue root.q is 0. Raise the maximum, or request less.
            ask a2: a2 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
#[doc(alias = "queues W3")]
fn root_rejects_unknown_types() {
    check(
        "
        queue root.q
        node n1 memory=100 vcore=4
        app app1 root.q ann
        show root.q
        ask a1 app1 fpga=1
        ",
        expect![[r#"
              root.q: in force {memory: 100 B, vcore: 4000 m}, uses {}, headroom {memory: 100 B, vcore: 4000 m}, share 0, runs 0
            ask a1: app1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 fpga, but no node in use has fpga. Add a node with fpga, or request less.
        "#]],
    );
}

#[test]
#[doc(alias = "queues W4")]
fn over_quota_in_one_type() {
    check(
        "
        queue root.q max memory=100 vcore=2
        node n1 memory=1000 vcore=8
        app app1 root.q ann
        ask recovered app1 memory=130 vcore=500m on n1
        show root.q
        ask a1 app1 vcore=1
        show root.q
        ask a2 app1 memory=1 vcore=1m
        ask a3 app1 memory=0 vcore=100m     # zeros are dropped from asks, so this one fits
        ",
        expect![[r#"
            ask recovered: app1 Accepted, recovered on n1, app1 Running
              root.q: in force {memory: 100 B, vcore: 2000 m}, uses {memory: 130 B, vcore: 500 m}, headroom {memory: -30 B, vcore: 1500 m}, share 1.3, runs 1
            ask a1: a1 on n1
              root.q: in force {memory: 100 B, vcore: 2000 m}, uses {memory: 130 B, vcore: 1500 m}, headroom {memory: -30 B, vcore: 500 m}, share 1.3, runs 1
            ask a2
              a2 waits QUEUE_MAX: queue root.q uses 130 memory, which is above its maximum of 100, and the ask needs 1. Wait for releases, or raise the maximum.
            ask a3: a3 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "queues W8")]
fn sharing_below_a_parent() {
    check(
        "
        queue root.p max memory=900
        queue root.p.c1
        queue root.p.c2 max memory=750
        queue root.p.c3 max memory=750
        node n1 memory=2000
        app app2 root.p.c2 ann
        app app3 root.p.c3 ann
        ask b1 app2 memory=750
        ask c1 app3 memory=100
        show root.p.c1
        show root.p.c2
        show root.p.c3
        ",
        expect![[r#"
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted, c1 on n1, app3 Running
              root.p.c1: in force {memory: 900 B}, uses {}, headroom {memory: 50 B}, share 0, runs 0
              root.p.c2: in force {memory: 750 B}, uses {memory: 750 B}, headroom {memory: 0 B}, share 1, runs 1
              root.p.c3: in force {memory: 750 B}, uses {memory: 100 B}, headroom {memory: 50 B}, share 0.13333333333333333, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "queues W9")]
fn fair_share_order() {
    check(
        "
        queue root.a guaranteed memory=200
        queue root.b max memory=250
        queue root.b-without-max
        queue root.c guaranteed memory=10 vcore=0
        queue root.c-zero-alone guaranteed vcore=0
        node n1 memory=1000 vcore=10
        app a root.a ann
        app b root.b ann
        app without root.b-without-max ann
        app c root.c ann
        app alone root.c-zero-alone ann
        ask a1 a memory=100 vcore=1
        ask b1 b memory=150
        ask w1 without memory=150
        ask c1 c vcore=1m
        ask z1 alone vcore=1m
        show root.a
        show root.b
        show root.b-without-max
        show root.c
        show root.c-zero-alone
        ask a2 a gpu=1
        ask b2 b gpu=1
        ask w2 without gpu=1
        ask c2 c gpu=1
        ask z2 alone gpu=1
        resize n1 memory=1000 vcore=10 gpu=5
        ",
        expect![[r#"
            ask a1: a Accepted, a1 on n1, a Running
            ask b1: b Accepted, b1 on n1, b Running
            ask w1: without Accepted, w1 on n1, without Running
            ask c1: c Accepted, c1 on n1, c Running
            ask z1: alone Accepted, z1 on n1, alone Running
              root.a: in force {memory: 1000 B, vcore: 10000 m}, uses {memory: 100 B, vcore: 1000 m}, headroom {memory: 600 B, vcore: 8998 m}, share 0.5, runs 1
              root.b: in force {memory: 250 B, vcore: 10000 m}, uses {memory: 150 B}, headroom {memory: 100 B, vcore: 8998 m}, share 0.6, runs 1
              root.b-without-max: in force {memory: 1000 B, vcore: 10000 m}, uses {memory: 150 B}, headroom {memory: 600 B, vcore: 8998 m}, share 0.15, runs 1
              root.c: in force {memory: 1000 B, vcore: 10000 m}, uses {vcore: 1 m}, headroom {memory: 600 B, vcore: 8998 m}, share 1, runs 1
              root.c-zero-alone: in force {memory: 1000 B, vcore: 10000 m}, uses {vcore: 1 m}, headroom {memory: 600 B, vcore: 8998 m}, share 0.0001, runs 1
            ask a2
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask b2
              b2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask w2
              w2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask c2
              c2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask z2
              z2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            resize n1: z2 on n1, w2 on n1, a2 on n1, b2 on n1, c2 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "queues W11")]
fn limit_precedence() {
    check(
        "
        queue root.q
        limit root.q user sue memory=40
        limit root.q user * memory=10
        node n1 memory=1000
        app app-sue root.q sue
        app app-bob root.q bob
        app app-ann root.q ann
        ask s1 app-sue memory=30
        ask b1 app-bob memory=11
        ask a1 app-ann memory=10
        show app-sue
        show app-bob
        show app-ann
        ",
        expect![[r#"
            ask s1: app-sue Accepted, s1 on n1, app-sue Running
            ask b1: app-bob Accepted
              b1 waits IMPOSSIBLE: no release can start the ask: the ask needs 11 memory, but the limit of user bob at root.q is 10. Raise the limit, or request less.
            ask a1: app-ann Accepted, a1 on n1, app-ann Running
              app-sue: Running in root.q, no group, uses {memory: 30 B}, user headroom {memory: 10 B}
              app-bob: Accepted in root.q, no group, uses {}, user headroom {memory: 10 B}
              app-ann: Running in root.q, no group, uses {memory: 10 B}, user headroom {memory: 0 B}
        "#]],
    );
}

#[test]
#[doc(alias = "queues W12")]
fn hierarchy_of_limits() {
    check(
        "
        queue root.q
        queue root.r
        limit root user bob memory=100
        limit root.q user bob memory=60
        node n1 memory=1000
        app in-q root.q bob
        app in-r root.r bob
        ask q1 in-q memory=50
        ask r1 in-r memory=45
        show in-q
        show in-r
        ask q2 in-q memory=8
        ",
        expect![[r#"
            ask q1: in-q Accepted, q1 on n1, in-q Running
            ask r1: in-r Accepted, r1 on n1, in-r Running
              in-q: Running in root.q, no group, uses {memory: 50 B}, user headroom {memory: 5 B}
              in-r: Running in root.r, no group, uses {memory: 45 B}, user headroom {memory: 5 B}
            ask q2
              q2 waits ABS_USER_LIMIT: user bob at root has 5 of 100 memory available, but the ask needs 8. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
#[doc(alias = "queues W14")]
fn group_by_config_order() {
    check(
        "
        queue root.q
        limit root.q group test,dev memory=100
        limit root.q group * memory=100
        limit root group ops memory=100
        node n1 memory=1000
        app app-u root.q u groups dev,test,ops
        app app-v root.q v groups ops
        app app-w root.q w
        ask u1 app-u memory=1
        ask v1 app-v memory=1
        ask w1 app-w memory=1
        show app-w
        ",
        expect![[r#"
            ask u1: app-u Accepted, app-u counts for group test, u1 on n1, app-u Running
            ask v1: app-v Accepted, app-v counts for group *, v1 on n1, app-v Running
            ask w1: app-w Accepted, w1 on n1, app-w Running
              app-w: Running in root.q, no group, uses {memory: 1 B}, user headroom none
        "#]],
    );
}

#[test]
#[doc(alias = "queues W15")]
fn cumulative_wildcard_group() {
    check(
        "
        queue root.q
        limit root.q group dev memory=100
        limit root.q group * memory=30
        node n1 memory=1000
        app app-x root.q x groups a
        app app-y root.q y groups b
        app app-z root.q z groups c
        app app-d root.q d groups dev
        ask x1 app-x memory=20
        ask y1 app-y memory=5
        show group *
        ask z1 app-z memory=10
        show app-z
        ask d1 app-d memory=90
        ",
        expect![[r#"
            ask x1: app-x Accepted, app-x counts for group *, x1 on n1, app-x Running
            ask y1: app-y Accepted, app-y counts for group *, y1 on n1, app-y Running
              * at root.q: uses {memory: 25 B}, left {memory: 5 B}, runs 2
              * at root: uses {memory: 25 B}, left none, runs 2
            ask z1: app-z Accepted, app-z counts for group *
              z1 waits ABS_GROUP_LIMIT: group * at root.q has 5 of 30 memory available, but the ask needs 10. Wait for a release, or raise the limit.
              app-z: Accepted in root.q, group *, uses {}, user headroom {memory: 5 B}
            ask d1: app-d Accepted, app-d counts for group dev, d1 on n1, app-d Running
        "#]],
    );
}

#[test]
#[doc(alias = "queues W16")]
fn user_and_group_together() {
    check(
        "
        queue root.q
        limit root.q user sue memory=50
        limit root.q group dev memory=40
        queue root.union
        limit root.union user sue memory=50
        limit root.union group dev vcore=2
        node n1 memory=1000 vcore=8
        app app-sue root.q sue groups dev
        app app-bob root.q bob groups dev
        app app-two root.union sue groups dev
        ask s1 app-sue memory=15
        ask b1 app-bob memory=20
        show app-sue
        ask t1 app-two memory=15
        show app-two
        ",
        expect![[r#"
            ask s1: app-sue Accepted, app-sue counts for group dev, s1 on n1, app-sue Running
            ask b1: app-bob Accepted, app-bob counts for group dev, b1 on n1, app-bob Running
              app-sue: Running in root.q, group dev, uses {memory: 15 B}, user headroom {memory: 5 B}
            ask t1: app-two Accepted, app-two counts for group dev, t1 on n1, app-two Running
              app-two: Running in root.union, group dev, uses {memory: 15 B}, user headroom {memory: 35 B, vcore: 2000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "queues W17")]
fn a_user_runs_no_more_applications_than_each_limit_allows() {
    check(
        "
        queue root.q
        queue root.r
        limit root.q user bob apps=1
        limit root user bob apps=2
        node n1 memory=1000
        app app1 root.q bob
        app app2 root.q bob
        app app3 root.r bob
        app app4 root.r bob
        ask a1 app1 memory=1
        ask b1 app2 memory=1
        ask c1 app3 memory=1
        ask d1 app4 memory=1
        ask a2 app1 memory=1
        show user bob
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits USER_APPS: user bob at root.q runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            ask c1: app3 Accepted, c1 on n1, app3 Running
            ask d1: app4 Accepted
              d1 waits USER_APPS: user bob at root runs 2 of at most 2 applications. Wait for one to end, or raise `maxapplications`.
            ask a2: a2 on n1
              bob at root.q: uses {memory: 2 B}, left none, runs 1
              bob at root.r: uses {memory: 1 B}, left none, runs 1
              bob at root: uses {memory: 3 B}, left none, runs 2
        "#]],
    );
}

#[test]
#[doc(alias = "queues W18")]
fn tracker_life() {
    check(
        "
        queue root.q
        limit root.q user cid memory=100
        node n1 memory=1000
        app app1 root.q bob
        app app2 root.q cid
        ask a1 app1 memory=10
        ask a2 app1 memory=10
        ask b1 app2 memory=10
        release a1
        show user bob
        release a2
        show user bob
        release b1
        show user cid
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask b1: app2 Accepted, b1 on n1, app2 Running
            release a1: a1 released
              bob at root.q: uses {memory: 10 B}, left none, runs 1
              bob at root: uses {memory: 10 B}, left none, runs 1
            release a2: a2 released, app1 Completing
              bob: no tracker
            release b1: b1 released, app2 Completing
              cid at root.q: uses {}, left {memory: 100 B}, runs 0
              cid at root: uses {}, left none, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "queues W31")]
fn queue_can_run_app_with_placeholders() {
    check(
        "
        queue root.q apps=2
        node n1 vcore=10
        app app1 root.q ann
        ask a app1 vcore=1
        app app2 root.q ann gang vcore=2
        ask p1 app2 vcore=1 placeholder group g
        show root.q
        app app3 root.q ann
        ask c app3 vcore=1
        ask p2 app2 vcore=1 placeholder group g
        show root.q
        remove app1
        ",
        expect![[r#"
            ask a: app1 Accepted, a on n1, app1 Running
            ask p1: app2 Accepted, p1 on n1
              root.q: in force {vcore: 10000 m}, uses {vcore: 2000 m}, headroom {vcore: 8000 m}, share 0.2, runs 1
            ask c: app3 Accepted
              c waits MAX_APPS: queue root.q runs 1 of at most 2 applications; 1 more is starting. Wait for one to end, or raise `maxapplications`.
            ask p2: p2 on n1, app2 Running
              c waits MAX_APPS: queue root.q runs 2 of at most 2 applications. Wait for one to end, or raise `maxapplications`.
              root.q: in force {vcore: 10000 m}, uses {vcore: 3000 m}, headroom {vcore: 7000 m}, share 0.3, runs 2
            remove app1: a released, app1 Completing, app1 gone, c on n1, app3 Running
        "#]],
    );
}
