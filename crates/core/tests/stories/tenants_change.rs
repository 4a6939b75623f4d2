//! Tenants that come, change and go while others run, by commands and by queue files. Tenants §3, §4, §7.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "TR-04")]
fn tenants_come_change_and_go_while_others_run() {
    check(
        "
        tenants root.tenants
        node n1 vcore=10
        tenant a quota vcore=4
        tenant a quota vcore=4 expects 0
        tenant a quota vcore=5 expects 2
        tenant a quota vcore=5 expects 1
        tenant a quota vcore=5 expects 2
        show tenant a
        app a1 of:a ann
        ask t1 a1 vcore=1
        tenant-gone a
        tenant-gone a drain expects 1
        tenant-gone a drain
        app a2 of:a ann
        tenant a quota vcore=6
        release t1
        wait 30s
        wait 10s
        show tenant a
        tenant a expects 0
        show tenant a
        tenant-gone a
        tenant-gone b
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant a: refused TENANT_EXISTS: tenant a already exists, at version 1. Change this tenant, or use another name.
            tenant a: refused TENANT_VERSION: tenant a is at version 1, but the request expects version 2. Read the tenant again, and retry with its version.
            tenant a: tenant a set, root.tenants.a changed
            tenant a: nothing
              a: version 2, root.tenants.a uses {} of {vcore: 5000 m}
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant-gone a: refused TENANT_HAS_TASKS: tenant a has 1 tasks that have not ended, so the tenant cannot be deleted. Wait until these tasks end, or cancel them.
            tenant-gone a: refused TENANT_VERSION: tenant a is at version 2, but the request expects version 1. Read the tenant again, and retry with its version.
            tenant-gone a: tenant a is going, root.tenants.a Draining
            app a2: rejected TENANT_DRAINING: tenant a is draining and accepts no tasks. Submit for another tenant, or create the tenant again after it is deleted.
            tenant a: refused TENANT_DRAINING: tenant a is draining and will be deleted after its last task ends. Wait until the tenant is deleted, and then create the tenant again.
            release t1: t1 released, a1 Completing
            wait 30s: a1 Completed
            wait 10s: tenant a gone, root.tenants.a gone
              a: no tenant
            tenant a: tenant a set, root.tenants.a made
              a: version 4, root.tenants.a uses {} of none
            tenant-gone a: tenant a gone, root.tenants.a gone
            tenant-gone b: refused UNKNOWN_TENANT: tenant b does not exist in partition default. Check the name, or create the tenant.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-05")]
fn whoever_has_no_quota_has_the_default_and_the_default_can_change() {
    check(
        "
        tenants root.tenants exempt system quota vcore=2
        node n1 vcore=20
        tenant a
        tenant b quota
        tenant system
        app a1 of:a ann
        ask a1 a1 vcore=2
        ask a2 a1 vcore=1
        app b1 of:b bob
        ask b1 b1 vcore=5
        app s1 of:system root
        ask s1 s1 vcore=5
        show tenant a
        show tenant b
        show tenant system
        tenant-defaults quota vcore=3 expects 2
        tenant-defaults quota vcore=3 expects 1
        show tenant a
        tenant-defaults
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            tenant system: tenant system set, root.tenants.system made
            ask a1: a1 Accepted, a1 on n1, a1 Running
            ask a2
              a2 waits TENANT_QUOTA (a vcore 2000+1000 of 2000 short 1000): queue root.tenants.a has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
            ask b1: b1 Accepted, b1 on n1, b1 Running
            ask s1: s1 Accepted, s1 on n1, s1 Running
              a: version 1, root.tenants.a uses {instances: 1, vcore: 2000 m} of {vcore: 2000 m}
              b: version 1, root.tenants.b uses {instances: 1, vcore: 5000 m} of none
              system: version 1, root.tenants.system uses {instances: 1, vcore: 5000 m} of none
            tenant-defaults quota: refused TENANT_VERSION: the tenant defaults are at version 1, but the request expects version 2. Read the defaults again, and retry with their version.
            tenant-defaults quota: defaults of tenants set, root.tenants.a changed, a2 on n1
              a: version 1, root.tenants.a uses {instances: 2, vcore: 3000 m} of {vcore: 3000 m}
            tenant-defaults: defaults of tenants set, root.tenants.a changed
              a: version 1, root.tenants.a uses {instances: 2, vcore: 3000 m} of none
        "#]],
    );
}

#[test]
#[doc(alias = "TR-12")]
#[doc(alias = "TS-18")]
fn a_tenant_can_refuse_to_be_lowered_below_its_use() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower refuse
        app a1 of:a ann
        ask t1 a1 vcore=90
        tenant a quota vcore=60 lower refuse
        show tenant a
        tenant a quota vcore=90 lower refuse
        tenant a quota vcore=60
        # It is above already, and nothing is lowered.
        tenant a quota vcore=60 lower refuse
        tenant a quota vcore=60 lower refuse called A
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant a: refused TENANT_BELOW_USE: tenant a uses 90 vcore, but the new quota would be 60, and the tenant sets `onLower: refuse`. Wait until the tenant uses less, or set `onLower` to `block` or `preempt`.
              a: version 1, root.tenants.a uses {instances: 1, vcore: 90000 m} of {vcore: 100000 m}
            tenant a: tenant a set, root.tenants.a changed
            tenant a: tenant a set, root.tenants.a changed
            tenant a: tenant a set
            tenant a: tenant a set
        "#]],
    );
}

