//! Nodes with a label, and nodes that an ask may not have. User headroom §3 (checks 5 and 12), §10
//! (C18), seed letter (a).

use expect_test::expect;

use crate::check;

#[test]
fn c18_only_asks_for_its_label_are_placed_on_a_node_that_has_one() {
    check(
        "
        queue root exclusive gpu
        queue root.q
        node plain vcore=2
        node g1 vcore=4 labelled gpu
        app app1 root.q ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=3 labelled gpu
        ask a3 app1 vcore=2 labelled gpu
        ask a4 app1 vcore=1 labelled fpga
        ask a5 app1 vcore=2
        release a2
        node g2 vcore=1 labelled fpga
        reload
        queue root.q
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODE_FITS: no node fits: the ask needs 3000 m vcore, the most that any node in use has free is 2000 m; wait for a release, or add nodes
            ask a2: a2 on g1, app1 Running
            ask a3
              a3 waits NO_NODE_FITS: no node fits: the ask needs 2000 m vcore, the most that any node in use has free is 1000 m; wait for a release, or add nodes
            ask a4
              a4 waits NO_PARTITION_ACCESS: no node of the partition has the label that the ask wishes for; add nodes with it, or ask again with another label
            ask a5: a5 on plain
              a1 waits ROOT_CAPACITY: the cluster has 1000 m vcore left of its maximum of 6000 m, the ask needs 3000 m; wait for a release, or add nodes
              a3 waits ROOT_CAPACITY: the cluster has 1000 m vcore left of its maximum of 6000 m, the ask needs 2000 m; wait for a release, or add nodes
            release a2: a2 released, a3 on g1
              a1 waits ROOT_CAPACITY: the cluster has 2000 m vcore left of its maximum of 6000 m, the ask needs 3000 m; wait for a release, or add nodes
            node g2: a4 on g2
              a1 waits ROOT_CAPACITY: the cluster has 2000 m vcore left of its maximum of 7000 m, the ask needs 3000 m; wait for a release, or add nodes
            reload: root changed, root.q changed
        "#]],
    );
}

#[test]
fn letter_a_an_ask_that_blocks_every_node_with_room_waits_for_another() {
    check(
        "
        queue root.q
        node n1 vcore=4
        node n2 vcore=4
        app app1 root.q ann
        ask a1 app1 vcore=3 not-on n1
        ask a2 app1 vcore=3 not-on n1
        ask a3 app1 vcore=3 not-on n2
        ask a4 app1 vcore=3 not-on n1
        wait 3s
        release a1
        ask a4 app1 vcore=3 not-on n2,n3
        node n3 vcore=4
        node n4 vcore=4
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n2, app1 Running
            ask a2
              a2 waits NODE_BLOCKED: every node that has room for the ask is on its block list; wait for another node to have room, or ask again with a shorter list
            ask a3: a3 on n1
              a2 waits ROOT_CAPACITY: the cluster has 2000 m vcore left of its maximum of 8000 m, the ask needs 3000 m; wait for a release, or add nodes
            ask a4
              a4 waits ROOT_CAPACITY: the cluster has 2000 m vcore left of its maximum of 8000 m, the ask needs 3000 m; wait for a release, or add nodes
            wait 3s: nothing
            release a1: a1 released, a2 on n2
            ask a4: a4 withdrawn
              a4 waits ROOT_CAPACITY: the cluster has 2000 m vcore left of its maximum of 8000 m, the ask needs 3000 m; wait for a release, or add nodes
            node n3: n1 keeps a4
              a4 waits NODE_RESOURCES: node n1 is kept for the ask and has {vcore: 1000 m} free, the ask needs {vcore: 3000 m}; wait for a release there, or for another node with room
            node n4: a4 on n4
        "#]],
    );
}

