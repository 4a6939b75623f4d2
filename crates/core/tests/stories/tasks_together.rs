//! Tasks of several members: all of them start, or none. Source: tenants §1, TR-15, TS-20, SD-61, SD-63.

use expect_test::expect;
use headroom_core::testkit::tell_world;

use crate::check;

#[test]
#[doc(alias = "TS-20")]
#[doc(alias = "TR-15")]
fn a_gang_waits_as_a_whole_and_starts_whole_with_the_release() {
    check(
        "
        tenants root.tenants
        node n1 vcore=60
        node n2 vcore=60
        tenant a quota vcore=100
        task t1 a ann vcore=10
        task t2 a ann vcore=25 x5
        task t3 a ann vcore=25 x4
        show tenant a
        task-done t1
        show tenant a
        show task t3
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: rejected EXCEEDS_QUOTA_ALWAYS: ask t2 needs 125 vcore, but the quota of tenant a is 100. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 10000+100000 of 100000
              t3.1 waits TENANT_QUOTA (a vcore 10000+100000 of 100000 short 10000): queue root.tenants.a has 90 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              t3.2 waits TENANT_QUOTA (a vcore 10000+100000 of 100000 short 10000): queue root.tenants.a has 90 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              t3.3 waits TENANT_QUOTA (a vcore 10000+100000 of 100000 short 10000): queue root.tenants.a has 90 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              t3.4 waits TENANT_QUOTA (a vcore 10000+100000 of 100000 short 10000): queue root.tenants.a has 90 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              a: version 1, root.tenants.a uses {instances: 1, vcore: 10000 m} of {vcore: 100000 m}
            task-done t1: t1 Succeeded, t1 released, t1 Completing, t1 Completed, t3.1 on n1, t3 Running, t3.2 on n2, t3.3 on n1, t3.4 on n2
              a: version 1, root.tenants.a uses {instances: 4, vcore: 100000 m} of {vcore: 100000 m}
              task t3: STARTING
        "#]],
    );
}

#[test]
#[doc(alias = "TR-15")]
#[doc(alias = "TR-18")]
fn a_gang_without_nodes_for_all_is_charged_nothing_and_starts_with_the_last_of_them() {
    check(
        "
        tenants root.tenants
        node n1 vcore=5
        node n2 vcore=5
        tenant d quota vcore=12
        tenant a of d quota vcore=100
        tenant b of d quota vcore=100
        task t1 a ann vcore=2 x5
        show tenant a
        task b1 b bob vcore=4
        node n3 vcore=2
        task-done b1
        show tenant d
        task b2 b bob vcore=1 x3
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            tenant b: tenant b set, root.tenants.d.b made
            task t1: task t1 of a, t1 Accepted, t1 throttled IMPOSSIBLE 
              t1.1 waits IMPOSSIBLE: no release can start the task: its 5 members start together and need vcore 2 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
              t1.2 waits IMPOSSIBLE: no release can start the task: its 5 members start together and need vcore 2 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
              t1.3 waits IMPOSSIBLE: no release can start the task: its 5 members start together and need vcore 2 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
              t1.4 waits IMPOSSIBLE: no release can start the task: its 5 members start together and need vcore 2 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
              t1.5 waits IMPOSSIBLE: no release can start the task: its 5 members start together and need vcore 2 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
              a: version 1, root.tenants.d.a uses {} of {vcore: 100000 m}
            task b1: task b1 of b, b1 Accepted, b1 on n1, b1 Running
            node n3
              t1.1 waits ANCESTOR_QUOTA (d vcore 4000+10000 of 12000 short 2000): queue root.tenants.d has 8 of 12 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant d.
              t1.2 waits ANCESTOR_QUOTA (d vcore 4000+10000 of 12000 short 2000): queue root.tenants.d has 8 of 12 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant d.
              t1.3 waits ANCESTOR_QUOTA (d vcore 4000+10000 of 12000 short 2000): queue root.tenants.d has 8 of 12 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant d.
              t1.4 waits ANCESTOR_QUOTA (d vcore 4000+10000 of 12000 short 2000): queue root.tenants.d has 8 of 12 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant d.
              t1.5 waits ANCESTOR_QUOTA (d vcore 4000+10000 of 12000 short 2000): queue root.tenants.d has 8 of 12 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant d.
            task-done b1: b1 Succeeded, b1 released, b1 Completing, b1 Completed, t1.1 on n1, t1 Running, t1.2 on n2, t1.3 on n3, t1.4 on n1, t1.5 on n2
              d: version 1, root.tenants.d uses {instances: 5, vcore: 10000 m} of {vcore: 12000 m}
            task b2: task b2 of b, b2 Accepted, b2 throttled ANCESTOR_QUOTA d vcore 10000+3000 of 12000
              b2.1 waits ANCESTOR_QUOTA (d vcore 10000+3000 of 12000 short 1000): queue root.tenants.d has 2 of 12 vcore available, but the ask needs 3. Wait for a release, or raise the quota of tenant d.
              b2.2 waits ANCESTOR_QUOTA (d vcore 10000+3000 of 12000 short 1000): queue root.tenants.d has 2 of 12 vcore available, but the ask needs 3. Wait for a release, or raise the quota of tenant d.
              b2.3 waits ANCESTOR_QUOTA (d vcore 10000+3000 of 12000 short 1000): queue root.tenants.d has 2 of 12 vcore available, but the ask needs 3. Wait for a release, or raise the quota of tenant d.
        "#]],
    );
}

