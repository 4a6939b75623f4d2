//! Settings of tenants are checked, and so are the submitters of their tasks. Tenants §2.1, §2.2.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "TR-06")]
fn quotas_below_a_strict_one_sum_up_to_no_more() {
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
            tenant b: refused TENANT_SUM: the child tenants of d would have quotas of 11 vcore in total, but d has a quota of 10 and sets `strictSum`. Lower a child quota, or raise the quota of d.
            tenant b: refused TENANT_SUM: tenant b has no quota of memory, but its parent d has a quota of 9.31Gi and sets `strictSum`. Set a quota for b.
            tenant b: tenant b set, root.tenants.d.b made
            tenant d: refused TENANT_SUM: the child tenants of d would have quotas of 10 vcore in total, but d has a quota of 9 and sets `strictSum`. Lower a child quota, or raise the quota of d.
            tenant d: tenant d set, root.tenants.d changed
            tenant a: tenant a set, root.tenants.d.a changed
        "#]],
    );
}

#[test]
#[doc(alias = "TR-07")]
fn what_is_said_of_a_tenant_is_checked() {
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
            tenant A: refused TENANT_NAME: "A" is not a valid tenant name. Use 1 to 64 characters, each one of a-z 0-9 _ : # / @ -, and use neither own nor @recovery@.
            tenant own: refused TENANT_NAME: "own" is not a valid tenant name. Use 1 to 64 characters, each one of a-z 0-9 _ : # / @ -, and use neither own nor @recovery@.
            tenant a.b: refused TENANT_NAME: "a.b" is not a valid tenant name. Use 1 to 64 characters, each one of a-z 0-9 _ : # / @ -, and use neither own nor @recovery@.
            tenant @recovery@: refused TENANT_NAME: "@recovery@" is not a valid tenant name. Use 1 to 64 characters, each one of a-z 0-9 _ : # / @ -, and use neither own nor @recovery@.
            tenant a: refused TENANT_AMOUNT: the quota of a is -1m vcore, but no amount can be negative. Set 0 or more.
            tenant a: refused TENANT_AMOUNT: the guarantee of a is -1m vcore, but no amount can be negative. Set 0 or more.
            tenant a: refused TENANT_GUARANTEE: tenant a would have a guarantee of 3 vcore, but its quota is 2. Set a guarantee of at most the quota.
            tenant a: refused TENANT_PARENT: tenant a has b as its parent, but b does not exist. Create b first.
            tenant a: refused TENANT_PARENT: tenant a has a as its parent, but a does not exist. Create a first.
            tenant a: tenant a set, root.tenants.a made
            tenant b: tenant b set, root.tenants.a changed, root.tenants.a.own made, root.tenants.a.b made
            tenant c: tenant c set, root.tenants.a.b changed, root.tenants.a.b.own made, root.tenants.a.b.c made
            tenant a: refused TENANT_CYCLE: c is a itself or one of its descendants. Choose another parent.
            tenant d: tenant d set, root.tenants.a.b.c changed, root.tenants.a.b.c.own made, root.tenants.a.b.c.d made
            tenant e: tenant e set, root.tenants.a.b.c.d changed, root.tenants.a.b.c.d.own made, root.tenants.a.b.c.d.e made
            tenant f: tenant f set, root.tenants.a.b.c.d.e changed, root.tenants.a.b.c.d.e.own made, root.tenants.a.b.c.d.e.f made
            tenant g: tenant g set, root.tenants.a.b.c.d.e.f changed, root.tenants.a.b.c.d.e.f.own made, root.tenants.a.b.c.d.e.f.g made
            tenant h: tenant h set, root.tenants.a.b.c.d.e.f.g changed, root.tenants.a.b.c.d.e.f.g.own made, root.tenants.a.b.c.d.e.f.g.h made
            tenant i: refused TENANT_DEPTH: tenant i would create 9 levels of tenants, but at most 8 are allowed. Choose a parent at a higher level.
            tenant x: tenant x set, root.tenants.x made
            tenant a: refused TENANT_DEPTH: tenant a would create 9 levels of tenants, but at most 8 are allowed. Choose a parent at a higher level.
            tenant-gone a: refused TENANT_HAS_TENANTS: tenant a has 1 child tenants, so the tenant cannot be deleted. Move or delete the child tenants first.
            tenant-defaults quota: refused TENANT_AMOUNT: the quota of the defaults is -2m vcore, but no amount can be negative. Set 0 or more.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-07")]
fn a_guarantee_is_held_against_the_default_quota_too() {
    check(
        "
        tenants root.tenants quota vcore=5
        tenant a guaranteed vcore=4
        tenant-defaults quota vcore=3
        tenant-defaults quota vcore=4
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            tenant-defaults quota: refused TENANT_GUARANTEE: tenant a would have a guarantee of 4 vcore, but its quota is 3. Set a guarantee of at most the quota.
            tenant-defaults quota: defaults of tenants set, root.tenants.a changed
        "#]],
    );
}

#[test]
#[doc(alias = "TR-07")]
fn a_quota_of_zero_forbids_and_one_that_is_not_named_does_not_bound() {
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
              t2 waits IMPOSSIBLE (a gpu 0+1 of 0 short 1): no release can start the ask: the ask needs 1 gpu, but the maximum of queue root.tenants.a is 0. Raise the maximum, or request less.
            tenant b: tenant b set, root.tenants.b made
            ask t3: b1 Accepted
              t3 waits IMPOSSIBLE (b instances 0+1 of 0 short 1): no release can start the ask: the ask needs 1 instances, but the maximum of queue root.tenants.b is 0. Raise the maximum, or request less.
            tenant b: tenant b set, root.tenants.b changed, t3 on n1, b1 Running
        "#]],
    );
}

