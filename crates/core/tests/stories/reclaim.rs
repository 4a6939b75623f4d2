//! What a tenant is guaranteed is taken back, and what has a lower priority makes room in its own leaf.
//! No-starvation NS-42 and NS-43.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "NS-42")]
fn a_tenant_below_its_guarantee_takes_it_back_from_one_above_its_own() {
    check(
        "
        tenants root.tenants
        node n1 vcore=10
        tenant a guaranteed vcore=2
        tenant b guaranteed vcore=4
        task t1 a ann vcore=2 priority 3
        task t2 a ann vcore=2
        task t3 a ann vcore=2 requeue
        task t4 a ann vcore=2 fixed
        task t5 a ann vcore=1 x2
        task u1 b bob vcore=2
        wait 29s
        wait 2s
        release t3
        task u2 b bob vcore=2
        wait 31s
        release t2
        task u3 b bob vcore=2
        wait 100s
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 on n1, t2 Running
            task t3: task t3 of a, t3 Accepted, t3 on n1, t3 Running
            task t4: task t4 of a, t4 Accepted, t4 on n1, t4 Running
            task t5: task t5 of a, t5 Accepted, t5.1 on n1, t5 Running, t5.2 on n1
            task u1: task u1 of b, u1 Accepted, u1 throttled ROOT_CAPACITY 
              u1 waits ROOT_CAPACITY: the cluster has 0 of 10 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            wait 29s: nothing
            wait 2s: t3 to be stopped for u1, n1 keeps u1
            release t3: t3 released, t3 Completing, u1 on n1, u1 Running
            task u2: task u2 of b, u2 Accepted, u2 throttled ROOT_CAPACITY 
              u2 waits ROOT_CAPACITY: the cluster has 0 of 10 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            wait 31s: t3 Completed, t2 to be stopped for u2, n1 keeps u2
            release t2: t2 released, t2 Completing, u2 on n1, u2 Running
            task u3: task u3 of b, u3 Accepted, u3 throttled ROOT_CAPACITY 
              u3 waits ROOT_CAPACITY: the cluster has 0 of 10 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            wait 100s: t2 Completed, nothing to stop for u3
        "#]],
    );
}

#[test]
#[doc(alias = "NS-42")]
fn no_task_is_stopped_for_a_guarantee_where_that_is_switched_off() {
    check(
        "
        tenants root.tenants no-reclaim
        node n1 vcore=4
        tenant a
        tenant b guaranteed vcore=4
        task t1 a ann vcore=4
        task u1 b bob vcore=2
        wait 100s
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task u1: task u1 of b, u1 Accepted, u1 throttled ROOT_CAPACITY 
              u1 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            wait 100s: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "NS-43")]
