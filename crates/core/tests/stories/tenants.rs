//! Tenants: quotas, and what follows from them. Tenants §2, §7, §10; cores and GB as there.

use expect_test::expect;

use crate::check;

#[test]
fn tr_01_ts_01_to_04_a_task_above_the_quota_waits_until_a_release_makes_room() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 memory=256G
        tenant a quota vcore=100 memory=200G
        tenant b quota vcore=40 memory=80G
        app a1 of:a ann
        ask t1 a1 vcore=60 memory=120G
        app a2 of:a ann
        ask t2 a2 vcore=20 memory=40G
        app a3 of:a ann
        ask t3 a3 vcore=10 memory=20G
        show tenant a
        app a4 of:a ann
        ask t4 a4 vcore=20 memory=40G
        show tenant a
        app b1 of:b bob
        ask u1 b1 vcore=10 memory=20G
        release t3
        show tenant a
        show tenant b
        show root
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: a2 Accepted, t2 on n1, a2 Running
            ask t3: a3 Accepted, t3 on n1, a3 Running
              a: version 1, root.tenants.a uses {instances: 3, memory: 180000000000 B, vcore: 90000 m} of {memory: 200000000000 B, vcore: 100000 m}
            ask t4: a4 Accepted
              t4 waits QUEUE_MAX (TENANT_QUOTA a memory 180000000000+40000000000 of 200000000000 short 20000000000 vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 20000000000 B memory left of its maximum of 200000000000 B, the ask needs 40000000000 B; wait for a release, or raise the maximum
              a: version 1, root.tenants.a uses {instances: 3, memory: 180000000000 B, vcore: 90000 m} of {memory: 200000000000 B, vcore: 100000 m}
            ask u1: b1 Accepted, u1 on n1, b1 Running
            release t3: t3 released, a3 Completing, t4 on n1, a4 Running
              a: version 1, root.tenants.a uses {instances: 3, memory: 200000000000 B, vcore: 100000 m} of {memory: 200000000000 B, vcore: 100000 m}
              b: version 1, root.tenants.b uses {instances: 1, memory: 20000000000 B, vcore: 10000 m} of {memory: 80000000000 B, vcore: 40000 m}
              root: in force {memory: 256000000000 B, vcore: 128000 m}, uses {instances: 4, memory: 220000000000 B, vcore: 110000 m}, headroom {memory: 36000000000 B, vcore: 18000 m}, share 0.859375, runs 4
        "#]],
    );
}

#[test]
fn tr_01_ts_05_a_resize_that_frees_too_little_leaves_it_waiting() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 memory=256G
        tenant a quota vcore=100 memory=200G
        app a1 of:a ann
        ask t1 a1 vcore=90 memory=180G
        app a2 of:a ann
        ask t2 a2 vcore=20 memory=40G
        ask t1 a1 vcore=85 memory=170G
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: a2 Accepted
              t2 waits QUEUE_MAX (TENANT_QUOTA a memory 180000000000+40000000000 of 200000000000 short 20000000000 vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 20000000000 B memory left of its maximum of 200000000000 B, the ask needs 40000000000 B; wait for a release, or raise the maximum
            ask t1: t1 resized
              t2 waits QUEUE_MAX (TENANT_QUOTA a memory 170000000000+40000000000 of 200000000000 short 10000000000 vcore 85000+20000 of 100000 short 5000): queue root.tenants.a has 30000000000 B memory left of its maximum of 200000000000 B, the ask needs 40000000000 B; wait for a release, or raise the maximum
              a: version 1, root.tenants.a uses {instances: 1, memory: 170000000000 B, vcore: 85000 m} of {memory: 200000000000 B, vcore: 100000 m}
        "#]],
    );
}

#[test]
fn tr_01_ts_06_only_the_types_that_are_short_are_named() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 memory=256G
        tenant a quota vcore=100 memory=200G
        app a1 of:a ann
        ask t1 a1 vcore=50 memory=190G
        app a2 of:a ann
        ask t2 a2 vcore=5 memory=20G
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: a2 Accepted
              t2 waits QUEUE_MAX (TENANT_QUOTA a memory 190000000000+20000000000 of 200000000000 short 10000000000): queue root.tenants.a has 10000000000 B memory left of its maximum of 200000000000 B, the ask needs 20000000000 B; wait for a release, or raise the maximum
        "#]],
    );
}

#[test]
fn tr_02_ts_07_a_quota_of_instances_bounds_how_many_run_at_once() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota instances=3
        app a1 of:a ann
        ask t1 a1 vcore=100m
        ask t2 a1 vcore=100m
        ask t3 a1 vcore=100m
        ask t4 a1 vcore=100m
        show tenant a
        release t1
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: t2 on n1
            ask t3: t3 on n1
            ask t4
              t4 waits QUEUE_MAX (TENANT_INSTANCES a instances 3+1 of 3 short 1): queue root.tenants.a has 0 instances left of its maximum of 3, the ask needs 1; wait for a release, or raise the maximum
              a: version 1, root.tenants.a uses {instances: 3, vcore: 300 m} of {instances: 3}
            release t1: t1 released, t4 on n1
              a: version 1, root.tenants.a uses {instances: 3, vcore: 300 m} of {instances: 3}
        "#]],
    );
}