#[test]
fn a_tenant_that_is_suspended_starts_nothing_and_takes_in_all() {
    check(
        "
        tenants root.tenants
        node n1 vcore=10
        tenant d
        tenant a of d
        app a1 of:a ann
        ask t1 a1 vcore=1
        tenant a of d suspended
        ask t2 a1 vcore=1
        app a2 of:a ann
        ask t3 a2 vcore=1
        release t1
        tenant a of d
        tenant d suspended
        ask t4 a2 vcore=1
        tenant d
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant a: tenant a set, root.tenants.d.a changed
            ask t2
              t2 waits TENANT_SUSPENDED (a): tenant a is suspended, so nothing starts in queue root.tenants.d.a or in its child queues. Resume the tenant.
            ask t3: a2 Accepted
              t3 waits TENANT_SUSPENDED (a): tenant a is suspended, so nothing starts in queue root.tenants.d.a or in its child queues. Resume the tenant.
            release t1: t1 released
            tenant a: tenant a set, root.tenants.d.a changed, t2 on n1, t3 on n1, a2 Running
            tenant d: tenant d set, root.tenants.d changed, root.tenants.d.own changed
            ask t4
              t4 waits TENANT_SUSPENDED (d): tenant d is suspended, so nothing starts in queue root.tenants.d or in its child queues. Resume the tenant.
            tenant d: tenant d set, root.tenants.d changed, root.tenants.d.own changed, t4 on n1
        "#]],
    );
}

#[test]
fn a_reload_keeps_tenants_with_what_they_have() {
    check(
        "
        tenants root.tenants quota vcore=5
        queue root.b
        node n1 vcore=10
        tenant d
        tenant a of d quota vcore=3
        app a1 of:a ann
        ask t1 a1 vcore=2
        ask t2 a1 vcore=2
        reload
        tenants root.tenants exempt a quota vcore=4
        queue root.c
        show tenant d
        show tenant a
        reload
        tenants root.others
        reload
        queue root.c
        reload
        partition other
        queue root.c
        reload
        tenants root.tenants
        queue root.tenants.mine
        remove a1
        tenant-gone a
        tenant-gone d
        reload
        queue root.c
        wait 10s
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2
              t2 waits TENANT_QUOTA (a vcore 2000+2000 of 3000 short 1000): queue root.tenants.d.a has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or raise the quota of tenant a.
            reload: defaults of tenants set, root.c made, root.tenants.d changed, root.tenants.d.a changed, root.b Draining, t2 on n1
              d: version 1, root.tenants.d uses {instances: 2, vcore: 4000 m} of {vcore: 4000 m}
              a: version 1, root.tenants.d.a uses {instances: 2, vcore: 4000 m} of none
            reload: refused TENANTS_IN_FORCE: partition default has 2 tenants, but the queue file changes `rootqueue`. Nothing was changed. Delete the tenants, and then apply the file again.
            reload: refused TENANTS_IN_FORCE: partition default has 2 tenants, but the queue file disables tenants. Nothing was changed. Delete the tenants, and then apply the file again.
            reload: refused TENANTS_IN_FORCE: partition default has 2 tenants, but the queue file no longer has the partition. Nothing was changed. Delete the tenants, and then apply the file again.
            reload: refused TENANTS_ROOT: partition default: queue root.tenants cannot contain the queues of tenants: the queue file defines child queues. Remove these child queues from the file. Nothing was changed.
            remove a1: t1 released, t2 released, a1 Completing, a1 gone
            tenant-gone a: tenant a gone, root.tenants.d.own gone, root.tenants.d.a gone, root.tenants.d changed
            tenant-gone d: tenant d gone, root.tenants.d gone
            reload: root.tenants Draining
            wait 10s: root.tenants gone, root.b gone
        "#]],
    );
}

