//! Holds and gathering gangs against reserved nodes, heads of line, and other queues. No-starvation NS-21, NS-24.

use expect_test::expect;

use crate::check;

/// The ask of the hold needs the whole node that another ask reserved. That ask waits for the hold.
#[test]
#[doc(alias = "NS-21")]
fn an_ask_behind_a_hold_gives_its_reserved_node_up() {
    check(
        "
        starvation 10s
        queue root.a
        queue root.b
        node n1 cpu=8
        node n2 cpu=8
        app s root.a ann
        ask s1 s cpu=6
        ask s2 s cpu=6
        app r root.a ann
        ask r1 r cpu=3
        wait 3s
        app l root.b bob
        ask l1 l cpu=8
        wait 11s
        release s1
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask s2: s2 on n2
            ask r1: r Accepted
              r1 waits NO_NODE_FITS: the ask needs 3 cpu, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: n1 keeps r1
              r1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 2 free, but the ask needs cpu 3. Wait for a release on this node, or for capacity on another node.
            ask l1: l Accepted
              l1 waits ROOT_CAPACITY: the cluster has 4 of 16 cpu available, but the ask needs 8. Wait for a release, or add nodes.
            wait 11s: root holds room for l1, no node is reserved for r1
              r1 waits HELD: queue root holds capacity since 14000 ms for an ask that has waited too long. That leaves 0 cpu for others, but this ask needs 3. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
            release s1: s1 released, l1 on n1, l Running, root holds room for r1
              r1 waits ROOT_CAPACITY: the cluster has 2 of 16 cpu available, but the ask needs 3. Wait for a release, or add nodes.
        "#]],
    );
}

/// Node n1 has the most free capacity, but what runs there is a part of the gang and does not end.
#[test]
#[doc(alias = "NS-24")]
#[doc(alias = "NS-30")]
fn a_gang_reserves_no_node_on_which_it_is_in_its_own_way() {
    check(
        "
        gangs whole
        queue root.a
        node n1 cpu=8
        node n2 cpu=8
        node n3 cpu=8
        app s root.a ann
        ask s1 s cpu=6 on n2
        ask s2 s cpu=6 on n3
        app g root.a bob gang cpu=15
        ask p1 g cpu=5 placeholder group w
        ask p2 g cpu=5 placeholder group w
        ask p3 g cpu=5 placeholder group w
        wait 3s
        release s1
        release s2
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n2, s Running
            ask s2: s2 on n3
            ask p1: g Accepted
              p1 waits GANG_INCOMPLETE: application g has not requested all placeholders of its gang yet, which need cpu 15 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p2
              p2 waits GANG_INCOMPLETE: application g has not requested all placeholders of its gang yet, which need cpu 15 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p3: p1 on n1
              p2 waits NO_NODE_FITS: the ask needs 5 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
              p3 waits NO_NODE_FITS: the ask needs 5 cpu, but no node that the ask can use has more than 3 free. Wait for a release, or add nodes.
            wait 3s: n2 keeps p2, n3 keeps p3
              p2 waits NODE_RESOURCES: node n2 is reserved for the ask and has cpu 2 free, but the ask needs cpu 5. Wait for a release on this node, or for capacity on another node.
              p3 waits NODE_RESOURCES: node n3 is reserved for the ask and has cpu 2 free, but the ask needs cpu 5. Wait for a release on this node, or for capacity on another node.
            release s1: s1 released, p2 on n2
            release s2: s2 released, s Completing, p3 on n3, g Running
        "#]],
    );
}

