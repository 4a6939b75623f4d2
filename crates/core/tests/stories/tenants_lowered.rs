//! Tenants whose quota is lowered below what they use, and that have tasks stopped for it. Tenants §7.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "TS-17")]
fn the_least_urgent_are_stopped_the_youngest_first_until_the_use_is_within() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 60s
        app a1 of:a ann
        ask t1 a1 vcore=30 prio 5 preemptable
        app a2 of:a ann
        ask old a2 vcore=20 preemptable
        app a3 of:a ann
        ask young a3 vcore=20 preemptable
        app a4 of:a ann
        ask t4 a4 vcore=20 prio 3 preemptable
        tenant a quota vcore=60 lower preempt 60s
        wait 59s
        scan-quotas
        wait 1s
        scan-quotas
        release young as preempted
        release old as preempted
        wait 600s
        scan-quotas
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask old: a2 Accepted, old on n1, a2 Running
            ask young: a3 Accepted, young on n1, a3 Running
            ask t4: a4 Accepted, t4 on n1, a4 Running
            tenant a: tenant a set, root.tenants.a changed
            wait 59s: nothing
            scan-quotas: nothing
            wait 1s: nothing
            scan-quotas: young to be stopped for the quota of root.tenants.a, old to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
            release young: young released, a3 Completing
            release old: old released, a2 Completing
            wait 600s: a2 Completed, a3 Completed
            scan-quotas: nothing
              a: version 2, root.tenants.a uses {instances: 2, vcore: 50000 m} of {vcore: 60000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "TS-17")]
fn whoever_is_not_needed_in_the_end_is_not_stopped() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 gpu=8
        tenant a quota vcore=100 gpu=8 lower preempt 1s
        app a1 of:a ann
        ask small a1 vcore=10 preemptable
        ask medium a1 vcore=30 prio 1 preemptable
        ask large a1 vcore=20 prio 5 preemptable
        ask graphic a1 gpu=2 preemptable
        tenant a quota vcore=30 gpu=8 lower preempt 1s
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask small: a1 Accepted, small on n1, a1 Running
            ask medium: medium on n1
            ask large: large on n1
            ask graphic: graphic on n1
            tenant a: tenant a set, root.tenants.a changed
            wait 1s: nothing
            scan-quotas: medium to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
        "#]],
    );
}

#[test]
#[doc(alias = "TS-17")]
fn what_may_not_be_stopped_stays_and_what_is_left_above_is_told() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 1s
        app a1 of:a ann
        ask firm a1 vcore=20
        ask bound a1 vcore=10 requires n1 preemptable
        ask soft a1 vcore=5 prio 9 preemptable
        tenant a quota vcore=25 lower preempt 1s
        wait 1s
        scan-quotas
        release soft as preempted
        wait 60s
        scan-quotas
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask firm: a1 Accepted, firm on n1, a1 Running
            ask bound: bound on n1
            ask soft: soft on n1
            tenant a: tenant a set, root.tenants.a changed
            wait 1s: nothing
            scan-quotas: soft to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
            release soft: soft released
            wait 60s: nothing
            scan-quotas: nothing
              a: version 2, root.tenants.a uses {instances: 2, vcore: 30000 m} of {vcore: 25000 m}
        "#]],
    );
}

#[test]
fn a_quota_that_is_raised_or_only_to_block_stops_nobody() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 60s
        app a1 of:a ann
        ask t1 a1 vcore=90 preemptable
        tenant a quota vcore=60 lower preempt 60s
        wait 59s
        tenant a quota vcore=90 lower preempt 60s
        wait 60s
        scan-quotas
        tenant a quota vcore=60 lower preempt 60s
        wait 59s
        tenant a quota vcore=60
        wait 60s
        scan-quotas
        tenant a quota vcore=60 lower preempt 60s
        wait 59s
        scan-quotas
        release t1
        wait 60s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant a: tenant a set, root.tenants.a changed
            wait 59s: nothing
            tenant a: tenant a set, root.tenants.a changed
            wait 60s: nothing
            scan-quotas: nothing
            tenant a: tenant a set, root.tenants.a changed
            wait 59s: nothing
            tenant a: tenant a set, root.tenants.a changed
            wait 60s: nothing
            scan-quotas: nothing
            tenant a: tenant a set, root.tenants.a changed
            wait 59s: nothing
            scan-quotas: nothing
            release t1: t1 released, a1 Completing
            wait 60s: a1 Completed
            scan-quotas: quota clock of root.tenants.a stopped
        "#]],
    );
}

#[test]
fn a_first_quota_below_the_use_counts_as_lowered() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a lower preempt 1s
        app a1 of:a ann
        ask t1 a1 vcore=40 preemptable
        ask t2 a1 vcore=40 preemptable
        tenant-defaults quota vcore=50
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: t2 on n1
            tenant-defaults quota: defaults of tenants set, root.tenants.a changed
            wait 1s: nothing
            scan-quotas: t2 to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
        "#]],
    );
}

