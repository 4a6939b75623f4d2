//! Pods of other schedulers.

use expect_test::expect;

use crate::check;

#[test]
fn a_foreign_pod_counts_from_its_assignment_to_its_end() {
    check(
        "
        node n1
        pod p1 foreign
        pod p1 node=n1
        pod p1 phase=Running
        pod p1 cpu=2
        ends p1
        ends p1
        gone p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 foreign
            pod p1 node=n1
                tell: foreign p1 on n1
            pod p1 phase=Running
            pod p1 cpu=2
                tell: foreign p1 on n1
            ends p1
                tell: release p1 STOPPED_BY_RM
            ends p1
            gone p1
                tell: release p1 STOPPED_BY_RM
        "#]],
    );
}

#[test]
fn a_foreign_pod_waits_for_its_node() {
    check(
        "
        pod p1 foreign node=n1
        node n1
        node-gone n1
        node n1
        ",
        &expect![[r#"
            pod p1 foreign node=n1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: foreign p1 on n1
                tell: node n1 resume
            node-gone n1
                event n1: NodeDeleted
                tell: node n1 decommission
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: foreign p1 on n1
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn an_orphan_that_ends_is_forgotten() {
    check(
        "
        pod p1 foreign node=n1
        ends p1
        pod p2 app=a1 node=n1
        ends p2
        node n1
        ",
        &expect![[r#"
            pod p1 foreign node=n1
            ends p1
            pod p2 app=a1 node=n1
            ends p2
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
        "#]],
    );
}

#[test]
fn the_deletion_of_an_unknown_foreign_pod_is_a_release() {
    check(
        "
        list-pod p1 foreign
        gone p1
        list-pod p2 app=a1
        gone p2
        ",
        &expect![[r#"
            list-pod p1 foreign
            gone p1
                tell: release p1 STOPPED_BY_RM
            list-pod p2 app=a1
            gone p2
        "#]],
    );
}

#[test]
fn labels_alone_make_no_pod_ours() {
    check(
        "
        node n1
        pod p1 foreign app=a1 old-app=a1 queue=root.a
        pod p1 node=n1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 foreign app=a1 old-app=a1 queue=root.a
            pod p1 node=n1
                tell: foreign p1 on n1
        "#]],
    );
}

#[test]
fn a_foreign_pod_that_ends_after_its_node_is_gone_does_not_come_back() {
    check(
        "
        node n1
        pod p1 foreign node=n1
        pod p2 foreign node=n1
        node-gone n1
        ends p1
        gone p2
        node n1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 foreign node=n1
                tell: foreign p1 on n1
            pod p2 foreign node=n1
                tell: foreign p2 on n1
            node-gone n1
                event n1: NodeDeleted
                tell: node n1 decommission
            ends p1
            gone p2
                tell: release p2 STOPPED_BY_RM
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
        "#]],
    );
}
