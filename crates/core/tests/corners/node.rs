//! Nodes, and what the core does not schedule on them.

use expect_test::expect;
use headroom_core::testkit::{amounts, leaf, parent};

use crate::check;
use crate::cluster::Cluster;

#[test]
fn a_node_that_registers_types_with_zero_does_not_have_them() {
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    cluster.add_node("n1", amounts([("vcore", 4), ("gpu", 0)]));
    assert_eq!(cluster.node("n1").capacity, amounts([("vcore", 4)]));
    assert_eq!(cluster.queue("root").max, amounts([("vcore", 4)]));
}

#[test]
fn a_node_that_is_given_more_than_it_has_is_below_zero_until_that_is_taken_off() {
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    cluster.add_node("n1", amounts([("vcore", 4)]));
    cluster.submit("app1", "root.a");
    cluster.report("k1", "app1", "n1", amounts([("vcore", 3)]));
    let available = |cluster: &Cluster| cluster.node("n1").available;
    assert_eq!(available(&cluster), amounts([("vcore", 1)]));
    cluster.report("k2", "app1", "n1", amounts([("vcore", 5), ("gpu", 1)]));
    assert_eq!(available(&cluster), amounts([("vcore", -4), ("gpu", -1)]));
    cluster.release("k2", "app1");
    assert_eq!(available(&cluster).get("vcore"), amounts([("vcore", 1)]).get("vcore"));
    assert_eq!(available(&cluster).get("gpu").map_or(0, headroom_core::resource::Quantity::get), 0);
}

#[test]
fn a_node_that_registers_twice_changes_no_total() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n1 vcore=8 gpu=1
        show root
        ",
        expect![[r#"
            node n1: refused DUPLICATE_NODE: node n1 is already registered in partition default. Remove the registered node first.
              root: in force {vcore: 4000 m}, uses {}, headroom {vcore: 4000 m}, share 0, runs 0
        "#]],
    );
}

#[test]
fn nodes_are_ordered_anew_when_a_file_says_so_and_unknown_types_have_no_weight() {
    check(
        "
        nodes fair vcore=1 fpga=9
        queue root.a
        node n1 vcore=8
        node n2 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=2
        reload
        nodes binpacking vcore=1
        queue root.a
        ask a3 app1 vcore=1
        reload
        nodes binpacking fpga=1
        queue root.a
        ask a4 app1 vcore=1
        reload
        nodes fair vcore=1
        queue root.a
        ask a5 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n2
            reload: nothing
            ask a3: a3 on n2
            reload: nothing
            ask a4: a4 on n1
            reload: nothing
            ask a5: a5 on n1
        "#]],
    );
}

#[test]
fn foreign_use_takes_room_on_its_node_and_counts_in_no_queue() {
    check(
        "
        queue root.a
        node n1 vcore=4
        app app1 root.a ann
        foreign f1 n1 vcore=3
        show root
        ask a1 app1 vcore=2
        foreign f1 n1 vcore=2
        foreign f2 n1 vcore=9
        foreign f2 n9 vcore=1
        foreign f2 n1 vcore=0
        ask a2 app1 vcore=1
        foreign-gone f1
        foreign-gone f9
        foreign-gone f2
        ",
        expect![[r#"
            foreign f1: f1 occupies n1
              root: in force {vcore: 4000 m}, uses {}, headroom {vcore: 4000 m}, share 0, runs 0
            ask a1: app1 Accepted
              a1 waits NO_NODE_FITS: the ask needs 2 vcore, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
            foreign f1: f1 occupies n1, a1 on n1, app1 Running
            foreign f2: f2 occupies n1
            foreign f2: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            foreign f2: f2 occupies n1
            ask a2
              a2 waits NO_NODE_FITS: the ask needs 1 vcore, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            foreign-gone f1: f1 gone, a2 on n1
            foreign-gone f9: nothing
            foreign-gone f2: f2 gone
        "#]],
    );
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    cluster.add_node("n1", amounts([("vcore", 4)]));
    let views = |cluster: &Cluster| {
        let node = cluster.node("n1");
        assert_eq!(node.allocated, amounts([]));
        assert_eq!(cluster.queue("root").headroom, amounts([("vcore", 4)]));
        [node.occupied, node.available]
            .map(|one| one.get("vcore").map_or(0, headroom_core::resource::Quantity::get))
    };
    for (size, expected) in [(3, [3, 1]), (9, [9, -5]), (1, [1, 3])] {
        cluster.foreign("f1", "n1", size);
        assert_eq!(views(&cluster), expected, "{size}");
    }
    cluster.foreign_gone("f1");
    assert_eq!(views(&cluster), [0, 4]);
}
