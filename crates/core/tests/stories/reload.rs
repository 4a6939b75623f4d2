//! A queue file comes into force over another one: queues and limits §3, §4.1, §4.7, §4.8.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "queues W27")]
fn a_queue_that_the_file_drops_drains() {
    check(
        "
        queue root.q
        queue root.r
        node n1 vcore=8
        app app1 root.q ann
        ask a1 app1 vcore=1
        reload
        queue root.r
        ask a2 app1 vcore=1
        app app2 root.q bob
        release a1
        release a2
        wait 30s
        wait 10s
        app app3 root.q bob
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            reload: root.q Draining
            ask a2: a2 on n1
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.q is Draining, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            release a1: a1 released
            release a2: a2 released, app1 Completing
            wait 30s: app1 Completed
            wait 10s: root.q gone
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.q does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
        "#]],
    );
}

#[test]
fn a_draining_queue_that_the_file_names_again_takes_applications_again() {
    check(
        "
        queue root.q
        queue root.p.x
        node n1 vcore=8
        app app1 root.q ann
        reload
        queue root.r
        app app2 root.q bob
        reload
        queue root.q max vcore=1
        queue root.p.x
        app app3 root.q bob
        ask a1 app3 vcore=2
        ",
        expect![[r#"
            reload: root.r made, root.p Draining, root.p.x Draining, root.q Draining
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.q is Draining, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            reload: root.q Active, root.q changed, root.p Active, root.p.x Active, root.r Draining
            ask a1: app3 Accepted
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 vcore, but the maximum of queue root.q is 1. Raise the maximum, or request less.
        "#]],
    );
}

#[test]
#[doc(alias = "queues W28")]
fn offsets_and_fences_of_queue_priorities() {
    check(
        "
        queue root.p.a prop priority.offset=5
        queue root.f prop priority.policy=fence prop priority.offset=-3
        queue root.f.b
        queue root.high prop priority.offset=2147483647
        queue root.idle prop priority.offset=7
        node n1 vcore=1
        app taker root.idle ann
        ask held taker vcore=1
        app a1 root.p.a ann
        app a2 root.p.a ann
        app b root.f.b ann
        app h root.high ann
        ask a1k a1 vcore=1 prio 10
        ask a2k a2 vcore=1 prio 20
        ask bk b vcore=1 prio 99
        ask hk h vcore=1 prio 10
        show priority root.p.a
        show priority root.p
        show priority root.f
        show priority root.high
        show priority root.idle
        release held
        release hk
        ",
        expect![[r#"
            ask held: taker Accepted, held on n1, taker Running
            ask a1k: a1 Accepted
              a1k waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask a2k: a2 Accepted
              a2k waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask bk: b Accepted
              bk waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask hk: h Accepted
              hk waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              root.p.a: priority 25
              root.p: priority 25
              root.f: priority -3
              root.high: priority 2147483647
              root.idle: priority none
            release held: held released, taker Completing, hk on n1, h Running
            release hk: hk released, h Completing, a2k on n1, a2 Running
        "#]],
    );
}

#[test]
fn what_runs_goes_on_above_a_maximum_that_is_lowered() {
    check(
        "
        queue root.q max vcore=8
        node n1 vcore=8
        app app1 root.q ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=3
        ask a3 app1 vcore=2
        reload
        queue root.q max vcore=4
        show root.q
        ask a4 app1 vcore=1
        release a1
        release a2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3: a3 on n1
            reload: root.q changed
              root.q: in force {vcore: 4000 m}, uses {vcore: 8000 m}, headroom {vcore: -4000 m}, share 2, runs 1
            ask a4
              a4 waits QUEUE_MAX: queue root.q uses 8 vcore, which is above its maximum of 4, and the ask needs 1. Wait for releases, or raise the maximum.
            release a1: a1 released
              a4 waits QUEUE_MAX: queue root.q uses 5 vcore, which is above its maximum of 4, and the ask needs 1. Wait for releases, or raise the maximum.
            release a2: a2 released, a4 on n1
        "#]],
    );
}

#[test]
fn a_leaf_that_becomes_a_parent_keeps_its_applications_and_offers_them_nothing() {
    check(
        "
        queue root.q
        node n1 vcore=1
        app app1 root.q ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        reload
        queue root.q.x
        release a1
        app app2 root.q bob
        app app3 root.q.x bob
        ask b1 app3 vcore=1
        reload
        queue root.q
        release b1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            reload: root.q changed, root.q.x made
              a2 waits QUEUE_STATE: queue root.q is a parent now, so its own applications cannot start. Change the queue to a leaf, or submit the application to another queue.
            release a1: a1 released
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.q is a parent, but applications run only in leaves; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            ask b1: app3 Accepted, b1 on n1, app3 Running
            reload: root.q changed, root.q.x Draining
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release b1: b1 released, app3 Completing, a2 on n1
        "#]],
    );
}

#[test]
fn a_property_that_the_file_does_not_have_any_more_is_gone() {
    check(
        "
        queue root.p prop application.sort.priority=disabled parent
        queue root.p.q
        node n1 vcore=1
        app app1 root.p.q ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        wait 1s
        app app2 root.p.q ann
        ask b1 app2 vcore=1 prio 9
        release a1
        reload
        queue root.p.q
        ask a3 app1 vcore=1
        release a2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 1s: nothing
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a1: a1 released, a2 on n1
            reload: root.p changed, root.p.q changed
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a2: a2 released, b1 on n1, app2 Running
        "#]],
    );
}

#[test]
fn a_partition_that_the_file_does_not_name_any_more_goes_with_all_that_it_has() {
    check(
        "
        queue root.q
        limit root.q user ann vcore=4
        partition gpu
        queue root.g
        node n1 vcore=8
        app app1 root.q ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=3
        reload
        partition gpu
        queue root.g
        app app2 root.q ann
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ABS_USER_LIMIT: user ann at root.q has 1 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the limit.
            reload: app1 Failing, a1 released, a2 withdrawn, app1 gone, root.q has other limits, root.q gone
            app app2: refused UNKNOWN_PARTITION: partition default does not exist. Use one of: gpu.
        "#]],
    );
}