#[test]
fn tr_02_instances_are_no_room_on_a_node_and_no_ask_names_them() {
    check(
        "
        tenants root.tenants
        queue root.other
        node n1 vcore=2 instances=5
        node n1 vcore=2
        tenant a
        app a1 of:a ann
        ask t1 a1 vcore=1 instances=1
        ask t1 a1 vcore=2
        ask t2 a1 vcore=1
        app o1 root.other ann
        ask o1 o1 vcore=1
        show tenant a
        show root.other
        foreign f1 n1 instances=1
        lose n1
        ",
        expect![[r#"
            node n1: refused RESERVED_TYPE: the node names instances, which counts the tasks of tenants in partition default by itself; leave it out
            tenant a: tenant a set, root.tenants.a made
            ask t1: refused RESERVED_TYPE: the ask names instances, which counts the tasks of tenants in partition default by itself; leave it out
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2
              t2 waits ROOT_CAPACITY: the cluster has 0 m vcore left of its maximum of 2000 m, the ask needs 1000 m; wait for a release, or add nodes
            ask o1: o1 Accepted
              o1 waits ROOT_CAPACITY: the cluster has 0 m vcore left of its maximum of 2000 m, the ask needs 1000 m; wait for a release, or add nodes
              a: version 1, root.tenants.a uses {instances: 1, vcore: 2000 m} of none
              root.other: in force {vcore: 2000 m}, uses {}, headroom {vcore: 0 m}, share 0, runs 0
            foreign f1: refused RESERVED_TYPE: what runs on the node names instances, which counts the tasks of tenants in partition default by itself; leave it out
            lose n1: t1 lost
              t2 waits for nodes: the cluster has none
              o1 waits for nodes: the cluster has none
        "#]],
    );
}

#[test]
fn tr_01_ts_08_an_exhausted_type_holds_nobody_back_who_does_not_ask_for_it() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 nvidia.com/gpu=16
        tenant a quota nvidia.com/gpu=8
        app a1 of:a ann
        ask t1 a1 vcore=8 nvidia.com/gpu=8
        app a2 of:a ann
        ask t2 a2 vcore=1 nvidia.com/gpu=1
        app a3 of:a ann
        ask t3 a3 vcore=4
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: a2 Accepted
              t2 waits QUEUE_MAX (TENANT_QUOTA a nvidia.com/gpu 8+1 of 8 short 1): queue root.tenants.a has 0 nvidia.com/gpu left of its maximum of 8, the ask needs 1; wait for a release, or raise the maximum
            ask t3: a3 Accepted, t3 on n1, a3 Running
        "#]],
    );
}

#[test]
fn tr_12_ts_09_after_lowering_only_what_is_exceeded_waits() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 nvidia.com/gpu=16
        tenant a quota nvidia.com/gpu=8
        app a1 of:a ann
        ask t1 a1 vcore=1 nvidia.com/gpu=4
        ask t2 a1 vcore=1 nvidia.com/gpu=1
        ask t3 a1 vcore=1 nvidia.com/gpu=3
        tenant a quota nvidia.com/gpu=4
        app a2 of:a ann
        ask t4 a2 vcore=4
        app a3 of:a ann
        ask t5 a3 vcore=1 nvidia.com/gpu=1
        release t1
        release t2
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: t2 on n1
            ask t3: t3 on n1
            tenant a: tenant a set, root.tenants.a changed
            ask t4: a2 Accepted, t4 on n1, a2 Running
            ask t5: a3 Accepted
              t5 waits QUEUE_MAX (OVER_QUOTA_AFTER_LOWERING a nvidia.com/gpu 8+1 of 4 short 5): queue root.tenants.a has -4 nvidia.com/gpu left of its maximum of 4, the ask needs 1; wait for a release, or raise the maximum
            release t1: t1 released
              t5 waits QUEUE_MAX (TENANT_QUOTA a nvidia.com/gpu 4+1 of 4 short 1): queue root.tenants.a has 0 nvidia.com/gpu left of its maximum of 4, the ask needs 1; wait for a release, or raise the maximum
            release t2: t2 released, t5 on n1, a3 Running
              a: version 2, root.tenants.a uses {instances: 3, nvidia.com/gpu: 4, vcore: 6000 m} of {nvidia.com/gpu: 4}
        "#]],
    );
}

