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
        reload
        rule provided create
        rule fixed root.other
        queue root.p parent
        queue root.other
        app app5 root.p.made ann
        app app6 root.p.new ann
        ",
        expect![[r#""#]],
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
        expect![[r#""#]],
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
        expect![[r#""#]],
    );
}
