//! Asks that no release can start stand in nobody's way, and start once they can.

use expect_test::expect;

use super::check;

/// Each kind of impossible ask is passed by the next one in strict FIFO order, and reported with the reason.
#[test]
#[doc(alias = "NS-01")]
#[doc(alias = "NS-02")]
fn what_no_release_can_start_is_passed_in_a_strict_line() {
    check(
        "
        tenants root.tenants
        queue root.a max vcore=8 prop application.sort.policy=fifo-strict
        node n1 vcore=8
        node n2 vcore=8
        foreign agent n1 vcore=2 static
        foreign agent2 n2 vcore=2 static
        app big root.a ann
        ask size big vcore=7
        app max root.a ann
        ask maximum max vcore=9
        app gpu root.a ann
        ask type gpu vcore=1 gpu=1
        app label root.a ann
        ask label label vcore=1 labelled fast
        app blocked root.a ann
        ask blocked blocked vcore=1 not-on n1,n2
        app daemon root.a ann
        ask pinned daemon vcore=1 requires n9
        app next root.a bob
        ask next next vcore=6
        ",
        expect![[r#"
            foreign agent: agent occupies n1
            foreign agent2: agent2 occupies n2
            ask size: big Accepted
              size waits IMPOSSIBLE: no release can start the ask: the ask needs 7 vcore, but no node in use has more than 6. Add a larger node, or request less.
            ask maximum: max Accepted
              maximum waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but the maximum of queue root.a is 8. Raise the maximum, or request less.
            ask type: gpu Accepted
              type waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask label: label Accepted
              label waits IMPOSSIBLE: no release can start the ask: no node in use with the label fast is open to the ask. Add such a node, or submit the ask with another label.
            ask blocked: blocked Accepted
              blocked waits IMPOSSIBLE: no release can start the ask: every node in use that is large enough is on the block list of the ask. Submit the ask with a shorter block list, or add nodes.
            ask pinned: daemon Accepted
              pinned waits IMPOSSIBLE: no release can start the ask: the ask requires node n9, which is not registered. Register the node, or withdraw the ask.
            ask next: next Accepted, next on n1, next Running
        "#]],
    );
}

/// It keeps its place: once a node has the type it is the head again, before later asks.
#[test]
#[doc(alias = "NS-02")]
fn an_ask_that_becomes_possible_is_in_its_old_place() {
    check(
        "
        queue root.a max vcore=4 prop application.sort.policy=fifo-strict
        node n1 vcore=4
        app head root.a ann
        ask head head vcore=3 gpu=1
        app next root.a bob
        ask n1 next vcore=2
        ask n2 next vcore=2
        ask n3 next vcore=2
        node g1 vcore=4 gpu=1
        release n1
        release n2
        lose g1
        ",
        expect![[r#"
            ask head: head Accepted
              head waits IMPOSSIBLE: no release can start the ask: the ask needs 1 gpu, but no node in use has gpu. Add a node with gpu, or request less.
            ask n1: next Accepted, n1 on n1, next Running
            ask n2: n2 on n1
            ask n3
              n3 waits QUEUE_MAX: queue root.a has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            node g1
              head waits QUEUE_MAX: queue root.a has 0 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
              n3 waits BEHIND_HEAD: ask head of application head is the head of line of queue root.a and needs 3 vcore. The maximum leaves 0 for others, but this ask needs 2. Wait until the head of line starts, or set `application.sort.policy` to `fifo-backfill`.
            release n1: n1 released
              head waits QUEUE_MAX: queue root.a has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            release n2: n2 released, head on g1, head Running
              n3 waits QUEUE_MAX: queue root.a has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            lose g1: head lost, head Completing, n3 on n1
        "#]],
    );
}

/// A gang of a tenant that the nodes never hold at once does not hold up the tenant's next task.
#[test]
#[doc(alias = "NS-01")]
#[doc(alias = "NS-02")]
fn a_gang_larger_than_the_nodes_does_not_hold_up_its_tenant() {
    check(
        "
        tenants root.tenants
        node n1 vcore=4
        node n2 vcore=4
        tenant lab quota vcore=100
        task gang lab ann vcore=3 x3
        task small lab ann vcore=1
        node n3 vcore=4
        ",
        expect![[r#"
            tenant lab: tenant lab set, root.tenants.lab made
            task gang: task gang of lab, gang Accepted, gang throttled IMPOSSIBLE 
              gang.1 waits IMPOSSIBLE: no release can start the task: its 3 members start together and need vcore 3 each, but the nodes in use can hold 2 of them. Add nodes, or request less.
              gang.2 waits IMPOSSIBLE: no release can start the task: its 3 members start together and need vcore 3 each, but the nodes in use can hold 2 of them. Add nodes, or request less.
              gang.3 waits IMPOSSIBLE: no release can start the task: its 3 members start together and need vcore 3 each, but the nodes in use can hold 2 of them. Add nodes, or request less.
            task small: task small of lab, small Accepted, small on n1, small Running
            node n3: gang.1 on n2, gang Running, gang.2 on n3, gang.3 on n1
        "#]],
    );
}

/// Nothing is stopped for an ask that no release can start.
#[test]
#[doc(alias = "NS-02")]
fn nothing_is_stopped_for_an_impossible_ask() {
    check(
        "
        queue root.a guaranteed vcore=8
        queue root.b
        node n1 vcore=4
        node n2 vcore=4
        app low root.b bob
        ask l1 low vcore=4 preemptable
        ask l2 low vcore=4 preemptable
        app high root.a ann
        ask h1 high vcore=5 preempts
        wait 60s
        ask h2 high vcore=4 preempts
        wait 60s
        ",
        expect![[r#"
            ask l1: low Accepted, l1 on n1, low Running
            ask l2: l2 on n2
            ask h1: high Accepted
              h1 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 vcore, but no node in use has more than 4. Add a larger node, or request less.
            wait 60s: nothing
            ask h2
              h2 waits ROOT_CAPACITY: the cluster has 0 of 8 vcore available, but the ask needs 4. Wait for a release, or add nodes.
            wait 60s: l2 to be stopped for h2, n2 keeps h2
        "#]],
    );
}

/// A reservation ends when its ask becomes impossible.
#[test]
#[doc(alias = "NS-02")]
fn an_ask_that_becomes_impossible_gives_its_node_up() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=4
        app other root.a ann
        ask o1 other vcore=2 on n1
        ask o2 other vcore=2 on n2
        app app1 root.a bob
        ask a1 app1 vcore=3
        wait 3s
        reload
        queue root.a max vcore=2
        ",
        expect![[r#"
            ask o1: other Accepted, o1 on n1, other Running
            ask o2: o2 on n2
            ask a1: app1 Accepted
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps a1
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 2 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
            reload: root.a changed, no node is reserved for a1
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 vcore, but the maximum of queue root.a is 2. Raise the maximum, or request less.
        "#]],
    );
}