#[test]
#[doc(alias = "TR-14")]
#[doc(alias = "TS-20")]
fn what_exceeds_the_quota_by_itself_is_refused_or_parked() {
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
            ask t1: refused EXCEEDS_QUOTA_ALWAYS: ask t1 needs 120 vcore, but the quota of tenant a is 100. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            ask t1: a1 Accepted, t1 on n1, a1 Running
            tenant a: tenant a set, root.tenants.d.a changed
            ask t2: refused EXCEEDS_QUOTA_ALWAYS: ask t2 needs 160 vcore, but the quota of tenant d is 150. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            tenant a: tenant a set, root.tenants.d.a changed
            ask t2
              t2 waits IMPOSSIBLE (a vcore 90000+120000 of 100000 short 110000): no release can start the ask: the ask needs 120 vcore, but the maximum of queue root.tenants.d.a is 100. Raise the maximum, or request less.
            ask t3: t3 on n1
              t2 waits IMPOSSIBLE (a vcore 100000+120000 of 100000 short 120000): no release can start the ask: the ask needs 120 vcore, but the maximum of queue root.tenants.d.a is 100. Raise the maximum, or request less.
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
            app a1: rejected TENANT_QUEUE_CLOSED: queue root.tenants.a belongs to tenants and accepts only their tasks. Submit for a tenant, or to another queue.
            app a1: rejected TENANT_QUEUE_CLOSED: queue root.tenants.new belongs to tenants and accepts only their tasks. Submit for a tenant, or to another queue.
            app a1: rejected TENANT_QUEUE_CLOSED: queue root.tenants.a.deeper belongs to tenants and accepts only their tasks. Submit for a tenant, or to another queue.
            app a1: rejected UNKNOWN_TENANT: tenant b does not exist in partition default. Create the tenant first.
            ask t1: a1 Accepted
              t1 waits IMPOSSIBLE: no release can start the ask: the ask needs 20 vcore, but no node in use has more than 10. Add a larger node, or request less.
            app a2: rejected WAITING_LIST_FULL: tenant a has 1 of at most 1 waiting tasks. Wait for one to start, or raise `maxWaiting`.
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
            tenant a: refused TENANTS_OFF: partition default has no tenants. Enable tenants in the queue file with `tenants: {enabled: true}`.
            tenant-gone a: refused TENANTS_OFF: partition default has no tenants. Enable tenants in the queue file with `tenants: {enabled: true}`.
            tenant-defaults: refused TENANTS_OFF: partition default has no tenants. Enable tenants in the queue file with `tenants: {enabled: true}`.
            app a1: rejected UNKNOWN_TENANT: tenant a does not exist in partition default. Create the tenant first.
            ask t1: a2 Accepted, t1 on n1, a2 Running
              root.a: in force {instances: 4, vcore: 10000 m}, uses {instances: 2, vcore: 1000 m}, headroom {instances: 2, vcore: 9000 m}, share 0.5, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "TR-24")]
