//! Nodes and the pods on them.

use expect_test::expect;

use crate::check;

#[test]
fn a_node_is_registered_changed_and_deleted() {
    check(
        "
        show-snapshot
        silent-node n1
        change-node n1 cpu=8
        node-accepted n1
        change-node n1 cpu=8
        change-node n1 cpu=8 cordoned
        change-node n1 cpu=6
        node-gone n1
        node-gone n1
        ",
        &expect![[r#"
            show-snapshot
            silent-node n1
                tell: node n1 create drained
            change-node n1 cpu=8
            node-accepted n1
                event n1: NodeAccepted
                snapshot: node n1
                tell: node n1 update
                tell: node n1 resume
            change-node n1 cpu=8
                snapshot: node n1
            change-node n1 cpu=8 cordoned
                snapshot: node n1
                tell: node n1 drain
            change-node n1 cpu=6
                snapshot: node n1
                tell: node n1 update
                tell: node n1 resume
            node-gone n1
                snapshot: no node n1
                event n1: NodeDeleted
                tell: node n1 decommission
            node-gone n1
        "#]],
    );
}

#[test]
fn a_cordoned_node_is_not_enabled() {
    check(
        "
        node n1 cordoned
        change-node n1
        ",
        &expect![[r#"
            node n1 cordoned
                tell: node n1 create drained
                event n1: NodeAccepted
            change-node n1
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn a_rejected_node_leaves_no_trace() {
    check(
        "
        silent-node n1
        node-rejected n1 duplicate
        pod p1 foreign node=n1
        node n1
        ",
        &expect![[r#"
            silent-node n1
                tell: node n1 create drained
            node-rejected n1 duplicate
                event n1: NodeRejected
            pod p1 foreign node=n1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: foreign p1 on n1
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn a_node_that_is_deleted_before_the_answer_is_decommissioned() {
    check(
        "
        silent-node n1
        node-gone n1
        node-accepted n1
        ",
        &expect![[r#"
            silent-node n1
                tell: node n1 create drained
            node-gone n1
            node-accepted n1
                tell: node n1 decommission
        "#]],
    );
}

#[test]
fn an_assumed_pod_asks_again_after_its_node_is_gone() {
    check(
        "
        show-snapshot
        node n1
        node n2
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        node-gone n1
        released p1 rm
        bind-retry p1 no such node
        allocated p1 n2
        bind-ok p1
        ",
        &expect![[r#"
            show-snapshot
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                snapshot: node n1
                tell: node n1 resume
            node n2
                tell: node n2 create drained
                event n2: NodeAccepted
                snapshot: node n2
                tell: node n2 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                snapshot: p1 on n1
                bind p1 to n1: BindPod
            node-gone n1
                snapshot: p1 left n1
                snapshot: no node n1
                event n1: NodeDeleted
                tell: node n1 decommission
            released p1 rm
            bind-retry p1 no such node
                tell: ask p1 1000m, originator
            allocated p1 n2
                snapshot: p1 on n2
                bind p1 to n2: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
        "#]],
    );
}

#[test]
fn a_bound_pod_is_adopted_when_its_node_returns() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-ok p1
        pod p1 node=n1 phase=Running
        node-gone n1
        released p1 rm
        pod p1 cpu=1
        node n1
        allocated p1 n1
        ends p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
            pod p1 node=n1 phase=Running
            node-gone n1
                event n1: NodeDeleted
                tell: node n1 decommission
            released p1 rm
            pod p1 cpu=1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: allocation p1 1000m on n1, originator
                tell: node n1 resume
            allocated p1 n1
            ends p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
        "#]],
    );
}

#[test]
fn a_bind_that_succeeds_after_its_node_is_gone_is_adopted_later() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        node-gone n1
        bind-ok p1
        pod p1 node=n1
        node n1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            node-gone n1
                event n1: NodeDeleted
                tell: node n1 decommission
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
            pod p1 node=n1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: allocation p1 1000m on n1, originator
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn an_allocation_on_a_node_that_is_gone_is_asked_again() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        node-gone n1
        allocated p1 n1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            node-gone n1
                event n1: NodeDeleted
                tell: node n1 decommission
            allocated p1 n1
                tell: ask p1 1000m, originator
        "#]],
    );
}

#[test]
fn an_update_of_an_unknown_node_registers_it() {
    check(
        "
        change-node n1 cpu=8
        node-accepted n1
        ",
        &expect![[r#"
            change-node n1 cpu=8
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: node n1 resume
        "#]],
    );
}