#[test]
fn tr_03_a_tenant_is_a_user_a_project_or_a_department() {
    check(
        "
        tenants root.tenants
        node n1 vcore=4
        tenant d1 department called D1 quota vcore=3
        tenant p1 of d1 quota vcore=2
        tenant ann user of p1 quota vcore=1
        app a1 of:ann ann
        ask t1 a1 vcore=1
        ask t2 a1 vcore=1
        show tenant ann
        show tenant p1
        show tenant d1
        ",
        expect![[r#"
            tenant d1: tenant d1 set, root.tenants.d1 made
            tenant p1: tenant p1 set, root.tenants.d1 changed, root.tenants.d1.own made, root.tenants.d1.p1 made
            tenant ann: tenant ann set, root.tenants.d1.p1 changed, root.tenants.d1.p1.own made, root.tenants.d1.p1.ann made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2
              t2 waits QUEUE_MAX (TENANT_QUOTA ann vcore 1000+1000 of 1000 short 1000): queue root.tenants.d1.p1.ann has 0 m vcore left of its maximum of 1000 m, the ask needs 1000 m; wait for a release, or raise the maximum
              ann: version 1, root.tenants.d1.p1.ann uses {instances: 1, vcore: 1000 m} of {vcore: 1000 m}
              p1: version 1, root.tenants.d1.p1 uses {instances: 1, vcore: 1000 m} of {vcore: 2000 m}
              d1: version 1, root.tenants.d1 uses {instances: 1, vcore: 1000 m} of {vcore: 3000 m}
        "#]],
    );
}

#[test]
fn tr_04_ts_19_a_quota_that_is_raised_starts_what_waits_for_it() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100
        app a1 of:a ann
        ask t1 a1 vcore=90
        app a2 of:a ann
        ask t2 a2 vcore=20
        tenant a quota vcore=120
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: a2 Accepted
              t2 waits QUEUE_MAX (TENANT_QUOTA a vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 10000 m vcore left of its maximum of 100000 m, the ask needs 20000 m; wait for a release, or raise the maximum
            tenant a: tenant a set, root.tenants.a changed, t2 on n1, a2 Running
              a: version 2, root.tenants.a uses {instances: 2, vcore: 110000 m} of {vcore: 120000 m}
        "#]],
    );
}

#[test]
fn tr_04_tenants_come_change_and_go_while_others_run() {
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
            tenant a: refused TENANT_EXISTS: tenant a exists already, in version 1; change it, or use another name
            tenant a: refused TENANT_VERSION: tenant a is in version 1 and was to be in version 2; read it again and decide anew
            tenant a: tenant a set, root.tenants.a changed
            tenant a: nothing
              a: version 2, root.tenants.a uses {} of {vcore: 5000 m}
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant-gone a: refused TENANT_HAS_TASKS: tenant a has 1 tasks that have not ended, so it cannot be removed; wait until they have, or cancel them
            tenant-gone a: refused TENANT_VERSION: tenant a is in version 2 and was to be in version 1; read it again and decide anew
            tenant-gone a: tenant a is going, root.tenants.a Draining
            app a2: rejected TENANT_DRAINING: tenant a is going and takes in no task; submit for another, or make it anew when it is gone
            tenant a: refused TENANT_DRAINING: tenant a is going, with the last of its tasks; make it anew when it is gone
            release t1: t1 released, a1 Completing
            wait 30s: a1 Completed
            wait 10s: tenant a gone, root.tenants.a gone
              a: no tenant
            tenant a: tenant a set, root.tenants.a made
              a: version 4, root.tenants.a uses {} of none
            tenant-gone a: tenant a gone, root.tenants.a gone
            tenant-gone b: refused UNKNOWN_TENANT: tenant b does not exist in partition default
        "#]],
    );
}

#[test]
fn tr_05_whoever_has_no_quota_has_the_default_and_the_default_can_change() {
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
              a2 waits QUEUE_MAX (TENANT_QUOTA a vcore 2000+1000 of 2000 short 1000): queue root.tenants.a has 0 m vcore left of its maximum of 2000 m, the ask needs 1000 m; wait for a release, or raise the maximum
            ask b1: b1 Accepted, b1 on n1, b1 Running
            ask s1: s1 Accepted, s1 on n1, s1 Running
              a: version 1, root.tenants.a uses {instances: 1, vcore: 2000 m} of {vcore: 2000 m}
              b: version 1, root.tenants.b uses {instances: 1, vcore: 5000 m} of none
              system: version 1, root.tenants.system uses {instances: 1, vcore: 5000 m} of none
            tenant-defaults quota: refused TENANT_VERSION: the defaults of tenants are in version 1 and were to be in version 2; read them again and decide anew
            tenant-defaults quota: defaults of tenants set, root.tenants.a changed, a2 on n1
              a: version 1, root.tenants.a uses {instances: 2, vcore: 3000 m} of {vcore: 3000 m}
            tenant-defaults: defaults of tenants set, root.tenants.a changed
              a: version 1, root.tenants.a uses {instances: 2, vcore: 3000 m} of none
        "#]],
    );
}

