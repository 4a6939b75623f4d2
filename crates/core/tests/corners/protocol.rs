//! What is taken from an RM and what is not, row by row of the tables of the scheduler interface.

use expect_test::expect;

use crate::check;

#[test]
fn each_row_of_the_table_of_updates() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=4
        node n2 vcore=4 drained
        app app1 root.a ann
        ask new app1 vcore=9
        ask told app1 vcore=3 on n2
        ask new app1 vcore=8
        ask new app1 vcore=5 on n1
        ask told app1 vcore=1 on n1
        show app1
        show root.a
        ask new app1 vcore=0
        ask new app1 vcore=-1
        ask place app1 vcore=1 placeholder
        ask other app9 vcore=1
        ask other app1 vcore=1 on n9
        show root.a
        ",
        expect![[r#"
            ask new: app1 Accepted
              new waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but the maximum of queue root.a is 4. Raise the maximum, or request less.
            ask told: told on n2, app1 Running
            ask new: new resized
              new waits IMPOSSIBLE: no release can start the ask: the ask needs 8 vcore, but the maximum of queue root.a is 4. Raise the maximum, or request less.
            ask new: new resized, new on n1
            ask told: told resized
              app1: Running in root.a, no group, uses {vcore: 6000 m}, user headroom none
              root.a: in force {vcore: 4000 m}, uses {vcore: 6000 m}, headroom {vcore: -2000 m}, share 1.5, runs 1
            ask new: refused ASK_SIZE: ask new of application app1 requests {vcore: 0 m}, but at least one amount must be positive and none negative. Correct the amounts.
            ask new: refused ASK_SIZE: ask new of application app1 requests {vcore: -1 m}, but at least one amount must be positive and none negative. Correct the amounts.
            ask place: refused NO_TASK_GROUP: placeholder place of application app1 has no task group. Set its task group.
            ask other: refused UNKNOWN_APPLICATION: application app9 does not exist in partition default, or has ended. Check the application ID, or submit the application.
            ask other: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
              root.a: in force {vcore: 4000 m}, uses {vcore: 6000 m}, headroom {vcore: -2000 m}, share 1.5, runs 1
        "#]],
    );
}

#[test]
fn each_row_of_the_table_of_releases() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app app1 root.a ann
        ask stopped app1 vcore=1
        ask late app1 vcore=1
        ask victim app1 vcore=1
        ask place app1 vcore=1
        ask waits app1 vcore=9
        release stopped
        release late as timeout
        release victim as preempted
        release place as replaced
        release waits as timeout
        release victim as preempted app1
        show app1
        show root.a
        release waits
        release-all app1
        ",
        expect![[r#"
            ask stopped: app1 Accepted, stopped on n1, app1 Running
            ask late: late on n1
            ask victim: victim on n1
            ask place: place on n1
            ask waits
              waits waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but no node in use has more than 8. Add a larger node, or request less.
            release stopped: stopped released
            release late: late released
            release victim: victim released
            release place: place released
            release waits: nothing
            release victim: nothing
              app1: Running in root.a, no group, uses {}, user headroom none
              root.a: in force {vcore: 8000 m}, uses {}, headroom {vcore: 8000 m}, share 0, runs 1
            release waits: waits withdrawn, app1 Completing
            release-all app1: app1 Completed
        "#]],
    );
}

#[test]
fn each_row_of_the_table_of_nodes() {
    check(
        "
        queue root.a
        node n1 vcore=1
        node n2 vcore=2 drained
        node n1 vcore=3
        drain n1
        drain n1
        undrain n2
        undrain n2
        resize n2 vcore=3
        show root
        drain n9
        undrain n9
        resize n9 vcore=1
        lose n9
        lose n1
        show root
        ",
        expect![[r#"
            node n1: refused DUPLICATE_NODE: node n1 is already registered in partition default. Remove the registered node first.
            drain n1: nothing
            drain n1: nothing
            undrain n2: nothing
            undrain n2: nothing
            resize n2: nothing
              root: in force {vcore: 4000 m}, uses {}, headroom {vcore: 4000 m}, share 0, runs 0
            drain n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            undrain n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            resize n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            lose n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            lose n1: nothing
              root: in force {vcore: 3000 m}, uses {}, headroom {vcore: 3000 m}, share 0, runs 0
        "#]],
    );
}