#[test]
fn c18_a_queue_says_which_labels_its_asks_may_name_and_which_they_have_by_default() {
    check(
        "
        rule provided create
        queue root.a labels gpu label gpu
        queue root.a.x
        queue root.a.y labels -
        queue root.b labels *
        queue root.p parent labels -
        node g1 vcore=9 labelled gpu
        app app1 root.a.x ann
        app app2 root.a.y ann
        app app3 root.b ann
        app app4 root.p.made ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1 labelled fpga
        ask b1 app2 vcore=1 labelled gpu
        ask c1 app3 vcore=1 labelled gpu
        ask c2 app3 vcore=1
        ask d1 app4 vcore=1 labelled gpu
        ",
        expect![[r#"
            app app4: root.p.made made
            ask a1: app1 Accepted, a1 on g1, app1 Running
            ask a2: refused NO_PARTITION_ACCESS: ask a2 wants nodes of label fpga, to which queue root.a.x has no access; name the label in `nodelabels.accessible` of the queue, or use another queue
            ask b1: refused NO_PARTITION_ACCESS: ask b1 wants nodes of label gpu, to which queue root.a.y has no access; name the label in `nodelabels.accessible` of the queue, or use another queue
            ask c1: app3 Accepted, c1 on g1, app3 Running
            ask c2: c2 on g1
            ask d1: refused NO_PARTITION_ACCESS: ask d1 wants nodes of label gpu, to which queue root.p.made has no access; name the label in `nodelabels.accessible` of the queue, or use another queue
        "#]],
    );
}

#[test]
fn c18_nodes_are_kept_and_victims_found_among_those_that_suit_alone() {
    check(
        "
        queue root exclusive *
        queue root.a guaranteed vcore=4
        queue root.b guaranteed vcore=4
        node g1 vcore=4 labelled gpu
        node n1 vcore=4
        app app1 root.a ann
        app app2 root.b bob
        ask a1 app1 vcore=4 preemptable
        ask a2 app1 vcore=4 labelled gpu preemptable
        ask b1 app2 vcore=4 labelled gpu preempts
        wait 3s
        wait 60s
        release a2 as preempted
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on g1
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 m vcore left of its maximum of 8000 m, the ask needs 4000 m; wait for a release, or add nodes
            wait 3s: nothing
            wait 60s: a2 to be stopped for b1, g1 keeps b1
            release a2: a2 released, b1 on g1, app2 Running
        "#]],
    );
}

#[test]
fn c18_an_ask_for_one_node_may_have_it_whatever_its_label() {
    check(
        "
        queue root exclusive gpu
        queue root.q
        node g1 vcore=4 labelled gpu
        app app1 root.q ann
        ask a1 app1 vcore=1 requires g1
        ask a2 app1 vcore=4 requires g1 not-on g1
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on g1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 3000 m vcore left of its maximum of 4000 m, the ask needs 4000 m; wait for a release, or add nodes
            release a1: a1 released, a2 on g1
        "#]],
    );
}

#[test]
fn c18_a_member_takes_the_place_of_a_placeholder_on_a_node_that_suits_it() {
    check(
        "
        queue root exclusive gpu
        queue root.q
        node g1 vcore=4 labelled gpu
        node n1 vcore=4
        app g1 root.q ann gang vcore=2
        ask p1 g1 vcore=1 placeholder group w
        ask p2 g1 vcore=1 placeholder group w labelled gpu
        ask m1 g1 vcore=1 group w labelled gpu
        ask m2 g1 vcore=1 group w not-on n1
        ask m3 g1 vcore=1 group w
        ",
        expect![[r#"
            ask p1: g1 Accepted, p1 on n1
            ask p2: p2 on g1, g1 Running
            ask m1: m1 takes the place of p2 on g1
            ask m2
              m2 waits AWAITING_PLACEHOLDER: application g1 has placeholders for task group w, and the ask can take the place of none now; wait until one is placed or stopped
            ask m3: m3 takes the place of p1 on n1
        "#]],
    );
}
