//! Which asks more nodes would help, told once a second.

use expect_test::expect;

use crate::check;

/// No-starvation NS-52: what was told and still waits counts, of whichever application it is.
#[test]
fn no_more_is_told_of_than_the_queue_would_admit() {
    check(
        "
        queue root.a max cpu=10
        node n1 cpu=4
        app app1 root.a ann
        ask r1 app1 cpu=4
        ask e1 app1 cpu=3
        ask e2 app1 cpu=3
        scan-outstanding
        app app2 root.a bob
        ask e3 app2 cpu=1
        ask e4 app1 cpu=1
        scan-outstanding
        release e2
        scan-outstanding
        release r1
        scan-outstanding
        ",
        expect![[r#""#]],
    );
}

/// The same for the limit of a user, and for a queue above two leaves.
#[test]
fn no_more_is_told_of_than_limits_and_queues_above_would_admit() {
    check(
        "
        queue root.p.a
        queue root.p.b
        queue root.p max cpu=6
        limit root.p user ann cpu=3
        node n1 cpu=1
        app full root.p.a zoe
        ask r1 full cpu=1
        app app1 root.p.a ann
        ask a1 app1 cpu=2
        scan-outstanding
        app app2 root.p.b ann
        ask a2 app2 cpu=2
        ask a3 app2 cpu=1
        scan-outstanding
        app app3 root.p.b bob
        ask b1 app3 cpu=1
        ask b2 app3 cpu=2
        ask b3 app3 cpu=1
        scan-outstanding
        remove app1
        scan-outstanding
        ",
        expect![[r#""#]],
    );
}

/// Asks of several sizes and applications are told of in the order of the leaf.
#[test]
fn what_is_told_of_stands_in_the_order_of_the_leaf() {
    check(
        "
        queue root.a max cpu=12
        node n1 cpu=1
        app full root.a zoe
        ask r1 full cpu=1
        app app1 root.a ann
        app app2 root.a bob
        ask b1 app2 cpu=2
        ask b2 app2 cpu=3
        ask a1 app1 cpu=3
        ask a2 app1 cpu=2 prio 1
        ask a3 app1 cpu=5
        scan-outstanding
        resize n1 cpu=3
        scan-outstanding
        ",
        expect![[r#""#]],
    );
}
