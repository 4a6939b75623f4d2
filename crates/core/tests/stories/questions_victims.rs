//! The RM says who has to go for an ask, and is asked no more at once than it wants.

use expect_test::expect;

use crate::check;

const SCENE: &str = "
    queue root.a guaranteed vcore=4
    queue root.b guaranteed vcore=2
    node n1 vcore=3
    node n2 vcore=3
    app A root.a ann
    app B root.b bob
    ask o1 B vcore=1 on n2 made 0s
    ask v1 B vcore=1 on n1 made 1s preemptable
    ask v2 B vcore=1 on n1 made 2s preemptable
    ask v3 B vcore=1 on n1 made 3s preemptable
    ask w1 B vcore=1 on n2 made 4s preemptable
    ask w2 B vcore=1 on n2 made 5s preemptable
    questions on victims
    ask x A vcore=1 made 0s preempts
";

#[test]
fn the_rm_says_how_many_go_and_where_nobody_does() {
    check(
        &format!(
            "{SCENE}
            wait 30s
            answer x n1=2 n2=taint
            release v3 as preempted
            answer x n1=affinity
            release v2 as preempted
            answer x n1=ok
            "
        ),
        expect![[r#"
            ask o1: B Accepted, o1 on n2, B Running
            ask v1: v1 on n1
            ask v2: v2 on n1
            ask v3: v3 on n1
            ask w1: w1 on n2
            ask w2: w2 on n2
            questions on: nothing
            ask x: A Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 6 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: RM asked whether x may run on n2 without 1 of w2 w1 o1, n1 without 1 of v3 v2 v1
              x waits AWAITING_RM: the resource manager has not answered question 1, sent at 30000 ms, about 2 nodes after preemption. Wait for the answer, or check the resource manager.
            answer x: RM says of x: n2=taint n1=2, v3 to be stopped for x, v2 to be stopped for x, n1 keeps x
              x waits ROOT_CAPACITY: the cluster has 0 of 6 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release v3: v3 released, RM asked whether x may run on n1
              x waits AWAITING_RM: the resource manager has not answered question 2, sent at 30000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer x: RM says of x: n1=affinity
              x waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: affinity. Change the node requirements of the ask, or add matching nodes.
            release v2: v2 released, RM asked whether x may run on n1
              x waits AWAITING_RM: the resource manager has not answered question 3, sent at 30000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer x: RM says of x: n1=ok, x on n1, A Running
        "#]],
    );
}

#[test]
fn an_ask_that_the_rm_refuses_everywhere_has_nobody_stopped_and_is_tried_again() {
    check(
        &format!(
            "{SCENE}
            wait 30s
            answer x n1=taint n2=taint
            wait 15s
            release w1
            answer x n2=taint
            wait 15s
            answer x n1=ok
            "
        ),
        expect![[r#"
            ask o1: B Accepted, o1 on n2, B Running
            ask v1: v1 on n1
            ask v2: v2 on n1
            ask v3: v3 on n1
            ask w1: w1 on n2
            ask w2: w2 on n2
            questions on: nothing
            ask x: A Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 6 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: RM asked whether x may run on n2 without 1 of w2 w1 o1, n1 without 1 of v3 v2 v1
              x waits AWAITING_RM: the resource manager has not answered question 1, sent at 30000 ms, about 2 nodes after preemption. Wait for the answer, or check the resource manager.
            answer x: RM says of x: n2=taint n1=taint, nothing to stop for x
              x waits ROOT_CAPACITY: the cluster has 0 of 6 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 15s: nothing
            release w1: w1 released, RM asked whether x may run on n2
              x waits AWAITING_RM: the resource manager has not answered question 2, sent at 45000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer x: RM says of x: n2=taint, RM asked whether x may run on n1 once there is room
              x waits AWAITING_RM: the resource manager has not answered question 3, sent at 45000 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            wait 15s: nothing
            answer x: RM says of x: n1=ok, n1 keeps x, nothing to stop for x
              x waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
        "#]],
    );
}

#[test]
fn an_answer_names_no_more_than_were_asked_about() {
    check(
        &format!(
            "{SCENE}
            wait 30s
            answer x n1=4
            answer x n1=3 n1=1 n2=taint
            "
        ),
        expect![[r#"
            ask o1: B Accepted, o1 on n2, B Running
            ask v1: v1 on n1
            ask v2: v2 on n1
            ask v3: v3 on n1
            ask w1: w1 on n2
            ask w2: w2 on n2
            questions on: nothing
            ask x: A Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 6 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 30s: RM asked whether x may run on n2 without 1 of w2 w1 o1, n1 without 1 of v3 v2 v1
              x waits AWAITING_RM: the resource manager has not answered question 1, sent at 30000 ms, about 2 nodes after preemption. Wait for the answer, or check the resource manager.
            answer x: refused VICTIMS_NOT_ASKED: question 1 about ask x lists 3 victims on node n1, but the answer requires 4. Answer with 0 to 3.
            answer x: RM says of x: n2=taint n1=3, v3 to be stopped for x, v2 to be stopped for x, v1 to be stopped for x, n1 keeps x
              x waits ROOT_CAPACITY: the cluster has 0 of 6 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn no_more_questions_are_open_at_once_than_the_rm_wants() {
    check(
        "
        queue root.a
        node n1 vcore=8
        node n2 vcore=8
        app A root.a ann
        questions on at-once 2
        ask a1 A vcore=2
        ask a2 A vcore=2
        ask a3 A vcore=2
        ask a4 A vcore=2 on n2
        answer a2 n1=taint n2=taint
        release a1
        answer a3 n1=ok n2=ok
        questions off
        ",
        expect![[r#"
            questions on: nothing
            ask a1: A Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask a2: RM asked whether a2 may run on n1 n2
              a2 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask a3
              a3 waits AWAITING_RM: the resource manager has not answered 2 questions yet, and at most 2 can be open at once. Wait, or check the resource manager.
            ask a4: a4 on n2, A Running
            answer a2: RM says of a2: n1=taint n2=taint, RM asked whether a2 may run on n2
              a2 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            release a1: a1 withdrawn, RM asked whether a3 may run on n1 n2
              a3 waits AWAITING_RM: the resource manager has not answered question 4, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer a3: RM says of a3: n1=ok n2=ok, a3 on n1
            questions off: a2 on n1
        "#]],
    );
}

#[test]
fn a_required_node_with_room_that_the_rm_refuses_is_not_kept_behind_another_ask() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=4
        app A root.a ann
        questions on
        ask a1 A vcore=2 requires n1
        answer a1 n1=taint
        ask b1 A vcore=2 on n1
        ask a2 A vcore=4 requires n1
        answer a2 n1=ok
        answer a1 n1=taint
        ",
        expect![[r#"
            questions on: nothing
            ask a1: A Accepted, RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=taint
              a1 waits NODE_CONSTRAINT: the ask requires node n1, which predicates reject because: taint. Change the node requirements of the ask, or withdraw the ask.
            ask b1: b1 on n1, A Running, RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            ask a2: RM asked whether a2 may run on n1 once there is room
              a2 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer a2: RM says of a2: n1=ok, n1 keeps a2, b1 to be stopped for a2
              a2 waits PREEMPTION_PENDING: node n1 is reserved for the ask and has vcore 2 free, but the ask needs vcore 4. Preempted allocations on this node free vcore 2. Wait until these allocations stop.
            answer a1: RM says of a1: n1=taint
              a1 waits NODE_CONSTRAINT: the ask requires node n1, which predicates reject because: taint. Change the node requirements of the ask, or withdraw the ask.
        "#]],
    );
}
