//! Queues with a part of their parent: `capacity`. The rows C1 to C4 and C6 of CapacityScheduler's
//! features, and the worked examples of parts.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "UH-29")]
fn a_new_weight_takes_from_all_siblings() {
    check(
        "
        queue root.a weight=3
        queue root.b weight=2
        queue root.c weight=5
        node n1 memory=1000
        show part root.a
        show part root.b
        show part root.c
        reload
        queue root.a weight=3
        queue root.b weight=2
        queue root.c weight=5
        queue root.d weight=10
        show part root.a
        show part root.b
        show part root.c
        show part root.d
        ",
        expect![[r#"
              root.a: guaranteed {memory: 300 B}, max none
              root.b: guaranteed {memory: 200 B}, max none
              root.c: guaranteed {memory: 500 B}, max none
            reload: root.d made
              root.a: guaranteed {memory: 150 B}, max none
              root.b: guaranteed {memory: 100 B}, max none
              root.c: guaranteed {memory: 250 B}, max none
              root.d: guaranteed {memory: 500 B}, max none
        "#]],
    );
}

#[test]
#[doc(alias = "UH-30")]
fn percentages_are_of_what_the_parent_has() {
    check(
        "
        queue root.a percent=50/80
        queue root.a.x percent=40/75
        queue root.a.y percent=60
        queue root.b percent=50
        node n1 memory=1000
        wait 1s
        show part root.a
        show part root.a.x
        show part root.a.y
        ",
        expect![[r#"
            wait 1s: nothing
              root.a: guaranteed {memory: 500 B}, max {memory: 800 B}
              root.a.x: guaranteed {memory: 200 B}, max {memory: 600 B}
              root.a.y: guaranteed {memory: 300 B}, max none
        "#]],
    );
}

#[test]
#[doc(alias = "UH-37")]
fn amounts_are_scaled_down_when_the_parent_has_less() {
    check(
        "
        queue root.p percent=50
        queue root.p.a absolute guaranteed memory=300
        queue root.p.b absolute guaranteed memory=200
        queue root.p.c absolute guaranteed memory=100
        queue root.q percent=50
        node n1 memory=1200
        show part root.p.a
        show part root.p.b
        show part root.p.c
        resize n1 memory=1000
        show part root.p
        show part root.p.a
        show part root.p.b
        show part root.p.c
        resize n1 memory=9000
        show part root.p.a
        ",
        expect![[r#"
              root.p.a: guaranteed {memory: 300 B}, max none
              root.p.b: guaranteed {memory: 200 B}, max none
              root.p.c: guaranteed {memory: 100 B}, max none
            resize n1: nothing
              root.p: guaranteed {memory: 500 B}, max none
              root.p.a: guaranteed {memory: 250 B}, max none
              root.p.b: guaranteed {memory: 166 B}, max none
              root.p.c: guaranteed {memory: 83 B}, max none
            resize n1: nothing
              root.p.a: guaranteed {memory: 300 B}, max none
        "#]],
    );
}

/// Fractions are exact, and rounded once.
#[test]
#[doc(alias = "M-10")]
fn a_part_of_a_part_is_rounded_once() {
    check(
        "
        queue root.two percent=2
        queue root.seventy percent=70
        queue root.rest percent=28
        queue root.seventy.a percent=33.333333
        queue root.seventy.b percent=66.666667
        queue root.rest.a weight=1
        queue root.rest.b weight=2
        queue root.rest.a.x weight=3
        queue root.rest.b.x weight=1
        node n1 memory=100
        show part root.two
        show part root.seventy
        show part root.seventy.a
        show part root.seventy.b
        show part root.rest.a
        show part root.rest.b
        resize n1 memory=75
        show part root.rest.a.x
        ",
        expect![[r#"
              root.two: guaranteed {memory: 2 B}, max none
              root.seventy: guaranteed {memory: 70 B}, max none
              root.seventy.a: guaranteed {memory: 23 B}, max none
              root.seventy.b: guaranteed {memory: 46 B}, max none
              root.rest.a: guaranteed {memory: 9 B}, max none
              root.rest.b: guaranteed {memory: 18 B}, max none
            resize n1: nothing
              root.rest.a.x: guaranteed {memory: 7 B}, max none
        "#]],
    );
}

/// C1: siblings share what their parent has before others do.
#[test]
#[doc(alias = "C1")]
fn siblings_share_what_their_parent_has_before_others_do() {
    check(
        "
        queue root.a percent=50
        queue root.a.x percent=50
        queue root.a.y percent=50
        queue root.b percent=50
        app x1 root.a.x ann
        app b1 root.b ann
        ask x1-1 x1 memory=1
        ask x1-2 x1 memory=1
        ask x1-3 x1 memory=1
        ask x1-4 x1 memory=1
        ask x1-5 x1 memory=1
        ask x1-6 x1 memory=1
        ask b1-1 b1 memory=1
        ask b1-2 b1 memory=1
        ask b1-3 b1 memory=1
        ask b1-4 b1 memory=1
        ask b1-5 b1 memory=1
        ask b1-6 b1 memory=1
        node n1 memory=8
        show root.a
        show root.a.x
        show root.b
        ",
        expect![[r#"
            ask x1-1: x1 Accepted
              x1-1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask x1-2
              x1-2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask x1-3
              x1-3 waits NO_NODES: no node has registered in partition default. Register a node.
            ask x1-4
              x1-4 waits NO_NODES: no node has registered in partition default. Register a node.
            ask x1-5
              x1-5 waits NO_NODES: no node has registered in partition default. Register a node.
            ask x1-6
              x1-6 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1-1: b1 Accepted
              b1-1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1-2
              b1-2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1-3
              b1-3 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1-4
              b1-4 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1-5
              b1-5 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1-6
              b1-6 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: x1-1 on n1, x1 Running, b1-1 on n1, b1 Running, x1-2 on n1, b1-2 on n1, x1-3 on n1, b1-3 on n1, x1-4 on n1, b1-4 on n1
              x1-5 waits ROOT_CAPACITY: the cluster has 0 of 8 memory available, but the ask needs 1. Wait for a release, or add nodes.
              x1-6 waits ROOT_CAPACITY: the cluster has 0 of 8 memory available, but the ask needs 1. Wait for a release, or add nodes.
              b1-5 waits ROOT_CAPACITY: the cluster has 0 of 8 memory available, but the ask needs 1. Wait for a release, or add nodes.
              b1-6 waits ROOT_CAPACITY: the cluster has 0 of 8 memory available, but the ask needs 1. Wait for a release, or add nodes.
              root.a: in force {memory: 8 B}, uses {memory: 4 B}, headroom {memory: 0 B}, share 1, runs 1
              root.a.x: in force {memory: 8 B}, uses {memory: 4 B}, headroom {memory: 0 B}, share 2, runs 1
              root.b: in force {memory: 8 B}, uses {memory: 4 B}, headroom {memory: 0 B}, share 1, runs 1
        "#]],
    );
}

/// C2: one mode for all siblings, any on other levels; parts follow when queues come and go, rules
/// make queues by weight.
#[test]
#[doc(alias = "C2")]
fn modes_differ_between_levels_and_follow_queues_that_come_and_go() {
    check(
        "
        queue root.teams percent=60 parent template weight=2/50
        queue root.sales percent=40
        queue root.sales.eu absolute guaranteed memory=30
        queue root.sales.us absolute guaranteed memory=10
        rule provided create
        node n1 memory=100
        app ann1 root.teams.ann ann
        show part root.teams.ann
        app bob1 root.teams.deep.bob ann
        show part root.teams.ann
        show part root.teams.deep
        show part root.teams.deep.bob
        app us1 root.sales.us ann
        show part root.sales.eu
        remove bob1
        wait 30s
        wait 10s
        wait 10s
        show part root.teams.ann
        ",
        expect![[r#"
            app ann1: root.teams.ann made weight=2/50
              root.teams.ann: guaranteed {memory: 50 B}, max {memory: 50 B}
            app bob1: root.teams.deep made weight=1, root.teams.deep.bob made weight=2/50
              root.teams.ann: guaranteed {memory: 40 B}, max {memory: 50 B}
              root.teams.deep: guaranteed {memory: 20 B}, max none
              root.teams.deep.bob: guaranteed {memory: 20 B}, max {memory: 50 B}
              root.sales.eu: guaranteed {memory: 30 B}, max none
            remove bob1: bob1 gone
            wait 30s: root.teams.deep.bob gone, root.teams.deep gone
            wait 10s: nothing
            wait 10s: nothing
              root.teams.ann: guaranteed {memory: 50 B}, max {memory: 50 B}
        "#]],
    );
}

/// C2: a queue of weight 0 is guaranteed nothing and takes what is there.
#[test]
#[doc(alias = "C2")]
fn a_weight_of_nothing_is_elastic() {
    check(
        "
        queue root.a weight=0
        queue root.b weight=1
        node n1 memory=4
        show part root.a
        show part root.b
        app a1 root.a ann
        ask a1-1 a1 memory=4
        ",
        expect![[r#"
              root.a: guaranteed none, max none
              root.b: guaranteed {memory: 4 B}, max none
            ask a1-1: a1 Accepted, a1-1 on n1, a1 Running
        "#]],
    );
}

/// C3: a maximum is checked at every queue above, and grows with the cluster.
#[test]
#[doc(alias = "C3")]
fn a_maximum_holds_at_every_level_and_follows_the_cluster() {
    check(
        "
        queue root.a percent=50/60
        queue root.a.x percent=100/50
        queue root.b percent=50
        node n1 memory=10
        show part root.a
        show part root.a.x
        app x1 root.a.x ann
        ask x1-1 x1 memory=3
        ask x1-2 x1 memory=1
        node n2 memory=4
        show part root.a.x
        lose n2
        show part root.a.x
        ",
        expect![[r#"
              root.a: guaranteed {memory: 5 B}, max {memory: 6 B}
              root.a.x: guaranteed {memory: 3 B}, max {memory: 3 B}
            ask x1-1: x1 Accepted, x1-1 on n1, x1 Running
            ask x1-2
              x1-2 waits QUEUE_MAX: queue root.a.x has 0 of 3 memory available, but the ask needs 1. Wait for a release, or raise the maximum.
            node n2: x1-2 on n2
              root.a.x: guaranteed {memory: 4 B}, max {memory: 4 B}
            lose n2: x1-2 lost
              root.a.x: guaranteed {memory: 3 B}, max {memory: 3 B}
        "#]],
    );
}

/// C4: what a queue does not use is lent to others up to their maximum, and taken back.
#[test]
#[doc(alias = "C4")]
fn idle_capacity_is_lent_and_taken_back() {
    check(
        "
        queue root.a percent=50/80 prop preemption.delay=1s
        queue root.b percent=50 prop preemption.delay=1s
        node n1 memory=10
        app a1 root.a ann
        ask a1-1 a1 memory=1 preemptable
        ask a1-2 a1 memory=1 preemptable
        ask a1-3 a1 memory=1 preemptable
        ask a1-4 a1 memory=1 preemptable
        ask a1-5 a1 memory=1 preemptable
        ask a1-6 a1 memory=1 preemptable
        ask a1-7 a1 memory=1 preemptable
        ask a1-8 a1 memory=1 preemptable
        ask a1-9 a1 memory=1 preemptable
        ask a1-10 a1 memory=1 preemptable
        show root.a
        app b1 root.b ann
        ask b1-1 b1 memory=5 preempts
        wait 5s
        ",
        expect![[r#"
            ask a1-1: a1 Accepted, a1-1 on n1, a1 Running
            ask a1-2: a1-2 on n1
            ask a1-3: a1-3 on n1
            ask a1-4: a1-4 on n1
            ask a1-5: a1-5 on n1
            ask a1-6: a1-6 on n1
            ask a1-7: a1-7 on n1
            ask a1-8: a1-8 on n1
            ask a1-9
              a1-9 waits QUEUE_MAX: queue root.a has 0 of 8 memory available, but the ask needs 1. Wait for a release, or raise the maximum.
            ask a1-10
              a1-10 waits QUEUE_MAX: queue root.a has 0 of 8 memory available, but the ask needs 1. Wait for a release, or raise the maximum.
              root.a: in force {memory: 8 B}, uses {memory: 8 B}, headroom {memory: 0 B}, share 1.6, runs 1
            ask b1-1: b1 Accepted
              b1-1 waits ROOT_CAPACITY: the cluster has 2 of 10 memory available, but the ask needs 5. Wait for a release, or add nodes.
            wait 5s: a1-8 to be stopped for b1-1, a1-7 to be stopped for b1-1, a1-6 to be stopped for b1-1, n1 keeps b1-1
        "#]],
    );
}

/// C6: what all may have, a leaf by its part of it, all leaves, and a user.
#[test]
#[doc(alias = "C6")]
fn applications_are_limited_by_system_queue_and_user() {
    check(
        "
        queue root counts max=10
        queue root.a percent=40 share p=50
        queue root.b percent=60 counts max=1
        show part root.a
        show part root.b
        app a1 root.a ann
        app a2 root.a ann
        app a3 root.a ann
        app a4 root.a bob
        app a5 root.a cid
        app a6 root.a dan
        app b1 root.b ann
        app b2 root.b bob
        reload
        queue root counts max=10;each=3
        queue root.a percent=40
        queue root.b percent=60 counts max=1
        show part root.a
        app a7 root.a dan
        ",
        expect![[r#"
              root.a: guaranteed none, max none, applications 4
              root.b: guaranteed none, max none
            app a3: rejected MAX_APPS_USER: user ann has 2 of at most 2 applications in queue root.a. Wait for one to end, or raise maximumapplications, of which each user has a share.
            app a6: rejected MAX_APPS_QUEUE: queue root.a has 4 of at most 4 applications. Wait for one to end, or raise `maximumapplications`.
            app b2: rejected MAX_APPS_QUEUE: queue root.b has 1 of at most 1 applications. Wait for one to end, or raise `maximumapplications`.
            reload: root changed, root.a changed
              root.a: guaranteed none, max none, applications 3
            app a7: rejected MAX_APPS_QUEUE: queue root.a has 4 of at most 3 applications. Wait for one to end, or raise `maximumapplications`.
        "#]],
    );
}

/// A leaf that is guaranteed nothing takes in what the next queue above it may, and a small part
/// of it one.
#[test]
#[doc(alias = "M-11")]
fn a_leaf_without_a_guarantee_has_the_number_of_the_next_queue_above() {
    check(
        "
        queue root counts max=20
        queue root.a percent=40
        queue root.a.none percent=0
        queue root.a.all percent=99
        queue root.a.few percent=1
        queue root.b percent=60
        wait 1s
        show part root.a.none
        show part root.a.all
        show part root.a.few
        show part root.b
        ",
        expect![[r#"
            wait 1s: nothing
              root.a.none: guaranteed none, max none, applications 8
              root.a.all: guaranteed none, max none, applications 7
              root.a.few: guaranteed none, max none, applications 1
              root.b: guaranteed none, max none, applications 12
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_queue_has_a_part_of_the_nodes_of_each_label() {
    check(
        "
        queue root exclusive gpu,fpga
        queue root.a percent=60 percent@gpu=25/50
        queue root.a.x percent=50 percent@gpu=100
        queue root.a.y percent=50
        queue root.b percent=40/90 percent@gpu=75
        node n1 memory=1000 vcore=10
        show part root.a
        node g1 memory=400 vcore=4 labelled gpu
        node f1 memory=100 labelled fpga
        show part root.a
        show part root.a.x
        show part root.a.y
        show part root.b
        lose g1
        show part root.a
        ",
        expect![[r#"
              root.a: guaranteed {memory: 600 B, vcore: 6000 m}, max none
              root.a: guaranteed {memory: 600 B, memory@fpga: 0 B, memory@gpu: 100 B, vcore: 6000 m, vcore@gpu: 1000 m}, max {memory@gpu: 200 B, vcore@gpu: 2000 m}
              root.a.x: guaranteed {memory: 300 B, memory@fpga: 0 B, memory@gpu: 100 B, vcore: 3000 m, vcore@gpu: 1000 m}, max none
              root.a.y: guaranteed {memory: 300 B, memory@fpga: 0 B, memory@gpu: 0 B, vcore: 3000 m, vcore@gpu: 0 m}, max none
              root.b: guaranteed {memory: 400 B, memory@fpga: 0 B, memory@gpu: 300 B, vcore: 4000 m, vcore@gpu: 3000 m}, max {memory: 900 B, vcore: 9000 m}
            lose g1: nothing
              root.a: guaranteed {memory: 600 B, memory@fpga: 0 B, vcore: 6000 m}, max none
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn amounts_weights_and_numbers_of_applications_are_by_label() {
    check(
        "
        queue root exclusive gpu counts max=100
        queue root.a absolute guaranteed vcore=4 vcore@gpu=6 max vcore@gpu=8
        queue root.b absolute guaranteed vcore=4 vcore@gpu=6
        node n1 vcore=8
        node g1 vcore=6 labelled gpu
        show part root.a
        show part root.b
        reload
        queue root exclusive gpu counts max=100
        queue root.a weight=1 weight@gpu=3
        queue root.b weight=9 weight@gpu=1
        show part root.a
        show part root.b
        ",
        expect![[r#"
              root.a: guaranteed {vcore: 4000 m, vcore@gpu: 3000 m}, max {vcore@gpu: 8000 m}, applications 50
              root.b: guaranteed {vcore: 4000 m, vcore@gpu: 3000 m}, max none, applications 50
            reload: root.a changed, root.b changed
              root.a: guaranteed {vcore: 800 m, vcore@gpu: 4500 m}, max none, applications 75
              root.b: guaranteed {vcore: 7200 m, vcore@gpu: 1500 m}, max none, applications 90
        "#]],
    );
}