#[test]
fn tr_06_ts_21_a_start_fits_every_tenant_above() {
    check(
        "
        tenants root.tenants
        node n1 vcore=200
        tenant dept-1 department quota vcore=120
        tenant a of dept-1 quota vcore=100
        tenant b of dept-1 quota vcore=40
        app a1 of:a ann
        ask t1 a1 vcore=90
        app b1 of:b bob
        ask t2 b1 vcore=40
        ask t2 b1 vcore=30
        show tenant dept-1
        ",
        expect![[r#"
            tenant dept-1: tenant dept-1 set, root.tenants.dept-1 made
            tenant a: tenant a set, root.tenants.dept-1 changed, root.tenants.dept-1.own made, root.tenants.dept-1.a made
            tenant b: tenant b set, root.tenants.dept-1.b made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: b1 Accepted
              t2 waits QUEUE_MAX (ANCESTOR_QUOTA dept-1 vcore 90000+40000 of 120000 short 10000): queue root.tenants.dept-1 has 30000 m vcore left of its maximum of 120000 m, the ask needs 40000 m; wait for a release, or raise the maximum
            ask t2: t2 resized, t2 on n1, b1 Running
              dept-1: version 1, root.tenants.dept-1 uses {instances: 2, vcore: 120000 m} of {vcore: 120000 m}
        "#]],
    );
}

#[test]
fn tr_06_quotas_below_a_strict_one_sum_up_to_no_more() {
    check(
        "
        tenants root.tenants
        tenant d quota vcore=10 memory=10G strict-sum
        tenant a of d quota vcore=6 memory=5G
        tenant b of d quota vcore=5 memory=5G
        tenant b of d quota vcore=4
        tenant b of d quota vcore=4 memory=5G
        tenant d quota vcore=9 memory=10G strict-sum
        tenant d quota vcore=9 memory=10G
        tenant a of d quota vcore=60 memory=5G
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            tenant b: refused TENANT_SUM: the quotas of the tenants right below d would sum up to 11000 m vcore, its own is 10000 m, and it says `strictSum`; lower one, or raise that of d
            tenant b: refused TENANT_SUM: tenant b has no quota of memory; tenant d above it has one of 10000000000 B and says `strictSum`, so b needs one too
            tenant b: tenant b set, root.tenants.d.b made
            tenant d: refused TENANT_SUM: the quotas of the tenants right below d would sum up to 10000 m vcore, its own is 9000 m, and it says `strictSum`; lower one, or raise that of d
            tenant d: tenant d set, root.tenants.d changed
            tenant a: tenant a set, root.tenants.d.a changed
        "#]],
    );
}

#[test]
fn tr_06_tasks_of_a_tenant_with_others_below_it_count_beside_theirs() {
    check(
        "
        tenants root.tenants
        node n1 vcore=20
        tenant d quota vcore=5
        app d0 of:d dan
        ask d0 d0 vcore=1
        tenant a of d
        release d0
        wait 30s
        tenant a of d
        app d1 of:d dan
        ask d1 d1 vcore=2
        app a1 of:a ann
        ask a1 a1 vcore=2
        ask a2 a1 vcore=2
        show tenant d
        show root.tenants.d.own
        tenant-gone d
        remove a1
        tenant-gone a
        show root.tenants.d.own
        remove d1
        tenant d quota vcore=6
        show tenant d
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            ask d0: d0 Accepted, d0 on n1, d0 Running
            tenant a: refused TENANT_HAS_TASKS: tenant d has 1 tasks that have not ended, so it cannot have tenants below it; wait until they have, or cancel them
            release d0: d0 released, d0 Completing
            wait 30s: d0 Completed
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            ask d1: d1 Accepted, d1 on n1, d1 Running
            ask a1: a1 Accepted, a1 on n1, a1 Running
            ask a2
              a2 waits QUEUE_MAX (ANCESTOR_QUOTA d vcore 4000+2000 of 5000 short 1000): queue root.tenants.d has 1000 m vcore left of its maximum of 5000 m, the ask needs 2000 m; wait for a release, or raise the maximum
              d: version 1, root.tenants.d uses {instances: 2, vcore: 4000 m} of {vcore: 5000 m}
              root.tenants.d.own: in force {vcore: 5000 m}, uses {instances: 1, vcore: 2000 m}, headroom {vcore: 1000 m}, share 0.4, runs 1
            tenant-gone d: refused TENANT_HAS_TENANTS: tenant d has 1 tenants below it, so it cannot be removed; move or remove them first
            remove a1: a1 released, a2 withdrawn, a1 Completing, a1 gone
            tenant-gone a: tenant a gone, root.tenants.d.a gone
              root.tenants.d.own: in force {vcore: 5000 m}, uses {instances: 1, vcore: 2000 m}, headroom {vcore: 3000 m}, share 0.4, runs 1
            remove d1: d1 released, d1 Completing, d1 gone
            tenant d: tenant d set, root.tenants.d.own gone, root.tenants.d changed
              d: version 2, root.tenants.d uses {} of {vcore: 6000 m}
        "#]],
    );
}

#[test]
fn tr_07_what_is_said_of_a_tenant_is_checked() {
    check(
        "
        tenants root.tenants
        node n1 vcore=20
        tenant A
        tenant own
        tenant a.b
        tenant @recovery@
        tenant a quota vcore=-1
        tenant a guaranteed vcore=-1
        tenant a quota vcore=2 guaranteed vcore=3
        tenant a of b
        tenant a of a
        tenant a
        tenant b of a
        tenant c of b
        tenant a of c
        tenant d of c
        tenant e of d
        tenant f of e
        tenant g of f
        tenant h of g
        tenant i of h
        tenant x
        tenant a of x
        tenant-gone a
        tenant-defaults quota vcore=-2
        ",
        expect![[r#"
            tenant A: refused TENANT_NAME: "A" is no name that a tenant can have; a name is 1 to 64 of a-z 0-9 _ : # / @ - and neither own nor @recovery@
            tenant own: refused TENANT_NAME: "own" is no name that a tenant can have; a name is 1 to 64 of a-z 0-9 _ : # / @ - and neither own nor @recovery@
            tenant a.b: refused TENANT_NAME: "a.b" is no name that a tenant can have; a name is 1 to 64 of a-z 0-9 _ : # / @ - and neither own nor @recovery@
            tenant @recovery@: refused TENANT_NAME: "@recovery@" is no name that a tenant can have; a name is 1 to 64 of a-z 0-9 _ : # / @ - and neither own nor @recovery@
            tenant a: refused TENANT_AMOUNT: the quota of a is -1 m vcore; no amount may be below zero
            tenant a: refused TENANT_AMOUNT: the guarantee of a is -1 m vcore; no amount may be below zero
            tenant a: refused TENANT_GUARANTEE: tenant a is to be guaranteed 3000 m vcore, and its quota is 2000 m; guarantee no more than the quota
            tenant a: refused TENANT_PARENT: tenant a names b as the tenant above it, which does not exist; make that first
            tenant a: refused TENANT_PARENT: tenant a names a as the tenant above it, which does not exist; make that first
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.a changed, root.tenants.a.own made, root.tenants.a.b made
            tenant c: tenant c set, root.tenants.a.b changed, root.tenants.a.b.own made, root.tenants.a.b.c made
            tenant a: refused TENANT_CYCLE: tenant a names c as the tenant above it, which is a itself or below it
            tenant d: tenant d set, root.tenants.a.b.c changed, root.tenants.a.b.c.own made, root.tenants.a.b.c.d made
            tenant e: tenant e set, root.tenants.a.b.c.d changed, root.tenants.a.b.c.d.own made, root.tenants.a.b.c.d.e made
            tenant f: tenant f set, root.tenants.a.b.c.d.e changed, root.tenants.a.b.c.d.e.own made, root.tenants.a.b.c.d.e.f made
            tenant g: tenant g set, root.tenants.a.b.c.d.e.f changed, root.tenants.a.b.c.d.e.f.own made, root.tenants.a.b.c.d.e.f.g made
            tenant h: tenant h set, root.tenants.a.b.c.d.e.f.g changed, root.tenants.a.b.c.d.e.f.g.own made, root.tenants.a.b.c.d.e.f.g.h made
            tenant i: refused TENANT_DEPTH: tenant i would make 9 levels of tenants, and no more than 8 can be
            tenant x: tenant x set, root.tenants.x made
            tenant a: refused TENANT_DEPTH: tenant a would make 9 levels of tenants, and no more than 8 can be
            tenant-gone a: refused TENANT_HAS_TENANTS: tenant a has 1 tenants below it, so it cannot be removed; move or remove them first
            tenant-defaults quota: refused TENANT_AMOUNT: the quota of the defaults is -2 m vcore; no amount may be below zero
        "#]],
    );
}

#[test]
fn tr_07_a_guarantee_is_held_against_the_default_quota_too() {
    check(
        "
        tenants root.tenants quota vcore=5
        tenant a guaranteed vcore=4
        tenant-defaults quota vcore=3
        tenant-defaults quota vcore=4
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant-defaults quota: refused TENANT_GUARANTEE: tenant a is to be guaranteed 4000 m vcore, and its quota is 3000 m; guarantee no more than the quota
            tenant-defaults quota: defaults of tenants set, root.tenants.a changed
        "#]],
    );
}

#[test]
fn tr_07_a_quota_of_zero_forbids_and_one_that_is_not_named_does_not_bound() {
    check(
        "
        tenants root.tenants
        node n1 vcore=20 gpu=4
        tenant a quota gpu=0 park
        app a1 of:a ann
        ask t1 a1 vcore=5
        ask t2 a1 gpu=1
        tenant b quota instances=0 park
        app b1 of:b bob
        ask t3 b1 vcore=1
        tenant b quota instances=1
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2
              t2 waits QUEUE_MAX (TENANT_QUOTA a gpu 0+1 of 0 short 1): queue root.tenants.a has 0 gpu left of its maximum of 0, the ask needs 1; wait for a release, or raise the maximum
            tenant b: tenant b set, root.tenants.b made
            ask t3: b1 Accepted
              t3 waits QUEUE_MAX (TENANT_INSTANCES b instances 0+1 of 0 short 1): queue root.tenants.b has 0 instances left of its maximum of 0, the ask needs 1; wait for a release, or raise the maximum
            tenant b: tenant b set, root.tenants.b changed, t3 on n1, b1 Running
        "#]],
    );
}

#[test]
fn tr_14_ts_20_what_exceeds_the_quota_by_itself_is_refused_or_parked() {
    check(
        "
        tenants root.tenants
        node n1 vcore=200
        tenant d quota vcore=150
        tenant a of d quota vcore=100
        app a1 of:a ann
        ask t1 a1 vcore=120
        ask t1 a1 vcore=90
        tenant a of d quota vcore=200
        ask t2 a1 vcore=160
        tenant a of d quota vcore=100 park
        ask t2 a1 vcore=120
        ask t3 a1 vcore=10
        app g1 of:a ann gang vcore=125
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            ask t1: refused EXCEEDS_QUOTA_ALWAYS: ask t1 needs 120000 m vcore, and tenant a may have 100000 m in all; ask for less in more pieces, raise the quota, or have the tenant park what is too large (`oversized: park`)
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant a: tenant a set, root.tenants.d.a changed
            ask t2: refused EXCEEDS_QUOTA_ALWAYS: ask t2 needs 160000 m vcore, and tenant d may have 150000 m in all; ask for less in more pieces, raise the quota, or have the tenant park what is too large (`oversized: park`)
            tenant a: tenant a set, root.tenants.d.a changed
            ask t2
              t2 waits QUEUE_MAX (TENANT_QUOTA a vcore 90000+120000 of 100000 short 110000): queue root.tenants.d.a has 10000 m vcore left of its maximum of 100000 m, the ask needs 120000 m; wait for a release, or raise the maximum
            ask t3: t3 on n1
              t2 waits QUEUE_MAX (TENANT_QUOTA a vcore 100000+120000 of 100000 short 120000): queue root.tenants.d.a has 0 m vcore left of its maximum of 100000 m, the ask needs 120000 m; wait for a release, or raise the maximum
            app g1: rejected GANG_SIZE: the gang of 125000 m vcore can never run in queue root.tenants.d.a, whose configured maximum is 100000 m; make the gang smaller, or raise the maximum
        "#]],
    );
}

#[test]
fn tr_12_ts_16_after_lowering_starts_go_on_when_enough_has_ended() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100
        app a1 of:a ann
        ask t1 a1 vcore=59
        ask t2 a1 vcore=1
        ask t3 a1 vcore=30
        tenant a quota vcore=60
        app a2 of:a ann
        ask t4 a2 vcore=1
        release t3
        release t2
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: t2 on n1
            ask t3: t3 on n1
            tenant a: tenant a set, root.tenants.a changed
            ask t4: a2 Accepted
              t4 waits QUEUE_MAX (OVER_QUOTA_AFTER_LOWERING a vcore 90000+1000 of 60000 short 31000): queue root.tenants.a has -30000 m vcore left of its maximum of 60000 m, the ask needs 1000 m; wait for a release, or raise the maximum
            release t3: t3 released
              t4 waits QUEUE_MAX (TENANT_QUOTA a vcore 60000+1000 of 60000 short 1000): queue root.tenants.a has 0 m vcore left of its maximum of 60000 m, the ask needs 1000 m; wait for a release, or raise the maximum
            release t2: t2 released, t4 on n1, a2 Running
              a: version 2, root.tenants.a uses {instances: 2, vcore: 60000 m} of {vcore: 60000 m}
        "#]],
    );
}

#[test]
fn tr_12_ts_18_a_tenant_can_refuse_to_be_lowered_below_its_use() {
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
            tenant a: refused TENANT_BELOW_USE: tenant a uses 90000 m vcore, its quota was to be 60000 m, and it says `onLower: refuse`; wait until it uses less, or choose `block` or `preempt`
              a: version 1, root.tenants.a uses {instances: 1, vcore: 90000 m} of {vcore: 100000 m}
            tenant a: tenant a set, root.tenants.a changed
            tenant a: tenant a set, root.tenants.a changed
            tenant a: tenant a set
            tenant a: tenant a set
        "#]],
    );
}

#[test]
fn ts_17_a_tenant_can_have_room_asked_back_when_it_is_lowered() {
    check(
        "
        preemption quota
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 60s
        app a1 of:a ann
        ask t1 a1 vcore=30 prio 5 preemptable
        ask t2 a1 vcore=20 preemptable
        ask t3 a1 vcore=20 preemptable
        ask t4 a1 vcore=20 prio 3 preemptable
        tenant a quota vcore=60 lower preempt 60s
        scan-quotas
        wait 60s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: t2 on n1
            ask t3: t3 on n1
            ask t4: t4 on n1
            tenant a: tenant a set, root.tenants.a changed
            scan-quotas: nothing
            wait 60s: nothing
            scan-quotas: t3 to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
        "#]],
    );
}

#[test]
fn tr_18_who_is_within_the_quota_and_finds_no_node_waits_for_that() {
    check(
        "
        tenants root.tenants
        node n1 vcore=10
        tenant a quota vcore=100
        app a1 of:a ann
        ask t1 a1 vcore=20
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted
              t1 waits ROOT_CAPACITY: the cluster has 10000 m vcore left of its maximum of 10000 m, the ask needs 20000 m; wait for a release, or add nodes
              a: version 1, root.tenants.a uses {} of {vcore: 100000 m}
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
              t2 waits TENANT_SUSPENDED (TENANT_SUSPENDED a): tenant a is suspended, so nothing starts in queue root.tenants.d.a and below; resume it
            ask t3: a2 Accepted
              t3 waits TENANT_SUSPENDED (TENANT_SUSPENDED a): tenant a is suspended, so nothing starts in queue root.tenants.d.a and below; resume it
            release t1: t1 released
            tenant a: tenant a set, root.tenants.d.a changed, t2 on n1, t3 on n1, a2 Running
            tenant d: tenant d set, root.tenants.d changed, root.tenants.d.own changed
            ask t4
              t4 waits TENANT_SUSPENDED (TENANT_SUSPENDED d): tenant d is suspended, so nothing starts in queue root.tenants.d and below; resume it
            tenant d: tenant d set, root.tenants.d changed, root.tenants.d.own changed, t4 on n1
        "#]],
    );
}

#[test]
fn nobody_submits_to_queues_of_tenants_but_for_a_tenant() {
    check(
        "
        tenants root.tenants
        queue root.b
        rule provided create
        node n1 vcore=10
        tenant a waiting 1
        app a1 root.tenants.a ann
        app a1 root.tenants.new ann
        app a1 root.tenants.a.deeper ann
        app a1 of:b ann
        app a1 of:a ann
        ask t1 a1 vcore=20
        app a2 of:a ann
        tenant a waiting 2
        app a2 of:a ann
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            app a1: rejected TENANT_QUEUE_CLOSED: queue root.tenants.a belongs to tenants, whose tasks are submitted for them; submit for a tenant, or to another queue
            app a1: rejected TENANT_QUEUE_CLOSED: queue root.tenants.new belongs to tenants, whose tasks are submitted for them; submit for a tenant, or to another queue
            app a1: rejected TENANT_QUEUE_CLOSED: queue root.tenants.a.deeper belongs to tenants, whose tasks are submitted for them; submit for a tenant, or to another queue
            app a1: rejected UNKNOWN_TENANT: tenant b does not exist in partition default; make it first
            ask t1: a1 Accepted
              t1 waits ROOT_CAPACITY: the cluster has 10000 m vcore left of its maximum of 10000 m, the ask needs 20000 m; wait for a release, or add nodes
            app a2: rejected WAITING_LIST_FULL: tenant a has 1 tasks that wait and may have 1 (maxWaiting); wait for one to start, or raise the number
            tenant a: tenant a set
        "#]],
    );
}

#[test]
fn where_a_partition_has_no_tenants_none_is_made() {
    check(
        "
        queue root.a
        node n1 vcore=10 instances=4
        tenant a
        tenant-gone a
        tenant-defaults
        app a1 of:a ann
        app a2 root.a ann
        ask t1 a2 vcore=1 instances=2
        show root.a
        ",
        expect![[r#"
            tenant a: refused TENANTS_OFF: partition default has no tenants; switch them on in its queue file with `tenants: {enabled: true}`
            tenant-gone a: refused TENANTS_OFF: partition default has no tenants; switch them on in its queue file with `tenants: {enabled: true}`
            tenant-defaults: refused TENANTS_OFF: partition default has no tenants; switch them on in its queue file with `tenants: {enabled: true}`
            app a1: rejected UNKNOWN_TENANT: tenant a does not exist in partition default; make it first
            ask t1: a2 Accepted, t1 on n1, a2 Running
              root.a: in force {instances: 4, vcore: 10000 m}, uses {instances: 2, vcore: 1000 m}, headroom {instances: 2, vcore: 9000 m}, share 0.5, runs 1
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
              t2 waits QUEUE_MAX (TENANT_QUOTA a vcore 2000+2000 of 3000 short 1000): queue root.tenants.d.a has 1000 m vcore left of its maximum of 3000 m, the ask needs 2000 m; wait for a release, or raise the maximum
            reload: defaults of tenants set, root.c made, root.tenants.d changed, root.tenants.d.a changed, root.b Draining, t2 on n1
              d: version 1, root.tenants.d uses {instances: 2, vcore: 4000 m} of {vcore: 4000 m}
              a: version 1, root.tenants.d.a uses {instances: 2, vcore: 4000 m} of none
            reload: refused TENANTS_IN_FORCE: partition default has 2 tenants, and the file gives them another `rootqueue`; remove the tenants first. The file changes nothing
            reload: refused TENANTS_IN_FORCE: partition default has 2 tenants, and the file switches tenants off; remove the tenants first. The file changes nothing
            reload: refused TENANTS_IN_FORCE: partition default has 2 tenants, and the file does not name the partition any more; remove the tenants first. The file changes nothing
            reload: refused TENANTS_ROOT: partition default: queue root.tenants is to hold the queues of tenants, and the file has queues below it; those of tenants are not written there. The file changes nothing
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
            reload: refused TENANTS_ROOT: partition default: queue root.tenants is to hold the queues of tenants, and there are queues below it; reload when they are gone. The file changes nothing
            remove a1: t1 released, a1 Completing, a1 gone
            reload: root.tenants Draining, root.tenants.x Draining
            wait 10s: root.tenants.x gone, root.tenants gone
            ask t2: y1 Accepted
              t2 waits NO_NODE_FITS: no node fits: the ask needs 1 instances, the most that any node in use has free is 0; wait for a release, or add nodes
            reload: refused RESERVED_TYPE: something in the partition names instances, which counts the tasks of tenants in partition default by itself; leave it out
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
        tenant y as user dan in root.tenants.ann
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
            tenant other: refused TENANT_LIMIT_TAKEN: tenant other is to be the limit of user ann in queue root.b, who has one there already by tenant ann; remove that first
            tenant cid: refused TENANT_LIMIT_TAKEN: tenant cid is to be the limit of user cid in queue root.b, who has one there already by the queue file; remove that first
            tenant x: refused TENANT_QUEUE: tenant x is to be a limit in queue root.nowhere, which is not in the queue file of partition default; name one that is, and belongs to no tenant
            tenant y: refused TENANT_QUEUE: tenant y is to be a limit in queue root.tenants.ann, which is not in the queue file of partition default; name one that is, and belongs to no tenant
            tenant bob: refused TENANT_MODE: tenant bob is to be a limit in queue root.b, and is to be suspended; give it a queue of its own, or leave that out
            tenant bob: tenant bob set, root.b has other limits
            ask t2: t2 on n1
            ask t3
              t3 waits ABS_USER_LIMIT (TENANT_INSTANCES ann instances 2+1 of 2 short 1): user ann at root.b has 0 instances left of its limit of 2, the ask needs 1; wait for a release, or raise the limit
              ann at root.b: uses {instances: 2, vcore: 2000 m}, left {instances: 0, vcore: 2000 m}, runs 1
              ann at root: uses {instances: 2, vcore: 2000 m}, left none, runs 1
            app c1: rejected TENANT_USER: tenant ann is the limit of ann, and cid is somebody else; submit as ann, or for another tenant
            ask t4: c2 Accepted
              t4 waits ABS_USER_LIMIT (TENANT_INSTANCES ann instances 2+1 of 2 short 1): user ann at root.b has 0 instances left of its limit of 2, the ask needs 1; wait for a release, or raise the limit
            release t1: t1 released, t3 on n1
            tenant-gone ann: refused TENANT_HAS_TASKS: tenant ann has 2 tasks that have not ended, so it cannot be removed; wait until they have, or cancel them
            tenant ann: tenant ann set, root.b has other limits, t4 on n1, c2 Running
            reload: refused TENANT_QUEUE: tenant ann is to be a limit in queue root.b, which is not in the queue file of partition default; name one that is, and belongs to no tenant
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
            tenant a: refused TENANT_HAS_TASKS: tenant a has 1 tasks that have not ended, so it cannot be moved; wait until they have, or cancel them
            tenant a: refused TENANT_HAS_TASKS: tenant a has 1 tasks that have not ended, so it cannot be given another queue or limit; wait until they have, or cancel them
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
