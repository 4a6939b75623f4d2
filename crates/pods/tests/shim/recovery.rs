//! The start of the scheduler.

use expect_test::expect;

use crate::check;

#[test]
fn nodes_take_asks_after_existing_allocations_are_confirmed() {
    check(
        "
        list-node n1
        list-node n2 cordoned
        list-pod p1 app=a1 node=n1 phase=Running
        list-pod p2 app=a1
        list-pod p3 foreign node=n2
        start
        node-accepted n1
        pod p4 app=a2
        node-accepted n2
        accepted a1
        allocated p1 n1
        ",
        &expect![[r#"
            list-node n1
            list-node n2 cordoned
            list-pod p1 app=a1 node=n1 phase=Running
            list-pod p2 app=a1
            list-pod p3 foreign node=n2
            start
                tell: node n1 create drained
                tell: node n2 create drained
            node-accepted n1
                event n1: NodeAccepted
            pod p4 app=a2
            node-accepted n2
                event n2: NodeAccepted
                tell: application a1, forced
                tell: application a2
                tell: foreign p3 on n2
            accepted a1
                tell: allocation p1 1000m on n1, originator
                tell: ask p2 1000m
                event p2: Scheduling
            allocated p1 n1
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn the_oldest_pod_determines_the_application() {
    check(
        "
        list-pod p2 app=a1 created=2023-11-14T22:13:22Z
        list-pod p1 app=a1 created=2023-11-14T22:13:21Z
        start
        accepted a1
        ",
        &expect![[r#"
            list-pod p2 app=a1 created=2023-11-14T22:13:22Z
            list-pod p1 app=a1 created=2023-11-14T22:13:21Z
            start
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
                tell: ask p2 1000m
                event p2: Scheduling
        "#]],
    );
}

#[test]
fn a_start_without_existing_pods_is_over_at_once() {
    check(
        "
        list-node n1
        start
        node-accepted n1
        ",
        &expect![[r#"
            list-node n1
            start
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn a_pod_that_ends_during_the_start_does_not_hold_it_up() {
    check(
        "
        list-node n1
        list-pod p1 app=a1 node=n1 phase=Running
        list-pod p2 app=a2 node=n1 phase=Running
        start
        node-accepted n1
        ends p1
        accepted a1
        accepted a2
        ask-rejected p2 why
        ",
        &expect![[r#"
            list-node n1
            list-pod p1 app=a1 node=n1 phase=Running
            list-pod p2 app=a2 node=n1 phase=Running
            start
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: application a1, forced
                tell: application a2, forced
            ends p1
            accepted a1
                tell: remove application a1
            accepted a2
                tell: allocation p2 1000m on n1, originator
            ask-rejected p2 why
                event p2: TaskRejected
                tell: release p2 STOPPED_BY_RM
                event p2: TaskFailed
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn a_gang_with_a_running_member_does_not_reserve_again() {
    check(
        r#"
        list-node n1
        list-pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}] node=n1 phase=Running
        list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}] node=n1 phase=Running
        list-pod ph2 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        start
        node-accepted n1
        accepted a1
        allocated p1 n1
        allocated ph1 n1
        "#,
        &expect![[r#"
            list-node n1
            list-pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}] node=n1 phase=Running
            list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}] node=n1 phase=Running
            list-pod ph2 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
            start
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: application a1, forced
            accepted a1
                tell: allocation p1 1000m on n1, originator
                tell: allocation ph1 1000m on n1
                delete ph2 (Cleanup)
            allocated p1 n1
            allocated ph1 n1
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn a_gang_that_reserves_creates_what_is_missing() {
    check(
        r#"
        list-node n1
        list-pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}] node=n1 phase=Running
        start
        node-accepted n1
        accepted a1
        allocated ph1 n1
        "#,
        &expect![[r#"
            list-node n1
            list-pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
            list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}] node=n1 phase=Running
            start
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                tell: allocation ph1 1000m on n1
            allocated ph1 n1
                tell: node n1 resume
                event p1: PlaceholderAllocated
        "#]],
    );
}
