//! Leaves whose applications stand in a line: `fifo-strict`, `fifo-backfill`, `priority` and
//! `urgency`. Tenants §8.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "TR-20")]
#[doc(alias = "TR-22")]
#[doc(alias = "TS-22")]
fn by_fifo_strict_nobody_goes_before_a_head_that_its_quota_holds_back() {
    check(
        "
        queue root.a max vcore=100 prop application.sort.policy=fifo-strict
        node n1 vcore=128
        app t1 root.a ann
        ask a1 t1 vcore=95
        app t2 root.a ann
        ask a2 t2 vcore=20
        app t3 root.a bob
        ask a3 t3 vcore=5
        release a1
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask a2: t2 Accepted
              a2 waits QUEUE_MAX: queue root.a has 5 of 100 vcore available, but the ask needs 20. Wait for a release, or raise the maximum.
            ask a3: t3 Accepted
              a3 waits BEHIND_HEAD: ask a2 of application t2 is the head of line of queue root.a and needs 20 vcore. The maximum leaves 0 for others, but this ask needs 5. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            release a1: a1 released, t1 Completing, a2 on n1, t2 Running, a3 on n1, t3 Running
        "#]],
    );
}

#[test]
#[doc(alias = "TS-33")]
fn when_the_head_is_withdrawn_the_next_starts_at_once() {
    check(
        "
        queue root.a max vcore=100 prop application.sort.policy=fifo-strict
        node n1 vcore=128
        app t1 root.a ann
        ask a1 t1 vcore=95
        app t2 root.a ann
        ask a2 t2 vcore=20
        app t3 root.a bob
        ask a3 t3 vcore=5
        release a2
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask a2: t2 Accepted
              a2 waits QUEUE_MAX: queue root.a has 5 of 100 vcore available, but the ask needs 20. Wait for a release, or raise the maximum.
            ask a3: t3 Accepted
              a3 waits BEHIND_HEAD: ask a2 of application t2 is the head of line of queue root.a and needs 20 vcore. The maximum leaves 0 for others, but this ask needs 5. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            release a2: a2 withdrawn, t2 Completing, a3 on n1, t3 Running
        "#]],
    );
}