fn tasks_count_as_waiting_until_they_start_and_while_they_start_anew() {
    check(
        "
        tenants root.tenants
        node n1 vcore=1
        tenant a waiting 2
        app a1 of:a ann
        ask t1 a1 vcore=1
        app a2 of:a ann
        app a3 of:a ann
        app a4 of:a ann
        remove a3
        app a4 of:a ann gang vcore=2 timeout 30s
        ask p4 a4 vcore=1 placeholder group g
        ask q4 a4 vcore=1 placeholder group g
        release t1
        app a5 of:a ann
        app a6 of:a ann
        wait 30s
        release p4
        app a6 of:a ann
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask t1: a1 Accepted, t1 on n1, a1 Running
            app a4: rejected WAITING_LIST_FULL: tenant a has 2 of at most 2 waiting tasks. Wait for one to start, or raise `maxWaiting`.
            remove a3: a3 gone
            ask p4: a4 Accepted
              p4 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask q4
              q4 waits BEHIND_HEAD: ask p4 of application a4 is the head of line of queue root.tenants.a, and this ask needs amounts that the head lacks. Wait until the head of line starts, or set `waiting.strategy` of the tenant to `fifo-backfill`.
            release t1: t1 released, a1 Completing, p4 on n1
              q4 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            app a6: rejected WAITING_LIST_FULL: tenant a has 2 of at most 2 waiting tasks. Wait for one to start, or raise `maxWaiting`.
            wait 30s: a1 Completed, placeholders of a4 expired, a4 Resuming, p4 to be released: Timeout, q4 withdrawn
            release p4: p4 released, a4 Accepted
            app a6: rejected WAITING_LIST_FULL: tenant a has 3 of at most 2 waiting tasks. Wait for one to start, or raise `maxWaiting`.
        "#]],
    );
}

