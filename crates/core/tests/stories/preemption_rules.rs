//! Rules of preemption in addition to its worked examples: who preempts whom, and when. Allocations exist from the
//! start, so that their ages are known.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "SD-08")]
fn usage_falls_when_the_rm_confirms_and_not_before() {
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 4. Wait for a release, or add nodes.
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
              may-not waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask no-guarantee: C Accepted
              no-guarantee waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask required
              required waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            wait 29s: nothing
            ask young
              young waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 4. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 4. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 4. Wait for a release, or add nodes.
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 4. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 3 c available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: equal to be stopped for x, n1 keeps x
            ask y: nothing to stop for y
              y waits ROOT_CAPACITY: the cluster has 0 of 3 c available, but the ask needs 2. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            ask big
              big waits IMPOSSIBLE: no release can start the ask: the ask needs 3 c, but no node in use has more than 2. Add a larger node, or request less.
            wait 30s: v4 to be stopped for x, v3 to be stopped for x, n2 keeps x
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 30s: v2 to be stopped for x, n2 keeps x, nothing to stop for y
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
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
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
              x1 waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask x2
              x2 waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask x3
              x3 waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask higher
              higher waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: nothing to stop for higher, nothing to stop for x1
        "#]],
    );
}

#[test]
fn queues_that_share_a_guarantee_have_no_claim_on_each_other() {
    check(
        "
        queue root.p parent guaranteed c=4
        queue root.p.x
        queue root.p.y
        queue root.q
        node n1 c=8
        app X root.p.x ann
        app Y root.p.y bob
        app Q root.q cid
        ask q1 Q c=4 on n1 preemptable
        ask x1 X c=2 on n1 preemptable
        ask x2 X c=2 on n1 preemptable
        ask y1 Y c=2 made 0s preempts
        wait 60s
        release x1
        ask x3 X c=2 made 0s preempts
        wait 60s
        ",
        expect![[r#"
            ask q1: Q Accepted, q1 on n1, Q Running
            ask x1: X Accepted, x1 on n1, X Running
            ask x2: x2 on n1
            ask y1: Y Accepted
              y1 waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: nothing to stop for y1
            release x1: x1 released, y1 on n1, Y Running
            ask x3: nothing to stop for x3
              x3 waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: nothing
        "#]],
    );
}
