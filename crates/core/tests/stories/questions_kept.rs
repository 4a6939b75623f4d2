//! Questions to the RM about reserved nodes, and about the positions of placeholders.

use expect_test::expect;

use crate::questions::check;

#[test]
fn a_node_is_kept_for_an_ask_when_the_rm_lets_it_and_room_is_not_asked_for() {
    check(
        "
        ask f1 app1 vcore=3 on n1
        ask f2 app1 vcore=2 on n2
        ask a1 app1 vcore=3
        wait 3s
        answer a1 n1=taint n2=ok
        release f2
        answer a1 n2=ok
        ",
        expect![[r#"
            questions on: nothing
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask f2: f2 on n2
            ask a1
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: RM asked whether a1 may run on n2 n1 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 3000 ms, about 2 nodes to reserve. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n2=ok n1=taint, n2 keeps a1
              a1 waits NODE_RESOURCES: node n2 is reserved for the ask and has vcore 2 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
            release f2: f2 released, RM asked whether a1 may run on n2
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 3000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n2=ok, a1 on n2
        "#]],
    );
}

#[test]
fn no_node_is_kept_for_an_ask_that_the_rm_refuses_until_one_changes() {
    check(
        "
        ask f1 app1 vcore=3 on n1
        ask f2 app1 vcore=2 on n2
        ask a1 app1 vcore=3
        ask a2 app1 vcore=3
        wait 3s
        answer a1 n1=taint n2=taint
        answer a2 n1=taint n2=ok
        void n1
        answer a1 n1=ok
        ",
        expect![[r#"
            questions on: nothing
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask f2: f2 on n2
            ask a1
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            ask a2
              a2 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: RM asked whether a1 may run on n2 n1 once there is room, RM asked whether a2 may run on n2 n1 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 3000 ms, about 2 nodes to reserve. Wait for the answer, or check the resource manager.
              a2 waits AWAITING_RM: the resource manager has not answered question 2, sent at 3000 ms, about 2 nodes to reserve. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n2=taint n1=taint
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            answer a2: RM says of a2: n2=ok n1=taint, n2 keeps a2
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 1 free. Wait for a release, or add nodes.
              a2 waits NODE_RESOURCES: node n2 is reserved for the ask and has vcore 2 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
            void n1: RM asked whether a1 may run on n1 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 3000 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok, n1 keeps a1
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 1 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}

#[test]
fn a_node_with_room_that_the_rm_refuses_is_not_kept() {
    check(
        "
        drain n2
        ask a1 app1 vcore=3
        answer a1 n1=taint
        wait 3s
        app app2 root.b bob
        ask b1 app2 vcore=4
        answer b1 n1=ok
        answer a1 n1=ok
        ",
        expect![[r#"
            questions on: nothing
            drain n2: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=taint
              a1 waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            wait 3s: nothing
            ask b1: app2 Accepted, RM asked whether b1 may run on n1
              b1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 3000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer b1: RM says of b1: n1=ok, b1 on n1, app2 Running, RM asked whether a1 may run on n1 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 3000 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok, n1 keeps a1
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 0 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}

#[test]
fn a_kept_node_that_the_rm_refuses_once_there_is_room_is_given_up() {
    check(
        "
        drain n2
        ask f1 app1 vcore=2 on n1
        ask a1 app1 vcore=3
        wait 3s
        answer a1 n1=ok
        release f1
        answer a1 n1=affinity
        app app2 root.b bob
        ask b1 app2 vcore=4
        answer b1 n1=ok
        ",
        expect![[r#"
            questions on: nothing
            drain n2: nothing
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask a1
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: RM asked whether a1 may run on n1 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 3000 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok, n1 keeps a1
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 2 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
            release f1: f1 released, RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 3000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=affinity, no node is reserved for a1
              a1 waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: affinity. Change the node requirements of the ask, or add matching nodes.
            ask b1: app2 Accepted, RM asked whether b1 may run on n1
              b1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 3000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer b1: RM says of b1: n1=ok, b1 on n1, app2 Running, RM asked whether a1 may run on n1 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 4, sent at 3000 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
        "#]],
    );
}

#[test]
fn an_ask_with_a_kept_node_is_asked_about_others_too() {
    check(
        "
        ask f1 app1 vcore=2 on n1
        ask f2 app1 vcore=2 on n2
        ask a1 app1 vcore=3
        wait 3s
        answer a1 n1=ok n2=taint
        release f2
        answer a1 n2=taint
        node n3 vcore=3
        answer a1 n3=ok
        ",
        expect![[r#"
            questions on: nothing
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask f2: f2 on n2
            ask a1
              a1 waits NO_NODE_FITS: the ask needs 3 vcore, but no node that the ask can use has more than 2 free. Wait for a release, or add nodes.
            wait 3s: RM asked whether a1 may run on n1 n2 once there is room
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 3000 ms, about 2 nodes to reserve. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok n2=taint, n1 keeps a1
              a1 waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 2 free, but the ask needs vcore 3. Wait for a release on this node, or for capacity on another node.
            release f2: f2 released, RM asked whether a1 may run on n2
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 3000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n2=taint
              a1 waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            node n3: RM asked whether a1 may run on n3
              a1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 3000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n3=ok, a1 on n3
        "#]],
    );
}

#[test]
fn a_required_node_without_room_is_kept_when_the_rm_lets_it() {
    check(
        "
        ask f1 app1 vcore=2 on n1
        ask d1 app1 vcore=3 requires n1
        answer d1 n1=taint
        void n1
        answer d1 n1=ok
        release f1
        answer d1 n1=ok
        ",
        expect![[r#"
            questions on: nothing
            ask f1: app1 Accepted, f1 on n1, app1 Running
            ask d1: RM asked whether d1 may run on n1 once there is room
              d1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer d1: RM says of d1: n1=taint
              d1 waits NODE_CONSTRAINT: the ask requires node n1, which predicates reject because: taint. Change the node requirements of the ask, or withdraw the ask.
            void n1: RM asked whether d1 may run on n1 once there is room
              d1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer d1: RM says of d1: n1=ok, n1 keeps d1, f1 to be stopped for d1
              d1 waits PREEMPTION_PENDING: node n1 is reserved for the ask and has vcore 2 free, but the ask needs vcore 3. Preempted allocations on this node free vcore 2. Wait until these allocations stop.
            release f1: f1 released, RM asked whether d1 may run on n1
              d1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer d1: RM says of d1: n1=ok, d1 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W16")]
fn the_rm_refuses_the_node_of_the_placeholder() {
    crate::check(
        "
        queue root.a
        node N1 m=4
        app G root.a ann gang m=4
        ask ph G m=4 placeholder group t
        node N2 m=4
        questions on
        ask r G m=3 group t
        answer r N1=taint
        answer r N2=ok
        show root.a
        lose N1
        show root.a
        show user ann
        show G
        ",
        expect![[r#"
            ask ph: G Accepted, ph on N1, G Running
            questions on: nothing
            ask r: RM asked whether r may run on N1 once there is room
              r waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N1=taint, RM asked whether r may run on N2
              r waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N2=ok, r takes the place of ph on N2
              root.a: in force {m: 8}, uses {m: 4}, headroom {m: 4}, share 0.5, runs 1
            lose N1: G Completing, ph replaced, placeholders of G expired, G Running
              root.a: in force {m: 4}, uses {m: 3}, headroom {m: 1}, share 0.75, runs 1
              ann at root.a: uses {m: 3}, left none, runs 1
              ann at root: uses {m: 3}, left none, runs 1
              G: Running in root.a, no group, uses {m: 3}, user headroom none
        "#]],
    );
}

#[test]
fn a_member_takes_the_place_of_the_first_placeholder_whose_node_the_rm_accepts() {
    crate::check(
        "
        queue root.a
        node N1 m=4
        node N2 m=4
        app G root.a ann gang m=8
        ask p1 G m=4 placeholder group t
        ask p2 G m=4 placeholder group t
        questions on
        ask r1 G m=3 group t
        ask r2 G m=3 group t
        answer r1 N1=taint N2=ok
        answer r2 N1=taint N2=taint
        void N1
        answer r2 N1=ok
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N2, G Running
            questions on: nothing
            ask r1: RM asked whether r1 may run on N1 N2 once there is room
              r1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes to reserve. Wait for the answer, or check the resource manager.
            ask r2: RM asked whether r2 may run on N1 N2 once there is room
              r2 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 2 nodes to reserve. Wait for the answer, or check the resource manager.
            answer r1: RM says of r1: N1=taint N2=ok, r1 takes the place of p2 on N2
            answer r2: RM says of r2: N1=taint N2=taint
              r2 waits NODE_CONSTRAINT: the ask cannot replace a placeholder: predicates reject all 2 nodes with one, or with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            void N1: RM asked whether r2 may run on N1 once there is room
              r2 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer r2: RM says of r2: N1=ok, r2 takes the place of p1 on N1
        "#]],
    );
}

#[test]
fn a_member_that_the_rm_refuses_every_node_waits_until_one_changes_or_comes() {
    crate::check(
        "
        queue root.a
        node N1 m=4
        app G root.a ann gang m=4
        ask ph G m=4 placeholder group t
        node N2 m=4
        questions on
        ask r G m=3 group t
        answer r N1=taint
        answer r N2=affinity
        void N2
        answer r N2=affinity
        node N3 m=4
        answer r N3=taint
        void N1
        answer r N1=ok
        ",
        expect![[r#"
            ask ph: G Accepted, ph on N1, G Running
            questions on: nothing
            ask r: RM asked whether r may run on N1 once there is room
              r waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N1=taint, RM asked whether r may run on N2
              r waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N2=affinity
              r waits NODE_CONSTRAINT: the ask cannot replace a placeholder: predicates reject all 2 nodes with one, or with enough free capacity, 1 because: affinity, 1 because: taint. Change the node requirements of the ask, or add matching nodes.
            void N2: RM asked whether r may run on N2
              r waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N2=affinity
              r waits NODE_CONSTRAINT: the ask cannot replace a placeholder: predicates reject all 2 nodes with one, or with enough free capacity, 1 because: affinity, 1 because: taint. Change the node requirements of the ask, or add matching nodes.
            node N3: RM asked whether r may run on N3
              r waits AWAITING_RM: the resource manager has not answered question 4, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N3=taint
              r waits NODE_CONSTRAINT: the ask cannot replace a placeholder: predicates reject all 3 nodes with one, or with enough free capacity, 2 because: taint, 1 because: affinity. Change the node requirements of the ask, or add matching nodes.
            void N1: RM asked whether r may run on N1 once there is room
              r waits AWAITING_RM: the resource manager has not answered question 5, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N1=ok, r takes the place of ph on N1
        "#]],
    );
}

#[test]
fn placeholders_that_are_too_small_go_whatever_the_rm_says() {
    crate::check(
        "
        queue root.a
        node N1 m=4
        node N2 m=4
        app G root.a ann gang m=5
        ask p1 G m=2 placeholder group t
        ask p2 G m=3 placeholder group t
        questions on
        ask r G m=3 group t
        answer r N2=taint
        release p2
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N2, G Running
            questions on: nothing
            ask r: p1 to be released: Timeout, RM asked whether r may run on N2 once there is room
              r waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node to reserve. Wait for the answer, or check the resource manager.
            answer r: RM says of r: N2=taint
              r waits NODE_CONSTRAINT: the ask cannot replace a placeholder: predicates reject the only node with one, or with enough free capacity, because: taint. Change the node requirements of the ask, or add matching nodes.
            release p2: p2 released
              r waits GANG_INCOMPLETE: application G has placeholders for task group t, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
        "#]],
    );
}
