//! Asks that require a node, back-off, nodes that are given up, and asks that more nodes would
//! help.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W20")]
fn required_node_is_reserved_at_once() {
    check(
        "
        queue root.a
        node n1 cpu=10
        node n2 cpu=10
        app app1 root.a ann
        ask x app1 cpu=4 on n1
        wait 1s
        ask y app1 cpu=5 on n1
        app app2 root.a ann
        ask d app2 cpu=3 requires n1
        release y
        ",
        expect![[r#"
            ask x: app1 Accepted, x on n1, app1 Running
            wait 1s: nothing
            ask y: y on n1
            ask d: app2 Accepted, n1 keeps d, y to be stopped for d
              d waits PREEMPTION_PENDING: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Preempted allocations on this node free cpu 5. Wait until these allocations stop.
            release y: y released, d on n1, app2 Running
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W20")]
fn required_node_waits_for_headroom_first() {
    check(
        "
        queue root.a
        node n1 cpu=10
        app app1 root.a ann
        ask x app1 cpu=4 on n1
        ask y app1 cpu=5 on n1
        app app2 root.a ann
        ask d app2 cpu=3 requires n1
        wait 10s
        ",
        expect![[r#"
            ask x: app1 Accepted, x on n1, app1 Running
            ask y: y on n1
            ask d: app2 Accepted
              d waits ROOT_CAPACITY: the cluster has 1 of 10 cpu available, but the ask needs 3. Wait for a release, or add nodes.
            wait 10s: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W36")]
fn an_application_with_too_many_asks_in_vain_backs_off() {
    check(
        "
        queue root.a prop application.unschedasks.backoff=2 prop application.unschedasks.backoff.delay=30s
        node n1 cpu=3
        node n2 cpu=3
        app app1 root.a ann
        app app2 root.a ann
        ask r1 app1 cpu=4
        ask r2 app1 cpu=4
        ask r3 app1 cpu=4
        ask r4 app1 cpu=1
        ask s1 app2 cpu=1
        wait 29s
        release r1
        release r2
        wait 1s
        ",
        expect![[r#"
            ask r1: app1 Accepted
              r1 waits IMPOSSIBLE: no release can start the ask: the ask needs 4 cpu, but no node in use has more than 3. Add a larger node, or request less.
            ask r2
              r2 waits IMPOSSIBLE: no release can start the ask: the ask needs 4 cpu, but no node in use has more than 3. Add a larger node, or request less.
            ask r3: app1 backs off until 30000 ms
              r3 waits IMPOSSIBLE: no release can start the ask: the ask needs 4 cpu, but no node in use has more than 3. Add a larger node, or request less.
            ask r4
              r4 waits BACKOFF: too many asks of application app1 found no node, so the asks of application app1 are not checked until 30000 ms. Wait, or request less.
            ask s1: app2 Accepted, s1 on n1, app2 Running
            wait 29s: nothing
            release r1: r1 withdrawn
            release r2: r2 withdrawn
            wait 1s: r4 on n1, app1 Running
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W40")]
fn autoscale_hint() {
    check(
        "
        queue root.a max cpu=10
        node n1 cpu=4
        app app1 root.a ann
        ask r1 app1 cpu=4
        ask e1 app1 cpu=3
        ask e2 app1 cpu=5
        ask e3 app1 cpu=3
        scan-outstanding
        scan-outstanding
        ",
        expect![[r#"
            ask r1: app1 Accepted, r1 on n1, app1 Running
            ask e1
              e1 waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 3. Wait for a release, or add nodes.
            ask e2
              e2 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 cpu, but no node in use has more than 4. Add a larger node, or request less.
            ask e3
              e3 waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 3. Wait for a release, or add nodes.
            scan-outstanding: more nodes would help e1, more nodes would help e3
            scan-outstanding: nothing
        "#]],
    );
}

#[test]
fn scale_up_is_not_asked_for_what_may_not_run_or_runs_on_one_node() {
    check(
        "
        queue root.a
        queue root.b apps=1
        limit root.a user ann cpu=2
        node n1 cpu=4
        app app1 root.a bob
        ask r1 app1 cpu=4
        app app2 root.a ann
        ask over app2 cpu=3
        ask within app2 cpu=2
        ask pinned app1 cpu=1 requires n1
        app app3 root.b bob
        ask b1 app3 cpu=1 on n1
        app app4 root.b bob
        ask b2 app4 cpu=1
        scan-outstanding
        ",
        expect![[r#"
            ask r1: app1 Accepted, r1 on n1, app1 Running
            ask over: app2 Accepted
              over waits IMPOSSIBLE: no release can start the ask: the ask needs 3 cpu, but the limit of user ann at root.a is 2. Raise the limit, or request less.
            ask within
              within waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 2. Wait for a release, or add nodes.
            ask pinned
              pinned waits ROOT_CAPACITY: the cluster has 0 of 4 cpu available, but the ask needs 1. Wait for a release, or add nodes.
            ask b1: app3 Accepted, b1 on n1, app3 Running
              within waits ROOT_CAPACITY: the cluster uses 5 cpu, which is above its capacity of 4, and the ask needs 2. Wait for releases, or add nodes.
              pinned waits ROOT_CAPACITY: the cluster uses 5 cpu, which is above its capacity of 4, and the ask needs 1. Wait for releases, or add nodes.
            ask b2: app4 Accepted
              b2 waits MAX_APPS: queue root.b runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            scan-outstanding: more nodes would help within
        "#]],
    );
}

#[test]
fn a_required_node_is_unknown_and_then_registers() {
    check(
        "
        queue root.a
        node n1 cpu=4
        app app1 root.a ann
        ask d app1 cpu=2 requires n9
        node n9 cpu=4 drained
        ",
        expect![[r#"
            ask d: app1 Accepted
              d waits IMPOSSIBLE: no release can start the ask: the ask requires node n9, which is not registered. Register the node, or withdraw the ask.
            node n9: d on n9, app1 Running
        "#]],
    );
}

#[test]
fn a_second_ask_that_requires_the_node_reserves_it_too_and_ordinary_ones_make_way() {
    check(
        "
        queue root.a
        queue root.fill
        node n1 cpu=4
        node n2 cpu=40
        node spare cpu=100
        drain spare
        app fill root.fill zoe
        ask f fill cpu=3 on n1 requires n1
        ask g fill cpu=39 on n2 requires n2
        app app1 root.a ann
        ask o app1 cpu=2
        wait 3s
        app app2 root.a bob
        ask d1 app2 cpu=2 requires n1
        ask d2 app2 cpu=2 requires n1
        release f
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask g: g on n2
            ask o: app1 Accepted
              o waits NO_NODE_FITS: the ask needs 2 cpu, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps o
              o waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 2. Wait for a release on this node, or for capacity on another node.
            ask d1: app2 Accepted, no node is reserved for o, n1 keeps d1, n2 keeps o
              o waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 1 free, but the ask needs cpu 2. Wait for a release on this node, or for capacity on another node.
              d1 waits REQUIRED_NODE_FULL: the ask requires node n1, which has cpu 1 free, but the ask needs cpu 2. Wait for a release on this node.
            ask d2: n1 keeps d2
              d2 waits REQUIRED_NODE_FULL: the ask requires node n1, which has cpu 1 free, but the ask needs cpu 2. Wait for a release on this node.
            release f: f released, d1 on n1, app2 Running, d2 on n1
        "#]],
    );
}

#[test]
fn an_ask_too_large_for_its_required_node_holds_up_nobody() {
    check(
        "
        queue root.a
        node n1 cpu=4
        node n2 cpu=8
        app app1 root.a ann
        ask d app1 cpu=5 requires n1
        ask b app1 cpu=2
        resize n1 cpu=5
        ",
        expect![[r#"
            ask d: app1 Accepted
              d waits IMPOSSIBLE: no release can start the ask: the ask requires node n1, which has a capacity of cpu 4, but the ask needs cpu 5. Enlarge the node, or request less.
            ask b: b on n1, app1 Running
            resize n1: n1 keeps d, b to be stopped for d
              d waits PREEMPTION_PENDING: node n1 is reserved for the ask and has cpu 3 free, but the ask needs cpu 5. Preempted allocations on this node free cpu 2. Wait until these allocations stop.
        "#]],
    );
}

#[test]
fn a_kept_node_is_given_up_for_a_more_urgent_ask_only_when_its_ask_has_waited_long() {
    check(
        "
        queue root.a guaranteed c=4
        queue root.b
        queue root.fill
        node n1 c=4
        node n2 c=9
        node spare c=100
        drain spare
        app fill root.fill zoe
        ask f fill c=8 on n2 requires n2
        app B root.b ann
        ask v B c=4 on n1 preemptable
        ask low B c=3
        wait 3s
        app A root.a bob
        ask x A c=4 prio 1 preempts
        wait 40s
        resize n2 c=10
        wait 7100s
        resize n2 c=9
        wait 57s
        resize n2 c=10
        wait 15s
        release v as preempted
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n2, fill Running
            ask v: B Accepted, v on n1, B Running
            ask low
              low waits NO_NODE_FITS: the ask needs 3 c, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps low
              low waits NODE_RESOURCES: node n1 is reserved for the ask and has c 0 free, but the ask needs c 3. Wait for a release on this node, or for capacity on another node.
            ask x: A Accepted
              x waits NO_NODE_FITS: the ask needs 4 c, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            wait 40s: n2 keeps x, nothing to stop for x
              x waits NODE_RESOURCES: node n2 is reserved for the ask and has c 1 free, but the ask needs c 4. Wait for a release on this node, or for capacity on another node.
            resize n2
              x waits NODE_RESOURCES: node n2 is reserved for the ask and has c 2 free, but the ask needs c 4. Wait for a release on this node, or for capacity on another node.
            wait 7100s: nothing to stop for x
            resize n2
              x waits NODE_RESOURCES: node n2 is reserved for the ask and has c 1 free, but the ask needs c 4. Wait for a release on this node, or for capacity on another node.
            wait 57s: nothing to stop for x
            resize n2
              x waits NODE_RESOURCES: node n2 is reserved for the ask and has c 2 free, but the ask needs c 4. Wait for a release on this node, or for capacity on another node.
            wait 15s: no node is reserved for low, v to be stopped for x, no node is reserved for x, n1 keeps x, n2 keeps low
              low waits NODE_RESOURCES: node n2 is reserved for the ask and has c 2 free, but the ask needs c 3. Wait for a release on this node, or for capacity on another node.
              x waits PREEMPTION_PENDING: node n1 is reserved for the ask and has c 0 free, but the ask needs c 4. Preempted allocations on this node free c 4. Wait until these allocations stop.
            release v: v released, x on n1, A Running
        "#]],
    );
}

#[test]
fn a_node_kept_for_who_may_run_nowhere_else_is_never_given_up() {
    check(
        "
        queue root.a guaranteed c=4
        queue root.b
        queue root.fill
        node n1 c=4
        node n2 c=9
        node spare c=100
        drain spare
        app fill root.fill zoe
        ask f fill c=8 on n2 requires n2
        app B root.b ann
        ask v B c=4 prio 1 on n1
        ask low B c=3 requires n1
        wait 3s
        app A root.a bob
        ask x A c=4 prio 1 preempts
        wait 10000s
        resize n2 c=8
        wait 15s
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n2, fill Running
            ask v: B Accepted, v on n1, B Running
            ask low: n1 keeps low
              low waits REQUIRED_NODE_FULL: the ask requires node n1, which has c 0 free, but the ask needs c 3. Wait for a release on this node.
            wait 3s: nothing
            ask x: A Accepted
              x waits NO_NODE_FITS: the ask needs 4 c, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            wait 10000s: n2 keeps x, nothing to stop for x
              x waits NODE_RESOURCES: node n2 is reserved for the ask and has c 1 free, but the ask needs c 4. Wait for a release on this node, or for capacity on another node.
            resize n2
              x waits NODE_RESOURCES: node n2 is reserved for the ask and has c 0 free, but the ask needs c 4. Wait for a release on this node, or for capacity on another node.
            wait 15s: nothing to stop for x
        "#]],
    );
}

#[test]
fn what_may_not_be_stopped_for_a_required_node_is_left_out() {
    check(
        "
        queue root.a
        node n1 c=10 m=4
        node n2 c=10
        app A root.a ann
        ask pinned A c=2 on n1 requires n1
        ask urgent A c=2 prio 5 on n1
        ask other A m=1 on n1
        ask y A c=3 on n1
        ask z A c=3 on n1
        app D root.a bob
        ask d D c=7 requires n1
        ask e D c=6 requires n1
        release z as preempted
        ",
        expect![[r#"
            ask pinned: A Accepted, pinned on n1, A Running
            ask urgent: urgent on n1
            ask other: other on n1
            ask y: y on n1
            ask z: z on n1
            ask d: D Accepted, n1 keeps d
              d waits REQUIRED_NODE_FULL: the ask requires node n1, which has c 0 free, but the ask needs c 7. Wait for a release on this node.
            ask e: n1 keeps e, z to be stopped for e, y to be stopped for e
              e waits PREEMPTION_PENDING: node n1 is reserved for the ask and has c 0 free, but the ask needs c 6. Preempted allocations on this node free c 6. Wait until these allocations stop.
            release z: z released
              d waits REQUIRED_NODE_FULL: the ask requires node n1, which has c 3 free, but the ask needs c 7. Wait for a release on this node.
              e waits PREEMPTION_PENDING: node n1 is reserved for the ask and has c 3 free, but the ask needs c 6. Preempted allocations on this node free c 3. Wait until these allocations stop.
        "#]],
    );
}

/// Three asks that can run only on n1: the foreign allocations there decide whether it is reserved for them.
#[test]
fn a_required_node_is_kept_only_while_it_could_hold_the_ask() {
    check(
        "
        queue root.a
        node n1 cpu=4
        node spare cpu=100
        drain spare
        app fill root.a zoe
        ask f fill cpu=2 on n1
        app app1 root.a ann
        ask d app1 cpu=3 requires n1
        ask e app1 cpu=4 requires n1
        foreign g n1 cpu=1
        foreign g n1 cpu=2
        foreign g n1 cpu=1
        release f
        foreign-gone g
        release d
        ",
        expect![[r#"
            drain spare: nothing
            ask f: fill Accepted, f on n1, fill Running
            ask d: app1 Accepted, n1 keeps d, f to be stopped for d
              d waits PREEMPTION_PENDING: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Preempted allocations on this node free cpu 2. Wait until these allocations stop.
            ask e: n1 keeps e
              e waits REQUIRED_NODE_FULL: the ask requires node n1, which has cpu 2 free, but the ask needs cpu 4. Wait for a release on this node.
            foreign g: no node is reserved for e, g occupies n1
              d waits PREEMPTION_PENDING: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Preempted allocations on this node free cpu 2. Wait until these allocations stop.
              e waits REQUIRED_NODE_SIZE: the ask requires node n1, on which foreign allocations leave cpu 3, but the ask needs cpu 4. Move the foreign allocations, or request less.
            foreign g: no node is reserved for d, g occupies n1
              d waits REQUIRED_NODE_SIZE: the ask requires node n1, on which foreign allocations leave cpu 2, but the ask needs cpu 3. Move the foreign allocations, or request less.
              e waits REQUIRED_NODE_SIZE: the ask requires node n1, on which foreign allocations leave cpu 2, but the ask needs cpu 4. Move the foreign allocations, or request less.
            foreign g: g occupies n1, n1 keeps d
              d waits PREEMPTION_PENDING: node n1 is reserved for the ask and has cpu 1 free, but the ask needs cpu 3. Preempted allocations on this node free cpu 2. Wait until these allocations stop.
              e waits REQUIRED_NODE_SIZE: the ask requires node n1, on which foreign allocations leave cpu 3, but the ask needs cpu 4. Move the foreign allocations, or request less.
            release f: f released, fill Completing, d on n1, app1 Running
            foreign-gone g: g gone, n1 keeps e
              e waits REQUIRED_NODE_FULL: the ask requires node n1, which has cpu 1 free, but the ask needs cpu 4. Wait for a release on this node.
            release d: d released, e on n1
        "#]],
    );
}

/// Nothing happens in between: the reservation of `low` falls due, and what was tried in vain for `x` is
/// tried again.
#[test]
#[doc(alias = "NS-11")]
fn a_node_that_falls_due_wakes_what_was_tried_in_vain() {
    check(
        "
        queue root.a guaranteed c=4
        queue root.b
        node n1 c=4
        node spare c=100
        drain spare
        app B root.b ann
        ask v B c=4 on n1 preemptable
        ask low B c=3
        wait 3s
        app A root.a bob
        ask x A c=4 prio 1 preempts
        wait 40s
        wait 7162s
        wait 1s
        release v as preempted
        ",
        expect![[r#"
            drain spare: nothing
            ask v: B Accepted, v on n1, B Running
            ask low
              low waits NO_NODE_FITS: the ask needs 3 c, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps low
              low waits NODE_RESOURCES: node n1 is reserved for the ask and has c 0 free, but the ask needs c 3. Wait for a release on this node, or for capacity on another node.
            ask x: A Accepted
              x waits NO_NODE_FITS: the ask needs 4 c, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            wait 40s: nothing to stop for x
            wait 7162s: nothing
            wait 1s: no node is reserved for low, v to be stopped for x, n1 keeps x
              low waits NO_NODE_FITS: the ask needs 3 c, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
              x waits PREEMPTION_PENDING: node n1 is reserved for the ask and has c 0 free, but the ask needs c 4. Preempted allocations on this node free c 4. Wait until these allocations stop.
            release v: v released, x on n1, A Running, n1 keeps low
              low waits NODE_RESOURCES: node n1 is reserved for the ask and has c 0 free, but the ask needs c 3. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}

/// The ask is older than two hours, and its reservation is not.
#[test]
#[doc(alias = "NS-11")]
fn the_age_of_a_reservation_counts_and_not_that_of_its_ask() {
    check(
        "
        queue root.a guaranteed c=4
        queue root.b
        node n1 c=4
        node spare c=100
        drain spare
        app B root.b ann
        ask v B c=4 on n1 preemptable
        ask low B c=5
        wait 7300s
        ask low B c=3
        app A root.a bob
        ask x A c=4 prio 1 preempts
        wait 60s
        wait 7141s
        wait 3s
        ",
        expect![[r#"
            drain spare: nothing
            ask v: B Accepted, v on n1, B Running
            ask low
              low waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            wait 7300s: nothing
            ask low: low resized, n1 keeps low
              low waits NODE_RESOURCES: node n1 is reserved for the ask and has c 0 free, but the ask needs c 3. Wait for a release on this node, or for capacity on another node.
            ask x: A Accepted
              x waits NO_NODE_FITS: the ask needs 4 c, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            wait 60s: nothing to stop for x
            wait 7141s: nothing
            wait 3s: no node is reserved for low, v to be stopped for x, n1 keeps x
              low waits NO_NODE_FITS: the ask needs 3 c, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
              x waits PREEMPTION_PENDING: node n1 is reserved for the ask and has c 0 free, but the ask needs c 4. Preempted allocations on this node free c 4. Wait until these allocations stop.
        "#]],
    );
}
