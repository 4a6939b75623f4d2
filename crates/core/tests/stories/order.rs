//! In which order room is given: applications, queues, asks.

use expect_test::expect;

use crate::check;

#[test]
fn fifo_gives_room_to_the_older_application_first() {
    check(
        "
        queue root.a
        app old root.a ann
        app young root.a bob
        ask y1 young vcore=1
        ask o1 old vcore=1
        ask o2 old vcore=1
        node n1 vcore=2
        ",
        expect![[r#"
            ask y1: young Accepted
              y1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask o1: old Accepted
              o1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask o2
              o2 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: o1 on n1, old Running, o2 on n1
              y1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn fifo_goes_by_the_oldest_ask_when_that_is_older_than_the_submission() {
    check(
        "
        queue root.a
        wait 60s
        app first root.a ann
        app second root.a bob
        ask f1 first vcore=1
        ask s1 second vcore=1 made 10s
        node n1 vcore=1
        ",
        expect![[r#"
            wait 60s: nothing
            ask f1: first Accepted
              f1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask s1: second Accepted
              s1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: s1 on n1, second Running
              f1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn an_ask_from_the_future_is_made_now() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 vcore=1 made 500s
        ask a2 app1 vcore=1
        node n1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: a1 on n1, app1 Running
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn fair_gives_room_to_the_application_that_has_less() {
    check(
        "
        queue root.a fair
        app app1 root.a ann
        app app2 root.a bob
        node n1 vcore=3
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=1
        ask a4 app1 vcore=1
        ask b1 app2 vcore=1
        ask b2 app2 vcore=1
        resize n1 vcore=5
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3: a3 on n1
            ask a4
              a4 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            resize n1: b1 on n1, app2 Running, b2 on n1
              a4 waits ROOT_CAPACITY: the cluster has 0 of 5 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn a_waiting_ask_does_not_hold_up_smaller_ones_behind_it() {
    check(
        "
        queue root.a
        app app1 root.a ann
        app app2 root.a bob
        node n1 vcore=4
        ask a1 app1 vcore=3
        ask a2 app1 vcore=2
        ask a3 app1 vcore=1
        release a3
        ask b1 app2 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            ask a3: a3 on n1
              a2 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            release a3: a3 released
              a2 waits ROOT_CAPACITY: the cluster has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            ask b1: app2 Accepted, b1 on n1, app2 Running
              a2 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn a_full_queue_does_not_hold_up_its_siblings() {
    check(
        "
        queue root.a max vcore=1
        queue root.b
        app app1 root.a ann
        app app2 root.b bob
        ask a1 app1 vcore=2 prio 9
        ask b1 app2 vcore=2
        node n1 vcore=8
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: b1 on n1, app2 Running
              a1 waits IMPOSSIBLE: no release can start the ask: the ask needs 2 vcore, but the maximum of queue root.a is 1. Raise the maximum, or request less.
        "#]],
    );
}

#[test]
fn an_ask_of_higher_priority_goes_first() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask low app1 vcore=1
        ask high app1 vcore=1 prio 5
        ask lowest app1 vcore=1 prio -2147483648
        node n1 vcore=3
        ",
        expect![[r#"
            ask low: app1 Accepted
              low waits NO_NODES: no node has registered in partition default. Register a node.
            ask high
              high waits NO_NODES: no node has registered in partition default. Register a node.
            ask lowest
              lowest waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: high on n1, app1 Running, low on n1, lowest on n1
        "#]],
    );
}

#[test]
fn an_application_of_higher_priority_goes_first_and_loses_it_with_its_ask() {
    check(
        "
        queue root.a
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1 prio 5
        ask b2 app2 vcore=1
        node n1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b2
              b2 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: b1 on n1, app2 Running, a1 on n1, app1 Running
              b2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn a_queue_goes_by_the_highest_priority_below_it() {
    check(
        "
        queue root.a.x
        queue root.b
        app app1 root.a.x ann
        app app2 root.b bob
        ask b1 app2 vcore=1
        ask b2 app2 vcore=1 prio 1
        ask a1 app1 vcore=1 prio 2
        node n1 vcore=2
        ",
        expect![[r#"
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b2
              b2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: a1 on n1, app1 Running, b2 on n1, app2 Running
              b1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn priority_does_not_count_where_a_leaf_ignores_it_except_inside_an_application() {
    check(
        "
        queue root.a ignore-priority
        app app1 root.a ann
        wait 1s
        app app2 root.a bob
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1 prio 1
        ask b1 app2 vcore=1 prio 9
        node n1 vcore=2
        ",
        expect![[r#"
            wait 1s: nothing
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: a2 on n1, app1 Running, a1 on n1
              b1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn a_fair_leaf_that_ignores_priority_uses_it_only_for_ties() {
    check(
        "
        queue root.a fair ignore-priority
        app app1 root.a ann
        app app2 root.a bob
        app app3 root.a cid
        node n1 vcore=1
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1 prio 9
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1 prio 1
        resize n1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask c1: app3 Accepted
              c1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            resize n1: c1 on n1, app3 Running
              a2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              b1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn a_parent_that_ignores_priority_goes_by_share_first() {
    check(
        "
        queue root ignore-priority
        queue root.a
        queue root.b
        app app1 root.a ann
        app app2 root.b bob
        node n1 vcore=1
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1 prio 9
        ask b1 app2 vcore=1
        resize n1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            resize n1: b1 on n1, app2 Running
              a2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn children_inherit_the_policies_that_they_do_not_set() {
    check(
        "
        queue root.p ignore-priority
        queue root.p.inherits
        queue root.q
        app app1 root.p.inherits ann
        wait 1s
        app app2 root.p.inherits bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1 prio 9
        node n1 vcore=1
        ",
        expect![[r#"
            wait 1s: nothing
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: a1 on n1, app1 Running
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn the_queue_with_the_lower_share_of_its_guarantee_goes_first() {
    check(
        "
        queue root.a guaranteed vcore=1
        queue root.b guaranteed vcore=4
        app app1 root.a ann
        app app2 root.b bob
        node n1 vcore=2
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask a2 app1 vcore=1
        ask b2 app2 vcore=1
        resize n1 vcore=3
        show root.a
        show root.b
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask b2
              b2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            resize n1: b2 on n1
              a2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              root.a: in force {vcore: 3000 m}, uses {vcore: 1000 m}, headroom {vcore: 0 m}, share 1, runs 1
              root.b: in force {vcore: 3000 m}, uses {vcore: 2000 m}, headroom {vcore: 0 m}, share 0.5, runs 1
        "#]],
    );
}

#[test]
fn of_queues_with_equal_shares_the_one_that_asks_for_more_goes_first() {
    check(
        "
        queue root.a
        queue root.b
        app app1 root.a ann
        app app2 root.b bob
        ask a1 app1 vcore=1
        ask b1 app2 vcore=2
        node n1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: b1 on n1, app2 Running
              a1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn queues_that_tie_in_everything_go_by_path() {
    check(
        "
        queue root.b
        queue root.a
        app app2 root.b bob
        app app1 root.a ann
        ask b1 app2 vcore=1
        ask a1 app1 vcore=1
        node n1 vcore=1
        ",
        expect![[r#"
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: a1 on n1, app1 Running
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn of_asks_as_urgent_and_old_the_later_goes_first_unless_it_came_to_the_end_of_the_list() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask first app1 vcore=1
        ask second app1 vcore=1
        ask low app1 vcore=1 prio -1
        ask third app1 vcore=1
        ask fourth app1 vcore=1
        node n1 vcore=4
        ",
        expect![[r#"
            ask first: app1 Accepted
              first waits NO_NODES: no node has registered in partition default. Register a node.
            ask second
              second waits NO_NODES: no node has registered in partition default. Register a node.
            ask low
              low waits NO_NODES: no node has registered in partition default. Register a node.
            ask third
              third waits NO_NODES: no node has registered in partition default. Register a node.
            ask fourth
              fourth waits NO_NODES: no node has registered in partition default. Register a node.
            node n1: fourth on n1, app1 Running, third on n1, first on n1, second on n1
              low waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}