/// The head waits for a card. The ask with the hold has free amounts on both nodes, and needs one of them for itself.
#[test]
#[doc(alias = "NS-21")]
fn an_ask_with_a_hold_reserves_a_node_without_being_the_head_of_line() {
    check(
        "
        starvation 10s
        queue root.a prop application.sort.policy=priority
        node n1 cpu=8 gpu=1
        node n2 cpu=8
        app s root.a ann
        ask g1 s gpu=1
        ask s1 s cpu=4 on n1
        ask s2 s cpu=4 on n1
        ask s3 s cpu=4 on n2
        ask s4 s cpu=4 on n2
        app l root.a ann
        ask l1 l cpu=5
        wait 5s
        app h root.a ann
        ask h1 h gpu=1 prio 9
        wait 6s
        release s1
        release s3
        wait 3s
        release s2
        ",
        expect![[r#"
            ask g1: s Accepted, g1 on n1, s Running
            ask s1: s1 on n1
            ask s2: s2 on n1
            ask s3: s3 on n2
            ask s4: s4 on n2
            ask l1: l Accepted
              l1 waits ROOT_CAPACITY: the cluster has 0 of 16 cpu available, but the ask needs 5. Wait for a release, or add nodes.
            wait 5s: nothing
            ask h1: h Accepted
              h1 waits ROOT_CAPACITY: the cluster has 0 of 1 gpu available, but the ask needs 1. Wait for a release, or add nodes.
            wait 6s: root holds room for l1
            release s1: s1 released
              l1 waits ROOT_CAPACITY: the cluster has 4 of 16 cpu available, but the ask needs 5. Wait for a release, or add nodes.
            release s3: s3 released, n1 keeps l1
              l1 waits NODE_RESOURCES: node n1 is reserved for the ask and has cpu 4 free, but the ask needs cpu 5. Wait for a release on this node, or for capacity on another node.
            wait 3s: nothing
            release s2: s2 released, l1 on n1, l Running
        "#]],
    );
}

/// Without this, the gang would hold what the head needs, and the head would keep the gang from ever being complete.
#[test]
#[doc(alias = "NS-24")]
#[doc(alias = "NS-30")]
fn a_gang_that_gathers_does_not_wait_for_the_head_of_line() {
    check(
        "
        gangs whole
        queue root.a prop application.sort.policy=priority prop application.sort.maxovertakes=0
        node n1 cpu=8
        app s root.a ann
        ask s1 s cpu=3
        ask s2 s cpu=3
        app g root.a bob gang cpu=4
        ask p1 g cpu=2 placeholder group w
        ask p2 g cpu=2 placeholder group w
        app u root.a eve
        ask u1 u cpu=8 prio 9
        release s1
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask s2: s2 on n1
            ask p1: g Accepted
              p1 waits GANG_INCOMPLETE: application g has not requested all placeholders of its gang yet, which need cpu 4 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p2: p1 on n1
              p2 waits ROOT_CAPACITY: the cluster has 0 of 8 cpu available, but the ask needs 2. Wait for a release, or add nodes.
            ask u1: u Accepted
              u1 waits ROOT_CAPACITY: the cluster has 0 of 8 cpu available, but the ask needs 8. Wait for a release, or add nodes.
            release s1: s1 released, p2 on n1, g Running
              u1 waits ROOT_CAPACITY: the cluster has 1 of 8 cpu available, but the ask needs 8. Wait for a release, or add nodes.
        "#]],
    );
}

/// By fair share, queue b would get the next hold, and each one after it: the gang only makes the share of a grow.
#[test]
#[doc(alias = "NS-20")]
#[doc(alias = "NS-24")]
fn a_gang_that_gathers_gets_the_next_hold_before_a_queue_with_less() {
    check(
        "
        gangs whole
        starvation 10s
        queue root.a
        queue root.b
        node n1 cpu=8
        app s root.b ann
        ask s1 s cpu=2
        ask s2 s cpu=2
        ask s3 s cpu=2
        app g root.a bob gang cpu=6
        ask p1 g cpu=2 placeholder group w
        ask p2 g cpu=2 placeholder group w
        ask p3 g cpu=2 placeholder group w
        app t root.b ann
        ask t1 t cpu=2
        wait 11s
        release s1
        release s2
        release s3
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask s2: s2 on n1
            ask s3: s3 on n1
            ask p1: g Accepted
              p1 waits GANG_INCOMPLETE: application g has not requested all placeholders of its gang yet, which need cpu 6 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p2
              p2 waits GANG_INCOMPLETE: application g has not requested all placeholders of its gang yet, which need cpu 6 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p3: p1 on n1
              p2 waits ROOT_CAPACITY: the cluster has 0 of 8 cpu available, but the ask needs 2. Wait for a release, or add nodes.
              p3 waits ROOT_CAPACITY: the cluster has 0 of 8 cpu available, but the ask needs 2. Wait for a release, or add nodes.
            ask t1: t Accepted
              t1 waits ROOT_CAPACITY: the cluster has 0 of 8 cpu available, but the ask needs 2. Wait for a release, or add nodes.
            wait 11s: root holds room for p2
            release s1: s1 released, p2 on n1, root holds room for p3
            release s2: s2 released, p3 on n1, g Running, root holds room for t1
            release s3: s3 released, s Completing, t1 on n1, t Running
        "#]],
    );
}