/// What waits when a task of 60 ends: by each strategy another order.
fn after_one_release(order: &str) -> String {
    format!(
        "
        tenants root.tenants
        node n1 vcore=100
        tenant a quota vcore=60 {order}
        task t0 a ann vcore=60
        task t1 a ann vcore=10 priority 1 deadline 900 estimate 10 x3
        task t2 a ann vcore=20 priority 5 deadline 600 estimate 10
        task t3 a ann vcore=10 priority 9 deadline 300 estimate 10 x2
        task t4 a ann vcore=10 priority 0 deadline 60 estimate 10
        task-done t0
        "
    )
}

#[test]
#[doc(alias = "SD-63")]
#[doc(alias = "TR-21")]
#[doc(alias = "TR-22")]
fn by_fifo_a_release_starts_the_oldest_and_holds_the_others() {
    check(
        &after_one_release("order fifo"),
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t0: task t0 of a, t0 Accepted, t0 on n1, t0 Running
            task t1: task t1 of a, t1 to be done by 900000 ms, takes 10000 ms, t1 Accepted, t1 throttled TENANT_QUOTA a vcore 60000+30000 of 60000
              t1.1 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.2 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.3 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
            task t2: task t2 of a, t2 to be done by 600000 ms, takes 10000 ms, t2 Accepted, t2 throttled BEHIND_HEAD 
              t2 waits BEHIND_HEAD: ask t1.1 of application t1 is the head of line of queue root.tenants.a and needs 30 vcore. The quota leaves 0 for others, but this ask needs 20. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            task t3: task t3 of a, t3 to be done by 300000 ms, takes 10000 ms, t3 Accepted, t3 throttled BEHIND_HEAD 
              t3.1 waits BEHIND_HEAD: ask t1.1 of application t1 is the head of line of queue root.tenants.a and needs 30 vcore. The quota leaves 0 for others, but this ask needs 20. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
              t3.2 waits BEHIND_HEAD: ask t1.1 of application t1 is the head of line of queue root.tenants.a and needs 30 vcore. The quota leaves 0 for others, but this ask needs 20. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            task t4: task t4 of a, t4 to be done by 60000 ms, takes 10000 ms, t4 Accepted, t4 throttled BEHIND_HEAD 
              t4 waits BEHIND_HEAD: ask t1.1 of application t1 is the head of line of queue root.tenants.a and needs 30 vcore. The quota leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            task-done t0: t0 Succeeded, t0 released, t0 Completing, t0 Completed, t1.1 on n1, t1 Running, t1.2 on n1, t1.3 on n1, t2 on n1, t2 Running
              t3.1 waits TENANT_QUOTA (a vcore 50000+20000 of 60000 short 10000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
              t3.2 waits TENANT_QUOTA (a vcore 50000+20000 of 60000 short 10000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
              t4 waits BEHIND_HEAD: ask t3.1 of application t3 is the head of line of queue root.tenants.a and needs 20 vcore. The quota leaves 0 for others, but this ask needs 10. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-63")]
#[doc(alias = "TR-22")]
fn by_fifo_backfill_whoever_fits_beside_the_head_starts_too() {
    check(
        &after_one_release("order fifo-backfill"),
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t0: task t0 of a, t0 Accepted, t0 on n1, t0 Running
            task t1: task t1 of a, t1 to be done by 900000 ms, takes 10000 ms, t1 Accepted, t1 throttled TENANT_QUOTA a vcore 60000+30000 of 60000
              t1.1 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.2 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.3 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
            task t2: task t2 of a, t2 to be done by 600000 ms, takes 10000 ms, t2 Accepted, t2 throttled TENANT_QUOTA a vcore 60000+20000 of 60000
              t2 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            task t3: task t3 of a, t3 to be done by 300000 ms, takes 10000 ms, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 60000+20000 of 60000
              t3.1 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
              t3.2 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            task t4: task t4 of a, t4 to be done by 60000 ms, takes 10000 ms, t4 Accepted, t4 throttled TENANT_QUOTA a vcore 60000+10000 of 60000
              t4 waits TENANT_QUOTA (a vcore 60000+10000 of 60000 short 10000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task-done t0: t0 Succeeded, t0 released, t0 Completing, t0 Completed, t1.1 on n1, t1 Running, t1.2 on n1, t1.3 on n1, t2 on n1, t2 Running, t4 on n1, t4 Running, t3 overtaken by t4
        "#]],
    );
}

#[test]
#[doc(alias = "SD-63")]
#[doc(alias = "TR-22")]
fn by_priority_the_most_urgent_gang_starts_first() {
    check(
        &after_one_release("order priority"),
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t0: task t0 of a, t0 Accepted, t0 on n1, t0 Running
            task t1: task t1 of a, t1 to be done by 900000 ms, takes 10000 ms, t1 Accepted, t1 throttled TENANT_QUOTA a vcore 60000+30000 of 60000
              t1.1 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.2 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.3 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
            task t2: task t2 of a, t2 to be done by 600000 ms, takes 10000 ms, t2 Accepted, t2 throttled TENANT_QUOTA a vcore 60000+20000 of 60000
              t2 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            task t3: task t3 of a, t3 to be done by 300000 ms, takes 10000 ms, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 60000+20000 of 60000
              t3.1 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
              t3.2 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            task t4: task t4 of a, t4 to be done by 60000 ms, takes 10000 ms, t4 Accepted, t4 throttled TENANT_QUOTA a vcore 60000+10000 of 60000
              t4 waits TENANT_QUOTA (a vcore 60000+10000 of 60000 short 10000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task-done t0: t0 Succeeded, t0 released, t0 Completing, t0 Completed, t3.1 on n1, t3 Running, t3.2 on n1, t2 on n1, t2 Running, t4 on n1, t4 Running, t1 overtaken by t4
              t1.1 waits TENANT_QUOTA (a vcore 50000+30000 of 60000 short 20000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.2 waits TENANT_QUOTA (a vcore 50000+30000 of 60000 short 20000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.3 waits TENANT_QUOTA (a vcore 50000+30000 of 60000 short 20000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-63")]
#[doc(alias = "TR-22")]
fn by_urgency_whoever_has_to_start_soonest_is_first() {
    check(
        &after_one_release("order urgency"),
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t0: task t0 of a, t0 Accepted, t0 on n1, t0 Running
            task t1: task t1 of a, t1 to be done by 900000 ms, takes 10000 ms, t1 Accepted, t1 throttled TENANT_QUOTA a vcore 60000+30000 of 60000
              t1.1 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.2 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.3 waits TENANT_QUOTA (a vcore 60000+30000 of 60000 short 30000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
            task t2: task t2 of a, t2 to be done by 600000 ms, takes 10000 ms, t2 Accepted, t2 throttled TENANT_QUOTA a vcore 60000+20000 of 60000
              t2 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            task t3: task t3 of a, t3 to be done by 300000 ms, takes 10000 ms, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 60000+20000 of 60000
              t3.1 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
              t3.2 waits TENANT_QUOTA (a vcore 60000+20000 of 60000 short 20000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            task t4: task t4 of a, t4 to be done by 60000 ms, takes 10000 ms, t4 Accepted, t4 throttled TENANT_QUOTA a vcore 60000+10000 of 60000
              t4 waits TENANT_QUOTA (a vcore 60000+10000 of 60000 short 10000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 10. Wait for a release, or raise the quota of tenant a.
            task-done t0: t0 Succeeded, t0 released, t0 Completing, t0 Completed, t4 on n1, t4 Running, t3.1 on n1, t3 Running, t3.2 on n1, t2 on n1, t2 Running
              t1.1 waits TENANT_QUOTA (a vcore 50000+30000 of 60000 short 20000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.2 waits TENANT_QUOTA (a vcore 50000+30000 of 60000 short 20000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
              t1.3 waits TENANT_QUOTA (a vcore 50000+30000 of 60000 short 20000): queue root.tenants.a has 10 of 60 vcore available, but the ask needs 30. Wait for a release, or raise the quota of tenant a.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-25")]
fn small_tasks_do_not_take_what_a_gang_at_the_head_needs_as_a_whole() {
    check(
        "
        tenants root.tenants
        node n1 vcore=100
        tenant a quota vcore=100
        task t1 a ann vcore=50
        task t2 a ann vcore=25 x4
        task t3 a ann vcore=25
        task-done t1
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            task t2: task t2 of a, t2 Accepted, t2 throttled TENANT_QUOTA a vcore 50000+100000 of 100000
              t2.1 waits TENANT_QUOTA (a vcore 50000+100000 of 100000 short 50000): queue root.tenants.a has 50 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              t2.2 waits TENANT_QUOTA (a vcore 50000+100000 of 100000 short 50000): queue root.tenants.a has 50 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              t2.3 waits TENANT_QUOTA (a vcore 50000+100000 of 100000 short 50000): queue root.tenants.a has 50 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
              t2.4 waits TENANT_QUOTA (a vcore 50000+100000 of 100000 short 50000): queue root.tenants.a has 50 of 100 vcore available, but the ask needs 100. Wait for a release, or raise the quota of tenant a.
            task t3: task t3 of a, t3 Accepted, t3 throttled BEHIND_HEAD 
              t3 waits BEHIND_HEAD: ask t2.1 of application t2 is the head of line of queue root.tenants.a and needs 100 vcore. The quota leaves 0 for others, but this ask needs 25. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            task-done t1: t1 Succeeded, t1 released, t1 Completing, t1 Completed, t2.1 on n1, t2 Running, t2.2 on n1, t2.3 on n1, t2.4 on n1
              t3 waits TENANT_QUOTA (a vcore 100000+25000 of 100000 short 25000): queue root.tenants.a has 0 of 100 vcore available, but the ask needs 25. Wait for a release, or raise the quota of tenant a.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-61")]
#[doc(alias = "TR-50")]
fn all_of_a_gang_is_charged_and_released_at_each_edge() {
    check(
        "
        tenants root.tenants
        node n1 vcore=4
        node n2 vcore=4
        tenant a quota vcore=8
        task t1 a ann vcore=2 x4 restarts 1
        show tenant a
        task-runs t1
        task-failed t1
        show tenant a
        task-failed t1
        show tenant a
        task t2 a ann vcore=2 x3
        task t3 a ann vcore=2 x2 wait 5s
        task t4 a ann vcore=2 x2
        task-cancel t4
        wait 10s
        task-resize t2 vcore=3
        task-resize t2 vcore=1
        show tenant a
        task-cancel t2
        show tenant a
        task-failed t2
        show tenant a
        task t5 a ann vcore=2 x4
        lose n2
        show tenant a
        show task t5
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1.1 on n1, t1 Running, t1.2 on n2, t1.3 on n1, t1.4 on n2
              a: version 1, root.tenants.a uses {instances: 4, vcore: 8000 m} of {vcore: 8000 m}
            task-runs t1: t1 Confirmed
            task-failed t1: t1.1 released, t1.2 released, t1.3 released, t1.4 released, t1 Completing, t1 Running, t1 Restarted, t1.1 on n1, t1.2 on n2, t1.3 on n1, t1.4 on n2
              a: version 1, root.tenants.a uses {instances: 4, vcore: 8000 m} of {vcore: 8000 m}
            task-failed t1: t1 Failed, t1.1 released, t1.2 released, t1.3 released, t1.4 released, t1 Completing, t1 Completed
              a: version 1, root.tenants.a uses {} of {vcore: 8000 m}
            task t2: task t2 of a, t2 Accepted, t2.1 on n1, t2 Running, t2.2 on n2, t2.3 on n1
            task t3: task t3 of a, t3 Accepted, t3 throttled TENANT_QUOTA a vcore 6000+4000 of 8000
              t3.1 waits TENANT_QUOTA (a vcore 6000+4000 of 8000 short 2000): queue root.tenants.a has 2 of 8 vcore available, but the ask needs 4. Wait for a release, or raise the quota of tenant a.
              t3.2 waits TENANT_QUOTA (a vcore 6000+4000 of 8000 short 2000): queue root.tenants.a has 2 of 8 vcore available, but the ask needs 4. Wait for a release, or raise the quota of tenant a.
            task t4: task t4 of a, t4 Accepted, t4 throttled BEHIND_HEAD 
              t4.1 waits BEHIND_HEAD: ask t3.1 of application t3 is the head of line of queue root.tenants.a and needs 4 vcore. The quota leaves 0 for others, but this ask needs 4. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
              t4.2 waits BEHIND_HEAD: ask t3.1 of application t3 is the head of line of queue root.tenants.a and needs 4 vcore. The quota leaves 0 for others, but this ask needs 4. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            task-cancel t4: t4 Cancelled, t4.1 withdrawn, t4.2 withdrawn, t4 Completing, t4 Completed
            wait 10s: t3 Expired, t3.1 withdrawn, t3.2 withdrawn, t3 Completing, t3 Completed
            task-resize t2: refused EXCEEDS_QUOTA_ALWAYS: ask t2 needs 9 vcore, but the quota of tenant a is 8. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            task-resize t2: t2.1 resized, t2.2 resized, t2.3 resized
              a: version 1, root.tenants.a uses {instances: 3, vcore: 3000 m} of {vcore: 8000 m}
            task-cancel t2: t2 Cancelling
              a: version 1, root.tenants.a uses {instances: 3, vcore: 3000 m} of {vcore: 8000 m}
            task-failed t2: t2 Cancelled, t2.1 released, t2.2 released, t2.3 released, t2 Completing, t2 Completed
              a: version 1, root.tenants.a uses {} of {vcore: 8000 m}
            task t5: task t5 of a, t5 Accepted, t5.1 on n1, t5 Running, t5.2 on n2, t5.3 on n1, t5.4 on n2
            lose n2: t5.2 lost, t5.1 lost, t5.3 lost, t5.4 lost, t5 Completing
              a: version 1, root.tenants.a uses {} of {vcore: 8000 m}
              task t5: FAILED
        "#]],
    );
}

/// Where the RM has enough to answer nothing more is looked at, and so nothing is missed.
#[test]
fn a_gang_that_has_its_room_while_the_rm_has_enough_to_answer_is_not_missed() {
    let mut world = tell_world(
        "
        tenants root.tenants
        queue root.q
        node n1 vcore=1
        tenant a quota vcore=100
        task t1 a ann vcore=4 x2
        app app1 root.q bob
        questions on at-once 1
        ask a1 app1 vcore=1 prio 5
        ask a2 app1 vcore=1 prio 5
        node n2 vcore=8
        ",
    );
    let task = world.books.allocations().iter().find(|(_, row)| row.key == "t1.1").unwrap().0;
    let wait = world.scheduler.wait_of(&world.books, task).unwrap();
    assert_eq!(wait.code(&world.books, task).as_str(), "AWAITING_RM");
    assert_eq!(world.scheduler.sweep(&world.books, world.now, usize::MAX), []);
}
