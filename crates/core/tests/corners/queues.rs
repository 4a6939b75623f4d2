//! Queues: what is in force, what is left, what comes and goes.

use expect_test::expect;

use crate::check;

#[test]
fn what_is_left_has_the_types_of_every_level() {
    check(
        "
        queue root.p max memory=100
        queue root.p.a max gpu=2
        queue root.p.b
        queue root.free
        wait 1s
        show root.free
        show root.p.a
        show root.p.b
        node n1 memory=50 vcore=4
        show root.free
        show root.p.a
        show root.p.b
        ",
        expect![[r#"
            wait 1s: nothing
              root.free: in force none, uses {}, headroom none, share 0, runs 0
              root.p.a: in force {gpu: 2, memory: 100 B}, uses {}, headroom {gpu: 2, memory: 100 B}, share 0, runs 0
              root.p.b: in force {memory: 100 B}, uses {}, headroom {memory: 100 B}, share 0, runs 0
              root.free: in force {memory: 50 B, vcore: 4000 m}, uses {}, headroom {memory: 50 B, vcore: 4000 m}, share 0, runs 0
              root.p.a: in force {gpu: 2, memory: 50 B, vcore: 4000 m}, uses {}, headroom {gpu: 2, memory: 50 B, vcore: 4000 m}, share 0, runs 0
              root.p.b: in force {memory: 50 B, vcore: 4000 m}, uses {}, headroom {memory: 50 B, vcore: 4000 m}, share 0, runs 0
        "#]],
    );
}

#[test]
fn a_share_is_of_the_childs_own_maximum_even_where_that_is_more_and_a_zero_stays() {
    check(
        "
        queue root.p max memory=100 vcore=4
        queue root.p.more max memory=400
        queue root.p.less max memory=50
        queue root.p.zero max memory=0 vcore=4
        node n1 memory=1000 vcore=10
        app app1 root.p.more ann
        app app2 root.p.less ann
        app app3 root.p.zero ann
        ask a1 app1 memory=20
        ask b1 app2 memory=20
        ask c1 app3 memory=1 on n1
        show root.p.more
        show root.p.less
        show root.p.zero
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted, c1 on n1, app3 Running
              root.p.more: in force {memory: 100 B, vcore: 4000 m}, uses {memory: 20 B}, headroom {memory: 59 B, vcore: 4000 m}, share 0.05, runs 1
              root.p.less: in force {memory: 50 B, vcore: 4000 m}, uses {memory: 20 B}, headroom {memory: 30 B, vcore: 4000 m}, share 0.4, runs 1
              root.p.zero: in force {memory: 0 B, vcore: 4000 m}, uses {memory: 1 B}, headroom {memory: -1 B, vcore: 4000 m}, share 1, runs 1
        "#]],
    );
}

#[test]
fn only_a_change_of_maximum_or_guarantee_is_told() {
    check(
        "
        queue root.a max memory=10 guaranteed memory=5
        queue root.b
        reload
        queue root.a max memory=10 guaranteed memory=5
        queue root.b max memory=0
        reload
        queue root.a max memory=11 guaranteed memory=5
        queue root.b guaranteed memory=1
        reload
        queue root.a
        queue root.b guaranteed memory=1
        reload
        queue root.a
        queue root.b guaranteed memory=1
        ",
        expect![[r#"
            reload: nothing
            reload: root.a changed, root.b changed
            reload: root.a changed
            reload: nothing
        "#]],
    );
}

#[test]
fn nodes_change_the_size_of_root_and_of_no_other_queue() {
    check(
        "
        queue root.a max memory=10 gpu=1
        node n1 memory=4
        show root
        show root.a
        resize n1 memory=40 vcore=1
        show root
        show root.a
        ",
        expect![[r#"
              root: in force {memory: 4 B}, uses {}, headroom {memory: 4 B}, share 0, runs 0
              root.a: in force {gpu: 1, memory: 4 B}, uses {}, headroom {gpu: 1, memory: 4 B}, share 0, runs 0
            resize n1: nothing
              root: in force {memory: 40 B, vcore: 1000 m}, uses {}, headroom {memory: 40 B, vcore: 1000 m}, share 0, runs 0
              root.a: in force {gpu: 1, memory: 10 B, vcore: 1000 m}, uses {}, headroom {gpu: 1, memory: 10 B, vcore: 1000 m}, share 0, runs 0
        "#]],
    );
}

#[test]
fn a_lowered_number_ends_nothing_and_the_count_goes_down_to_zero() {
    check(
        "
        queue root.a apps=2
        node n1 memory=9
        app app1 root.a ann
        app app2 root.a ann
        app app3 root.a ann
        ask a1 app1 memory=1
        ask b1 app2 memory=1
        ask c1 app3 memory=1
        show root.a
        reload
        queue root.a apps=1
        show root.a
        remove app1
        show root.a
        remove app2
        show root.a
        remove app3
        show root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted
              c1 waits MAX_APPS: queue root.a runs 2 of at most 2 applications. Wait for one to end, or raise `maxapplications`.
              root.a: in force {memory: 9 B}, uses {memory: 2 B}, headroom {memory: 7 B}, share 0.2222222222222222, runs 2
            reload: root.a changed
              c1 waits MAX_APPS: queue root.a runs 2 of at most 1 application. Wait for one to end, or raise `maxapplications`.
              root.a: in force {memory: 9 B}, uses {memory: 2 B}, headroom {memory: 7 B}, share 0.2222222222222222, runs 2
            remove app1: a1 released, app1 Completing, app1 gone
              c1 waits MAX_APPS: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
              root.a: in force {memory: 9 B}, uses {memory: 1 B}, headroom {memory: 8 B}, share 0.1111111111111111, runs 1
            remove app2: b1 released, app2 Completing, app2 gone, c1 on n1, app3 Running
              root.a: in force {memory: 9 B}, uses {memory: 1 B}, headroom {memory: 8 B}, share 0.1111111111111111, runs 1
            remove app3: c1 released, app3 Completing, app3 gone
              root.a: in force {memory: 9 B}, uses {}, headroom {memory: 9 B}, share 0, runs 0
        "#]],
    );
}

#[test]
fn empty_queues_of_the_file_stay_and_those_of_rules_go_when_nothing_is_in_them() {
    check(
        "
        queue root.idle
        queue root.p parent
        rule provided create
        app app1 root.d.x ann
        wait 20s
        show root.idle
        show root.d
        remove app1
        wait 10s
        show root.p
        ",
        expect![[r#"
            app app1: root.d made, root.d.x made
            wait 20s: nothing
              root.idle: in force none, uses {}, headroom none, share 0, runs 0
              root.d: in force none, uses {}, headroom none, share 0, runs 0
            remove app1: app1 gone
            wait 10s: root.d.x gone, root.d gone
              root.p: in force none, uses {}, headroom none, share 0, runs 0
        "#]],
    );
}

#[test]
fn a_release_gives_back_what_was_charged_and_a_second_one_changes_nothing() {
    check(
        "
        queue root.a max memory=9
        node n1 memory=9
        app app1 root.a ann
        ask a1 app1 memory=4
        ask a2 app1 memory=3
        release a1
        release a1 app1
        show root.a
        show root
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            release a1: a1 released
            release a1: refused UNKNOWN_KEY: application app1 has no ask or allocation with key a1. Check the allocation key.
              root.a: in force {memory: 9 B}, uses {memory: 3 B}, headroom {memory: 6 B}, share 0.3333333333333333, runs 1
              root: in force {memory: 9 B}, uses {memory: 3 B}, headroom {memory: 6 B}, share 0.3333333333333333, runs 1
        "#]],
    );
}