#[test]
#[doc(alias = "TR-15")]
fn a_gang_is_stopped_as_a_whole_or_not_at_all() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 1s
        app one of:a ann
        ask t1 one vcore=10 prio 1 preemptable
        app gang of:a ann gang vcore=20
        ask g1 gang vcore=10 placeholder group g preemptable
        ask g2 gang vcore=10 placeholder group g preemptable
        app tied of:a ann gang vcore=20
        ask h1 tied vcore=10 placeholder group h preemptable
        ask h2 tied vcore=10 placeholder group h
        tenant a quota vcore=45 lower preempt 1s
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: one Accepted, t1 on n1, one Running
            ask g1: gang Accepted, g1 on n1
            ask g2: g2 on n1, gang Running
            ask h1: tied Accepted, h1 on n1
            ask h2: h2 on n1, tied Running
            tenant a: tenant a set, root.tenants.a changed
            wait 1s: nothing
            scan-quotas: g2 to be stopped for the quota of root.tenants.a, g1 to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
        "#]],
    );
}

#[test]
fn tenants_below_give_first_and_keep_what_they_are_guaranteed() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant d quota vcore=100 lower preempt 1s
        tenant a of d quota vcore=50 lower preempt 1s
        tenant b of d guaranteed vcore=20
        app a1 of:a ann
        ask a1a a1 vcore=20 prio 5 preemptable
        ask a1b a1 vcore=20 prio 5 preemptable
        app b1 of:b bob
        ask b1a b1 vcore=20 preemptable
        ask b1b b1 vcore=10 preemptable
        tenant a of d quota vcore=30 lower preempt 1s
        tenant d quota vcore=40 lower preempt 1s
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            tenant b: tenant b set, root.tenants.d.b made
            ask a1a: a1 Accepted, a1a on n1, a1 Running
            ask a1b: a1b on n1
            ask b1a: b1 Accepted, b1a on n1, b1 Running
            ask b1b: b1b on n1
            tenant a: tenant a set, root.tenants.d.a changed
            tenant d: tenant d set, root.tenants.d changed
            wait 1s: nothing
            scan-quotas: a1b to be stopped for the quota of root.tenants.d.a, quota clock of root.tenants.d.a stopped, b1b to be stopped for the quota of root.tenants.d, quota clock of root.tenants.d stopped
        "#]],
    );
}

#[test]
#[doc(alias = "TS-14")]
fn what_comes_back_with_a_node_is_above_the_quota_and_nobody_is_stopped_for_it() {
    check(
        "
        preemption quota
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100 lower preempt 1s
        app a1 of:a ann
        ask t1 a1 vcore=60
        ask t2 a1 vcore=30
        lose n1
        node n2 vcore=128
        ask t3 a1 vcore=80
        node n1 vcore=128
        ask t2 a1 vcore=30 on n1 preemptable
        wait 60s
        scan-quotas
        ask t4 a1 vcore=1
        show tenant a
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            ask t2: t2 on n1
            lose n1: t1 lost, t2 lost, a1 Completing
            ask t3: a1 Running, t3 on n2
            ask t2: t2 on n1
            wait 60s: nothing
            scan-quotas: nothing
            ask t4
              t4 waits OVER_QUOTA_AFTER_LOWERING (a vcore 110000+1000 of 100000 short 11000): queue root.tenants.a uses 110 vcore, which is above its quota of 100, and the ask needs 1. Wait for releases, or raise the quota of tenant a.
              a: version 1, root.tenants.a uses {instances: 2, vcore: 110000 m} of {vcore: 100000 m}
        "#]],
    );
}

#[test]
fn a_longer_grace_counts_whatever_else_is_said_with_it() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 memory=256
        tenant a quota vcore=100 memory=100 lower preempt 10s
        task t1 a ann vcore=50 memory=50
        tenant a quota vcore=40 memory=100 lower preempt 10s
        tenant a quota vcore=30 memory=120 lower preempt 60s
        wait 59s
        scan-quotas
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task t1: task t1 of a, t1 Accepted, t1 on n1, t1 Running
            tenant a: tenant a set, root.tenants.a changed
            tenant a: tenant a set, root.tenants.a changed
            wait 59s: nothing
            scan-quotas: nothing
            wait 1s: nothing
            scan-quotas: t1 to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
        "#]],
    );
}

#[test]
fn a_tenant_that_uses_nothing_is_not_above_a_quota_that_forbids_a_type() {
    check(
        "
        tenants root.tenants
        node n1 vcore=128 gpu=8
        tenant a quota vcore=10
        tenant a quota vcore=5 gpu=0 lower preempt 30s
        app back of:a ann
        ask v1 back vcore=4 on n1 preemptable
        app more of:a ann
        ask v2 more vcore=4 on n1 preemptable
        wait 30s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant a: tenant a set, root.tenants.a changed
            ask v1: back Accepted, v1 on n1, back Running
            ask v2: more Accepted, v2 on n1, more Running
            wait 30s: nothing
            scan-quotas: nothing
        "#]],
    );
}
