//! Idle nodes of a label, lent to asks that name none. User headroom §10 (C18), decision page 27.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "C18")]
fn idle_nodes_of_a_label_that_lends_go_to_asks_that_name_none() {
    check(
        "
        queue root exclusive gpu,fpga lends gpu
        queue root.q
        node n1 vcore=2
        node f1 vcore=8 labelled fpga
        node g1 vcore=4 labelled gpu
        app app1 root.q ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=3
        ask a3 app1 vcore=3
        show root.q
        release a2
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 resized, a2 on g1
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 3. Wait for a release, or add nodes.
              root.q: in force {vcore: 2000 m, vcore@fpga: 8000 m, vcore@gpu: 4000 m}, uses {vcore: 2000 m, vcore@gpu: 3000 m}, headroom {vcore: 0 m, vcore@fpga: 8000 m, vcore@gpu: 1000 m}, share 1, runs 1
            release a2: a2 released, a3 resized, a3 on g1
            release a1: a1 released
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn what_asks_for_the_label_goes_first_and_takes_back_what_was_lent_first() {
    check(
        "
        queue root exclusive gpu lends gpu
        queue root.a guaranteed vcore=4
        queue root.b guaranteed vcore@gpu=4 prop preemption.delay=1s
        node n1 vcore=4
        node g1 vcore=4 labelled gpu
        app app1 root.a ann
        app app2 root.b bob
        app app3 root.a cid
        ask a1 app1 vcore=4
        ask l1 app1 vcore=1
        ask c1 app3 vcore=2 labelled gpu preemptable
        ask l2 app1 vcore=1
        ask b1 app2 vcore=2 labelled gpu preempts
        wait 2s
        release l2 as preempted
        release l1 as preempted
        release b1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask l1: l1 resized, l1 on g1
            ask c1: app3 Accepted, c1 on g1, app3 Running
            ask l2: l2 resized, l2 on g1
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore@gpu available, but the ask needs 2. Wait for a release, or add nodes.
            wait 2s: l2 to be stopped for b1, l1 to be stopped for b1, g1 keeps b1
            release l2: l2 released
              b1 waits ROOT_CAPACITY: the cluster has 1 of 4 vcore@gpu available, but the ask needs 2. Wait for a release, or add nodes.
            release l1: l1 released, b1 on g1, app2 Running
            release b1: b1 released, app2 Completing
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn nothing_is_lent_to_drivers_placeholders_or_those_in_a_line() {
    check(
        "
        queue root exclusive gpu lends *
        queue root.q
        queue root.strict prop application.sort.policy=fifo-strict
        node n1 vcore=1
        node g1 vcore=9 labelled gpu
        app app1 root.q ann
        ask a1 app1 vcore=1
        app app2 root.q ann
        ask b1 app2 vcore=1
        ask a2 app1 vcore=1 originator
        ask a3 app1 vcore=1
        release a2
        app app3 root.q ann gang vcore=1
        ask p1 app3 vcore=1 placeholder group w
        app app4 root.strict ann
        ask s1 app4 vcore=1
        release a1
        ask s2 app4 vcore=1
        release b1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a2: a2 withdrawn, a3 resized, a3 on g1
            ask p1: app3 Accepted
              p1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask s1: app4 Accepted
              s1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a1: a1 released, s1 on n1, app4 Running
            ask s2
              s2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release b1: b1 withdrawn, app2 Completing
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn what_is_lent_is_counted_in_the_types_of_the_label_whose_maxima_and_limits_hold() {
    check(
        "
        queue root exclusive gpu lends gpu
        queue root.a max vcore=1
        queue root.b max vcore@gpu=2
        limit root.a user ann vcore@gpu=1
        node n1 vcore=2
        node g1 vcore=9 labelled gpu
        app app1 root.a ann
        app app2 root.b bob
        app app3 root.a cid
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=1
        ask b2 app2 vcore=2
        ask b3 app2 vcore=1
        show user ann
        release a2
        release b2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask a2: a2 resized, a2 on g1
            ask a3
              a3 waits QUEUE_MAX: queue root.a has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or raise the maximum.
            ask b2: b2 resized, b2 on g1
            ask b3
              b3 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              ann at root.a: uses {vcore: 1000 m, vcore@gpu: 1000 m}, left {vcore@gpu: 0 m}, runs 1
              ann at root: uses {vcore: 1000 m, vcore@gpu: 1000 m}, left none, runs 1
            release a2: a2 released, a3 resized, a3 on g1
            release b2: b2 released, b3 resized, b3 on g1
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_user_at_his_cap_is_lent_nodes_beyond_it() {
    check(
        "
        queue root exclusive gpu lends gpu
        queue root.a percent=100 share p=100;f=0.5
        node n1 vcore=4
        node g1 vcore=4 labelled gpu
        app app1 root.a ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=2
        ask a3 app1 vcore=2
        ask a4 app1 vcore=2
        show root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 resized, a2 on g1
            ask a3: a3 resized, a3 on g1
            ask a4
              a4 waits USER_HARD_CAP: user ann at root.a uses 2 vcore of a user cap of 2, and the ask needs 2 more. Wait for a release by this user, or raise `userlimitfactor`.
              root.a: in force {vcore: 4000 m, vcore@gpu: 4000 m}, uses {vcore: 2000 m, vcore@gpu: 4000 m}, headroom {vcore: 2000 m, vcore@gpu: 0 m}, share 1, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn another_file_that_lends_no_more_leaves_what_runs_and_lends_nothing_new() {
    check(
        "
        queue root exclusive gpu lends gpu
        queue root.a
        node n1 vcore=1
        node g1 vcore=4 labelled gpu
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=1 not-on g1
        reload
        queue root exclusive gpu
        queue root.a
        ask a4 app1 vcore=1
        release a2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 resized, a2 on g1
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            reload: root changed, root.a changed
            ask a4
              a4 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a2: a2 released
        "#]],
    );
}
