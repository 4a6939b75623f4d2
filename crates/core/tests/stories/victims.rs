//! Which victims are taken where no queue may fall below its guarantee. No-starvation NS-32 and NS-40.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "NS-40")]
fn what_gives_up_least_beyond_the_need_is_stopped() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=12
        app A root.q1 ann
        app B root.q2 bob
        ask two A c=2 on n1 preemptable
        wait 600s
        ask eight A c=8 on n1 preemptable
        ask other A c=2 on n1
        ask x B c=2 preempts
        wait 31s
        ",
        expect![[r#"
            ask two: A Accepted, two on n1, A Running
            wait 600s: nothing
            ask eight: eight on n1
            ask other: other on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 12 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 31s: two to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-40")]
fn two_small_ones_are_stopped_before_one_that_is_much_larger() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=11
        app A root.q1 ann
        app B root.q2 bob
        ask one A c=1 on n1 preemptable
        ask too A c=1 on n1 preemptable
        wait 600s
        ask nine A c=9 on n1 preemptable
        ask x B c=2 preempts
        wait 31s
        ",
        expect![[r#"
            ask one: A Accepted, one on n1, A Running
            ask too: too on n1
            wait 600s: nothing
            ask nine: nine on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 11 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 31s: too to be stopped for x, one to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-40")]
fn of_equal_sizes_the_one_with_least_work_to_lose_is_stopped() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        wait 10s
        ask early A c=2 on n1 preemptable
        wait 10s
        ask late A c=2 on n1 made 5s preemptable
        ask x B c=2 preempts
        wait 31s
        ",
        expect![[r#"
            wait 10s: nothing
            ask early: A Accepted, early on n1, A Running
            wait 10s: nothing
            ask late: late on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 31s: late to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-40")]
fn a_lower_priority_and_who_offers_itself_come_before_size() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=8
        node n1 c=12
        app A root.q1 ann
        app B root.q2 bob
        ask urgent A c=2 prio 1 on n1 preemptable
        ask large A c=8 on n1 preemptable
        ask fixed A c=2 on n1
        ask x B c=2 prio 1 made 0s preempts
        wait 60s
        ",
        expect![[r#"
            ask urgent: A Accepted, urgent on n1, A Running
            ask large: large on n1
            ask fixed: fixed on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 12 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: large to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-40")]
fn what_makes_room_in_a_queue_is_no_larger_than_it_has_to_be() {
    check(
        "
        queue root.p parent max c=10
        queue root.p.q1
        queue root.p.q2 guaranteed c=4
        node n1 c=10
        node n2 c=10
        app A root.p.q1 ann
        app B root.p.q2 bob
        ask two A c=2 on n1 preemptable
        wait 10s
        ask eight A c=8 on n2 preemptable
        ask x B c=2 made 0s preempts
        wait 60s
        ",
        expect![[r#"
            ask two: A Accepted, two on n1, A Running
            wait 10s: nothing
            ask eight: eight on n2
            ask x: B Accepted
              x waits QUEUE_MAX: queue root.p has 0 of 10 c available, but the ask needs 2. Wait for a release, or raise the maximum.
            wait 60s: two to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-40")]
fn as_in_yunikorn_the_newest_is_stopped_where_guarantees_are_not_strict() {
    check(
        "
        preemption newest
        queue root.q1
        queue root.q2 guaranteed c=9
        node n1 c=10
        app A root.q1 ann
        app B root.q2 bob
        ask two A c=2 on n1 preemptable
        wait 10s
        ask eight A c=8 on n1 preemptable
        ask x B c=2 made 0s preempts
        wait 60s
        ",
        expect![[r#"
            ask two: A Accepted, two on n1, A Running
            wait 10s: nothing
            ask eight: eight on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 10 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: eight to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-32")]
fn a_gang_stops_as_a_whole_or_not_at_all() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=6
        node n1 c=4
        node n2 c=2
        app G root.q1 ann gang c=4
        app A root.q1 ann
        app B root.q2 bob
        ask single A c=2 on n1 preemptable
        wait 10s
        ask g1 G c=2 placeholder group g preemptable
        ask g2 G c=2 placeholder group g preemptable
        ask x B c=2 made 0s preempts
        wait 60s
        release single as preempted
        ask y B c=2 preempts
        wait 60s
        ",
        expect![[r#"
            ask single: A Accepted, single on n1, A Running
            wait 10s: nothing
            ask g1: G Accepted, g1 on n1
            ask g2: g2 on n2, G Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 6 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: single to be stopped for x, n1 keeps x
            release single: single released, A Completing, x on n1, B Running
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 6 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: A Completed, g2 to be stopped for y, g1 to be stopped for y, n1 keeps y
        "#]],
    );
}

#[test]
#[doc(alias = "NS-32")]
fn a_gang_can_lose_what_it_has_beyond_its_minimum() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=6
        node n1 c=8
        app G root.q1 ann gang c=4
        app B root.q2 bob
        ask g1 G c=2 placeholder group g preemptable
        ask g2 G c=2 placeholder group g preemptable
        ask m1 G c=2 group g preemptable
        ask m2 G c=2 group g preemptable
        release g1 as replaced
        release g2 as replaced
        ask m3 G c=2 group g preemptable
        ask m4 G c=2 preemptable
        ask x B c=2 made 0s preempts
        wait 60s
        release m4 as preempted
        ask y B c=2 preempts
        wait 60s
        release m3 as preempted
        ask z B c=2 preempts
        wait 60s
        ",
        expect![[r#"
            ask g1: G Accepted, g1 on n1
            ask g2: g2 on n1, G Running
            ask m1: m1 takes the place of g1 on n1
            ask m2: m2 takes the place of g2 on n1
            release g1: g1 replaced
            release g2: g2 replaced, placeholders of G expired
            ask m3: m3 on n1
            ask m4: m4 on n1
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: m4 to be stopped for x, n1 keeps x
            release m4: m4 released, x on n1, B Running
            ask y
              y waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: m3 to be stopped for y, n1 keeps y
            release m3: m3 released, y on n1
            ask z
              z waits ROOT_CAPACITY: the cluster has 0 of 8 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: m2 to be stopped for z, m1 to be stopped for z, n1 keeps z
        "#]],
    );
}

#[test]
#[doc(alias = "NS-32")]
fn a_gang_of_which_one_may_not_be_stopped_stays() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=6
        node n1 c=4
        app G root.q1 ann gang c=4
        app B root.q2 bob
        ask g1 G c=2 placeholder group g preemptable
        ask g2 G c=2 prio 5 placeholder group g preemptable
        ask x B c=2 made 0s preempts
        wait 60s
        ",
        expect![[r#"
            ask g1: G Accepted, g1 on n1
            ask g2: g2 on n1, G Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: nothing to stop for x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-32")]
fn as_in_yunikorn_single_members_stop_where_guarantees_are_not_strict() {
    check(
        "
        preemption newest
        queue root.q1
        queue root.q2 guaranteed c=9
        node n1 c=4
        app G root.q1 ann gang c=4
        app B root.q2 bob
        ask g1 G c=2 placeholder group g preemptable
        ask g2 G c=2 placeholder group g preemptable
        ask x B c=2 made 0s preempts
        wait 60s
        ",
        expect![[r#"
            ask g1: G Accepted, g1 on n1
            ask g2: g2 on n1, G Running
            ask x: B Accepted
              x waits ROOT_CAPACITY: the cluster has 0 of 4 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: g2 to be stopped for x, n1 keeps x
        "#]],
    );
}

#[test]
#[doc(alias = "NS-32")]
fn a_task_of_several_members_stops_with_all_of_them() {
    check(
        "
        tenants root.tenants
        node n1 vcore=5
        node n2 vcore=4
        tenant a guaranteed vcore=1
        tenant b guaranteed vcore=5
        task many a ann vcore=2 x3
        task firm a ann vcore=1 fixed
        task small a ann vcore=2 x1
        task u1 b bob vcore=2
        wait 31s
        release small
        task u2 b bob vcore=3
        wait 31s
        release many.1 as preempted
        release many.2 as preempted
        release many.3 as preempted
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.b made
            task many: task many of a, many Accepted, many.1 on n1, many Running, many.2 on n2, many.3 on n1
            task firm: task firm of a, firm Accepted, firm on n2, firm Running
            task small: task small of a, small Accepted, small throttled NO_NODE_FITS 
              small waits NO_NODE_FITS: the ask needs 2 vcore, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            task u1: task u1 of b, u1 Accepted, u1 throttled NO_NODE_FITS 
              u1 waits NO_NODE_FITS: the ask needs 2 vcore, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            wait 31s: n2 keeps u1, many.3 to be stopped for u1, many.2 to be stopped for u1, many.1 to be stopped for u1, no node is reserved for u1, n1 keeps u1, n2 keeps small, nothing to stop for small
              small waits NODE_RESOURCES: node n2 is reserved for the ask and has vcore 1 free, but the ask needs vcore 2. Wait for a release on this node, or for capacity on another node.
              u1 waits PREEMPTION_PENDING: node n1 is reserved for the ask and has vcore 1 free, but the ask needs vcore 2. Preempted allocations on this node free vcore 4. Wait until these allocations stop.
            release small: small withdrawn, small Completing
            task u2: task u2 of b, u2 Accepted, u2 throttled BEHIND_HEAD 
              u2 waits BEHIND_HEAD: ask u1 of application u1 is the head of line of queue root.tenants.b, and this ask needs amounts that the head lacks. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            wait 31s: small Completed
            release many.1: many.1 released, many.2 released, many.3 released, many Completing, u1 on n1, u1 Running, u2 on n2, u2 Running
            release many.2: nothing
            release many.3: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "NS-32")]
fn a_lowered_quota_stops_a_task_of_several_members_with_all_of_them() {
    check(
        "
        tenants root.tenants
        node n1 vcore=8
        tenant a quota vcore=8 lower preempt 1s
        task small a ann vcore=2
        task many a ann vcore=2 x2
        tenant a quota vcore=5 lower preempt 1s
        wait 1s
        scan-quotas
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            task small: task small of a, small Accepted, small on n1, small Running
            task many: task many of a, many Accepted, many.1 on n1, many Running, many.2 on n1
            tenant a: tenant a set, root.tenants.a changed
            wait 1s: nothing
            scan-quotas: many.2 to be stopped for the quota of root.tenants.a, many.1 to be stopped for the quota of root.tenants.a, quota clock of root.tenants.a stopped
        "#]],
    );
}