fn what_has_a_lower_priority_makes_room_in_its_own_leaf() {
    check(
        "
        queue root.a max vcore=6 preempt priority;spare=60
        queue root.b
        node n1 vcore=8
        app old root.a ann
        ask o1 old vcore=2 prio 1
        ask o2 old vcore=2 prio 0
        app gang root.a ann gang vcore=2
        ask g1 gang vcore=2 placeholder group g
        app other root.b eve
        ask e1 other vcore=2
        app urgent root.a bob
        ask u0 urgent vcore=2 prio 1 preempts
        wait 50s
        ask u1 urgent vcore=2 prio 5 preempts
        wait 31s
        wait 20s
        release o2
        ask u2 urgent vcore=4 prio 5 preempts
        wait 100s
        ",
        expect![[r#"
            ask o1: old Accepted, o1 on n1, old Running
            ask o2: o2 on n1
            ask g1: gang Accepted, g1 on n1, gang Running
            ask e1: other Accepted, e1 on n1, other Running
            ask u0: urgent Accepted
              u0 waits QUEUE_MAX: queue root.a has 0 of 6 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            wait 50s: nothing to stop for u0
            ask u1
              u1 waits QUEUE_MAX: queue root.a has 0 of 6 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            wait 31s: o2 to be stopped for u1, n1 keeps u1, nothing to stop for u0
            wait 20s: nothing to stop for u0
            release o2: o2 released, u1 on n1, urgent Running
            ask u2
              u2 waits QUEUE_MAX: queue root.a has 0 of 6 vcore available, but the ask needs 4. Wait for a release, or raise the maximum.
            wait 100s: nothing to stop for u2, nothing to stop for u0
        "#]],
    );
}

/// The root queue of the tenants sets it, and the queue of each tenant inherits it.
#[test]
#[doc(alias = "NS-43")]
fn an_urgent_task_stops_another_one_of_its_own_tenant() {
    check(
        "
        queue root.tenants parent preempt priority
        tenants root.tenants
        node n1 vcore=8
        tenant a quota vcore=4
        tenant b quota vcore=4
        task t1 a ann vcore=2
        task t2 a ann vcore=2
        task u1 b bob vcore=4
        task t3 a ann vcore=2 priority 5
        wait 31s
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 on n1, t2 Running
            task u1: task u1 of b, u1 Accepted, u1 on n1, u1 Running
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 4000+2000 of 4000
              t3 waits TENANT_QUOTA (a vcore 4000+2000 of 4000 short 2000): queue root.tenants.a has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the quota of tenant a.
            wait 31s: t2 to be stopped for t3, n1 keeps t3
        "#]],
    );
}

#[test]
#[doc(alias = "NS-43")]
fn priorities_stop_nobody_where_no_queue_says_so() {
    check(
        "
        queue root.a max vcore=2
        node n1 vcore=8
        app old root.a ann
        ask o1 old vcore=2
        app urgent root.a bob
        ask u1 urgent vcore=2 prio 5 preempts
        wait 100s
        ",
        expect![[r#"
            ask o1: old Accepted, o1 on n1, old Running
            ask u1: urgent Accepted
              u1 waits QUEUE_MAX: queue root.a has 0 of 2 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            wait 100s: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "NS-31")]
fn nobody_is_stopped_for_a_gang_that_its_guarantee_cannot_complete() {
    check(
        "
        queue root.a guaranteed vcore=2
        queue root.b
        node n1 vcore=4
        app small root.b eve
        ask s1 small vcore=1
        ask s2 small vcore=1
        ask s3 small vcore=1
        ask s4 small vcore=1
        app gang root.a ann gang vcore=3
        ask p1 gang vcore=1 placeholder group g preempts
        ask p2 gang vcore=1 placeholder group g preempts
        ask p3 gang vcore=1 placeholder group g preempts
        wait 60s
        release s4
        wait 60s
        ",
        expect![[r#"
            ask s1: small Accepted, s1 on n1, small Running
            ask s2: s2 on n1
            ask s3: s3 on n1
            ask s4: s4 on n1
            ask p1: gang Accepted
              p1 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask p2
              p2 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask p3
              p3 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 60s: nothing to stop for p1
            release s4: s4 released, p1 on n1
            wait 60s: nothing to stop for p2
        "#]],
    );
}

#[test]
#[doc(alias = "NS-31")]
fn a_gang_within_its_guarantee_has_others_stopped_until_it_is_complete() {
    check(
        "
        queue root.a guaranteed vcore=2
        queue root.b
        node n1 vcore=2
        app small root.b eve
        ask s1 small vcore=1
        ask s2 small vcore=1
        app gang root.a ann gang vcore=2
        ask p1 gang vcore=1 placeholder group g preempts
        ask p2 gang vcore=1 placeholder group g preempts
        wait 60s
        release s1
        release s2
        ",
        expect![[r#"
            ask s1: small Accepted, s1 on n1, small Running
            ask s2: s2 on n1
            ask p1: gang Accepted
              p1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask p2
              p2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            wait 60s: s2 to be stopped for p1, n1 keeps p1, nothing to stop for p2
            release s1: s1 released, p1 on n1
            release s2: s2 released, small Completing, p2 on n1, gang Running
        "#]],
    );
}