#[test]
fn a_default_that_a_command_changed_stays_until_the_file_says_another() {
    check(
        "
        tenants root.tenants quota vcore=5
        tenant a
        tenant-defaults quota vcore=6
        reload
        tenants root.tenants quota vcore=5
        queue root.b
        show tenant a
        reload
        tenants root.tenants quota vcore=7
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant-defaults quota: defaults of tenants set, root.tenants.a changed
            reload: root.b made
              a: version 1, root.tenants.a uses {} of {vcore: 6000 m}
            reload: defaults of tenants set, root.tenants.a changed, root.b Draining
              a: version 1, root.tenants.a uses {} of {vcore: 7000 m}
        "#]],
    );
}

#[test]
fn tenants_start_only_where_nothing_is_in_their_way() {
    check(
        "
        queue root.tenants.x
        queue root.y
        node n1 vcore=10
        app a1 root.tenants.x ann
        ask t1 a1 vcore=1
        reload
        tenants root.tenants
        queue root.y
        remove a1
        reload
        queue root.y
        wait 10s
        app y1 root.y ann
        ask t2 y1 vcore=1 instances=1
        reload
        tenants root.tenants
        queue root.y
        remove y1
        reload
        tenants root.tenants
        queue root.y
        tenant a
        ",
        expect![[r#"
            ask t1: a1 Accepted, t1 on n1, a1 Running
            reload: refused TENANTS_ROOT: partition default: queue root.tenants cannot contain the queues of tenants: the queue already has child queues. Reload the queue file after these child queues are removed. Nothing was changed.
            remove a1: t1 released, a1 Completing, a1 gone
            reload: root.tenants Draining, root.tenants.x Draining
            wait 10s: root.tenants.x gone, root.tenants gone
            ask t2: y1 Accepted
              t2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 instances, but no node in use has instances. Add a node with instances, or request less.
            reload: refused RESERVED_TYPE: a node, an allocation, or an ask in the partition names instances, which counts the tasks of tenants in partition default automatically. Remove this resource type.
            remove y1: t2 withdrawn, y1 Completing, y1 Completed, y1 gone
            reload: defaults of tenants set, root.tenants made
            tenant a: tenant a set, root.tenants.a made
        "#]],
    );
}

#[test]
fn a_tenant_can_be_a_limit_in_a_queue_that_others_use_too() {
    check(
        "
        tenants root.tenants quota vcore=3
        queue root.b
        limit root.b user cid vcore=4
        node n1 vcore=20
        app b1 root.b ann
        ask t1 b1 vcore=1
        tenant ann user as user ann in root.b quota vcore=4 instances=2
        tenant other user as user ann in root.b
        tenant cid as user cid in root.b
        tenant x as user dan in root.nowhere
        tenant bob as user bob in root.b suspended
        tenant bob as user bob in root.b
        ask t2 b1 vcore=1
        ask t3 b1 vcore=1
        show user ann
        app c1 of:ann cid
        app c2 of:ann ann
        ask t4 c2 vcore=1
        release t1
        tenant-gone ann
        tenant ann as user ann in root.b
        reload
        tenants root.tenants
        queue root.c
        remove b1
        remove c2
        tenant-gone ann
        app d1 root.b ann
        ask t5 d1 vcore=5
        show user ann
        tenant-gone bob
        ask t6 d1 vcore=1
        show user ann
        ",
        expect![[r#"
            ask t1: b1 Accepted, t1 on n1, b1 Running
            tenant ann: tenant ann set, t1 resized, root.b has other limits
            tenant other: refused TENANT_LIMIT_TAKEN: tenant other would limit user ann in queue root.b, but tenant ann already has such a limit. Remove that limit first.
            tenant cid: refused TENANT_LIMIT_TAKEN: tenant cid would limit user cid in queue root.b, but the queue file already has such a limit. Remove that limit first.
            tenant x: refused TENANT_QUEUE: tenant x is a limit in queue root.nowhere, but the queue file of partition default does not define this queue. Specify a queue that the queue file defines and that belongs to no tenant.
            tenant bob: refused TENANT_MODE: tenant bob is a limit in queue root.b, but the tenant is suspended. Give the tenant its own queue, or remove that setting.
            tenant bob: tenant bob set, root.b has other limits
            ask t2: t2 on n1
            ask t3
              t3 waits TENANT_INSTANCES (ann instances 2+1 of 2 short 1): user ann at root.b has 0 of 2 instances available, but the ask needs 1. Wait for a release, or raise the quota of tenant ann.
              ann at root.b: uses {instances: 2, vcore: 2000 m}, left {instances: 0, vcore: 2000 m}, runs 1
              ann at root: uses {instances: 2, vcore: 2000 m}, left none, runs 1
            app c1: rejected TENANT_USER: tenant ann is the limit of ann, but the task is from user cid. Submit as ann, or for another tenant.
            ask t4: c2 Accepted
              t4 waits TENANT_INSTANCES (ann instances 2+1 of 2 short 1): user ann at root.b has 0 of 2 instances available, but the ask needs 1. Wait for a release, or raise the quota of tenant ann.
            release t1: t1 released, t3 on n1
            tenant-gone ann: refused TENANT_HAS_TASKS: tenant ann has 2 tasks that have not ended, so the tenant cannot be deleted. Wait until these tasks end, or cancel them.
            tenant ann: tenant ann set, root.b has other limits, t4 on n1, c2 Running
            reload: refused TENANT_QUEUE: tenant ann is a limit in queue root.b, but the queue file of partition default does not define this queue. Specify a queue that the queue file defines and that belongs to no tenant.
            remove b1: t2 released, t3 released, b1 Completing, b1 gone
            remove c2: t4 released, c2 Completing, c2 gone
            tenant-gone ann: tenant ann gone, root.b has other limits
            ask t5: d1 Accepted, t5 on n1, d1 Running
              ann at root.b: uses {instances: 1, vcore: 5000 m}, left none, runs 1
              ann at root: uses {instances: 1, vcore: 5000 m}, left none, runs 1
            tenant-gone bob: tenant bob gone, t5 resized, root.b has other limits
            ask t6: t6 on n1
              ann at root.b: uses {vcore: 6000 m}, left none, runs 1
              ann at root: uses {vcore: 6000 m}, left none, runs 1
        "#]],
    );
}

#[test]
fn a_tenant_moves_below_another_when_it_has_no_task() {
    check(
        "
        tenants root.tenants
        node n1 vcore=20
        tenant d quota vcore=3
        tenant a
        app a1 of:a ann
        ask t1 a1 vcore=2
        tenant a of d
        tenant a as user ann in root.tenants
        remove a1
        tenant a of d
        app a2 of:a ann
        ask t2 a2 vcore=2
        show tenant d
        show tenant a
        remove a2
        tenant a
        show tenant d
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant a: refused TENANT_HAS_TASKS: tenant a has 1 tasks that have not ended, so the tenant cannot be moved. Wait until these tasks end, or cancel them.
            tenant a: refused TENANT_HAS_TASKS: tenant a has 1 tasks that have not ended, so the tenant cannot change its queue or limit. Wait until these tasks end, or cancel them.
            remove a1: t1 released, a1 Completing, a1 gone
            tenant a: tenant a set, root.tenants.a gone, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            ask t2: a2 Accepted, t2 on n1, a2 Running
              d: version 1, root.tenants.d uses {instances: 1, vcore: 2000 m} of {vcore: 3000 m}
              a: version 2, root.tenants.d.a uses {instances: 1, vcore: 2000 m} of none
            remove a2: t2 released, a2 Completing, a2 gone
            tenant a: tenant a set, root.tenants.d.own gone, root.tenants.d.a gone, root.tenants.a made, root.tenants.d changed
              d: version 1, root.tenants.d uses {} of {vcore: 3000 m}
        "#]],
    );
}
