//! Gangs: what the seeds want to see of users, groups and queues at each step.

use expect_test::expect;

use crate::check;

const LIMITED: &str = "
    queue root.a
    limit root.a user ann c=20
    limit root.a group dev c=20
";

fn check_limited(script: &str, expected: expect_test::Expect) {
    check(&format!("{LIMITED}{script}"), expected);
}

#[test]
#[doc(alias = "SD-05")]
fn an_application_without_a_gang_counts_from_its_first_allocation() {
    check_limited(
        "
        node N1 c=10
        app G root.a ann groups dev
        show user ann
        ask r G c=2
        show root.a
        show user ann
        show group dev
        release r
        show user ann
        show group dev
        ",
        expect![[r#"
              ann at root.a: uses {}, left {c: 20}, runs 0
              ann at root: uses {}, left none, runs 0
            ask r: G Accepted, G counts for group dev, r on N1, G Running
              root.a: in force {c: 10}, uses {c: 2}, headroom {c: 8}, share 0.2, runs 1
              ann at root.a: uses {c: 2}, left {c: 18}, runs 1
              ann at root: uses {c: 2}, left none, runs 1
              dev at root.a: uses {c: 2}, left {c: 18}, runs 1
              dev at root: uses {c: 2}, left none, runs 1
            release r: r released, G Completing
              ann at root.a: uses {}, left {c: 20}, runs 0
              ann at root: uses {}, left none, runs 0
              dev at root.a: uses {}, left {c: 20}, runs 0
              dev at root: uses {}, left none, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "SD-05")]
fn a_gang_counts_from_its_first_placeholder_and_its_members_with_their_own_size() {
    check_limited(
        "
        node N1 c=4
        app G root.a ann groups dev gang c=6
        ask p1 G c=3 placeholder group t
        ask p2 G c=3 placeholder group t
        show root.a
        show user ann
        show group dev
        node N2 c=4
        show root.a
        ask r1 G c=2 group t
        release p1 as replaced
        show root.a
        show user ann
        show group dev
        ask r2 G c=4 group t
        release p2 as timeout
        show root.a
        show user ann
        show group dev
        release r1
        release r2
        show user ann
        ",
        expect![[r#"
            ask p1: G Accepted, G counts for group dev, p1 on N1
            ask p2
              p2 waits ROOT_CAPACITY: the cluster has 1 of 4 c available, but the ask needs 3. Wait for a release, or add nodes.
              root.a: in force {c: 4}, uses {c: 3}, headroom {c: 1}, share 0.75, runs 0
              ann at root.a: uses {c: 3}, left {c: 17}, runs 1
              ann at root: uses {c: 3}, left none, runs 1
              dev at root.a: uses {c: 3}, left {c: 17}, runs 1
              dev at root: uses {c: 3}, left none, runs 1
            node N2: p2 on N2, G Running
              root.a: in force {c: 8}, uses {c: 6}, headroom {c: 2}, share 0.75, runs 1
            ask r1: r1 takes the place of p1 on N1
            release p1: p1 replaced
              root.a: in force {c: 8}, uses {c: 5}, headroom {c: 3}, share 0.625, runs 1
              ann at root.a: uses {c: 5}, left {c: 15}, runs 1
              ann at root: uses {c: 5}, left none, runs 1
              dev at root.a: uses {c: 5}, left {c: 15}, runs 1
              dev at root: uses {c: 5}, left none, runs 1
            ask r2: p2 to be released: Timeout
              r2 waits GANG_INCOMPLETE: application G has placeholders for task group t, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            release p2: p2 released, placeholders of G expired, r2 on N2
              root.a: in force {c: 8}, uses {c: 6}, headroom {c: 2}, share 0.75, runs 1
              ann at root.a: uses {c: 6}, left {c: 14}, runs 1
              ann at root: uses {c: 6}, left none, runs 1
              dev at root.a: uses {c: 6}, left {c: 14}, runs 1
              dev at root: uses {c: 6}, left none, runs 1
            release r1: r1 released
            release r2: r2 released, G Completing
              ann at root.a: uses {}, left {c: 20}, runs 0
              ann at root: uses {}, left none, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "SD-05")]
fn a_soft_gang_that_ran_out_of_time_counts_on_until_it_completes() {
    check_limited(
        "
        node N1 c=4
        app G root.a ann groups dev gang c=6 timeout 10s
        ask p1 G c=3 placeholder group t
        ask p2 G c=3 placeholder group t
        wait 10s
        show user ann
        release p1 as timeout
        show root.a
        show user ann
        show group dev
        ask r G c=4
        show user ann
        release r
        show user ann
        ",
        expect![[r#"
            ask p1: G Accepted, G counts for group dev, p1 on N1
            ask p2
              p2 waits ROOT_CAPACITY: the cluster has 1 of 4 c available, but the ask needs 3. Wait for a release, or add nodes.
            wait 10s: placeholders of G expired, G Resuming, p1 to be released: Timeout, p2 withdrawn
              ann at root.a: uses {c: 3}, left {c: 17}, runs 1
              ann at root: uses {c: 3}, left none, runs 1
            release p1: p1 released, G Accepted
              root.a: in force {c: 4}, uses {}, headroom {c: 4}, share 0, runs 0
              ann at root.a: uses {}, left {c: 20}, runs 1
              ann at root: uses {}, left none, runs 1
              dev at root.a: uses {}, left {c: 20}, runs 1
              dev at root: uses {}, left none, runs 1
            ask r: r on N1, G Running
              ann at root.a: uses {c: 4}, left {c: 16}, runs 1
              ann at root: uses {c: 4}, left none, runs 1
            release r: r released, G Completing
              ann at root.a: uses {}, left {c: 20}, runs 0
              ann at root: uses {}, left none, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "SD-05")]
fn a_hard_gang_that_ran_out_of_time_is_gone_with_its_last_placeholder() {
    check_limited(
        "
        node N1 c=4
        app G root.a ann groups dev gang c=6 hard timeout 10s
        ask p1 G c=3 placeholder group t
        ask p2 G c=3 placeholder group t
        wait 10s
        show user ann
        show group dev
        release p1 as timeout
        show user ann
        show group dev
        show root.a
        ",
        expect![[r#"
            ask p1: G Accepted, G counts for group dev, p1 on N1
            ask p2
              p2 waits ROOT_CAPACITY: the cluster has 1 of 4 c available, but the ask needs 3. Wait for a release, or add nodes.
            wait 10s: placeholders of G expired, G Failing, p1 to be released: Timeout, p2 withdrawn
              ann at root.a: uses {c: 3}, left {c: 17}, runs 1
              ann at root: uses {c: 3}, left none, runs 1
              dev at root.a: uses {c: 3}, left {c: 17}, runs 1
              dev at root: uses {c: 3}, left none, runs 1
            release p1: p1 released, G Failed
              ann at root.a: uses {}, left {c: 20}, runs 0
              ann at root: uses {}, left none, runs 0
              dev at root.a: uses {}, left {c: 20}, runs 0
              dev at root: uses {}, left none, runs 0
              root.a: in force {c: 4}, uses {}, headroom {c: 4}, share 0, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "SD-06")]
fn an_allocation_in_completing_counts_again_and_its_group_is_chosen_anew() {
    check(
        "
        queue root.a
        limit root.a group dev c=20
        node N1 c=10
        app G root.a ann groups ops,dev
        ask r G c=2
        release r
        show group dev
        reload
        queue root.a
        limit root.a group ops c=20
        limit root.a group dev c=20
        ask s G c=3
        show group ops
        show group dev
        release s
        wait 30s
        show group ops
        ",
        expect![[r#"
            ask r: G Accepted, G counts for group dev, r on N1, G Running
            release r: r released, G Completing
              dev at root.a: uses {}, left {c: 20}, runs 0
              dev at root: uses {}, left none, runs 0
            reload: root.a has other limits
            ask s: G Running, G counts for group ops, s on N1
              ops at root.a: uses {c: 3}, left {c: 17}, runs 1
              ops at root: uses {c: 3}, left none, runs 1
              dev at root.a: uses {}, left {c: 20}, runs 0
              dev at root: uses {}, left none, runs 0
            release s: s released, G Completing
            wait 30s: G Completed
              ops at root.a: uses {}, left {c: 20}, runs 0
              ops at root: uses {}, left none, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "SD-07")]
fn a_hard_gang_fails_and_a_partition_that_goes_takes_all_along_and_leaves_others_alone() {
    check(
        "
        partition default
        queue root.a
        partition second
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p G c=4 placeholder group t
        app F root.a ann gang c=8 hard
        partition second
        node M1 c=4
        app H root.a ann
        ask h H c=1
        reload
        partition second
        queue root.a
        show root.a
        show user ann
        reload
        partition default
        queue root.a
        partition second
        queue root.a
        wait 0s
        partition default
        show root.a
        show user ann
        ",
        expect![[r#"
            ask p: G Accepted, p on N1, G Running
            ask h: H Accepted, h on M1, H Running
            reload: F Failing, F gone, G Failing, p released, G gone, root.a gone
              root.a: in force {c: 4}, uses {c: 1}, headroom {c: 3}, share 0.25, runs 1
              ann at root.a: uses {c: 1}, left none, runs 1
              ann at root: uses {c: 1}, left none, runs 1
            reload: root.a made
            wait 0s: nothing
              root.a: in force none, uses {}, headroom none, share 0, runs 0
              ann: no tracker
        "#]],
    );
}

#[test]
#[doc(alias = "SD-08")]
fn a_preempted_placeholder_is_in_use_until_the_rm_says_that_it_is_gone() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        release p1 as preempted
        show user ann
        ask r G c=2 group t
        ask s G c=2 group t
        release p2 as replaced
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            release p1: p1 released
              ann at root.a: uses {c: 2}, left none, runs 1
              ann at root: uses {c: 2}, left none, runs 1
            ask r: r takes the place of p2 on N1
            ask s
              s waits GANG_INCOMPLETE: application G has placeholders for task group t, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            release p2: p2 replaced, placeholders of G expired, s on N1
        "#]],
    );
}