#[test]
#[doc(alias = "TR-24")]
fn a_task_that_lost_all_that_it_had_waits_again() {
    check(
        "
        tenants root.tenants
        node n1 vcore=1
        tenant a waiting 1
        app a1 of:a ann gang vcore=2
        ask p1 a1 vcore=1 placeholder group g
        ask q1 a1 vcore=1 placeholder group g
        app a2 of:a ann
        remove a2
        lose n1
        app a2 of:a ann
        ",
        expect![[r#"
            tenant a: tenant a set, root.tenants.a made
            ask p1: a1 Accepted, p1 on n1
            ask q1
              q1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            remove a2: a2 gone
            lose n1: p1 lost, placeholders of a1 expired
              q1 waits NO_NODES: no node has registered in partition default. Register a node.
            app a2: rejected WAITING_LIST_FULL: tenant a has 1 of at most 1 waiting tasks. Wait for one to start, or raise `maxWaiting`.
        "#]],
    );
}

#[test]
#[doc(alias = "TS-20")]
fn a_gang_larger_than_a_quota_is_refused_at_submission_or_parked() {
    check(
        "
        tenants root.tenants exempt free
        node n1 vcore=200
        tenant d quota vcore=150 instances=6
        tenant a of d quota vcore=100
        app g1 of:a ann gang vcore=125 instances=5
        app g2 of:a ann gang vcore=100 instances=7
        app g3 of:a ann gang vcore=100 instances=4
        ask p1 g3 vcore=25 placeholder group g
        ask p2 g3 vcore=25 placeholder group g
        ask p3 g3 vcore=25 placeholder group g
        ask p4 g3 vcore=25 placeholder group g
        tenant a of d quota vcore=100 park
        app g4 of:a ann gang vcore=125 instances=5
        ",
        expect![[r#"
            tenant d: tenant d set, root.tenants.d made
            tenant a: tenant a set, root.tenants.d changed, root.tenants.d.own made, root.tenants.d.a made
            app g1: rejected EXCEEDS_QUOTA_ALWAYS: the gang needs 125 vcore together, but the quota of tenant a is 100. Make the gang smaller, raise the quota, or set `oversized: park` for the tenant.
            app g2: rejected EXCEEDS_QUOTA_ALWAYS: the gang needs 7 instances together, but the quota of tenant d is 6. Make the gang smaller, raise the quota, or set `oversized: park` for the tenant.
            ask p1: g3 Accepted, p1 on n1
            ask p2: p2 on n1
            ask p3: p3 on n1
            ask p4: p4 on n1, g3 Running
            tenant a: tenant a set
        "#]],
    );
}

#[test]
#[doc(alias = "TR-14")]
fn what_exceeds_a_quota_that_is_a_limit_is_refused_or_parked() {
    check(
        "
        tenants root.tenants exempt free
        queue root.shared
        limit root.shared group dev vcore=100
        node n1 vcore=200
        tenant u quota vcore=10 instances=2 as user ann in root.shared
        tenant g quota vcore=50 as group ops in root.shared
        app a1 of:u ann
        ask t1 a1 vcore=11
        ask t1 a1 vcore=10
        app a2 of:u ann gang vcore=9 instances=3
        app a3 of:u ann gang vcore=11 instances=1
        app b1 of:g bob groups ops
        ask t2 b1 vcore=51
        ask t2 b1 vcore=50
        app c1 root.shared cid groups dev,ops
        ask t3 c1 vcore=51
        tenant u quota vcore=10 park as user ann in root.shared
        ask t4 a1 vcore=11
        app a2 of:u ann gang vcore=11
        ",
        expect![[r#"
            tenant u: tenant u set, root.shared has other limits
            tenant g: tenant g set, root.shared has other limits
            ask t1: refused EXCEEDS_QUOTA_ALWAYS: ask t1 needs 11 vcore, but the quota of tenant u is 10. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            ask t1: a1 Accepted, t1 on n1, a1 Running
            app a2: rejected EXCEEDS_QUOTA_ALWAYS: the gang needs 3 instances together, but the quota of tenant u is 2. Make the gang smaller, raise the quota, or set `oversized: park` for the tenant.
            app a3: rejected EXCEEDS_QUOTA_ALWAYS: the gang needs 11 vcore together, but the quota of tenant u is 10. Make the gang smaller, raise the quota, or set `oversized: park` for the tenant.
            ask t2: refused EXCEEDS_QUOTA_ALWAYS: ask t2 needs 51 vcore, but the quota of tenant g is 50. Split the ask, raise the quota, or set `oversized: park` for the tenant.
            ask t2: b1 Accepted, b1 counts for group ops, t2 on n1, b1 Running
            ask t3: c1 Accepted, c1 counts for group dev, t3 on n1, c1 Running
            tenant u: tenant u set, root.shared has other limits
            ask t4
              t4 waits IMPOSSIBLE (u vcore 10000+11000 of 10000 short 11000): no release can start the ask: the ask needs 11 vcore, but the limit of user ann at root.shared is 10. Raise the limit, or request less.
        "#]],
    );
}