#[test]
fn a_head_that_waits_for_a_node_keeps_its_quota_and_holds_up_nobody_else() {
    check(
        "
        queue root.a max vcore=10 gpu=4 prop application.sort.policy=fifo-strict
        queue root.b
        node n0 vcore=4 gpu=2
        node n1 vcore=10 gpu=1
        app t0 root.b eve
        ask a0 t0 gpu=1 on n0
        app t1 root.a ann
        ask a1 t1 vcore=4 gpu=2
        app t2 root.a bob
        ask a2 t2 vcore=6
        app t3 root.a cid
        ask a3 t3 vcore=1
        node n2 vcore=4 gpu=2
        ",
        expect![[r#"
            ask a0: t0 Accepted, a0 on n0, t0 Running
            ask a1: t1 Accepted
              a1 waits NO_NODE_FITS: the ask needs 2 gpu, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            ask a2: t2 Accepted, a2 on n1, t2 Running
            ask a3: t3 Accepted
              a3 waits BEHIND_HEAD: ask a1 of application t1 is the head of line of queue root.a and needs 4 vcore. The maximum leaves 0 for others, but this ask needs 1. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            node n2: a1 on n2, t1 Running
              a3 waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 1. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
fn what_could_never_run_is_not_the_head() {
    check(
        "
        queue root.a max vcore=10 prop application.sort.policy=fifo-strict
        node n1 vcore=20
        app t1 root.a ann
        ask a1 t1 vcore=11
        app t2 root.a bob
        ask a2 t2 vcore=10
        ",
        expect![[r#"
            ask a1: t1 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 11 vcore, but the maximum of queue root.a is 10. Raise the maximum, or request less.
            ask a2: t2 Accepted, a2 on n1, t2 Running
        "#]],
    );
}

#[test]
#[doc(alias = "TS-23")]
fn by_fifo_backfill_the_head_is_overtaken_so_often_and_then_held_for() {
    check(
        "
        queue root.a max vcore=100 prop application.sort.policy=fifo-backfill prop application.sort.maxovertakes=4
        node n1 vcore=128
        app t1 root.a ann
        ask a1 t1 vcore=20
        ask a2 t1 vcore=20
        ask a3 t1 vcore=20
        ask a4 t1 vcore=10
        app head root.a ann
        ask h head vcore=60
        app s1 root.a bob
        ask b1 s1 vcore=10
        app s2 root.a bob
        ask b2 s2 vcore=10
        app s3 root.a bob
        ask b3 s3 vcore=10
        app s4 root.a bob
        ask b4 s4 vcore=10
        release a4
        app s5 root.a bob
        ask b5 s5 vcore=10
        release a1
        release a2
        app g1 root.a cid
        ask g g1 memory=1
        release a3
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask a2: a2 on n1
            ask a3: a3 on n1
            ask a4: a4 on n1
            ask h: head Accepted
              h waits QUEUE_MAX: queue root.a has 30 of 100 vcore available, but the ask needs 60. Wait for a release, or raise the maximum.
            ask b1: s1 Accepted, b1 on n1, s1 Running, head overtaken by s1
              h waits QUEUE_MAX: queue root.a has 20 of 100 vcore available, but the ask needs 60. Wait for a release, or raise the maximum.
            ask b2: s2 Accepted, b2 on n1, s2 Running, head overtaken by s2
              h waits QUEUE_MAX: queue root.a has 10 of 100 vcore available, but the ask needs 60. Wait for a release, or raise the maximum.
            ask b3: s3 Accepted, b3 on n1, s3 Running, head overtaken by s3
              h waits QUEUE_MAX: queue root.a has 0 of 100 vcore available, but the ask needs 60. Wait for a release, or raise the maximum.
            ask b4: s4 Accepted
              b4 waits QUEUE_MAX: queue root.a has 0 of 100 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            release a4: a4 released, b4 on n1, s4 Running, head overtaken by s4
            ask b5: s5 Accepted
              b5 waits HELD_FOR_HEAD: ask h of application head is the head of line of queue root.a and needs 60 vcore. The maximum leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
            release a1: a1 released
              h waits QUEUE_MAX: queue root.a has 20 of 100 vcore available, but the ask needs 60. Wait for a release, or raise the maximum.
            release a2: a2 released
              h waits QUEUE_MAX: queue root.a has 40 of 100 vcore available, but the ask needs 60. Wait for a release, or raise the maximum.
            ask g: g1 Accepted
              g waits IMPOSSIBLE: no release can start the ask: the ask needs 1 memory, but no node in use has memory. Add a node with memory, or request less.
            release a3: a3 released, t1 Completing, h on n1, head Running
              b5 waits QUEUE_MAX: queue root.a has 0 of 100 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
fn a_head_that_has_waited_long_is_overtaken_no_more() {
    check(
        "
        queue root.a max vcore=10 prop application.sort.policy=fifo-backfill prop application.sort.maxheadwait=60s
        node n1 vcore=10
        app t1 root.a ann
        ask a1 t1 vcore=6
        app head root.a ann
        ask h head vcore=5
        app s1 root.a bob
        ask b1 s1 vcore=1
        wait 60s
        ask b2 s1 vcore=1
        release b1
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask h: head Accepted
              h waits QUEUE_MAX: queue root.a has 4 of 10 vcore available, but the ask needs 5. Wait for a release, or raise the maximum.
            ask b1: s1 Accepted, b1 on n1, s1 Running, head overtaken by s1
              h waits QUEUE_MAX: queue root.a has 3 of 10 vcore available, but the ask needs 5. Wait for a release, or raise the maximum.
            wait 60s: nothing
            ask b2
              b2 waits HELD_FOR_HEAD: ask h of application head is the head of line of queue root.a and needs 5 vcore. The maximum leaves 0 for others, but this ask needs 1. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
            release b1: b1 released
              h waits QUEUE_MAX: queue root.a has 4 of 10 vcore available, but the ask needs 5. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "TS-24")]
fn by_priority_whoever_waits_becomes_more_urgent() {
    check(
        "
        queue root.a max vcore=10 prop application.sort.policy=priority
        node n1 vcore=10
        app t1 root.a ann
        ask a1 t1 vcore=10
        app old root.a bob
        ask o old vcore=10 prio 0
        wait 600s
        app eight root.a cid
        ask e eight vcore=10 prio 8
        app twelve root.a dan
        ask t twelve vcore=10 prio 12
        release a1
        release t
        release o
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask o: old Accepted
              o waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            wait 600s: nothing
            ask e: eight Accepted
              e waits HELD_FOR_HEAD: ask o of application old is the head of line of queue root.a and needs 10 vcore. The maximum leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
            ask t: twelve Accepted
              e waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
              t waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            release a1: a1 released, t1 Completing, t on n1, twelve Running
              e waits HELD_FOR_HEAD: ask o of application old is the head of line of queue root.a and needs 10 vcore. The maximum leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
            release t: t released, twelve Completing, o on n1, old Running
              e waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            release o: o released, old Completing, e on n1, eight Running
        "#]],
    );
}

#[test]
fn by_priority_nobody_becomes_more_urgent_than_the_most() {
    check(
        "
        queue root.a max vcore=10 prop application.sort.policy=priority prop application.sort.aging.interval=10s prop application.sort.aging.step=2 prop application.sort.aging.max=3
        node n1 vcore=10
        app t1 root.a ann
        ask a1 t1 vcore=10
        app old root.a bob
        ask o old vcore=10 prio 0
        wait 100s
        app two root.a cid
        ask w two vcore=10 prio 2
        app four root.a dan
        ask f four vcore=10 prio 4
        release a1
        release f
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask o: old Accepted
              o waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            wait 100s: nothing
            ask w: two Accepted
              w waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            ask f: four Accepted
              f waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            release a1: a1 released, t1 Completing, f on n1, four Running
            release f: f released, four Completing, o on n1, old Running
        "#]],
    );
}

#[test]
#[doc(alias = "TS-25")]
fn by_urgency_whoever_has_to_start_soonest_is_first() {
    check(
        "
        queue root.a max vcore=10 prop application.sort.policy=urgency
        node n1 vcore=10
        app t1 root.a ann
        ask a1 t1 vcore=10
        app z root.a ann
        ask z1 z vcore=10
        wait 3400s
        app x root.a ann tags headroom/deadline=4000 headroom/estimate=120
        ask x1 x vcore=10
        app y root.a ann tags headroom/deadline=3700 headroom/estimate=60
        ask y1 y vcore=10
        release a1
        release z1
        release y1
        ",
        expect![[r#"
            ask a1: t1 Accepted, a1 on n1, t1 Running
            ask z1: z Accepted
              z1 waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            wait 3400s: nothing
            app x: x to be done by 4000000 ms, takes 120000 ms
            ask x1: x Accepted
              x1 waits HELD_FOR_HEAD: ask z1 of application z is the head of line of queue root.a and needs 10 vcore. The maximum leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
            app y: y to be done by 3700000 ms, takes 60000 ms
            ask y1: y Accepted
              y1 waits HELD_FOR_HEAD: ask z1 of application z is the head of line of queue root.a and needs 10 vcore. The maximum leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
            release a1: a1 released, t1 Completing, z1 on n1, z Running
              x1 waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
              y1 waits QUEUE_MAX: queue root.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the maximum.
            release z1: z1 released, z Completing, y1 on n1, y Running
            release y1: y1 released, y Completing, x1 on n1, x Running
        "#]],
    );
}

#[test]
fn what_a_deadline_cannot_be_is_refused() {
    check(
        "
        queue root.a prop application.sort.policy=urgency
        app x root.a ann tags headroom/deadline=tomorrow
        app y root.a ann tags headroom/deadline=7 headroom/estimate=-1
        ",
        expect![[r#"
            app x: rejected DEADLINE: the tag headroom/deadline is "tomorrow", but it must be a whole number of seconds since the epoch from 1 to 4294967295. Write the tag in digits only.
            app y: rejected DEADLINE: the tag headroom/estimate is "-1", but it must be a whole number of seconds from 1 to 4294967295. Write the tag in digits only.
        "#]],
    );
}

#[test]
#[doc(alias = "NS-22")]
fn nobody_takes_what_a_strict_head_lacks_in_the_cluster() {
    check(
        "
        queue root.x prop application.sort.policy=fifo-strict
        queue root.y
        node n1 vcore=1
        node n2 vcore=2
        app r1 root.y eve
        ask r1 r1 vcore=1
        ask r2 r1 vcore=1
        app big root.x ann
        ask big big vcore=2
        app late root.x bob
        ask late late vcore=1
        ask gpu late nvidia.com/gpu=1
        release r1
        release r2
        ",
        expect![[r#"
            ask r1: r1 Accepted, r1 on n1, r1 Running
            ask r2: r2 on n2
            ask big: big Accepted
              big waits ROOT_CAPACITY: the cluster has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            ask late: late Accepted
              late waits BEHIND_HEAD: ask big of application big is the head of line of queue root.x, and this ask needs amounts that the head lacks. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            ask gpu
              gpu waits IMPOSSIBLE: no release can start the ask: the ask needs 1 nvidia.com/gpu, but no node in use has nvidia.com/gpu. Add a node with nvidia.com/gpu, or request less.
            release r1: r1 released
              big waits NO_NODE_FITS: the ask needs 2 vcore, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            release r2: r2 released, r1 Completing, big on n2, big Running, late on n1, late Running
        "#]],
    );
}

#[test]
#[doc(alias = "NS-22")]
fn nobody_takes_what_a_strict_head_lacks_on_nodes_though_the_cluster_has_enough() {
    check(
        "
        queue root.x prop application.sort.policy=fifo-strict
        queue root.y
        node n1 vcore=4 memory=4
        node n2 vcore=4 memory=4
        node n3 vcore=4 memory=4
        app r root.y eve
        ask r1 r vcore=2
        ask r2 r vcore=2
        ask r3 r vcore=2
        app big root.x ann
        ask big big vcore=4 memory=1
        app late root.x bob
        ask late late vcore=1 memory=1
        ask memory late memory=1
        release r2
        ",
        expect![[r#"
            ask r1: r Accepted, r1 on n1, r Running
            ask r2: r2 on n2
            ask r3: r3 on n3
            ask big: big Accepted
              big waits NO_NODE_FITS: the ask needs 4 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask late: late Accepted
              late waits BEHIND_HEAD: ask big of application big is the head of line of queue root.x, and this ask needs amounts that the head lacks. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            ask memory: memory on n1, late Running
            release r2: r2 released, big on n2, big Running, late on n3
        "#]],
    );
}

#[test]
#[doc(alias = "NS-22")]
fn nobody_takes_what_a_strict_head_lacks_below_an_ancestor() {
    check(
        "
        queue root.p max vcore=4
        queue root.p.x prop application.sort.policy=fifo-strict
        queue root.p.y
        node n1 vcore=16
        app r root.p.y eve
        ask r1 r vcore=2
        app big root.p.x ann
        ask big big vcore=3
        app late root.p.x bob
        ask late late vcore=1
        release r1
        ",
        expect![[r#"
            ask r1: r Accepted, r1 on n1, r Running
            ask big: big Accepted
              big waits QUEUE_MAX: queue root.p has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            ask late: late Accepted
              late waits BEHIND_HEAD: ask big of application big is the head of line of queue root.p.x, and this ask needs amounts that the head lacks. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            release r1: r1 released, r Completing, big on n1, big Running, late on n1, late Running
        "#]],
    );
}

#[test]
#[doc(alias = "NS-22")]
fn each_start_that_uses_what_the_head_lacks_on_nodes_counts_as_an_overtake() {
    for policy in ["fifo-backfill", "priority", "urgency"] {
        let text = "
        queue root.x prop application.sort.policy=POLICY prop application.sort.maxovertakes=1
        queue root.y
        node n1 vcore=4
        node n2 vcore=4
        app r root.y eve
        ask r1 r vcore=2
        ask r2 r vcore=2
        app big root.x ann
        ask big big vcore=4
        app late root.x bob
        ask late1 late vcore=1
        ask late2 late vcore=1
        release late1
        release r1
        ";
        check(
            &text.replace("POLICY", policy),
            expect![[r#"
                ask r1: r Accepted, r1 on n1, r Running
                ask r2: r2 on n2
                ask big: big Accepted
                  big waits NO_NODE_FITS: the ask needs 4 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
                ask late1: late Accepted, late1 on n1, late Running, big overtaken by late
                  big waits ROOT_CAPACITY: the cluster has 3 of 8 vcore available, but the ask needs 4. Wait for a release, or add nodes.
                ask late2
                  late2 waits HELD_FOR_HEAD: ask big of application big is the head of line of queue root.x, and this ask needs amounts that the head lacks. Wait until the head of line starts, or raise `application.sort.maxovertakes` or `application.sort.maxheadwait`.
                release late1: late1 released
                  big waits NO_NODE_FITS: the ask needs 4 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
                release r1: r1 released, big on n1, big Running, late2 on n2
            "#]],
        );
    }
}
