//! Queues above their maximum give room back: the worked examples W30 to W32 of scheduling §23.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W30")]
fn quota_preemption_of_a_leaf_never_takes_too_much() {
    check(
        "
        preemption quota
        queue root.q max c=20 prop quota.preemption.delay=60s
        node n1 c=30
        app A root.q ann
        ask a A c=6 on n1 preemptable
        ask b A c=5 on n1 preemptable
        ask c A c=4 on n1 preemptable
        ask d A c=3 on n1 preemptable
        reload
        preemption quota
        queue root.q max c=10 prop quota.preemption.delay=60s
        wait 59s
        scan-quotas
        wait 1s
        scan-quotas
        release d as preempted
        release c as preempted
        wait 600s
        scan-quotas
        show root.q
        ",
        expect![[r#"
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            ask c: c on n1
            ask d: d on n1
            reload: root.q changed
            wait 59s: nothing
            scan-quotas: nothing
            wait 1s: nothing
            scan-quotas: d to be stopped for the quota of root.q, c to be stopped for the quota of root.q, quota clock of root.q stopped
            release d: d released
            release c: c released
            wait 600s: nothing
            scan-quotas: nothing
              root.q: in force {c: 10}, uses {c: 11}, headroom {c: -1}, share 1.1, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W31")]
fn quota_preemption_of_a_parent_is_shared_out() {
    check(
        "
        preemption quota
        queue root.p parent max c=47 prop quota.preemption.delay=1s
        queue root.p.x guaranteed c=10
        queue root.p.y
        queue root.p.z guaranteed c=8
        node n1 c=60
        app X root.p.x ann
        app Y root.p.y ann
        app Z root.p.z ann
        ask x1 X c=24 on n1 preemptable
        ask x2 X c=3 on n1 preemptable
        ask x3 X c=3 on n1 preemptable
        ask y1 Y c=9 on n1 preemptable
        ask y2 Y c=3 on n1 preemptable
        ask z1 Z c=5 on n1 preemptable
        reload
        preemption quota
        queue root.p parent max c=37 prop quota.preemption.delay=1s
        queue root.p.x guaranteed c=10
        queue root.p.y
        queue root.p.z guaranteed c=8
        wait 1s
        scan-quotas
        scan-quotas
        ",
        expect![[r#"
            ask x1: X Accepted, x1 on n1, X Running
            ask x2: x2 on n1
            ask x3: x3 on n1
            ask y1: Y Accepted, y1 on n1, Y Running
            ask y2: y2 on n1
            ask z1: Z Accepted, z1 on n1, Z Running
            reload: root.p changed
            wait 1s: nothing
            scan-quotas: x3 to be stopped for the quota of root.p, x2 to be stopped for the quota of root.p, y2 to be stopped for the quota of root.p, quota clock of root.p stopped
            scan-quotas: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W32")]
fn the_quota_clock_follows_changes_and_stops_within_the_maximum() {
    check(
        "
        preemption quota
        queue root.q max c=20 prop quota.preemption.delay=60s
        node n1 c=30
        app A root.q ann
        ask a A c=4 on n1 preemptable
        ask b A c=11 on n1 preemptable
        reload
        preemption quota
        queue root.q max c=10 prop quota.preemption.delay=60s
        wait 20s
        reload
        preemption quota
        queue root.q max c=8 prop quota.preemption.delay=60s
        wait 10s
        reload
        preemption quota
        queue root.q max c=8 prop quota.preemption.delay=90s
        wait 20s
        reload
        preemption quota
        queue root.q max c=12 prop quota.preemption.delay=90s
        wait 20s
        scan-quotas
        release a
        wait 1s
        scan-quotas
        wait 30s
        scan-quotas
        ",
        expect![[r#"
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            reload: root.q changed
            wait 20s: nothing
            reload: root.q changed
            wait 10s: nothing
            reload: root.q changed
            wait 20s: nothing
            reload: root.q changed
            wait 20s: nothing
            scan-quotas: nothing
            release a: a released
            wait 1s: nothing
            scan-quotas: quota clock of root.q stopped
            wait 30s: nothing
            scan-quotas: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W32")]
fn a_restart_starts_the_quota_clock_anew() {
    check(
        "
        preemption quota
        queue root.q max c=8 prop quota.preemption.delay=90s
        node n1 c=30
        app A root.q ann
        wait 45s
        ask a A c=4 on n1 preemptable
        ask b A c=11 on n1 preemptable
        wait 89s
        scan-quotas
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            wait 45s: nothing
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            wait 89s: nothing
            scan-quotas: nothing
            wait 1s: nothing
            scan-quotas: a to be stopped for the quota of root.q, quota clock of root.q stopped
        "#]],
    );
}

#[test]
fn room_is_taken_back_in_one_step_and_the_clock_starts_anew_only_with_another_maximum() {
    check(
        "
        preemption quota
        queue root.q max c=20 prop quota.preemption.delay=60s
        node n1 c=30
        app A root.q ann
        ask a A c=3 on n1 preemptable
        ask b A c=6 on n1 preemptable
        reload
        preemption quota
        queue root.q max c=6 prop quota.preemption.delay=60s
        wait 60s
        scan-quotas
        scan-quotas
        reload
        preemption quota
        queue root.q max c=6 prop quota.preemption.delay=90s
        wait 90s
        scan-quotas
        reload
        preemption quota
        queue root.q max c=3 prop quota.preemption.delay=90s
        release a as preempted
        wait 90s
        scan-quotas
        ",
        expect![[r#"
            ask a: A Accepted, a on n1, A Running
            ask b: b on n1
            reload: root.q changed
            wait 60s: nothing
            scan-quotas: a to be stopped for the quota of root.q, quota clock of root.q stopped
            scan-quotas: nothing
            reload: root.q changed
            wait 90s: nothing
            scan-quotas: nothing
            reload: root.q changed
            release a: a released
            wait 90s: nothing
            scan-quotas: quota clock of root.q stopped
        "#]],
    );
}
