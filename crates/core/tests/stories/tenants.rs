//! Tenants: what their tasks may use, and why they wait. Tenants §2, §10; cores and GB as there.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "TR-01")]
#[doc(alias = "TS-01")]
#[doc(alias = "TS-02")]
#[doc(alias = "TS-03")]
#[doc(alias = "TS-04")]
fn a_task_above_the_quota_waits_until_a_release_makes_room() {
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
              t4 waits TENANT_QUOTA (a memory 180000000000+40000000000 of 200000000000 short 20000000000 vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 18.62Gi of 186.26Gi memory available, but the ask needs 37.25Gi. Wait for a release, or raise the quota of tenant a.
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
#[doc(alias = "TR-01")]
#[doc(alias = "TS-05")]
fn a_resize_that_frees_too_little_leaves_it_waiting() {
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
              t2 waits TENANT_QUOTA (a memory 180000000000+40000000000 of 200000000000 short 20000000000 vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 18.62Gi of 186.26Gi memory available, but the ask needs 37.25Gi. Wait for a release, or raise the quota of tenant a.
            ask t1: t1 resized
              t2 waits TENANT_QUOTA (a memory 170000000000+40000000000 of 200000000000 short 10000000000 vcore 85000+20000 of 100000 short 5000): queue root.tenants.a has 27.93Gi of 186.26Gi memory available, but the ask needs 37.25Gi. Wait for a release, or raise the quota of tenant a.
              a: version 1, root.tenants.a uses {instances: 1, memory: 170000000000 B, vcore: 85000 m} of {memory: 200000000000 B, vcore: 100000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-01")]
#[doc(alias = "TS-06")]
fn only_the_types_that_are_short_are_named() {
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
              t2 waits TENANT_QUOTA (a memory 190000000000+20000000000 of 200000000000 short 10000000000): queue root.tenants.a has 9.31Gi of 186.26Gi memory available, but the ask needs 18.62Gi. Wait for a release, or raise the quota of tenant a.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-02")]
#[doc(alias = "TS-07")]
fn a_quota_of_instances_bounds_how_many_run_at_once() {
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
              t4 waits TENANT_INSTANCES (a instances 3+1 of 3 short 1): queue root.tenants.a has 0 of 3 instances available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
              a: version 1, root.tenants.a uses {instances: 3, vcore: 300 m} of {instances: 3}
            release t1: t1 released, t4 on n1
              a: version 1, root.tenants.a uses {instances: 3, vcore: 300 m} of {instances: 3}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-02")]
fn instances_are_no_room_on_a_node_and_no_ask_names_them() {
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
            node n1: refused RESERVED_TYPE: the node names instances, which counts the tasks of tenants in partition default automatically. Remove this resource type.
            tenant a: tenant a set, root.tenants.a made
            ask t1: refused RESERVED_TYPE: the ask names instances, which counts the tasks of tenants in partition default automatically. Remove this resource type.
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2
              t2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask o1: o1 Accepted
              o1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              a: version 1, root.tenants.a uses {instances: 1, vcore: 2000 m} of none
              root.other: in force {vcore: 2000 m}, uses {}, headroom {vcore: 0 m}, share 0, runs 0
            foreign f1: refused RESERVED_TYPE: the foreign allocation names instances, which counts the tasks of tenants in partition default automatically. Remove this resource type.
            lose n1: t1 lost
              t2 waits NO_NODES: no node has registered in partition default. Register a node.
              o1 waits NO_NODES: no node has registered in partition default. Register a node.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-01")]
#[doc(alias = "TS-08")]
fn an_exhausted_type_holds_nobody_back_who_does_not_ask_for_it() {
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
              t2 waits TENANT_QUOTA (a nvidia.com/gpu 8+1 of 8 short 1): queue root.tenants.a has 0 of 8 nvidia.com/gpu available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
            ask t3: a3 Accepted, t3 on n1, a3 Running
        "#]],
    );
}

#[test]
#[doc(alias = "TR-12")]
#[doc(alias = "TS-09")]
fn after_lowering_only_what_is_exceeded_waits() {
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
              t5 waits OVER_QUOTA_AFTER_LOWERING (a nvidia.com/gpu 8+1 of 4 short 5): queue root.tenants.a uses 8 nvidia.com/gpu, which is above its quota of 4, and the ask needs 1. Wait for releases, or raise the quota of tenant a.
            release t1: t1 released
              t5 waits TENANT_QUOTA (a nvidia.com/gpu 4+1 of 4 short 1): queue root.tenants.a has 0 of 4 nvidia.com/gpu available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
            release t2: t2 released, t5 on n1, a3 Running
              a: version 2, root.tenants.a uses {instances: 3, nvidia.com/gpu: 4, vcore: 6000 m} of {nvidia.com/gpu: 4}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-03")]
fn a_tenant_is_a_user_a_project_or_a_department() {
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
              t2 waits TENANT_QUOTA (ann vcore 1000+1000 of 1000 short 1000): queue root.tenants.d1.p1.ann has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or raise the quota of tenant ann.
              ann: version 1, root.tenants.d1.p1.ann uses {instances: 1, vcore: 1000 m} of {vcore: 1000 m}
              p1: version 1, root.tenants.d1.p1 uses {instances: 1, vcore: 1000 m} of {vcore: 2000 m}
              d1: version 1, root.tenants.d1 uses {instances: 1, vcore: 1000 m} of {vcore: 3000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-04")]
#[doc(alias = "TS-19")]
fn a_quota_that_is_raised_starts_what_waits_for_it() {
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
              t2 waits TENANT_QUOTA (a vcore 90000+20000 of 100000 short 10000): queue root.tenants.a has 10 of 100 vcore available, but the ask needs 20. Wait for a release, or raise the quota of tenant a.
            tenant a: tenant a set, root.tenants.a changed, t2 on n1, a2 Running
              a: version 2, root.tenants.a uses {instances: 2, vcore: 110000 m} of {vcore: 120000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-06")]
#[doc(alias = "TS-21")]
fn a_start_fits_every_tenant_above() {
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
              t2 waits ANCESTOR_QUOTA (dept-1 vcore 90000+40000 of 120000 short 10000): queue root.tenants.dept-1 has 30 of 120 vcore available, but the ask needs 40. Wait for a release, or raise the quota of tenant dept-1.
            ask t2: t2 resized, t2 on n1, b1 Running
              dept-1: version 1, root.tenants.dept-1 uses {instances: 2, vcore: 120000 m} of {vcore: 120000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-06")]
fn tasks_of_a_tenant_with_others_below_it_count_beside_theirs() {
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
            tenant a: refused TENANT_HAS_TASKS: tenant d has 1 tasks that have not ended, so the tenant cannot have child tenants. Wait until these tasks end, or cancel them.
            release d0: d0 released, d0 Completing
            wait 30s: d0 Completed
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            ask d1: d1 Accepted, d1 on n1, d1 Running
            ask a1: a1 Accepted, a1 on n1, a1 Running
            ask a2
              a2 waits ANCESTOR_QUOTA (d vcore 4000+2000 of 5000 short 1000): queue root.tenants.d has 1 of 5 vcore available, but the ask needs 2. Wait for a release, or raise the quota of tenant d.
              d: version 1, root.tenants.d uses {instances: 2, vcore: 4000 m} of {vcore: 5000 m}
              root.tenants.d.own: in force {vcore: 5000 m}, uses {instances: 1, vcore: 2000 m}, headroom {vcore: 1000 m}, share 0.4, runs 1
            tenant-gone d: refused TENANT_HAS_TENANTS: tenant d has 1 child tenants, so the tenant cannot be deleted. Move or delete the child tenants first.
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
#[doc(alias = "TR-12")]
#[doc(alias = "TS-16")]
fn after_lowering_starts_go_on_when_enough_has_ended() {
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
              t4 waits OVER_QUOTA_AFTER_LOWERING (a vcore 90000+1000 of 60000 short 31000): queue root.tenants.a uses 90 vcore, which is above its quota of 60, and the ask needs 1. Wait for releases, or raise the quota of tenant a.
            release t3: t3 released
              t4 waits TENANT_QUOTA (a vcore 60000+1000 of 60000 short 1000): queue root.tenants.a has 0 of 60 vcore available, but the ask needs 1. Wait for a release, or raise the quota of tenant a.
            release t2: t2 released, t4 on n1, a2 Running
              a: version 2, root.tenants.a uses {instances: 2, vcore: 60000 m} of {vcore: 60000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TR-18")]
fn who_is_within_the_quota_and_finds_no_node_waits_for_that() {
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
              t1 waits IMPOSSIBLE: no release can start the ask: the ask needs 20 vcore, but no node in use has more than 10. Add a larger node, or request less.
              a: version 1, root.tenants.a uses {} of {vcore: 100000 m}
        "#]],
    );
}
