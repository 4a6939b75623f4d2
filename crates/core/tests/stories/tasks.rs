//! Tasks of tenants: what they are charged and released, and where they stand. Source: tenants §1, §2, §10.

use expect_test::expect;

use crate::check;

/// The seed's scene: 128 cores, A may have 100 and B 40.
const SCENE: &str = "
    tenants root.tenants
    node n1 vcore=128 memory=256G
    tenant a quota vcore=100 memory=200G
    tenant b quota vcore=40 memory=80G
";

fn scene(lines: &str) -> String {
    [SCENE, lines].concat()
}

#[test]
#[doc(alias = "TR-10")]
#[doc(alias = "TR-11")]
#[doc(alias = "TR-30")]
#[doc(alias = "TS-01")]
#[doc(alias = "TS-04")]
fn what_does_not_fit_waits_and_starts_with_the_release() {
    check(
        &scene(
            "
        task t1 a ann vcore=80 memory=160G
        task t9 a ann vcore=10 memory=20G
        show tenant a
        task t10 a ann vcore=20 memory=40G
        show task t10
        show tenant a
        task b1 b bob vcore=10 memory=20G
        task-done t9
        show tenant a
        show task t9
        show task t10
        task-runs t10
        show task t10
        ",
        ),
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t9: task t9 of a, t9 Accepted, t9 on n1, t9 Running
              a: version 1, root.tenants.a uses {instances: 2, memory: 180000000000 B, vcore: 90000 m} of {memory: 200000000000 B, vcore: 100000 m}
            task t10: task t10 of a, t10 Accepted, t10 throttled TENANT_QUOTA a memory 180000000000+40000000000 of 200000000000 vcore 90000+20000 of 100000
              t10 waits TENANT_QUOTA (a memory 180000000000+40000000000 of 200000000000 short 20000000000 vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 18.62Gi of 186.26Gi memory available, but the ask needs 37.25Gi. Wait for a release, or raise the quota of tenant a.
              task t10: WAITING
              a: version 1, root.tenants.a uses {instances: 2, memory: 180000000000 B, vcore: 90000 m} of {memory: 200000000000 B, vcore: 100000 m}
            task b1: task b1 of b, b1 Accepted, b1 on n1, b1 Running
            task-done t9: t9 Succeeded, t9 released, t9 Completing, t9 Completed, t10 on n1, t10 Running
              a: version 1, root.tenants.a uses {instances: 2, memory: 200000000000 B, vcore: 100000 m} of {memory: 200000000000 B, vcore: 100000 m}
              task t9: SUCCEEDED
              task t10: STARTING
            task-runs t10: t10 Confirmed
              task t10: RUNNING
        "#]],
    );
}

#[test]
#[doc(alias = "SD-61")]
fn each_edge_of_the_states_and_the_ledger_behind_it() {
    check(
        "
        tenants root.tenants
        node n1 vcore=100
        tenant a quota vcore=10
        task t1 a ann vcore=10
        show task t1
        task-runs t1
        task-runs t1
        show task t1
        task-cancel t1
        task-cancel t1
        show task t1
        show tenant a
        task-failed t1
        show task t1
        show tenant a
        task t2 a ann vcore=10
        task t3 a ann vcore=1
        task-cancel t3
        show task t3
        task-failed t2
        task t4 a ann vcore=10
        task t5 a ann vcore=2 wait 30s
        wait 29s
        show task t5
        wait 1s
        show task t5
        task-done t4
        task-done t4
        task-cancel t4
        task-runs t4
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
              task t1: STARTING
            task-runs t1: t1 Confirmed
            task-runs t1: nothing
              task t1: RUNNING
            task-cancel t1: t1 Cancelling
            task-cancel t1: nothing
              task t1: CANCELLING
              a: version 1, root.tenants.a uses {instances: 1, vcore: 10000 m} of {vcore: 10000 m}
            task-failed t1: t1 Cancelled, t1 released, t1 Completing, t1 Completed
              task t1: CANCELLED
              a: version 1, root.tenants.a uses {} of {vcore: 10000 m}
            task t2: task t2 of a, t2 Accepted, t2 on n1, t2 Running
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 10000+1000 of 10000
              t3 waits TENANT_QUOTA (a vcore 10000+1000 of 10000 short 1000): queue root.tenants.a has 0 of 10 vcore available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
            task-cancel t3: t3 Cancelled, t3 withdrawn, t3 Completing, t3 Completed
              task t3: CANCELLED
            task-failed t2: t2 Failed, t2 released, t2 Completing, t2 Completed
            task t4: task t4 of a, t4 Accepted, t4 on n1, t4 Running
            task t5: task t5 of a, t5 Accepted, t5 throttled TENANT_QUOTA a vcore 10000+2000 of 10000
              t5 waits TENANT_QUOTA (a vcore 10000+2000 of 10000 short 2000): queue root.tenants.a has 0 of 10 vcore available, but the ask needs 2. Wait for a release, or raise the quota of tenant a.
            wait 29s: nothing
              task t5: WAITING
            wait 1s: t5 Expired, t5 withdrawn, t5 Completing, t5 Completed
              task t5: EXPIRED
            task-done t4: t4 Succeeded, t4 released, t4 Completing, t4 Completed
            task-done t4: refused TASK_STATE: task t4 is SUCCEEDED and cannot be released. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be released.
            task-cancel t4: refused TASK_STATE: task t4 is SUCCEEDED and cannot be cancelled. Only tasks that are not ended can be cancelled.
            task-runs t4: refused TASK_STATE: task t4 is SUCCEEDED and cannot be confirmed. Only tasks that are STARTING or RUNNING can be confirmed.
              a: version 1, root.tenants.a uses {} of {vcore: 10000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TS-13")]
fn a_task_that_fails_waits_again_with_its_place_and_is_charged_once() {
    check(
        "
        tenants root.tenants
        node n1 vcore=100
        tenant a quota vcore=10
        task t1 a ann vcore=4 restarts 3
        task t2 a ann vcore=6
        task t3 a ann vcore=5
        task-failed t1 key e1 body
        show tenant a
        task-failed t1 key e1 body
        task-failed t1 key e1 other
        show task t1
        task-failed t1 key e2 body
        task-failed t1
        task-failed t1
        show task t1
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 on n1, t2 Running
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 10000+5000 of 10000
              t3 waits TENANT_QUOTA (a vcore 10000+5000 of 10000 short 5000): queue root.tenants.a has 0 of 10 vcore available, but the ask needs 5. Wait for a release, or raise the quota of tenant a.
            task-failed t1: t1 released, t1 Completing, t1 Running, t1 Restarted, t1 on n1
              a: version 1, root.tenants.a uses {instances: 2, vcore: 10000 m} of {vcore: 10000 m}
            task-failed t1: nothing
            task-failed t1: refused IDEMPOTENCY_MISMATCH: task t1 was already released with the idempotency key "e1" by a different request. Choose another key.
              task t1: STARTING
            task-failed t1: t1 released, t1 Completing, t1 Running, t1 Restarted, t1 on n1
            task-failed t1: t1 released, t1 Completing, t1 Running, t1 Restarted, t1 on n1
            task-failed t1: t1 Failed, t1 released, t1 Completing, t1 Completed
              t3 waits TENANT_QUOTA (a vcore 6000+5000 of 10000 short 1000): queue root.tenants.a has 4 of 10 vcore available, but the ask needs 5. Wait for a release, or raise the quota of tenant a.
              task t1: FAILED
              a: version 1, root.tenants.a uses {instances: 1, vcore: 6000 m} of {vcore: 10000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TS-17")]
fn an_evicted_task_waits_again_if_it_says_so() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 30s
        task old a ann vcore=20 requeue
        wait 1s
        task young a ann vcore=20 requeue
        task mid a ann vcore=20 priority 3
        task high a ann vcore=30 priority 5
        tenant a quota vcore=60 lower preempt 30s
        wait 30s
        scan-quotas
        show task young
        show task old
        show tenant a
        task-failed young
        show task young
        task-done old
        show task old
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task old: task old of a, old Accepted, old on n1, old Running
            wait 1s: nothing
            task young: task young of a, young Accepted, young on n1, young Running
            task mid: task mid of a, mid Accepted, mid on n1, mid Running
            task high: task high of a, high Accepted, high on n1, high Running
            tenant a: tenant a set, root.tenants.a changed
            wait 30s: nothing
            scan-quotas: young to be stopped for the quota of root.tenants.a, old to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
              task young: EVICTING
              task old: EVICTING
              a: version 2, root.tenants.a uses {instances: 4, vcore: 90000 m} of {vcore: 60000 m}
            task-failed young: young released, young Completing, young Running, young Requeued, young throttled OVER_QUOTA_AFTER_LOWERING a vcore 70000+20000 of 60000
              young waits OVER_QUOTA_AFTER_LOWERING (a vcore 70000+20000 of 60000 short 30000): queue root.tenants.a uses 70 vcore, which is above its quota of 60, and the ask needs 20. Wait for releases, or raise the quota of tenant a.
              task young: WAITING
            task-done old: old Succeeded, old released, old Completing, old Completed
              young waits TENANT_QUOTA (a vcore 50000+20000 of 60000 short 10000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
              task old: SUCCEEDED
              a: version 2, root.tenants.a uses {instances: 2, vcore: 50000 m} of {vcore: 60000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-17")]
fn quotas_are_held_against_what_is_asked_for_and_what_is_measured_decides_nothing() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100
        task t1 a ann vcore=80
        task t2 a ann vcore=40
        task-uses t1 vcore=1
        task-uses t2 vcore=1
        task-uses t1 vcore=500 memory=7
        show tenant a
        task t3 a ann vcore=20
        task-uses t3
        task-uses t3 gpu=-1
        task-uses t3 instances=1
        task-done t1
        task-uses t1 vcore=1
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 throttled TENANT_QUOTA a vcore 80000+40000 of 100000
              t2 waits TENANT_QUOTA (a vcore 80000+40000 of 100000 short 20000): queue root.tenants.a has 20 of 100 vcore available, but the ask needs 40. Wait for a release, or raise the quota of tenant a.
            task-uses t1: t1 Measured { resources: Amounts([("vcore", Quantity(1000))]) }
            task-uses t2: refused TASK_STATE: task t2 is WAITING and cannot be measured. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be measured.
            task-uses t1: t1 Measured { resources: Amounts([("memory", Quantity(7)), ("vcore", Quantity(500000))]) }
              a: version 1, root.tenants.a uses {instances: 1, vcore: 80000 m} of {vcore: 100000 m}
            task t3: task t3 of a, t3 Accepted, t3 throttled BEHIND_HEAD 
              t3 waits BEHIND_HEAD: ask t2 of application t2 is the head of line of queue root.tenants.a and needs 40 vcore. The quota leaves 0 for others, but this ask needs 20. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            task-uses t3: refused TASK_STATE: task t3 is WAITING and cannot be measured. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be measured.
            task-uses t3: refused TASK_STATE: task t3 is WAITING and cannot be measured. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be measured.
            task-uses t3: refused TASK_STATE: task t3 is WAITING and cannot be measured. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be measured.
            task-done t1: t1 Succeeded, t1 released, t1 Completing, t1 Completed, t2 on n1, t2 Running, t3 on n1, t3 Running
            task-uses t1: refused TASK_STATE: task t1 is SUCCEEDED and cannot be measured. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be measured.
              a: version 1, root.tenants.a uses {instances: 2, vcore: 60000 m} of {vcore: 100000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-16")]
#[doc(alias = "TS-32")]
fn growth_is_charged_at_once_or_refused_and_the_task_keeps_its_size() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100
        task t1 a ann vcore=85
        task t2 a ann vcore=10
        task-resize t2 vcore=20
        show tenant a
        task-resize t2 vcore=15
        show tenant a
        task t3 a ann vcore=30
        task-resize t3 vcore=10
        task-resize t2 vcore=5
        show tenant a
        task-resize t1 vcore=90
        task-resize t3 vcore=200
        task-resize t3
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 on n1, t2 Running
            task-resize t2: refused QUOTA: task t2 needs 10 more vcore, but tenant a uses 95 of its quota of 100. The task keeps its size. Release resources, or raise the quota.
              a: version 1, root.tenants.a uses {instances: 2, vcore: 95000 m} of {vcore: 100000 m}
            task-resize t2: t2 resized
              a: version 1, root.tenants.a uses {instances: 2, vcore: 100000 m} of {vcore: 100000 m}
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 100000+30000 of 100000
              t3 waits TENANT_QUOTA (a vcore 100000+30000 of 100000 short 30000): queue root.tenants.a has 0 of 100 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
            task-resize t3: t3 resized
              t3 waits TENANT_QUOTA (a vcore 100000+10000 of 100000 short 10000): queue root.tenants.a has 0 of 100 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task-resize t2: t2 resized, t3 on n1, t3 Running
              a: version 1, root.tenants.a uses {instances: 3, vcore: 100000 m} of {vcore: 100000 m}
            task-resize t1: refused QUOTA: task t1 needs 5 more vcore, but tenant a uses 100 of its quota of 100. The task keeps its size. Release resources, or raise the quota.
            task-resize t3: refused EXCEEDS_QUOTA_ALWAYS: ask t3 needs 200 vcore, but the quota of tenant a is 100. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            task-resize t3: refused ASK_SIZE: ask t3 of application t3 requests {}, but at least one amount must be positive and none negative. Correct the amounts.
        "#]],
    );
}

#[test]
#[doc(alias = "TS-05")]
fn a_release_that_is_too_small_leaves_it_waiting_with_less_short() {
    check(
        &scene(
            "
        task t1 a ann vcore=80 memory=160G
        task t9 a ann vcore=10 memory=20G
        task t10 a ann vcore=20 memory=40G
        task-resize t9 vcore=5 memory=10G
        ",
        ),
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t9: task t9 of a, t9 Accepted, t9 on n1, t9 Running
            task t10: task t10 of a, t10 Accepted, t10 throttled TENANT_QUOTA a memory 180000000000+40000000000 of 200000000000 vcore 90000+20000 of 100000
              t10 waits TENANT_QUOTA (a memory 180000000000+40000000000 of 200000000000 short 20000000000 vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 18.62Gi of 186.26Gi memory available, but the ask needs 37.25Gi. Wait for a release, or raise the quota of tenant a.
            task-resize t9: t9 resized
              t10 waits TENANT_QUOTA (a memory 170000000000+40000000000 of 200000000000 short 10000000000 vcore 85000+20000 of 100000 short 5000): queue root.tenants.a has 27.93Gi of 186.26Gi memory available, but the ask needs 37.25Gi. Wait for a release, or raise the quota of tenant a.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-14")]
#[doc(alias = "TS-20")]
fn what_can_never_run_is_rejected_and_remembered_as_that() {
    check(
        "
        tenants root.tenants
        node n1 vcore=500
        tenant a quota vcore=100
        task t1 a ann vcore=120
        task t2 a ann vcore=25 x5
        task t3 a ann vcore=0
        task t4 z ann vcore=1
        task t5 a ann vcore=1 instances=1
        tenant a quota vcore=100 waiting 1
        task t6 a ann vcore=100
        task t7 a ann vcore=1
        task t8 a ann vcore=1
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: rejected EXCEEDS_QUOTA_ALWAYS: ask t1 needs 120 vcore, but the quota of tenant a is 100. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            task t2: rejected EXCEEDS_QUOTA_ALWAYS: ask t2 needs 125 vcore, but the quota of tenant a is 100. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            task t3: refused ASK_SIZE: ask t3 of application t3 requests {vcore: 0 m}, but at least one amount must be positive and none negative. Correct the amounts.
            task t4: rejected UNKNOWN_TENANT: tenant z does not exist in partition default. Create the tenant first.
            task t5: refused RESERVED_TYPE: the ask names instances, which counts the tasks of tenants in partition default automatically. Remove this resource type.
            tenant a: tenant a set
            task t6: task t6 of a, t6 Accepted, t6 on n1, t6 Running
            task t7: task t7 of a, t7 Accepted, t7 throttled TENANT_QUOTA a vcore 100000+1000 of 100000
              t7 waits TENANT_QUOTA (a vcore 100000+1000 of 100000 short 1000): queue root.tenants.a has 0 of 100 vcore available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
            task t8: rejected WAITING_LIST_FULL: tenant a has 1 of at most 1 waiting tasks. Wait for one to start, or raise `maxWaiting`.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-81")]
fn an_id_and_a_key_are_one_tasks_alone() {
    check(
        "
        tenants root.tenants
        node n1 vcore=500
        tenant a quota vcore=100
        app app1 of:a ann
        task app1 a ann vcore=1
        task t1 a ann vcore=1 key k body
        task t1 a ann vcore=1
        task t2 a ann vcore=1 key k body
        task-done t1 key e body
        task t1 a ann vcore=1
        task-done none
        wait 86400s
        task t2 a ann vcore=1 key k body
        task t3 a ann vcore=1 key k other
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task app1: refused TASK_EXISTS: in partition default, an application that is not a task already has the ID app1. Choose another ID, or omit the ID.
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t1: refused TASK_EXISTS: in partition default, a task already has the ID t1. Choose another ID, or omit the ID.
            task t2: refused KEY_TAKEN: tenant a already submitted task t1 with the idempotency key "k". Choose another key for another task.
            task-done t1: t1 Succeeded, t1 released, t1 Completing, t1 Completed
            task t1: refused TASK_EXISTS: in partition default, a task already has the ID t1. Choose another ID, or omit the ID.
            task-done none: refused UNKNOWN_TASK: task none does not exist in partition default: the task was never submitted, or ended too long ago. Check the task ID.
            wait 86400s: nothing
            task t2: task t2 of a, t2 Accepted, t2 on n1, t2 Running
            task t3: refused KEY_TAKEN: tenant a already submitted task t2 with the idempotency key "k". Choose another key for another task.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-26")]
fn a_task_that_waits_is_ranked_anew() {
    check(
        "
        tenants root.tenants
        node n1 vcore=500
        tenant a quota vcore=10 order priority
        tenant u quota vcore=10 order urgency
        task t1 a ann vcore=10
        task t2 a ann vcore=10 priority 1
        task t3 a ann vcore=10 priority 2
        task-rank t2 3
        task-rank t1 3
        task-done t1
        task-done t2
        task u1 u ann vcore=10
        task u2 u ann vcore=10 deadline 600 estimate 120
        task u3 u ann vcore=10 deadline 900
        task-rank u3 at 100
        task-done u1
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant u: tenant u set, root.tenants.u made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 throttled TENANT_QUOTA a vcore 10000+10000 of 10000
              t2 waits TENANT_QUOTA (a vcore 10000+10000 of 10000 short 10000): queue root.tenants.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 10000+10000 of 10000
              t3 waits TENANT_QUOTA (a vcore 10000+10000 of 10000 short 10000): queue root.tenants.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task-rank t2: t2 withdrawn
              t2 waits TENANT_QUOTA (a vcore 10000+10000 of 10000 short 10000): queue root.tenants.a has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task-rank t1: refused TASK_STATE: task t1 is STARTING and cannot be ranked. Only tasks that are WAITING can be ranked.
            task-done t1: t1 Succeeded, t1 released, t1 Completing, t1 Completed, t2 on n1, t2 Running
            task-done t2: t2 Succeeded, t2 released, t2 Completing, t2 Completed, t3 on n1, t3 Running
            task u1: task u1 of u, u1 Accepted, u1 on n1, u1 Running
            task u2: task u2 of u, u2 to be done by 600000 ms, takes 120000 ms, u2 Accepted, u2 throttled TENANT_QUOTA u vcore 10000+10000 of 10000
              u2 waits TENANT_QUOTA (u vcore 10000+10000 of 10000 short 10000): queue root.tenants.u has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant u.
            task u3: task u3 of u, u3 to be done by 900000 ms, takes 0 ms, u3 Accepted, u3 throttled TENANT_QUOTA u vcore 10000+10000 of 10000
              u3 waits TENANT_QUOTA (u vcore 10000+10000 of 10000 short 10000): queue root.tenants.u has 0 of 10 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant u.
            task-rank u3: u3 to be done by 100000 ms, takes 0 ms
            task-done u1: u1 Succeeded, u1 released, u1 Completing, u1 Completed, u3 on n1, u3 Running
        "#]],
    );
}

#[test]
#[doc(alias = "TR-50")]
fn a_task_whose_node_is_lost_has_failed() {
    check(
        "
        tenants root.tenants
        node n1 vcore=10
        tenant a quota vcore=10
        task t1 a ann vcore=4
        task-runs t1
        lose n1
        show task t1
        show tenant a
        wait 30s
        show task t1
        task-done t1
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task-runs t1: t1 Confirmed
            lose n1: t1 lost, t1 Completing
              task t1: FAILED
              a: version 1, root.tenants.a uses {} of {vcore: 10000 m}
            wait 30s: t1 Completed
              task t1: FAILED
            task-done t1: refused TASK_STATE: task t1 is FAILED and cannot be released. Only tasks that are STARTING, RUNNING, CANCELLING or EVICTING can be released.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-24")]
fn a_task_that_waits_again_counts_among_those_that_wait() {
    check(
        "
        tenants root.tenants
        node n1 vcore=10
        tenant a quota vcore=4 waiting 1
        task t1 a ann vcore=4 restarts 1
        tenant a quota vcore=3 waiting 1
        task-failed t1
        task t2 a ann vcore=1
        task-cancel t1
        task t3 a ann vcore=1
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            tenant a: tenant a set, root.tenants.a changed
            task-failed t1: t1 released, t1 Completing, t1 Running, t1 Restarted, t1 throttled IMPOSSIBLE a vcore 0+4000 of 3000
              t1 waits IMPOSSIBLE (a vcore 0+4000 of 3000 short 1000): no release can start the ask: the ask needs 4 vcore, but the maximum of queue root.tenants.a is 3. Raise the maximum, or request less.
            task t2: rejected WAITING_LIST_FULL: tenant a has 1 of at most 1 waiting tasks. Wait for one to start, or raise `maxWaiting`.
            task-cancel t1: t1 Cancelled, t1 withdrawn, t1 Completing, t1 Completed
            task t3: task t3 of a, t3 Accepted, t3 on n1, t3 Running
        "#]],
    );
}
