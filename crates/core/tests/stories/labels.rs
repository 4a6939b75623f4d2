//! Nodes with a label, and nodes that an ask may not have. User headroom §3 (checks 5 and 12), §10
//! (C18), seed letter (a).

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "C18")]
fn only_asks_for_its_label_are_placed_on_a_node_that_has_one() {
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
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 vcore, but no node in use has more than 2. Add a larger node, or request less.
            ask a2: a2 on g1, app1 Running
            ask a3
              a3 waits ROOT_CAPACITY: the cluster has 1 of 4 vcore@gpu available, but the ask needs 2. Wait for a release, or add nodes.
            ask a4
              a4 waits IMPOSSIBLE: no release can start the ask: no node in use with the label fpga is open to the ask. Add such a node, or submit the ask with another label.
            ask a5: a5 on plain
            release a2: a2 released, a3 on g1
            node g2: a4 on g2
            reload: root changed, a3 resized, root.q changed
              a1 waits ROOT_CAPACITY: the cluster has 2 of 7 vcore available, but the ask needs 3. Wait for a release, or add nodes.
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
              a2 waits NODE_BLOCKED: 1 of 2 nodes has enough free capacity, but 1 of those is on the block list of the ask. Wait for capacity on another node, or submit the ask with a shorter list.
            ask a3: a3 on n1
              a2 waits ROOT_CAPACITY: the cluster has 2 of 8 vcore available, but the ask needs 3. Wait for a release, or add nodes.
            ask a4
              a4 waits ROOT_CAPACITY: the cluster has 2 of 8 vcore available, but the ask needs 3. Wait for a release, or add nodes.
            wait 3s: nothing
            release a1: a1 released, a2 on n2
            ask a4: a4 withdrawn
              a4 waits ROOT_CAPACITY: the cluster has 2 of 8 vcore available, but the ask needs 3. Wait for a release, or add nodes.
            node n3: n1 keeps a4
              a4 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 1 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
            node n4: a4 on n4
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_queue_says_which_labels_its_asks_may_name_and_which_they_have_by_default() {
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
            ask a2: refused NO_PARTITION_ACCESS: ask a2 requests nodes with label fpga, but queue root.a.x has no access to this label. Add the label to `nodelabels.accessible` of the queue, or use another queue.
            ask b1: refused NO_PARTITION_ACCESS: ask b1 requests nodes with label gpu, but queue root.a.y has no access to this label. Add the label to `nodelabels.accessible` of the queue, or use another queue.
            ask c1: app3 Accepted, c1 on g1, app3 Running
            ask c2: c2 on g1
            ask d1: refused NO_PARTITION_ACCESS: ask d1 requests nodes with label gpu, but queue root.p.made has no access to this label. Add the label to `nodelabels.accessible` of the queue, or use another queue.
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn nodes_are_kept_and_victims_found_among_those_that_suit_alone() {
    check(
        "
        queue root exclusive *
        queue root.a guaranteed vcore=4
        queue root.b guaranteed vcore@gpu=4
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
              b1 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore@gpu available, but the ask needs 4. Wait for a release, or add nodes.
            wait 3s: nothing
            wait 60s: nothing to stop for b1
            release a2: a2 released, b1 on g1, app2 Running
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn an_ask_for_one_node_may_have_it_whatever_its_label() {
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
              a2 waits ROOT_CAPACITY: the cluster has 3 of 4 vcore@gpu available, but the ask needs 4. Wait for a release, or add nodes.
            release a1: a1 released, a2 on g1
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_member_takes_the_place_of_a_placeholder_on_a_node_that_suits_it() {
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
              m2 waits GANG_INCOMPLETE: application g1 has placeholders for task group w, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            ask m3: m3 takes the place of p1 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn maxima_limits_and_guarantees_of_a_label_hold_by_its_types() {
    check(
        "
        queue root exclusive gpu
        queue root.a max vcore@gpu=3
        queue root.b
        limit root.b user ann vcore@gpu=1
        node n1 vcore=8
        node g1 vcore=8 labelled gpu
        app app1 root.a ann
        app app2 root.b ann
        ask a1 app1 vcore=3 labelled gpu
        ask a2 app1 vcore=1 labelled gpu
        ask a3 app1 vcore=4
        ask b1 app2 vcore=1 labelled gpu
        ask b2 app2 vcore=1 labelled gpu
        ask b3 app2 vcore=4
        ask b4 app2 vcore@gpu=1
        show root.a
        show user ann
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on g1, app1 Running
            ask a2
              a2 waits QUEUE_MAX: queue root.a has 0 of 3 vcore@gpu available, but the ask needs 1. Wait for a release, or raise the maximum.
            ask a3: a3 on n1
            ask b1: app2 Accepted, b1 on g1, app2 Running
            ask b2
              b2 waits ABS_USER_LIMIT: user ann at root.b has 0 of 1 vcore@gpu available, but the ask needs 1. Wait for a release, or raise the limit.
            ask b3: b3 on n1
            ask b4: refused TYPE_OF_LABEL: the ask names vcore@gpu, which counts vcore on nodes with label gpu. Use vcore instead, and set the node label gpu.
              root.a: in force {vcore: 8000 m, vcore@gpu: 3000 m}, uses {vcore: 4000 m, vcore@gpu: 3000 m}, headroom {vcore: 0 m, vcore@gpu: 0 m}, share 1, runs 1
              ann at root.a: uses {vcore: 4000 m, vcore@gpu: 3000 m}, left none, runs 1
              ann at root.b: uses {vcore: 4000 m, vcore@gpu: 1000 m}, left {vcore@gpu: 0 m}, runs 1
              ann at root: uses {vcore: 8000 m, vcore@gpu: 4000 m}, left none, runs 2
            release a1: a1 released, a2 on g1
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn users_share_the_nodes_of_a_label_by_themselves() {
    check(
        "
        queue root exclusive gpu
        queue root.a percent=100 percent@gpu=50 share smooth;strict;p=1;f=1
        queue root.b percent=0 percent@gpu=50
        node n1 vcore=4
        node g1 vcore=8 labelled gpu
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=2 labelled gpu
        ask b1 app2 vcore=3
        ask b2 app2 vcore=1 labelled gpu
        ask a2 app1 vcore=1 labelled gpu
        ask b3 app2 vcore=4 labelled gpu
        ask a3 app1 vcore=2 labelled gpu
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on g1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask b2: b2 on g1
            ask a2: a2 on g1
            ask b3
              b3 waits USER_SHARE: user bob at root.a uses 1 vcore@gpu of a fair share of 4, and the ask needs 4 more. Wait for a release by this user, or until the other active users reach their shares.
            ask a3
              a3 waits USER_SHARE: user ann at root.a uses 3 vcore@gpu of a fair share of 2, and the ask needs 2 more. Wait for a release by this user, or until the other active users reach their shares.
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn who_shares_by_dominant_use_or_memory_does_so_for_each_label() {
    for calculator in ["dominant", "memory"] {
        check(
            &format!(
                "
                queue root exclusive gpu
                queue root.a percent=100 percent@gpu=100 share yarn3;strict;{calculator};p=50
                node n1 vcore=100 memory=100
                node g1 vcore=4 memory=4 labelled gpu
                app app1 root.a ann
                app app2 root.a bob
                ask a1 app1 vcore=60 memory=60
                ask b0 app2 vcore=1 memory=4 labelled gpu
                ask b1 app2 vcore=2 memory=2 labelled gpu
                ask a2 app1 vcore=2 memory=2 labelled gpu
                "
            ),
            expect![[r#"
                ask a1: app1 Accepted
                  a1 waits USER_SHARE: user ann at root.a uses 0 memory of a fair share of 50, and the ask needs 60 more. Wait for a release by this user, or until the other active users reach their shares.
                ask b0: app2 Accepted
                  b0 waits USER_SHARE: user bob at root.a uses 0 memory@gpu of a fair share of 2, and the ask needs 4 more. Wait for a release by this user, or until the other active users reach their shares.
                ask b1: b1 on g1, app2 Running
                  b0 waits ROOT_CAPACITY: the cluster has 2 of 4 memory@gpu available, but the ask needs 4. Wait for a release, or add nodes.
                ask a2: a2 on g1, app1 Running
                  b0 waits ROOT_CAPACITY: the cluster has 0 of 4 memory@gpu available, but the ask needs 4. Wait for a release, or add nodes.
            "#]],
        );
    }
}

#[test]
#[doc(alias = "C18")]
fn what_is_there_is_counted_anew_when_a_label_becomes_exclusive_or_is_so_no_more() {
    check(
        "
        queue root
        queue root.a max vcore=4
        node n1 vcore=4
        node g1 vcore=4 labelled gpu
        app app1 root.a ann
        foreign f1 g1 vcore=1
        ask a1 app1 vcore=2 on g1
        ask a2 app1 vcore=3 labelled gpu
        ask a3 app1 vcore=1
        show root.a
        reload
        queue root exclusive gpu
        queue root.a max vcore=4
        show root.a
        show user ann
        release a1
        show root.a
        reload
        queue root.a max vcore=4
        show root.a
        show user ann
        ",
        expect![[r#"
            foreign f1: f1 occupies g1
            ask a1: app1 Accepted, a1 on g1, app1 Running
            ask a2
              a2 waits QUEUE_MAX: queue root.a has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            ask a3: a3 on n1
              a2 waits QUEUE_MAX: queue root.a has 1 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
              root.a: in force {vcore: 4000 m}, uses {vcore: 3000 m}, headroom {vcore: 1000 m}, share 0.75, runs 1
            reload: root changed, f1 occupies g1, a1 resized, a2 resized, root.a changed
              a2 waits ROOT_CAPACITY: the cluster has 2 of 4 vcore@gpu available, but the ask needs 3. Wait for a release, or add nodes.
              root.a: in force {vcore: 4000 m, vcore@gpu: 4000 m}, uses {vcore: 1000 m, vcore@gpu: 2000 m}, headroom {vcore: 3000 m, vcore@gpu: 2000 m}, share 0.5, runs 1
              ann at root.a: uses {vcore: 1000 m, vcore@gpu: 2000 m}, left none, runs 1
              ann at root: uses {vcore: 1000 m, vcore@gpu: 2000 m}, left none, runs 1
            release a1: a1 released, a2 on g1
              root.a: in force {vcore: 4000 m, vcore@gpu: 4000 m}, uses {vcore: 1000 m, vcore@gpu: 3000 m}, headroom {vcore: 3000 m, vcore@gpu: 1000 m}, share 0.75, runs 1
            reload: root changed, f1 occupies g1, a2 resized, root.a changed
              root.a: in force {vcore: 4000 m}, uses {vcore: 4000 m}, headroom {vcore: 0 m}, share 1, runs 1
              ann at root.a: uses {vcore: 4000 m}, left none, runs 1
              ann at root: uses {vcore: 4000 m}, left none, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_type_of_a_label_is_named_by_nobody_but_the_queue_file() {
    check(
        "
        queue root exclusive gpu
        queue root.a
        node n1 vcore=4
        node n2 vcore@gpu=4
        app app1 root.a ann
        ask a1 app1 vcore@gpu=1
        ask a2 app1 vcore@fpga=1
        foreign f1 n1 vcore@gpu=1
        resize n1 vcore@gpu=1
        ",
        expect![[r#"
            node n2: refused TYPE_OF_LABEL: the node names vcore@gpu, which counts vcore on nodes with label gpu. Use vcore instead, and set the node label gpu.
            ask a1: refused TYPE_OF_LABEL: the ask names vcore@gpu, which counts vcore on nodes with label gpu. Use vcore instead, and set the node label gpu.
            ask a2: app1 Accepted
              a2 waits IMPOSSIBLE: no release can start the ask: the ask needs 1 vcore@fpga, but no node in use has vcore@fpga. Add a node with vcore@fpga, or request less.
            foreign f1: refused TYPE_OF_LABEL: the foreign allocation names vcore@gpu, which counts vcore on nodes with label gpu. Use vcore instead, and set the node label gpu.
            resize n1: refused TYPE_OF_LABEL: the node names vcore@gpu, which counts vcore on nodes with label gpu. Use vcore instead, and set the node label gpu.
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_gang_is_too_large_by_the_types_that_it_will_be_counted_in() {
    check(
        "
        queue root exclusive gpu
        queue root.any max vcore=2
        queue root.plain max vcore=2 labels -
        queue root.gpu max vcore=2 vcore@gpu=4 labels gpu label gpu
        node g1 vcore=8 labelled gpu
        app g1 root.any ann gang vcore=4
        app g2 root.plain ann gang vcore=4
        app g3 root.gpu ann gang vcore=4
        app g4 root.gpu ann gang vcore=5
        ask p1 g1 vcore=2 placeholder group w labelled gpu
        ask p2 g1 vcore=2 placeholder group w labelled gpu
        ask p3 g3 vcore=4 placeholder group w
        ",
        expect![[r#"
            app g2: rejected GANG_SIZE: the gang needs 4 vcore together, but the configured maximum of queue root.plain is 2. Make the gang smaller, or raise the maximum.
            app g4: rejected GANG_SIZE: the gang needs 5 vcore@gpu together, but the configured maximum of queue root.gpu is 4. Make the gang smaller, or raise the maximum.
            ask p1: g1 Accepted, p1 on g1
            ask p2: p2 on g1, g1 Running
            ask p3: g3 Accepted, p3 on g1, g3 Running
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn asks_of_several_applications_keep_no_file_out() {
    check(
        "
        queue root exclusive gpu
        queue root.a
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 memory=9223372036854775806
        ask a2 app2 memory=2 labelled gpu
        reload
        queue root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2: app2 Accepted
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            reload: root changed, a2 resized, root.a changed
        "#]],
    );
}

#[test]
#[doc(alias = "C18")]
fn a_file_by_which_sums_would_be_too_large_is_refused() {
    check(
        "
        queue root exclusive gpu
        queue root.a
        app app1 root.a ann
        ask a1 app1 memory=9223372036854775806
        ask a2 app1 memory=2 labelled gpu
        reload
        queue root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            reload: refused SUM_TOO_LARGE: the asks of an application, with the exclusive labels of the queue file: the total of memory would exceed 9223372036854775807. The current total is 9223372036854775806, and the request adds 2. Request less memory.
        "#]],
    );
}
