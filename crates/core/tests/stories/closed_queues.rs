//! Queues that take in nothing new, and what an RM may announce without amounts.

use expect_test::expect;

use crate::check;

/// The queue above is gone from the file and drains: neither the leaf that a rule made there nor a new one
/// takes anything in, and the next rule does.
#[test]
fn below_a_queue_that_drains_nothing_new_is_taken_in() {
    check(
        "
        rule provided create
        rule fixed root.other
        queue root.p parent
        queue root.other
        node n1 vcore=10
        app app1 root.p.made ann
        ask a1 app1 vcore=1
        reload
        rule provided create
        rule fixed root.other
        queue root.other
        app app2 root.p.made ann
        app app3 root.p.new ann
        app app4 root.p.new.deep ann
        show app2
        show app3
        show app4
        reload
        rule provided create
        rule fixed root.other
        queue root.p parent
        queue root.other
        app app5 root.p.made ann
        app app6 root.p.new ann
        ",
        expect![[r#"
            app app1: root.p.made made
            ask a1: app1 Accepted, a1 on n1, app1 Running
            reload: root.p Draining
              app2: New in root.other, no group, uses {}, user headroom none
              app3: New in root.other, no group, uses {}, user headroom none
              app4: New in root.other, no group, uses {}, user headroom none
            reload: root.p Active
            app app6: root.p.new made
        "#]],
    );
}

/// Decision K-21: what is foreign may take nothing, and a node may have nothing yet.
#[test]
fn what_is_foreign_and_nodes_may_come_without_amounts() {
    check(
        "
        queue root.a
        node n1
        foreign idle n1
        app app1 root.a ann
        ask a1 app1 vcore=2
        resize n1 vcore=4
        foreign busy n1 vcore=3
        ask a2 app1 vcore=1
        foreign busy n1
        foreign idle n1 vcore=-1
        node n2 vcore=0
        node n3 vcore=-1
        foreign-gone idle
        ",
        expect![[r#"
            foreign idle: idle occupies n1
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has reported its size in partition default. Register a node.
            resize n1: a1 on n1, app1 Running
            foreign busy: busy occupies n1
            ask a2
              a2 waits NO_NODE_FITS: the ask needs 1 vcore, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            foreign busy: busy occupies n1, a2 on n1
            foreign idle: refused FOREIGN_SIZE: foreign allocation idle uses {vcore: -1 m}, but no amount can be negative. Send amounts of 0 or more.
            node n3: refused NODE_SIZE: node n3 has a capacity of {vcore: -1 m}, but no amount can be negative. Send amounts of 0 or more.
            foreign-gone idle: idle gone
        "#]],
    );
}

/// Decision K-26: the pause after a try in vain holds for all equal asks, also when the ask that it was made
/// for has started.
#[test]
fn a_try_in_vain_stands_for_all_equal_asks() {
    check(
        "
        preemption newest
        queue root.spare
        queue root.gold guaranteed memory=60
        queue root.silver guaranteed memory=30
        node big memory=100
        app loose root.spare ida
        ask l0 loose memory=20 preemptable
        ask l1 loose memory=20 preemptable
        ask l2 loose memory=20 preemptable
        ask l3 loose memory=20 preemptable
        ask l4 loose memory=20 preemptable
        app g root.gold kim
        ask g1 g memory=14 preempts
        ask g2 g memory=14 preempts
        app s root.silver lee
        ask s1 s memory=15 prio 6 preempts
        wait 31s
        release l4 as preempted
        release l0
        wait 14s
        wait 2s
        ",
        expect![[r#"
            ask l0: loose Accepted, l0 on big, loose Running
            ask l1: l1 on big
            ask l2: l2 on big
            ask l3: l3 on big
            ask l4: l4 on big
            ask g1: g Accepted
              g1 waits ROOT_CAPACITY: the cluster has 0 of 100 memory available, but the ask needs 14. Wait for a release, or add nodes.
            ask g2
              g2 waits ROOT_CAPACITY: the cluster has 0 of 100 memory available, but the ask needs 14. Wait for a release, or add nodes.
            ask s1: s Accepted
              s1 waits ROOT_CAPACITY: the cluster has 0 of 100 memory available, but the ask needs 15. Wait for a release, or add nodes.
            wait 31s: l4 to be stopped for s1, big keeps s1, nothing to stop for g1
            release l4: l4 released, s1 on big, s Running
              g1 waits ROOT_CAPACITY: the cluster has 5 of 100 memory available, but the ask needs 14. Wait for a release, or add nodes.
              g2 waits ROOT_CAPACITY: the cluster has 5 of 100 memory available, but the ask needs 14. Wait for a release, or add nodes.
            release l0: l0 released, g1 on big, g Running
              g2 waits ROOT_CAPACITY: the cluster has 11 of 100 memory available, but the ask needs 14. Wait for a release, or add nodes.
            wait 14s: nothing
            wait 2s: l3 to be stopped for g2, big keeps g2
        "#]],
    );
}
